"""What is asked before somebody leaves the desk: what follows, and what nobody could do any more."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.access.caller import ADMIN
from sayso.asks.people import left_to_nobody
from sayso.errors import BadPolicy
from sayso.model.actor import Roster
from sayso.policy.checking import problems
from sayso.web.accounts import known_person
from sayso.web.pages.sure import Sure
from sayso.web.visit import Visit


def removal_of(visit: Visit, name: str) -> Sure:
    """Say what follows if somebody leaves.

    Raises:
        UnknownPerson: there is no such person.
    """
    view, roster = known_person(visit, name), visit.people
    last = len(roster.people) == 1
    left = Roster(
        {one: roles for one, roles in roster.people.items() if one != name},
        {one: teams for one, teams in roster.teams.items() if one != name},
    )
    follows = [
        f"{_many(view.sessions, 'session')} and {_many(view.tokens, 'token')} of {name} end at once."
    ]
    if view.agents:
        follows.append(f"The tokens of their agents end too: {', '.join(view.agents)}.")
    follows += [
        "Their password, and what an identity provider knows them by, are forgotten.",
        "Their votes on asks that are still open no longer count. History keeps their name.",
    ]
    if last:
        follows = ["It cannot be: without anybody the desk would be in solo mode again."]
    me = "This is you: you are signed out at once, and cannot come back by yourself."
    beware = () if last else (*([me] if view.me else ()), *_lost(visit, roster, left))
    return Sure(
        title=f"Take {name} off the desk?",
        follows=tuple(follows),
        beware=beware,
        action=f"/people/person/{name}/remove",
        button=f"Remove {name}",
        back=f"/people/person/{name}",
        possible=not last,
    )


def _lost(visit: Visit, before: Roster, after: Roster) -> Iterator[str]:
    """Say what nobody could do any more, if the people were these."""
    if _administered(before) and not _administered(after):
        yield "Nobody else is an administrator. Then people are changed at the machine only."
    count = left_to_nobody(visit.store, before, after)
    if count:
        yield f"{_many(count, 'open ask')} could then be decided by nobody."
    try:
        policy = visit.desk.policy
    except BadPolicy:
        yield (
            "The policy cannot be used as it is, so nobody can tell what of it could then never be "
            "decided. The page Policies says why."
        )
        return
    known = set(problems(policy, before))
    for one in problems(policy, after):
        if one not in known:
            yield f"The policy, {one.about}: {one.reason}"


def _administered(roster: Roster) -> bool:
    return any(ADMIN in roles for roles in roster.people.values())


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
