"""How the fleet stands, in the text format of Prometheus (0.0.4).

No name of an agent or a person is a label, and no text of theirs.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from typing import NamedTuple, get_args

from sayso.autonomy.ledger import Standing as Ledgered
from sayso.autonomy.terms import EARNED
from sayso.insight.exposure import Trusted, trusted_by
from sayso.insight.facts import ABOUT_KEYS
from sayso.insight.figures import BY_PEOPLE, REVIEWED, Counted
from sayso.insight.metrics import counted_ever
from sayso.model.ruled import word_at
from sayso.model.text import visible
from sayso.model.verdicts import Kind
from sayso.runs.fleet import Standing, look
from sayso.store.contract import INFORMATION, Store

TIERS = ("critical", "high", "medium", "low")
_KEPT = 1.0  # seconds for which one look serves everybody
_REST = 20  # and so many times as long as it took: it never takes more than a twentieth of a thread
_COUNTED = 5000  # events that are counted for one look; the sweep counts all the time
_WORKFLOWS = 20  # labels; what is beyond them is counted under an empty name

Labels = tuple[tuple[str, str], ...]


class Metric(NamedTuple):
    """One thing that is measured, with its values by label."""

    name: str
    kind: str
    tells: str
    values: Mapping[Labels, float]


class Gauge:
    """The last look at a fleet, kept for a while: whoever scrapes cannot hurt the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = ""
        self._until = 0.0

    def read(self, store: Store, detection: float) -> str:
        """Return what was seen just now; `detection` is the share of bad calls reviewers notice."""
        with self._lock:  # whoever comes meanwhile waits for the same look
            begun = time.monotonic()
            if begun < self._until:
                return self._text
            at, written = look(store), store.written()
            counted = counted_ever(store, most=_COUNTED)
            keys = trusted_by(store, "tier", detection=detection)
            took = time.monotonic() - begun
            self._text = exposed((*measured(at, written, took), *decided(counted), *granted(keys)))
            self._until = time.monotonic() + max(_KEPT, _REST * took)
            return self._text


def measured(at: Standing, written: int, took: float) -> Iterator[Metric]:
    """Yield what is measured."""
    yield Metric(
        "sayso_build_info", "gauge", "The version that answers.", _one(version=version("sayso"))
    )
    opened: Counter[Labels] = Counter(
        {(("kind", kind), ("tier", tier)): 0 for kind in get_args(Kind) for tier in TIERS}
    )
    for asks in at.asks:
        tier = asks.tier or word_at(asks.rank % INFORMATION)
        opened[("kind", asks.kind), ("tier", tier)] += asks.count
    oldest = max(((at.now - asks.since).total_seconds() for asks in at.asks), default=0.0)
    doubts = sum(asks.count for asks in at.asks if asks.kind == "doubt")
    yield Metric("sayso_asks_open", "gauge", "Asks that wait for people.", opened)
    yield _plain("sayso_asks_open_oldest_seconds", "Age of the oldest open ask.", oldest)
    yield _plain(
        "sayso_effects_in_doubt", "Calls of which nobody knows whether they happened.", doubts
    )
    yield _by("sayso_runs", "Runs that are not over.", "status", at.runs)
    ready = max(((at.now - each.since).total_seconds() for each in at.backlog), default=0.0)
    yield _plain(
        "sayso_runs_ready_oldest_seconds", "How long a run has waited for a worker.", ready
    )
    yield _by(
        "sayso_runs_unserved",
        "Runs that wait for a worker, and none alive serves them.",
        "workflow",
        _named(at),
    )
    lag = at.lag.total_seconds() if at.lag is not None else 0.0
    yield _plain(
        "sayso_claim_lag_seconds", "Ready to claimed, the longest of the last minute.", lag
    )
    yield from _workers(at)
    deliveries = at.deliveries
    yield _by(
        "sayso_webhook_deliveries", "Messages that wait, or were given up.", "status", deliveries
    )
    if at.wakeups is not None:
        jobs = {"todo": 0, "doing": 0, "stuck": 0, **at.wakeups}
        yield _by("sayso_wakeups", "Jobs of Procrastinate, at most 10,000.", "status", jobs)
    events: dict[Labels, float] = {(): float(written)}
    yield Metric("sayso_journal_events_total", "counter", "Lines of the journal, about.", events)
    yield _plain("sayso_look_seconds", "How long it took to find all this out.", took)


def decided(counted: Counted) -> Iterator[Metric]:
    """Yield what was counted since the desk began."""
    kinds = (*get_args(Kind), ABOUT_KEYS)
    asked = {kind: counted.n("asked", of=[kind]) for kind in kinds}
    yield _count("sayso_asks_total", "Asks that were put to people.", "kind", asked)
    verdicts = {what: counted.n(what, of=REVIEWED) for what in sorted(BY_PEOPLE)}
    yield _count("sayso_decisions_total", "Proposals that people decided.", "verdict", verdicts)
    took = sum(one.micros for one in counted.rows(*BY_PEOPLE, of=REVIEWED)) / 1e6
    yield _ever("sayso_decision_seconds_total", "From these asks to their decisions.", took)
    looked = sum(one.micros for one in counted.rows("minded", "bounded")) / 1e6
    yield _ever("sayso_people_seconds_total", "That people looked at asks, at most.", looked)
    yield _ever("sayso_asks_expired_total", "Asks that nobody decided.", counted.n("expired"))
    granted, _ = counted.exactly("alone:granted")
    alone = {"policy": counted.n("alone") - granted, "grant": granted}
    yield _count("sayso_calls_alone_total", "Calls that asked nobody.", "by", alone)
    found = {what: counted.exactly(f"audited:{what}")[0] for what in ("fine", "bad")}
    yield _count("sayso_audits_total", "Calls under grants that people saw.", "found", found)
    yield _ever("sayso_incidents_total", "Harm that was reported.", counted.n("incident"))


def granted(tiers: Mapping[str, Trusted]) -> Iterator[Metric]:
    """Yield how keys stand, and what those that run alone may still let through."""
    keys: Counter[str] = Counter(dict.fromkeys(get_args(Ledgered), 0))
    for one in tiers.values():
        keys.update(one.keys)
    yield _by("sayso_keys", "Keys of agents, by how they stand.", "standing", keys)
    left = {tier: tiers[tier].exposure_left if tier in tiers else 0.0 for tier in EARNED}
    tells = "Bad calls that grants may be expected to let through from now on, at most."
    yield _by("sayso_exposure_left", tells, "tier", left)


def _ever(name: str, tells: str, value: float) -> Metric:
    return Metric(name, "counter", tells, {(): float(value)})


def _count(name: str, tells: str, label: str, values: Mapping[str, float]) -> Metric:
    return _by(name, tells, label, values)._replace(kind="counter")


def _named(at: Standing) -> dict[str, float]:
    found: Counter[str] = Counter()
    for number, each in enumerate(at.unserved):
        found[each.workflow if number < _WORKFLOWS else ""] += each.count
    return dict(found)


def _workers(at: Standing) -> Iterator[Metric]:
    alive: Counter[Labels] = Counter(
        (("engine", each.engine), ("version", each.version or "unknown")) for each in at.workers
    )
    yield Metric("sayso_workers", "gauge", "Processes that carry runs on.", alive)
    threads = sum(each.threads for each in at.workers)
    busy = sum(each.busy for each in at.workers)
    yield _plain("sayso_worker_threads", "Runs that could be carried on at once.", threads)
    yield _plain("sayso_worker_threads_busy", "Of these, in use.", busy)


def _one(**labels: str) -> dict[Labels, float]:
    return {tuple(labels.items()): 1.0}


def _plain(name: str, tells: str, value: float) -> Metric:
    return Metric(name, "gauge", tells, {(): max(value, 0.0)})


def _by(name: str, tells: str, label: str, values: Mapping[str, float]) -> Metric:
    return Metric(name, "gauge", tells, {((label, each),): count for each, count in values.items()})


def exposed(measures: Iterable[Metric]) -> str:
    """Write metrics as Prometheus reads them."""
    lines: list[str] = []
    for metric in measures:
        lines += [f"# HELP {metric.name} {metric.tells}", f"# TYPE {metric.name} {metric.kind}"]
        for labels, value in metric.values.items():
            lines.append(f"{metric.name}{_labelled(labels)} {value:.16g}")
    return "\n".join((*lines, ""))


def _labelled(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return visible(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
