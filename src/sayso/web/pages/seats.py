"""Who had to agree to an ask, and who filled which place."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.asks.past_people import people_at
from sayso.asks.standing import Standing
from sayso.model.actor import Roster
from sayso.model.ask import CONSENTS, Ask
from sayso.store.contract import Store

_TODAY = "Places are filled by the roles that people hold today"
_THEN = (
    "Places are filled by the roles that people held when it was closed; what a policy gives them "
    "beside those, by the policy of today."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """Every place by its role and who fills it, the requirement in words, and by whose roles."""

    places: tuple[tuple[str, str | None], ...]
    needs: str = ""
    by: str = ""


def seats_of(store: Store, at: Standing) -> Seats:
    """Seat whoever agreed: by the people of then if it is closed, as they were counted then."""
    ask, by = at.ask, f"{_TODAY}."
    roster: Roster | None = at.roster
    if ask.closed_at is not None:
        roster, by = people_at(store, ask.closed_at, at.roster), _THEN
    if roster is None:
        roster, by = at.roster, f"{_TODAY}: they changed too often to be read here as they were."
    agreed = _agreed(ask)
    if roster.solo:
        return Seats(places=(("Whoever sits at this machine", agreed[0] if agreed else None),))
    held = roster.within(ask.content.team).holding(agreed)
    places = tuple((f"1 {role}", name) for role, name in ask.needs.seated(held))
    return Seats(places=places, needs=str(ask.needs), by=by)


def _agreed(ask: Ask) -> list[str]:
    votes = ask.votes if ask.decision is None else ask.decision.votes
    return [vote.by.id for vote in votes if vote.verdict in CONSENTS or vote.verdict == "respond"]
