"""Whether the votes cast so far decide an ask.

Consents count when the people who said *the same thing* can fill the
requirement; refusals count towards the deny threshold. Votes of people who
have left the desk or the ask's team meanwhile count for nothing.
"""

from __future__ import annotations

from sayso.model.actor import Roster
from sayso.model.ask import CONSENTS, Ask, Vote
from sayso.model.digest import canonical
from sayso.model.requirement import Factor


def decides(ask: Ask, votes: tuple[Vote, ...], roster: Roster) -> bool:
    """Whether the newest of these votes settles the ask."""
    newest, roster = votes[-1], roster.within(ask.content.team)
    if roster.solo:
        return True
    if ask.meaning(newest.verdict).stance == "refusal":
        return len(_side(ask, votes, roster, "refusal")) >= ask.needs.deny
    alike = tuple(vote for vote in votes if _says(vote) == _says(newest))
    return ask.needs.met_by(roster.holding(_side(ask, alike, roster, "consent")))


def missing(ask: Ask, roster: Roster) -> tuple[Factor, ...]:
    """Who must still agree to what is shown now."""
    roster = roster.within(ask.content.team)
    agreed = _side(ask, ask.votes, roster, "consent")
    return ask.needs.missing(roster.holding(agreed))


def _side(ask: Ask, votes: tuple[Vote, ...], roster: Roster, stance: str) -> list[str]:
    return [
        vote.by.id
        for vote in votes
        if ask.meaning(vote.verdict).stance == stance and vote.by.id in roster.people
    ]


def _says(vote: Vote) -> tuple[str, str]:
    # On one version, the editor's "edit" and everybody else's "approve" mean the same.
    verdict = "approve" if vote.verdict in CONSENTS else vote.verdict
    return verdict, canonical(vote.answer)
