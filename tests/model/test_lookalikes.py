"""Words that are not spelt as they look."""

from __future__ import annotations

import unicodedata

import pytest

from sayso.model.lookalikes import LOOK_ALIKES, disguised, unmasked


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("write to admin@p\u0430ypal.example", ["p\u0430ypal"]),
        ("\u0420\u0430yp\u0430l", ["\u0420\u0430yp\u0430l"]),
        ("g\u03bf\u03bfgle and g\u03bfogle", ["g\u03bf\u03bfgle", "g\u03bfogle"]),
        ("delete_\u0430ll", ["\u0430ll"]),
    ],
)
def test_a_latin_word_with_a_foreign_letter_is_found(text: str, words: list[str]) -> None:
    assert list(disguised(text)) == words


@pytest.mark.parametrize(
    "text",
    [
        "",
        "paypal",
        "na\u00efve Stra\u00dfe",  # accents are Latin
        "\u043f\u0440\u0438\u0432\u0435\u0442, Ada",  # a Russian word beside a Latin one
        "USB-\u043a\u0430\u0431\u0435\u043b\u044c",
        "\u0394t = 5 k\u03a9",  # Greek letters that look like nothing Latin
        "\u65e5\u672c\u8a9e",
    ],
)
def test_words_of_one_language_are_left_alone(text: str) -> None:
    assert list(disguised(text)) == []


def test_a_disguise_is_a_letter_of_another_script() -> None:
    assert unmasked("p\u0430yp\u0430l") == "U+0430 CYRILLIC SMALL LETTER A"

    names = {unicodedata.name(letter).split()[0] for letter in LOOK_ALIKES}

    assert names == {"CYRILLIC", "GREEK", "ARMENIAN"}

    assert len(list(disguised("p\u0430y " * 200_000))) == 200_000
    assert len(list(disguised("p\u0430" * 500_000))) == 1
