"""Who must agree before an ask is decided.

A requirement is a list of factors, each a count and a role: `1 senior` and
`1 security`. Different people fill different places: somebody who is both
senior and security fills one of the two, never both. So "is it met?" is a
matching of people to places, not a count per role (see E20 in the tests).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sayso.errors import BadValue, UnknownRole, Unsatisfiable
from sayso.model.actor import Roster
from sayso.model.names import check_name
from sayso.model.text import one_line

ANYBODY = "reviewer"
_FACTORS, _PEOPLE = 20, 100  # whoever must agree are to be found, and told apart, in no time
_FACTOR = re.compile(r"\s*(?:(\d{1,3})\s+)?(\S+)\s*")


@dataclass(frozen=True, slots=True)
class Factor:
    """So many people who hold this role; the role `reviewer` is everybody on the desk."""

    count: int
    role: str

    def __str__(self) -> str:
        """Write `1 senior`, the form used in files, docs and the inbox."""
        return f"{self.count} {self.role}"

    def takes(self, roles: frozenset[str]) -> bool:
        """Whether somebody with these roles can fill a place of this factor."""
        return self.role == ANYBODY or self.role in roles

    @classmethod
    def parse(cls, text: str) -> Factor:
        """Read `1 senior`, or `senior` for one."""
        found = _FACTOR.fullmatch(text) if isinstance(text, str) else None
        if found is None or not 1 <= int(found[1] or 1) <= 100:
            raise BadValue(
                f"{one_line(str(text), 60)!r} is no requirement; write it like '1 senior' or "
                "'2 reviewer', up to 100."
            )
        return cls(int(found[1] or 1), check_name("role", found[2]))


@dataclass(frozen=True, slots=True)
class Requirement:
    """Factors that must all be filled by different people, and how many refusals end it.

    Whoever holds a role of `others` may stand in: fill any one place, whatever its role. How many
    people must agree stays the same.
    """

    factors: tuple[Factor, ...] = (Factor(1, ANYBODY),)
    deny: int = 1
    others: tuple[str, ...] = ()

    @classmethod
    def parse(cls, needs: Iterable[str] | str | None, *, deny: int = 1) -> Requirement:
        """Read `["1 senior", "1 security"]`; nothing given means one reviewer."""
        if type(deny) is not int or deny < 1:
            raise BadValue(f"deny={deny!r}: how many refusals end it is a whole number from 1 on.")
        if needs is None:
            return ONE_REVIEWER if deny == 1 else cls(deny=deny)
        if not isinstance(needs, Iterable):
            raise BadValue(f"needs={needs!r}: write it like ['1 senior', '1 security'].")
        texts = [needs] if isinstance(needs, str) else list(needs)
        if not texts:
            raise BadValue("needs=[] asks nobody. Leave it out for one reviewer.")
        if len(texts) > _FACTORS:
            raise BadValue(f"needs= takes up to {_FACTORS} roles, not {len(texts):,}.")
        factors = tuple(Factor.parse(text) for text in texts)
        if sum(factor.count for factor in factors) > _PEOPLE:
            raise BadValue(f"needs= asks for more than {_PEOPLE} people together.")
        return cls(factors, deny)

    def __str__(self) -> str:
        """Write the factors as a person would say them."""
        wanted = " and ".join(map(str, self.factors))
        return f"{wanted}, or {' or '.join(self.others)} instead of one" if self.others else wanted

    @property
    def several(self) -> bool:
        """Whether more than one person is needed."""
        return sum(factor.count for factor in self.factors) > 1

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles it names, each once, in order."""
        if len(self.factors) == 1 and not self.others:
            return (self.factors[0].role,)
        return tuple(dict.fromkeys([*(factor.role for factor in self.factors), *self.others]))

    def takes(self, roles: frozenset[str]) -> bool:
        """Whether the vote of somebody with these roles counts at all."""
        return any(factor.takes(roles) for factor in self.factors) or self._stands_in(roles)

    def _stands_in(self, roles: frozenset[str]) -> bool:
        return not roles.isdisjoint(self.others)

    def met_by(self, people: Mapping[str, frozenset[str]]) -> bool:
        """Whether these people can fill every place, each person one place at most."""
        return not self.missing(people)

    def missing(self, people: Mapping[str, frozenset[str]]) -> tuple[Factor, ...]:
        """Return what would still be needed if these people had agreed."""
        empty = [role for role, name in self.seated(people) if name is None]
        return tuple(Factor(empty.count(role), role) for role in dict.fromkeys(empty))

    def seated(self, people: Mapping[str, frozenset[str]]) -> list[tuple[str, str | None]]:
        """Return every place by its role, and which of these people fills it, if one does."""
        places = [factor for factor in self.factors for _ in range(factor.count)]
        fits: dict[str, tuple[int, ...]] = {}
        holders: dict[int, str] = {}
        for name in sorted(people):
            if len(holders) == len(places):  # of thousands of people mostly the first few are asked
                break
            fits[name] = self._fitting(places, people[name])
            _seat(name, fits, holders, set())
        return [(place.role, holders.get(number)) for number, place in enumerate(places)]

    def _fitting(self, places: Sequence[Factor], roles: frozenset[str]) -> tuple[int, ...]:
        """Return the places that somebody with these roles could fill, by their numbers."""
        if self._stands_in(roles):
            return tuple(range(len(places)))
        return tuple(number for number, place in enumerate(places) if place.takes(roles))

    def check(self, roster: Roster) -> None:
        """Refuse a requirement that nobody on this desk could ever meet.

        Raises:
            UnknownRole: nobody holds a role it names.
            Unsatisfiable: there are too few people, each counting once; of a team, too few in it.
        """
        if roster.solo:
            return
        where = "on the desk" if roster.team is None else f"in the team {roster.team}"
        for role in self.roles if roster.team is None else ():
            if role != ANYBODY and not roster.has(role):
                raise UnknownRole(role, roster.roles)
        short = self.missing(roster.people)
        if short:
            raise Unsatisfiable(
                f"{self} can never be met: with everybody {where} agreeing there would still "
                f"be missing {' and '.join(map(str, short))} (each person counts once). "
                f"Add people ({_adding(roster.team)}) or ask for less."
            )
        if self.deny <= sum(factor.count for factor in self.factors):  # so many there are
            return
        voters = sum(self.takes(roles) for roles in roster.people.values())
        if self.deny > voters:
            raise Unsatisfiable(
                f"deny={self.deny} could never be reached: {voters} {where} may vote on it."
            )


ONE_REVIEWER = Requirement()


def _adding(team: str | None) -> str:
    return "sayso people add" if team is None else f"sayso people add NAME --team {team}"


def _seat(
    name: str, fits: Mapping[str, Sequence[int]], holders: dict[int, str], tried: set[int]
) -> bool:
    """Find a place for one person, moving others if they can sit elsewhere (Kuhn's matching)."""
    for place in fits[name]:
        if place in tried:
            continue
        tried.add(place)
        if place not in holders or _seat(holders[place], fits, holders, tried):
            holders[place] = name
            return True
    return False
