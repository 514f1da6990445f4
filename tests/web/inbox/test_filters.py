"""Filters live in the address: what was typed there is what the next address says."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from sayso.web.inbox.filters import Filters

WORDS = st.text(min_size=1, max_size=200).map(str.strip).filter(bool)


@given(agent=WORDS, tool=WORDS, q=WORDS)
def test_whatever_is_filtered_by_comes_back_from_the_address(agent: str, tool: str, q: str) -> None:
    filters = Filters(view="high", agent=agent, tool=tool, q=q)

    query = urlsplit(filters.href("/inbox/a-1")).query

    assert Filters.of(dict(parse_qsl(query))) == filters


def test_the_plain_inbox_has_a_plain_address() -> None:
    assert Filters.of({}).href() == "/inbox"
    assert Filters.of({"view": "mine", "q": " "}).href("/inbox/a-1") == "/inbox/a-1"


def test_a_view_that_does_not_exist_is_the_first_one() -> None:
    assert Filters.of({"view": "everything"}).view == "mine"


def test_a_chip_keeps_what_narrows_the_list_but_not_the_page() -> None:
    filters = Filters(view="team", tool="refund", after="x")

    high = next(chip for chip in filters.chips() if chip.label == "High risk")

    assert high.href == "/inbox?view=high&tool=refund"
    assert [chip.label for chip in filters.chips() if chip.current] == ["Team"]


def test_each_filter_can_be_let_go_of_alone() -> None:
    filters = Filters(view="team", tool="refund", q="tea")

    assert [(one.name, one.without) for one in filters.narrowed()] == [
        ("tool", "/inbox?view=team&q=tea"),
        ("q", "/inbox?view=team&tool=refund"),
    ]


def test_an_address_can_say_what_was_just_done() -> None:
    assert Filters().saying("/inbox/a-2", done="a-1") == "/inbox/a-2?done=a-1"
    assert Filters(view="high").saying("/inbox", done="a-1") == "/inbox?view=high&done=a-1"
