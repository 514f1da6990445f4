"""`sayso top`: a desk live, with the keys to decide what is on it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from sayso.asks.spending import of_run
from sayso.channels.card import Card, outcome
from sayso.channels.filling import Back
from sayso.channels.keyboard import Keyboard
from sayso.channels.talk import InputEnded, Talk
from sayso.cli.deciding import decided_here
from sayso.cli.desks import desk_option, open_desk
from sayso.cli.frame import Lately, Picture, drawn, look, picture_record
from sayso.cli.keys import Wake, pressed, single
from sayso.cli.outcome import run_next, unserved
from sayso.cli.printing import emit, examples, json_option, screen, show
from sayso.cli.who import as_option, decider, named_person
from sayso.desk import Desk
from sayso.errors import SaysoError, StoreError
from sayso.model.ask import Ask
from sayso.model.tally import missing
from sayso.model.verdicts import KEYS, Verdict

_LOOK_EVERY = 1.0
_AT_MOST_EVERY = 0.15
_VERDICTS: dict[str, Verdict] = {key: verdict for verdict, key in KEYS.items()}


@click.command(
    "top", epilog=examples("sayso top", "sayso top --as anna", "sayso top --once --json")
)
@click.option("--once", is_flag=True, help="Print it once and end; so it is without a terminal.")
@as_option
@desk_option
@json_option
def top(*, once: bool, person: str | None, as_json: bool) -> None:
    """Show a desk live, and decide on the spot.

    It shows the runs with how far they are, the open asks, and what happened lately. Up and down (or k and j) move the mark. On the marked ask: a approves, e edits, r rejects,
    c answers, Enter shows its whole card. Nothing is decided before you have seen the card and
    said yes. q quits.
    """
    live = not once and not as_json and Keyboard().present() and sys.stdout.isatty()
    with open_desk(create=live) as desk:
        named_person(desk, person)
        if live:
            Top(desk, person).run()
            return
        picture = look(desk, Lately(desk))
        if as_json:
            emit(picture_record(picture))
            return
        show(*drawn(picture, width=screen().width, height=None, marked=None, words=()))


@dataclass(slots=True)
class Top:
    """Somebody who looks at a desk, with a mark on one ask."""

    desk: Desk
    person: str | None
    marked: str | None = None
    place: int = 0
    word: Text = field(default_factory=Text)
    kept: dict[str, str] = field(default_factory=dict)
    ended: bool = False

    def run(self) -> None:
        """Show the desk until the person quits."""
        wake = Wake()
        lately = Lately(self.desk)
        try:
            with self._signals(wake), self.desk.store.bell.listening(wake.ring):
                while not self.ended:
                    act = self._watch(wake, lately)
                    if act is not None:
                        act()  # on the ordinary screen, with lines instead of keys
        finally:
            wake.close()

    @contextmanager
    def _signals(self, wake: Wake) -> Iterator[None]:
        def end(*_: object) -> None:
            self.ended = True
            wake.ring()

        handlers = {signal.SIGTERM: end, signal.SIGWINCH: wake.ring}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    # --- looking ---

    def _watch(self, wake: Wake, lately: Lately) -> Callable[[], None] | None:
        """Draw the desk until a key wants something that needs the whole screen."""
        console = screen()
        pause = threading.Event()
        with (
            single(sys.stdin),
            suppress(KeyboardInterrupt),
            Live(console=console, screen=True, auto_refresh=False) as live,
        ):
            while not self.ended:
                picture = self._looked(lately)
                live.update(Group(*self._lines(picture, console)), refresh=True)
                keys = pressed(sys.stdin, wake, _LOOK_EVERY)
                for key in keys:
                    act = self._key(key, picture)
                    if act is not None:
                        return act
                if not keys:
                    pause.wait(_AT_MOST_EVERY)  # a busy desk is not drawn at every change
        self.ended = True
        return None

    def _looked(self, lately: Lately) -> Picture | None:
        try:
            picture = look(self.desk, lately)
        except StoreError as error:  # busy for a moment, or a server that comes back
            self.word = Text(str(error), "red")
            return None
        ids = [ask.id for ask in picture.inbox]
        if self.marked in ids:
            self.place = ids.index(self.marked)
        else:
            self.place = min(self.place, max(len(ids) - 1, 0))
            self.marked = ids[self.place] if ids else None
        return picture

    def _lines(self, picture: Picture | None, console: Console) -> list[Text]:
        size = console.size
        if picture is None:
            return list(self.word.wrap(console, size.width))
        words = self._words(picture, console)
        return drawn(picture, width=size.width, height=size.height, marked=self.marked, words=words)

    def _words(self, picture: Picture, console: Console) -> list[Text]:
        ask = next((ask for ask in picture.inbox if ask.id == self.marked), None)
        keys = Text(f"{_offers(ask)}j/k move  enter card  q quit", "dim")
        return [line for said in (self.word, keys) for line in said.wrap(console, console.width)]

    def _key(self, key: str, picture: Picture | None) -> Callable[[], None] | None:
        asks = list(picture.inbox) if picture is not None else []
        match key:
            case "q" | "Q":
                self.ended = True
            case "down" | "j" | "up" | "k" | "home" | "end" if asks:
                self._move(key, asks)
            case _ if key in _VERDICTS and self.marked is not None:
                return lambda: self._talk(_VERDICTS[key])
            case "enter" if self.marked is not None:
                return lambda: self._talk(None)
        return None

    def _move(self, key: str, asks: list[Ask]) -> None:
        steps = {"down": 1, "j": 1, "up": -1, "k": -1, "home": -len(asks), "end": len(asks)}
        self.place = min(max(self.place + steps[key], 0), len(asks) - 1)
        self.marked = asks[self.place].id
        self.word = Text()

    # --- deciding ---

    def _talk(self, verdict: Verdict | None) -> None:
        """Show the card of the marked ask, and let the person decide it."""
        try:
            self.word = self._decided(self.desk.get(str(self.marked)), verdict)
        except Back as reason:
            self.word = Text(f"Nothing was decided. {reason}".strip(), "yellow")
        except InputEnded:
            self.word = self._over(str(self.marked))
        except KeyboardInterrupt:
            self.word = Text("Nothing was decided.", "yellow")
        except SaysoError as error:
            self.word = Text(str(error), "red")

    def _decided(self, ask: Ask, verdict: Verdict | None) -> Text:
        if verdict is not None and verdict not in ask.allow:
            offers = _offers(ask).strip() or "nothing any more"
            return Text(f"{ask.id} takes: {offers}", "yellow")
        talk = Talk(Keyboard(), sys.stdout, lambda: self.desk.get(ask.id).open)
        roster = self.desk.store.roster()
        talk.show("", Card(ask=ask, roster=roster, now=self.desk.store.now()), "")
        talk.forget()
        if verdict is None:
            typed = talk.line(f"{_offers(ask)}Enter goes back: ").strip().lower()
            verdict = _VERDICTS.get(typed[:1])
            if verdict is None:
                return Text()
        by = decider(self.desk, self.person)
        decided = decided_here(self.desk, ask, verdict, talk, by=by, kept=self.kept)
        return self._said(decided)

    def _said(self, ask: Ask) -> Text:
        if ask.open:
            short = " and ".join(map(str, missing(ask, self.desk.store.roster()))) or "others"
            return Text(f"Your vote on {ask.id} is recorded; it still needs {short}.", "green")
        after = ""
        if of_run(ask):
            after = f" {unserved(self.desk, ask) or run_next(self.desk, ask)}"
        return Text(f"{ask.id} {outcome(ask)}.{after}", "green")

    def _over(self, ask_id: str) -> Text:
        ask = self.desk.get(ask_id)
        if ask.open:
            return Text("Nothing was decided.", "yellow")
        return Text(f"{ask.id} was {outcome(ask)} meanwhile.", "yellow")


def _offers(ask: Ask | None) -> str:
    """Name the keys that decide an ask, under the words of its kind."""
    if ask is None:
        return ""
    return "".join(
        f"{key} {_word(ask, verdict)}  "
        for key, verdict in _VERDICTS.items()
        if verdict in ask.allow
    )


def _word(ask: Ask, verdict: Verdict) -> str:
    button = ask.meaning(verdict).button.lower()
    return verdict if button.startswith(verdict) else button
