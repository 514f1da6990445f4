"""Facts and changes as they stand on a page: words for what is seen, and a shape for each kind."""

from __future__ import annotations

import base64
import html
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.channels.facts import Fact, facts_from
from sayso.channels.worddiff import changes
from tests import hostile
from tests.web.drawing import drawn
from tests.web.inbox.browser import read

BLOB = base64.b64encode(random.Random(3).randbytes(2048)).decode()
EVIL = f"<script>alert(1)</script>\"' onload={hostile.ALL}"
ONE_OF_EACH = {
    "words": "Hello",
    "long": "word " * 1_000,
    "n": 40,
    "ok": True,
    "amount": 1240.5,
    "currency": "EUR",
    "attendees": [f"p{number}@example.com" for number in range(120)],
    "path": "../x",
    "sql": "DELETE FROM users",
    "to": "ada@example.com",
    "subject": "Hi",
    "url": "https://bank.example@evil.example/x",
    "patch": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y",
    "day": "2026-11-16",
    "list": [1, "1"],
    "table": [{"a": 1, "b": 2}, {"a": 3}],
    "blob": BLOB,
    "nested": {"a": {"b": 1}},
    "nothing": None,
}


def words_of(text: str) -> str:
    return re.sub(r"<[^>]+>", "", text)


def test_every_kind_is_drawn_with_its_class() -> None:
    found = facts_from(ONE_OF_EACH)
    page = drawn("facts", (*found, Fact(name="key", kind="hidden", text="hidden", note="no")))

    kinds = {div.attrs.get("class") for div in read(page).all("div")}
    for one in (*(fact.kind for fact in found), "hidden"):
        assert f"fact fact-{one}" in kinds
    assert "The first 100 of 120 people are shown." in page
    assert '<span class="domain">@<bdi>example.com</bdi></span>' in page
    assert '<strong class="host"><bdi>evil.example</bdi></strong>' in page
    assert '<li class="loud"><bdi>DELETE FROM users: EVERY ROW' in page
    assert '<th scope="col"><bdi>a</bdi></th>' in page
    assert "<caption><bdi>2 rows</bdi></caption>" in page
    assert 'icon icon-opaque" aria-hidden="true"' in page
    assert "2,048 bytes that cannot be read" in words_of(page)
    assert '<details class="clamp" id="facts-2">' in page
    assert '<span class="visually-hidden">removed: </span>' in page


def test_ids_are_unique_on_a_page_with_several_lists() -> None:
    long = facts_from({"a": "x" * 5_000, "b": "y" * 5_000})
    page = drawn("facts", long, "args") + drawn("facts", long, "preview")

    ids = [node.attrs["id"] for node in read(page).walk() if "id" in node.attrs]
    assert ids == ["args-1", "args-2", "preview-1", "preview-2"]


def test_changes_are_told_to_those_who_do_not_see_colours() -> None:
    page = drawn("changes", changes({"a": "x y", "l": [1, 2]}, {"a": "x z", "l": [2, 1], "n": 1}))

    assert (
        '<del><span class="visually-hidden">removed: </span><bdi class="shown">y</bdi></del>'
        in page
    )
    assert (
        '<ins><span class="visually-hidden">added: </span><bdi class="shown">z</bdi></ins>' in page
    )
    assert '<th scope="row"><bdi>l 2 to 1</bdi> <span class="how">moved</span></th>' in page
    assert "style=" not in page
    read(page)


@pytest.mark.parametrize("name", [*ONE_OF_EACH, EVIL])
def test_hostile_text_in_every_argument_is_text(name: str) -> None:
    args: dict[str, Any] = {
        name: EVIL,
        f"{name}s": [EVIL, EVIL],
        "of": [{EVIL: EVIL}],
        "in": {EVIL: [EVIL]},
        "sql": f"select {EVIL}",
        "url": "https://x.example/" + EVIL.replace(" ", ""),
    }
    page = drawn("facts", facts_from(args)) + drawn("changes", changes({}, args))

    assert "<script" not in page
    assert not hostile.raw_in(page)
    for node in read(page).walk():
        assert node.tag not in ("script", "img", "a")
        assert not any(key.startswith("on") or key == "style" for key in node.attrs)


@settings(deadline=None, max_examples=25)
@given(st.dictionaries(st.text(), st.text() | st.lists(st.text(), max_size=3), max_size=4))
def test_whatever_is_drawn_is_whole(args: dict[str, Any]) -> None:
    read(drawn("facts", facts_from(args)))


def test_e67_what_is_drawn_of_an_address_ends_in_its_last_character() -> None:
    page = drawn("facts", facts_from({"attendees": ["Data Office <dpo@example.org>", "a@b.co"]}))

    assert "Data Office &lt;dpo@example.org&gt;" in words_of(page)


def test_e67_payments_have_a_total_and_their_columns_beside_each_value() -> None:
    rows = [{"to": "Ada", "amount": 40, "currency": "EUR"}] * 2
    page = drawn("facts", facts_from({"payments": rows}))

    assert '<td data-head="amount" class="num"><bdi class="shown">40 EUR</bdi></td>' in page
    assert '<td class="num" data-head="Total amount"><strong class="amount"><bdi>80 EUR' in page
    assert page.count('<tr class="same">') == 2
    assert "2 equal rows: 1, 2." in words_of(page)
    read(page)


def test_e67_the_name_of_a_column_stays_in_its_place() -> None:
    page = drawn("facts", facts_from({"payments": [{EVIL: 1, "amount": 2}]}))

    assert not hostile.raw_in(page)
    assert all("onload" not in node.attrs for node in read(page).walk())


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.text("abz ä日09.,;:!?@<>()[]{}/_-+=*#%&'\"", max_size=12)
    | st.sampled_from(
        [
            "Data Office <dpo@example.org>",
            "a@b.co, C <c@d.org>",
            "../x",
            "2026-01-01",
            "DROP TABLE x",
        ]
    )
)
ROWS = st.lists(
    st.dictionaries(st.sampled_from(["to", "amount", "currency", "note"]), LEAVES, max_size=4),
    max_size=4,
)
NAMED = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=4)
CALLS = st.dictionaries(
    NAMED | st.sampled_from(["to", "cc", "subject", "body", "amount", "attendees", "path"]),
    LEAVES | ROWS | st.lists(LEAVES, max_size=4) | st.dictionaries(NAMED, LEAVES, max_size=3),
    max_size=5,
)
# What may stand between two addresses or thousands, and how a text is quoted: nothing of what it says.
_BETWEEN = re.compile(r"[\s,;\"\\]")


def leaves_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from leaves_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves_of(inner)
    elif isinstance(value, str):
        yield value
    elif value is not None and not isinstance(value, bool):
        yield json.dumps(value)


@settings(deadline=None)
@given(CALLS)
def test_e67_each_leaf_of_the_arguments_is_drawn(args: dict[str, Any]) -> None:
    page = drawn("facts", facts_from(args))
    notes = re.compile(r'<p class="fact-note.*?</p>')  # what is said about them
    seen = _BETWEEN.sub("", html.unescape(words_of(notes.sub("", page))))

    for leaf in (leaf for value in args.values() for leaf in leaves_of(value)):
        assert _BETWEEN.sub("", leaf) in seen
