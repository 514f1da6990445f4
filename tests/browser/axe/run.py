"""axe-core, vendored: what it finds wrong with a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

HERE = Path(__file__).parent
TAGS = (
    *("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"),
    "best-practice",
)


@dataclass(frozen=True)
class Violation:
    """One rule that a page breaks, and where."""

    rule: str
    what: str
    where: tuple[str, ...]

    def __repr__(self) -> str:
        return f"{self.rule}: {self.what}\n" + "\n".join(f"    {one}" for one in self.where)


@cache
def source() -> str:
    return (HERE / "axe.min.js").read_text()


def violations_of(page: Page, rules: Sequence[str] | None = None) -> list[Violation]:
    """Run the rules of WCAG 2.2 AA and of good practice, or a few by name."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(source())
    only = {"type": "tag", "values": TAGS} if rules is None else {"type": "rule", "values": rules}
    found: list[dict[str, Any]] = page.evaluate(
        """(only) => Promise.race([
          axe.run(document, {runOnly: only, resultTypes: ['violations']})
            .then((found) => found.violations),
          new Promise((_, reject) => setTimeout(() => reject(new Error('axe hangs')), 60000)),
        ])""",
        only,
    )
    return [
        Violation(
            one["id"],
            one["help"],
            tuple(f"{node['target']} {node['html'][:200]}" for node in one["nodes"][:8]),
        )
        for one in found
    ]
