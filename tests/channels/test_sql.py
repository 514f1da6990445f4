"""A text of SQL is read in one pass, whatever is left open in it."""

from __future__ import annotations

from typing import SupportsIndex

import pytest

from sayso.channels import sql
from sayso.channels.sql import read_sql


class Watched(str):
    """A text that counts the characters in which something is looked for."""

    __slots__ = ("looked",)
    looked: int

    def find(  # type: ignore[override]
        self, sub: str, start: SupportsIndex = 0, end: SupportsIndex | None = None, /
    ) -> int:
        found = super().find(sub, start, end)
        self.looked += (len(self) if found < 0 else found + len(sub)) - start.__index__()
        return found


@pytest.mark.parametrize(
    "text",
    [
        *("/* a" * 5_000, "$a$ b " * 3_001, "/* a */ " * 2_000, "$$ /* " * 3_000),
        " ".join(f"$a{number}$" for number in range(3_000)),
    ],
    ids=["open comments", "tags", "comments", "both", "open tags"],
)
def test_no_end_is_looked_for_twice(text: str) -> None:
    watched = Watched(text)
    watched.looked = 0

    tokens = list(sql._tokens(watched))

    assert watched.looked <= len(text)
    assert sum(len(token) for _, token in tokens) <= len(text)
    for opens in ("/*", "$b$"):  # what opens something is a token without what stands behind it
        found = sql._TOKEN.match(f"{opens} a */ $b$ ")
        assert found is not None
        assert found[0] == opens


def test_what_stands_behind_an_open_comment_is_read_all_the_same() -> None:
    reading = read_sql("/* a; DROP TABLE users; /* b")

    assert "DROP TABLE users" in reading.does
    assert any("does not end" in warning for warning in reading.warnings)
    assert any("comment inside a comment" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    "text",
    ["select 1 /* delete from a */", "select $x$ delete from a $x$", "select $$;drop table a$$"],
)
def test_what_is_closed_is_passed_over(text: str) -> None:
    assert read_sql(text) == sql.Reading(("SELECT",))
