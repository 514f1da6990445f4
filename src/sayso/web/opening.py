"""Opening an ask for somebody elsewhere, who says what is asked and not who they are.

What a request says of itself may raise the bar and never lowers it. The agent, its team and its
owner are those of the credential.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from sayso.access.tokens import is_agent
from sayso.asks.opening import open_ask
from sayso.asks.posted import Posted, read_post
from sayso.asks.ruling import rule
from sayso.errors import BadValue, Forbidden
from sayso.model.ask import Ask
from sayso.model.content import MOST_WORD, Content
from sayso.model.names import check_name, fold, made_plain
from sayso.model.stake import ASKER
from sayso.store.contract import Lease
from sayso.web.visit import Visit


def opened(visit: Visit, body: dict[str, Any], key: str | None) -> tuple[Ask, bool]:
    """Open what a body asks for; returns the ask, and whether it is a new one.

    Raises:
        BadValue: the body makes no sense.
        Forbidden: it speaks for somebody else.
        UnknownAsk, UnknownRun: it names what the caller does not see.
        Denied, TooManyAsks, KeyConflict, Unsatisfiable, UnknownRole: as everywhere.
    """
    desk = visit.desk
    posted = read_post(_named(visit, body), desk.forms)
    _check_references(visit, posted.content)
    content = posted.content.changed(owner=visit.caller.owner)
    if posted.version is None or posted.version != visit.caller.version:
        content = content.changed(stakes=None)  # of a version that nobody vouches for (E45)
    kept = _kept(visit, posted.key, key)
    known = None if kept is None else visit.store.find_key(kept)
    ask = open_ask(
        visit.store,
        content,
        origin=visit.origin,
        key=kept,
        lease=_lease(visit, posted),
        law=desk.law,
        always=posted.always or _borrows(visit, content),
        requested=True,
    )
    if ask.open:
        desk.opened(ask)
    return ask, known is None and ask.repeats == 0


def _named(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body with the names that its caller may use."""
    caller = visit.caller
    if caller.kind == "agent":
        _check_own("agent", body.get("agent"), caller.name)
        _check_own("team", body.get("team"), caller.team)
        return {**body, "agent": caller.name, "team": caller.team}
    agent = body.get("agent") or _by_hand(visit)
    if isinstance(agent, str) and (fold(agent) == ASKER or is_agent(visit.store, agent)):
        raise Forbidden(f"agent={agent!r}: that agent has a token, and speaks for itself.")
    if caller.name is not None:
        _check_own("requester", body.get("requester"), caller.name)
    team = team_for(visit, body.get("team"))
    return {**body, "agent": agent, "requester": caller.name, "team": team}


def _borrows(visit: Visit, content: Content) -> bool:
    """Say if a person's call would run alone only because of the agent that they name.

    People may say which program asks for them. A rule that trusts an agent by its name is not about
    whoever calls themselves so.
    """
    if visit.caller.kind == "agent":
        return False
    law, now = visit.desk.law.current(visit.store), visit.store.now()
    if rule(law, content, now, requested=True).effect != "allow":
        return False
    own = content.changed(agent=_by_hand(visit))
    return rule(law, own, now, requested=True).effect != "allow"


def _by_hand(visit: Visit) -> str:
    return made_plain("agent", f"by-hand/{visit.actor.id}")


def _check_own(what: str, said: str | None, own: str | None) -> None:
    if said is None:
        return
    if own is None or fold(str(said)) != fold(own):
        raise Forbidden(f"{what}={said!r}: this credential speaks for {own!r}. Leave it out.")


def team_for(visit: Visit, said: str | None) -> str | None:
    """Return the team that something a person starts belongs to: theirs, unless they name one.

    Raises:
        Forbidden: they are not of the team they name.
        BadValue: they are of several and name none: what belongs to nobody, everybody sees.
    """
    teams = visit.teams()
    if teams is None:
        return said
    said = None if said is None else check_name("team", said)
    if said is not None and said not in teams:
        raise Forbidden(f"team={said!r}: {visit.caller.name} is not of that team.")
    if said is None and len(teams) > 1:
        raise BadValue(f"Say for which team: {', '.join(sorted(teams))}.", path="team")
    return said if said is not None or not teams else teams[0]


def _check_references(visit: Visit, content: Content) -> None:
    """Refuse what points to an ask or a run that the caller does not see."""
    if content.about is not None:
        team = visit.standing(content.about).ask.content.team
        if team != content.team:
            raise BadValue(
                "It is about an ask of another team, whose words stay there.", path="about"
            )
    if content.run is not None:  # one that is not there sounds like one of another team
        visit.run(content.run)


def _kept(visit: Visit, said: str | None, header: str | None) -> str | None:
    """Return the key as it is kept: callers do not meet each other's, nor those of a run."""
    if None not in (said, header) and said != header:
        raise BadValue("The key in the body is not the one in Idempotency-Key.", path="key")
    key = said if said is not None else header
    if key is None:
        return None
    # No name has a space in it, and names of agents have slashes: only what stands behind the first
    # space tells keys of a person, of a team's agent and of one without a team apart.
    whose = visit.caller.name if visit.caller.kind == "agent" else f"{visit.actor.id} by hand"
    team = f" of {visit.caller.team}" if visit.caller.team is not None else ""
    kept = f"{whose}{team} / {key}"
    return kept if len(kept) <= MOST_WORD else sha256(kept.encode()).hexdigest()


def _lease(visit: Visit, posted: Posted) -> Lease | None:
    if posted.lease is None:
        return None
    return Lease(visit.held(posted.lease.holder), posted.lease.span)
