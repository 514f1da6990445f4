"""The table of kinds of events, and what else it must agree with."""

from __future__ import annotations

import pytest

from sayso.errors import BadValue
from sayso.model.event_kinds import EVENTS, FAMILIES, TOLD, check_kind
from sayso.model.folding import _STEPS
from sayso.model.lifecycle import ASK, EFFECT, RUN

SCHEDULING = {"running", "waiting"}  # who may carry a run on is no event


def becoming(*families: str) -> set[str | None]:
    return {kind.becomes for kind in EVENTS.values() if kind.family in families} - {None}


def test_the_table_of_kinds_agrees_with_the_lives_and_says_what_it_tells() -> None:
    assert becoming("ask") == set(ASK)
    assert becoming("effect") == set(EFFECT)
    assert becoming("run") == set(RUN) - SCHEDULING

    assert {name for name in _STEPS if EVENTS[name].stream != "ask"} == set()

    assert {EVENTS[name].stream for name in TOLD} == {"ask", "trust"}

    for kind in EVENTS.values():
        assert kind.tells.endswith(".")
        assert kind.by
        assert all(meaning for meaning in kind.says.values())


@pytest.mark.parametrize("name", ["ask.opened", "ask.taken_back", "journal.sealed"])
def test_a_kind_that_there_is_passes(name: str) -> None:
    assert check_kind(name) == name


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_passes_only_where_it_is_asked_for(family: str) -> None:
    assert check_kind(f"{family}.*", families=True) == f"{family}.*"
    with pytest.raises(BadValue, match="no kind of event"):
        check_kind(f"{family}.*")


@pytest.mark.parametrize("name", ["", "*", "ask", "ask.", "ask.open", "ASK.OPENED", None, 7])
def test_what_is_no_kind_is_refused(name: object) -> None:
    with pytest.raises(BadValue, match="no kind of event"):
        check_kind(name)


def test_a_near_miss_is_told_what_was_meant() -> None:
    with pytest.raises(BadValue, match=r"Did you mean effect\.unknown\?"):
        check_kind("effect.unknownn")
