"""A condition in plain words: exactly what it says, or nothing.

Every part has one phrase, and a phrase stands for one part, so that a sentence can be read back. What
has no phrase here is left as it was written: a rule that is half understood is worse than code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from sayso.model.text import one_line
from sayso.policy.complaints import VARIABLES
from sayso.policy.conditions import Condition
from sayso.policy.parts import Call, Literal, Member, Name, Part, Several, UnknownPart, parts_of

_LONGEST = 400  # characters of a condition: nobody reads more than that as one sentence
_LONGEST_TEXT = 100

_PLAIN_NAME = re.compile(r"[A-Za-z]\w{2,}", re.ASCII)
_OUR_WORDS = {*VARIABLES, "and", "not", "the", "its", "one", "all", "some", "nothing", "something",
              "whom", "your", "true", "false", "null"}  # fmt: skip

_FACTS = {
    "tool": "the tool",
    "agent": "the agent",
    "kind": "the kind of ask",
    "risk": "the declared risk",
    "affects": "whom it affects",
    "confidence": "the confidence",
}
# Of each what is said where it is true, and where it is not.
_YES_OR_NO = {
    "conflict": (
        "the agent names information that contradicts itself",
        "the agent names no information that contradicts itself",
    ),
    "unseen": (
        "nothing like it was approved before",
        "something like it was approved before",
    ),
    "unreadable": (
        "some of its arguments cannot be read by anybody",
        "all of its arguments can be read",
    ),
    "has_risk_": ("a risk is declared", "no risk is declared"),
    "has_confidence_": ("a confidence is stated", "no confidence is stated"),
    "has_reversible_": (
        "it is stated whether it can be undone",
        "it is not stated whether it can be undone",
    ),
    "has_affects_": ("it is stated whom it affects", "it is not stated whom it affects"),
}
# What is not stated is neither, so that "not stated to be" is more than the opposite.
_UNDONE = {
    (True, True): "it is stated that it can be undone",
    (True, False): "it is not stated that it can be undone",
    (False, True): "it is stated that it cannot be undone",
    (False, False): "it is not stated that it cannot be undone",
}
_ORDER = {"_<_": "less than", "_<=_": "at most", "_>_": "more than", "_>=_": "at least"}
_TURNED = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_", "_!=_": "_!=_"}  # fmt: skip
_OF_TEXTS = {
    "startsWith": ("starts with", "does not start with"),
    "endsWith": ("ends with", "does not end with"),
    "contains": ("contains", "does not contain"),
    "matches": ("matches the pattern", "does not match the pattern"),
}
_OF_VALUES = {
    "size": "the length of {}",
    "lowerAscii": "{} in small letters",
    "int": "{} as a whole number",
    "double": "{} as a number",
}
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


class _UnsaidError(Exception):
    """There are no words for a part."""


@lru_cache(maxsize=4096)
def in_words(condition: Condition, *, alone: bool = True) -> str | None:
    """Say when a condition is true; `None` if there are no words for all of it.

    Unless it stands alone, another one follows it with an "and".
    """
    if len(condition.text) > _LONGEST:
        return None
    try:
        return _said(parts_of(condition.compiled), yes=True, inside="" if alone else "and")
    except (UnknownPart, _UnsaidError):
        return None


# --- what is true or not ---


def _said(part: Part, *, yes: bool, inside: str) -> str:
    """Say that a part is true, or that it is not; `inside` joins what stands around it."""
    match part:
        case Call("!_", (other,)):
            return _said(other, yes=not yes, inside=inside)
        case Call("_&&_" | "_||_" as name, given):
            word = "and" if (name == "_&&_") is yes else "or"
            return _joined(word, given, yes=yes, inside=inside)
        case Call(name, (Literal() as left, right)) if name in _TURNED:
            return _compared(_TURNED[name], right, left, yes=yes, inside=inside)
        case Call(name, (left, right)) if name in _TURNED:
            return _compared(name, left, right, yes=yes, inside=inside)
        case _:
            return _stated(part, yes=yes)


def _joined(word: str, given: tuple[Part, ...], *, yes: bool, inside: str) -> str:
    said = f" {word} ".join(_said(part, yes=yes, inside=word) for part in given)
    return said if inside in ("", word) else f"({said})"


def _stated(part: Part, *, yes: bool) -> str:
    match part:
        case Name(name) if name in _YES_OR_NO:
            return _YES_OR_NO[name][not yes]
        case Name("reversible"):
            return _UNDONE[yes, True]
        case Member(of, name, has=True):
            return f"{_value(Member(of, name, has=False))} {_is(yes=yes)} given"
        case Call("@in", (left, right)):
            return _held(left, right, yes=yes)
        case Call(name, (left, Literal(str(text)))) if name in _OF_TEXTS:
            return f"{_value(left)} {_OF_TEXTS[name][not yes]} {_quoted(text)}"
        case Member() | Call("_[_]"):
            return f"{_value(part)} is {'true' if yes else 'false'}"
        case _:
            raise _UnsaidError


def _compared(name: str, left: Part, right: Part, *, yes: bool, inside: str) -> str:
    if name in _ORDER:
        if not _is_number(right):
            raise _UnsaidError  # texts and moments have an order too, but not that of these words
        return f"{_value(left)} {_is(yes=yes)} {_ORDER[name]} {_value(right)}"
    same = (name == "_==_") is yes
    match left, right:
        case Name("reversible"), Literal(bool(stated)):
            return _UNDONE[stated, same]
        case ((Name() | Call("!_" | "_&&_" | "_||_")), Literal(bool(wanted))):
            return _said(left, yes=wanted is same, inside=inside)
        case Name(), Literal(None):
            raise _UnsaidError
        case Call("getDayOfWeek", (Name("time"), *zone)), Literal():
            return f"the day in {_zone(zone)} {_is(yes=same)} {_day(right)}"
        case _, Literal():
            return f"{_value(left)} {_is(yes=same)} {_literal(right)}"
        case _:
            return f"{_value(left)} {_is(yes=same)} the same as {_value(right)}"


def _is(*, yes: bool) -> str:
    return "is" if yes else "is not"


def _is_number(part: Part) -> bool:
    return isinstance(part, Literal) and type(part.value) in (int, float)


def _held(left: Part, right: Part, *, yes: bool) -> str:
    match left, right:
        case Literal(), Name("tags"):
            return f"{_literal(left)} {_is(yes=yes)} one of its tags"
        case Literal(str(name)), Name("args"):
            return f"{_argument((name,))} {_is(yes=yes)} given"
        case Call("getDayOfWeek", (Name("time"), *zone)), Several(items):
            return f"the day in {_zone(zone)} {_is(yes=yes)} {_one_of(map(_day, items))}"
        case _, Several(items):
            return f"{_value(left)} {_is(yes=yes)} {_one_of(map(_literal, items))}"
        case Literal(), Member() | Call("_[_]"):
            return f"{_literal(left)} {_is(yes=yes)} in {_value(right)}"
        case _:
            raise _UnsaidError


def _one_of(items: Iterable[str]) -> str:
    listed = list(items)
    if not listed:
        raise _UnsaidError
    return f"one of {', '.join(listed)}" if len(listed) > 1 else listed[0]


# --- values ---


def _value(part: Part) -> str:
    match part:
        case Name(name) if name in _FACTS:
            return _FACTS[name]
        case Literal():
            return _literal(part)
        case Member() | Call("_[_]"):
            return _argument(_path(part))
        case Call("size", (Name("tags"),)):
            return "the number of its tags"
        case Call(name, (one,)) if name in _OF_VALUES:
            return _OF_VALUES[name].format(_value(one))
        case Call("getHours", (Name("time"), *zone)):
            return f"the hour in {_zone(zone)}"
        case _:
            raise _UnsaidError


def _path(part: Part) -> tuple[str, ...]:
    """Return the names that lead to an argument, the outermost first."""
    match part:
        case Name("args"):
            return ()
        case Member(of, name, has=False) | Call("_[_]", (of, Literal(str(name)))):
            return (*_path(of), name)
        case _:
            raise _UnsaidError


def _argument(path: tuple[str, ...]) -> str:
    first, *inner = path
    outermost = first if _is_plain(first) else f"the argument {_quoted(first)}"
    names = (name if _is_plain(name) else _quoted(name) for name in reversed(inner))
    return " of ".join((*names, outermost))


def _is_plain(name: str) -> bool:
    return _PLAIN_NAME.fullmatch(name) is not None and name.lower() not in _OUR_WORDS


def _zone(given: list[Part]) -> str:
    match given:
        case []:
            return "UTC"
        case [Literal(str(name))] if one_line(name, _LONGEST_TEXT) == name and " " not in name:
            return name
        case _:
            raise _UnsaidError


def _day(part: Part) -> str:
    """Say the number of a day of the week, which starts on Sunday."""
    match part:
        case Literal(int(number)) if 0 <= number < len(_DAYS):
            return _DAYS[number]
        case _:
            raise _UnsaidError


def _literal(part: Part) -> str:
    if not isinstance(part, Literal):
        raise _UnsaidError
    match part.value:
        case bool(value):
            return "true" if value else "false"
        case str(text):
            return _quoted(text)
        case None:
            return "null"
        case number:
            return repr(number).removesuffix(".0")


def _quoted(text: str) -> str:
    """Put a text in quotes, if a line shows it as it is."""
    if '"' in text or "  " in text or one_line(text, _LONGEST_TEXT) != text:
        raise _UnsaidError
    return f'"{text}"'
