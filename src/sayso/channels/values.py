"""Values as a person may trust them: JSON in which nothing hides.

Types stay visible (`"40"` is not `40`), quotes inside a text cannot end it, and
what would hide or reorder text is labelled as `model.text` says. Everything
that is made from values here is safe to print; how it is laid out is for the
card.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sayso.model.ask import Ask
from sayso.model.text import hides, visible

_PLAIN = re.compile(r"\w[\w.:/-]*")


def as_json(value: object, *, indent: int | None = None) -> str:
    """Write a value as JSON with everything visible; on one line unless `indent` is given."""
    return json.dumps(_seen(value), ensure_ascii=False, indent=indent)


def escaped(text: str) -> str:
    """Write every character of a JSON text that hides as an escape: it stays the same JSON."""
    hiding = {c for c in set(text) if c == "\x7f" or (not c.isascii() and hides(c))}
    return text.translate({ord(char): json.dumps(char)[1:-1] for char in hiding})


def as_name(name: str) -> str:
    """Write the name of a tool or an argument; one that does not read as a name is quoted."""
    return name if _PLAIN.fullmatch(name) else as_json(name)


def clipped(shown: str, width: int) -> str:
    """Cut text that is safe to print already; what is cut ends in `…`."""
    return shown if len(shown) <= width else shown[: max(width - 1, 0)] + "…"


def ordered(ask: Ask) -> list[tuple[str, Any]]:
    """Return the arguments as a list, in the order of the function's parameters if known.

    Canonical JSON sorts names; the schema's list of required ones kept its order.
    """
    args = ask.args
    first = [name for name in ask.proposal.schema.get("required", ()) if name in args]
    return [(name, args[name]) for name in dict.fromkeys((*first, *args))]


def as_call(ask: Ask) -> str:
    """Write the frozen call on one line, such as `refund(order=7, amount=40)`."""
    hidden = ask.content.hidden
    given = (
        f"{as_name(name)}={'(hidden)' if name in hidden else as_json(value)}"
        for name, value in ordered(ask)
    )
    return f"{as_name(ask.tool or '')}({', '.join(given)})"


def _seen(value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Make every text inside a value visible. JSON itself then escapes quotes and line ends."""
    match value:
        case str():
            return visible(value, lines=True)
        case list() | tuple():
            return [_seen(item) for item in value]
        case dict():
            return {visible(str(name), lines=True): _seen(item) for name, item in value.items()}
        case _:
            return value
