"""A person at a terminal: told what waits, or asked right there.

The prompt is the inbox's own card with the choices below it. It goes to
stderr, so that what a program prints to stdout stays its own. `rich` is
imported when something is drawn: `import sayso` should not pay for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from sayso.channels.keyboard import Keyboard, Keys
from sayso.channels.menu import chosen, command, menu, numbers
from sayso.channels.talk import InputEnded, Talk
from sayso.channels.typed import in_words, read_answer
from sayso.errors import StoreError
from sayso.model.actor import Roster
from sayso.model.ask import Ask, Ballot
from sayso.model.requirement import ONE_REVIEWER
from sayso.store import SystemClock

if TYPE_CHECKING:
    from rich.console import RenderableType

_RULE = 60


class Console:
    """Where a program's own person sits, if there is one.

    Args:
        stdin: Where lines are typed; the process's own unless given.
        screen: Where the prompt goes; unless given, stderr or stdout, whichever is a terminal.
        keys: Something that types instead of `stdin`.
        now: The present, for the time left.
        desk: The address to name in commands, when it is not the one people get by default.
    """

    def __init__(
        self,
        *,
        stdin: TextIO | None = None,
        screen: TextIO | None = None,
        keys: Keys | None = None,
        now: Callable[[], datetime] | None = None,
        desk: str | None = None,
    ) -> None:
        self._keys = keys or Keyboard(stdin)
        self._given = screen
        self._now = now or SystemClock().now
        self._desk = desk
        self._drawn: str | None = None
        self._kept: dict[str, str] = {}

    def interactive(self) -> bool:
        """Whether somebody sits here: keys to type on, a screen to see, and no robot's run."""
        return self._screen() is not None and self._keys.present()

    def _screen(self) -> TextIO | None:
        if self._given is not None:
            return self._given
        return next((s for s in (sys.stderr, sys.stdout) if s is not None and s.isatty()), None)

    def _tell(self, line: str) -> None:
        stream = self._given or sys.stderr
        if stream is not None:  # a program without a console has none
            stream.write(f"{line}\n")
            stream.flush()

    def announce(self, ask: Ask, roster: Roster) -> None:
        """Say in one line what waits, for whom, and the command that decides it."""
        from sayso.channels.card import summary

        # Alone at a desk one word is enough, whatever a team would need.
        whom = ONE_REVIEWER if roster.solo else ask.needs
        how = command(ask, desk=self._desk)
        self._tell(f"sayso: {ask.id} waits for {whom}: {summary(ask, 60)}  ->  {how}")

    def announce_at(self, ask: Ask, url: str) -> None:
        """Say in one line what waits at a server, and for whom: it is decided there."""
        from sayso.channels.card import summary

        whom = ONE_REVIEWER if ask.solo else ask.needs
        self._tell(f"sayso: {ask.id} waits at {url} for {whom}: {summary(ask, 60)}")

    def prompt(self, ask: Ask, *, still_open: Callable[[str], bool]) -> Ballot | None:
        """Show the ask and return what the person says to it.

        `None` when the input ends, or when the ask was decided elsewhere
        meanwhile; neither closes anything here.

        Raises:
            KeyboardInterrupt: the person pressed Ctrl-C.
        """
        from sayso.channels.filling import Back, fill, with_harm

        talk = Talk(self._keys, self._screen() or sys.stderr, self._going_on(ask, still_open))
        if self._drawn != ask.digest:  # after a refused edit the card is on the screen still
            talk.show(*self._drawing(ask))
            self._drawn = ask.digest
        talk.forget()
        try:
            while True:
                talk.show("", *menu(ask))
                typed = talk.line(f"Your choice ({numbers(ask)}){_or_answer(ask)}: ")
                offer = chosen(typed, ask)
                if offer is None and _or_answer(ask) and typed.strip():
                    answer = read_answer(typed, ask.content.answer_schema)
                    return Ballot(verdict="respond", answer=answer)
                if offer is None:
                    letter = "" if ask.kind == "plan" else ", or the letter behind it"
                    talk.say(
                        f"Please type one of {numbers(ask)}{letter}; Ctrl-C leaves it open.",
                        "yellow",
                    )
                    continue
                try:
                    said = fill(ask, offer.verdict, talk, option=offer.option, kept=self._kept)
                    return with_harm(ask, said._replace(end=offer.end), talk)
                except Back as reason:
                    talk.say(str(reason), "yellow")
        except InputEnded:
            return None

    def _going_on(self, ask: Ask, still_open: Callable[[str], bool]) -> Callable[[], bool]:
        """Return whether it is worth waiting for a key: still open, and not past its deadline."""

        def going_on() -> bool:
            if ask.due_at is not None and ask.due_at <= self._now():
                return False
            try:
                return still_open(ask.id)
            except StoreError:  # busy for a moment; deciding will say so if it stays that way
                return True

        return going_on

    def _drawing(self, ask: Ask) -> Iterator[RenderableType]:
        from sayso.channels.card import Card, step_lines

        plan = ask.kind == "plan"
        yield ""
        yield Card(ask=ask, roster=Roster({}), now=self._now(), what=not plan)
        if plan:
            rule = "=" * min(_RULE, _width(self._screen()))
            yield from ("", rule, "AGENT PLAN CREATED", rule, *step_lines(ask.args["steps"]), rule)

    def decided_elsewhere(self, ask: Ask) -> None:
        """Say who was faster, and what they said."""
        from sayso.channels.card import outcome

        self._over(ask)
        self._tell(f"{ask.id} was {outcome(ask)} meanwhile; nothing to decide any more.")

    def paused(self, ask: Ask) -> None:
        """Say that the ask stays open although nobody types here any more."""
        self._drawn = None
        if ask.due_at is not None and ask.due_at <= self._now():
            self._tell(f"sayso: the time to decide {ask.id} is over.")
            return
        how = command(ask, desk=self._desk)
        self._tell(
            f"sayso: the input ended, so nobody can decide here. {ask.id} stays open and this "
            f"program waits. From another terminal: {how}"
        )

    @contextmanager
    def leaving(self, ask: Ask) -> Iterator[None]:
        """Say on Ctrl-C what becomes of the ask: it ends with the program that held it, no other does."""
        try:
            yield
        except KeyboardInterrupt as left:
            self._drawn = None
            if ask.held:
                self._tell(f"{ask.id} is withdrawn: the program that asked has been ended.")
            else:
                waits = ", and its run waits" if ask.of_run else ""
                how = command(ask, desk=self._desk)
                self._tell(f"{ask.id} stays open{waits}. Decide it later: {how}")
            _end_quietly(left)
            raise

    def complain(self, text: str) -> None:
        """Say why a decision was not taken."""
        screen = self._screen()
        if screen is None:
            self._tell(text)
        else:
            Talk(self._keys, screen).say(text, "red")

    def done(self, ask: Ask) -> None:
        """Say what was decided here."""
        from sayso.channels.card import outcome

        self._over(ask)
        self._tell(f"{ask.id} {outcome(ask)}.")

    def _over(self, ask: Ask) -> None:
        self._drawn = None
        self._kept.pop(ask.digest, None)


def _or_answer(ask: Ask) -> str:
    """Whether a question may be answered at once: words are no number of a choice."""
    words = ask.kind == "question" and "respond" in ask.allow
    return (
        ", or your answer"
        if words and in_words(ask.content.answer_schema) in ("text", "text, or JSON")
        else ""
    )


def _end_quietly(left: KeyboardInterrupt) -> None:
    """Let a program that ends by this Ctrl-C end without a traceback: it was meant, and is told."""
    before = sys.excepthook
    if before is not sys.__excepthook__:  # somebody else's: they know what to show
        return

    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        if error is not left:
            before(kind, error, where)

    sys.excepthook = hook


def _width(screen: TextIO | None) -> int:
    try:
        return os.get_terminal_size(screen.fileno()).columns if screen else _RULE
    except (OSError, ValueError):
        return _RULE
