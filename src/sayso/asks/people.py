"""The people of a desk, kept in the journal like everything else."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from sayso.access.ways import Ways, ways_of
from sayso.asks.identity import identify
from sayso.asks.standing import stamped
from sayso.errors import BadValue, Misuse, UnknownPerson, WouldStop
from sayso.model.actor import Actor, Origin, Person, Roster, teams_of
from sayso.model.event import link
from sayso.model.names import check_name
from sayso.model.requirement import ANYBODY
from sayso.store.accounts import shut_out
from sayso.store.contract import PEOPLE, Append, Store
from sayso.store.fleet import OpenNeeds

if TYPE_CHECKING:
    from sayso.asks.lawbook import Lawbook


def roles_of(roles: Iterable[str] | str) -> frozenset[str]:
    """Return the roles as a set of plain names."""
    given = [roles] if isinstance(roles, str) else roles
    return frozenset(check_name("role", role) for role in given) - {ANYBODY}


def put(store: Store, person: Person, *, by: str | None, origin: Origin) -> Person:
    """Add a person, or give one other roles and teams. Adding the first one ends solo mode.

    Raises:
        BadValue: somebody has this name already, in other letters.
    """
    name = person.name
    while True:
        roster = store.register()
        known = roster.spelt(name)
        if known != name and known in roster.people:
            raise BadValue(
                f"{known} is on this desk, and {name} differs in capital letters alone. Write "
                f"{known} to give them other roles, or add another name.",
                path="name",
            )
        kind = "person.changed" if name in roster.people else "person.added"
        if (roster.people.get(name), roster.teams.get(name)) == (person.roles, person.teams):
            return person
        teams = sorted(person.teams) or None
        payload = stamped(origin, name=name, roles=sorted(person.roles), teams=teams)
        if _write(store, kind, payload, person, _actor(roster, by, origin), active=True):
            return person


def remove(store: Store, name: str, *, by: str | None, origin: Origin) -> None:
    """Take a person off the desk. Their open votes no longer count; history keeps their name.

    Nothing they came in by counts any more, nor do the tokens of their agents.

    Raises:
        UnknownPerson: there is no such person.
        Misuse: it is the last one.
    """
    while True:
        roster = store.register()
        name = roster.spelt(name)
        if name not in roster.people:
            raise UnknownPerson(name, f"People here: {', '.join(sorted(roster.people)) or 'none'}.")
        if len(roster.people) == 1:
            raise Misuse(
                f"{name} is the last person on this desk. Without anybody it would be in solo mode "
                "again, and whoever sits at the machine could decide alone. Add somebody else first."
            )
        actor = _actor(roster, by, origin)
        payload = stamped(origin, name=name)
        if _write(store, "person.removed", payload, Person(name), actor, active=False):
            return


def leave(
    store: Store, law: Lawbook, name: str, *, by: str | None, origin: Origin, sure: bool
) -> None:
    """Take a person off the desk, if nothing is stopped by that or it is `sure`.

    Raises:
        WouldStop: nobody could decide something any more; it says what.
        UnknownPerson: there is no such person.
        Misuse: it is the last one.
    """
    from sayso.asks.leaving import stops

    before = store.register()
    name = before.spelt(name)
    if not sure and name in before.people and len(before.people) > 1:
        found = stops(store, law, name, before, before.leaving(name))
        if found:
            raise WouldStop(name, found)
    remove(store, name, by=by, origin=origin)


def _actor(roster: Roster, by: str | None, origin: Origin) -> Actor:
    """Whoever holds the database may change the people; the journal says under which account."""
    if by is None:
        return Actor("person", origin.account.partition("@")[0])
    return identify(roster, by, origin)


def _write(
    store: Store,
    kind: str,
    payload: dict[str, object],
    person: Person,
    actor: Actor,
    *,
    active: bool,
) -> bool:
    head, now = store.head(PEOPLE), store.now()
    event = link(
        PEOPLE,
        head.seq + 1,
        kind,
        at=now,
        actor=actor,
        payload=payload,
        salt=os.urandom(16),
        previous=head.hash,
    )
    accounts = () if active else shut_out(person.name, now)
    return store.commit(Append(event=event, person=person, active=active, beside=accounts))


def alone_with(store: Store, people: Roster) -> dict[str, int]:
    """Return how many open asks there are, by name, on which nobody else of these people may vote.

    By roles and teams: who asked, or owns the agent that asked, is not looked at.
    """
    needs = store.open_needs()
    roster, found = store.widen(people), Counter[str]()
    for each in needs:
        first_two = list(islice(_voters(each, roster), 2))
        if len(first_two) == 1:
            found[first_two[0]] += each.count
    return dict(found)


def _voters(each: OpenNeeds, roster: Roster) -> Iterator[str]:
    for name, held in roster.people.items():
        if each.takes(held) and roster.sees(name, each.team):
            yield name


def listed(roster: Roster) -> Iterator[Person]:
    """Yield the people by name."""
    for name in sorted(roster.people):
        yield Person(name, roster.people[name], roster.teams.get(name, frozenset()))


class People:
    """The people of a desk. With nobody here, whoever sits at this machine decides."""

    def __init__(self, store: Callable[[], Store], origin: Origin, law: Lawbook) -> None:
        self._store = store
        self._origin = origin
        self._law = law

    def add(
        self,
        name: str,
        roles: Iterable[str] | str = (),
        *,
        teams: Iterable[str] | str = (),
        by: str | None = None,
    ) -> Person:
        """Add a person, or give one other roles and teams. Adding the first one ends solo mode.

        Of what belongs to a team, only its people see anything; what belongs to none, all do.
        """
        person = Person(check_name("person", name), roles_of(roles), teams_of(teams))
        return put(self._store(), person, by=by, origin=self._origin)

    def remove(self, name: str, *, by: str | None = None) -> None:
        """Take a person off the desk; history keeps their name.

        What needs them is refused from then on, and nothing else: `stops` says before what that is.
        """
        remove(self._store(), name, by=by, origin=self._origin)

    def stops(self, name: str) -> tuple[str, ...]:
        """Say what nobody could decide any more without this person.

        Raises:
            UnknownPerson: there is no such person.
        """
        from sayso.asks.leaving import stops

        store = self._store()
        before = store.register()
        name = before.spelt(name)
        if name not in before.people:
            raise UnknownPerson(name, f"People here: {', '.join(sorted(before.people)) or 'none'}.")
        return stops(store, self._law, name, before, before.leaving(name))

    def ways(self, name: str) -> Ways:
        """Return what somebody comes in by: how many sessions and tokens, which agents.

        Raises:
            UnknownPerson: there is no such person.
        """
        store = self._store()
        roster = store.register()
        name, names = roster.spelt(name), roster.people
        if name not in names:
            raise UnknownPerson(name, f"People here: {', '.join(sorted(names)) or 'none'}.")
        return ways_of(store, [name])[name]

    def alone(self) -> dict[str, int]:
        """Return how many open asks there are, by name, on which nobody else may vote."""
        store = self._store()
        return alone_with(store, store.register())

    def __iter__(self) -> Iterator[Person]:
        """Go through the people by name."""
        return listed(self._store().register())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._store().register().people)

    @property
    def solo(self) -> bool:
        """Whether nobody is defined, so that whoever sits here decides alone."""
        return self._store().register().solo
