"""Going on from a backup: nothing that may have happened since it was taken happens again unasked.

The journal of a backup does not know what was done after it. So every run that was not over is
parked until a person lets it go on; a call that was approved and not yet begun counts as begun by
somebody unknown, so that it ends in `idempotent`, `verify` or a doubt; and what is still open says
that it may have been decided before.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sayso.asks.books import Pen, book_of, read_books
from sayso.asks.standing import Standing, grow, stamped, standing, tries
from sayso.errors import Tampered
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask
from sayso.model.digest import read
from sayso.model.event import link
from sayso.model.lifecycle import RunStatus
from sayso.runs.steering import known, steered
from sayso.store.contract import Append, RunQuery, RunRow, Store
from sayso.store.epochs import DESK

_log = logging.getLogger("sayso.runs")
_LIVE: tuple[RunStatus, ...] = ("ready", "running", "waiting")
_BATCH = 200
_BY = "unknown, after the backup was taken"
_POLICY = Actor("policy", "restored")


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put right, and how many were held for a person to look at."""

    epoch: int
    at: datetime
    runs: int
    calls: int
    asks: int


def restore(store: Store, *, actor: Actor, origin: Origin) -> Restored:
    """Begin a new epoch; nobody else gets in before all of it is put right. Safe to run twice."""
    with store.putting_right() as epoch:
        at = _record(store, epoch, actor, origin)
        held = [_held(store, row.id, at, actor, origin) for row in _live(store)]
        told = sum(_told(store, ask_id, at, origin) for ask_id in _undecided(store))
        for book in read_books(store):
            _let_nothing_alone(store, book.id, actor, origin)
    return Restored(epoch, at, len(held), sum(held), told)


def _let_nothing_alone(store: Store, key: str, actor: Actor, origin: Origin) -> None:
    """End a grant: it may have been taken away after the backup was taken, and nothing here says so."""
    for _ in tries(key):
        book = book_of(store, key)
        if book is None or book.ledger.standing not in ("granted", "suspended"):
            return
        pen = Pen(store, book)
        pen.write("revoked", actor, origin, note="The desk was restored from a backup.")
        if store.commit(*pen.appends()):
            return


def _record(store: Store, epoch: int, actor: Actor, origin: Origin) -> datetime:
    for _ in tries(DESK):
        head, now = store.head(DESK), _after_all(store)
        event = link(
            DESK,
            head.seq + 1,
            "desk.restored",
            at=now,
            actor=actor,
            payload=stamped(origin, epoch=epoch),
            salt=os.urandom(16),
            previous=head.hash,
        )
        if store.commit(Append(event=event)):
            return now
    raise AssertionError("unreachable: trying ends with an error")


def _after_all(store: Store) -> datetime:
    """Return the present, and never before the last event: the clock of another machine may be behind."""
    newest = store.recent(1)
    return max([store.now(), *(event.at + timedelta(microseconds=1) for event in newest)])


def _live(store: Store) -> Iterator[RunRow]:
    for status in _LIVE:
        while rows := store.runs(RunQuery(status=status, limit=_BATCH)):
            yield from rows  # each leaves the list as it is parked


def _held(store: Store, run_id: str, at: datetime, actor: Actor, origin: Origin) -> int:
    """Park a run; return how many of its calls may have been begun by somebody unknown."""
    reason = (
        f"this desk was restored from a backup ({at:%Y-%m-%d %H:%M} UTC). What the run did after "
        "that was taken is not known here, and it may do it again. Look first"
    )
    for _ in tries(run_id):
        row = known(store, run_id)
        if row.status not in _LIVE:
            return 0
        begun = [_begun(each, origin) for each in _unspent(store, run_id)]
        said = stamped(origin, reason=f"{reason}.")
        if steered(store, row, "parked", "run.parked", said, actor, begun):
            return len(begun)
    raise AssertionError("unreachable: trying ends with an error")


def _unspent(store: Store, run_id: str) -> list[Standing]:
    """Return what a run may still carry out on a yes that it has."""
    try:
        asks = [standing(store, events[0].stream) for events in store.run_asks(run_id)]
    except Tampered as error:  # whoever carries it on will be told
        _log.error("%s", error)
        return []
    again = {at.ask.content.about for at in asks if at.ask.kind == "doubt" and at.ask.decision}
    return [at for at in asks if _spendable(at.ask, again)]


def _spendable(ask: Ask, again: set[str | None]) -> bool:
    if ask.kind != "action" or ask.tool is None or not ask.decision:
        return False
    return ask.effect is None or (ask.effect.status == "unknown" and ask.id in again)


def _begun(at: Standing, origin: Origin) -> Append:
    """Write the intent that somebody may have had: under the key they had, too."""
    ask = at.ask
    attempt = ask.effect.attempt + 1 if ask.effect else 1
    key = f"{ask.id}-{at.events[0].hash.hex()[:24]}"
    said = stamped(origin, key=key, attempt=attempt, digest=ask.digest, worker=_BY)
    actor = Actor("agent", ask.content.agent)
    event, grown = grow(ask, "effect.intended", at=at.now, actor=actor, payload=said)
    return Append(event=event, ask=grown)


def _undecided(store: Store) -> Iterator[str]:
    after = ""
    while ids := store.undecided(after):
        yield from ids
        after = ids[-1]


def _told(store: Store, ask_id: str, since: datetime, origin: Origin) -> bool:
    """Let an open ask say that it may have been decided before; what was said to it is void."""
    try:
        for _ in tries(ask_id):
            at = standing(store, ask_id)
            if at.ask.closed:
                return False
            ask, appends = at.ask, []
            if ask.settling:
                said = stamped(origin, note="The desk was restored from a backup.")
                event, ask = grow(
                    ask, "ask.taken_back", at=at.now, actor=Actor("clock", "clock"), payload=said
                )
                appends.append(Append(event=event, ask=ask))
            payload = stamped(Origin("policy", ""), **_raised(ask, since))
            event, ask = grow(ask, "ask.raised", at=at.now, actor=_POLICY, payload=payload)
            if store.commit(*appends, Append(event=event, ask=ask)):
                return True
    except Tampered as error:
        _log.error("%s", error)
    return False


def _raised(ask: Ask, since: datetime) -> dict[str, Any]:
    content = ask.content
    sentence = (
        f"This desk was restored from a backup ({since:%Y-%m-%d %H:%M} UTC): it may have been "
        "decided and carried out before. Look first."
    )
    return {
        "needs": [str(factor) for factor in content.needs.factors],
        "deny": content.needs.deny,
        "sentence": " ".join(filter(None, [content.sentence, sentence])),
        "ruling": read(content.ruling) if content.ruling else None,
    }
