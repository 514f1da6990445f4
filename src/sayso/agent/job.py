"""What an agent has in mind while it works on one task, and what it may still spend."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from sayso.agent.history import History, of_thread
from sayso.agent.limits import Spent, priced
from sayso.agent.messages import Message, Prompt, ToolSpec
from sayso.agent.modelling import Replied
from sayso.agent.plan import Plan
from sayso.agent.profile import Profile
from sayso.agent.queue import Queue
from sayso.agent.words import SYSTEM
from sayso.runs.running import Running
from sayso.runs.stops import Parked

_log = logging.getLogger("sayso.agent")


class Job:
    """One task in the hands of an agent."""

    def __init__(
        self, agent: Profile, run: Running, task: str, *, inner: bool, outer: Job | None = None
    ) -> None:
        self.agent = agent
        self.run = run
        self.task = task
        self.inner = inner  # whether somebody inside the run gave the task
        self.outer = outer  # the agent that gave it, whose bounds count as well
        self.history = History(Message(role="user", text=task))
        self.plan: Plan | None = None
        self.plans = 0
        self.queue = Queue()
        self.spent = Spent()
        self.ids: set[str] = set()
        self.empty = 0
        self.steps_since_plan = agent.plan_every or 0
        self.fresh = not run.journal.entries and not run.journal.asks
        self._deaf = False
        self._earlier: list[Message] | None = None
        self.recalled = ""

    @property
    def now(self) -> datetime:
        """The present."""
        return self.run.journal.store.now()

    def prompt(
        self, more: Sequence[Message], tools: tuple[ToolSpec, ...], *, must: str | None = None
    ) -> Prompt:
        """Return what the model is shown: instructions, the thread, the conversation, and more."""
        agent = self.agent
        if self._earlier is None:
            self._earlier = [] if self.inner else of_thread(self.run.journal)
        system = f"{SYSTEM}\n\n{agent.instructions}" if agent.instructions else SYSTEM
        return Prompt(
            messages=(
                Message(role="system", text=system),
                *([Message(role="user", text=self.recalled)] if self.recalled else []),
                *self._earlier,
                *self.history.messages,
                *more,
            ),
            tools=tools,
            must=must,
            say=self._say if agent.voice.streams or agent.on_text is not None else None,
            number=self.spent.calls + 1,
        )

    def _say(self, piece: str) -> None:
        if self.agent.voice.streams:
            self.agent.voice.text(self.agent.name, piece)
        if self.agent.on_text is None or self._deaf:
            return
        try:
            self.agent.on_text(piece)
        except Exception:  # noqa: BLE001 - whatever it is
            self._deaf = True  # whoever listens does the reply no harm: it is paid for
            _log.exception("on_text of %s failed; it hears no more of this run", self.agent.name)

    def count(self, said: Replied) -> None:
        """Count what a reply took."""
        usage = said.reply.usage
        if usage.cost is None:  # a price may be named after the reply was recorded
            usage = priced(usage, self.agent.price)
        self.spent.model(usage, said.took)

    def check_limits(self, *, planning: bool = False, inside: Spent | None = None) -> None:
        """Stop before a bound is passed; a person may raise it and let the run go on.

        What an agent inside has used up counts for whoever it works for.

        Raises:
            Parked: one of them is reached.
        """
        limits = self.agent.limits.times(1 + self.run.journal.granted["limits"])
        spent = self.spent if inside is None else self.spent.plus(inside)
        over = spent.over(limits, planning=planning or inside is not None)
        if over is not None:
            more = "limits" if over.more else None
            raise Parked(f"{self.agent.name} has reached a limit: {over.text}", more=more)
        if self.outer is not None:
            self.outer.check_limits(inside=spent)

    def progress(self, share: float) -> None:
        """Say how far the plan has come. What an agent inside does is not the whole run's."""
        if not self.inner:
            self.run.journal.progress = share
