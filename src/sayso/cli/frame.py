"""One picture of a desk for `sayso top`: runs, open asks, what happened last."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from sayso.asks.inbox import Inbox
from sayso.channels.card import risk_of, summary
from sayso.channels.record import ask_record
from sayso.channels.story import told
from sayso.cli.desks import desk_name
from sayso.cli.listing import short
from sayso.cli.run_words import STATUSES, bar, brief, run_record
from sayso.desk import Desk
from sayso.errors import SaysoError
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.lifecycle import RunStatus
from sayso.model.text import one_line
from sayso.runs.handle import OVER, Run
from sayso.store.contract import RunRow
from sayso.store.fleet import ALIVE, Worker

_NOW: tuple[RunStatus, ...] = ("running", "parked", "ready", "waiting")
_MOST = 50
_ENDED = 3
_ASKS = 100
_LATELY = timedelta(minutes=10)
_TOLD = (
    "ask.decided",
    "ask.withdrawn",
    "effect.done",
    "effect.failed",
    "effect.unknown",
    "run.done",
    "run.failed",
    "run.parked",
    "run.cancelled",
)
_BAR = 6
_NARROW = 70


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as one line shows it."""

    run: Run
    row: RunRow
    what: str


@dataclass(frozen=True, slots=True)
class Happened:
    """An event, and the ask it happened to."""

    event: Event
    ask: Ask | None


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything one frame shows, read at one moment."""

    desk: str
    now: datetime
    runs: tuple[RunLine, ...]
    counts: tuple[tuple[RunStatus, str], ...]
    inbox: Inbox
    recent: tuple[Happened, ...]
    workers: tuple[Worker, ...]


@dataclass(slots=True)
class Lately:
    """What happened last, followed as it happens."""

    desk: Desk
    kept: deque[Happened] = field(default_factory=lambda: deque(maxlen=_MOST))
    _cursor: str = ""

    def look(self) -> tuple[Happened, ...]:
        """Return it, the newest first."""
        if not self._cursor:
            self._cursor = self.desk.store.tip()
            self._keep(reversed(self.desk.store.recent(20 * _MOST)))
        else:
            self._keep(self._new())
        return tuple(reversed(self.kept))

    def _new(self) -> Iterator[Event]:
        for event in self.desk.events(after=self._cursor):
            self._cursor = event.cursor or self._cursor
            yield event

    def _keep(self, events: Iterable[Event]) -> None:
        told = [event for event in events if event.kind in _TOLD]
        for event in told[-_MOST:]:
            if all((event.stream, event.seq) != (h.event.stream, h.event.seq) for h in self.kept):
                self.kept.append(Happened(event, self._ask(event)))

    def _ask(self, event: Event) -> Ask | None:
        if event.kind.startswith("run."):
            return None
        try:
            return self.desk.get(event.stream)
        except SaysoError:
            return None


def look(desk: Desk, lately: Lately) -> Picture:
    """Read a desk for one frame."""
    desk.sweep()
    lines: list[RunLine] = []
    counts: list[tuple[RunStatus, str]] = []
    for status in _NOW:
        found = desk.runs(status=status, limit=_MOST)
        if found:
            counts.append((status, f"{len(found)}{'+' if len(found) == _MOST else ''}"))
        lines += [_run_line(desk, run) for run in islice(found, _MOST)]
    now = desk.store.now()
    ended = (run for run in desk.runs(limit=20) if run.status in OVER)
    latest = (run for run in ended if now - run.row.changed_at < _LATELY)
    lines += [_run_line(desk, run) for run in islice(latest, _ENDED)]
    return Picture(
        desk_name(desk),
        now,
        tuple(lines),
        tuple(counts),
        desk.inbox(limit=_ASKS),
        lately.look(),
        tuple(desk.store.workers(ALIVE)),
    )


def _run_line(desk: Desk, run: Run) -> RunLine:
    row = run.row
    return RunLine(run, row, brief(desk, run, row, 120))


def picture_record(picture: Picture) -> dict[str, Any]:
    """Return what a frame shows as data."""
    return {
        "desk": picture.desk,
        "at": picture.now.isoformat(),
        "runs": [run_record(line.run) for line in picture.runs],
        "open": picture.inbox.counted,
        "asks": [ask_record(ask) for ask in picture.inbox],
        "recent": [_happened(happened) for happened in picture.recent],
        "workers": [{"name": w.name, "serves": list(w.serves)} for w in picture.workers],
    }


def _happened(happened: Happened) -> dict[str, Any]:
    event = happened.event
    said = told(event, happened.ask).plain
    return {"at": event.at.isoformat(), "kind": event.kind, "about": event.stream, "said": said}


# --- drawing -----------------------------------------------------------------------------------


def drawn(
    picture: Picture, *, width: int, height: int | None, marked: str | None, words: Sequence[Text]
) -> list[Text]:
    """Draw a picture as lines, within this height; `words` stand at the bottom."""
    asks = list(picture.inbox)
    room = _room(len(picture.runs), len(asks), len(picture.recent), height, len(words))
    lines = [*_title(picture), Text()]
    lines += [_head("RUNS", min(room[0], len(picture.runs)), str(len(picture.runs)))]
    shown = picture.runs[: room[0]]
    columns = _Columns.of(shown, width)
    lines += [_run(line, picture.now, columns) for line in shown]
    lines += [] if picture.runs else [Text("  nothing runs", "dim")]
    lines += [Text(), _head("OPEN ASKS", min(room[1], len(asks)), picture.inbox.counted)]
    lines += [
        _ask(number, ask, picture.now, width, marked=ask.id == marked)
        for number, ask in _window(asks, marked, room[1])
    ]
    lines += [] if asks else [Text("  nothing waits for people", "dim")]
    lines += [Text(), Text("LATELY", "bold")]
    lines += [_event(happened) for happened in picture.recent[: room[2]]]
    lines += [] if picture.recent else [Text("  nothing yet", "dim")]
    if height is not None:
        lines += [Text()] * max(height - len(lines) - len(words), 0)
    return [_cut(line, width) for line in (*lines, *words)]


def _room(runs: int, asks: int, recent: int, height: int | None, words: int) -> tuple[int, ...]:
    """Share the lines there are: what people have to decide comes first."""
    if height is None:
        return runs, asks, min(recent, 10)
    free = max(height - 9 - words, 3)  # title, heads, gaps
    wanted = {"asks": max(asks, 1), "runs": max(runs, 1), "recent": max(recent, 1)}
    given = {name: min(count, free // 3) for name, count in wanted.items()}
    for name, count in wanted.items():
        left = free - sum(given.values())
        given[name] += min(max(count - given[name], 0), left)
    return given["runs"], given["asks"], given["recent"]


def _window(asks: list[Ask], marked: str | None, room: int) -> list[tuple[int, Ask]]:
    """Return the numbered asks that fit, the marked one among them."""
    numbered = list(enumerate(asks, start=1))
    place = next((n for n, ask in enumerate(asks) if ask.id == marked), 0)
    first = max(0, min(place - room // 2, len(asks) - room))
    return numbered[first : first + room]


def _title(picture: Picture) -> Iterator[Text]:
    counts = ", ".join(f"{count} {status}" for status, count in picture.counts) or "no runs"
    workers = len(picture.workers)
    serving = f"{workers} worker{'' if workers == 1 else 's'}"
    where = f"  desk: {picture.desk}, {picture.inbox.counted} open"
    yield Text.assemble(("sayso top", "bold"), (where, "dim"))
    yield Text(f"{picture.now:%H:%M:%S}   {counts}; {serving}", "dim")


def _head(word: str, shown: int, count: str) -> Text:
    return Text.assemble(
        (word, "bold"), ("" if str(shown) == count else f"  {shown} of {count} shown", "dim")
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """How wide the columns of runs are: no wider than what stands in them."""

    name: int
    far: bool
    age: bool

    @classmethod
    def of(cls, lines: Sequence[RunLine], width: int) -> _Columns:
        name = max((len(one_line(line.row.workflow, 16)) for line in lines), default=0)
        wide = width >= _NARROW
        return cls(name, wide and any(_far(line) is not None for line in lines), wide)


def _far(line: RunLine) -> float | None:
    return None if line.row.status in OVER else line.row.progress


def _run(line: RunLine, now: datetime, columns: _Columns) -> Text:
    row = line.row
    shape, style = STATUSES[row.status]
    parts = Text.assemble("  ", (f"{shape} {row.status:<9} ", style), (f"{row.id:<10} ", "bold"))
    parts.append(set_cell_size(one_line(row.workflow, 16), columns.name) + " ")
    if columns.far:
        fraction = _far(line)
        drawing = Text() if fraction is None else bar(fraction, _BAR)
        drawing.pad_right(_BAR + 5 - cell_len(drawing.plain))
        parts.append_text(drawing)
    if columns.age:
        since = row.started_at if row.status == "running" else row.changed_at
        parts.append(f" {short(now - since):>6} ", "dim")
    return parts.append(f" {line.what}")


def _ask(number: int, ask: Ask, now: datetime, width: int, *, marked: bool) -> Text:
    shape, word, style = risk_of(ask)
    line = Text.assemble(
        ("> " if marked else "  ", "bold"), f"{number:>2} ", (f"{ask.id:<11}", "bold")
    )
    if width >= _NARROW:
        line.append(f" {shape:<2} {word:<10}", style).append(f" {ask.kind:<9}")
        line.append(f"{short(now - ask.opened_at):>6} ", "dim")
    else:
        line.append(f" {shape} ", style)
    gone = "(program gone) " if ask.gone else ""
    line.append(f" {gone}{summary(ask, max(width - cell_len(line.plain), 20))}")
    if marked:
        line.stylize("reverse")
    return line


def _event(happened: Happened) -> Text:
    event = happened.event
    line = told(event, happened.ask)
    about = ""
    if event.kind in ("ask.decided", "ask.withdrawn") and happened.ask is not None:
        about = f"  {summary(happened.ask, 60)}"
    if event.kind.startswith("run."):
        line = Text.assemble((event.stream, "bold"), " ", line)
    return Text.assemble((event.at.strftime("  %H:%M:%S  "), "dim"), line, (about, "dim"))


def _cut(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    return line
