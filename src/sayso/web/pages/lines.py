"""Runs as lines of a list: what each is about, how it stands, and what it does or came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sayso.channels.headline import headline
from sayso.channels.story import call_of
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.lifecycle import RunStatus
from sayso.runs.brief import brief, quotes
from sayso.runs.handle import worker_for
from sayso.runs.memory import TaskStep, remember
from sayso.store.contract import RunRow
from sayso.web.pages.spot import DRAWN, LOOKED_AT, More, Spot, more_of, open_asks, spots_of
from sayso.web.visit import Visit

LABELS: Mapping[RunStatus, str] = {
    "ready": "Ready",
    "running": "Running",
    "waiting": "Waiting",
    "parked": "Parked",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
_TITLE = 200
_WIDE = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One run. `title` is what whoever started it wrote; `what` was made visible already."""

    id: str
    href: str
    status: RunStatus
    label: str
    title: str
    workflow: str
    what: str
    quoted: bool  # whether `what` comes from the run
    progress: float | None
    started_at: datetime
    changed_at: datetime
    thread: str | None = None
    waits: tuple[str, ...] = ()  # what it asks, in our words
    spots: tuple[Spot, ...] = ()
    more: More | None = None
    command: str | None = None  # what starts a worker, if none serves it

    @property
    def moving(self) -> bool:
        """Whether it is being worked on."""
        return self.status in ("ready", "running")


def lines_of(
    visit: Visit, rows: Sequence[RunRow], served: frozenset[str], *, back: str | None = None
) -> tuple[RunLine, ...]:
    """Return runs as lines: three questions to the database, however many there are.

    With `back`, the address of the page, what they ask can be decided beside them.
    """
    store = visit.store
    begun = {events[0].stream: events[0] for events in store.beginnings([row.id for row in rows])}
    ended = store.endings([row.id for row in rows])
    asked = open_asks(visit, [ask_id for row in rows for ask_id in row.waits[:LOOKED_AT]])
    return tuple(
        _line(visit, row, begun.get(row.id), ended.get(row.id), asked, served, back) for row in rows
    )


def _line(
    visit: Visit,
    row: RunRow,
    begun: Event | None,
    last: Event | None,
    asked: Mapping[str, Ask],
    served: frozenset[str],
    back: str | None,
) -> RunLine:
    waits = [asked[ask_id] for ask_id in row.waits if ask_id in asked]
    drawn = waits[:DRAWN]
    spots = () if back is None else spots_of(visit, [ask.id for ask in drawn], back)
    alone = row.status == "ready" and row.workflow not in served
    return RunLine(
        id=row.id,
        href=f"/runs/{row.id}",
        status=row.status,
        label=label_of(row, spots),
        title=title_of(row, begun),
        workflow=row.workflow,
        what=brief(row, last, served=not alone, width=_WIDE),
        quoted=quotes(row),
        progress=row.progress,
        started_at=row.started_at,
        changed_at=row.changed_at,
        thread=row.thread,
        waits=tuple(headline(ask)[:_TITLE] for ask in drawn),
        spots=spots,
        more=more_of(row.id, row.waits, len(waits)),
        command=command_of(row) if alone else None,
    )


def label_of(row: RunRow, spots: Sequence[Spot] = ()) -> str:
    """Return the word for how a run stands; who looks may be the one it waits for."""
    mine = row.status == "waiting" and any(spot.mine for spot in spots)
    return "Waiting for you" if mine else LABELS[row.status]


def title_of(row: RunRow, begun: Event | None) -> str:
    """Return what a run is about: the words it was started with, or the call."""
    if begun is None or begun.payload is None:
        return row.workflow
    task = next((step.task for step in remember([begun], []) if isinstance(step, TaskStep)), None)
    if isinstance(task, str) and task.strip():
        return " ".join(task.split())[:_TITLE]
    return call_of(row.workflow, begun.payload.get("input") or {}, _TITLE)


def command_of(row: RunRow) -> str | None:
    """Return the command that starts a worker for a run; `None` if its code is in no file."""
    return worker_for(row.path)
