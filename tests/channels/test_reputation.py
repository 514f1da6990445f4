"""How a key stands, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Key, Ledger, Standing
from sayso.autonomy.reach import Reach
from sayso.channels.reputation import (
    ends_words,
    marks_words,
    record_words,
    reputation,
    score_words,
)

BOOK = Book(id="k-1", key=Key("shop", "", "refund", "", "medium"), ledger=Ledger(), fine=41)


def test_a_record_counts_what_was_fine_harmful_and_reported() -> None:
    assert record_words(BOOK) == "41 of its calls were fine, 0 harmful"
    assert record_words(replace(BOOK, fine=1)) == "1 of its calls was fine, 0 harmful"
    assert record_words(replace(BOOK, incidents=2)).endswith("0 harmful, 2 incidents")


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        ("reviewed", "248 more before it may run alone"),
        ("proposed", "people are asked whether it may run alone"),
        ("granted", "it runs alone, and 11.1% of its calls are still looked at"),
        ("suspended", "until somebody else has looked"),
        ("locked", "only a person lets it earn again"),
    ],
)
def test_every_standing_says_what_comes_next(standing: Standing, words: str) -> None:
    assert words in reputation(replace(BOOK, ledger=Ledger(standing=standing)))


def test_a_score_is_never_rounded_up_to_what_it_has_not_reached() -> None:
    assert score_words(replace(BOOK, ledger=Ledger(score=19.99))) == "19.9 of 20"
    assert score_words(replace(BOOK, ledger=Ledger(score=1, ends=1))) == "1.0 of 40"


def test_where_a_score_is_reached_it_says_which_people_and_days_are_missing() -> None:
    reach = Reach().grown({"amount": 1}, ["ann"], 0)
    book = replace(BOOK, ledger=Ledger(score=20.0), reach=reach)

    assert reputation(book).endswith(
        "enough of them; a grant also takes 2 people who approved (1 so far), "
        "and 2 days from the first to the last approval (0 so far)"
    )


def test_what_ends_a_grant_is_that_of_its_tier() -> None:
    high = replace(BOOK, key=BOOK.key._replace(tier="high"))

    assert ends_words(BOOK)[0] == "2 harms, each confirmed by a second person, end it; 0 so far."
    assert ends_words(high)[0].startswith("One harm that a second person confirms ends it")


def test_ticks_are_told_in_words() -> None:
    assert marks_words("") == "Nothing was said of it yet."
    assert marks_words("+") == "The last entry: 1 fine."
    assert marks_words("++?xG!") == (
        "The last 6 entries: 2 fine, 1 flagged, 1 harmful, 1 harm reported, 1 let run alone."
    )
