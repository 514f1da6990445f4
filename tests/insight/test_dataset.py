"""What people decided as a data set: everything that was decided, and nothing that is nobody's business."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from sayso import Desk
from sayso.errors import BadValue
from sayso.insight import trail
from sayso.runs.running import Running
from sayso.testing import FakeClock
from tests.places import Place
from tests.together import in_thread, until

LINE = {
    *(
        "cursor",
        "ask",
        "kind",
        "title",
        "task",
        "agent",
        "team",
        "tool",
        "why",
        "confidence",
        "tier",
    ),
    *("facts", "options", "before", "after", "verdict", "reason", "note", "answer", "reviewer"),
    *("votes", "opened_at", "decided_at", "seconds", "outcome"),
}


def test_a_line_has_the_context_the_change_the_verdict_and_the_outcome(
    desk: Desk, clock: FakeClock
) -> None:
    ask = desk.open(
        "refund",
        {"order": 7, "amount": 40},
        agent="shop",
        risk="high",
        why="Charged twice",
        confidence=0.7,
    )
    clock.advance("30s")
    desk.edit(ask, {"amount": 30}, note="Half of it")
    desk.finish(desk.begin(ask), result="paid 30")

    (line,) = desk.decisions()
    assert set(line) == LINE
    assert line["ask"] == ask.id
    assert (line["agent"], line["tool"], line["tier"]) == ("shop", "refund", "high")
    assert (line["why"], line["confidence"]) == ("Charged twice", 0.7)
    assert line["before"] == {"order": 7, "amount": 40}
    assert line["after"] == {"order": 7, "amount": 30}
    assert (line["verdict"], line["note"], line["seconds"]) == ("edit", "Half of it", 30)
    assert (line["outcome"]["status"], line["outcome"]["result"]) == ("done", "paid 30")
    assert json.loads(json.dumps(line)) == line


def test_a_rejection_has_its_reason_and_nothing_after(desk: Desk) -> None:
    desk.reject(desk.open("pay", {"n": 1}), "Too dear", kind="harmful")

    (line,) = desk.decisions()
    assert (line["verdict"], line["reason"], line["note"]) == ("reject", "harmful", "Too dear")
    assert (line["before"], line["after"], line["outcome"]) == ({"n": 1}, None, None)


def test_what_cannot_be_wanted_is_refused_before_anything_is_read(desk: Desk) -> None:
    with pytest.raises(BadValue, match="maybe"):
        desk.decisions(verdict="maybe")  # type: ignore[arg-type]


def test_only_what_people_decided_is_in_it(desk: Desk, clock: FakeClock) -> None:
    @desk.gate(risk="low")
    def look(at: int) -> int:
        return at

    look(1)  # the policy allows it
    desk.open("pay", {"n": 1}, within="1h")  # the clock closes it
    desk.withdraw(desk.open("pay", {"n": 2}))
    desk.open("pay", {"n": 3})
    clock.advance("2h")
    desk.sweep()
    desk.respond(desk.later.question("Which?").ask, "This")

    assert [(line["kind"], line["answer"]) for line in desk.decisions()] == [("question", "This")]


def test_people_have_numbers_unless_their_names_are_wanted(desk: Desk) -> None:
    for name in ("anna", "ben"):
        desk.people.add(name)
    desk.approve(desk.open("pay", {"n": 1}), by="ben")
    ask = desk.open("pay", {"n": 2}, needs="2 reviewer")
    desk.approve(ask, by="anna")
    desk.approve(ask, by="ben")

    first, second = desk.decisions()
    assert (first["reviewer"], second["reviewer"]) == ("reviewer-1", "reviewer-1")
    assert [vote["reviewer"] for vote in second["votes"]] == ["reviewer-2", "reviewer-1"]
    assert "anna" not in json.dumps([first, second])
    assert [line["reviewer"] for line in desk.decisions(names=True)] == ["ben", "ben"]


def test_what_is_secret_or_erased_is_not_in_it(desk: Desk) -> None:
    @desk.gate(secret=["key"])
    def pay(order: int, key: str) -> str:
        return f"done with {key}"

    paying = in_thread(lambda: pay(7, key="swordfish"))
    (ask,) = until(lambda: list(desk.inbox()))
    desk.approve(ask)
    assert paying.result(10) == "done with swordfish"
    erased = desk.open("mail", {"to": "ben@example.com"})
    desk.reject(erased, "Ben does not want that")
    desk.erase(erased, "They asked for it")

    said = json.dumps(list(desk.decisions(names=True)))
    assert '"pay"' in said
    assert "swordfish" not in said
    assert '"key"' not in said
    assert "ben" not in said.lower()
    assert erased.id not in said


def test_the_task_is_what_the_run_was_begun_with(desk: Desk) -> None:
    @desk.workflow
    def clean(run: Running, where: str) -> None:
        run.question("Everything?")

    desk.start(clean, "the kitchen")
    desk.work(until="idle")
    (ask,) = desk.inbox()
    desk.respond(ask, "yes")
    desk.approve(desk.later.feedback("a poem", task="Write a poem").ask)

    assert [line["task"] for line in desk.decisions()] == ["the kitchen", "Write a poem"]


def test_it_ends_at_the_wall(place: Place, clock: FakeClock, desk: Desk) -> None:
    for team in (None, "ops", "billing"):
        desk.approve(desk.open("pay", {"team": team}, team=team))

    with Desk(place.url, clock=clock, team="ops") as theirs:
        assert [line["team"] for line in theirs.decisions()] == [None, "ops"]
    assert len(list(desk.decisions())) == 3


def test_it_is_narrowed_and_goes_on_from_a_place(desk: Desk, clock: FakeClock) -> None:
    desk.approve(desk.open("pay", {"n": 1}))
    desk.edit(desk.open("mail", {"n": 2}), {"n": 3})
    clock.advance("1d")
    middle = desk.store.now()
    desk.reject(desk.open("pay", {"n": 4}), hold=60)
    clock.advance("1h")
    desk.sweep()  # what settled counts

    every = list(desk.decisions())
    assert [line["verdict"] for line in every] == ["approve", "edit", "reject"]
    assert [line["before"]["n"] for line in desk.decisions(tool="pay")] == [1, 4]
    assert [line["before"]["n"] for line in desk.decisions(verdict="reject")] == [4]
    assert [line["before"]["n"] for line in desk.decisions(since=middle)] == [4]
    assert [line["before"]["n"] for line in desk.decisions(until=middle)] == [1, 2]
    rest = list(desk.decisions(after=every[0]["cursor"]))
    assert [line["ask"] for line in rest] == [line["ask"] for line in every[1:]]


def test_a_long_data_set_is_never_held_as_a_whole(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail, "_BATCH", 20)
    for number in range(150):
        desk.approve(desk.open("pay", {"n": number, "text": "x" * 20_000}))
    size = sum(len(json.dumps(line)) for line in desk.decisions())

    tracemalloc.start()
    for _ in desk.decisions():
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 2
