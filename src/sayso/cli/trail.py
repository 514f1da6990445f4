"""`sayso audit list`: the journal across asks and runs, and the options that narrow it down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from rich.text import Text

from sayso.channels.record import kept_record
from sayso.channels.sentences import readable
from sayso.cli.desks import desk_option, open_desk
from sayso.cli.numbers import Whole
from sayso.cli.printing import emit, examples, json_option, say, screen
from sayso.desk import Desk
from sayso.errors import Tampered
from sayso.insight.trail import VERDICTS, Found, Wanted, end_of, look, moment_of
from sayso.model.text import one_line

F = TypeVar("F", bound=Callable[..., Any])

UNTIL = "Before then, written in the same way; a day without a time is included."

_OPTIONS = (
    click.option("--actor", metavar="WHO", help="A name, person, agent, ..., or person:anna."),
    click.option("--tool", metavar="NAME", help="Only what is about calls of this tool."),
    click.option("--verdict", type=click.Choice(VERDICTS), help="Only votes and decisions."),
    click.option("--kind", metavar="KIND", help="A kind of event, or a family: 'ask.*'."),
    click.option(
        "--since", metavar="WHEN", help="From then on: 7d ago, or 2026-03-01T09:00 (UTC)."
    ),
    click.option("--until", metavar="WHEN", help=UNTIL),
    click.option(
        "--stream", metavar="ID", help="Only of this ask or run, or of people, access, ..."
    ),
)


def narrowing(command: F) -> F:
    """Give a command the options that say which events are wanted."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def wanted_of(desk: Desk, given: dict[str, str | None]) -> Wanted:
    """Return what the options say.

    Raises:
        BadValue: a kind or a moment is none.
    """
    said: dict[str, Any] = {name: value for name, value in given.items() if value}
    for name, read in (("since", moment_of), ("until", end_of)):
        if name in said:
            said[name] = read(said[name], desk.store.now())
    return Wanted(**said).checked()


@click.command(
    "list",
    epilog=examples(
        "sayso audit list --actor anna --tool pay --since 7d",
        "sayso audit list --verdict reject --json",
        "sayso audit list --kind 'run.*' --limit 200",
    ),
)
@narrowing
@click.option("--limit", type=Whole(1, 500), default=50, show_default=True)
@click.option("--before", metavar="PLACE", help="Go on where a list ended.")
@desk_option
@json_option
def listed(*, limit: int, before: str | None, as_json: bool, **given: str | None) -> None:
    """What happened across asks and runs, the newest first."""
    with open_desk() as desk:
        page = look(desk.store, wanted_of(desk, given), before=before, limit=limit, most=None)
    if as_json:
        emit(
            {
                "events": [kept_record(one.event) | _found_by(one) for one in page.found],
                "older": page.older,
                "early": page.early,
            }
        )
        return
    for one in page.found:
        screen().print(line_of(one), soft_wrap=True)
    if not page.found:
        say("Nothing fits." if page.older is None else "Nothing among these fits.", "dim")
    if page.older is not None:
        say(f"Older: --before {page.older}", "dim", err=True)


def _found_by(found: Found) -> dict[str, str | None]:
    row = found.row
    return {"by": row.actor, "tool": row.tool or None, "verdict": row.verdict or None}


def line_of(found: Found) -> Text:
    """Tell one event on one line: when, who, what, of what."""
    event, row = found.event, found.row
    try:
        at = event.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    except Tampered:
        at = "at no moment"
    sort, _, name = row.actor.partition(":")
    who = f"the {sort}" if sort in ("clock", "policy") else f"{sort} {one_line(name, 40)}"
    tool = f", {one_line(row.tool, 60)}" if row.tool else ""
    return Text.assemble(
        (f"{at}  ", "dim"),
        (f"{who} ", "bold"),
        "".join(readable(event)),
        (f"  ({one_line(event.stream, 60)}{tool})", "dim"),
    )
