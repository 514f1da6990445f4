"""Whom a person sees on the desk: everybody as an administrator, else whoever no wall is before.

A team is a wall: the people of other teams are counted where it matters, and not named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from sayso.access.caller import ADMIN
from sayso.errors import BadValue
from sayso.model.actor import Roster
from sayso.model.names import check_name
from sayso.web.visit import Visit


class Named(NamedTuple):
    """People by name, and how many others there are whom the caller does not see."""

    names: tuple[str, ...]
    others: int = 0


def in_sight(visit: Visit, roster: Roster) -> frozenset[str]:
    """Return whom the caller sees: those of no team, of their own teams, and themselves."""
    me = visit.caller.name
    if ADMIN in visit.caller.scopes:
        return frozenset(roster.teams) | frozenset(roster.people)
    mine = roster.teams.get(me or "", frozenset())
    known = {*roster.people, *roster.teams}
    return frozenset(
        name
        for name in known
        if name == me or not (teams := roster.teams.get(name)) or not mine.isdisjoint(teams)
    )


def sees_name(visit: Visit) -> Callable[[str], bool]:
    """Whether somebody is one whom the caller sees; administrators also see who has left."""
    roster = visit.people
    if roster.solo or ADMIN in visit.caller.scopes:
        return lambda _: True
    return in_sight(visit, roster).__contains__


def named(names: Iterable[str], seen: frozenset[str]) -> Named:
    """Return those of these people whom the caller sees, and how many others there are."""
    every = list(names)
    shown = tuple(name for name in every if name in seen)
    return Named(shown, len(every) - len(shown))


def own_team(visit: Visit, roster: Roster, team: str | None) -> str | None:
    """Return a team that the caller may ask about; `None` is no team in particular.

    Raises:
        BadValue: they are not of it. Whether it exists is not said.
    """
    team = None if team is None else check_name("team", team)
    if team is None or roster.solo:
        return team
    if ADMIN in visit.caller.scopes or roster.sees(visit.caller.name or "", team):
        return team
    raise BadValue(f"You are not of a team called {team}.", path="team")
