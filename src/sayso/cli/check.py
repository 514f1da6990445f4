"""One thing that `sayso doctor` looked at, and whether somebody has to do something about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["ok", "warn", "fail"]
MANY = 1000


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: fine, worth knowing, or in need of a person."""

    level: Level
    name: str
    text: str
    asks: list[str] = field(default_factory=list)


def few(ids: Sequence[str]) -> str:
    """Name the first of them, and how many more there are."""
    more = f" and {len(ids) - 5:,} more" if len(ids) > 5 else ""
    return ", ".join(ids[:5]) + more


def counted(count: int) -> str:
    """Say how many, as far as it was looked."""
    return f"{MANY:,}+" if count >= MANY else f"{count:,}"
