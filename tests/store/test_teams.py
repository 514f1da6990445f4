"""Runs of a team: what they ask, and their threads, are of that team."""

from __future__ import annotations

import pytest

from sayso import Desk
from sayso.errors import ThreadBusy
from tests.places import Place


def test_what_a_run_asks_belongs_to_its_team(desk: Desk) -> None:
    desk.people.add("anna", teams=["billing"])
    desk.people.add("ben", teams=["ops"])

    @desk.workflow
    def settle(run: object) -> bool:
        return bool(run.confirm("Settle?"))  # type: ignore[attr-defined]

    run = desk.start(settle, team="billing")
    free = desk.start(settle)
    desk.work(until="idle")

    (ask,) = run.asks
    assert (run.team, ask.content.team, free.team) == ("billing", "billing", None)
    assert [one.id for one in desk.inbox(person="ben")] == [free.asks[0].id]
    assert [one.id for one in desk.runs(teams="ops")] == [free.id]
    assert {one.id for one in desk.runs(teams=["billing"])} == {run.id, free.id}
    assert [one.id for one in desk.runs(teams=[], status="waiting")] == [free.id]
    desk.approve(ask, by="anna")
    desk.work(until="idle")
    assert run.result() is True
    assert desk.verify()


def test_a_thread_of_one_team_is_none_of_anothers(desk: Desk) -> None:
    """Its name says nothing to other teams: not that a run goes on, nor what it remembers."""

    @desk.workflow
    def talk(run: object) -> bool:
        return bool(run.confirm("Go on?"))  # type: ignore[attr-defined]

    first = desk.start(talk, thread="news", team="billing")
    other = desk.start(talk, thread="news", team="ops")
    with pytest.raises(ThreadBusy) as busy:
        desk.start(talk, thread="news", team="ops")

    assert other.id in str(busy.value)
    assert [run.id for run in desk.runs(thread="news", teams="billing")] == [first.id]
    assert not desk.thread("news").steps


def test_verify_finds_a_run_that_was_moved_to_another_team_by_hand(
    desk: Desk, place: Place
) -> None:
    @desk.workflow
    def talk(run: object) -> None:
        run.confirm("Go on?")  # type: ignore[attr-defined]

    run = desk.start(talk, team="billing")
    place.sql("update runs set team = 'ops' where id = ?", run.id)

    assert "team is not as the journal says" in str(desk.verify().problems)
