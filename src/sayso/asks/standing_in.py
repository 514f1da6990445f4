"""Another database for every desk of this process, for tests: `sayso.testing` puts one here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sayso.model.ask import Ask
from sayso.store.contract import Store


@dataclass(frozen=True, slots=True)
class StandIn:
    """The database, and somebody who hears of every ask the moment it opens."""

    store: Store
    opened: Callable[[Any, Ask], object]


_others: list[StandIn] = []


@contextmanager
def stand_in(other: StandIn) -> Iterator[None]:
    """Let every desk of this process use another database for a block."""
    _others.append(other)
    try:
        yield
    finally:
        _others.remove(other)


def standing_in() -> StandIn | None:
    """Return what stands in now, if anything does."""
    return _others[-1] if _others else None
