"""What an agent says while it works, to whoever looks on. Told live, never on a replay."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Protocol

from sayso.agent.messages import Reply, ToolCall
from sayso.model.ask import Ask
from sayso.model.digest import canonical
from sayso.model.text import one_line, visible
from sayso.runs.memory import Step


class Voice(Protocol):
    """Somebody to tell. `streams` says whether it wants to hear the model write."""

    streams: bool

    def begun(self, agent: str, task: str) -> None:
        """An agent begins, or goes on with, a task."""

    def thinking(self, agent: str) -> None:
        """The model is asked."""

    def replied(self, agent: str, reply: Reply) -> None:
        """The model has replied; nothing is recorded yet."""

    def text(self, agent: str, piece: str) -> None:
        """The model writes."""

    def calling(self, agent: str, call: ToolCall) -> None:
        """A tool is about to run."""

    def asked(self, agent: str, ask: Ask) -> None:
        """People are asked."""

    def step(self, agent: str, step: Step) -> None:
        """A step was recorded."""

    def waiting(self, why: str, seconds: float) -> None:
        """The model does not reply, and is asked again later."""


class Silence:
    """A voice that says nothing."""

    streams = False

    def begun(self, agent: str, task: str) -> None:
        """Say nothing."""

    def thinking(self, agent: str) -> None:
        """Say nothing."""

    def replied(self, agent: str, reply: Reply) -> None:
        """Say nothing."""

    def text(self, agent: str, piece: str) -> None:
        """Say nothing."""

    def calling(self, agent: str, call: ToolCall) -> None:
        """Say nothing."""

    def asked(self, agent: str, ask: Ask) -> None:
        """Say nothing."""

    def step(self, agent: str, step: Step) -> None:
        """Say nothing."""

    def waiting(self, why: str, seconds: float) -> None:
        """Say nothing."""


_BAR = "  | "


class Lines(Silence):
    """One line a step on standard error; with a verbosity of 2, what the model writes as well."""

    def __init__(self, verbosity: int) -> None:
        self.streams = verbosity > 1
        self._writes = False  # whether the model is in the middle of a line

    def begun(self, agent: str, task: str) -> None:
        """Say what the task is."""
        _say(f"[{agent}] {one_line(task, 200)}")

    def text(self, agent: str, piece: str) -> None:
        """Say what the model writes."""
        # Behind a bar: no line of a model's looks like one of ours.
        shown = visible(piece, lines=True).replace("\n", f"\n{_BAR}")
        _write(shown if self._writes else f"{_BAR}{shown}")
        self._writes = True

    def replied(self, agent: str, reply: Reply) -> None:
        """End the line that the model was writing."""
        if self._writes:
            _write("\n")
        self._writes = False

    def calling(self, agent: str, call: ToolCall) -> None:
        """Say what is called."""
        _say(f"[{agent}] {one_line(call.tool, 60)}({one_line(canonical(dict(call.args)), 160)})")

    def asked(self, agent: str, ask: Ask) -> None:
        """Say who is asked."""
        _say(f"[{agent}] asks {ask.id}: {one_line(ask.title, 120)}")

    def step(self, agent: str, step: Step) -> None:
        """Say what came of it."""
        result = getattr(step, "error", None) or getattr(step, "result", None)
        if result is not None:
            _say(f"[{agent}]   {one_line(str(result), 200)}")

    def waiting(self, why: str, seconds: float) -> None:
        """Say that the model is not there."""
        _say(f"{one_line(why, 200)} Trying again in {seconds:.0f} s.")


def _say(line: str) -> None:
    _write(f"{line}\n")


def _write(text: str) -> None:
    # Whoever looks on does the run no harm: a closed pipe is theirs.
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


_VOICE: ContextVar[Voice | None] = ContextVar("sayso_voice", default=None)


@contextmanager
def speaking(voice: Voice) -> Iterator[None]:
    """Let every agent that is carried on in this block speak with this voice."""
    token = _VOICE.set(voice)
    try:
        yield
    finally:
        _VOICE.reset(token)


def voice_of(verbosity: int) -> Callable[[], Voice]:
    """Return who is told: the voice of the block, or lines by the agent's verbosity."""
    own = Lines(verbosity) if verbosity else Silence()
    return lambda: _VOICE.get() or own
