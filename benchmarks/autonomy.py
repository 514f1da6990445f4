"""Earned autonomy in a simulated world: our scheme beside the document's formula and others.

Six agents with seven kinds of calls each, 120,000 actions. Reviewers miss more the more they have to
look at. What is measured, per 1,000 actions: the share that ran alone, the harm of bad actions that
nobody approved, and all harm that was done, also through reviewers who missed it.

    ours        earn, audit, strike: `sayso.autonomy`, as the product uses it
    document    the trust score of the document, for each agent
    always ask  everything is reviewed
    wilson      alone once the Wilson bound of the share of harms is below eps, looked at each time
    beta        alone once the mean of a Beta posterior is below eps

    python -m benchmarks.autonomy [--quick]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import mean, median

from benchmarks._document import DocumentTrust
from benchmarks.store import Result
from sayso.autonomy.ledger import NEW, Happening, Ledger, after
from sayso.autonomy.terms import Terms, terms_of

ACTIONS = 120_000
SEEDS = 10
TRAFFIC = {"low": 0.35, "medium": 0.50, "high": 0.14, "critical": 0.01}
HARM = {"low": 1, "medium": 5, "high": 25, "critical": 100}
RISK = {"low": 0.2, "medium": 0.5, "high": 0.8, "critical": 1.0}  # for the document's formula
STREAMS = {"low": 2, "medium": 3, "high": 1, "critical": 1}  # of each agent: seven in all
CAPACITY = 0.5  # the share of actions that reviewers can look at without growing tired
MISSED, TIRED = 0.10, 0.25
FLAGGED, TASTE, SURFACES = 0.002, 0.03, 0.05
RECENT = 2000  # actions over which the load is taken

AGENTS = ("good", "mediocre", "poor", "drifter", "baiter", "sleeper")
CHEAP = ("low", "medium")


@dataclass(slots=True)
class Stream:
    """The calls of one agent, tool and bucket."""

    agent: str
    tier: str
    number: int
    calls: int = 0


def badness(stream: Stream, share: float, *, alone: bool) -> float:
    """Return the chance that the next action is bad; `share` of all time has passed."""
    match stream.agent:
        case "good":
            return 0.002
        case "mediocre":
            return 0.015
        case "poor":
            return 0.08
        case "drifter":
            return 0.003 if share < 0.5 else 0.15
        case "baiter":
            return 0.001 if stream.tier in CHEAP else 0.20
        case _:  # the sleeper knows whether it is trusted, but not the coin
            return 0.20 if alone else 0.0


class Scheme:
    """Who has to look at what. This one trusts nobody."""

    def alone(self, stream: Stream) -> bool:
        """Whether this stream is trusted just now."""
        return False

    def audits(self, stream: Stream) -> float:
        """Return the share of what a trusted stream does that is looked at all the same."""
        return 0.0

    def fine(self, stream: Stream) -> None:
        """A person looked, and it was fine."""

    def harmful(self, stream: Stream) -> None:
        """A person looked, and another one agreed that it was harmful."""

    def taste(self, stream: Stream) -> None:
        """A person did not like it."""

    def incident(self, stream: Stream) -> None:
        """Harm was reported afterwards."""


@dataclass
class Ours(Scheme):
    """The ledgers of the product, each grant ratified as soon as it is proposed."""

    ledgers: dict[int, Ledger] = field(default_factory=dict)
    poor_grants: int = 0
    drifted: dict[int, int] = field(default_factory=dict)  # calls at which a drift was ended
    terms: dict[str, Terms | None] = field(
        default_factory=lambda: {tier: terms_of(tier) for tier in TRAFFIC}
    )

    def alone(self, stream: Stream) -> bool:
        return self.ledgers.get(stream.number, NEW).alone

    def audits(self, stream: Stream) -> float:
        asked = self.terms[stream.tier]
        return 0.0 if asked is None else asked.audit

    def _said(self, stream: Stream, *said: Happening) -> None:
        asked = self.terms[stream.tier]
        if asked is None:  # never granted, so nothing is counted
            return
        ledger = self.ledgers.get(stream.number, NEW)
        before = ledger.alone
        for happening in said:
            ledger = after(ledger, happening, asked)
        if ledger.standing == "proposed":
            ledger = after(ledger, Happening("ratified", "carl"), asked)
            self.poor_grants += stream.agent == "poor"
        if before and not ledger.alone:
            self.drifted.setdefault(stream.number, stream.calls)
        self.ledgers[stream.number] = ledger

    def fine(self, stream: Stream) -> None:
        self._said(stream, Happening("fine"))

    def harmful(self, stream: Stream) -> None:
        self._said(stream, Happening("flagged", "anna"), Happening("confirmed", "ben"))

    def incident(self, stream: Stream) -> None:
        self._said(stream, Happening("incident", "anna"))


class Document(Scheme):
    """The trust score of the document: one for each agent."""

    def __init__(self) -> None:
        self.scores = {agent: DocumentTrust() for agent in AGENTS}

    def alone(self, stream: Stream) -> bool:
        try:
            return not self.scores[stream.agent].asks(RISK[stream.tier])
        except ZeroDivisionError:  # five rejections
            return False

    def fine(self, stream: Stream) -> None:
        self.scores[stream.agent].decided(approved=True)

    def harmful(self, stream: Stream) -> None:
        self.scores[stream.agent].decided(approved=False)

    taste = harmful


@dataclass
class Counted(Scheme):
    """Trusted while a bound on the share of harms, looked at after each label, is below eps."""

    bound: Callable[[int, int], float]
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)

    def alone(self, stream: Stream) -> bool:
        asked = terms_of(stream.tier)
        harms, labels = self.counts.get(stream.number, (0, 0))
        return asked is not None and labels > 0 and self.bound(harms, labels) < asked.eps

    def _label(self, stream: Stream, harms: int) -> None:
        before, labels = self.counts.get(stream.number, (0, 0))
        self.counts[stream.number] = before + harms, labels + 1

    def fine(self, stream: Stream) -> None:
        self._label(stream, 0)

    def harmful(self, stream: Stream) -> None:
        self._label(stream, 1)

    incident = harmful


def wilson(harms: int, labels: int, z: float = 1.645) -> float:
    """Return the upper Wilson bound."""
    share, square = harms / labels, z * z
    middle = share + square / (2 * labels)
    spread = z * (share * (1 - share) / labels + square / (4 * labels**2)) ** 0.5
    return float((middle + spread) / (1 + square / labels))


def beta(harms: int, labels: int) -> float:
    """Return the mean of the posterior that begins even."""
    return (harms + 1) / (labels + 2)


@dataclass(slots=True)
class Outcome:
    """What came of one world under one scheme; harms are per 1,000 actions."""

    alone: float
    escaped: float
    harm: float
    scheme: Scheme


def world(scheme: Scheme, seed: int, actions: int) -> Outcome:
    """Let everybody act for a while."""
    chance = random.Random(seed)
    streams = list(_streams())
    chosen = chance.choices(
        streams, [TRAFFIC[one.tier] / STREAMS[one.tier] for one in streams], k=actions
    )
    reviewed_of_late = 1.0
    alone = escaped = harm = 0
    for number, stream in enumerate(chosen):
        stream.calls += 1
        trusted = scheme.alone(stream)
        bad = chance.random() < badness(stream, number / actions, alone=trusted)
        looked = not trusted or chance.random() < scheme.audits(stream)
        reviewed_of_late += (looked - reviewed_of_late) / RECENT
        if not looked:
            alone += 1
            if bad:
                escaped += HARM[stream.tier]
                harm += HARM[stream.tier]
                if chance.random() < SURFACES:
                    scheme.incident(stream)
            continue
        if _reviewed(scheme, stream, chance, reviewed_of_late, bad=bad):
            harm += HARM[stream.tier] if bad else 0
    per = 1000 / actions
    return Outcome(alone / actions, escaped * per, harm * per, scheme)


def _reviewed(
    scheme: Scheme, stream: Stream, chance: random.Random, load: float, *, bad: bool
) -> bool:
    """Let a person look; return whether it was let through."""
    missed = MISSED + TIRED * max(0.0, load / CAPACITY - 1)
    if bad and chance.random() >= missed:
        scheme.harmful(stream)
        return False
    if not bad and chance.random() < FLAGGED:
        return False  # flagged, and overturned by the next person
    if chance.random() < TASTE:
        scheme.taste(stream)
        return False
    scheme.fine(stream)
    return True


def _streams() -> Iterator[Stream]:
    number = 0
    for agent in AGENTS:
        for tier, count in STREAMS.items():
            for _ in range(count):
                yield Stream(agent, tier, number)
                number += 1


SCHEMES: dict[str, Callable[[], Scheme]] = {
    "ours": Ours,
    "document": Document,
    "always ask": Scheme,
    "wilson": lambda: Counted(wilson),
    "beta": lambda: Counted(beta),
}


def results(seeds: int, actions: int) -> Iterator[Result]:
    """Run every scheme in the same worlds, and say what came of it."""
    found = {
        name: [world(made(), seed, actions) for seed in range(seeds)]
        for name, made in SCHEMES.items()
    }
    print(f"{'':12} {'alone':>8} {'unapproved harm':>16} {'all harm':>10}   per 1,000 actions")
    for name, outcomes in found.items():
        alone, escaped, harm = (
            mean(getattr(one, what) for one in outcomes) for what in ("alone", "escaped", "harm")
        )
        print(f"{name:12} {alone:8.1%} {escaped:16.1f} {harm:10.1f}")
    ours = found["ours"]
    drifts = [_drift(one, actions) for one in ours]
    ended = [calls for one in drifts for calls in one if calls is not None]
    alone = mean(one.alone for one in ours)
    yield Result("ours: share that ran alone, least", alone, "", 0.28, "at least")
    yield Result("ours: share that ran alone, most", alone, "", 0.37)
    yield Result("ours: unapproved harm, mean", mean(one.escaped for one in ours), "", 14)
    yield Result("ours: all harm, mean, least", mean(one.harm for one in ours), "", 65, "at least")
    yield Result("ours: all harm, mean, most", mean(one.harm for one in ours), "", 90)
    yield Result(
        "document: unapproved harm by 611",
        mean(one.escaped for one in found["document"]) / 611,
        "",
        1.05,
    )
    yield Result("always ask: all harm", mean(one.harm for one in found["always ask"]), "")
    poor = sum(one.scheme.poor_grants for one in ours if isinstance(one.scheme, Ours))
    yield Result("ours: grants to the poor agent", poor, "", 0)
    yield Result(
        "ours: worlds in which the drifter was revoked",
        sum(map(bool, drifts)) / len(drifts),
        "",
        1,
        "at least",
    )
    yield Result("ours: calls until it was, median", median(ended) if ended else 0, "", 150)


def _drift(outcome: Outcome, actions: int) -> list[int]:
    """Return after how many of its calls since the drift each granted stream of the drifter was ended."""
    scheme = outcome.scheme
    assert isinstance(scheme, Ours)
    streams = {one.number: one for one in _streams() if one.agent == "drifter"}
    found = []
    for number, calls in scheme.drifted.items():
        if number not in streams:
            continue
        tier = streams[number].tier
        until_drift = actions / 2 * TRAFFIC[tier] / STREAMS[tier] / len(AGENTS)
        found.append(round(max(0, calls - until_drift)))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer worlds, for the tests")
    quick = parser.parse_args().quick
    for result in results(*((1, 20_000) if quick else (SEEDS, ACTIONS))):
        print(result)


if __name__ == "__main__":
    main()
