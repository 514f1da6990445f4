"""The tools that a desk knows: those that code beside it registered, and those of its policy.

Where several declare one tool, what they say together counts, the stricter of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sayso.model.declaration import Declaration, joined
from sayso.model.tool import Tool
from sayso.policy.rules import Policy


class Toolbox:
    """Declarations of one process. Threads share it: what is there is replaced, never changed."""

    def __init__(self) -> None:
        self._code: Mapping[str, Mapping[str, Declaration]] = {}  # by name, then by source

    def add(self, tool: Tool, *, asks: bool) -> bool:
        """Remember what a function declares, in the place of what the same source said before.

        Returns whether that is something new.
        """
        declared = Declaration.of(tool, asks=asks)
        same = self._code.get(tool.name, {})
        if same.get(tool.source) == declared:
            return False
        self._code = {**self._code, tool.name: {**same, tool.source: declared}}
        return True

    def of(self, name: str, policy: Policy) -> Declaration | None:
        """Return what is declared of a tool in all; `None` if nothing is."""
        return joined(self.several(name, policy))

    def several(self, name: str, policy: Policy) -> Sequence[Declaration]:
        """Return each declaration of a tool: that of the policy, then those of code."""
        own = policy.declared.get(name)
        coded = self._code.get(name, {}).values()
        return (*coded,) if own is None else (own, *coded)

    def names(self, policy: Policy) -> tuple[str, ...]:
        """Return the names of all tools that are declared."""
        return tuple(sorted({*policy.declared, *self._code}))
