"""How a desk stands for somebody who looks after it: what runs, what waits, what needs a person.

What is said here is bounded: it costs the same however much is open, and says where there is more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from sayso.asks.inbox import listing
from sayso.asks.pacing import slowed
from sayso.asks.stuck import stuck
from sayso.insight.waiting import Waiting, queue_age
from sayso.model.span import say_span
from sayso.model.text import one_line
from sayso.runs.handle import worker_for
from sayso.store.boards import COUNTED
from sayso.store.contract import InboxQuery, RunRow, Store
from sayso.store.fleet import ALIVE, Backlog

Need = Literal[
    "policy", "slowed", "doubts", "parked", "failed", "unserved", "undecidable", "undelivered"
]
LATELY = timedelta(days=1)  # for which a run that failed is worth a look
_STUCK = 50  # open asks that are looked at one by one
_FAILED = 100


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that gets nowhere without a person: what it is, how much of it, what to do."""

    need: Need
    count: int
    text: str
    command: str | None = None
    more: bool = False  # there may be more than was counted

    def to_json(self) -> dict[str, Any]:
        """Return it by name."""
        return {
            "need": self.need,
            "count": self.count,
            "more": self.more,
            "text": self.text,
            "command": self.command,
        }


@dataclass(frozen=True, slots=True)
class Outlook:
    """How everything stands, as somebody of some teams sees it."""

    now: datetime
    runs: tuple[RunRow, ...]
    counts: Mapping[str, int]
    waiting: Waiting
    attention: tuple[Attention, ...]
    served: frozenset[str] = field(default_factory=frozenset)

    def to_json(self) -> dict[str, Any]:
        """Return it as `desk.outlook` and HTTP give it: runs by their ids, the newest of each status."""
        return {
            "at": self.now.isoformat(),
            "runs": {
                status: {"count": min(count, COUNTED), "more": count > COUNTED}
                for status, count in self.counts.items()
            },
            "current": [row.id for row in self.runs],
            "waiting": self.waiting.to_json(),
            "attention": [each.to_json() for each in self.attention],
        }


def outlook(
    store: Store,
    *,
    teams: tuple[str, ...] | None,
    limit: int = 5,
    deliveries: bool = True,
    broken: str | None = None,
) -> Outlook:
    """Look at everything once: at most so many runs of each status.

    `teams` are those whose runs and asks may be seen besides what belongs to none; `None` means all.
    Webhooks are of the whole desk: `deliveries` says whether they concern whoever looks. `broken`
    says why no policy can be used, as far as that concerns them; `None` if one can.
    """
    current = store.runs_now(limit, teams)
    now = store.now()
    served = frozenset(name for worker in store.workers(ALIVE) for name in worker.serves)
    needs = [
        *(() if broken is None else (_broken(broken),)),
        *_slowed(store, teams),
        *_doubts(store, teams),
        *_parked(current.counts),
        *_failed(store, now, teams),
        *_unserved(store.backlog(COUNTED, teams), served, now),
        *_undecidable(store, teams),
        *(_undelivered(store) if deliveries else ()),
    ]
    waits = queue_age(store, now, teams)
    return Outlook(now, current.rows, current.counts, waits, tuple(needs), served)


def _broken(why: str) -> Attention:
    text = (
        f"No policy can be used, so every ask is refused until it is mended. {one_line(why, 600)}"
    )
    return Attention("policy", 1, text.rstrip("."), "sayso policy check")


def _slowed(store: Store, teams: tuple[str, ...] | None) -> Iterator[Attention]:
    """Say which agents were refused of late, as they ask more than people can read."""
    found = list(slowed(store, teams))
    if found:
        others = len(found) - 1
        more = f", and {others:,} other agent{'' if others == 1 else 's'}" if others else ""
        yield Attention("slowed", len(found), f"{found[0]}{more}")


def _doubts(store: Store, teams: tuple[str, ...] | None) -> Iterator[Attention]:
    found = listing(store, InboxQuery(kind="doubt", limit=1, teams=teams), role=None, person=None)
    if found.count:
        one = found.count == 1
        text = f"{found.counted} call{'' if one else 's'} may or may not have happened; say so"
        yield Attention("doubts", min(found.count, COUNTED), text, more=found.count > COUNTED)


def _parked(counts: Mapping[str, int]) -> Iterator[Attention]:
    count = counts.get("parked", 0)
    if count:
        verb = "run is" if count == 1 else "runs are"
        text = f"{_many(count, COUNTED)} {verb} parked and cannot go on without a person"
        yield Attention("parked", min(count, COUNTED), text, more=count > COUNTED)


def _failed(store: Store, now: datetime, teams: tuple[str, ...] | None) -> Iterator[Attention]:
    found = store.failed_since(now - LATELY, _FAILED + 1, teams)
    if found:
        runs = "run" if len(found) == 1 else "runs"
        text = f"{_many(len(found), _FAILED)} {runs} failed in the last {say_span(LATELY)}"
        yield Attention("failed", min(len(found), _FAILED), text, more=len(found) > _FAILED)


def _unserved(
    backlog: Sequence[Backlog], served: frozenset[str], now: datetime
) -> Iterator[Attention]:
    for each in backlog:
        if each.workflow in served:
            continue
        runs = "run" if each.count == 1 else "runs"
        text = (
            f"{each.count:,} {runs} of {one_line(each.workflow, 60)} without a worker, the oldest for "
            f"{say_span(now - each.since)}: none that is alive serves it"
        )
        start = worker_for(each.path)
        command = None if start is None else one_line(start, 200)
        yield Attention("unserved", each.count, text, command, more=each.count >= COUNTED)


def _undecidable(store: Store, teams: tuple[str, ...] | None) -> Iterator[Attention]:
    found = stuck(store, most=_STUCK, teams=teams)
    if found.nobody:
        count = len(found.nobody)
        asks = "ask" if count == 1 else "asks"
        some = "" if found.complete else f" of the first {found.looked_at}"
        text = f"{count} {asks}{some} nobody can decide: {found.nobody[0][1]}"
        yield Attention("undecidable", count, text, more=not found.complete)


def _undelivered(store: Store) -> Iterator[Attention]:
    dead = store.delivery_counts().get("dead", 0)
    if dead:
        text = f"{dead:,} message{'' if dead == 1 else 's'} to webhooks never arrived"
        yield Attention("undelivered", dead, text, "sayso webhooks deliveries --status dead")


def _many(count: int, most: int) -> str:
    return f"{min(count, most):,}{'+' if count > most else ''}"
