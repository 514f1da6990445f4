"""Taking a question back before anybody decided it, and erasing what was said in closed ones."""

from __future__ import annotations

from contextlib import suppress

from sayso.asks.deadlines import keep_time
from sayso.asks.spending import of_run
from sayso.asks.standing import Standing, grow, stamped, standing, tries
from sayso.errors import AskClosed, Conflict, Misuse, NotApproved, StoreError
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
