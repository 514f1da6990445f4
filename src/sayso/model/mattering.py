"""Which arguments of a call matter, and which of them an edit touches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.model.content import Content
from sayso.model.digest import read


def matters_of(content: Content) -> tuple[str, ...] | None:
    """Return the arguments that its tool says matter; `None` if it names none, and so all do."""
    said = {} if content.stakes is None else read(content.stakes)
    return tuple(said["matters"]) if "matters" in said else None


def touching(content: Content, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the arguments that matter, of those that differ; all do unless some are named."""
    changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    matters = matters_of(content)
    return sorted(name for name in changed if matters is None or name in matters)
