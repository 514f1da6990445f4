"""What a model writes while it writes it: however it comes, it stays behind its bar."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from sayso.cli.writing import Writing
from sayso.model.text import visible
from tests import hostile

PIECES = st.lists(
    st.text() | st.sampled_from(["\n", " ", "\t", "[U", "+202E", "\u202e", "\x1b[2K", "x" * 200]),
    max_size=12,
)


def written(*pieces: str, width: int = 40, named: str = "") -> str:
    file = io.StringIO()
    writing = Writing(Console(file=file, width=width, highlight=False, markup=False), named)
    for piece in pieces:
        writing.add(piece)
    writing.end()
    return file.getvalue()


@given(PIECES, st.integers(20, 100))
def test_every_line_has_its_bar_and_fits(pieces: list[str], width: int) -> None:
    said = written(*pieces, width=width)

    assert said == "" or said.endswith("\n")
    for line in said.split("\n")[:-1]:
        assert line.startswith("│ ")
        assert cell_len(line) <= width
    assert not hostile.raw_in(said)


@given(PIECES.filter(lambda pieces: len("".join(pieces)) < 400))
def test_how_it_is_cut_into_pieces_does_not_matter(pieces: list[str]) -> None:
    assert written(*pieces) == written("".join(pieces))
    assert written(*"".join(pieces)) == written("".join(pieces))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Hello", ["│ Hello"]),
        ("a\n\nb\n", ["│ a", "│ ", "│ b"]),
        ("  indented", ["│   indented"]),
        (
            "one two three four five six seven eight",
            ["│ one two three four five six seven", "│ eight"],
        ),
        ("x" * 40, [f"│ {'x' * 37}", f"│ {'x' * 3}"]),
        ("", []),
    ],
)
def test_it_is_wrapped_where_words_end(text: str, lines: list[str]) -> None:
    assert written(text).splitlines() == lines


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_faked_label_is_labelled_wherever_it_is_cut(cut: int) -> None:
    text = "see [U+202E] there"

    assert visible("[U+202E]") in written(text[:cut], text[cut:], width=80)


def test_whoever_writes_is_named_first() -> None:
    assert written("Hello", named="scout: ").splitlines() == ["│ scout:", "│ Hello"]
