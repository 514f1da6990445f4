"""The decisions of a person that are held: each can be taken back for as long as it is."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.channels.card import ended
from sayso.channels.headline import headline
from sayso.insight.reading import asks_of
from sayso.model.ask import Ask
from sayso.model.verdicts import Kind, Verdict
from sayso.web.look.views import Held
from sayso.web.visit import Visit

MOST = 100  # that are listed: as many as are decided together
# What somebody did, where the word of the verdict is not the word of the button.
_DONE: Mapping[tuple[Kind, Verdict], str] = {
    ("plan", "reject"): "Cancelled",
    ("draft", "reject"): "Dropped",
    ("question", "respond"): "Answered",
    ("question", "reject"): "Not answered",
    ("choice", "approve"): "Chosen",
    ("choice", "respond"): "Answered",
    ("choice", "reject"): "None chosen",
    ("notice", "reject"): "Ignored",
    ("notice", "respond"): "Answered",
    ("feedback", "approve"): "Rated good",
    ("feedback", "reject"): "Rated bad",
    ("feedback", "respond"): "Commented",
    ("doubt", "approve"): "To be run again",
    ("doubt", "respond"): "Taken as done",
    ("doubt", "reject"): "Left as it is",
}
_PLAIN: Mapping[Verdict, str] = {
    "approve": "Approved",
    "edit": "Approved with edits",
    "reject": "Rejected",
    "respond": "Sent back",
}
_NAMED = 80


def said_of(ask: Ask) -> str:
    """Say what was done to which ask: `Approved: Refund · 1,240.00 EUR · Ada`."""
    judged = ask.judged
    if judged is None:
        return by_others(ask)
    word = _DONE.get((ask.kind, judged.verdict), _PLAIN[judged.verdict])
    if ask.content.ignores and judged.verdict == "reject":
        word = "Ignored"
    about = headline(ask)
    if (ask.kind, judged.verdict) == ("choice", "approve") and isinstance(judged.answer, dict):
        about = str(judged.answer.get("option", about))
    cut = about if len(about) <= _NAMED else f"{about[: _NAMED - 1]}…"
    return f"{word}: {cut}"


def by_others(ask: Ask) -> str:
    """Say how an ask stands that others have closed."""
    said = ended(ask)
    return f"{said[:1].upper()}{said[1:]}."


def held_by(visit: Visit) -> tuple[Held, ...]:
    """Return what this person has decided and may still take back, the newest first."""
    ids = visit.store.settling(visit.actor.id, MOST)
    if not ids:
        return ()
    people = visit.people
    asks = [
        ask
        for ask in asks_of(visit.store, ids)
        if ask.settling and visit.sees(ask.content.team, ask.content.agent, people)
    ]
    asks.sort(key=lambda ask: (ask.changed_at or ask.opened_at, ask.seq), reverse=True)
    return tuple(
        Held(ask=ask.id, text=said_of(ask), until=ask.settles_at)
        for ask in asks
        if ask.settles_at is not None and any(vote.by == visit.actor for vote in ask.votes)
    )
