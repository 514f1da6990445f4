"""`sayso inbox watch`: asks as they open and are decided, live."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click
from rich.cells import cell_len
from rich.text import Text

from sayso.channels.card import Card, outcome, risk_of, summary
from sayso.channels.menu import command
from sayso.channels.record import ask_record
from sayso.channels.sentences import readable, whose
from sayso.channels.values import as_json, clipped
from sayso.cli.desks import desk_argument, desk_name, desk_option, open_desk
from sayso.cli.printing import emit, examples, json_option, say, screen, show
from sayso.desk import Desk
from sayso.errors import SaysoError
from sayso.model.ask import Ask, Effect
from sayso.model.event import Event
from sayso.model.text import one_line
from sayso.runs.alarm import Alarm

_LOOK_EVERY = 1.0
_FIRST = 500


@click.command(
    "watch",
    epilog=examples(
        "sayso inbox watch", "sayso inbox watch --json | while read -r line; do ...; done"
    ),
)
@click.option("--cards", is_flag=True, help="Show the whole card of each ask as it opens.")
@desk_option
@json_option
def watch(*, cards: bool, as_json: bool) -> None:
    """Show each ask as it opens, is decided, and what comes of it. Ctrl-C ends it."""
    with open_desk(create=True) as desk, _ctrl_c() as end:
        _watch(desk, end, cards=cards, as_json=as_json)
        if not as_json:
            say("")  # the terminal shows ^C without an end of line


@dataclass(frozen=True, slots=True)
class _End:
    """Whether it is time to end, and something to wait on until there is news."""

    wanted: Alarm = field(default_factory=Alarm)
    news: Alarm = field(default_factory=Alarm)

    def come(self, *_: object) -> None:
        self.wanted.set()
        self.news.set()


@contextmanager
def _ctrl_c() -> Iterator[_End]:
    """Let Ctrl-C ask for the end instead of tearing the command apart wherever it is."""
    end = _End()
    before = signal.signal(signal.SIGINT, end.come)
    try:
        yield end
    finally:
        signal.signal(signal.SIGINT, before)


def _watch(desk: Desk, end: _End, *, cards: bool, as_json: bool) -> None:
    tip = desk.store.tip()  # before the list: what opens in between is told twice, never missed
    desk.sweep()
    page = desk.inbox(limit=_FIRST)
    if not as_json:
        say(f"desk: {desk_name(desk)}, {page.counted} open; Ctrl-C ends", "dim")
    for ask in page:
        _tell(desk, ask, None, cards=cards, as_json=as_json)
    for event in _events(desk, tip, end):
        if not event.kind.startswith(("ask.", "effect.")):
            continue
        try:
            ask = desk.get(event.stream)
        except SaysoError:  # a stream that is no ask's
            continue
        _tell(desk, ask, event, cards=cards, as_json=as_json)


def _events(desk: Desk, after: str, end: _End) -> Iterator[Event]:
    """Yield events as they come. Deadlines and silent effects are swept meanwhile."""
    with desk.store.bell.listening(end.news.set):
        while not end.wanted.is_set():
            end.news.clear()
            desk.sweep()
            for event in desk.events(after=after):
                after = event.cursor or after
                yield event
            end.news.wait(_LOOK_EVERY)


def _tell(desk: Desk, ask: Ask, event: Event | None, *, cards: bool, as_json: bool) -> None:
    if as_json:
        at = event.at.isoformat() if event else None
        kind = event.kind if event else "waiting"
        emit({"event": kind, "at": at, "ask": ask_record(ask, desk.store.roster())})
    elif cards and (event is None or event.kind == "ask.opened") and ask.open:
        show(Card(ask=ask, roster=desk.store.roster(), now=desk.store.now()), "")
    else:
        show(_line(ask, event))
    sys.stdout.flush()


def _line(ask: Ask, event: Event | None) -> Text:
    at = (event.at if event else ask.opened_at).strftime("%H:%M:%S")
    kind = event.kind if event else "waiting"
    text = Text(f"{at}  ")
    text.append(f"{ask.id}  ", "bold")
    if kind in ("ask.opened", "waiting"):
        shape, word, style = risk_of(ask)
        text.append(f"{_WORDS[kind]}  ")
        text.append(f"{shape} {word}  ", style)
        text.append(summary(ask, max(screen().width - cell_len(text.plain), 20)))
        if ask.open:
            text.append(f"\n          -> {command(ask, desk=desk_argument())}", "dim")
        return text
    if event is not None and not _tells(ask, kind):
        return text.append(f"{whose(event)} {''.join(readable(event))}")
    return text.append(_said(ask, kind))


_WORDS = {"ask.opened": "opened ", "waiting": "waits  "}


def _tells(ask: Ask, kind: str) -> bool:
    """Whether the ask as it stands says what an event did to it; else the event does."""
    decided = ("ask.decided", "ask.withdrawn", "ask.edited", "ask.voted")
    return kind in decided or (kind.startswith("effect.") and ask.effect is not None)


def _said(ask: Ask, kind: str) -> str:
    """Say what an event did to an ask that is open no more, or not as it was."""
    if kind in ("ask.decided", "ask.withdrawn"):
        note = ask.decision.note if ask.decision is not None else None
        return f'{outcome(ask)}: "{one_line(note, 80)}"' if note else outcome(ask)
    if kind in ("ask.edited", "ask.voted"):
        last = ask.votes[-1].by.id if ask.votes else "somebody"
        return f"{last} {'edited it' if kind == 'ask.edited' else 'voted'}"
    return _came_of(ask.effect, kind) if ask.effect else kind


def _came_of(effect: Effect, kind: str) -> str:
    match kind:
        case "effect.intended":
            return "is being carried out"
        case "effect.done" if effect.result is None:
            return "done"
        case "effect.done":
            return f"done: {clipped(as_json(effect.result), 120)}"
        case "effect.failed":
            return f"failed: {one_line(effect.error or 'no reason given', 120)}"
        case "effect.unknown":
            return f"unknown: see {effect.doubt}"
        case _:
            return "reported after its time was up"
