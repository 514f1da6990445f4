"""Conditions in CEL: checked when they are loaded, evaluated on the facts of a call.

A condition that cannot be evaluated (an argument it names is missing, a value has
another type) is neither true nor false. Whoever asks treats it as a reason to ask.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sayso.errors import BadPolicy

_HAS = re.compile(r"\bhas\((risk|confidence|reversible|affects)\)")
_PLACE = re.compile(r"<input>:(\d+):(\d+): (.*)")
_AT_ONCE = 60  # conditions in one evaluation: as many as a number has bits to spare


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as it was written, known to make sense."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Check a condition.

        Raises:
            BadPolicy: it does not compile, or is neither true nor false; `line` and `column` say
                where in the condition.
        """
        if not isinstance(text, str) or not text.strip():
            raise BadPolicy("A condition is a text such as: args.amount > 100", line=1, column=1)
        kind = _compiled(text).return_type().name()
        if kind not in ("bool", "dyn", "BOOL", "DYN"):
            raise BadPolicy(
                f"The condition is no yes or no but {kind.lower()}: {text}", line=1, column=1
            )
        return cls(text)


Verdict = bool | str  # true, false, or why it could not be told


class Conditions:
    """Several conditions, evaluated at once: into one number with a bit for each."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        texts = [condition.text for condition in conditions]
        parts = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
        self._parts = [(_all_at_once(tuple(part)), part) for part in parts]

    def evaluated(self, values: Mapping[str, Any]) -> list[Verdict]:
        """Return what each says of these values; a text where it could not be told."""
        if not self._parts:
            return []
        activation = _env().Activation(values)
        said: list[Verdict] = []
        for program, texts in self._parts:
            bits = program.eval(activation).value()
            if type(bits) is int:
                said += [bool(bits >> number & 1) for number in range(len(texts))]
            else:  # one of them could not be told: find out which
                said += [_one(_compiled(text).eval(activation).value()) for text in texts]
        return said


def _one(value: object) -> Verdict:
    return value if isinstance(value, bool) else str(value)


@cache
def _env() -> Any:  # noqa: ANN401 - the library has no types
    from cel_expr_python import cel

    kinds = cel.Type
    return cel.NewEnv(
        variables={
            **dict.fromkeys(("tool", "agent", "kind", "risk", "affects"), kinds.STRING),
            **dict.fromkeys(("confidence", "reversible"), kinds.DYN),
            **dict.fromkeys(("conflict", "unseen"), kinds.BOOL),
            **dict.fromkeys(
                ("has_risk_", "has_confidence_", "has_reversible_", "has_affects_"), kinds.BOOL
            ),
            "args": kinds.Map(kinds.STRING, kinds.DYN),
            "tags": kinds.List(kinds.STRING),
            "time": kinds.TIMESTAMP,
        }
    )


def _plain(text: str) -> str:
    return _HAS.sub(r"has_\1_", text)


@cache
def _compiled(text: str) -> Any:  # noqa: ANN401 - the library has no types
    """Compile one condition. `has(confidence)` becomes a variable of the same length."""
    try:
        return _env().compile(_plain(text))
    except RuntimeError as error:
        found = _PLACE.search(str(error))
        line, column, what = (
            (int(found[1]), int(found[2]), found[3]) if found else (1, 1, str(error))
        )
        raise BadPolicy(f"{_said(what)} In: {text}", line=line, column=column) from None


@cache
def _all_at_once(texts: tuple[str, ...]) -> Any:  # noqa: ANN401 - the library has no types
    parts = [f"(({_plain(text)}) ? {1 << n} : 0)" for n, text in enumerate(texts)]
    return _env().compile(" + ".join(_balanced(parts)))


def _balanced(parts: Sequence[str]) -> list[str]:
    """Add in pairs: a long row of additions would be too deep for the library."""
    row = list(parts)
    while len(row) > 8:
        row = [f"({' + '.join(row[n : n + 8])})" for n in range(0, len(row), 8)]
    return row


def _said(what: str) -> str:
    """Put the library's words into ours, where they would puzzle."""
    unknown = re.match(r"undeclared reference to '(\w+)'", what)
    if unknown:
        return (
            f"There is nothing called {unknown[1]!r}. A condition sees tool, args, agent, kind, risk, "
            "confidence, conflict, unseen, reversible, affects, tags and time."
        )
    return what.rstrip(".") + "."
