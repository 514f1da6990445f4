"""The people of a desk, kept in the journal like everything else."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from sayso.access.ways import Ways, ways_of
from sayso.asks.identity import identify
from sayso.asks.standing import stamped
from sayso.errors import Misuse, UnknownPerson, UnknownRole
from sayso.model.actor import Actor, Origin, Person, Roster, plain_name
from sayso.model.event import link
from sayso.model.requirement import ANYBODY
from sayso.store.accounts import shut_out
from sayso.store.contract import PEOPLE, Append, Store
from sayso.store.fleet import OpenNeeds


def roles_of(roles: Iterable[str] | str) -> frozenset[str]:
    """Return the roles as a set of plain names."""
    given = [roles] if isinstance(roles, str) else roles
    return frozenset(plain_name(role, "role") for role in given) - {ANYBODY}


def teams_of(teams: Iterable[str] | str) -> frozenset[str]:
    """Return the teams as a set of plain names."""
    given = [teams] if isinstance(teams, str) else teams
    return frozenset(plain_name(team, "team") for team in given)


def put(store: Store, person: Person, *, by: str | None, origin: Origin) -> Person:
    """Add a person, or give one other roles and teams. Adding the first one ends solo mode."""
    name = person.name
    while True:
        roster = store.register()
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


Names = tuple[str, ...] | None  # `None` for no limit


def named_teams(teams: Iterable[str] | str | None) -> Names:
    """Return the teams to look into as a query takes them.

    Raises:
        BadValue: one of them cannot be the name of a team.
    """
    return None if teams is None else tuple(sorted(teams_of(teams)))


def seen_by(
    store: Store, role: str | None, person: str | None, people: Roster | None = None
) -> tuple[Names, Names]:
    """Return the roles whose asks a role or a person may decide, and the teams the person is of.

    `people` are those of the desk, if they were read already.

    Raises:
        UnknownPerson, UnknownRole: there is no such person, or nobody holds the role.
    """
    if role is None and person is None:
        return None, None
    roster = store.roster() if people is None else store.widen(people)
    if roster.solo:
        return None, None
    if person is not None and person not in roster.people:
        raise UnknownPerson(person, f"People here: {', '.join(sorted(roster.people))}.")
    if role is not None and role not in (*roster.roles, *roster.people, ANYBODY):
        raise UnknownRole(role, roster.roles)
    if person is None:
        return (role or ANYBODY, ANYBODY), None
    held = roster.people[person]
    wanted = held if role is None else held & {role}
    return (*sorted(wanted), ANYBODY), tuple(roster.teams.get(person, ()))


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


def left_to_nobody(store: Store, before: Roster, after: Roster) -> int:
    """Return how many open asks there are on which some of these people may vote, and none of those.

    By roles and teams, as `alone_with` counts.
    """
    was, now = store.widen(before), store.widen(after)
    return sum(
        each.count
        for each in store.open_needs()
        if any(_voters(each, was)) and not any(_voters(each, now))
    )


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

    def __init__(self, store: Callable[[], Store], origin: Origin) -> None:
        self._store = store
        self._origin = origin

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
        person = Person(plain_name(name, "person"), roles_of(roles), teams_of(teams))
        return put(self._store(), person, by=by, origin=self._origin)

    def remove(self, name: str, *, by: str | None = None) -> None:
        """Take a person off the desk; history keeps their name."""
        remove(self._store(), name, by=by, origin=self._origin)

    def ways(self, name: str) -> Ways:
        """Return what somebody comes in by: how many sessions and tokens, which agents.

        Raises:
            UnknownPerson: there is no such person.
        """
        store = self._store()
        names = store.register().people
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
