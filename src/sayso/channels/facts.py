"""What a call says, drawn by us from its frozen arguments: money as money, people as people.

The agent's own words are no facts. What cannot be read is said to be so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

FactKind = Literal[
    "text",  # words; may have several lines
    "number",
    "flag",  # yes or no
    "money",  # `text` is the amount with its currency
    "people",  # addresses and names: `items`
    "path",
    "sql",  # `items` are what it does, in our words
    "mail",  # `rows` are its parts: To, Subject, Body
    "url",  # `items` is scheme, host and the rest
    "diff",  # `text` is a unified diff
    "when",
    "list",  # `items`
    "table",  # `columns` and `rows`
    "hidden",  # there is a value, and nobody sees it
    "opaque",  # bytes in a text: cannot be read by a person
    "json",  # nested values that no other kind fits
    "empty",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that a call says. Texts are as they came; whoever draws them makes them visible."""

    name: str
    kind: FactKind
    value: Any = None
    text: str = ""
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    columns: tuple[str, ...] = ()
    note: str | None = None
