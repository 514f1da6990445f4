"""Taking a question back before anybody decided it, and erasing what was said in closed ones."""

from __future__ import annotations

from contextlib import suppress

from sayso.asks.deadlines import keep_time
from sayso.asks.identity import barred, check_role, reviewer
from sayso.asks.spending import of_run
from sayso.asks.standing import Standing, grow, stamped, standing, tries
from sayso.errors import (
    AskClosed,
    Conflict,
    Forbidden,
    Misuse,
    NotApproved,
    StoreError,
    UnknownAsk,
)
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask
from sayso.model.content import check_title, check_words
from sayso.store.contract import Append, Store

GIVEN_UP = "The program stopped waiting."


def withdraw(store: Store, ask_id: str, *, actor: Actor, origin: Origin, note: str | None) -> Ask:
    """Close an open ask without a decision.

    Raises:
        AskClosed: it was decided or withdrawn before.
    """
    check_words(note, "note")
    turn = tries(ask_id)
    while True:
        next(turn)
        at = standing(store, ask_id)
        if keep_time(store, at) is not None:
            continue
        if at.ask.closed:
            raise AskClosed(at.ask, attempted="withdraw")
        if at.ask.kind == "doubt":
            raise Misuse(
                f"{at.ask.id} asks whether {at.ask.content.about} happened; taking the question "
                "back would not answer it. Decide it: run again, it happened, or leave it."
            )
        payload = stamped(origin, note=note)
        event, ask = grow(at.ask, "ask.withdrawn", at=at.now, actor=actor, payload=payload)
        if store.commit(Append(event=event, ask=ask)):
            return ask


def check_withdrawal(at: Standing, *, by: str | None, origin: Origin) -> None:
    """Refuse to let a person take back what somebody else asked, unless they may say no to it.

    Raises:
        Forbidden: it is for others to decide.
    """
    person = reviewer(at.ask, at.roster, by, origin)
    if (at.ask.content.requester or "").casefold() != person.id.casefold():
        check_role(at.ask, person, at.roster, verdict="reject")


def check_stop(
    store: Store, run_id: str, *, by: str | None, origin: Origin, but: str | None = None
) -> Actor | None:
    """Return who ends a run, if they may say no to all that it asks people; `None` if that is nothing.

    To take an ask back is to say no to it (E59). Doubts stay open, and `but` is one that they
    decide anyway.

    Raises:
        Forbidden: something of it is for others to decide.
        UnknownPerson: there is no such person, or nobody was named on a desk with people.
    """
    person = None
    for events in store.run_asks(run_id):
        at = standing(store, events[0].stream)
        if at.ask.closed or at.ask.kind == "doubt" or at.ask.id == but:
            continue
        person = _refuser(at, run_id, by, origin)
    return person


def _refuser(at: Standing, run_id: str, by: str | None, origin: Origin) -> Actor:
    try:
        person = reviewer(at.ask, at.roster, by, origin)
    except UnknownAsk:  # of a team whose asks they do not see
        raise Forbidden(
            f"{run_id} waits for people of another team, so you cannot end it. One of them can."
        ) from None
    barring = barred(at.ask, person, at.roster, verdict="reject")
    if barring is not None:
        raise Forbidden(
            f'{run_id} waits for {at.ask.id} "{at.ask.label}". To end the run takes what rejecting '
            f"that takes. {barring}"
        )
    return person


def give_up(store: Store, ask: Ask, *, origin: Origin) -> None:
    """Withdraw the ask of a program that stops waiting, if that is still possible.

    If it is not (decided already, or the database out of reach), the lapsing
    lease will tell people that the program has gone.
    """
    actor = Actor("agent", ask.content.agent)
    with suppress(Conflict, StoreError):
        withdraw(store, ask.id, actor=actor, origin=origin, note=GIVEN_UP)


def erase(store: Store, ask_id: str, *, actor: Actor, origin: Origin, note: str) -> Ask:
    """Null every payload of a closed ask, and of the doubts about it.

    Headers, verdicts and the chain stay, and still verify.

    Raises:
        NotApproved: the ask is open, or its effect is not over, and would lose its meaning.
    """
    check_title(note, "The reason for erasing")
    turn = tries(ask_id)
    while True:
        next(turn)
        at = standing(store, ask_id)
        effect = at.ask.effect
        if not at.ask.closed or (effect is not None and effect.status in ("intended", "unknown")):
            raise NotApproved(at.ask, "it is not over yet, so it cannot be erased. Close it first.")
        if of_run(at.ask) and _going_on(store, at.ask.content.run):
            raise NotApproved(
                at.ask,
                f"the run {at.ask.content.run} is not over and goes by what it says, so it cannot "
                "be erased. Wait for its end, or cancel it.",
            )
        for doubt_id in _doubts(at):
            erase(store, doubt_id, actor=actor, origin=origin, note=note)
        seqs = [event.seq for event in at.events if event.text and event.kind != "payload.erased"]
        if not seqs:
            return at.ask
        verdict = at.ask.decision.verdict if at.ask.decision is not None else None
        team = at.ask.content.team
        trust = None if at.ask.stake is None else at.ask.stake.to_json()
        payload = stamped(origin, seqs=seqs, note=note, verdict=verdict, team=team, trust=trust)
        event, ask = grow(at.ask, "payload.erased", at=at.now, actor=actor, payload=payload)
        if store.erase(at.ask.stream, seqs, Append(event=event, ask=ask)):
            return standing(store, ask_id).ask


def _going_on(store: Store, run_id: str | None) -> bool:
    row = store.run(run_id) if run_id is not None else None
    return row is not None and row.status not in ("done", "cancelled")


def _doubts(at: Standing) -> list[str]:
    """Return the doubts about an ask: they show its arguments again."""
    said = [event.payload for event in at.events if event.kind == "effect.unknown"]
    return [payload["doubt"] for payload in said if payload is not None]
