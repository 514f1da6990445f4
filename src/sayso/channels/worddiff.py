"""What differs between two values, as pieces that a terminal, a page or a mail can draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PieceKind = Literal["same", "out", "in"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that stayed, went out, or came in."""

    kind: PieceKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One value that differs. `where` is its JSON Pointer; of a list, `how` says what happened."""

    where: str
    name: str
    how: Literal["changed", "added", "removed", "moved"] = "changed"
    pieces: tuple[Piece, ...] = ()
