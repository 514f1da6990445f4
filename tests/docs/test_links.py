"""Links of the files that people read in the repository lead somewhere, and the menu has it all.

Links within `docs/` are checked by the build of the documentation itself.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, name_of

FILES = [
    file
    for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "examples/README")
    if (file := ROOT / f"{name}.md").exists()
]
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)


def links(text: str) -> list[str]:
    """Where a text links to within the repository; what stands in code is no link."""
    found = (one or two for one, two in _LINK.findall(_CODE.sub("``", text)))
    return [to for to in found if not re.match(r"[a-z][a-z0-9+.-]*:", to)]


def anchors(file: Path) -> set[str]:
    """What headings of a file can be linked to as."""
    text = re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)
    counted: Counter[str] = Counter()
    found = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    for heading in re.findall(r"^#{1,6} +(.+?)\s*#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
        found.add(f"{slug}-{counted[slug]}" if counted[slug] else slug)
        counted[slug] += 1
    return found


def leads(file: Path, link: str) -> bool:
    """Whether a link of this file leads to a file, and to a heading in it if it names one."""
    path, _, anchor = link.partition("#")
    target = (file.parent / path).resolve() if path else file
    if not target.is_relative_to(ROOT) or not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in anchors(target))


def broken(file: Path, text: str) -> list[str]:
    """The links of a text in this file that lead nowhere."""
    return [link for link in links(text) if not leads(file, link)]


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_link_and_anchor_leads_somewhere(file: Path) -> None:
    assert broken(file, file.read_text()) == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    text = (
        "[one](docs/nowhere.md) [two](docs/glossary.md#nothing) [three](docs/glossary.md#glossary)"
        " [four](https://example.com/x) `[five](nowhere.md)` ![six](docs/images/none.png)"
        " [seven](../outside.md) [eight](#gone)\n[nine]: docs/missing.md\n"
    )

    assert broken(ROOT / "README.md", text) == [
        "docs/nowhere.md",
        "docs/glossary.md#nothing",
        "docs/images/none.png",
        "../outside.md",
        "#gone",
        "docs/missing.md",
    ]


# --- the menu ---


def menu() -> list[str]:
    text = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1].split("\n\n")[0]
    return re.findall(r"([\w./-]+\.md)$", text, re.MULTILINE)


def test_the_menu_has_every_page_once() -> None:
    pages = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    assert sorted(menu()) == pages


def test_decisions_stand_in_the_order_of_their_numbers() -> None:
    records = [page for page in menu() if page.startswith("decisions/0")]
    listed = re.findall(r"\]\((0[\w-]+\.md)\)", (DOCS / "decisions/index.md").read_text())

    assert records == sorted(records)
    assert [f"decisions/{name}" for name in listed] == records


def test_the_quickstart_follows_the_start_and_leads_to_every_door() -> None:
    assert menu()[:3] == ["index.md", "quickstart.md", "tutorial.md"]
    doors = (DOCS / "quickstart.md").read_text().split("## Which door")[1]
    linked = set(re.findall(r"\]\((howto/[\w-]+\.md)", doors))

    assert {f"howto/{name}.md" for name in ("gates", "runs", "agents", "service")} <= linked
    assert {f"howto/{name}.md" for name in ("langgraph", "langchain", "smolagents")} <= linked
