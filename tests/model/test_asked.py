from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from sayso.errors import BadValue
from sayso.model import asked
from sayso.model.actor import Origin
from sayso.model.asked import Asked, read, write
from sayso.model.content import Content, Option
from tests.journals import content

SAM = Origin("python", "sam@till")


def written(about: Content | None = None, ask_id: str = "a-7f3k") -> tuple[str, Asked]:
    return write(ask_id, about or content(), origin=SAM, key="order-7", held=True)


def afresh(text: str) -> Asked:
    """Read a text as a program does that has not seen it before."""
    asked._remembered.clear()
    return read(text)


def test_what_was_put_is_what_is_read_and_says_who_asked() -> None:
    text, put = written()

    assert afresh(text) == put
    assert (put.id, put.key, put.held, put.content) == ("a-7f3k", "order-7", True, content())

    text, _ = write("a-7f3k", content(), origin=SAM, key=None, held=False)

    said = json.loads(text)
    assert (said["via"], said["account"]) == ("python", "sam@till")
    assert set(said) == {"ask", "content", "via", "account"}


def test_a_text_is_taken_apart_once_and_anew_if_it_differs() -> None:
    text, _ = written()

    assert afresh(text).content is read(text).content

    text, put = written()
    changed = read(text.replace('"amount":40', '"amount":41'))

    assert changed.content.proposal.args == {"amount": 41}
    assert changed.digest != put.digest

    assert written(ask_id="a-7f3k")[1].digest != written(ask_id="a-7f3m")[1].digest


def test_what_one_reader_does_to_an_option_no_other_reader_sees() -> None:
    choice = dataclasses.replace(content("choice"), options=(Option("a", {"price": 1}),))
    text, _ = written(choice)

    read(text).content.options[0].value["price"] = 2

    assert read(text).content.options[0].value == {"price": 1}


def test_memory_is_bounded_in_number_and_in_size() -> None:
    asked._remembered.clear()
    for number in range(2000):
        written(ask_id=f"a-{number:04}")
    long = dataclasses.replace(content(), why="x" * 100_000)
    text, _ = written(long)

    assert len(asked._remembered) <= 512
    assert text not in asked._remembered


@pytest.mark.parametrize(
    ("about", "where"),
    [({"why": "\ud800"}, "content.why"), ({"affects": {1, 2}}, "content.affects")],
)
def test_what_cannot_be_stored_is_refused_with_its_place(about: dict[str, Any], where: str) -> None:
    with pytest.raises(BadValue) as refused:
        written(dataclasses.replace(content(), **about))

    assert refused.value.path == where


def test_more_than_a_person_can_review_is_refused() -> None:
    with pytest.raises(BadValue, match="at most"):
        written(dataclasses.replace(content(), why="x" * 3_000_000))
