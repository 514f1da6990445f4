"""Who decides. Agents never do."""

from __future__ import annotations

from sayso.errors import BadValue, Forbidden, UnknownAsk, UnknownPerson
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.ask import Ask
from sayso.model.content import Content
from sayso.model.names import fold
from sayso.model.verdicts import Verdict


def identify(roster: Roster, by: str | None, origin: Origin) -> Actor:
    """Return the person a decision is recorded under.

    With nobody on the desk that is the account of the system; with people on
    it, the name must be one of them.

    Raises:
        Forbidden: an agent, the policy or the clock was named.
        UnknownPerson: no such person, or nobody was named on a desk with people.
    """
    if by is not None and not isinstance(by, str):
        raise BadValue(f"by= is the name of a person, not {type(by).__name__}.")
    sitting = origin.account.partition("@")[0]
    if by is not None and ":" in by:
        raise Forbidden(f"{by!r} cannot decide: only people do, and agents are not people.")
    if roster.solo:
        if by not in (None, sitting):
            raise UnknownPerson(
                str(by),
                f"Nobody is defined yet, so whoever sits here ({sitting}) decides: leave `by` out, "
                f"or add them: sayso people add {by}",
            )
        return Actor("person", sitting)
    known = ", ".join(sorted(roster.people))
    if by is None:
        raise UnknownPerson("(nobody)", f"Say who decides with by=NAME. People here: {known}.")
    by = roster.spelt(by)
    if by not in roster.people:
        raise UnknownPerson(by, f"People here: {known}. Add one: sayso people add {by}")
    return Actor("person", by)


def reviewer(ask: Ask, roster: Roster, by: str | None, origin: Origin) -> Actor:
    """Return the person who does something about an ask that they see.

    Whoever is not of its team hears what they would hear if it did not exist (E33).

    Raises:
        UnknownAsk: it belongs to a team they are not of.
        Forbidden, UnknownPerson: as `identify` says.
    """
    team = ask.content.team
    if team is not None and isinstance(by, str):
        by = roster.spelt(by)
        if roster.knows(by) and not roster.sees(by, team):
            raise UnknownAsk(ask.id)
    return identify(roster, by, origin)


def check_own(ask: Ask, content: Content, person: Actor) -> None:
    """Refuse whoever asked for it, or owns the agent that asks, unless the ruling lets them.

    Raises:
        Forbidden: the person is one of them.
    """
    own = _own(content, person)
    if own is not None:
        raise Forbidden(f'{ask.id} "{ask.label}": {own}')


def concerned(content: Content, name: str) -> bool:
    """Whether this person asked for it, or owns the agent that asks."""
    return any(_is(one, name) for one in (content.requester, content.owner))


def _own(content: Content, person: Actor) -> str | None:
    if content.ruled.requester or not concerned(content, person.id):
        return None
    what = "asked for it" if _is(content.requester, person.id) else "owns the agent that asks"
    return f"{person.id} {what}, so somebody else decides."


def _is(name: str | None, person: str) -> bool:
    return name is not None and fold(name) == fold(person)


def check_role(ask: Ask, person: Actor, roster: Roster, *, verdict: Verdict | None = None) -> None:
    """Refuse a vote that could not count.

    Whoever could review an ask may say no to it: also whoever asked for it, and whoever the policy
    asks where the asker wanted others (E43).

    Raises:
        Forbidden: the person holds none of the roles the ask is for, or asked for it.
    """
    if roster.solo:
        return
    if not ask.plain_no(verdict):
        check_own(ask, ask.content, person)
    needs = _without_role(ask, person, roster, verdict)
    if needs is not None:
        raise Forbidden(f'{ask.id} "{ask.label}" {needs}')


def barred(
    ask: Ask, person: Actor, roster: Roster, *, verdict: Verdict | None = None
) -> str | None:
    """Say why the vote of this person could not count; `None` if it could."""
    if roster.solo:
        return None
    own = None if ask.plain_no(verdict) else _own(ask.content, person)
    needs = _without_role(ask, person, roster, verdict)
    return own or (None if needs is None else f"It {needs}")


def _without_role(ask: Ask, person: Actor, roster: Roster, verdict: Verdict | None) -> str | None:
    if ask.heeds(verdict, roster.people[person.id]):
        return None
    held = ", ".join(sorted(roster.people[person.id] - {fold(person.id)})) or "no role"
    return f"needs {ask.needs}; {person.id} holds {held}, so this vote would not count."
