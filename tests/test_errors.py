"""The errors: one tree, stable codes, and fit to travel between processes."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator

import pytest

from sayso import Desk, errors
from sayso.errors import AskClosed, KeyConflict, SaysoError
from tests.places import Place


def tree(root: type[SaysoError] = SaysoError) -> Iterator[type[SaysoError]]:
    yield root
    for branch in root.__subclasses__():
        yield from tree(branch)


PUBLIC = [error for error in tree() if not error.__name__.startswith("_")]


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [error.code for error in PUBLIC]

    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in codes)


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")

    ours = [error.__name__ for error in PUBLIC if error.__module__ == "sayso.errors"]
    assert sorted(drawn) == sorted(set(ours) - {"SaysoError"})


def test_an_error_survives_the_way_between_processes(desk: Desk, place: Place) -> None:
    """Raised in a pool of processes, it must reach whoever asked."""
    ask = desk.reject(desk.open("pay", {"amount": 1}, key="k"), "no")
    caught: list[SaysoError] = []
    for call in (lambda: desk.approve(ask), lambda: desk.open("pay", {"amount": 2}, key="k")):
        with pytest.raises(SaysoError) as raised:
            call()
        caught.append(raised.value)

    closed, conflict = pickle.loads(pickle.dumps(caught))

    assert isinstance(closed, AskClosed)
    assert (str(closed), closed.decision, closed.attempted) == (
        str(caught[0]),
        ask.decision,
        "approve",
    )
    assert isinstance(conflict, KeyConflict)
    assert conflict.key == "k"
