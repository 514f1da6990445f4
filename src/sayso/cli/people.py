"""`sayso people`: who may decide on this desk."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from sayso.access.caller import ADMIN
from sayso.asks.stuck import stuck
from sayso.cli.desks import address, desk_name, desk_option, named, open_desk
from sayso.cli.linking import link, unlink
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show
from sayso.cli.signing import password, sessions, sign_out
from sayso.desk import Desk
from sayso.errors import Misuse, WouldStop
from sayso.model.actor import Person
from sayso.model.names import spelt

_SOLO = "Nobody is listed: whoever sits at this machine decides alone (solo mode)."


@click.group(
    epilog=examples(
        "sayso people list",
        "sayso people add anna --role senior --role security",
        "sayso people add ben --team billing",
        "sayso people add anna --admin",
        "sayso people password anna",
        "sayso people sessions",
        "sayso people remove anna",
    )
)
@desk_option
def people() -> None:
    """Who may decide on this desk, with which roles and in which teams."""


@people.command("list", epilog=examples("sayso people list"))
@desk_option
@json_option
def list_people(*, as_json: bool) -> None:
    """List the people of the desk."""
    if not address().there:
        _listed(named(address().url), [], as_json=as_json)
        return
    with open_desk() as desk:
        _listed(desk_name(desk), list(desk.people), as_json=as_json)


def _listed(where: str, listed: list[Person], *, as_json: bool) -> None:
    if as_json:
        emit({"desk": where, "solo": not listed, "people": [_record(one) for one in listed]})
        return
    many = "1 person" if len(listed) == 1 else f"{len(listed):,} people"
    say(f"desk: {where}, {many}", "dim")
    if not listed:
        say(_SOLO)
        say("Add the first person: sayso people add NAME --role ROLE")
        return
    teams = any(person.teams for person in listed)
    head = ("NAME", "ROLES", "TEAMS") if teams else ("NAME", "ROLES")
    rows = [(one.name, *map(_names, (one.roles, one.teams)))[: len(head)] for one in listed]
    show("", *columns(head, rows, screen().width))


def _names(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "-"


def _record(person: Person) -> dict[str, Any]:
    return {"name": person.name, "roles": sorted(person.roles), "teams": sorted(person.teams)}


@people.command(
    "add",
    epilog=examples(
        "sayso people add anna --role senior --role security",
        "sayso people add ben --team billing",
    ),
)
@click.argument("name")
@click.option("--role", "roles", multiple=True, help="A role they hold; repeat for more.")
@click.option("--admin", is_flag=True, help="The role admin: people, tokens, sessions.")
@click.option("--team", "teams", multiple=True, help="A team they are of; repeat for more.")
@desk_option
@json_option
def add(
    name: str, *, roles: tuple[str, ...], admin: bool, teams: tuple[str, ...], as_json: bool
) -> None:
    """Add a person, or give one other roles and teams. The first one ends solo mode."""
    with open_desk(create=True) as desk:
        was = {person.name: person for person in desk.people}
        given = (*roles, ADMIN) if admin else roles
        if ADMIN not in given:
            _check_administered(was, name, "Leave them the role with --admin, or name")
        person = desk.people.add(name, given, teams=teams)
        if as_json:
            emit({**_record(person), "solo_ended": not was, **_warnings(desk)})
            return
        told = _held(person, "no role (counts as a reviewer)")
        if name not in was:
            say(f"{name} is on {desk_name(desk)} now: {told}", "green")
        elif was[name] == person:
            say(f"{name} was there already, with the same roles: {told}")
        else:
            say(f"{name} now holds: {told} (before: {_held(was[name], 'no role')})", "green")
        if not was:
            say("Solo mode has ended: from now on only the people listed here decide.", "yellow")
            say(f"Say who you are with --as {name}, or SAYSO_PERSON={name}.")
        _warn(desk)


def _check_administered(was: Mapping[str, Person], name: str, instead: str) -> None:
    """Refuse to take the role from the only person who has it: roles are easily left out.

    Raises:
        Misuse: it would leave the desk without an administrator.
    """
    if [one.name for one in was.values() if ADMIN in one.roles] == [name]:
        raise Misuse(
            f"{name} is the only administrator of this desk, so nothing was changed. {instead} "
            "another administrator first: sayso people add NAME --admin"
        )


def _held(person: Person, none: str) -> str:
    held = ", ".join(sorted(person.roles)) or none
    return f"{held}; teams: {_names(person.teams)}" if person.teams else held


@people.command("remove", epilog=examples("sayso people remove anna"))
@click.argument("name")
@click.option("--yes", is_flag=True, help="Also if nobody could decide something any more.")
@desk_option
@json_option
def remove(name: str, *, yes: bool, as_json: bool) -> None:
    """Take a person off the desk. The journal keeps their name; their open votes stop counting.

    Their sessions, their password, their tokens and those of their agents end with it. If nobody
    could decide something any more, you are asked before.
    """
    with open_desk() as desk:
        was = {person.name: person for person in desk.people}
        name = spelt(name, was)
        if len(was) > 1:  # of the last person there is more to say
            _check_administered(was, name, "Name")
        if not yes and len(was) > 1:
            _make_sure(name, desk.people.stops(name))
        desk.people.remove(name)
        if as_json:
            emit({"name": name, **_warnings(desk)})
            return
        say(f"{name} is no longer on {desk_name(desk)}.", "green")
        say("Their sessions, their tokens and those of their agents have ended.")
        _warn(desk)


for command in (password, sessions, sign_out, link, unlink):
    people.add_command(command)


def _make_sure(name: str, stops: tuple[str, ...]) -> None:
    """Say what would stop without a person, and ask at a terminal whether they leave all the same.

    Raises:
        WouldStop: there is nobody here who could be asked.
    """
    if not stops:
        return
    if not sys.stdin.isatty():
        raise WouldStop(name, stops)
    say(f"Without {name}:", "yellow", err=True)
    for one in stops:
        say(f"  {one}", "yellow", err=True)
    question = f"Remove {name} all the same?"
    click.confirm(question, abort=True, prompt_suffix=" ", err=True)


def _warnings(desk: Desk) -> dict[str, object]:
    found: dict[str, object] = {"undecidable": [ask.id for ask, _ in stuck(desk.store).nobody]}
    wrong = _misfit(desk)
    return found if wrong is None else {**found, "policy": wrong}


def _misfit(desk: Desk) -> str | None:
    """Say why the policy cannot be done by these people; `None` if it can.

    The change is made, and may be the first of several that mend it.
    """
    broken = desk.law.broken
    return desk.law.unmet if broken is None else str(broken)


def _warn(desk: Desk) -> None:
    found = stuck(desk.store).nobody
    if desk.law.broken is not None:
        say("Nothing is approved here until the policy is in order: sayso policy check", "yellow")
    elif desk.law.unmet is not None:
        say("What needs those who are missing is refused: sayso policy check", "yellow")
    if not found:
        return
    many = "one open ask" if len(found) == 1 else f"{len(found):,} open asks"
    say(f"Nobody can decide {many} any more:", "yellow")
    for ask, reason in found[:10]:
        say(f"  {ask.id} needs {ask.needs}: {reason}")
    if len(found) > 10:
        say(f"  ... and {len(found) - 10:,} more; sayso doctor --json lists them")
