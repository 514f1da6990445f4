"""What the policy costs a call: rulings per second, each extra rule, loading.

    rulings  a policy of 200 rules, of which 20 name the tool of the call, each with a condition
             on its arguments. Also when 4 of them cannot be told, with large arguments, and for
             a tool about whose arguments no rule asks: then the ruling is remembered
    rules    what one more rule costs a ruling: one that names the tool, and one that does not
    loading  reading and checking a file of 200 rules, and the first ruling after it

Machines differ, and one machine differs from minute to minute, so every figure is the median of
several rounds; the sizes of a comparison are interleaved.

    python -m benchmarks.policy [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from benchmarks.store import Result
from sayso.asks.lawbook import default_policy
from sayso.policy.conditions import _all_at_once, _compiled
from sayso.policy.facts import Facts
from sayso.policy.reading import read
from sayso.policy.rules import Policy

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
TOOL = "refund"
CALL = Facts(
    tool=TOOL,
    agent="support",
    args={
        "order": 1182,
        "amount": 40,
        "currency": "EUR",
        "note": "charged twice",
        "to": "a@b.example",
    },
    risk="high",
    confidence=0.9,
    reversible=False,
)
UNTOLD = CALL._replace(args={name: value for name, value in CALL.args.items() if name != "note"})
PLAIN = CALL._replace(tool="look_up")
LARGE = Facts(
    tool=TOOL, args={**CALL.args, "rows": [{"n": n, "name": "x" * 80} for n in range(2_000)]}
)

# As people write them; no two are the same, so that nothing is evaluated for two.
CONDITIONS = (
    "args.amount > {n}",
    'args.currency in ["EUR", "USD"] && args.amount >= {n}',
    'args.note.contains("word {n}")',
    'args.to.endsWith("@shop{n}.example")',
    'agent == "agent {n}" || args.order == {n}',
)


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    rounds: int
    rulings: int


FULL = Sizes(rounds=15, rulings=4_000)
QUICK = Sizes(rounds=2, rulings=50)


def written(ours: int, others: int) -> str:
    """A policy with so many rules that name the tool, and so many that name others."""
    rules = []
    for number in range(ours + others):
        tool = TOOL if number < ours else f"tool_{number}"
        when = CONDITIONS[number % len(CONDITIONS)].format(n=1000 + number)
        rules.append(
            f"[[rules]]\nname = \"rule {number}\"\ntool = \"{tool}\"\nwhen = '''{when}'''\n"
            f'effect = "ask"\nneeds = ["1 senior"]\nwithin = "4h"\n'
        )
    return "\n".join(rules)


def policy(ours: int, others: int) -> Policy:
    return read(written(ours, others), default=default_policy())


def microseconds(made: Policy, call: Facts, count: int) -> float:
    made.ruling(call, NOW)
    start = time.perf_counter()
    for _ in range(count):
        made.ruling(call, NOW)
    return (time.perf_counter() - start) / count * 1e6


def interleaved(rounds: int, *sides: Callable[[], float]) -> list[float]:
    taken = [[side() for side in sides] for _ in range(rounds)]
    return [median(each) for each in zip(*taken, strict=True)]


def measure_rulings(sizes: Sizes) -> Iterator[Result]:
    made = policy(20, 180)
    plain, untold, large, known = interleaved(
        sizes.rounds,
        lambda: microseconds(made, CALL, sizes.rulings),
        lambda: microseconds(made, UNTOLD, sizes.rulings // 5),
        lambda: microseconds(made, LARGE, sizes.rulings // 50),
        lambda: microseconds(made, PLAIN, sizes.rulings),
    )
    print(f"200 rules, 20 of them about the tool: {plain:.0f} microseconds a ruling")
    print(f"  4 that cannot be told: {untold:.0f}; 2,000 rows of arguments: {large:,.0f}")
    print(f"  a tool about whose arguments no rule asks: {known:.1f}")
    yield Result("rulings/s, 200 rules, 20 about the tool", 1e6 / plain, "", 5_000, "at least")
    yield Result("rulings/s, 4 of the 20 cannot be told", 1e6 / untold, "", 1_000, "at least")
    yield Result("rulings/s, no rule about the arguments", 1e6 / known, "", 100_000, "at least")


def measure_rules(sizes: Sizes) -> Iterator[Result]:
    base, ours, others = policy(20, 180), policy(40, 180), policy(20, 1_980)
    few, more_ours, more_others = interleaved(
        sizes.rounds,
        *(
            lambda made=made: microseconds(made, CALL, sizes.rulings)
            for made in (base, ours, others)
        ),
    )
    print(
        f"one more rule: {(more_ours - few) / 20:.2f} microseconds a ruling if it names the tool, "
        f"{(more_others - few) / 1_800:.4f} if it does not"
    )
    yield Result("a ruling, 2,000 rules by 200, 20 about the tool", more_others / few, "", 1.2)


def milliseconds(work: Callable[[], object]) -> float:
    _compiled.cache_clear()
    _all_at_once.cache_clear()
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def measure_loading(sizes: Sizes) -> Iterator[Result]:
    text = written(20, 180)

    def first() -> None:
        read(text, default=default_policy()).ruling(CALL, NOW)

    load, ruled = interleaved(
        sizes.rounds,
        lambda: milliseconds(lambda: read(text, default=default_policy())),
        lambda: milliseconds(first),
    )
    print(f"200 rules: {load:.0f} ms to load, {ruled - load:.1f} ms more to the first ruling")
    yield Result("loading 200 rules", load, "ms", 500)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    sizes = QUICK if parser.parse_args().quick else FULL
    results: list[Result] = []
    for measure in (measure_rulings, measure_rules, measure_loading):
        results += measure(sizes)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
