"""What happens because time passed: deadlines, and effects whose carrier fell silent."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime

from sayso.asks.deadlines import expire
from sayso.asks.spending import doubt
from sayso.asks.standing import standing
from sayso.errors import Tampered
from sayso.model.actor import Origin
from sayso.store.contract import Store

_log = logging.getLogger("sayso.asks")
_BATCH = 200
_SILENT = (
    "the program that carried it out has not reported in time; whether it still runs is not known."
)


@dataclass(frozen=True, slots=True)
class Swept:
    """The ids of asks the clock rejected, and of doubts that were opened."""

    expired: tuple[str, ...]
    doubts: tuple[str, ...]


def sweep(store: Store, *, origin: Origin, now: datetime | None = None) -> Swept:
    """Do what is due. Several processes may sweep at once; each thing happens once."""
    expired: list[str] = []
    tried: set[str] = set()
    while ids := [found for found in store.overdue(_BATCH, now) if found not in tried]:
        tried.update(ids)
        expired += [ask_id for ask_id in ids if _expired(store, ask_id, now)]
    doubts: list[str] = []
    tried = set()
    while ids := [found for found in store.lapsed(_BATCH, now) if found not in tried]:
        tried.update(ids)
        doubts += [opened for ask_id in ids for opened in _doubted(store, ask_id, origin)]
    return Swept(tuple(expired), tuple(doubts))


# One damaged journal must not stop the clock for all the others.


def _expired(store: Store, ask_id: str, now: datetime | None) -> bool:
    """Reject one ask by the clock, if its journal too says that it is past due."""
    try:
        at = standing(store, ask_id)
    except Tampered as error:
        _log.error("%s", error)
        return False
    due_at = at.ask.due_at
    return due_at is not None and due_at <= (now or at.now) and expire(store, at)


def _doubted(store: Store, ask_id: str, origin: Origin) -> list[str]:
    try:
        opened = doubt(store, ask_id, _SILENT, origin=origin)
    except Tampered as error:
        _log.error("%s", error)
        return []
    return [] if opened is None else [opened.id]
