"""The conversation of an agent as anybody can look at it, in any process, while its run waits.

The agent makes its messages by walking through its loop again. Whoever only wants to
look must not run anybody's code, so here they are read from the journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sayso.agent.history import recalled, result_text, shortened
from sayso.agent.messages import Message, Reply, ToolCall
from sayso.agent.news import VERB
from sayso.agent.planning import approved
from sayso.agent.turn import marked
from sayso.agent.words import WAITED, Came, came_later, planned, queued
from sayso.asks.refusals import told
from sayso.errors import Answered, Rejected, StepFailed
from sayso.model.ask import Ask
from sayso.runs.handle import Run
from sayso.runs.journal import Entry, entries_of
from sayso.runs.memory import Memory

_UNRECORDED = "It failed."  # a tool that asks, and raised something of its own


def transcript(run: Run) -> list[Message]:
    """Return what an agent and its model said in a run so far: the calls it waits for, too.

    The task comes first, then the plans that were approved, and every reply with the calls in it
    and what came of each. A call without a message of the role `tool` is still to be settled.
    """
    asks = {(ask.key or "").partition(":")[2]: ask for ask in run.asks}
    read = _Read(entries_of(run.events), asks)
    task = recalled(Memory(run.memory.steps[:1]), run.id)
    return [*task, *read.messages()]


@dataclass(frozen=True, slots=True)
class _Read:
    """The journal of a run by place."""

    entries: Mapping[str, Entry]
    asks: Mapping[str, Ask]

    def messages(self) -> Iterator[Message]:
        replies = {
            int(place): entry for place, entry in self.entries.items() if _said(place, entry)
        }
        plans = {
            int(place.partition(".")[0]): ask for place, ask in self.asks.items() if _plan(ask)
        }
        news = {int(at): entry for at, entry in self.entries.items() if _news(at, entry)}
        said = {place: Reply.of(entry.said["result"]) for place, entry in replies.items()}
        for place in sorted({*said, *plans, *news}):
            if place in plans:
                yield Message(role="user", text=planned(approved(plans[place])[0]))
            elif place in said:
                yield from self._turn(place, said[place], over=place < max(said))
            else:
                yield from self._later(news[place], said)
                before = said.get(place - 1)
                if before is not None and not before.calls:  # the run waited for nothing else
                    yield Message(role="user", text=WAITED)

    def _later(self, entry: Entry, said: Mapping[int, Reply]) -> Iterator[Message]:
        """Yield what the model is told of calls that waited while it went on."""
        for at in entry.said["result"]:
            turn, _, number = at.partition(".")
            call = said[int(turn) - 1].calls[int(number) - 1]
            made, ask = self._made(at, call), self._asked(at)
            text, failed = self._came(at, call) or self._failure(at)
            by = ask.decision.by.id if ask is not None and ask.decision is not None else ""
            came: Came = "failed" if failed else "done"
            if ask is not None and not ask.decision:
                came = "refused"
            told = came_later(made, text, came, by=by, edited=made.args != call.args)
            yield Message(role="user", call=made.id, tool=made.tool, text=told, failed=failed)

    def _turn(self, place: int, reply: Reply, *, over: bool) -> Iterator[Message]:
        """Yield a reply, and what came of the calls in it: they stand right behind it."""
        places = [f"{place + 1}.{number}" for number in range(1, len(reply.calls) + 1)]
        made = [
            call if self._waits(at) else self._made(at, call)  # what came of it is told later
            for at, call in zip(places, reply.calls, strict=True)
        ]
        yield Message(role="assistant", text=reply.text, calls=tuple(made))
        for at, call in zip(places, made, strict=True):
            came = (queued(self._asked(at)), False) if self._waits(at) else self._came(at, call)
            if came is None and over:
                came = self._failure(at)
            if came is not None:
                text, failed = came
                yield Message(role="tool", call=call.id, tool=call.tool, text=text, failed=failed)

    def _waits(self, place: str) -> bool:
        return marked(place) in self.entries

    def _made(self, place: str, call: ToolCall) -> ToolCall:
        """Return a call as it was made: edited, if a person edited it."""
        ask = self._asked(place)
        if ask is None or ask.original is None or not ask.decision:
            return call
        shown = {name: value for name, value in ask.args.items() if name not in ask.content.hidden}
        return replace(call, args=shown)

    def _asked(self, place: str) -> Ask | None:
        """Return what people were asked about a call: the last time, if it was retried."""
        again = [at for at in self.asks if at.partition("!")[0] == place]
        return self.asks.get(again[-1] if again else f"{place}.1")

    def _came(self, place: str, call: ToolCall) -> tuple[str, bool] | None:
        """Return what the model is told of a call, and whether it failed; `None` if it waits."""
        entry = self.entries.get(place) or self.entries.get(f"{place}.2")
        if entry is not None:
            return _recorded(entry)
        ask = self._asked(place)
        if ask is None or not ask.closed:
            return None
        if not ask.decision:
            answered = ask.decision is not None and ask.decision.verdict == "respond"
            return told(Answered(ask) if answered else Rejected(ask)), True
        effect = ask.effect
        if effect is None or effect.status not in ("done", "failed"):
            return None
        if effect.error is not None:
            kind, _, message = effect.error.partition(": ")
            return str(StepFailed(call.tool, kind, message)), True
        return shortened(result_text(effect.result)), False

    def _failure(self, place: str) -> tuple[str, bool]:
        """Return why a tool that asks came to nothing: only what failed inside it is recorded."""
        inside = [e for at, e in self.entries.items() if at.startswith(f"{place}.") and e.failed]
        return _recorded(inside[-1]) if inside else (_UNRECORDED, True)


def _said(place: str, entry: Entry) -> bool:
    return entry.verb == "model" and place.isdigit()


def _news(place: str, entry: Entry) -> bool:
    return entry.verb == VERB and place.isdigit()


def _plan(ask: Ask) -> bool:
    place = (ask.key or "").partition(":")[2]
    return ask.kind == "plan" and bool(ask.decision) and place.count(".") == 1


def _recorded(entry: Entry) -> tuple[str, bool]:
    if entry.failed:
        error = entry.said["error"]
        return str(StepFailed(entry.name, error["kind"], error["message"])), True
    return shortened(result_text(entry.said.get("result"))), False
