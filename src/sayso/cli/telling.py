"""What an agent does, told while it does it, on stderr.

On a terminal a moving line says what it is doing; everywhere a line is left for
each step, and if everything is wanted, what the model writes as it writes it.
Agents' words are made visible, and no line of theirs begins at the left edge.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from sayso.channels.agent_words import call_text
from sayso.channels.fence import Fence, Pairs, Row
from sayso.channels.values import as_json, as_name, clipped
from sayso.cli.printing import screen
from sayso.cli.writing import Writing
from sayso.model.span import say_span
from sayso.model.text import one_line, printable
from sayso.runs.following import Following

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sayso.agent.messages import Reply, ToolCall
    from sayso.model.ask import Ask
    from sayso.runs.handle import Run
    from sayso.runs.memory import ActionStep, Step

F = TypeVar("F", bound=Callable[..., Any])
QUIET, LINES, ALL = 0, 1, 2
_WIDE = 200  # of a line, where nobody says how wide it may be
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "-\\|/"
_LATE = 3.0


class Onlooker(Console):
    """A screen that falls silent once nobody looks any more, instead of ending the program."""

    def on_broken_pipe(self) -> None:
        """Write nothing from now on."""
        self.quiet = True


def volume_options(command: F) -> F:
    """Give a command `-q` and `-v`, gathered in one argument `volume`."""

    @functools.wraps(command)
    def gathered(*args: Any, quiet: bool, verbose: bool, **given: Any) -> Any:  # noqa: ANN401
        if quiet and verbose:
            raise click.UsageError("Give -q or -v, not both.")
        return command(*args, volume=QUIET if quiet else ALL if verbose else LINES, **given)

    taking: Any = click.option(
        "-v", "--verbose", is_flag=True, help="Also what the model writes, and results in full."
    )(gathered)
    return cast(
        "F",
        click.option("-q", "--quiet", is_flag=True, help="Only questions and the answer.")(taking),
    )


class Telling:
    """Somebody who looks on at a terminal, or a log: a voice for every agent of a run."""

    def __init__(self, name: str, volume: int = LINES) -> None:
        self.name = name
        self.volume = volume
        self.streams = volume >= ALL
        self.thinks = False
        self.pausing = False
        self._err = screen(err=True, kind=Onlooker)
        self.moves = volume > QUIET and self._err.is_terminal and not self._err.is_dumb_terminal
        self._live: Live | None = None
        self._writing: Writing | None = None
        self._doing, self._since = "", time.monotonic()
        self._tool: str | None = None
        self._tokens = 0
        self._plan: Following | None = None

    # --- around ---

    @contextmanager
    def working(self, doing: str = "going on") -> Iterator[None]:
        """Tell what agents do in this block. What a program prints then goes to stderr as well."""
        from sayso.agent.voice import speaking  # a command that runs nothing need not load it

        self._do(doing)
        with redirect_stdout(sys.stderr), speaking(self):
            self._start()
            try:
                yield
            finally:
                self._hush()
                self._stop()
                self.thinks = False

    def follow(self, run: Run) -> None:
        """Look up what a run has used so far and which plan is in force, to go on from there."""
        usage = run.usage
        self._tokens = usage.tokens
        self._plan = Following.of(run) if usage.calls else None

    # --- what agents say ---

    def begun(self, agent: str, task: str) -> None:
        """Whoever gave the task knows it."""

    def thinking(self, agent: str) -> None:
        """Say that the model is asked."""
        self._check_pausing()
        self._do(f"{self._named(agent)}thinking")
        self.thinks = True

    def replied(self, agent: str, reply: Reply) -> None:
        """Count what the reply took; show what it says, if that has not been shown."""
        self.thinks = False
        written = self._writing is not None
        self._hush()
        self._tokens += reply.usage.tokens
        if self.streams and reply.text and not written:
            self.text(agent, reply.text)
            self._hush()
        self._do(f"{self._named(agent)}going on")
        self._start()

    def text(self, agent: str, piece: str) -> None:
        """Write down what the model writes."""
        if not self.streams:
            return
        with _whatever_comes():
            if self._writing is None:
                self._stop()
                self._writing = Writing(self._err, self._named(agent))
            self._writing.add(piece)

    def calling(self, agent: str, call: ToolCall) -> None:
        """Say which tool is about to run."""
        self._check_pausing()
        shown = f"{self._named(agent)}{call_text(call.tool, call.args)}"
        self._do(shown, call.tool if agent == self.name else None)
        if self.volume >= ALL:
            self._say_line(Text(f"▶ {shown}", "cyan"))

    def asked(self, agent: str, ask: Ask) -> None:
        """People see the ask itself."""

    def step(self, agent: str, step: Step) -> None:
        """Leave a line for a step; everything about it, if that is wanted."""
        from sayso.runs.memory import ActionStep

        if not isinstance(step, ActionStep):
            return
        if self._plan is not None and agent == self.name and step.status == "done":
            self._plan = self._plan.after(step.name)
        if self.volume >= ALL:
            self._say(*_whole(self._named(agent), step))
        elif self.volume >= LINES:
            self._say_line(_brief(self._named(agent), step, self._width))

    def waiting(self, why: str, seconds: float) -> None:
        """Say that the model is not there."""
        again = f"no reply from the model; trying again in {seconds:.0f} s"
        self._do(again)
        if self.volume >= LINES:
            reason = one_line(why, 160)
            self._say_line(Text(f"◷ {again}: {reason}", "yellow"))

    # --- the moving line ---

    def _start(self) -> None:
        if self.moves and self._live is None:
            self._live = Live(
                get_renderable=self._line,
                console=self._err,
                transient=True,
                refresh_per_second=8,
            )
            self._live.start()

    def _stop(self) -> None:
        if self._live is not None:
            live, self._live = self._live, None
            live.stop()

    def _hush(self) -> None:
        """End what the model was writing, so that something else can be said."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            with _whatever_comes():
                writing.end()

    def _say(self, *shown: RenderableType) -> None:
        """Leave something on the screen, above the moving line."""
        self._hush()
        with _whatever_comes():
            self._err.print(*shown, sep="\n")

    def _say_line(self, line: Text) -> None:
        """Leave one line, cut to the width there is; where there is none, it is not wrapped."""
        self._hush()
        with _whatever_comes():
            self._err.print(_cut(line, self._width), soft_wrap=True)

    def _do(self, doing: str, tool: str | None = None) -> None:
        self._tool = tool
        if doing != self._doing:
            self._doing, self._since = doing, time.monotonic()

    def _line(self) -> Text:
        plain = self._err.options.ascii_only
        frames = _PLAIN_FRAMES if plain else _FRAMES
        took = time.monotonic() - self._since
        doing = f"pausing after this: {self._doing}" if self.pausing else self._doing
        more = [self._plan.where(self._tool)] if self._plan is not None else []
        more += [f"{self._tokens:,} tokens"] if self._tokens else []
        more += [say_span(timedelta(seconds=took))] if took >= _LATE else []
        line = Text.assemble(
            (frames[int(time.monotonic() * 8) % len(frames)], "cyan"),
            f" {clipped(doing, max(self._err.width - 40, 30))}",
            ("".join(f"  {word}" for word in more), "dim"),
        )
        return _cut(line, self._err.width - 4)  # room for the ^C that a terminal shows

    @property
    def _width(self) -> int:
        return self._err.width if self._err.is_terminal else _WIDE

    def _named(self, agent: str) -> str:
        return "" if agent == self.name else f"{one_line(agent, 40)}: "

    def _check_pausing(self) -> None:
        """Stop before something new is begun, once Ctrl-C was pressed.

        Raises:
            KeyboardInterrupt: it was.
        """
        if self.pausing:
            raise KeyboardInterrupt


def _whatever_comes() -> suppress:
    """Let a screen that cannot be written to any more do no harm to the run."""
    return suppress(OSError, ValueError)


# --- steps -------------------------------------------------------------------------------------


def _mark(step: ActionStep) -> tuple[str, str]:
    if step.status == "waiting":
        return "◷ ", "yellow"
    return ("✗ ", "red") if step.error is not None else ("✓ ", "green")


def _came(step: ActionStep) -> str:
    if step.status == "waiting":
        return f"{step.ask} waits for a person; going on"
    if step.error is not None:
        # The call stands in front of it already.
        return clipped(printable(step.error.removeprefix(f"{step.name} failed: ")), 1000)
    return "" if step.result is None else as_json(step.result)


def _brief(named: str, step: ActionStep, width: int) -> Text:
    """Tell a step on one line: half of it for the call, at least, and the rest for its end."""
    call, came = f"{named}{call_text(step.name, step.args)}", _came(step)
    room = max(width - 4, 20)
    if len(call) + len(came) > room:
        call = clipped(call, max(room - len(came), room // 2))
    style = "red" if step.error is not None else "dim"
    return Text.assemble(_mark(step), call, (f": {came}" if came else "", style))


def _whole(named: str, step: ActionStep) -> Iterator[RenderableType]:
    """Tell everything about a step."""
    yield Text.assemble(_mark(step), f"{named}{as_name(step.name)}")
    if step.args:
        yield Row("", Pairs(list(step.args.items()), full=True), 2)
    if step.error is not None:
        yield Row("", Fence(printable(step.error), full=True, shown=True, style="red"), 2)
    elif step.status == "waiting":
        yield Row("", Text(_came(step), "dim"), 2)
    elif step.result is not None:
        yield Row("", Pairs([("result", step.result)], full=True), 2)


def _cut(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    return line
