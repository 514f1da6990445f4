"""Whole numbers that are options."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Sayso


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("demo", "--port", "abc"), "'abc' is not a whole number from 0 to 65535."),
        (("serve", "--port", "70000"), "'70000' is not a whole number from 0 to 65535."),
        (("inbox", "list", "--limit", "0"), "'0' is not a whole number from 1 to 500."),
        (("trust", "show", "k", "--limit", "-1"), "'-1' is not a whole number, 0 or more."),
    ],
)
def test_what_is_no_such_number_is_said_in_plain_words(
    sayso: Sayso, args: tuple[str, ...], said: str
) -> None:
    done = sayso(*args)

    assert done.code == 2
    assert said in done.err
    assert "range" not in done.err


def test_the_ends_of_a_range_belong_to_it(sayso: Sayso) -> None:
    for limit in ("1", "500"):
        assert sayso("inbox", "list", "--limit", limit).code == 0
