"""What is asked before somebody leaves the desk or loses a role or a team.

It says what follows, and what nobody could do any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sayso.access.caller import ADMIN
from sayso.asks.leaving import stops
from sayso.model.actor import Person, Roster
from sayso.web.accounts import PersonView, known_person
from sayso.web.pages.sure import Sure
from sayso.web.visit import Visit

_LAST = "It cannot be: without anybody the desk would be in solo mode again."
_SIGNED_OUT = "This is you: you are signed out at once, and cannot come back by yourself."
_DEMOTED = "This is you: you no longer change people, and cannot take this back by yourself."


# --- leaving -----------------------------------------------------------------------------------


def removal_of(visit: Visit, name: str) -> Sure:
    """Say what follows if somebody leaves.

    Raises:
        UnknownPerson: there is no such person.
    """
    view, roster = known_person(visit, name), visit.people
    last = len(roster.people) == 1
    beware = [_SIGNED_OUT] if view.me else []
    return Sure(
        title=f"Take {name} off the desk?",
        follows=(_LAST,) if last else tuple(_ended(view)),
        beware=()
        if last
        else (*beware, *stops(visit.store, visit.desk.law, name, roster, roster.leaving(name))),
        action=f"/people/person/{name}/remove",
        button=f"Remove {name}",
        back=f"/people/person/{name}",
        possible=not last,
    )


def _ended(view: PersonView) -> Iterator[str]:
    sessions, tokens = _many(view.sessions, "session"), _many(view.tokens, "token")
    yield f"{sessions} and {tokens} of {view.name} end at once."
    yield "Their password, and what an identity provider knows them by, are forgotten."
    yield "Their votes on asks that are still open no longer count. History keeps their name."


# --- losing roles and teams --------------------------------------------------------------------


def change_of(visit: Visit, to: Person) -> Sure | None:
    """Say what follows if somebody is given these roles and teams; `None` if they lose nothing."""
    name, roster = to.name, visit.people
    if name not in roster.people:
        return None
    was = Person(name, roster.people[name], roster.teams.get(name, frozenset()))
    if was.roles <= to.roles and was.teams <= to.teams:
        return None
    changed = Roster({**roster.people, name: to.roles}, {**roster.teams, name: to.teams})
    demoted = name == visit.caller.name and ADMIN in was.roles - to.roles
    return Sure(
        title=f"Change the roles and teams of {name}?",
        follows=tuple(_changed(was, to)),
        beware=(
            *([_DEMOTED] if demoted else ()),
            *stops(visit.store, visit.desk.law, name, roster, changed),
        ),
        action="/people",
        hidden=(
            ("was", name),
            ("roles", _listed(to.roles)),
            ("teams", _listed(to.teams)),
            ("sure", "yes"),
        ),
        button=f"Change {name}",
        back=f"/people/person/{name}",
    )


def _changed(was: Person, to: Person) -> Iterator[str]:
    for what, before, after in (
        ("Roles", was.roles, to.roles),
        ("Teams", was.teams, to.teams),
    ):
        if before - after:
            yield f"{what} taken from {to.name}: {_listed(before - after)}."
        if after - before:
            yield f"{what} given to {to.name}: {_listed(after - before)}."
    if was.teams - to.teams:
        yield "What belongs to a team that they are no longer of, they no longer see."
    yield "Their votes on asks that are still open count only where their roles and teams allow it."


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
