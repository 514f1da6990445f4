r"""Regular expressions that somebody else wrote, matched in time that grows with the text alone.

Python's own engine goes back and forth: `(a+)+$` keeps it busy for years, and everybody else in
the process waits. So patterns of schemas run on the engine that Pydantic brings along, which never
goes back. It knows no look-around; a look-ahead at the very beginning, as in Pydantic's own schema
of a `Decimal`, only says that two patterns fit, and is read so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from math import prod

from sayso.errors import BadValue
from sayso.model.kept import Kept
from sayso.model.text import one_line

LONGEST = 1000  # characters of a pattern
_HEAVIEST = 12 * 1024 * 1024  # bytes; the engine itself takes no heavier one
ROOM = 32 * 1024 * 1024  # bytes that all compiled patterns may take together, as we reckon
_AHEAD = ("(?=", "(?!")


def fits(pattern: str, text: str) -> bool:
    """Say whether a pattern is found in a text."""
    found = _linear(pattern)
    # Not checked, so not from elsewhere: it came with a type of this program.
    return bool(re.search(pattern, text)) if found is None else found(text)


def check_patterns(patterns: Collection[str]) -> None:
    """Refuse the patterns of a schema that could keep whoever applies them busy.

    Raises:
        BadValue: as `check_pattern`, or together they take too much room once they are compiled.
    """
    if sum(map(weight, patterns)) > ROOM:
        raise BadValue(
            "The patterns of the schema are too large together. Use fewer of them, or smaller "
            r"counts: [0-9]{1,100} takes less than \d{1,100}."
        )
    for pattern in patterns:
        check_pattern(pattern)


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that could keep whoever applies it busy.

    Raises:
        BadValue: it is too long, or not one that can be matched without going back.
    """
    if len(pattern) > LONGEST:
        raise BadValue(f"A pattern has at most {LONGEST:,} characters.")
    if _linear(pattern) is None:
        raise BadValue(
            f"The pattern {one_line(pattern, 80)!r} cannot be used: write it without look-behind, "
            "references to groups and large counts; a look-ahead may stand at its beginning."
        )


# What a pattern is made of: an escape, a class, a count, a letter.
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{([0-9]+)(?:,([0-9]*))?\}|.", re.DOTALL)
_CLASS = re.compile(r"\\[wWdDsSpPbB]|\[\^|\.")
_SPACED = re.compile(r"\(\?[a-zA-Z]*x")  # a pattern in which blanks and comments count for nothing
_PLACE, _LETTERS = 300, 50_000  # bytes of one letter, and of a class with all the letters there are
_AT_ONCE = 500  # places held against a character in the time that one step of a check takes


@lru_cache(maxsize=1024)
def weight(pattern: str) -> int:
    r"""Return about how many bytes a pattern takes once it is compiled.

    Each copy of a class such as `\w` lists all the letters there are.
    """
    parts = _written_out(pattern, lambda part: _LETTERS if _CLASS.search(part) else _PLACE)
    return min(10_000 + parts, _HEAVIEST)


def effort(pattern: str, text: str) -> int:
    """Return how many steps of a check it takes at most to look for a pattern in a text.

    The engine goes through a text once, but may stand in all places of the pattern at a time.
    """
    return 1 + _places(pattern) * len(text) // _AT_ONCE


@lru_cache(maxsize=1024)
def _places(pattern: str) -> int:
    return _written_out(pattern, lambda _: 1)


def _written_out(pattern: str, size: Callable[[str], int]) -> int:
    """Return the size of all parts of a pattern, each as often as the counts around it say."""
    groups, last = [0], 0
    for part in _PART.finditer(pattern):
        least, most = part.groups()
        if part[0] == "(":
            groups.append(0)
        elif part[0] == ")" and len(groups) > 1:
            last = groups.pop()
            groups[-1] += last
        elif least is not None:
            times = _times(least, most)
            groups[-1] += last * (times - 1)
            last *= times
        elif part[0] not in "*+?":
            last = size(part[0])
            groups[-1] += last
    if _SPACED.search(pattern):  # a comment may hold a bracket: reckon with the worst
        counts = (_times(*part.groups()) for part in _PART.finditer(pattern) if part[1])
        return sum(groups) * prod(counts)
    return sum(groups)


def _times(least: str, most: str | None) -> int:
    return max(int((most or least)[:9]), 1)


def _compiled(pattern: str) -> Callable[[str], bool] | None:
    """Return what finds a pattern without going back; `None` if nothing can."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    wanted = _pieces(pattern)
    try:
        found = [
            (yes, SchemaValidator(core_schema.str_schema(pattern=piece, strict=True)))
            for yes, piece in wanted
        ]
    except SchemaError:
        return None
    return lambda text: all(piece.isinstance_python(text) is yes for yes, piece in found)


_linear = Kept(_compiled, most=256, room=ROOM, size=weight)


def _pieces(pattern: str) -> list[tuple[bool, str]]:
    """Take the look-aheads at the beginning apart: what must fit, and what must not."""
    pieces: list[tuple[bool, str]] = []
    rest = pattern.removeprefix("^")
    while pattern.startswith("^") and rest.startswith(_AHEAD):
        end = _closing(rest)
        if end is None or rest[end + 1 : end + 2] in {*"*+?{"}:
            return [(True, pattern)]
        pieces.append((rest[2] == "=", f"^(?:{rest[3:end]})"))
        rest = rest[end + 1 :]
    # With a choice at the top, the look-ahead would belong to its first half only.
    if not pieces or _closing(rest, "|") is not None:
        return [(True, pattern)]
    return [*pieces, (True, f"^{rest}")]


def _closing(text: str, mark: str = ")") -> int | None:
    """Return where the first group ends, or where a mark stands outside of all groups."""
    depth, in_class, at = 0, False, 0
    while at < len(text):
        letter = text[at]
        if letter == "\\":
            at += 1
        elif in_class:
            in_class = letter != "]"
        elif letter == "[":
            in_class = True
            at += len(re.match(r"\^?\]?", text[at + 1 :])[0])  # type: ignore[index]
        else:
            depth += (letter == "(") - (letter == ")")
            if letter == mark and depth == 0:
                return at
        at += 1
    return None
