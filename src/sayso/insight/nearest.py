"""Which cases are like a text, and how much: a number from 0 to 1 that every database agrees on.

The database finds the candidates and ranks them its own way (`bm25`, `ts_rank`). Their
numbers mean nothing outside of it, so the score is worked out here: BM25 of the case divided by
BM25 of the text against itself. 1 means that a case no longer than the text has all of its words; 0,
that it has none. Rare words count more than common ones.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sayso.errors import BadValue
from sayso.insight.bounds import NEAR, check_bound
from sayso.insight.case import Case, case_of, is_case
from sayso.insight.reader import catch_up
from sayso.insight.reading import asks_of
from sayso.insight.words import words_of
from sayso.store.casebook import MOST, CaseFilter, CaseRow
from sayso.store.contract import Store

_SEARCHED = 32  # words that a search is made of: the rarest ones
_CANDIDATES = 50
_K1, _B = 1.2, 0.75  # of BM25, as everywhere


@dataclass(frozen=True, slots=True)
class Scored:
    """A case in the index, and how much it is like the text."""

    row: CaseRow
    score: float


@dataclass(frozen=True, slots=True)
class Sought:
    """A text that is looked for: the words to search by, and how much each word of it counts."""

    searched: Sequence[str]
    weights: Mapping[str, float]

    def likeness(self, words: Collection[str]) -> float:
        """Return how much these different words are like the text."""
        return round(_share(words, self.weights), 4) if self.weights else 0.0


def cases_like(
    store: Store, text: str, wanted: CaseFilter, *, limit: int = 5, least: float = NEAR
) -> list[Case]:
    """Return the cases most like a text, the best first."""
    check(text, limit, least)
    found = scored(store, text, wanted)
    chosen = [one for one in found if one.score >= least][:limit]
    return shown(store, chosen)


def scored(store: Store, text: str, wanted: CaseFilter, *, whole: bool = True) -> list[Scored]:
    """Return the cases that share words with a text, the most alike first, then the newest.

    `whole` also looks at what was said to a case; else only at what it was about.
    """
    wish = sought(store, text)
    found = [Scored(row, _score(row, wish, whole=whole)) for row in candidates(store, wish, wanted)]
    return ranked(found)


def sought(store: Store, text: str) -> Sought:
    """Return a text as it is looked for among the cases there are."""
    catch_up(store)
    words = words_of(text)
    counts = store.word_counts(words)
    known = sorted((word for word in words if counts[word]), key=lambda word: counts[word])
    weights = _weights(words, counts, store.count_cases()) if known else {}
    return Sought(known[:_SEARCHED], weights)


def candidates(store: Store, wish: Sought, wanted: CaseFilter) -> list[CaseRow]:
    """Return the cases that share words with it and that the database takes for the best."""
    return store.near_cases(wish.searched, wanted, _CANDIDATES)


def ranked(found: Iterable[Scored]) -> list[Scored]:
    """Return those that are like the text at all, the most alike first, then the newest."""
    alike = [one for one in found if one.score > 0]
    return sorted(alike, key=lambda one: (one.score, one.row.at, one.row.id), reverse=True)


def shown(store: Store, found: Sequence[Scored]) -> list[Case]:
    """Return what the journal says of these cases; one that was erased meanwhile is gone."""
    asks = {ask.id: ask for ask in asks_of(store, [one.row.id for one in found])}
    scores = [(asks.get(one.row.id), one.score) for one in found]
    return [case_of(ask, score) for ask, score in scores if ask is not None and is_case(ask)]


def latest(store: Store, wanted: CaseFilter, *, limit: int) -> list[Case]:
    """Return cases, the newest first."""
    catch_up(store)
    return shown(store, [Scored(row, 0.0) for row in store.cases(wanted, limit)])


def check(text: object, limit: object, least: object) -> None:
    """Refuse a search that makes no sense.

    Raises:
        BadValue: says which part of it.
    """
    if not isinstance(text, str):
        raise BadValue(f"Cases are searched by a text, not by {type(text).__name__}.")
    if type(limit) is not int or not 1 <= limit <= _CANDIDATES:
        raise BadValue(f"limit={limit!r}: give a number from 1 to {_CANDIDATES}.")
    check_bound(least, "least")


def _weights(words: Sequence[str], counts: Mapping[str, int], total: int) -> dict[str, float]:
    """Return how much each word counts: the more, the fewer cases have it."""
    all_ = min(total, MOST)
    return {word: math.log(1 + (all_ + 1) / (counts[word] + 1)) for word in words}


def _score(row: CaseRow, wish: Sought, *, whole: bool) -> float:
    about = row.about.split()
    best = wish.likeness(about)
    return max(best, wish.likeness({*about, *row.said.split()})) if whole else best


def _share(words: Collection[str], weights: Mapping[str, float]) -> float:
    """Return the share of the text that is in the case; less, if the case is much longer."""
    own = sum(weights.values())
    shared = sum(weights[word] for word in words if word in weights)
    longer = max(1.0, len(words) / len(weights))
    return shared / own * (1 + _K1) / (1 + _K1 * (1 - _B + _B * longer))
