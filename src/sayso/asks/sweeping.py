"""What happens because time passed: what the clock does to asks, and effects gone silent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sayso.asks.deadlines import keep_time
from sayso.asks.spending import doubt
from sayso.asks.standing import standing
from sayso.errors import Tampered
from sayso.model.actor import Origin
from sayso.model.agenda import Deed
from sayso.store.contract import Store

_log = logging.getLogger("sayso.asks")
_BATCH = 200
_DEEDS = 100  # more rungs and reminders than any policy has
_SILENT = (
    "the program that carried it out has not reported in time; whether it still runs is not known."
)


@dataclass(frozen=True, slots=True)
class Swept:
    """The ids of asks that the clock closed, of doubts that were opened, and what else was due."""

    expired: tuple[str, ...]
    doubts: tuple[str, ...]
    reminded: tuple[str, ...] = ()
    escalated: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()


def sweep(store: Store, *, origin: Origin, now: datetime | None = None) -> Swept:
    """Do what is due. Several processes may sweep at once; each thing happens once."""
    did: dict[Deed, list[str]] = {"expire": [], "remind": [], "escalate": [], "settle": []}
    tried: set[str] = set()
    while ids := [found for found in store.due(_BATCH, now) if found not in tried]:
        tried.update(ids)
        for ask_id in ids:
            for deed in _kept(store, ask_id, now):
                did[deed].append(ask_id)
    doubts: list[str] = []
    tried = set()
    while ids := [found for found in store.lapsed(_BATCH, now) if found not in tried]:
        tried.update(ids)
        doubts += [opened for ask_id in ids for opened in _doubted(store, ask_id, origin)]
    return Swept(
        tuple(did["expire"]),
        tuple(doubts),
        reminded=tuple(did["remind"]),
        escalated=tuple(did["escalate"]),
        settled=tuple(did["settle"]),
    )


# One damaged journal must not stop the clock for all the others.


def _kept(store: Store, ask_id: str, now: datetime | None) -> Iterator[Deed]:
    """Do everything that is due with one ask, if its journal too says that it is."""
    try:
        # A deed may make the next one due.
        for _ in range(_DEEDS):
            kept = keep_time(store, standing(store, ask_id), now)
            if kept is None:
                return
            if kept.won:
                yield kept.deed
    except Tampered as error:
        _log.error("%s", error)


def _doubted(store: Store, ask_id: str, origin: Origin) -> list[str]:
    try:
        opened = doubt(store, ask_id, _SILENT, origin=origin)
    except Tampered as error:
        _log.error("%s", error)
        return []
    return [] if opened is None else [opened.id]
