"""The inbox as a list: one line an ask, in the order in which all lists of asks are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import click
from rich.text import Text

from sayso.asks.inbox import Inbox
from sayso.channels.card import risk_of, summary
from sayso.channels.fence import paragraph
from sayso.channels.record import ask_record
from sayso.cli.desks import address, desk_argument, desk_name, desk_option, named, open_desk
from sayso.cli.numbers import Whole
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show
from sayso.cli.who import named_person, who_option
from sayso.desk import Desk
from sayso.model.ask import Ask
from sayso.model.content import RISKS as RISK_WORDS
from sayso.model.span import say_span
from sayso.model.text import one_line
from sayso.model.verdicts import KINDS

_NARROW = 60


class Group(click.Group):
    """A group that lists when it is told nothing else."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` in front of arguments that name no command."""
        options_only = not args or args[0].startswith("-")
        wants_other = any(arg in self.commands or arg in ctx.help_option_names for arg in args)
        return super().parse_args(
            ctx, ["list", *args] if options_only and not wants_other else args
        )


@click.command(
    "list",
    epilog=examples(
        "sayso inbox list",
        "sayso inbox list --as anna",
        "sayso inbox list --role senior --least high",
        'sayso inbox list --search "refund ann"',
        "sayso inbox list --decided --agent support --json",
    ),
)
@click.option("--role", help="Only what somebody of this role may decide.")
@who_option("Only what this person can decide.  [default: SAYSO_PERSON, else all of it]")
@click.option("--kind", type=click.Choice(KINDS), help="Only asks of this kind.")
@click.option("--risk", type=click.Choice(RISK_WORDS), help="Only asks of this declared risk.")
@click.option("--least", type=click.Choice(RISK_WORDS), help="Only asks of at least this risk.")
@click.option("--agent", help="Only asks of this agent.")
@click.option("--tool", help="Only calls of this tool.")
@click.option("--search", metavar="WORDS", help="Only asks with all of these words on them.")
@click.option("--run", help="Only asks of this run.")
@click.option("--thread", help="Only asks of this thread.")
@click.option("--assignee", metavar="NAME", help="Only what this person looks into.")
@click.option("--team", help="Only what this team sees: its own, and what belongs to none.")
@click.option("--decided", is_flag=True, help="List what was decided or withdrawn instead.")
@click.option("--limit", type=Whole(1, 500), default=20, show_default=True)
@click.option("--after", metavar="CURSOR", help="Go on behind this place; a full page names it.")
@desk_option
@json_option
def list_asks(
    *,
    as_json: bool,
    decided: bool,
    person: str | None,
    **options: Any,  # noqa: ANN401 - its options
) -> None:
    """List what waits: what expires soon, what needs people, then what is for information.

    Each has the riskiest first, then what has the least time left. With --decided the newest
    comes first.
    """
    if decided and options["role"] is not None:
        raise click.UsageError("--role is for what waits: leave it out, or leave out --decided.")
    if not address().there:
        return _nothing_there(as_json=as_json, decided=decided)
    with open_desk() as desk:
        desk.sweep()
        person = named_person(desk, person)
        page = _page(desk, decided=decided, person=person, **options)
        if as_json:
            return _as_json(desk, page, decided=decided, person=person)
        _for_people(desk, page, {"as": person, **options, "decided": decided})
    return None


def _page(
    desk: Desk,
    *,
    decided: bool,
    team: str | None,
    search: str | None,
    role: str | None,
    **filters: Any,  # noqa: ANN401 - the others
) -> Inbox:
    if decided:
        return desk.decided(teams=team, text=search, **filters)
    return desk.inbox(teams=team, text=search, role=role, **filters)


def _nothing_there(*, as_json: bool, decided: bool) -> None:
    where = address()
    if as_json:
        said = {_state(decided=decided): "0", "count": 0, "cursor": None, "asks": []}
        emit({"desk": named(where.url), "person": None, **said})
        return
    say(f"desk: {named(where.url)}, 0 {_state(decided=decided)}", "dim")
    show(
        paragraph(
            "There is no such file yet: nothing was ever asked here. If you expected something, "
            "run this in the folder of your program, or name its desk: --desk URL, or SAYSO_URL."
        )
    )


def _state(*, decided: bool) -> str:
    return "decided" if decided else "open"


def _as_json(desk: Desk, page: Inbox, *, decided: bool, person: str | None) -> None:
    roster = desk.store.roster()
    emit(
        {
            "desk": desk_name(desk),
            "person": person,
            _state(decided=decided): page.counted,
            "count": page.count,
            "cursor": page.cursor,
            "asks": [ask_record(ask, roster) for ask in page],
            "damaged": list(page.damaged),
        }
    )


def _for_people(desk: Desk, page: Inbox, filters: dict[str, Any]) -> None:
    decided = filters["decided"]
    plain = ("limit", "decided", "as")
    narrowed = any(value is not None for name, value in filters.items() if name not in plain)
    what = "match" if narrowed else _state(decided=decided)
    seer = f", as {filters['as']}" if filters["as"] else ""
    say(f"desk: {desk_name(desk)}, {page.counted} {what}{seer}", "dim")
    if page.asks:
        show("", *_table(page, desk.store.now(), decided=decided))
    elif page.count and not page.damaged:
        say("Nothing more: this was the last page.")
    for trouble in page.damaged:
        say(one_line(trouble, 500), "red")
    if page.cursor is not None:
        say(f"\nMore: {_next_page(page.cursor, filters)}", "dim")
    elif page.asks:
        say("\nLook at one: sayso inbox show ID", "dim")


def _table(page: Inbox, now: datetime, *, decided: bool) -> Iterator[Text]:
    width = screen().width
    if width < _NARROW:
        yield from _two_lines_each(page, width)
        return
    if decided:
        yield from _outcomes(page, now, width)
        return
    timed = any(ask.due_at for ask in page)
    head = ("ID", "RISK", "KIND", "AGE", *(("LEFT",) if timed else ()), "WHAT")
    rows = []
    for ask in page:
        left = (short(ask.due_at - now) if ask.due_at else "",) if timed else ()
        age = short(now - ask.opened_at)
        rows.append((Text(ask.id, "bold"), _risk(ask), ask.kind, age, *left, _what(ask, width)))
    yield from columns(head, rows, width)


def _outcomes(page: Inbox, now: datetime, width: int) -> Iterator[Text]:
    head = ("ID", "KIND", "AGO", "OUTCOME", "WHAT")
    rows = [
        (
            Text(ask.id, "bold"),
            ask.kind,
            short(now - (ask.closed_at or now)),
            _outcome(ask),
            _what(ask, width),
        )
        for ask in page
    ]
    yield from columns(head, rows, width)


def _outcome(ask: Ask) -> str:
    """Say in a few words how an ask ended."""
    if ask.decision is None:
        return "withdrawn"
    return f"{ask.past} by {one_line(ask.decision.by.id, 20)}"


def _two_lines_each(page: Inbox, width: int) -> Iterator[Text]:
    for ask in page:
        yield Text.assemble((ask.id, "bold"), "  ", _risk(ask), f"  {ask.kind}")
        what = _what(ask, width)
        what.truncate(width - 2, overflow="ellipsis")
        yield Text.assemble("  ", what)


def _risk(ask: Ask) -> Text:
    shape, word, style = risk_of(ask)
    return Text(f"{shape} {word}", style=style)


def _what(ask: Ask, width: int) -> Text:
    marks = [
        "(program gone)" if ask.gone else "",
        f"({one_line(ask.assignee, 20)})" if ask.assignee else "",
        f"(asked {ask.repeats + 1} times)" if ask.repeats else "",
    ]
    marked = "".join(f"{mark} " for mark in marks if mark)
    return Text.assemble((marked, "yellow"), summary(ask, width))


def short(delta: timedelta) -> str:
    """Say a span in one unit, for a column."""
    return " ".join(say_span(delta).split(" ")[:2]).replace("under 1", "0 s")


def _next_page(cursor: str, filters: dict[str, Any]) -> str:
    """Return the command of the next page, with the filters of this one."""
    given = {**filters, "after": cursor, "desk": desk_argument()}
    options = [
        f"--{name}" if value is True else f"--{name} {shlex.quote(str(value))}"
        for name, value in given.items()
        if value
    ]
    return f"sayso inbox list {' '.join(options)}"
