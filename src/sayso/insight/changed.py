"""How much of a proposal an edit changed, from 0 to 1.

Each argument counts alike. Of an argument, what counts is the share of words, on both sides together,
that the other side does not have at the same place of its lists and objects; within one text the order
of words is not looked at. So it costs what reading both takes, whatever an agent wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

_Word = tuple[tuple[str, ...], str]


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    """Return the share of the arguments that differs; 0 if there are none."""
    names = {*before, *after}
    if not names:
        return 0.0
    return sum(_differing(name, before, after) for name in names) / len(names)


def _differing(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    if (name in before) != (name in after):
        return 1.0
    was, now = before[name], after[name]
    if was == now:
        return 0.0
    one, other = Counter(_words(was)), Counter(_words(now))
    both = one.total() + other.total()
    # Values that differ in spaces alone have the same words.
    return (both - 2 * (one & other).total()) / both if both else 0.0


def _words(value: object, place: tuple[str, ...] = ()) -> Iterator[_Word]:
    match value:
        case str():
            for word in value.split() or ("",):
                yield place, word
        case dict():
            for name, item in value.items():
                yield from _words(item, (*place, name))
        case list() | tuple():
            for number, item in enumerate(value):
                yield from _words(item, (*place, str(number)))
        case _:
            yield place, repr(value)
