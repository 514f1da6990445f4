"""The right to carry out what was approved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sayso.model.ask import Ask


@dataclass(frozen=True, slots=True)
class Call:
    """The right to carry out one approved call, once."""

    ask: Ask
    tool: str
    args: dict[str, Any]
    key: str
    attempt: int
    holder: str
