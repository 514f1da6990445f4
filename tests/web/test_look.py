"""What every page keeps to, seen on every page there is: see `gallery.py`."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from html.parser import HTMLParser

import pytest

from sayso.web.look.assets import FOLDER
from sayso.web.look.marks import bytes_, ticks
from sayso.web.look.moments import span
from tests.hostile import raw_in
from tests.web.gallery import EVIL, PAGES

VOID = frozenset(("meta", "link", "input", "img", "use", "rect", "path", "circle", "br", "hr"))
FENCES = frozenset(("from-agent", "quote"))


class Reader(HTMLParser):
    """What is on a page: its elements, and in which classes each text stands."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, list[tuple[str, set[str]]]]] = []
        self._open: list[tuple[str, set[str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.elements.append((tag, given))
        if tag not in VOID:
            self._open.append((tag, set(given.get("class", "").split())))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1][0] == tag, f"</{tag}> closes <{self._open[-1][0]}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((data, list(self._open)))


@pytest.fixture(params=PAGES, scope="module")
def reader(request: pytest.FixtureRequest) -> Reader:
    return Reader(PAGES[request.param])


def test_elements_close_each_other_and_no_two_have_one_id(reader: Reader) -> None:
    ids = Counter(given["id"] for _, given in reader.elements if "id" in given)

    assert [name for name, count in ids.items() if count > 1] == []


def test_nothing_is_inline_so_that_a_strict_policy_can_hold(reader: Reader) -> None:
    for tag, given in reader.elements:
        assert tag not in ("style", "iframe", "object", "embed", "base")
        assert "style" not in given
        assert not [name for name in given if name.startswith(("on", "hx-on"))]
        if tag == "script":
            assert given["src"].startswith("/static/")
        for name in ("src", "href", "action", "formaction"):
            assert not given.get(name, "").lower().startswith(("javascript:", "data:", "//"))


def test_what_names_another_element_finds_it(reader: Reader) -> None:
    ids = {given["id"] for _, given in reader.elements if "id" in given}
    for tag, given in reader.elements:
        named = [given[name] for name in ("for", "form", "aria-controls") if name in given]
        named += given.get("aria-describedby", "").split()
        named += [given["href"][1:]] if tag == "a" and given.get("href", "").startswith("#") else []
        assert [name for name in named if name not in ids] == [], (tag, given)


def test_each_icon_is_one_of_the_sprite(reader: Reader) -> None:
    known = set(re.findall(r'<symbol id="([\w-]+)"', (FOLDER / "icons.svg").read_text("utf-8")))
    used = {given["href"].partition("#")[2] for tag, given in reader.elements if tag == "use"}

    assert used <= known


def test_no_text_of_others_hides_or_becomes_an_element(reader: Reader) -> None:
    assert not [given for tag, given in reader.elements if tag == "img" and given.get("src") == "x"]
    for text, around in reader.texts:
        if around and around[-1][0] == "textarea":
            continue  # it is typed here, and sent back as it is
        assert raw_in(text) == []


def test_an_agent_never_speaks_in_the_banner_or_with_a_button() -> None:
    page = Reader(PAGES["state-hostile"])
    for text, around in page.texts:
        places = {name for _, classes in around for name in classes}
        if "alert(1)" not in text or places & FENCES:
            continue
        assert not places & {"banner", "bar-row", "section-head", "rail"}, (text, places)


def test_words_of_the_agent_are_marked_as_such() -> None:
    page = Reader(PAGES["state-long"])
    why = [around for text, around in page.texts if "All work and no play" in text]

    assert why
    fenced = [one for one in why if any(classes & FENCES for _, classes in one)]
    assert len(fenced) >= 2  # the start, and the whole


def test_every_input_of_a_page_has_a_name_that_is_read_out(reader: Reader) -> None:
    labelled = {given["for"] for tag, given in reader.elements if tag == "label" and "for" in given}
    for tag, given in reader.elements:
        if tag not in ("input", "textarea", "select"):
            continue
        if given.get("type") in ("hidden", "checkbox", "radio"):
            continue
        assert given.get("id") in labelled or "aria-label" in given, given


def test_enter_in_a_field_decides_nothing() -> None:
    """Enter presses the first button of a form: it must be one that only looks."""
    for name, html in PAGES.items():
        if 'id="decide-' not in html:
            continue
        form = html[html.index('id="decide-') :]
        first = re.search(r"<button[^>]*>", form)
        assert first is not None
        assert 'value="preview"' in first[0], name


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
