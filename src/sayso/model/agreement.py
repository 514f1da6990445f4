"""How far several samples of one answer agree: a second source of confidence.

A model that is asked several times and says the same each time knows something, or is wrong in the
same way each time. So the share that agrees is a stated confidence like any other: people's decisions
say what it is worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sayso.errors import BadValue
from sayso.model.digest import canonical

T = TypeVar("T")
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Agreement(Generic[T]):
    """What most samples say.

    Attributes:
        answer: The most frequent sample; of those that are as frequent, the one that came first.
        confidence: The share of samples that say so, for `confidence=`.
        answers: How many different ones there are.
        of: How many samples there are.
    """

    answer: T
    confidence: float
    answers: int
    of: int


def agreement(samples: Iterable[T]) -> Agreement[T]:
    """Return what most samples say, and how many of them.

    Samples are equal if their canonical JSON is. Texts of a model are rarely the same to the letter,
    so sample what is short or has a form: a number, a choice, the arguments of a call.

    Raises:
        BadValue: there are fewer than two, or one of them cannot be written as JSON.
    """
    given = list(samples)
    if len(given) < _FEWEST:
        raise BadValue(f"agreement() compares two samples or more, not {len(given)}.")
    keys = [canonical(one) for one in given]
    counts = Counter(keys)
    most, times = counts.most_common(1)[0]
    return Agreement(given[keys.index(most)], times / len(given), len(counts), len(given))
