"""How far a grant reaches: the arguments that people saw, and the range of each number among them.

A fold over approved calls, whatever tells of them: the lines of a book, or decisions. Of a call it
takes the names of its arguments with their kinds, and the numbers. Texts may be any text.

One odd call stretches nothing: an end of a range counts once `SUPPORT` calls came as far, and as many
people and days stand behind these as the tier wants. A name counts by the same measure, and so does
a call without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from sayso.model.digest import quoted
from sayso.model.stake import MOST_DAYS, MOST_PEOPLE, Least
from sayso.model.text import one_line

MARGIN = 0.1  # of the span of what people approved: so far beyond it a number may lie
SUPPORT = 3  # calls that must have come as far before an end of a range counts
DEPTH = 8  # levels of lists and objects that are compared
MOST_NAMES = 100  # of arguments in one call that are compared
MOST_KNOWN = 300  # of arguments in all calls of a key that are remembered
_ALL = 8_000  # characters of the names in one call
DAY = 24 * 60 * 60 * 1_000_000  # microseconds
_TOLD = 5  # ranges or names that a sentence lists

Number: TypeAlias = int | float
Saw: TypeAlias = Mapping[str, Any]
"""The arguments of one call: a number, the least and the greatest of several, or `None` for a name
alone. The kind of what is no number stands in the name: `reason: text`."""

_KINDS: Mapping[object, str] = {str: "text", type(None): "null", dict: "object"}


class _Beyond(Exception):
    """A call has more arguments than are compared, or they nest too deep."""


def saw(args: Mapping[str, Any], matters: Iterable[str] | None = None) -> Saw | None:
    """Return what people see of a call's arguments; `None` if it is more than can be compared.

    Args:
        args: The arguments, as JSON has them.
        matters: The arguments whose numbers count, if the tool says which; all of them unless given.
    """
    found: dict[str, Any] = {}
    try:
        for name, value in args.items():
            path = name if name.isidentifier() else f"[{quoted(name)}]"
            counts = matters is None or name in matters
            if type(value) is int and counts and path not in found:
                found[path] = value
            else:
                _look(found, path, value, DEPTH, counts=counts)
    except _Beyond:
        return None
    return None if len(found) > MOST_NAMES or len("".join(found)) > _ALL else found


def _look(found: dict[str, Any], path: str, value: object, depth: int, *, counts: bool) -> None:
    if depth == 0 or len(found) > MOST_NAMES:
        raise _Beyond
    if isinstance(value, bool):
        found[f"{path}: {'true' if value else 'false'}"] = None
    elif isinstance(value, int | float):
        _number(found, path, value, counts=counts)
    elif isinstance(value, list):
        _number(found, f"number of {path}", len(value), counts=counts)
        for item in value:
            _look(found, f"{path}[]", item, depth - 1, counts=counts)
    else:
        found[f"{path}: {_KINDS.get(type(value), 'strange')}"] = None
        if isinstance(value, dict):
            for name, inner in value.items():
                step = f".{name}" if name.isidentifier() else f"[{quoted(name)}]"
                _look(found, path + step, inner, depth - 1, counts=counts)


def _number(found: dict[str, Any], path: str, value: Number, *, counts: bool) -> None:
    if value != value or value in (float("inf"), float("-inf")):
        raise _Beyond
    if not counts:
        found[f"{path}: number"] = None
        return
    known = found.get(path)
    if known is None:
        found[path] = value
        return
    low, high = ends_of(known)
    found[path] = [min(low, value), max(high, value)]


def ends_of(number: Any) -> tuple[Number, Number]:  # noqa: ANN401 - JSON
    """Return the least and the greatest of what one call had in one place."""
    return (number[0], number[1]) if isinstance(number, list | tuple) else (number, number)


# --- marks: how far calls came, and who stands behind that ---------------------------------------


class Mark(NamedTuple):
    """How far one call came, who approved it, and when, in microseconds."""

    value: Number
    by: frozenset[str]
    at: int


Marks: TypeAlias = tuple[Mark, ...]


def marked(marks: Marks, new: Mark, *, up: bool = True) -> Marks:
    """Return marks with one more, the farthest first; only those that an end can depend on are kept."""
    ordered: Marks = ()
    placed = False
    for mark in marks:
        if not placed and (new.value > mark.value if up else new.value < mark.value):
            ordered += (new,)
            placed = True
        ordered += (mark,)
    if not placed:
        ordered += (new,)
    kept: Marks = ()
    people: frozenset[str] = frozenset()
    first = last = ordered[0].at
    days = known = 0
    for number, mark in enumerate(ordered, 1):
        earliest = mark.at if mark.at < first else first  # noqa: FURB136 - every good word comes by
        latest = mark.at if mark.at > last else last  # noqa: FURB136
        spread = (latest - earliest) // DAY
        fresh = known < MOST_PEOPLE and not mark.by <= people
        if number <= SUPPORT or fresh or (days < spread and days < MOST_DAYS):
            kept += (mark,)
            first, last, days = earliest, latest, spread
            if fresh:
                people |= mark.by
                known += 1
    return kept


def end_of(marks: Marks, least: Least) -> Number | None:
    """Return how far enough calls came, by enough people, on enough days; `None` if not enough did."""
    people: frozenset[str] = frozenset()
    first = last = marks[0].at if marks else 0
    for number, mark in enumerate(marks, 1):
        people |= mark.by
        first, last = min(first, mark.at), max(last, mark.at)
        if number >= SUPPORT and len(people) >= least.people and last - first >= least.days * DAY:
            return mark.value
    return None


# --- the fold ----------------------------------------------------------------------------------


class Known(NamedTuple):
    """What is known of one argument: how far it went, and the calls without it."""

    low: Marks
    high: Marks
    without: Marks


class Reach(NamedTuple):
    """What people saw in all calls of a key that they approved.

    Attributes:
        calls: The approved calls, by who and when.
        known: Their arguments by name.
    """

    calls: Marks = ()
    known: Mapping[str, Known] = {}

    def grown(self, seen: Saw, by: Iterable[str], at: int) -> Reach:
        """Return it after one more approved call.

        Args:
            seen: Its arguments, as `saw` returns them.
            by: Who approved it.
            at: When, in microseconds.
        """
        mark = Mark(0, frozenset(by), at)
        known = {**self.known}
        for name, value in seen.items():
            before = known.get(name)
            if before is None:
                if len(known) >= MOST_KNOWN:
                    continue
                before = Known((), (), self.calls)
            if value is None:
                known[name] = before._replace(high=marked(before.high, mark))
            elif type(value) is int or type(value) is float:
                one = Mark(value, mark.by, at)
                low, high = marked(before.low, one, up=False), marked(before.high, one)
                known[name] = Known(low, high, before.without)
            else:
                least, most = ends_of(value)
                known[name] = Known(
                    marked(before.low, mark._replace(value=least), up=False),
                    marked(before.high, mark._replace(value=most)),
                    before.without,
                )
        for name, one_known in self.known.items():
            if name not in seen:
                known[name] = one_known._replace(without=marked(one_known.without, mark))
        return Reach(marked(self.calls, mark), known)

    def enough(self, least: Least) -> bool:
        """Whether enough people approved such calls, on enough days."""
        return end_of(self.calls, least) is not None

    @property
    def people(self) -> int:
        """How many people approved such calls, as far as is remembered."""
        return len(frozenset().union(*(mark.by for mark in self.calls)))

    @property
    def days(self) -> int:
        """How many days lie between the first and the last such call, as far as is remembered."""
        times = [mark.at for mark in self.calls]
        return (max(times) - min(times)) // DAY if times else 0

    def numbers(self, least: Least) -> dict[str, tuple[Number, Number]]:
        """Return the range of each number that enough calls had."""
        found = {}
        for name, known in sorted(self.known.items()):
            if known.low:
                low, high = end_of(known.low, least), end_of(known.high, least)
                if low is not None and high is not None and low <= high:
                    found[name] = (low, high)
        return found

    def names(self, least: Least) -> list[str]:
        """Return the other arguments that enough calls had."""
        others = ((name, known) for name, known in self.known.items() if not known.low)
        return sorted(name for name, known in others if end_of(known.high, least) is not None)

    def beyond(self, seen: Saw | None, least: Least) -> str | None:
        """Say why a call lies beyond what people approved; `None` if it does not.

        Args:
            seen: Its arguments, as `saw` returns them.
            least: How many days and people an end of a range takes.
        """
        if seen is None:
            return "It has more arguments than sayso compares with approved calls."
        if not self.calls:
            return "No approved call says which arguments people saw."
        return next(self._reasons(seen, least), None)

    def _reasons(self, seen: Saw, least: Least) -> Iterator[str]:
        for name, value in seen.items():
            known = self.known.get(name)
            if known is None or end_of(known.high, least) is None:
                yield self._unseen(name, value)
            elif value is not None:
                yield from self._outside(name, known, value, least)
        for name, known in self.known.items():
            if name not in seen and end_of(known.without, least) is None:
                yield f"Too few approved calls were without {_shown(name)}."

    def _unseen(self, name: str, value: object) -> str:
        shown = _shown(name) if value is None else f"{_shown(name)} with a number"
        return f"Too few approved calls had {shown}."

    def _outside(self, name: str, known: Known, value: object, least: Least) -> Iterator[str]:
        low, high = end_of(known.low, least), end_of(known.high, least)
        if low is None or high is None or low > high:
            yield f"Too few approved calls had {_shown(name)} with such a number."
            return
        for number in ends_of(value):
            if not within(number, low, high):
                yield (
                    f"{_shown(name)}: {told(number)} is outside what people approved: "
                    f"{range_told(low, high)}."
                )


def within(number: Number, low: Number, high: Number) -> bool:
    """Whether a number lies in a range widened by the margin, but never beyond its signs."""
    if low <= number <= high:
        return True
    if not _sign(low) <= _sign(number) <= _sign(high):
        return False
    most, least = Fraction(high), Fraction(low)  # exact, however large
    margin = (most - least) * Fraction(str(MARGIN))
    return least - margin <= Fraction(number) <= most + margin


def _sign(number: Number) -> int:
    return (number > 0) - (number < 0)


# --- in words ----------------------------------------------------------------------------------


def told(number: Number) -> str:
    """Write a number as people read it."""
    return one_line(f"{number:,}", 30)


def range_told(low: Number, high: Number) -> str:
    """Write a range as people read it."""
    return told(low) if low == high else f"{told(low)} to {told(high)}"


def reach_told(reach: Reach, least: Least) -> str:
    """Say how far a grant reaches: each number with its range, and the other arguments."""
    numbers = [f"{_shown(name)} {range_told(*ends)}" for name, ends in reach.numbers(least).items()]
    said = [*numbers, *map(_shown, reach.names(least))]
    if not said:
        return "nothing yet"
    more = f"; {len(said) - _TOLD} more" if len(said) > _TOLD else ""
    return "; ".join(said[:_TOLD]) + more


def _shown(name: str) -> str:
    return one_line(name, 80)
