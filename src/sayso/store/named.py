"""Queries by their names: how the tables of a desk are read and written, whichever database it is.

The texts are in `.sql` files. Each room of the store says what it wants by name, and each dialect
runs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

Part = tuple[str, dict[str, object]]  # a named query and its values


class RowChange(NamedTuple):
    """A named query that is written with an event; if it must change a row and does not, neither is."""

    query: str
    values: dict[str, object]
    needed: bool = True


class SqlQueries(ABC):
    """A database that runs queries by their names."""

    @abstractmethod
    def _rows(self, name: str, **parameters: object) -> list[Sequence[Any]]:
        """Run one named query and return its rows."""

    @abstractmethod
    def _unsynced(self, name: str, **parameters: object) -> list[Sequence[Any]]:
        """Run a named query that must survive the death of this process, not of the machine."""

    @abstractmethod
    def _together(self, parts: Sequence[Part], *, fenced: bool) -> bool:
        """Run queries in one commit that need not be synced.

        Fenced: none of them, and False, if the first changes nothing.
        """

    @abstractmethod
    def _names(self, names: Sequence[str]) -> object:
        """Return names as the dialect's query takes them."""

    def _teams(self, teams: Sequence[str] | None) -> object:
        """Return the teams filter as the dialect's query takes it."""
        return None if teams is None else self._names(sorted(set(teams)))


def listed(words: tuple[str, ...] | None) -> str | None:
    """Return teams, and what belongs to none, or other words as queries take them in one text."""
    return None if words is None else f"||{''.join(f'{word}|' for word in words)}"
