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


def test_every_state_is_entered_by_an_event_and_no_event_leads_elsewhere() -> None:
    assert becoming("ask") == set(ASK)
    assert becoming("effect") == set(EFFECT)
    assert becoming("run") == set(RUN) - SCHEDULING


def test_every_event_that_changes_an_ask_is_in_its_stream() -> None:
    assert {name for name in _STEPS if EVENTS[name].stream != "ask"} == set()


def test_events_that_people_are_told_of_are_of_asks_and_of_trust() -> None:
    assert {EVENTS[name].stream for name in TOLD} == {"ask", "trust"}


def test_every_kind_is_told_in_sentences_and_names_who_writes_it() -> None:
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
    with pytest.raises(BadValue):
        check_kind(f"{family}.*")


@pytest.mark.parametrize("name", ["", "*", "ask", "ask.", "ask.open", "ASK.OPENED", None, 7])
def test_what_is_no_kind_is_refused(name: object) -> None:
    with pytest.raises(BadValue, match="no kind of event"):
        check_kind(name)


def test_a_near_miss_is_told_what_was_meant() -> None:
    with pytest.raises(BadValue, match=r"Did you mean effect\.unknown\?"):
        check_kind("effect.unknownn")
