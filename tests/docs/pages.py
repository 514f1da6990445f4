"""The pages of the documentation, and the blocks of code in them.

A page is read from the top, as a reader would:

- ```` ```python ```` runs, in the page's own module and folder; with a title it is a file, which
  later blocks may import and, if it is called `test_*.py`, pytest runs.
- A line `--8<-- "examples/..."` in a block is the text of that file.
- ```` ```text title="prints" ```` is what the block above it prints, but for ids and times.
- `<!-- reviewer.approve("refund") -->` tells the person behind the page what to say from there on.
- `<!-- given tests/docs/given_x.py -->` runs what a reader has already: a graph of their own, say.
- ```` ```py ```` is a fragment, shown and not run. There are few.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = (
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "examples/README.md",
    *sorted(DOCS.rglob("*.md")),
)

_FENCE = re.compile(
    r"^<!-- (?P<order>reviewer\..*?) -->$"
    r"|^<!-- given (?P<given>\S+) -->$"
    r"|^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)

_SNIPPET = re.compile(r'^--8<-- "([^"]+)"$', re.MULTILINE)

# What differs from run to run: ids, what hangs on them, digests, moments.
_CHANGING = (
    (re.compile(r"\ba-[0-9a-hjkmnp-tv-z]{4,8}\b"), "a-...."),
    (re.compile(r"\br-[0-9a-hjkmnp-tv-z]{6,8}\b"), "r-......"),
    (re.compile(r"\bt-[0-9a-hjkmnp-tv-z]{4,8}\b"), "t-...."),
    (re.compile(r"\bsayso_[0-9A-Za-z]{49}\b"), "sayso_<secret>"),
    (re.compile(r"\bsayso_[0-9A-Za-z]{4}\.\.\."), "sayso_...."),
    (re.compile(r"\buntil \d{4}-\d\d-\d\d\b"), "until <day>"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "<digest>"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?"), "<moment>"),
)


@dataclass(frozen=True)
class Block:
    """One fence of a page, or one order to the reviewer (language `reviewer`)."""

    page: Path
    line: int
    language: str
    title: str | None
    text: str

    @property
    def prints(self) -> bool:
        return self.language == "text" and self.title == "prints"

    @property
    def runs(self) -> bool:
        return self.language == "python" and self.title is None

    @property
    def file(self) -> bool:
        return self.title is not None and self.language in {"python", "toml"}


def blocks(page: Path) -> Iterator[Block]:
    """Every block of a page, in order."""
    text = page.read_text("utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if found["order"]:
            yield Block(page, line, "reviewer", None, found["order"])
        elif found["given"]:
            given = ROOT / found["given"]  # compiled under its own name, where its source is found
            yield Block(given, 1, "python", None, given.read_text("utf-8"))
        else:
            text_of = _SNIPPET.sub(lambda named: (ROOT / named[1]).read_text(), found["text"])
            yield Block(page, line + 1, found["language"], found["title"], text_of)


def steady(text: str) -> str:
    """The text with ids, digests and moments made alike."""
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return text.strip()


def check_same(printed: str, shown: str, place: str) -> None:
    """Fail with a diff unless both say the same."""
    if printed == shown:
        return
    told = difflib.unified_diff(
        shown.splitlines(), printed.splitlines(), "on the page", "printed", lineterm="", n=20
    )
    raise AssertionError("\n".join((place, *told)))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))
