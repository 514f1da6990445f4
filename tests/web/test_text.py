"""Text of others on a page: nothing hides, nothing escapes, nothing is lost."""

from __future__ import annotations

import html
import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.model.text import hides
from sayso.web.look.text import MOST, clamp, line, shown, told
from tests import hostile

BADGE = re.compile(r'<span class="cp" title="([^"]*)">U\+([0-9A-F]{4,6})</span>')
ANY_TEXT = st.text() | st.text("<>&\"'[]U+202E \u202e\u200b\x1b\n\ud800\u2066[")


def read_back(drawn: str) -> str:
    """Take the tags off, and put back the characters that the badges stand for."""
    bare = BADGE.sub(lambda found: f"<{found[2]}>", drawn)
    bare = re.sub(r"</?(bdi|span|div|details|summary|q)\b[^>]*>", "", bare)
    parts = re.split(r"<([0-9A-F]{4,6})>", bare)
    return "".join(
        chr(int(part, 16)) if number % 2 else html.unescape(part)
        for number, part in enumerate(parts)
    )


def test_what_hides_is_a_badge_with_its_name() -> None:
    assert shown("pay\u202e001") == (
        '<bdi class="shown">pay'
        '<span class="cp" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>001</bdi>'
    )
    assert not hostile.raw_in(shown(hostile.ALL))
    assert shown(hostile.ALL).count('class="cp"') == 6


def test_a_label_that_an_agent_wrote_is_no_badge() -> None:
    drawn = shown("[U+202E RIGHT-TO-LEFT OVERRIDE]")

    assert BADGE.findall(drawn) == [("LEFT SQUARE BRACKET", "005B")]
    assert 'title="RIGHT' not in drawn
    fake = shown('<span class="cp" title="X">U+202E</span>')
    assert BADGE.findall(fake) == []


@settings(deadline=None)
@given(ANY_TEXT)
def test_a_text_can_be_read_back_from_what_is_drawn(text: str) -> None:
    assert read_back(shown(text)) == text


@settings(deadline=None)
@given(ANY_TEXT)
def test_nothing_of_theirs_is_markup_and_nothing_hides(text: str) -> None:
    drawn = BADGE.sub("", shown(text)).removeprefix('<bdi class="shown">').removesuffix("</bdi>")

    assert "<" not in drawn
    assert ">" not in drawn
    assert '"' not in drawn
    assert not any(unicodedata.category(char) in ("Cf", "Cs", "Co") for char in drawn) or not hides(
        html.unescape(drawn)
    )


@settings(deadline=None)
@given(ANY_TEXT, st.integers(1, 40))
def test_a_line_is_one_line(text: str, width: int) -> None:
    drawn = line(text, width)

    assert "\n" not in drawn
    assert drawn.startswith("<bdi>")
    assert "<" not in BADGE.sub("", drawn).removeprefix("<bdi>").removesuffix("</bdi>")


def test_a_result_that_is_a_text_is_quoted_once() -> None:
    said = {'done: "All paid."': "All paid.", 'done: "All pa…': "All pa…", 'done: "': '"'}
    said['done: ["a", "b"]'], said['done: "a", "b"'] = '["a", "b"]', '"a", "b"'
    for seen, drawn in said.items():
        assert read_back(told(seen)) == f"done: {drawn}"


def test_long_text_is_opened_to_be_read_whole() -> None:
    text = "".join(f"<{number}>" for number in range(1_000))

    drawn = clamp(text, 'x"y')

    assert '<details class="clamp" id="x&#34;y"><summary>Show all 4,890 characters' in drawn
    assert clamp("short", "x") == shown("short")
    assert str(shown(text)) in drawn


def test_a_megabyte_is_cut_and_says_so() -> None:
    assert "800,000 characters more are not shown here" in shown("a" * 5 * MOST)
    labels = shown("\u200b" * 1_000_000)
    assert "990,000 characters more are not shown here" in labels
    assert len(labels) < 1_000_000
