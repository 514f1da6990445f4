"""The people of a desk as they were at earlier moments, told by the journal."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from sayso.model.actor import Roster
from sayso.model.event import micros
from sayso.store.audit import people_told
from sayso.store.contract import PEOPLE, Store

MOST = 10_000  # changes of people that are read for one look


def people_at(store: Store, at: datetime, now: Roster) -> Roster | None:
    """Return who was on the desk then; `None` if there are too many changes to read.

    `now` are the people of today, who are given back if nobody changed since. The journal says which
    roles and teams people had; what a policy adds to those, the one of today does.
    """
    last, until = store.head(PEOPLE).seq, micros(at)
    if all(event.micros <= until for event in store.stream(PEOPLE, last - 1)):
        return now
    if last > MOST:
        return None
    told = people_told([event for event in store.stream(PEOPLE) if event.micros <= until])
    roles = {name: held for name, (held, _) in told.items()}
    teams = {name: of for name, (_, of) in told.items()}
    return store.widen(Roster(roles, teams))


def people_ever(store: Store) -> Roster:
    """Return all who were ever on the desk, with all roles and teams that they ever had."""
    roles, teams = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for event in store.stream(PEOPLE):
        for name, (held, of) in people_told([event]).items():
            roles[name] |= held
            teams[name] |= of
    return Roster(
        {name: frozenset(held) for name, held in roles.items()},
        {name: frozenset(of) for name, of in teams.items()},
    )
