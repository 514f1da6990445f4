"""What a rule can look at: the facts of one call, frozen when it was proposed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from sayso.model.names import fold

_LARGEST = 2**63 - 1


_NONE: Mapping[str, Any] = MappingProxyType({})
_BEHIND_ARGS = 2


class Facts(NamedTuple):
    """One call, as the policy sees it. What was not stated is `None`, never a guess."""

    tool: str | None = None
    args: Mapping[str, Any] = _NONE
    agent: str = ""
    kind: str = "action"
    risk: str | None = None
    confidence: float | None = None
    conflict: bool = False
    unseen: bool = False
    reversible: bool | None = None
    affects: str | None = None
    tags: tuple[str, ...] = ()
    always: bool = False  # behind a gate of the desk, which asks whatever else is said
    unreadable: bool = False  # some of its arguments are bytes that nobody can read
    requested: bool = False  # what it says of itself was said by whoever asks, and lowers nothing
    hidden: tuple[str, ...] = ()  # arguments that are there, and whose values are not in `args`
    undeclared: bool = False  # nothing on the desk declares its tool
    strays: tuple[str, ...] = ()  # arguments that the declaration of its tool does not know

    @property
    def stated(self) -> tuple[object, ...]:
        """All that a ruling depends on besides the arguments and the time."""
        return (self.tool, *self[_BEHIND_ARGS:])

    def values(self, now: datetime) -> dict[str, Any]:
        """Return the variables of a condition. `has(confidence)` is the variable `has_confidence_`."""
        return {
            "tool": _plain(fold(self.tool or "")),
            "args": _plain(dict(self.args)),
            "agent": _plain(fold(self.agent)),
            "kind": self.kind,
            "risk": self.risk or "",
            "confidence": self.confidence,
            "conflict": self.conflict,
            "unseen": self.unseen,
            "unreadable": self.unreadable,
            "reversible": self.reversible,
            "affects": _plain(self.affects or ""),
            "tags": [_plain(tag) for tag in self.tags],
            "time": now,
            "has_risk_": self.risk is not None,
            "has_confidence_": self.confidence is not None,
            "has_reversible_": self.reversible is not None,
            "has_affects_": self.affects is not None,
        }


class Unreadable:
    """Stands for a text that a condition would see only a part of: it cannot be told then."""


class Hidden:
    """Stands for a value that is not here: a rule in Python that looks at it fails, and people are asked."""

    def _refuse(self, *_: object) -> NoReturn:
        raise LookupError("it looks at an argument that is hidden")

    __eq__ = __bool__ = __str__ = __repr__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a value that a condition can hold.

    Its integers have 64 bits, and its texts end at the first null character.
    """
    match value:
        case bool():
            return value
        case str():
            return Unreadable() if "\0" in value else value
        case int() if abs(value) > _LARGEST:
            return _float(value)
        case dict():
            # No condition can name such a key, so it only must not pass for another one.
            return {name.replace("\0", "\ufffd"): _plain(item) for name, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
