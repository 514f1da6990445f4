"""Runs: which there are, one of them with all it did, and what people can do about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import Caller
from sayso.channels.steps import Line
from sayso.errors import SaysoError
from sayso.model.actor import Roster
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.lifecycle import RunStatus
from sayso.model.money import say_dollars
from sayso.runs.brief import brief, quotes
from sayso.runs.following import Following, Mark
from sayso.runs.handle import OVER, served, to_come
from sayso.runs.journal import asks_of
from sayso.runs.lengthy import ADDED_UP, plan_of, usage_of
from sayso.runs.steering import cancel, retry
from sayso.runs.usage import RunUsage, used
from sayso.store.contract import RunQuery, RunRow
from sayso.store.fleet import ALIVE
from sayso.web.inbox.posting import one, posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.views import Chip, Toast
from sayso.web.pages.board import board, person
from sayso.web.pages.journal import PART, Part, journal_of, part_of
from sayso.web.pages.lines import LABELS, command_of, label_of, lines_of, title_of
from sayso.web.pages.remembered import memory_of
from sayso.web.pages.spot import DRAWN, LOOKED_AT, more_of, open_asks, spots_of
from sayso.web.problems import status_of
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)
RunId = Annotated[str, Path(max_length=200)]
_READS, _WRITES = person("runs:read"), person("runs:write")
_SHOWN = 50
_WHOLE = 2000  # events of a run that are read at once, for its memory
_LONGEST = 200
_SAID: Mapping[str, str] = {
    "cancelled": "The run is cancelled. What it had asked is taken back.",
    "retried": "The run goes on from where it stood.",
}


# --- which there are ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilters:
    """Which runs somebody looks at. All of it is in the address."""

    status: RunStatus | None = None
    workflow: str | None = None
    thread: str | None = None
    begins: str | None = None
    after: str | None = None

    @classmethod
    def of(cls, params: Mapping[str, str]) -> RunFilters:
        """Read the filters of an address; a status that does not exist is none."""
        status = next((each for each in LABELS if each == params.get("status")), None)
        given = {name: params.get(name, "").strip()[:_LONGEST] or None for name in _FIELDS}
        return cls(status=status, **given)

    def href(self) -> str:
        """Return the address of the list with these filters."""
        names = ("status", *_FIELDS)
        said = [(name, value) for name in names if (value := getattr(self, name))]
        return f"/runs?{urlencode(said)}" if said else "/runs"

    @property
    def narrowed(self) -> bool:
        """Whether any filter is on."""
        return any((self.status, self.workflow, self.thread, self.begins))


_FIELDS = ("workflow", "thread", "begins", "after")


@router.get("/runs")
async def runs(request: Request, who: Caller = _READS) -> Response:
    """List runs, the newest first."""
    visit, filters = visit_of(request, who), RunFilters.of(request.query_params)

    def made() -> Response:
        rows = listed(visit, filters)
        alive = frozenset(name for one in visit.store.workers(ALIVE) for name in one.serves)
        full = len(rows) == _SHOWN
        return board(
            request,
            visit,
            "runs.html",
            "Runs",
            "runs",
            runs=lines_of(visit, rows, alive),
            filters=filters,
            chips=[
                Chip(label="All", href=_with(filters, None), current=filters.status is None),
                *(
                    Chip(label=label, href=_with(filters, each), current=filters.status == each)
                    for each, label in LABELS.items()
                ),
            ],
            older=replace(filters, after=rows[-1].id).href() if full else None,
            newest=replace(filters, after=None).href() if filters.after else None,
        )

    return await service_of(request).work(made)


def _with(filters: RunFilters, status: RunStatus | None) -> str:
    return replace(filters, status=status, after=None).href()


def listed(visit: Visit, filters: RunFilters, limit: int = _SHOWN) -> list[RunRow]:
    """Return the runs of a page: of one's teams, and those of none."""
    last = None if filters.after is None else visit.run(filters.after)
    query = RunQuery(
        status=filters.status,
        workflow=filters.workflow,
        thread=filters.thread,
        begins=filters.begins,
        teams=visit.teams(),
        limit=limit,
        before=None if last is None else (last.started_at, last.id),
    )
    return visit.store.runs(query)


# --- one of them -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLine:
    """A step of the plan in force."""

    mark: Mark
    title: str
    tool: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """The plan in force, and who agreed to it."""

    lines: tuple[PlanLine, ...]
    by: str
    changed: bool
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """Everything at the top of a run's page. `what` and `next` were made visible already."""

    id: str
    title: str
    status: RunStatus
    label: str
    workflow: str
    path: str
    team: str | None
    thread: str | None
    progress: float | None
    started_at: datetime
    changed_at: datetime
    worker: str | None
    lapsed: bool
    attempt: int
    events: int
    what: str
    quoted: bool
    next: tuple[str, ...]
    command: str | None
    costs: tuple[tuple[str, str], ...]
    plan: PlanView | None
    end: Literal["cancel", ""]
    again: Literal["retry", ""]

    @property
    def moving(self) -> bool:
        """Whether it is being worked on."""
        return self.status in ("ready", "running")


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of a run: everything, or of a long one the part that is on the page.

    What it used up, and its plan, are of all of it; `counted` is how many events were added up.
    """

    events: Sequence[Event]
    asks: Sequence[Ask]
    whole: bool
    usage: RunUsage
    plan: Following | None
    counted: int


@router.get("/runs/{id}")
async def one_run(
    request: Request,
    id: RunId,  # noqa: A002 - as the address says
    who: Caller = _READS,
    show: str = "timeline",
    upto: str | None = None,
    done: str | None = None,
    said: str | None = None,
) -> Response:
    """Show a run: what it did, what waits for people, and what it remembers."""
    visit = visit_of(request, who)
    last = int(upto) if upto is not None and upto.isdecimal() and len(upto) < 12 else None

    def made() -> Response:
        row = visit.run(id)
        words = _SAID.get(said or "")
        toast = None if words is None else Toast(text=words, ask="")
        return _shown(request, visit, row, show, last, done=done, toast=toast)

    return await service_of(request).work(made)


def _shown(
    request: Request,
    visit: Visit,
    row: RunRow,
    show: str,
    upto: int | None,
    *,
    status: int = 200,
    done: str | None = None,
    toast: Toast | None = None,
    wrong: str | None = None,
) -> Response:
    part = part_of(visit, row, upto)
    here, back = f"/runs/{row.id}", f"/runs/{row.id}"
    ids = visit.store.run_open(row.id) if row.status not in OVER else []
    asked = open_asks(visit, ids[:LOOKED_AT])
    waits = [asked[ask_id] for ask_id in ids if ask_id in asked]
    known = known_of(visit, row, part, waits)
    pending = spots_of(visit, [ask.id for ask in waits[:DRAWN]], back)
    view = run_page(visit, row, known, waits)
    return board(
        request,
        visit,
        "one_run.html",
        view.title,
        "runs",
        status=status,
        done=done,
        back=back,
        toast=toast,
        live_from=None if wrong is None else here,
        run=replace(view, label=label_of(row, pending)),
        pending=pending,
        more=more_of(row.id, ids, len(waits)),
        wrong=wrong,
        tab="memory" if show == "memory" else "timeline",
        journal=journal_of(part) if show != "memory" else (),
        memory=memory_of(known.events, known.asks) if show == "memory" else (),
        whole=known.whole,
        earlier=f"{here}?upto={part.first - 1}" if part.first > 1 else None,
        later=f"{here}?upto={min(part.last + PART, row.seq)}" if part.last < row.seq else None,
        first=part.first,
        last=part.last,
        thread_href=None if row.thread is None else f"/runs?{urlencode({'thread': row.thread})}",
    )


def known_of(visit: Visit, row: RunRow, part: Part, pending: Sequence[Ask]) -> Known:
    """Read all of a run; of one whose journal is long, the part on the page and what sums it up."""
    store, roster = visit.store, visit.people
    if row.seq > _WHOLE:
        return Known(
            part.events,
            part.asks,
            whole=False,
            usage=usage_of(store, row),
            plan=plan_of(store, row, pending, lambda ask: _sees(visit, ask, roster)),
            counted=min(row.seq, ADDED_UP),
        )
    journals = store.history(row.id)
    own = journals[0] if journals and journals[0][0].stream == row.id else []
    asks = asks_of(row.id, journals[1:] if own else journals)
    seen = [ask for ask in asks if _sees(visit, ask, roster)]
    plan = Following.read(own, seen, row.progress)
    return Known(own, seen, whole=True, usage=used(own), plan=plan, counted=row.seq)


def _sees(visit: Visit, ask: Ask, roster: Roster) -> bool:
    return visit.sees(ask.content.team, ask.content.agent, roster)


def run_page(visit: Visit, row: RunRow, known: Known, pending: Sequence[Ask]) -> RunPage:
    """Return what stands at the top of a run's page."""
    begun = next(iter(visit.store.passage(row.id, 0, 1)), None)
    last = visit.store.endings([row.id]).get(row.id)
    alone = row.status == "ready" and not served(visit.store, row.workflow)
    return RunPage(
        id=row.id,
        title=title_of(row, begun),
        status=row.status,
        label=LABELS[row.status],
        workflow=row.workflow,
        path=row.path,
        team=row.team,
        thread=row.thread,
        progress=row.progress,
        started_at=row.started_at,
        changed_at=row.changed_at,
        worker=row.worker if row.status == "running" else None,
        lapsed=row.lapsed,
        attempt=row.attempt,
        events=row.seq,
        what=brief(row, last, served=not alone, width=1000),
        quoted=quotes(row),
        next=to_come(row, pending, visit.store)[:DRAWN],
        command=command_of(row) if alone else None,
        costs=(*costs_of(known.usage), *_left_out(known.counted, row.seq)),
        plan=None if known.plan is None else _plan(known.plan, row),
        end="" if row.status in ("done", "cancelled") else "cancel",
        again="retry" if row.status in ("parked", "failed") else "",
    )


def _left_out(counted: int, events: int) -> tuple[tuple[str, str], ...]:
    """Say which part of a journal was added up, if it was not all of it."""
    return () if counted >= events else (("Costs", f"those of its first {counted:,} events"),)


def costs_of(usage: RunUsage) -> tuple[tuple[str, str], ...]:
    """Return what the models of a run used up, in words; what nobody stated is not made up."""
    if not usage.calls:
        return (("Model calls", "none"),)
    tokens = f"{usage.input:,} read, {usage.output:,} written" if usage.tokens else "not stated"
    cost = "not stated" if usage.cost is None else say_dollars(usage.cost)
    return (("Model calls", f"{usage.calls:,}"), ("Tokens", tokens), ("Cost", cost))


def _plan(plan: Following, row: RunRow) -> PlanView:
    lines = [(mark, Line.of(step)) for mark, step in plan.marked()]
    over = row.status in OVER
    return PlanView(
        lines=tuple(
            PlanLine(
                mark="todo" if over and mark == "now" else mark, title=line.title, tool=line.tool
            )
            for mark, line in lines
        ),
        by=plan.by,
        changed=plan.changed,
        href=f"/inbox/{plan.ask}",
    )


# --- what people can do about it ---------------------------------------------------------------


@router.post("/runs/{id}/cancel")
async def cancel_run(
    request: Request,
    id: RunId,  # noqa: A002
    who: Caller = _WRITES,
) -> Response:
    """End a run before its next effect, and take its open asks back."""
    fields = await posted(request)
    note = one(fields, "note").strip() or None
    visit = visit_of(request, who)

    def act() -> None:
        cancel(visit.store, id, by=visit.caller.name, origin=visit.origin, note=note)

    return await service_of(request).work(lambda: _done(request, visit, id, act, "cancelled"))


@router.post("/runs/{id}/retry")
async def retry_run(
    request: Request,
    id: RunId,  # noqa: A002
    who: Caller = _WRITES,
) -> Response:
    """Let a parked or failed run go on from where it stood."""
    visit = visit_of(request, who)

    def act() -> None:
        retry(visit.store, id, actor=visit.actor, origin=visit.origin)

    return await service_of(request).work(lambda: _done(request, visit, id, act, "retried"))


def _done(
    request: Request, visit: Visit, run_id: str, act: Callable[[], None], word: str
) -> Response:
    """Do it to a run that this person sees, and show the run; or say what stood in the way."""
    visit.run(run_id)
    try:
        act()
    except SaysoError as error:
        status = status_of(error)
        if status not in (403, 409):
            raise
        return _shown(
            request, visit, visit.run(run_id), "timeline", None, status=status, wrong=str(error)
        )
    return RedirectResponse(f"/runs/{run_id}?said={word}", 303)
