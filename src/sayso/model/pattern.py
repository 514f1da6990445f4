r"""Regular expressions that somebody else wrote, matched in time that grows with the text alone.

Python's own engine goes back and forth: `(a+)+$` keeps it busy for years, and everybody else in
the process waits. So patterns of schemas run on the engine that Pydantic brings along, which never
goes back. It knows no look-around; a look-ahead at the very beginning, as in Pydantic's own schema
of a `Decimal`, only says that two patterns fit, and is read so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

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


_COUNT = re.compile(r"\{([0-9]+)(?:,([0-9]*))?\}")
_CLASS = re.compile(r"\\[wWdDsSpPbB]|\[\^|\.")


def weight(pattern: str) -> int:
    r"""Return about how many bytes a pattern takes once it is compiled.

    Each copy of a class such as `\w` lists all the letters there are.
    """
    copies = 1
    for least, most in _COUNT.findall(pattern):
        copies *= max(int((most or least)[:9]), 1)
    return min(10_000 + 50_000 * copies * len(_CLASS.findall(pattern)), _HEAVIEST)


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
