"""Runs at a server: people start them by name, look at them and steer them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sayso import Desk
from sayso.errors import (
    BadValue,
    Forbidden,
    RunCancelled,
    RunFailed,
    RunOver,
    StillRunning,
    UnknownRun,
)
from tests.places import Place
from tests.served import Served


@pytest.fixture
def served(sqlite: Place) -> Iterator[Served]:
    with Desk(sqlite.url, agent="server", account="sam@till") as local:
        local.people.add("anna", roles=["senior"])

        @local.workflow
        def settle(run: Any, order: int, amount: int = 1) -> dict[str, int]:
            paid = run.question("How much?", type=int)
            if paid < 0:
                raise ValueError("less than nothing")
            return {"order": order, "paid": paid * amount}

        with Served(local) as server:
            yield server


@pytest.fixture
def anna(served: Served) -> Iterator[Any]:
    with Desk(served.url, token=served.token("anna", kind="person")) as desk:
        yield desk


def test_a_run_is_started_by_name_and_brings_its_result(served: Served, anna: Any) -> None:
    run = anna.start("settle", 7, thread="sale")
    served.desk.work(until="idle")

    assert (run.status, run.workflow, run.thread, run.team) == ("waiting", "settle", "sale", None)
    assert [found.id for found in anna.runs()] == [run.id]
    assert [found.id for found in anna.runs(status="done")] == []
    assert anna.get_run(run.id).started_at == served.desk.get_run(run.id).started_at
    with pytest.raises(StillRunning):
        run.result(timeout=0)
    anna.respond(run.state.pending[0], 3)
    served.desk.work(until="idle")
    assert run.result() == run.output == {"order": 7, "paid": 3}
    assert [event.kind for event in run.events][:1] == ["run.started"]
    with pytest.raises(RunOver):
        anna.cancel(run)


def test_a_run_that_fails_is_retried_or_cancelled(served: Served, anna: Any) -> None:
    run = anna.start("settle", order=7)
    served.desk.work(until="idle")
    anna.respond(run.state.pending[0], -1)
    served.desk.work(until="idle")
    with pytest.raises(RunFailed, match="less than nothing"):
        run.result()
    assert anna.retry(run.id).status == "ready"
    other = anna.start("settle", 8)
    anna.cancel(other, "not needed")
    with pytest.raises(RunCancelled, match="not needed"):
        other.result()


def test_what_makes_no_sense_starts_nothing(served: Served, anna: Any) -> None:
    for act in (
        lambda: anna.start("unheard-of"),
        lambda: anna.start("settle", 7, amount=1),
        lambda: anna.start("settle", nonsense=1),
        lambda: anna.start("settle", {1, 2}),
        lambda: anna.start(served.desk.workflow),
    ):
        with pytest.raises(BadValue):
            act()
    assert anna.runs() == []
    for wrong in ("r-none", "", "../asks", 7):
        with pytest.raises(UnknownRun):
            anna.get_run(wrong)
    bot = Desk(served.url, token=served.token("bot", kind="agent"))
    with pytest.raises(Forbidden):
        bot.start("settle", 7)  # type: ignore[arg-type]
    bot.close()


def test_calibration_is_that_of_the_desk_behind_the_server(served: Served) -> None:
    local = served.desk
    local.approve(local.open("pay", confidence=0.9), by="anna")
    with Desk(served.url, token=served.token("anna", kind="person")) as desk:
        there = desk.calibration(tool="pay")

    assert there == local.calibration(tool="pay")
    assert (there[0]["labels"], there[0]["good"], there[0]["record"]) == (1, 1, False)


def test_figures_are_those_of_the_desk_behind_the_server(served: Served) -> None:
    local = served.desk
    local.approve(local.open("pay"), by="anna")
    with Desk(served.url, token=served.token("anna", kind="person")) as desk:
        there, here = desk.metrics(days=7), local.metrics(days=7)

    assert there.pop("until") <= here.pop("until")
    assert there == here
    assert there["approved"] == 1
