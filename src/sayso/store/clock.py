"""Where the present comes from: the one module that reads a clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time; `steered` says that it is not the machine's, as in tests.

    A database with a clock of its own (PostgreSQL) uses that one, so that all
    machines of a fleet agree, unless the clock is steered.
    """

    steered: bool

    def now(self) -> datetime:
        """Return the present, in UTC."""
        ...

    def watch(self, moved: Callable[[], None]) -> None:
        """Call back whenever the time is set by hand, so that waiting looks again."""
        ...


class SystemClock:
    """The machine's clock."""

    steered = False

    def now(self) -> datetime:
        """Return the present, in UTC."""
        return datetime.now(UTC)

    def watch(self, moved: Callable[[], None]) -> None:
        """Do nothing: this clock moves by itself, and waiting knows by how much."""
