"""What the library of conditions complains about, in words that say what to do."""

from __future__ import annotations

import re
from collections.abc import Callable

from sayso.model.text import one_line

VARIABLES = ("tool", "args", "agent", "kind", "risk", "confidence", "conflict", "unseen",
             "unreadable", "reversible", "affects", "tags", "time")  # fmt: skip
MAY_BE_UNSTATED = ("risk", "confidence", "reversible", "affects")

_FUNCTIONS = "size, contains, startsWith, endsWith, matches, lowerAscii, split, exists, all, int"
_KINDS = {"int64": "int", "uint64": "uint", "null_type": "null", "dyn": "anything"}
_CODE = re.compile(r"^[A-Z_]+: | \[[A-Z_]+\]$")

Found = re.Match[str]

# The first that is found in a complaint says it.
_COMPILING: tuple[tuple[str, Callable[[Found], str]], ...] = (
    (
        r"undeclared reference to '([^']+)'.*\($",
        lambda found: (
            f"There is no function {found[1]!r} for these values. Among others: {_FUNCTIONS}."
        ),
    ),
    (
        r"undeclared reference to '([^']+)'",
        lambda found: (
            f"There is nothing called {found[1]!r}. A condition sees {', '.join(VARIABLES)}."
        ),
    ),
    (
        r"found no matching overload for '(\S+)' applied to '\((.*)\)'",
        lambda found: f"It cannot be compared: {_misfit(found[1], found[2])}.",
    ),
    (
        r"has\(\) argument",
        lambda _: (
            "has(...) takes something like args.amount, or one of "
            f"{', '.join(MAY_BE_UNSTATED)}; everything else is always there."
        ),
    ),
    (r"token recognition error at: '=", lambda _: "To compare, write == instead of =."),
    (r"mismatched input '<EOF>' expecting \{", lambda _: "The condition ends too early."),
    (r"recursion limit", lambda _: "The condition is nested too deep; make two rules of it."),
    (r"(.*?)(?: expecting \{.*)?$", lambda found: f"{one_line(found[1], 200).rstrip('.')}."),
)

_EVALUATING: tuple[tuple[str, Callable[[Found], str]], ...] = (
    (r"Key not found in map : (.*)", lambda found: f"there is no {one_line(found[1], 60)}"),
    (
        r"No matching overloads found : ([^\s(]+)(?:\((.*)\))?",
        lambda found: _misfit(found[1], found[2] or ""),
    ),
    (r"SELECT to non-message", lambda _: "a field is wanted of something that has no fields"),
    (r"Index error: index=(\S+)", lambda found: f"there is no item {found[1]}"),
    (r"budget exceeded", lambda _: "there is too much to go through"),
    (
        r"construction from null|Unreadable object",
        lambda _: "a text holds characters that are no text",
    ),
    (r"(.*)", lambda found: one_line(found[1], 120) or "it failed"),
)


def bad_condition(what: str, char: str) -> str:
    """Say what is wrong with a condition that does not compile; `char` is where."""
    return _in_words(_COMPILING, f"{what}(" if char == "(" and "undeclared" in what else what)


def untold(what: str) -> str:
    """Say why a condition could not be evaluated on a call."""
    return _in_words(_EVALUATING, what)


def kind_word(kind: str) -> str:
    """Return the name of a type as people know it."""
    return _KINDS.get(kind, kind)


def _in_words(table: tuple[tuple[str, Callable[[Found], str]], ...], what: str) -> str:
    plain = _CODE.sub("", _CODE.sub("", what))
    matches = ((re.search(pattern, plain, re.DOTALL), say) for pattern, say in table)
    return next(say(found) for found, say in matches if found is not None)


def _misfit(name: str, kinds: str) -> str:
    sign = name if name.strip("_").isalnum() else name.strip("_")
    pair = " and ".join(kind_word(kind) for kind in kinds.split(", ")) if kinds else "this value"
    return f"{sign} does not go with {pair}"
