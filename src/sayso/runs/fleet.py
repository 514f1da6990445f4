"""How a fleet stands now: one look at it, for `sayso doctor` and for whoever measures it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sayso.store.contract import Store
from sayso.store.fleet import ALIVE, Backlog, OpenAsks, Worker

LOOKED_AT = 10_000  # runs that have been ready for longest, and wake-ups: enough to know

# Besides one for each thread: one that renews leases and one that listens; with Procrastinate one that
# renews leases, one that looks around, and the five of Procrastinate.
_BESIDE = {False: 2, True: 7}


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is alive, what waits, what was given up.

    Attributes:
        now: When this was so, by the clock of the store.
        workers: Who was alive just now.
        asks: What is open, by rank and kind.
        runs: How many runs there are that are not over, by status.
        backlog: Of which workflows the runs are that are ready, or whose worker fell silent.
        deliveries: Messages to webhooks that wait, or were given up.
        wakeups: Jobs of the engine by status; `None` if it is not installed.
    """

    now: datetime
    workers: tuple[Worker, ...]
    asks: tuple[OpenAsks, ...]
    runs: Mapping[str, int]
    backlog: tuple[Backlog, ...]
    deliveries: Mapping[str, int]
    wakeups: Mapping[str, int] | None

    @property
    def versions(self) -> Counter[str]:
        """How many workers there are of each version of sayso."""
        return Counter(worker.version or "unknown" for worker in self.workers)

    @property
    def served(self) -> frozenset[str]:
        """The workflows that somebody alive has the code of."""
        return frozenset(name for worker in self.workers for name in worker.serves)

    @property
    def unserved(self) -> tuple[Backlog, ...]:
        """Runs that could go on, and nobody alive would take."""
        return tuple(each for each in self.backlog if each.workflow not in self.served)

    @property
    def oldest_ready(self) -> timedelta | None:
        """How long a run has waited that somebody alive could take."""
        waits = [self.now - each.since for each in self.backlog if each.workflow in self.served]
        return max(waits, default=None)

    @property
    def lag(self) -> timedelta | None:
        """The longest time from ready to claimed in the last minute."""
        return max((each.lag for each in self.workers if each.lag is not None), default=None)


def look(store: Store) -> Standing:
    """Look at a fleet once. It costs what is open, ready or given up, never what is over."""
    wakeups = None if store.wakeups is None else store.wakeups.counts(LOOKED_AT)
    return Standing(
        now=store.now(),
        workers=tuple(store.workers(ALIVE)),
        asks=tuple(store.open_counts()),
        runs=store.run_counts(),
        backlog=tuple(store.backlog(LOOKED_AT)),
        deliveries=store.delivery_counts(),
        wakeups=wakeups,
    )


def connections(worker: Worker) -> int:
    """Return how many connections to a server a worker may have open at once."""
    return worker.threads + _BESIDE[worker.engine == "procrastinate"]
