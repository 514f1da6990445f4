"""The map of the mission: every capability has a row, and every row leads to what it names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.docs.pages import DOCS, ROOT

HOW_MANY = {"S1": 10, "S2": 16, "S3": 11, "S4": 11}
IDS = [f"{group}.{number}" for group, last in HOW_MANY.items() for number in range(1, last + 1)]
COMING: set[str] = set()
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


@dataclass(frozen=True)
class Row:
    """A capability, and where the page says it is explained, shown and tested."""

    id: str
    words: str
    pages: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]


def rows() -> list[Row]:
    found = []
    for line in (DOCS / "mission.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not re.fullmatch(r"[SPB]\d+(\.\d+)?", cells[0]):
            continue
        *_, tests = cells
        examples = LINK.findall(cells[3]) if cells[0].startswith("S") else []
        pages = [target for _, target in LINK.findall(cells[2])]
        named = re.findall(r"`(tests/[^`]+)`", tests)
        found.append(Row(cells[0], cells[1], tuple(pages), tuple(examples), tuple(named)))
    return found


ROWS = rows()
MISSION = [row for row in ROWS if row.id.startswith("S")]


def test_every_capability_has_exactly_one_row() -> None:
    assert Counter(row.id for row in MISSION) == Counter(IDS)
    assert [row.id for row in MISSION] == IDS, "in their order"
    assert max(Counter(row.id for row in ROWS).values()) == 1


def test_nothing_is_called_coming_but_what_is() -> None:
    assert {row.id for row in ROWS if "coming" in row.words} == COMING


@pytest.mark.parametrize("row", MISSION, ids=lambda row: row.id)
def test_a_row_has_a_page_an_example_and_a_test(row: Row) -> None:
    if row.id in COMING:
        assert (row.examples, row.tests) == ((), ()), "it is there: call it coming no more"
    else:
        assert row.pages
        assert row.examples
        assert row.tests


@pytest.mark.parametrize("row", [row for row in ROWS if row not in MISSION], ids=lambda row: row.id)
def test_a_row_beyond_the_documents_has_a_page_and_a_test(row: Row) -> None:
    assert row.pages
    assert row.tests


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_page_of_a_row_exists(row: Row) -> None:
    assert [page for page in row.pages if not (DOCS / page.partition("#")[0]).is_file()] == []


@pytest.mark.parametrize("row", MISSION, ids=lambda row: row.id)
def test_every_example_of_a_row_is_there_where_its_link_leads_and_says_so_itself(row: Row) -> None:
    table = (ROOT / "examples/README.md").read_text()
    for name, target in row.examples:
        assert list((ROOT / "examples").glob(f"{name}*")), name
        assert f"examples/{name}" in _section(target), "the link leads to another one"
        listed = re.search(rf"^\| \[{name}\].*\| (.*?) \|$", table, re.MULTILINE)
        assert listed is not None, name
        assert row.id in listed[1].split(", "), f"examples/README.md says nothing of it at {name}"


def _section(target: str) -> str:
    """The part of a page that a link leads to."""
    page, _, anchor = target.partition("#")
    for part in re.split(r"^(?=## )", (DOCS / page).read_text(), flags=re.MULTILINE):
        heading = re.sub(r"[^\w\s-]", "", part.partition("\n")[0].removeprefix("## ").lower())
        if re.sub(r"\s+", "-", heading.strip()) == anchor:
            return part
    return ""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_test_of_a_row_exists(row: Row) -> None:
    for named in row.tests:
        file, _, name = named.partition("::")
        assert (ROOT / file).is_file(), file
        assert re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE), named


def test_every_id_in_the_table_of_examples_is_a_row_of_the_map() -> None:
    known = {row.id for row in ROWS}
    for line in (ROOT / "examples/README.md").read_text().splitlines():
        if line.startswith("| ["):
            ids = line.strip("| ").rpartition(" | ")[2].split(", ")
            assert set(ids) <= known, line
