"""The lives of asks, runs and effects are tables; these tests say what the tables must allow."""

from __future__ import annotations

from typing import get_args

import pytest

from sayso.errors import Tampered
from sayso.model.lifecycle import ASK, EFFECT, RUN, AskStatus, EffectStatus, Table, may, move

# Written down a second time, by hand, from the design: the tables in the code must say the same.
ARROWS: dict[str, tuple[Table, set[tuple[str, str]]]] = {
    "ask": (
        ASK,
        {
            ("open", "decided"),
            ("open", "settling"),
            ("open", "withdrawn"),
            ("settling", "decided"),
            ("settling", "open"),
            ("settling", "withdrawn"),
        },
    ),
    "run": (
        RUN,
        {
            ("ready", "running"),
            ("ready", "cancelled"),
            ("ready", "parked"),  # by a restore, as below
            ("waiting", "parked"),
            ("running", "waiting"),
            ("running", "ready"),
            ("running", "parked"),
            ("running", "done"),
            ("running", "failed"),
            ("failed", "ready"),
            ("failed", "cancelled"),
            ("running", "cancelled"),
            ("waiting", "ready"),
            ("waiting", "cancelled"),
            ("parked", "ready"),
            ("parked", "cancelled"),
        },
    ),
    "effect": (
        EFFECT,
        {
            ("intended", "done"),
            ("intended", "failed"),
            ("intended", "unknown"),
            ("unknown", "intended"),
            ("unknown", "done"),
            ("unknown", "failed"),
        },
    ),
}
STEPS = [
    pytest.param(table, old, new, (old, new) in arrows, id=f"{name}-{old}-{new}")
    for name, (table, arrows) in ARROWS.items()
    for old in table
    for new in table
]


@pytest.mark.parametrize(("table", "old", "new", "allowed"), STEPS)
def test_a_status_changes_along_the_arrows_of_the_design_only(
    table: Table, old: str, new: str, allowed: bool
) -> None:
    assert may(table, old, new) is allowed
    if allowed:
        move(table, old, new, what="it")
        return
    with pytest.raises(Tampered, match="audit verify"):
        move(table, old, new, what="it")


@pytest.mark.parametrize("name", ARROWS)
def test_every_status_has_a_place_in_its_table(name: str) -> None:
    table, arrows = ARROWS[name]

    assert {status for arrow in arrows for status in arrow} == set(table)


def test_the_types_name_the_statuses_and_a_wrong_step_names_whose_it_was() -> None:
    assert set(get_args(AskStatus)) == set(ASK)
    assert set(get_args(EffectStatus)) == set(EFFECT)

    with pytest.raises(Tampered, match="a-7f3k"):
        move(ASK, "decided", "open", what="a-7f3k")


@pytest.mark.parametrize(
    ("table", "final"),
    [(ASK, {"decided", "withdrawn"}), (EFFECT, {"done", "failed"})],
    ids=["ask", "effect"],
)
def test_what_is_over_stays_over(table: Table, final: set[str]) -> None:
    assert {status for status, targets in table.items() if not targets} == final
