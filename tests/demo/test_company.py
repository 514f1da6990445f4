"""The company of the demo: whatever people say to it, its runs come to an end."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import ActionStep, Desk
from sayso.demo.company import open_desk, open_work
from sayso.demo.picture import bars
from sayso.demo.tour import tour
from sayso.model.ask import Ask
from sayso.model.file import image_type
from sayso.web.stops import Stop
from tests.demo.conftest import Copy
from tests.docs.test_mission import MISSION


@pytest.fixture
def company(copied: Copy, tmp_path: Path) -> Iterator[Desk]:
    """A copy of it, served by this process."""
    with open_desk(f"sqlite:///{copied(tmp_path / 'company')}/demo.db") as desk:
        yield desk


def statuses(desk: Desk) -> set[str]:
    return {run.status for run in desk.runs(limit=100)}


def test_everything_is_there_and_opening_again_changes_nothing(company: Desk) -> None:
    before = company.store.total()

    open_work(company)

    assert company.store.total() == before
    assert statuses(company) == {"waiting", "done"}
    assert company.verify().problems == ()


def test_a_no_to_everything_ends_every_run(company: Desk) -> None:
    while waiting := company.inbox(limit=100):  # what is called bad is made again, and asked again
        for ask in waiting:
            company.reject(ask, "No")
        company.work(until="idle")

    assert statuses(company) == {"done", "cancelled"}
    cancelled = {run.thread for run in company.runs(status="cancelled")}
    assert cancelled == {"renewals, monthly", "two days in Lucerne"}, "plans that were rejected"
    sent = [run for run in company.runs(limit=100) if run.thread == "renewals, annual"]
    assert "said no: No." in sent[0].output


def test_a_word_instead_of_a_verdict_goes_to_the_agent(company: Desk) -> None:
    for ask in company.inbox(limit=100):
        if ask.kind in ("action", "draft", "plan", "notice", "feedback"):
            company.respond(ask, "Ask me again in June")
    company.work(until="idle")

    again = {ask.content.thread: ask for ask in company.inbox(limit=100)}
    written = again["apology for Monday"], again["size of the market"]
    assert ["Ask me again in June" in ask.args["text"] for ask in written] == [True, True]
    assert again["renewals, monthly"].content.about is not None, "planned again"
    bodies = [ask.args["body"] for ask in company.inbox(limit=100) if ask.tool == "write_email"]
    assert bodies == ["Ask me again in June"], "a mail that is answered after all"
    assert "order 1182" not in again, "the agent was told, and said so"
    assert statuses(company) == {"waiting", "done"}


def test_the_chart_is_a_png_that_can_be_drawn() -> None:
    data = bars((3, 9, 5), doubtful=1)

    assert image_type(data) == "image/png"
    size = int.from_bytes(data[data.index(b"IDAT") - 4 :][:4], "big")
    raw = zlib.decompress(data[data.index(b"IDAT") + 4 :][:size])
    assert len(raw) == 160 * (1 + 3 * (14 + 3 * 42))


# --- the tour ---


def stops() -> tuple[Stop, ...]:
    return tour("sayso", "demo.db").everything


def test_every_stop_of_the_tour_has_something_that_waits(company: Desk) -> None:
    waiting = {ask.content.thread for ask in company.inbox(limit=100)}

    assert [stop.thread for stop in stops() if stop.thread not in waiting] == []


def test_everything_that_waits_is_on_the_tour(company: Desk) -> None:
    """But for equal ones: a label is like another."""
    waiting = {ask.content.thread for ask in company.inbox(limit=100)}
    twins = {"ticket 5522", "ticket 5527"}

    assert waiting - {stop.thread for stop in stops()} == twins


def test_no_thread_is_on_the_tour_twice() -> None:
    threads = [stop.thread for stop in stops()]

    assert len(threads) == len(set(threads))


# Where somebody who clicks meets a capability of the map.
SHOWN = {
    **dict.fromkeys(("S1.1", "S1.2", "S1.3", "S1.4", "S1.5", "S1.6"), "renewals, monthly"),
    "S1.7": "two days in Lucerne",
    "S1.9": "order 1101",
    "S2.1": "renewals, annual",
    "S2.2": "apology for Monday",
    "S2.3": "size of the market",
    "S2.4": "summary of May",
    "S2.5": "contacts from the fair",
    "S2.6": "note to the team",
    "S2.8": "broken parcels",
    "S2.9": "full disk",
    "S2.10": "Noor to Lisbon",
    "S2.11": "order 1182",
    "S2.12": "order 1190",
    "S2.16": "order 1190",
    **dict.fromkeys(("S3.1", "S3.2", "S3.3", "S3.4", "S3.5"), "request under Article 15"),
    "S3.6": "order 1182",
    "S3.7": "order 1190",
    "S3.8": "ticket 5530",
    "S3.9": "order 1190",
    "S4.1": "a slow shop",
    "S4.2": "a slow shop",
    "S4.3": "a slow shop",
    "S4.4": "a slow shop",
    "S4.5": "customers of 2019",
    "S4.6": "two days in Lucerne",
    "S4.7": "order 1190",
    "S4.8": "contacts from the fair",
    "S4.10": "press release",
}
# What cannot be met by clicking, and why.
ELSEWHERE = {
    "S1.8": "needs smolagents: examples 41 and 42",
    "S1.10": "callbacks are code: example 10",
    "S2.7": "a program that blocks has a terminal of its own: examples 01 and 23",
    "S2.13": "to come",
    "S2.14": "to come",
    "S2.15": "to come",
    "S3.10": "needs LangGraph: examples 38 and 39",
    "S3.11": "what was learned is shown by `sayso preferences`: example 30",
    "S4.9": "six programs of their own: examples/36_use_cases",
    "S4.11": "needs LangGraph: docs/howto/langgraph.md",
}


def test_every_capability_of_the_map_is_met_on_the_tour_or_said_to_be_elsewhere() -> None:
    threads = {stop.thread for stop in stops()}

    assert sorted([*SHOWN, *ELSEWHERE]) == sorted(row.id for row in MISSION)
    assert set(SHOWN.values()) <= threads


# --- one pattern after the other ---


def of(desk: Desk, thread: str) -> Ask:
    """The first ask that waits in a thread."""
    return next(ask for ask in desk.inbox(limit=100) if ask.content.thread == thread)


def output(desk: Desk, thread: str) -> str:
    run = desk.runs(thread=thread, limit=1)[0]
    assert run.status == "done", run.error
    return str(run.output)


def go_on(desk: Desk) -> None:
    desk.work(until="idle")


def test_a_plan_is_approved_and_then_each_of_its_steps(company: Desk) -> None:
    thread = "two days in Lucerne"
    plan = of(company, thread)
    company.edit(plan, {"steps": ["Book the train", "Invite the team"]})
    go_on(company)
    train = of(company, thread)
    assert train.tool == "book_train"
    company.edit(train, {"seats": 8})
    go_on(company)
    assert of(company, thread).tool == "invite", "the hotel was taken out of the plan"
    company.approve(of(company, thread))
    go_on(company)

    assert output(company, thread) == (
        "8 seats to Lucerne are booked. The data team is invited: Two days in Lucerne."
    )


def test_vouchers_wait_while_the_report_is_written(company: Desk) -> None:
    run = company.runs(thread="broken parcels", limit=1)[0]
    calls = [step for step in run.memory.steps if isinstance(step, ActionStep)]
    done = [step.name for step in calls if step.status == "done"]
    assert done == ["write_report"], "written before anybody decided"
    first, second = (a for a in company.inbox(limit=100) if a.content.thread == "broken parcels")
    company.reject(first, "Not this one")
    go_on(company)
    assert run.status == "waiting"
    company.approve(second)
    go_on(company)

    assert "has a voucher of EUR" in output(company, "broken parcels")
    assert "Not this one" in output(company, "broken parcels")


def test_mail_that_was_to_be_answered_after_all_is_answered_as_people_say(company: Desk) -> None:
    thread = "request under Article 15"
    company.respond(of(company, thread), "You will have it on Monday.")
    go_on(company)
    asks = {a.tool: a for a in company.inbox(limit=100) if a.content.thread == thread}
    assert asks["write_email"].args["body"] == "You will have it on Monday."
    company.approve(asks["write_email"])
    company.edit(asks["schedule_meeting"], {"minutes": 30})
    go_on(company)

    assert "30 minutes with dpo@example.org" in output(company, thread)


def test_a_case_that_people_approved_before_runs_alone_and_another_asks(company: Desk) -> None:
    second, first = company.runs(thread="ticket 5504")
    assert [ask.decision.by.kind for ask in first.asks if ask.decision] == ["person"]
    assert (second.asks, second.status) == ([], "done"), "nobody was asked"

    assert of(company, "ticket 5541").content.unseen
