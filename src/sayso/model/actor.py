"""Who an event names, and the people who may decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sayso.errors import BadValue
from sayso.model.names import check_name, fold, spelt

ActorKind = Literal["person", "agent", "policy", "clock"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Whoever did something: a person, an agent, the policy or the clock."""

    kind: ActorKind
    id: str

    def __str__(self) -> str:
        """Write `person:anna`, the form kept in the journal."""
        return f"{self.kind}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> Actor:
        """Read the form kept in the journal."""
        kind, _, name = text.partition(":")
        if kind not in {"person", "agent", "policy", "clock"}:
            raise BadValue(f"{text!r} names no actor; expected something like 'person:anna'.")
        return cls(kind, name)  # type: ignore[arg-type]


CLOCK = Actor("clock", "clock")


@dataclass(frozen=True, slots=True)
class Origin:
    """Through which door a call came, and under which account of the system.

    A desk opened on a database is as powerful as the database, so a name alone
    proves little; the journal keeps this beside it. `request` names the request it came with,
    so that one that is sent again finds what it has done.
    """

    via: str
    account: str
    request: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may decide, with the roles they hold and the teams they are of."""

    name: str
    roles: frozenset[str] = frozenset()
    teams: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Roster:
    """The people of a desk, by name with their roles. With nobody on it the desk is in solo mode.

    `teams` says of everybody on the desk which teams they are of. A roster narrowed to a `team`
    holds the people of that team; with nobody in it, it is nobody's and not solo.
    """

    people: Mapping[str, frozenset[str]]
    teams: Mapping[str, frozenset[str]] = field(default_factory=dict)
    team: str | None = None

    @property
    def solo(self) -> bool:
        """Whether whoever sits at this machine is the one reviewer and holds every role."""
        return not self.people and self.team is None

    def within(self, team: str | None) -> Roster:
        """Return the people who see what belongs to this team: for `None`, everybody."""
        if team in (None, self.team) or self.solo:
            return self
        seeing = {name: roles for name, roles in self.people.items() if self.sees(name, team)}
        return Roster(seeing, self.teams, team)

    def leaving(self, name: str) -> Roster:
        """Return the people who are left once this one has gone."""
        people = {one: roles for one, roles in self.people.items() if one != name}
        teams = {one: of for one, of in self.teams.items() if one != name}
        return Roster(people, teams, self.team)

    def spelt(self, name: str) -> str:
        """Return a name as it is spelt on the desk: `ANNA` is anna. One of nobody stays as it is."""
        if name in self.people or not (self.people or self.teams):
            return name
        found = spelt(name, self.people)
        return found if found in self.people else spelt(name, self.teams)

    def knows(self, name: str) -> bool:
        """Whether somebody of this name is on the desk, in whatever team."""
        return name in self.people or name in self.teams

    def sees(self, name: str, team: str | None) -> bool:
        """Whether this person sees what belongs to a team; what belongs to none, everybody does."""
        if self.solo:
            return True
        return self.knows(name) and (team is None or team in self.teams.get(name, ()))

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role somebody holds, sorted; people's own names are none."""
        held = (roles - {fold(name)} for name, roles in self.people.items())
        return tuple(sorted({role for roles in held for role in roles}))

    def has(self, role: str) -> bool:
        """Whether somebody holds this role, or is called so."""
        named = any(fold(name) == role for name in self.people)
        return named or any(role in held for held in self.people.values())

    def holding(self, names: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return those of `names` who are still on the desk, with their roles."""
        return {name: self.people[name] for name in names if name in self.people}


def teams_of(teams: Iterable[str] | str) -> frozenset[str]:
    """Return the teams as a set of plain names."""
    given = [teams] if isinstance(teams, str) else teams
    return frozenset(check_name("team", team) for team in given)
