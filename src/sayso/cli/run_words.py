"""How a run stands, in words: for lists, for the end of a command, and as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from rich.text import Text

from sayso.channels.card import risk_of, summary
from sayso.channels.menu import command
from sayso.channels.record import ask_record
from sayso.channels.values import as_json, clipped
from sayso.cli.desks import desk_argument
from sayso.cli.printing import screen
from sayso.desk import Desk
from sayso.errors import StoreError
from sayso.model.ask import Ask
from sayso.model.lifecycle import RunStatus
from sayso.model.money import say_dollars
from sayso.model.text import one_line
from sayso.runs.brief import brief as said_of
from sayso.runs.handle import Run, served
from sayso.runs.usage import RunUsage
from sayso.store.contract import RunRow

# A shape as well as a colour, as with risks.
STATUSES: Mapping[RunStatus, tuple[str, str]] = {
    "running": ("▶", "cyan"),
    "ready": ("▷", "cyan"),
    "waiting": ("◷", "yellow"),
    "parked": ("■", "bold yellow"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("–", "dim"),  # noqa: RUF001 - a dash, on purpose
}


def status_text(status: RunStatus) -> Text:
    """Return a status with its shape."""
    shape, style = STATUSES[status]
    return Text(f"{shape} {status}", style)


def bar(fraction: float, width: int = 20) -> Text:
    """Draw how far a run is."""
    full = round(min(max(fraction, 0.0), 1.0) * width)
    return Text.assemble(("█" * full, "cyan"), ("░" * (width - full), "dim"), f" {fraction:.0%}")


def told_end(run: Run, kind: str) -> dict[str, Any]:
    """Return what the last event of this kind says, as it is stored."""
    for event in reversed(run.events):
        if event.kind == kind:
            return event.payload or {}
    return {}


def brief(desk: Desk, run: Run, row: RunRow, width: int) -> str:
    """Say on one line what a run does, waits for, or came to."""
    try:
        if row.status == "waiting":
            return _waits(run, row, width)
        last = desk.store.endings([row.id]).get(row.id)
        return said_of(row, last, served=served(desk.store, row.workflow), width=width)
    except StoreError as error:  # one journal that cannot be read hides no other run
        return one_line(str(error), 500)


def _waits(run: Run, row: RunRow, width: int) -> str:
    waited = [ask for ask in run.asks if not ask.closed and ask.id in row.waits]
    if not waited:
        return "nothing any more"  # decided this moment
    more = f" and {len(waited) - 1} more" if len(waited) > 1 else ""
    first = waited[0]
    return f"{first.id} {summary(first, max(width - len(first.id) - len(more) - 1, 20))}{more}"


def tell_standing(desk: Desk, run: Run, *, err: bool = False) -> None:
    """Print how a run stands. Lines are not wrapped: a command in them should survive copying."""
    out = screen(err=err)
    for line in _standing(desk, run):
        out.print(line, soft_wrap=True)


def _standing(desk: Desk, run: Run) -> Iterator[Text]:
    """Say how a run stands, what it waits for, and what a person can do about it."""
    row = run.row
    yield from _first(desk, run, row)
    if row.status in ("failed", "parked"):
        how = "give it as much again" if wants_more(run) else "let it go on from there"
        yield Text(f"  {how}: sayso runs retry {row.id}{_where()}", "dim")
    if row.status == "parked":
        yield Text(f"  or end it: sayso runs cancel {row.id}{_where()}", "dim")


def wants_more(run: Run) -> bool:
    """Whether a run is parked because it used up what it was given: a retry grants that again."""
    return run.status == "parked" and bool(told_end(run, "run.parked").get("more"))


def used(usage: RunUsage) -> str:
    """Say what models have used up; nothing, if there were none."""
    if not usage.calls:
        return ""
    calls = f"{usage.calls:,} model call{'' if usage.calls == 1 else 's'}"
    tokens = f", {usage.tokens:,} tokens" if usage.tokens else ""
    return f"{calls}{tokens}" + (f", {say_dollars(usage.cost)}" if usage.cost is not None else "")


def _first(desk: Desk, run: Run, row: RunRow) -> Iterator[Text]:
    shape, style = STATUSES[row.status]
    head = Text(f"{shape} {row.id} ", style)
    match row.status:
        case "done":
            output = told_end(run, "run.done").get("output")
            yield head.append("is done" + ("" if output is None else f": {_short(output)}"))
        case "failed" | "parked" | "cancelled":
            was = {"failed": "failed", "parked": "is parked", "cancelled": "was cancelled"}
            error = one_line(run.error or "no reason is recorded", 1000)
            why = "" if error == row.status else f": {error}"
            yield head.append(f"{was[row.status]}{why}")
        case "waiting":
            yield head.append("waits for people:")
            for ask in run.state.pending:
                yield from _pending(ask)
        case "ready":
            word = desk.unserved(row.id)
            yield head.append(f"is ready. {word}" if word else "is ready; a worker carries it on.")
        case "running" if row.lapsed:
            name = one_line(str(row.worker), 60)
            yield head.append(
                f"was carried on by {name}, which fell silent; the next worker takes it"
            )
        case "running":
            doing = f" ({one_line(row.doing, 60)})" if row.doing else ""
            yield head.append(f"is carried on by {one_line(str(row.worker), 60)}{doing}")


def _short(output: object) -> str:
    return clipped(as_json(output), 500)


def _pending(ask: Ask) -> Iterator[Text]:
    shape, _, style = risk_of(ask)
    yield Text.assemble("  ", (f"{shape} ", style), (ask.id, "bold"), f"  {summary(ask, 100)}")
    yield Text(f"    -> {command(ask, desk=desk_argument())} --go", "dim")


def _where() -> str:
    return f" --desk {desk_argument()}" if desk_argument() else ""


def went_well(row: RunRow) -> bool:
    """Whether a run is done or may still come to a good end."""
    return row.status not in ("failed", "parked", "cancelled")


def run_record(run: Run) -> dict[str, Any]:
    """Return a run as data: how it stands, what it was given, what it came to."""
    row, events = run.row, run.events
    said = (events[0].payload or {}) if events else {}
    state, usage = run.state, run.usage
    return {
        "id": row.id,
        "workflow": row.workflow,
        "path": row.path,
        "thread": row.thread,
        "team": row.team,
        "status": row.status,
        "started_at": _moment(row.started_at),
        "changed_at": _moment(row.changed_at),
        "input": said.get("input"),
        "output": told_end(run, "run.done").get("output") if row.status == "done" else None,
        "error": state.error,
        "progress": row.progress,
        "doing": row.doing,
        "worker": row.worker,
        "attempt": row.attempt,
        "waits": list(row.waits),
        "pending": [ask.id for ask in state.pending],
        "next": list(state.next),
        "usage": usage.to_json() if usage.calls else None,
    }


def asks_record(run: Run) -> list[dict[str, Any]]:
    """Return what a run asked, as data."""
    return [ask_record(ask) for ask in run.asks]


def _moment(at: datetime) -> str:
    return at.isoformat()
