"""`sayso trust`: which agents have earned to run what alone, and ending that; `sayso incident`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

import click
from rich.text import Text

from sayso.asks.trust import book_record, row_record
from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Standing, bar_after
from sayso.channels.fence import Row
from sayso.channels.menu import command
from sayso.channels.record import ask_record, event_record
from sayso.channels.reputation import least_words, reach_words
from sayso.cli.desks import address, desk_argument, desk_name, desk_option, named, open_desk
from sayso.cli.ids import id_argument, key_argument
from sayso.cli.listing import Group
from sayso.cli.numbers import Whole
from sayso.cli.printing import emit, examples, json_option, say, show
from sayso.cli.timeline import timeline
from sayso.cli.who import as_option, decider
from sayso.desk import Desk
from sayso.model.text import one_line
from sayso.store.trust import TrustRow

if TYPE_CHECKING:
    from rich.console import RenderableType

_GUTTER = 13
_MARKS = 24  # of the record, in a list
_STYLES: dict[str, str] = {
    "proposed": "bold yellow",
    "suspended": "bold red",
    "locked": "red",
    "granted": "green",
}
_STANDINGS: dict[str, str] = {
    "reviewed": "people are asked for every call",
    "proposed": "it has earned enough, and people are asked whether it may run alone",
    "granted": "it runs alone, but for what chance picks",
    "suspended": "a call was flagged as harmful, and nothing runs alone until somebody has looked",
    "locked": "too many grants ended by harm; it earns nothing until a person reopens it",
}
_LEGEND = (
    "+ fine   ? flagged   x harmful   o not harmful after all   ! incident   "
    "G granted   D declined   R revoked   O reopened"
)


@click.group(
    cls=Group,
    epilog=examples(
        "sayso trust",
        "sayso trust show k-7f3k9m2p0q",
        'sayso trust revoke k-7f3k9m2p0q "New supplier"',
        'sayso trust reopen k-7f3k9m2p0q "It was mended"',
    ),
)
@desk_option
def trust() -> None:
    """Which agents have earned to run what alone, and ending that. Alone it lists."""


# --- list --------------------------------------------------------------------------------------


@trust.command(
    "list", epilog=examples("sayso trust list", "sayso trust list --standing granted --agent shop")
)
@click.option(
    "--standing", type=click.Choice(get_args(Standing)), help="Only keys that stand like this."
)
@click.option("--agent", help="Only keys of this agent.")
@click.option("--tool", help="Only calls of this tool.")
@click.option("--limit", type=Whole(1, 500), default=50, show_default=True)
@desk_option
@json_option
def list_keys(
    *,
    standing: Standing | None,
    agent: str | None,
    tool: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List keys: those that want somebody first, then those that run alone.

    A key is an agent in one version, a tool, a kind of call and a tier: what is trusted together.
    """
    if not address().there:
        _listed(named(address().url), [], {}, as_json=as_json)
        return
    with open_desk() as desk:
        found = desk.trust.keys(standing=standing, agent=agent, tool=tool, limit=limit)
        _listed(desk_name(desk), found, dict(desk.trust.counts()), as_json=as_json)


def _listed(
    where: str, found: Sequence[TrustRow], counts: dict[str, int], *, as_json: bool
) -> None:
    if as_json:
        emit({"desk": where, "keys": [row_record(row) for row in found], "counts": counts})
        return
    total = sum(counts.values())
    parts = [f"{counts[name]} {name}" for name in _STANDINGS if counts.get(name)]
    told = f": {', '.join(parts)}" if parts else ""
    say(f"desk: {where}, {total} key{'' if total == 1 else 's'}{told}", "dim")
    if not counts:
        say("None yet: a key begins with the first call of a tool in a tier that people judge.")
        return
    if not found:
        say("None of these.")
    for row in found:
        show("", *_row(row))


def _row(row: TrustRow) -> Iterator[Text]:
    yield Text.assemble(
        (f"{row.id}  ", "bold"),
        (f"{row.standing}  ", _STYLES.get(row.standing, "")),
        f"{_calls(row.tool, row.agent, row.bucket)} ({row.tier})",
    )
    harms = f"{_many(row.harms, 'harm')}, {_many(row.audits, 'audit')}"
    score = f"score {row.score:.1f} of {bar_after(row.ends):g}"
    yield Text(f"    {row.fine:,} fine, {harms}, {score}  {row.marks[-_MARKS:]}", style="dim")


def _calls(tool: str, agent: str, bucket: str) -> str:
    kind = f", {one_line(bucket, 40)}" if bucket else ""
    return f"{one_line(tool, 40)} by {one_line(agent, 40)}{kind}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


# --- show --------------------------------------------------------------------------------------


@trust.command("show", epilog=examples("sayso trust show k-7f3k9m2p0q"))
@key_argument
@click.option("--limit", type=Whole(0), default=20, help="How much of its history.")
@desk_option
@json_option
def show_key(key: str, *, limit: int, as_json: bool) -> None:
    """Show all about one key: how it stands, on what terms, and what was said of it."""
    with open_desk() as desk:
        desk.sweep()
        book, events = desk.trust.key(key), desk.trust.history(key)
        alone = desk.trust.alone(key)
        if as_json:
            history = [event_record(event) for event in events]
            emit(book_record(book) | {"alone": alone, "history": history})
            return
        say(f"desk: {desk_name(desk)}", "dim")
        show("", *_described(book, alone=alone), *_open_asks(desk, book))
        last = events[-limit:] if limit else []
        if last:
            left = len(events) - len(last)
            show("", Text("History", style="bold"))
            if left:
                say(f"  {_many(left, 'line')} before: --limit shows more", "dim")
            show(*timeline(last))


def _described(book: Book, *, alone: bool) -> Iterator[RenderableType]:
    key, ledger, terms = book.key, book.ledger, book.terms
    name = _calls(key.tool, key.agent, key.bucket)
    yield Text.assemble((f"{book.id}  ", "bold"), name)
    restored = book.alone and not alone
    standing = "the desk was restored since, so people are asked until it is granted again"
    said = standing if restored else _STANDINGS[ledger.standing]
    yield _fact("Standing", f"{ledger.standing}: {said}")
    yield _fact("Version", one_line(key.version, 60) or "not stated")
    yield _fact("Tier", key.tier)
    if key.team:
        yield _fact("Team", key.team)
    harms = f"{_many(book.harms, 'harm')}, {_many(book.incidents, 'incident')}"
    audits = f"{_many(book.audits, 'audit')}, {book.bad_audits} of them harmful"
    yield _fact("Record", f"{book.fine:,} found fine, {harms}; {audits}")
    yield _fact("", book.marks)
    yield _fact("", _LEGEND)
    yield _fact("To a grant", _to_a_grant(book))
    yield _fact("Reaches", reach_words(book))
    yield _fact("Audits", f"while it runs alone, chance picks {terms.audit:.1%} of its calls")
    ends = "1 confirmed harm" if terms.strikes == 1 else f"{terms.strikes} confirmed harms"
    so_far = f" ({ledger.strikes} so far)" if alone else ""
    yield _fact("Ends with", f"{ends}{so_far}, or one incident, or: sayso trust revoke {book.id}")
    yield _fact("Ended", f"{_times(ledger.ends)} by harm; each doubles the bar, the third locks it")
    if alone and book.exposure is not None:
        noticed = f"if reviewers notice {book.detection:.0%} of them"
        yield _fact("Exposure", f"{book.exposure:.1f} bad calls may get through, {noticed}")
    yield _fact("Decides", " and ".join(book.needs) or "1 reviewer")


def _to_a_grant(book: Book) -> str:
    ledger = book.ledger
    score = f"score {ledger.score:.1f}, and {ledger.bar:g} is needed"
    if book.missing is None:
        return score
    if not book.missing:
        return f"{least_words(book)}: {score}"
    return f"{_many(book.missing, 'more call')} found to be fine: {score}"


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _fact(label: str, text: str) -> Row:
    return Row(label, Text(text), _GUTTER)


def _open_asks(desk: Desk, book: Book) -> Iterator[RenderableType]:
    """Say what people have to settle about a key, and how."""
    questions = [(ask_id, "Was it harmful?") for ask_id in book.questions]
    for ask_id, what in ((book.grant_ask, "May it run alone?"), *questions):
        if ask_id is None or not (ask := desk.get(ask_id)).open:
            continue
        yield Text("")
        yield Text(f"{what} It waits for {ask.needs}: sayso inbox show {ask.id}", style="yellow")
        yield Text(f"Decide it: {command(ask, desk=desk_argument())}", style="yellow")


# --- revoke, reopen, incident ------------------------------------------------------------------


@trust.command(
    "revoke",
    epilog=examples(
        'sayso trust revoke k-7f3k9m2p0q "New supplier"', "sayso trust revoke k-7f3k9m2p0q --yes"
    ),
)
@key_argument
@click.argument("note", required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_option
@desk_option
@json_option
def revoke(key: str, note: str | None, *, yes: bool, person: str | None, as_json: bool) -> None:
    """End a grant: people are asked again, and the key earns from the beginning."""
    with open_desk() as desk:
        by, book = decider(desk, person), desk.trust.key(key)
        if book.alone and not yes:
            calls = _calls(book.key.tool, book.key.agent, book.key.bucket)
            _agree(f"Ask people again for every call of {calls}?")
        _told(desk.trust.revoke(key, note, by=by), "people are asked again", as_json=as_json)


@trust.command("reopen", epilog=examples('sayso trust reopen k-7f3k9m2p0q "It was mended"'))
@key_argument
@click.argument("note", required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_option
@desk_option
@json_option
def reopen(key: str, note: str | None, *, yes: bool, person: str | None, as_json: bool) -> None:
    """Let a key earn again that was locked. For whoever decides its calls."""
    with open_desk() as desk:
        by, book = decider(desk, person), desk.trust.key(key)
        if book.ledger.standing == "locked" and not yes:
            _agree(f"{_times(book.ledger.ends).capitalize()} its grant ended by harm. Reopen it?")
        _told(desk.trust.reopen(key, note, by=by), "it may earn again", as_json=as_json)


def _agree(question: str) -> None:
    click.confirm(question, abort=True, prompt_suffix=" ", err=True)


def _told(book: Book, words: str, *, as_json: bool) -> None:
    if as_json:
        emit(book_record(book))
        return
    say(f"{book.id}: {words}. It has to reach {book.ledger.bar:g} to run alone.", "green")


@click.command("incident", epilog=examples('sayso incident a-7f3k "The customer was paid twice"'))
@id_argument
@click.argument("harm")
@as_option
@desk_option
@json_option
def incident(ask_id: str, harm: str, *, person: str | None, as_json: bool) -> None:
    """Report that a call which was carried out did harm, whoever had let it.

    It ends the grant of its key, if that runs alone, and weighs against it otherwise.
    """
    with open_desk() as desk:
        ask = desk.incident(ask_id, harm, by=decider(desk, person))
        if as_json:
            emit(ask_record(ask, desk.store.roster()))
            return
        say(f"{ask.id}: the harm is in the journal.", "green")
        _tell_key(desk, ask.stake.key if ask.stake is not None else None)


def _tell_key(desk: Desk, key: str | None) -> None:
    """Say what came of it for the key of the call, if it has one."""
    known = None if key is None else desk.store.trust_of(key)
    if known is None:
        say("No trust was earned by such calls, so none is lost: people are asked for each.")
        return
    calls = _calls(known.tool, known.agent, known.bucket)
    say(f"{known.id} ({calls}) is {known.standing}: {_STANDINGS[known.standing]}.")
