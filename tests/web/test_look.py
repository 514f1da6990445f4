"""What every page keeps to, seen on pages in all states: see `gallery.py`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest

from sayso.web.look.assets import FOLDER
from sayso.web.look.marks import bytes_, icon, ticks
from sayso.web.look.moments import span
from tests.hostile import raw_in
from tests.web.gallery import EVIL, pages
from tests.web.inbox.browser import Node, read

FENCES = frozenset(("from-agent", "quote"))


@pytest.fixture(scope="module")
def seen() -> dict[str, Node]:
    """Each page, read: whatever is not well formed fails here."""
    return {name: read(html) for name, html in pages().items()}


def texts(page: Node) -> Iterator[tuple[str, Node]]:
    """Every text of a page, and the element that it stands in."""
    for node in page.walk():
        yield from ((child, node) for child in node.children if isinstance(child, str))


def around(node: Node) -> set[str]:
    """The classes that a text in an element stands in."""
    return {name for one in (node, *node.above) for name in one.attrs.get("class", "").split()}


def test_nothing_is_inline_so_that_a_strict_policy_can_hold(seen: dict[str, Node]) -> None:
    for name, page in seen.items():
        for node in page.walk():
            assert node.tag not in ("style", "iframe", "object", "embed", "base"), name
            assert "style" not in node.attrs, name
            assert not [one for one in node.attrs if one.startswith(("on", "hx-on"))], name
            if node.tag == "script":
                assert node.attrs["src"].startswith("/static/"), name
            for one in ("src", "href", "action", "formaction"):
                address = node.attrs.get(one, "").lower()
                assert not address.startswith(("javascript:", "data:", "//")), name


def test_no_two_have_one_id_and_what_names_another_element_finds_it(seen: dict[str, Node]) -> None:
    for name, page in seen.items():
        ids = Counter(node.attrs["id"] for node in page.walk() if "id" in node.attrs)
        assert [one for one, count in ids.items() if count > 1] == [], name
        for node in page.walk():
            given = node.attrs
            named = [given[one] for one in ("for", "form", "aria-controls") if one in given]
            named += given.get("aria-describedby", "").split()
            if node.tag == "a" and given.get("href", "").startswith("#"):
                named.append(given["href"][1:])
            assert [one for one in named if one not in ids] == [], (name, node.tag, given)


def test_each_icon_is_one_of_the_sprite(seen: dict[str, Node]) -> None:
    known = set(re.findall(r'<symbol id="([\w-]+)"', (FOLDER / "icons.svg").read_text("utf-8")))
    for name, page in seen.items():
        assert {use.attrs["href"].partition("#")[2] for use in page.all("use")} <= known, name


def test_an_icon_that_says_something_is_read_out() -> None:
    (read_out,) = read(icon("risk-high", "High <risk>")).all("svg")

    assert (read_out.attrs["role"], read_out.attrs["aria-label"]) == ("img", "High <risk>")
    assert read(icon("check")).one("svg").attrs["aria-hidden"] == "true"


def test_no_text_of_others_hides_or_becomes_an_element(seen: dict[str, Node]) -> None:
    for name, page in seen.items():
        assert not page.all("img", src="x"), name
        for text, node in texts(page):
            if node.tag != "textarea":  # it is typed there, and sent back as it is
                assert raw_in(text) == [], name


def test_an_agent_never_speaks_in_the_banner_or_with_a_button(seen: dict[str, Node]) -> None:
    for name in (name for name in seen if name.startswith("hostile")):
        for text, node in texts(seen[name]):
            places = around(node)
            if "alert(1)" in text and not places & FENCES:
                assert not places & {"banner", "bar-row", "section-head", "rail"}, (name, places)


def test_words_of_the_agent_are_marked_as_such(seen: dict[str, Node]) -> None:
    why = [node for text, node in texts(seen["long"]) if "All work and no play" in text]

    assert len([node for node in why if around(node) & FENCES]) >= 2  # the start, and the whole


def test_every_input_of_a_page_has_a_name_that_is_read_out(seen: dict[str, Node]) -> None:
    for name, page in seen.items():
        labelled = {label.attrs["for"] for label in page.all("label") if "for" in label.attrs}
        for node in page.walk():
            if node.tag not in ("input", "textarea", "select"):
                continue
            if node.attrs.get("type") in ("hidden", "checkbox", "radio"):
                continue
            inside = any(one.tag == "label" for one in node.above)
            assert node.attrs.get("id") in labelled or "aria-label" in node.attrs or inside, (
                name,
                node.attrs,
            )


def test_enter_in_a_field_decides_nothing(seen: dict[str, Node]) -> None:
    """Enter presses the first button of a form: it must be one that only looks."""
    for name, page in seen.items():
        for form in page.all("form"):
            if form.attrs.get("id", "").startswith("decide-") and form.all("button"):
                assert form.all("button")[0].attrs["value"] == "preview", name


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(seconds=3), "under a minute"),
        (timedelta(minutes=14, seconds=59), "14 min"),
        (timedelta(hours=1, minutes=54), "1 h 54 min"),
        (timedelta(hours=2), "2 h"),
        (timedelta(hours=30), "30 h"),
        (timedelta(days=3), "3 d"),
    ],
)
def test_spans_are_said_as_people_say_them(length: timedelta, words: str) -> None:
    assert span(length) == words


def test_what_was_decided_is_seen_without_its_colour() -> None:
    drawn = ticks(("approve", "edit", "reject"), EVIL)

    heights = [int(height) for height in re.findall(r'height="(\d+)" rx', drawn)]
    assert heights == sorted(set(heights))
    assert "<img" not in drawn


def test_sizes_are_rounded_to_what_people_read() -> None:
    assert [bytes_(size) for size in (0, 1, 812, 3_400, 1_234_567)] == [
        "0 bytes",
        "1 byte",
        "812 bytes",
        "3.4 KB",
        "1.2 MB",
    ]
