"""The payload of an interrupt as JSON, and the answers that are declared for it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from pydantic_core import to_jsonable_python

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DEEPEST = 40
_BEFORE = "Asked before"
_COMPARED = 20_000  # characters of what differs
_LINES = 400  # of a wording that are compared with another
_REFUSED = "The graph did not take the last answer: {}"
_CHANGED = (
    "The node asks something else now that it runs again, so nothing that was said before counts. "
    "The facts show what it asked before."
)


@dataclass(frozen=True, slots=True)
class Raised:
    """One interrupt as the checkpointer has it, in JSON."""

    id: str
    node: str
    value: Any
    schema: dict[str, Any] | None
    digest: str
    whole: bool = True  # nothing of the value was cut off
    chain: tuple[str, ...] = ()  # the agents, or parts, inside the graph through which it came


def _nothing(_: Raised) -> None:
    """Say nothing of an answer."""


@dataclass(frozen=True, slots=True)
class Known:
    """The answers that are declared: schemas of tools, and types that code gives for an interrupt."""

    tools: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    answer: Callable[[Raised], dict[str, Any] | None] = _nothing


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier ask that does not count: the ask, the reason, and its wording."""

    ask: str | None
    because: str | None = None  # what the graph said to the answer
    was: Any = None  # the payload, if the node asks something else now
    now: Any = None

    @property
    def why(self) -> str:
        """Say why it is asked again."""
        return _CHANGED if self.because is None else _REFUSED.format(self.because)

    def facts(self, shown: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the facts of an ask, with what was asked before. Nothing of them is left out."""
        if self.because is not None:
            return dict(shown) if shown else None
        found, name = dict(shown or {}), _BEFORE
        while name in found:
            name += "'"
        found[name] = difference(self.was, self.now)
        return found


def difference(was: Any, now: Any) -> str:  # noqa: ANN401 - JSON
    """Return what one payload said and the other no longer does, line by line.

    A line begins with `-` if it is gone, with `+` if it is new. Of what is too long to be compared
    it is the old one alone.
    """
    old, new = _lines(was), _lines(now)
    if max(len(old), len(new)) > _LINES:
        return _begun("\n".join(old), _COMPARED)
    found: list[str] = []
    for _, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = old[a:b] == new[c:d]
        found += [f"  {line}" for line in old[a:b]] if same else []
        found += [] if same else [f"- {line}" for line in old[a:b]]
        found += [] if same else [f"+ {line}" for line in new[c:d]]
    text = "\n".join(found)
    return text if len(text) <= _COMPARED else _begun(text, _COMPARED)


def _lines(value: Any) -> list[str]:  # noqa: ANN401 - JSON
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text.splitlines()


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """Return a value as JSON; what has no such form, as a text that says what it is."""
    try:
        made = to_jsonable_python(value, bytes_mode="base64", fallback=_named)
        return _cleaned(made, _DEEPEST)
    except (ValueError, TypeError, RecursionError):
        return _named(value)


def cut(value: Any, most: int) -> Any:  # noqa: ANN401 - JSON
    """Return a value that is not larger than so many characters, of the same shape if possible."""
    if len(written(value)) <= most:
        return value
    if isinstance(value, str):
        return _begun(value, most)
    for longest in (most // 2, most // 20, most // 200):
        smaller = _shortened(value, longest)
        if len(written(smaller)) <= most:
            return smaller
    return {"": _begun(written(value), most)}


def _shortened(value: Any, longest: int) -> Any:  # noqa: ANN401 - JSON
    """Return it with only the beginnings of its long texts."""
    if isinstance(value, str):
        return value if len(value) <= longest else _begun(value, longest)
    if isinstance(value, dict):
        return {name: _shortened(one, longest) for name, one in value.items()}
    return [_shortened(one, longest) for one in value] if isinstance(value, list) else value


def _begun(text: str, most: int) -> str:
    return f"{text[:most]} (cut off here: {len(text):,} characters in all)"


def _cleaned(value: Any, depth: int) -> Any:  # noqa: ANN401 - JSON
    if depth == 0:
        return _whole(repr(value))
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, dict):
        return {_whole(str(name)): _cleaned(one, depth - 1) for name, one in value.items()}
    if isinstance(value, list):
        return [_cleaned(one, depth - 1) for one in value]
    return value if not isinstance(value, float) or isfinite(value) else str(value)


def _named(value: object) -> str:
    return _whole(_ADDRESS.sub("", repr(value)))


def _whole(text: str) -> str:
    """Return a text without half characters, which JSON could not hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def written(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return a value as a text: a text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
