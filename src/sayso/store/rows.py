"""Rows that are written in one commit with an event, beside asks, runs and people."""

from __future__ import annotations

from typing import NamedTuple


class RowChange(NamedTuple):
    """A named query that is written with an event; if it must change a row and does not, neither is."""

    query: str
    values: dict[str, object]
    needed: bool = True
