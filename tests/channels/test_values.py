"""Values as JSON in which nothing hides."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import Desk
from sayso.channels.values import as_call, as_json, as_name, clipped
from sayso.model.text import hides, visible
from tests import hostile

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (40, "40"),
        ("40", '"40"'),
        (40.0, "40.0"),
        (True, "true"),
        (None, "null"),
        ("two\nlines", '"two\\nlines"'),
        ('quote " and \\', '"quote \\" and \\\\"'),
        (["a", {"b": 1}], '["a", {"b": 1}]'),
        ("Grüße 日本", '"Grüße 日本"'),
        ("\u202eevil", '"[U+202E RIGHT-TO-LEFT OVERRIDE]evil"'),
        ("\x1b[31m", '"[U+001B ESCAPE][31m"'),
        ({"\u200b": 1}, '{"[U+200B ZERO WIDTH SPACE]": 1}'),
    ],
)
def test_types_stay_visible_and_nothing_hides(value: object, shown: str) -> None:
    assert as_json(value) == shown


@given(JSON)
def test_whatever_the_value_its_line_is_one_line_of_json_that_hides_nothing(value: object) -> None:
    shown = as_json(value)

    assert "\n" not in shown
    alone = set(shown) - {"\ufe0f"}  # which belongs behind an emoji and nowhere else
    assert [char for char in alone if visible(char) != char] == []
    json.loads(shown)


@given(st.text())
def test_a_name_that_is_none_is_quoted(name: str) -> None:
    shown = as_name(name)

    assert shown == name or shown == as_json(name)
    assert not hides(shown, lines=False) or shown.startswith('"')


def test_a_text_cannot_pass_for_another_argument(sqlite, tmp_path) -> None:
    with Desk(sqlite.url) as desk:
        ask = desk.open("refund", {"a": '7", amount="9', "b": hostile.ANSI})

    assert as_call(ask).startswith('refund(a="7\\", amount=\\"9", b=')
    assert not hostile.raw_in(as_call(ask))


def test_what_is_cut_ends_in_an_ellipsis() -> None:
    assert clipped("abcdef", 6) == "abcdef"
    assert clipped("abcdefg", 6) == "abcde…"
