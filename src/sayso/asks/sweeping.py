"""What happens because time passed: deadlines, and effects whose carrier fell silent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sayso.asks.deadlines import expire
from sayso.asks.spending import doubt
from sayso.asks.standing import standing
from sayso.model.actor import Origin
from sayso.store.contract import Store

_BATCH = 200
_SILENT = "the program that carried it out stopped before it reported."


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
        expired += [ask_id for ask_id in ids if expire(store, standing(store, ask_id))]
    doubts: list[str] = []
    tried = set()
    while ids := [found for found in store.lapsed(_BATCH, now) if found not in tried]:
        tried.update(ids)
        opened = [doubt(store, ask_id, _SILENT, origin=origin) for ask_id in ids]
        doubts += [ask.id for ask in opened if ask is not None]
    return Swept(tuple(expired), tuple(doubts))
