"""`sayso policy publish` and what goes with it: versions of the policy, compared and put in force."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from sayso.asks.law import Published
from sayso.asks.lawbook import default_policy
from sayso.asks.publishing import deciders, publisher
from sayso.channels.fence import Row
from sayso.cli.desks import desk_name, desk_option, open_desk
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show
from sayso.cli.who import named_person, who_option
from sayso.errors import Misuse
from sayso.model.text import one_line, visible
from sayso.policy.changes import Change, change_record, changes
from sayso.policy.rules import Policy

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sayso.desk import Desk

_FILE = click.Path(dir_okay=False, path_type=Path)
_STYLES = {"new": ("+ ", "green"), "gone": ("- ", "red"), "changed": ("~ ", "yellow")}
_publisher = who_option("The administrator who does it.  [default: SAYSO_PERSON]")
_note = click.option("--note", metavar="WORDS", help="Why, for the journal.")
_yes = click.option("--yes", is_flag=True, help="Do not ask first.")


def version_record(found: Published) -> dict[str, Any]:
    """Return a version of the policy as data."""
    return {
        "version": found.number,
        "kind": found.kind,
        "digest": found.digest,
        "name": found.name,
        "source": found.source or None,
        "note": found.note,
        "restores": found.restores,
        "at": found.at.isoformat(),
        "by": str(found.by),
        "account": found.account,
        "via": found.via,
    }


# --- publish, rollback ---


@click.command(
    "publish",
    epilog=examples(
        "sayso policy publish",
        'sayso policy publish strict.toml --note "after the incident" --as anna',
    ),
)
@click.argument("file", type=_FILE, required=False)
@_note
@_publisher
@_yes
@desk_option
@json_option
def publish(
    file: Path | None, *, note: str | None, person: str | None, yes: bool, as_json: bool
) -> None:
    """Put a policy in force for every program of the desk, from its next ruling on.

    FILE is SAYSO_POLICY, else sayso.toml of this folder, unless given. What changes is shown first,
    and who could decide under it. On a desk with administrators one of them does it.
    """
    with open_desk(create=True) as desk:
        policies, by = desk.policies, _by(desk, person)
        publisher(desk.store.register(), by, desk.origin)  # refused before anything is shown
        over = policies.in_force
        proposed = policies.proposed(file).policy
        before = _in_force(desk)
        found = () if before is None else changes(before, proposed)
        if not as_json:
            say(f"desk: {desk_name(desk)}, {_named(over)}", "dim")
            show(*_shown(found, before), *_deciding(desk, proposed))
        _make_sure(yes, as_json, f"Put {one_line(proposed.source, 80)} in force?")
        number = 0 if over is None else over.number
        put = policies.publish(file, note=note, by=by, over=number)
        _told(put, found, as_json=as_json)


@click.command(
    "rollback",
    epilog=examples("sayso policy rollback 3", 'sayso policy rollback 0 --note "start again"'),
)
@click.argument("version")
@_note
@_publisher
@_yes
@desk_option
@json_option
def rollback(
    version: str, *, note: str | None, person: str | None, yes: bool, as_json: bool
) -> None:
    """Put an earlier version of the policy in force again. 0 is the built-in policy.

    VERSION is its number, or the beginning of its digest.
    """
    with open_desk() as desk:
        policies, by = desk.policies, _by(desk, person)
        publisher(desk.store.register(), by, desk.origin)
        before = _in_force(desk)
        wanted = default_policy() if version == "0" else policies.read(policies.show(version))
        found = () if before is None else changes(before, wanted)
        if not as_json:
            say(f"desk: {desk_name(desk)}, {_named(policies.in_force)}", "dim")
            show(*_shown(found, before), *_deciding(desk, wanted))
        _make_sure(yes, as_json, f"Put version {one_line(version, 40)} in force again?")
        _told(policies.rollback(version, note=note, by=by), found, as_json=as_json)


def _by(desk: Desk, person: str | None) -> str | None:
    """Return who is named, or whose account this is; `None` if that is no person of the desk."""
    sitting = desk.origin.account.partition("@")[0]
    known = {one.name for one in desk.people}
    return named_person(desk, person) or (sitting if sitting in known else None)


def _in_force(desk: Desk) -> Policy | None:
    """Return the rules in force; `None` if nothing can be ruled by them."""
    if desk.policies.in_force is None:
        return default_policy()
    return None if desk.law.broken is not None else desk.policy


def _named(found: Published | None) -> str:
    if found is None:
        return "no policy was put in force yet"
    return f"version {found.number} of the policy is in force"


def _make_sure(yes: bool, as_json: bool, question: str) -> None:  # noqa: FBT001 - options
    """Ask at a terminal before a policy is put in force.

    Raises:
        Misuse: there is nobody here who could be asked.
    """
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise Misuse("Nobody is here to be asked, so nothing was put in force. Add --yes.")
    click.confirm(question, abort=True, prompt_suffix=" ", err=True)


def _told(put: Published, found: Sequence[Change], *, as_json: bool) -> None:
    if as_json:
        emit({**version_record(put), "changes": [change_record(one) for one in found]})
        return
    say(f"Version {put.number} of the policy is in force for every program of this desk.", "green")


# --- diff ---


@click.command(
    "diff",
    epilog=examples("sayso policy diff", "sayso policy diff strict.toml", "sayso policy diff 2 3"),
)
@click.argument("one", metavar="[FILE|VERSION]", required=False)
@click.argument("other", metavar="[VERSION]", required=False)
@desk_option
@json_option
def diff(one: str | None, other: str | None, *, as_json: bool) -> None:
    """Say in words how a file differs from the policy in force, or one version from another.

    Without anything it compares with the file of this folder. Exit 1 if they differ.
    """
    with open_desk() as desk:
        found = desk.policies.diff(_meant(one), _meant(other))
        where = f"desk: {desk_name(desk)}, {_named(desk.policies.in_force)}"
    if as_json:
        emit({"differs": bool(found), "changes": [change_record(each) for each in found]})
    else:
        say(where, "dim")
        show(*_changed(found))
        if not found:
            say("They say the same.", "green")
    if found:
        click.get_current_context().exit(1)


def _meant(said: str | None) -> str | Path | None:
    """Return a version, or the file of this name."""
    if said is None or said.isdecimal():
        return said
    path = Path(said)
    return path if path.exists() or path.suffix or len(path.parts) > 1 else said


def _shown(found: Sequence[Change], before: Policy | None) -> Iterator[RenderableType]:
    if before is None:
        yield Text("What is in force cannot be read here, so nothing can be compared.", "yellow")
        return
    yield Text("What changes", style="bold")
    yield from _changed(found)
    if not found:
        yield Text("  nothing")


def _changed(found: Sequence[Change]) -> Iterator[RenderableType]:
    for one in found:
        sign, style = _STYLES[one.sort]
        yield Row(f"  {sign}", Text(visible(one.what), style=style), 4)
        if one.before is not None:
            said = f"before: {one.before}" if one.after is not None else one.before
            yield Row("    ", Text(visible(said), style="dim"), 4)
        if one.after is not None:
            said = f"now: {one.after}" if one.before is not None else one.after
            yield Row("    ", Text(visible(said)), 4)


def _deciding(desk: Desk, policy: Policy) -> Iterator[RenderableType]:
    """Say who could decide what under a policy."""
    yield Text("")
    yield Text("Who could decide under it", style="bold")
    roster = desk.store.register()
    if roster.solo:
        yield Text("  whoever sits at this machine (solo mode)")
        return
    for name, places in deciders(policy, roster):
        said = "; ".join(f"{needs}: {', '.join(names) or 'nobody'}" for needs, names in places)
        yield Row(f"  {name}  ", Text(visible(said or "runs alone")), len(name) + 4)


# --- log, show ---


@click.command("log", epilog=examples("sayso policy log", "sayso policy log --json"))
@desk_option
@json_option
def log(*, as_json: bool) -> None:
    """List every version of the policy that was put in force, the newest first."""
    with open_desk() as desk:
        found, name = desk.policies.log(), desk_name(desk)
    if as_json:
        emit([version_record(one) for one in found])
        return
    say(f"desk: {name}, {_named(found[0] if found else None)}", "dim")
    rows = [
        (
            str(one.number),
            f"{one.at:%Y-%m-%d %H:%M}",
            one_line(one.by.id, 24),
            one.digest or one.kind,
            "; ".join(
                filter(None, (one_line(_why(one), 60), one_line(one.source or one.kind, 60)))
            ),
        )
        for one in found
    ]
    if rows:
        head = ("VERSION", "IN FORCE FROM", "BY", "DIGEST", "NOTE AND SOURCE")
        show("", *columns(head, rows, screen().width))


def _why(one: Published) -> str:
    again = "" if one.restores is None else f"version {one.restores} again"
    return ": ".join(filter(None, (again, one.note)))


@click.command("show", epilog=examples("sayso policy show", "sayso policy show 2 > before.toml"))
@click.argument("version", required=False)
@desk_option
@json_option
def show_version(version: str | None, *, as_json: bool) -> None:
    """Print the text of a version of the policy: of the one in force, unless VERSION is given."""
    with open_desk() as desk:
        found = desk.policies.show(version)
    if as_json:
        emit({**version_record(found), "text": found.text})
        return
    say(
        f"version {found.number}, in force from {found.at:%Y-%m-%d %H:%M %Z}, by {found.by.id}",
        "dim",
        err=True,
    )
    if found.text is None:
        say(f"It has no text: {_textless(found)}", err=True)
        return
    click.echo(visible(found.text, lines=True), nl=not found.text.endswith("\n"))


def _textless(found: Published) -> str:
    if found.kind == "code":
        return f"it is made in code, as {found.name!r} by {found.source}."
    return "it is the built-in policy."


COMMANDS = (publish, diff, log, show_version, rollback)
