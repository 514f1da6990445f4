"""Code that changed under a waiting run: noticed, explained, and nothing of it carried out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sayso import Desk, Run, Running
from sayso.errors import RunParked
from sayso.runs import journal
from sayso.testing import FakeClock
from tests.places import Place
from tests.runs.people import RAN, answered, approved, ask_of, begun, carried_on, rejected, titles


def one() -> int:
    RAN.append("one")
    return 1


def two() -> int:
    RAN.append("two")
    return 2


def pay(amount: int, to: str = "anna") -> str:
    RAN.append("pay")
    return "paid"


def wire(amount: int, to: str = "anna") -> str:
    RAN.append("wire")
    return "wired"


@dataclass(frozen=True)
class Change:
    name: str
    old: Callable[[Running], Any]
    new: Callable[[Running], Any]
    says: tuple[str, ...]


def part(run: Running) -> Any:
    return run.question("Which?")


def made(_: str | None) -> str:
    return "text"


CHANGES = [
    Change(
        "a step was inserted",
        lambda run: [run.step(one), run.question("Which?")],
        lambda run: [run.step(one), run.step(two), run.question("Which?")],
        ("At step 2", "question 'Which?'", "step 'two'"),
    ),
    Change(
        "a step was removed",
        lambda run: [run.step(one), run.question("Which?")],
        lambda run: [run.question("Which?")],
        ("At step 1", "step 'one'", "question"),
    ),
    Change(
        "the clock was put in front",
        lambda run: [run.step(one), run.question("Which?")],
        lambda run: [run.now(), run.step(one), run.question("Which?")],
        ("At step 1", "step 'one'", "now"),
    ),
    Change(
        "the question reads differently",
        lambda run: run.question("Which?"),
        lambda run: run.question("Which one?"),
        ("At step 1", "Which?", "Which one?"),
    ),
    Change(
        "the answer is of another type",
        lambda run: run.question("Which?"),
        lambda run: run.question("Which?", int),
        ("At step 1", "answer", "string", "integer"),
    ),
    Change(
        "the options are others",
        lambda run: run.choose("Which?", ["a", "b"], own=True),
        lambda run: run.choose("Which?", ["a", "c"], own=True),
        ("At step 1", "options", "c"),
    ),
    Change(
        "the facts are others",
        lambda run: run.notice("Mail came", {"from": "anna"}),
        lambda run: run.notice("Mail came", {"from": "eve"}),
        ("At step 1", "facts", "anna", "eve"),
    ),
    Change(
        "more people have to agree",
        lambda run: run.notice("Mail came"),
        lambda run: run.notice("Mail came", needs=["2 reviewer"]),
        ("At step 1", "needs"),
    ),
    Change(
        "the ask became a step",
        lambda run: run.question("Which?"),
        lambda run: run.step(one),
        ("At step 1", "question 'Which?'", "step 'one'"),
    ),
    Change(
        "everything is gone",
        lambda run: run.question("Which?"),
        lambda run: 1,
        ("At step 1", "question 'Which?'", "no longer comes by it"),
    ),
    Change(
        "a gather became a step",
        lambda run: run.gather(lambda: run.question("Which?"), lambda: 1),
        lambda run: run.step(one),
        ("At step 1", "no longer does what it did before"),
    ),
    Change(
        "a gather became a question",
        lambda run: run.gather(lambda: run.question("Which?"), lambda: 1),
        lambda run: run.question("What?"),
        ("At step 1", "question"),
    ),
    Change(
        "a nested workflow became a step",
        lambda run: run.workflow(part),
        lambda run: run.step(one),
        ("At step 1", "no longer does what it did before"),
    ),
    Change(
        "a branch was removed",
        lambda run: run.gather(lambda: 1, lambda: run.question("Which?")),
        lambda run: run.gather(lambda: 1),
        ("At step 1.2.1", "question 'Which?'"),
    ),
    Change(
        "a draft reads differently",
        lambda run: run.draft(made),
        lambda run: run.draft(lambda _: "other"),
        ("At step 1.1", "step 'made'"),
    ),
]


def gone_on(place: Place, clock: FakeClock, new: Callable[[Running], Any]) -> None:
    """Let a process with the new code go on."""
    with Desk(place.url, clock=clock, agent="shop", account="sam@till") as second:
        second.workflow(name="flow")(lambda run: new(run))
        second.work(until="idle")


def changed(desk: Desk, place: Place, clock: FakeClock, change: Change) -> Run:
    """Start a run on the old code, decide it, and let a process with the new code go on."""
    run = begun(desk, lambda run: change.old(run))
    assert run.status == "waiting"
    ask = ask_of(run)
    desk.decide(ask, "respond", seen=ask.digest, answer="this")
    RAN.clear()
    gone_on(place, clock, change.new)
    return run


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name.replace(" ", "-"))
def test_changed_code_parks_the_run_until_the_old_code_is_back(
    desk: Desk, place: Place, clock: FakeClock, change: Change
):
    run = changed(desk, place, clock, change)

    assert run.status == "parked", run.error
    assert str(run.error).startswith(change.says[0])
    for words in change.says:
        assert words in str(run.error)
    assert "Bring the old code back and retry the run, or cancel it" in str(run.error)
    assert RAN == [], "new code ran before the difference was noticed"
    assert not [ask for ask in run.asks if ask.open], "a question of the new code was opened"

    again = carried_on(desk, desk.retry(run))
    if again.status == "waiting":  # a draft sent back is shown again
        approved(desk, again)
    assert desk.get_run(run.id).status == "done", run.error


@pytest.mark.parametrize(
    ("new", "says"),
    [
        (lambda run: run.call(pay, amount=41), ["argument amount of pay was 40, it is now 41"]),
        (lambda run: run.call(pay, 40, to="eve"), ["argument to of pay", '"anna"', '"eve"']),
        (lambda run: run.call(wire, amount=40), ["'pay'", "'wire'"]),
        (lambda run: run.later.call(pay, amount=41).result(), ["amount of pay was 40"]),
        (lambda run: run.confirm("pay"), ["the tool was 'pay', it is now None"]),
    ],
)
def test_an_approval_is_not_spent_on_another_call(
    desk: Desk, place: Place, clock: FakeClock, new: Any, says: list[str]
):
    run = begun(desk, lambda run: run.call(pay, amount=40))
    desk.approve(ask_of(run))
    gone_on(place, clock, new)

    assert run.status == "parked"
    for words in says:
        assert words in str(run.error)
    assert RAN == []
    assert run.asks[0].effect is None


def test_a_later_call_that_changed_is_noticed_before_what_comes_behind_it(
    desk: Desk, place: Place, clock: FakeClock
):
    @desk.workflow(name="flow")
    def old(run: Running) -> Any:
        later = run.later.call(pay, amount=40)
        run.question("Which?")
        return later.result()

    def new(run: Running) -> Any:
        later = run.later.call(pay, amount=41)
        run.question("Which?")
        run.step(one)
        return later.result()

    run = begun(desk, old)
    desk.respond(ask_of(run, "Which?"), "this")
    gone_on(place, clock, new)

    assert run.status == "parked"
    assert "amount of pay was 40, it is now 41" in str(run.error)
    assert RAN == []


def test_what_wrong_code_asked_before_it_was_noticed_is_taken_back(
    desk: Desk, place: Place, clock: FakeClock
):
    def new(run: Running) -> Any:
        return run.gather(lambda: 1, lambda: run.later.question("What?").result())

    run = begun(desk, lambda run: run.gather(lambda: run.question("Which?")))
    desk.respond(ask_of(run), "this")
    gone_on(place, clock, new)
    assert desk.runs(status="parked")
    assert desk.inbox().count == 0, "nobody is asked in vain"

    desk.retry(run)
    carried_on(desk, run)
    assert run.output == ["this"], run.error


def test_what_wrong_code_was_about_to_ask_is_never_asked(
    desk: Desk, place: Place, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(journal, "FLUSH_AFTER", 3600)  # it is written when the run pauses

    def new(run: Running) -> Any:
        return run.gather(lambda: 1, lambda: run.question("What?"))

    run = begun(desk, lambda run: run.gather(lambda: run.question("Which?")))
    desk.respond(ask_of(run), "this")
    gone_on(place, clock, new)

    assert run.status == "parked"
    assert [ask.title for ask in run.asks] == ["Which?"]


@pytest.mark.parametrize(
    "catches", [Exception, BaseException], ids=["except-exception", "except-baseexception"]
)
def test_a_difference_cannot_be_swallowed(desk: Desk, place: Place, clock: FakeClock, catches: Any):
    def new(run: Running) -> Any:
        for _ in range(3):
            with contextlib.suppress(catches):
                run.step(one)
        return "all fine"

    run = begun(desk, lambda run: run.question("Which?"))
    desk.respond(ask_of(run), "this")
    gone_on(place, clock, new)

    assert run.status == "parked"
    assert RAN == []


def test_a_parked_run_says_so_to_whoever_waits_for_it(desk: Desk, place: Place, clock: FakeClock):
    run = changed(desk, place, clock, CHANGES[0])
    with pytest.raises(RunParked, match=f"sayso runs retry {run.id}"):
        run.result(timeout=1)
    assert run.state.next == (f"a person looks at it: sayso runs retry {run.id}, or cancel",)


def test_escalating_another_answer_is_noticed_at_once(desk: Desk):
    """Unsure it was, and a person said no; sure of it now, nothing goes on with it."""
    sure = iter([0.2, 0.9])

    def flow(run: Running) -> Any:
        answer = run.escalate("42", confidence=next(sure))
        return run.step(RAN.append, answer)

    run = begun(desk, flow)
    rejected(desk, run)

    assert RAN == []
    assert run.status == "parked"


def test_a_question_of_the_future_is_not_asked_about_the_past(desk: Desk):
    """Sure it was, and things were done on it; a doubt that comes up at a replay changes nothing."""
    sure = iter([0.9, 0.2])

    def flow(run: Running) -> Any:
        answer = run.escalate("42", confidence=next(sure))
        run.step(one)
        return [answer, run.question("And now?")]

    run = begun(desk, flow)
    answered(desk, run, "ok", "And now?")

    assert titles(run) == ["And now?"]
    assert run.status in ("done", "parked")
