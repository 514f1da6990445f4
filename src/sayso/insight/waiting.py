"""How many asks wait for people now, and for how long. What is said is bounded, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from sayso.store.boards import COUNTED
from sayso.store.contract import Store


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many asks wait for people, and for how long; exact up to 1,000 of them."""

    count: int
    oldest: timedelta | None
    p50: timedelta | None

    @property
    def more(self) -> bool:
        """Whether there are more than were counted."""
        return self.count > COUNTED

    @property
    def counted(self) -> int:
        """How many, up to as many as are counted."""
        return min(self.count, COUNTED)

    @property
    def oldest_seconds(self) -> float | None:
        """How long the oldest waits."""
        return _seconds(self.oldest)

    def to_json(self) -> dict[str, Any]:
        """Return it by name, times in seconds."""
        return {
            "count": self.counted,
            "more": self.more,
            "oldest_seconds": self.oldest_seconds,
            "p50_seconds": _seconds(self.p50),
        }


def queue_age(store: Store, now: datetime, teams: tuple[str, ...] | None) -> Waiting:
    """Return how many asks wait for people now, and since when."""
    since: Sequence[datetime] = store.open_since(COUNTED + 1, teams)
    if not since:
        return Waiting(0, None, None)
    middle = median(at.timestamp() for at in since)
    return Waiting(
        len(since), now - min(since), timedelta(seconds=max(0.0, now.timestamp() - middle))
    )


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else round(max(span.total_seconds(), 0.0), 3)
