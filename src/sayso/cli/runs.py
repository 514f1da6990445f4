"""`sayso runs`: what runs did and how they stand; resuming, cancelling, retrying."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

import click
from rich.console import Group as Lines
from rich.text import Text

from sayso.channels.card import moment
from sayso.channels.fence import Row, paragraph
from sayso.channels.record import event_record
from sayso.channels.story import in_order, story
from sayso.cli.apps import with_code
from sayso.cli.desks import address, desk_argument, desk_name, desk_option, named, open_desk
from sayso.cli.ending import tell_end
from sayso.cli.going import attended, carried_on, leaving
from sayso.cli.ids import run_argument, run_id
from sayso.cli.listing import Group, short
from sayso.cli.numbers import Whole
from sayso.cli.plans import plan_lines
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show
from sayso.cli.run_words import (
    asks_record,
    bar,
    brief,
    run_record,
    status_text,
    tell_standing,
    told_end,
    used,
    wants_more,
    went_well,
)
from sayso.cli.telling import QUIET, Telling, volume_options
from sayso.cli.who import as_option, decider
from sayso.desk import Desk
from sayso.errors import Misuse, RunOver, StoreError
from sayso.model.lifecycle import RunStatus
from sayso.model.text import one_line, visible
from sayso.runs.following import Following
from sayso.runs.handle import OVER, Run

_NARROW = 70


@click.group(
    cls=Group,
    epilog=examples(
        "sayso runs",
        "sayso runs show r-7f3k2a",
        "sayso runs resume r-7f3k2a",
        "sayso runs list --status waiting",
    ),
)
@desk_option
def runs() -> None:
    """What runs did and how they stand. Alone it lists."""


@runs.command(
    "list",
    epilog=examples(
        "sayso runs list",
        "sayso runs list --status waiting --workflow support",
        "sayso runs list --json",
    ),
)
@click.option("--status", type=click.Choice(get_args(RunStatus)), help="Only runs that stand so.")
@click.option("--workflow", metavar="NAME", help="Only runs of this workflow.")
@click.option("--thread", help="Only runs of this thread.")
@click.option("--team", help="Only what this team sees: its own, and what belongs to none.")
@click.option("--limit", type=Whole(1, 500), default=20, show_default=True)
@click.option("--before", metavar="ID", help="Go on behind this run; a full page names it.")
@desk_option
@json_option
def list_runs(
    *,
    as_json: bool,
    limit: int,
    before: str | None,
    team: str | None,
    **filters: Any,  # noqa: ANN401
) -> None:
    """List runs, the newest first."""
    if not address().there:
        _nothing_there(as_json=as_json)
        return
    with open_desk() as desk:
        desk.sweep()
        last = None if before is None else desk.get_run(run_id(before))
        page = desk.runs(limit=limit, before=last, teams=team, **filters)
        more = page[-1].id if len(page) == limit else None
        if as_json:
            records = [_record(run) for run in page]
            emit({"desk": desk_name(desk), "before": more, "runs": records})
            return
        given = {**filters, "team": team}
        _listed(desk, page, narrowed=before is not None or any(given.values()))
        if more is not None:
            say(f"\nMore: {_next_page(more, limit, given)}", "dim")
        elif page:
            say("\nLook at one: sayso runs show ID", "dim")


def _record(run: Run) -> dict[str, Any]:
    try:
        return run_record(run)
    except StoreError as error:  # one journal that cannot be read hides no other run
        return {"id": run.id, "status": run.status, "damaged": str(error)}


def _nothing_there(*, as_json: bool) -> None:
    where = named(address().url)
    if as_json:
        emit({"desk": where, "before": None, "runs": []})
        return
    say(f"desk: {where}, 0 runs", "dim")
    show(
        paragraph(
            "There is no such file yet: nothing ever ran here. If you expected something, run this "
            "in the folder of your program, or name its desk: --desk URL, or SAYSO_URL."
        )
    )


def _listed(desk: Desk, page: list[Run], *, narrowed: bool) -> None:
    what = "shown" if narrowed else "newest first"
    count = f"{len(page)} run{'' if len(page) == 1 else 's'}"
    say(f"desk: {desk_name(desk)}, {count}{f', {what}' if len(page) > 1 else ''}", "dim")
    if not page:
        return
    width = screen().width
    if width < _NARROW:
        show("", *_two_lines_each(desk, page, width))
        return
    head = ("ID", "STATUS", "WORKFLOW", "AGE", "WHAT")
    rows = []
    for run in page:
        row = run.row
        age, name = short(row.now - row.started_at), one_line(row.workflow, 24)
        rows.append(
            (Text(row.id, "bold"), status_text(row.status), name, age, _what(desk, run, width))
        )
    show("", *columns(head, rows, width))


def _two_lines_each(desk: Desk, page: list[Run], width: int) -> Iterator[Text]:
    for run in page:
        row = run.row
        name = one_line(row.workflow, 24)
        yield Text.assemble((row.id, "bold"), "  ", status_text(row.status), f"  {name}")
        what = _what(desk, run, width)
        what.truncate(width - 2, overflow="ellipsis")
        if what.plain:
            yield Text.assemble("  ", what)


def _what(desk: Desk, run: Run, width: int) -> Text:
    row = run.row
    far = "" if row.progress is None or row.status in OVER else f"{row.progress:.0%} "
    return Text.assemble((far, "bold"), brief(desk, run, row, width))


def _next_page(last: str, limit: int, filters: dict[str, Any]) -> str:
    given = {**filters, "limit": limit, "before": last, "desk": desk_argument()}
    options = [f"--{name} {shlex.quote(str(value))}" for name, value in given.items() if value]
    return f"sayso runs list {' '.join(options)}"


@runs.command(
    "show", epilog=examples("sayso runs show r-7f3k2a", "sayso runs show 7f3k2a --full --json")
)
@run_argument
@click.option("--full", is_flag=True, help="Show long values, and the trace of a failure.")
@desk_option
@json_option
def show_run(run_id: str, *, full: bool, as_json: bool) -> None:
    """Tell what a run did, from its start to now, and how it stands.

    Steps, questions, who decided what, effects with their results, pauses: the journal as a
    person reads it. What people see of one ask alone: sayso inbox show ID
    """
    with open_desk() as desk:
        desk.sweep()
        run = desk.get_run(run_id)
        asks = run.asks
        journals = [desk.store.stream(ask.stream) for ask in asks]
        events = in_order(run.events, journals)
        if as_json:
            told = [event_record(event) for event in events]
            emit(
                {"desk": desk_name(desk), **run_record(run), "asks": asks_record(run)}
                | {"events": told}
            )
            return
        say(f"desk: {desk_name(desk)}", "dim")
        show(*_head(run), "", *story(events, asks, full=full), "")
        tell_standing(desk, run)
        trace = told_end(run, "run.failed").get("trace") if run.status == "failed" else None
        if trace and full:
            show("", Text(visible(str(trace), lines=True), "dim"))
        elif trace:
            say(f"  where it failed: sayso runs show {run.id} --full", "dim")


def _head(run: Run) -> Iterator[Row]:
    row = run.row
    status = Text.assemble((one_line(row.workflow, 60), "bold"), "  ", status_text(row.status))
    yield Row(row.id, status, len(row.id) + 2)
    yield Row("Code", Text(visible(row.path)))
    if row.thread is not None:
        yield Row("Thread", Text(one_line(row.thread, 100)))
    if row.team is not None:
        yield Row("Team", Text(row.team))
    yield Row("Started", Text(moment(row.started_at)))
    if row.progress is not None and row.status not in OVER:
        yield Row("Progress", bar(row.progress))
    spent = used(run.usage)
    if spent:
        yield Row("Used", Text(spent))
        yield from _plan(run)


def _plan(run: Run) -> Iterator[Row]:
    plan = Following.of(run)
    if plan is None:
        return
    how = "changed and approved" if plan.changed else "approved"
    by = Text(f"{how} by {one_line(plan.by, 60)}", "dim")
    yield Row("Plan", Lines(by, *plan_lines(plan)))


@runs.command(
    "resume",
    epilog=examples(
        "sayso runs resume r-7f3k2a",
        "sayso runs resume r-7f3k2a path/app.py:desk",
        "sayso runs resume r-7f3k2a --no-wait",
    ),
)
@run_argument
@click.argument("target", metavar="[APP[:DESK]]", required=False)
@click.option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="Stay until it is over, and ask here for what it waits for; or end when it waits.",
)
@volume_options
@desk_option
@json_option
def resume(run_id: str, *, target: str | None, wait: bool, volume: int, as_json: bool) -> None:
    """Carry a run on right here.

    Its code is imported by the path the run has stored, as seen from this folder; name another
    place if it has moved. Of an agent only the answer goes to stdout. Ctrl-C pauses the run. Exit
    1 if it fails, is parked or cancelled, and 130 if it was paused.
    """
    with open_desk() as desk:
        _check_resumable(desk.get_run(run_id))
        with _able(desk, run_id, target) as able:
            _go_on(able, run_id, wait=wait, volume=volume, as_json=as_json)


def _check_resumable(run: Run) -> None:
    status = run.status
    if status in ("parked", "failed"):
        reason = one_line(run.error or "no reason is recorded", 500).rstrip(".")
        raise Misuse(
            f"{run.id} {'is parked' if status == 'parked' else 'has failed'}: {reason}. Let it go on "
            f"from there: sayso runs retry {run.id} --go"
        )
    if status in OVER:
        raise RunOver(run.id, status, "resume")


@contextmanager
def _able(desk: Desk, run_id: str, target: str | None) -> Iterator[Desk]:
    """Give a desk that has the code of the run."""
    able = with_code(desk, desk.get_run(run_id).row, target)
    try:
        yield able
    finally:
        if able is not desk:
            able.close()


def _go_on(desk: Desk, run_id: str, *, wait: bool, volume: int, as_json: bool) -> None:
    """Carry a run on, and say how it is left."""
    run = desk.get_run(run_id)
    telling = Telling(run.workflow, QUIET if as_json else volume)
    with leaving(desk, run_id):
        run = attended(desk, run, telling) if wait else carried_on(desk, run_id, telling)
    if desk.flows[run.workflow].host is None and run.status == "done":
        tell_end(desk, run, volume=telling.volume, as_json=as_json)
    else:
        told(desk, run, as_json=as_json)


def told(desk: Desk, run: Run, *, as_json: bool) -> None:
    """Say how a run is left; exit 1 if that is no good end."""
    if as_json:
        emit({"desk": desk_name(desk)} | run_record(run))
    else:
        tell_standing(desk, run)
    if not went_well(run.row):
        click.get_current_context().exit(1)


@runs.command(
    "cancel",
    epilog=examples(
        "sayso runs cancel r-7f3k2a",
        'sayso runs cancel r-7f3k2a --as anna --note "Ordered twice"',
    ),
)
@run_argument
@click.option("--note", help="Why; it is kept in the journal.")
@as_option
@desk_option
@json_option
def cancel(run_id: str, *, note: str | None, person: str | None, as_json: bool) -> None:
    """End a run before its next effect, and take its open asks back.

    It takes what rejecting its open asks takes. What it did stays done, and a doubt whether
    something happened stays open.
    """
    with open_desk() as desk:
        was = desk.get_run(run_id)
        open_before = [ask for ask in was.state.pending if ask.kind != "doubt"]
        by = decider(desk, person) if open_before or person else None
        run = desk.cancel(run_id, note, by=by)
        if as_json:
            emit({"desk": desk_name(desk)} | run_record(run))
            return
        say(f"{run.id} is cancelled: nothing more of it will be carried out.", "green")
        for ask in open_before:
            say(f"  taken back: {ask.id}  {ask.label}")
        for ask in run.asks:
            if ask.open:
                say(
                    f"  still in doubt: {ask.id}  {ask.label}  (sayso inbox show {ask.id})",
                    "yellow",
                )


@runs.command(
    "retry", epilog=examples("sayso runs retry r-7f3k2a", "sayso runs retry r-7f3k2a --go")
)
@run_argument
@click.option("--go", is_flag=True, help="Carry it on right here, until it waits or is over.")
@volume_options
@desk_option
@json_option
def retry(run_id: str, *, go: bool, volume: int, as_json: bool) -> None:
    """Let a parked or failed run go on from where it stood.

    What is recorded stands; the step that failed is tried again. An agent that has reached a
    limit is given as much again, of every limit it has.
    """
    with open_desk() as desk:
        run = desk.get_run(run_id)
        more = ", with as much again as it was given" if wants_more(run) else ""
        if not go:
            run = desk.retry(run_id)
            if not as_json:
                say(f"{run.id} goes on from where it stood{more}.", "green")
            told(desk, run, as_json=as_json)
            return
        with _able(desk, run_id, None) as able:  # before anything is changed
            desk.retry(run_id)
            _go_on(able, run_id, wait=False, volume=volume, as_json=as_json)
