"""What comes of a decision: what happens next, and waiting for the end of it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from sayso.asks.spending import of_run
from sayso.asks.standing import standing
from sayso.channels.card import outcome
from sayso.channels.explanation import ELSEWHERE, LEFT, next_step, said_in_a_word
from sayso.channels.values import as_json, clipped
from sayso.cli.desks import desk_argument
from sayso.cli.printing import say
from sayso.desk import Desk
from sayso.model.ask import Ask
from sayso.model.tally import missing
from sayso.model.text import one_line
from sayso.runs.handle import goes_on, worker_for

_LOOK_EVERY = 1.0
QUICKLY = 3.0  # seconds that a person waits for an outcome without having asked to


@dataclass(frozen=True, slots=True)
class End:
    """How far an approved call got; `trouble` says why there is nothing more to wait for."""

    ask: Ask
    trouble: str | None = None


def tell_at_once(desk: Desk, ask: Ask) -> None:
    """Say how an approved call ended if that comes quickly; else, where to look."""
    if not _awaited(desk, ask):
        return
    end = ended(desk, ask.id, QUICKLY)
    if end.trouble is None:
        tell_end(end.ask)
    else:
        say(end.trouble, "dim")


def _awaited(desk: Desk, ask: Ask) -> bool:
    """Whether somebody is there who carries it out now."""
    if ask.open or _over(ask):
        return False
    if not of_run(ask):
        return ask.held
    status = desk.get_run(str(ask.content.run)).row.status
    return status in ("ready", "running") and unserved(desk, ask) is None


def standing_word(desk: Desk, ask: Ask) -> str | None:
    """Say what an approved call waits for that nobody has begun; `None` if there is no such."""
    if ask.open or _over(ask) or ask.effect is not None:
        return None
    if of_run(ask):
        return run_next(desk, ask)
    return _next_step(desk, ask)


def _next_step(desk: Desk, ask: Ask) -> str | None:
    """Say who acts on a decision, as far as is known now."""
    if not ask.held:
        return next_step(ask)
    at = standing(desk.store, ask.id)
    return next_step(ask, at.until, lapsed=at.lapsed)


def tell(desk: Desk, ask: Ask) -> None:
    """Say what the decision did, and what happens next."""
    if ask.open:
        short = " and ".join(map(str, missing(ask, desk.store.roster()))) or "others"
        say(f"Your vote on {ask.id} is recorded; it still needs {short}.", "green")
        return
    if ask.settling:
        say(f"{ask.id} {outcome(ask)}.", "green")
        say(f"Changed your mind? sayso inbox take-back {ask.id}", "dim")
        return
    say(f"{ask.id} {outcome(ask)}.", "green")
    if of_run(ask):
        _tell_run(desk, ask)
    elif (after := _next_step(desk, ask)) is not None:
        say(after)


def unserved(desk: Desk, ask: Ask) -> str | None:
    """Return the word that nobody has the code to act on a decision; `None` if somebody has."""
    return desk.unserved(str(ask.content.run)) if of_run(ask) and ask.closed else None


def run_next(desk: Desk, ask: Ask) -> str:
    """Say what a decision does to the run that asked."""
    word = unserved(desk, ask)
    if word is not None:
        return f"{said_in_a_word(ask)}. {word}"
    return goes_on(desk.get_run(str(ask.content.run)).row)


def _tell_run(desk: Desk, ask: Ask) -> None:
    say(run_next(desk, ask))
    if unserved(desk, ask) is not None and worker_for(desk.get_run(str(ask.content.run)).row.path):
        where = f" --desk {desk_argument()}" if desk_argument() else ""
        say(f"Or carry it on here, once: sayso runs resume {ask.content.run}{where}", "dim")


def ended(desk: Desk, ask_id: str, timeout: float | None) -> End:
    """Wait until an approved call has ended one way or another, or nothing more will come."""
    until = None if timeout is None else time.monotonic() + timeout
    heard = threading.Event()
    with desk.store.bell.listening(heard.set):
        while True:
            desk.sweep()
            at = standing(desk.store, ask_id)
            if _over(at.ask):
                return End(at.ask)
            if at.ask.held and at.lapsed and at.ask.closed and at.ask.effect is None:
                return End(at.ask, LEFT.format(id=ask_id))
            left = _LOOK_EVERY if until is None else until - time.monotonic()
            if left <= 0:
                return End(at.ask, _waiting(at.ask, timeout or 0))
            heard.wait(min(left, _LOOK_EVERY))
            heard.clear()


def _over(ask: Ask) -> bool:
    if not ask.closed:
        return False
    if not ask.decision or not ask.carried_out_here:
        return True
    return ask.effect is not None and ask.effect.status != "intended"


def _waiting(ask: Ask, timeout: float) -> str:
    if ask.open:
        state = "is not decided yet: others must agree"
    elif ask.settling:
        state = "can still be taken back"
    elif ask.effect is None:
        state = "was approved, but nobody has begun to carry it out"
    else:
        state = "was begun, and has no result yet"
    return f"After {timeout:g} s {ask.id} {state}. Look later: sayso inbox show {ask.id}"


def went_well(ask: Ask) -> bool:
    """Whether nothing came of it that somebody should look at."""
    return ask.effect is None or ask.effect.status == "done"


def tell_end(ask: Ask) -> None:
    """Say how the call ended."""
    effect = ask.effect
    if effect is None and ask.content.elsewhere and ask.decision:
        say(ELSEWHERE)
    elif effect is None:
        say("Nothing was to be carried out.")
    elif effect.status == "done":
        result = "" if effect.result is None else f": {clipped(as_json(effect.result), 500)}"
        say(f"done{result}", "green")
    elif effect.status == "failed":
        say(f"failed: {one_line(effect.error or 'no reason given', 500)}", "red")
    else:
        say(f"unknown: nobody knows whether it happened; see {effect.doubt}", "yellow")
