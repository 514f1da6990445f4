"""Getting an answer while a program waits: from somebody at this terminal, or from elsewhere.

With a terminal and nobody else to ask, the question is put right here. In every
other case one line says what waits and how to decide it.
"""

from __future__ import annotations

import threading

from sayso.asks.deciding import decide
from sayso.asks.lawbook import Lawbook
from sayso.asks.standing import standing
from sayso.asks.waiting import wait
from sayso.channels.console import Console
from sayso.errors import AskChanged, AskClosed, Denied, Misuse
from sayso.model.actor import Origin
from sayso.model.ask import Ask
from sayso.store.contract import Store

_TERMINAL = threading.Lock()  # two threads must not put their questions on top of each other


def attend(
    store: Store, ask: Ask, *, console: Console, origin: Origin, law: Lawbook | None = None
) -> Ask:
    """Return the ask once it is closed, having asked for a decision in the best way there is."""
    at = standing(store, ask.id)
    if at.ask.open and at.roster.solo and console.interactive():
        with _TERMINAL, console.leaving(at.ask):
            settled = _prompted(store, at.ask, console, origin, law)
        if settled is not None:
            return settled
    elif at.ask.open:
        console.announce(at.ask, at.roster)
    return wait(store, ask.id)


def _undecided(store: Store, ask_id: str) -> bool:
    at = standing(store, ask_id)
    return at.ask.open and not at.overdue and at.roster.solo


def _prompted(
    store: Store, ask: Ask, console: Console, origin: Origin, law: Lawbook | None
) -> Ask | None:
    """Put the question at the terminal until it is decided; `None` when the input ends."""
    here = Origin("terminal", origin.account)
    while True:
        ballot = console.prompt(ask, still_open=lambda ask_id: _undecided(store, ask_id))
        at = standing(store, ask.id)
        if not at.ask.open:
            console.decided_elsewhere(at.ask)
            return at.ask if at.ask.closed else None
        if not at.roster.solo:  # somebody was added meanwhile, so this seat no longer decides
            console.announce(at.ask, at.roster)
            return None
        if ballot is None:
            console.paused(ask)
            return None
        try:
            decided = decide(store, ask.id, ballot, seen=ask.digest, by=None, origin=here, law=law)
        except AskClosed:
            continue
        except AskChanged as error:
            console.complain(str(error))
            ask = standing(store, ask.id).ask
            continue
        except (Misuse, Denied) as error:
            console.complain(str(error))
            continue
        if not decided.open:
            console.done(decided)
            return decided if decided.closed else None
        ask = decided
