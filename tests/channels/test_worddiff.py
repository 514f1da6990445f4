"""What differs between two values: nothing is lost, nothing is made up, and it stays quick."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.channels.worddiff import MOST_STEPS, MOST_TOKENS, Change, Piece, Work, changes, words
from sayso.model.digest import canonical

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "a b", "40", " a"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab/~"), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "steps"]), JSON)


def test_texts_are_compared_by_words() -> None:
    assert words("Pay Ada 40 EUR now", "Pay Bob 40 EUR") == (
        Piece("same", "Pay "),
        Piece("out", "Ada"),
        Piece("in", "Bob"),
        Piece("same", " 40 EUR"),
        Piece("out", " now"),
    )
    assert words("", "") == ()
    assert words("a", "a") == (Piece("same", "a"),)


@settings(deadline=None)
@given(st.text("ab \n\u202e", max_size=60), st.text("ab \n\u202e", max_size=60))
def test_pieces_put_together_are_both_texts(before: str, after: str) -> None:
    pieces = words(before, after)

    assert "".join(piece.text for piece in pieces if piece.kind != "in") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "out") == after


def test_long_texts_are_compared_by_lines() -> None:
    lines = [f"line {number} of many\n" for number in range(MOST_TOKENS)]
    changed = [*lines[:700], "another\n", *lines[701:]]

    assert words("".join(lines), "".join(changed)) == (
        Piece("same", "".join(lines[:700])),
        Piece("out", lines[700]),
        Piece("in", "another\n"),
        Piece("same", "".join(lines[701:])),
    )


def test_a_megabyte_of_differences_is_one_piece_out_and_one_in() -> None:
    before, after = "x\n" * 500_000, "y\n" * 500_000

    assert words(before, after) == (Piece("out", before), Piece("in", after))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a": 40}, {"a": "40"}, [("/a", "changed", "-40", '+"40"')]),
        ({"a": 1}, {"a": 1.0}, [("/a", "changed", "-1", "+1.0")]),
        ({"a": True}, {"a": 1}, [("/a", "changed", "-true", "+1")]),
        ({"a": "40"}, {"a": "41"}, [("/a", "changed", '-"40"', '+"41"')]),
        ({"a": "x"}, {"a": " x"}, [("/a", "changed", '-"x"', '+" x"')]),
        ({"a": "x y"}, {"a": "x z"}, [("/a", "changed", "=x ", "-y", "+z")]),
        ({"a": None}, {}, [("/a", "removed", "-null")]),
        ({}, {"a/b": ""}, [("/a~1b", "added", '+""')]),
        ({"n": {"x": 1, "y": 2}}, {"n": {"x": 1, "y": 3}}, [("/n/y", "changed", "-2", "+3")]),
        ({"l": [1, 2, 3]}, {"l": [3, 1, 2]}, [("/l/0", "moved", "=3")]),
        ({"l": [1, 2]}, {"l": [1, 2, 2]}, [("/l/2", "added", "+2")]),
        ({"l": [1, 2]}, {"l": [2]}, [("/l/0", "removed", "-1")]),
        ({"l": [{"a": 1}]}, {"l": [{"a": 2}]}, [("/l/0/a", "changed", "-1", "+2")]),
        ({"a": 1}, {"a": 1}, []),
    ],
)
def test_changes_say_where_how_and_with_which_types(
    before: dict[str, Any], after: dict[str, Any], found: list[tuple[str, ...]]
) -> None:
    assert [said(change) for change in changes(before, after)] == found


def said(change: Change) -> tuple[str, ...]:
    signs = {"same": "=", "out": "-", "in": "+"}
    return (change.where, change.how, *(signs[p.kind] + p.text for p in change.pieces))


def test_names_are_for_people_who_count_from_one() -> None:
    names = [
        change.name
        for change in changes({"a": {"b": [1, 2]}, "l": [1, 2]}, {"a": {"b": [1, 3]}, "l": [2, 1]})
    ]

    assert names == ["a.b 2", "l 2 to 1"]


def test_steps_of_a_plan_are_compared_on_their_lines() -> None:
    search = {"title": "Search", "tool": "web", "detail": "all of it"}
    before = {"steps": [search, "Write", "Send"]}
    after = {"steps": [search | {"needs_approval": True, "detail": "a part"}, "Send", "Write", "X"]}

    assert [said(change) for change in changes(before, after, plan=True)] == [
        ("/steps/0", "changed", "=Search [web]", "+ (needs approval)"),
        ("/steps/0/detail", "changed", "-all", "+a", "= ", "-of it", "+part"),
        ("/steps/1", "moved", "=Send"),
        ("/steps/3", "added", "+X"),
    ]


def test_a_step_that_says_the_same_in_another_way_is_a_change() -> None:
    found = changes({"steps": ["a"]}, {"steps": [{"title": "a"}]}, plan=True)

    assert [said(change) for change in found] == [
        ("/steps/0", "changed", '-"a"', '+{"title": "a"}')
    ]


@settings(deadline=None)
@given(OBJECTS, OBJECTS)
def test_there_are_changes_exactly_where_something_differs(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    found = changes(before, after)

    assert bool(found) == (canonical(before) != canonical(after))
    assert all(change.pieces for change in found)


def test_more_changes_than_anybody_reads_are_counted() -> None:
    found = changes({}, {str(number): 1 for number in range(2_000)})

    assert len(found) == 501
    assert found[-1].name == "and 1,500 changes more"


# --- how much is compared ----------------------------------------------------------------------


def test_all_texts_together_are_compared_up_to_a_bound() -> None:
    def text(number: int) -> str:
        return " ".join(f"w{(place * 7 + number) % 50}" for place in range(900))

    work = Work(100_000)
    for number in range(40):
        words(text(number), text(number + 1), work)
    assert 0 <= work.left < 20_000, "it stops when nothing is left, not before"

    late = words("a b c", "a x c", Work(0))
    assert late == (Piece("same", "a "), Piece("out", "b"), Piece("in", "x"), Piece("same", " c"))
    far = words("q b c r", "s b c t", Work(0))
    assert far == (Piece("out", "q b c r"), Piece("in", "s b c t"))


def test_what_is_only_counted_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counted(before: str, after: str, _work: object) -> tuple[Piece, ...]:
        compared.append(before)
        return (Piece("out", before), Piece("in", after))

    monkeypatch.setattr("sayso.channels.worddiff.words", counted)
    before = {str(number): f"a {number} b" for number in range(2_000)}
    found = changes(before, {name: f"{text} c" for name, text in before.items()})

    assert found[-1].name == "and 1,500 changes more"
    assert len(compared) == 500


def test_one_edit_has_one_bound_for_its_texts_and_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Work] = []

    def counted(before: str, after: str, work: Work) -> tuple[Piece, ...]:
        seen.append(work)
        return words(before, after, work)

    monkeypatch.setattr("sayso.channels.worddiff.words", counted)
    changes({"a": "x y", "b": ["p q", "r"]}, {"a": "x z", "b": ["p s", "r"]})

    assert len(seen) == 2
    assert seen[0] is seen[1]
    assert seen[0].left < MOST_STEPS
