"""Learning from decisions: what people still have to change, by how much of the past is looked at.

A simulated person answers mails on several topics. For each topic they want another style, which nobody
is told: an opening, a form and a closing. The agent proposes an answer to each mail, the person edits it
into their style or approves it, and the words that they strike and write are the cost. All of it goes
through a desk: asks, edits, cases, and the retrieval of `desk.cases`.

    no learning       every answer is plain
    k = 1             the style of the nearest case
    k = 5             what most of the five nearest cases say, for each part of the style
    without context   what most of the last five cases say, whatever they were about

The world, and why it is so:

    TOPICS, VALUES    six topics and five ways to do each part: a style that fits one topic rarely fits
                      another, or there would be nothing to learn from context
    MAIL, OWN, NEXT   of 24 words a third are of the topic, a fifth of the one beside it, the rest are
                      common to all: mails of different topics share more words than not
    MISREAD           one part in five of what a case says is taken for something else, always the same
                      way: whoever draws a rule from an edit, a model or a person, draws wrong ones
    cost              words struck and words written. A wrong style costs more than none, as it does to
                      whoever has to take it out again

    python -m benchmarks.caselaw [--quick]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from statistics import mean

from benchmarks.store import Database, Result, databases
from sayso import Case, Desk
from sayso.insight.nearest import latest
from sayso.store.casebook import CaseFilter

ROUNDS, WORLDS = 150, 3
TOPICS = 6
VOCABULARY, COMMON = 24, 60  # words of each topic, and of all of them
MAIL, OWN, NEXT = 24, 8, 5
MISREAD = 0.2
PARTS = {  # what a style is made of, and how many words each way of doing it has
    "opening": (2, 2, 3, 3, 4),
    "form": (4, 5, 5, 6, 6),
    "closing": (2, 2, 3, 3, 4),
}
VALUES = 5
PLAIN = dict.fromkeys(PARTS, "")
ARMS = ("no learning", "k = 1", "k = 5", "without context")

Style = dict[str, str]


def words(chance: Random, count: int) -> list[str]:
    """Make words up: two or three syllables that no language has."""
    syllables = ["".join(pair) for pair in product("bdfgklmnprtvz", "aeiou")]
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choices(syllables, k=3))] = None
    return list(found)


@dataclass
class World:
    """One person, what they are sent, and how they want it answered."""

    seed: int
    topics: list[list[str]] = field(init=False)
    common: list[str] = field(init=False)
    values: dict[str, list[str]] = field(init=False)
    styles: list[Style] = field(init=False)

    def __post_init__(self) -> None:
        chance = Random(f"world {self.seed}")
        made = iter(words(chance, TOPICS * VOCABULARY + COMMON + 100))
        self.topics = [[next(made) for _ in range(VOCABULARY)] for _ in range(TOPICS)]
        self.common = [next(made) for _ in range(COMMON)]
        self.values = {
            part: [" ".join(next(made) for _ in range(length)) for length in lengths]
            for part, lengths in PARTS.items()
        }
        self.styles = [
            {part: chance.choice(values) for part, values in self.values.items()}
            for _ in range(TOPICS)
        ]

    def mails(self, rounds: int) -> Iterator[tuple[int, str]]:
        """Yield mails and what they are about; the same ones to every arm."""
        chance = Random(f"mails {self.seed}")
        for _ in range(rounds):
            topic = chance.randrange(TOPICS)
            beside = self.topics[(topic + 1) % TOPICS]
            mail = chance.choices(self.topics[topic], k=OWN) + chance.choices(beside, k=NEXT)
            mail += chance.choices(self.common, k=MAIL - len(mail))
            chance.shuffle(mail)
            yield topic, " ".join(mail)

    def read(self, case: Case, number: int) -> Style:
        """Return the style that somebody takes a case for; some of it is misread."""
        style: Style = dict(json.loads(case.about)["style"])
        for edit in case.edits:
            before, _, after = edit.partition(" -> ")
            if before.startswith("style "):
                style = json.loads(after)
        for part, values in self.values.items():
            chance = Random(f"misread {self.seed} {number} {part}")
            if chance.random() < MISREAD:
                style[part] = chance.choice([one for one in values if one != style[part]])
        return style


def cost(proposed: Style, wanted: Style) -> int:
    """Return how many words a person strikes and writes."""
    return sum(
        len(proposed[part].split()) + len(wanted[part].split())
        for part in PARTS
        if proposed[part] != wanted[part]
    )


def mostly(styles: Sequence[Style]) -> Style:
    """Return what most of them say, for each part; of equals the nearest."""
    return {part: Counter(one[part] for one in styles).most_common(1)[0][0] for part in PARTS}


def spent(desk: Desk, world: World, arm: str, rounds: int) -> Iterator[int]:
    """Yield what each answer costs the person."""
    number: dict[str, int] = {}
    for at, (topic, mail) in enumerate(world.mails(rounds)):
        found = [world.read(case, number[case.id]) for case in _known(desk, arm, mail)]
        style, wanted = mostly(found) if found else PLAIN, world.styles[topic]
        ask = desk.open("answer", {"mail": mail, "style": style})
        number[ask.id] = at
        if style == wanted:
            desk.approve(ask)
        else:
            desk.edit(ask, {"style": wanted})
        yield cost(style, wanted)


def _known(desk: Desk, arm: str, mail: str) -> list[Case]:
    match arm:
        case "no learning":
            return []
        case "without context":
            return latest(desk.store, CaseFilter(tool="answer"), limit=5)
        case _:
            limit = int(arm.removeprefix("k = "))
            return desk.cases(mail, tool="answer", limit=limit, least=0)


def results(database: Database, worlds: int, rounds: int) -> Iterator[Result]:
    """Let every arm answer the same mails, and say what that cost."""
    totals: dict[str, list[int]] = {arm: [] for arm in ARMS}
    late: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for seed, arm in product(range(worlds), ARMS):
        with database.desk(f"caselaw{seed}{ARMS.index(arm)}") as desk:
            costs = list(spent(desk, World(seed), arm, rounds))
        totals[arm].append(sum(costs))
        late[arm].append(mean(costs[len(costs) // 2 :]))
    print(f"{database.name:16} {'words changed':>14} {'an answer':>10} {'in the second half':>20}")
    for arm in ARMS:
        whole = mean(totals[arm])
        print(f"{arm:16} {whole:14,.0f} {whole / rounds:10.2f} {mean(late[arm]):20.2f}")
    none, one, five, blind = (sum(totals[arm]) for arm in ARMS)
    yield Result(f"{database.name}: k = 5 by no learning", five / none, "", 0.45)
    yield Result(f"{database.name}: k = 5 by k = 1", five / one, "", 0.75)
    yield Result(
        f"{database.name}: without context by no learning", blind / none, "", 1, "at least"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="one short world, for the tests")
    quick = parser.parse_args().quick
    with databases() as places:
        found = [one for place in places for one in results(place, *_sizes(quick=quick))]
    for result in found:
        print(result)


def _sizes(*, quick: bool) -> tuple[int, int]:
    return (1, 30) if quick else (WORLDS, ROUNDS)


if __name__ == "__main__":
    main()
