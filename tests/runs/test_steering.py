"""What people do to runs: end them, try again, start the next one of a thread."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import sayso
from sayso import Desk, Run, RunCancelled, Running, StepFailed, TaskStep
from sayso.errors import (
    AskClosed,
    BadValue,
    Forbidden,
    Misuse,
    RunOver,
    ThreadBusy,
    UnknownPerson,
    UnknownRun,
)
from sayso.runs import journal
from sayso.testing import FakeClock
from tests.places import Place
from tests.runs.people import (
    RAN,
    answered,
    approved,
    ask_of,
    asked,
    begun,
    carried_on,
    note,
    pay,
    titles,
)
from tests.together import at_once


def waiting(desk: Desk, **options: Any) -> Run:
    """Return a run that waits with a question, a call and a later open."""

    @desk.workflow(name="three")
    def three(run: Running) -> Any:
        later = run.later.question("Later?")
        run.gather(lambda: run.call(pay, amount=40), lambda: run.question("Which?"))
        run.step(note, "behind")
        return later.result()

    return begun(desk, three, **options)


# --- cancel ------------------------------------------------------------------------------------


def test_cancel_ends_a_waiting_run_and_takes_its_asks_back(desk: Desk):
    run = waiting(desk)
    desk.cancel(run, "not needed any more")
    carried_on(desk, run)

    assert run.status == "cancelled"
    assert run.error == "not needed any more"
    assert {ask.status for ask in run.asks} == {"withdrawn"}
    assert desk.inbox().count == 0
    assert RAN == []
    with pytest.raises(RunCancelled, match="not needed any more"):
        run.result(timeout=1)


# A junior could reject one ask of such a run, and not the other.
def settle(desk: Desk) -> Run:
    """Return a run of a team that waits with a call for a senior and one for anybody."""

    @sayso.tool(risk="high")
    def pay_more(amount: int) -> None:
        pay(amount)

    @sayso.tool(risk="medium")
    def pay_little(amount: int) -> None:
        pay(amount)

    @desk.workflow(name="settle")
    def settle(run: Running) -> Any:
        run.gather(lambda: run.call(pay_more, amount=9000), lambda: run.call(pay_little, amount=1))

    for name, roles in {"anna": ["senior"], "jun": ["junior"]}.items():
        desk.people.add(name, roles=roles)
    return begun(desk, settle)


def test_to_cancel_a_run_takes_what_rejecting_its_open_asks_takes_e59(desk: Desk):
    run = settle(desk)
    large = next(ask for ask in run.asks if ask.args["amount"] == 9000)
    small = next(ask for ask in run.asks if ask.args["amount"] == 1)

    with pytest.raises(Forbidden, match="needs 1 senior"):
        desk.reject(large, by="jun")
    with pytest.raises(Forbidden, match=f"{run.id} waits for {large.id}.*needs 1 senior"):
        desk.cancel(run, by="jun")
    with pytest.raises(Forbidden, match=f"waits for {large.id}"):
        desk.reject(small, end=True, by="jun")
    with pytest.raises(UnknownPerson):
        desk.cancel(run)
    with pytest.raises(UnknownPerson):
        desk.cancel(run, by="nobody")
    assert run.status == "waiting"
    assert {ask.status for ask in run.asks} == {"open"}

    assert desk.cancel(run, by="anna").status == "cancelled"
    assert run.events[-1].actor.id == "anna"


def test_once_only_what_they_may_reject_is_open_they_may_cancel_e59(desk: Desk):
    run = settle(desk)
    desk.approve(next(ask for ask in run.asks if ask.args["amount"] == 9000), by="anna")

    assert desk.cancel(run, by="jun").status == "cancelled"
    assert RAN == []


def test_a_run_that_asks_nothing_is_cancelled_under_the_account_as_ever_e59(desk: Desk):
    desk.people.add("anna")
    run = desk.start(desk.workflow(name="idle")(lambda run: None))

    desk.cancel(run)

    assert run.status == "cancelled"


def test_a_run_of_another_team_is_nobodys_to_cancel_e59(desk: Desk):
    desk.people.add("anna", roles=["senior"], teams=["billing"])
    desk.people.add("ben", roles=["senior"])
    run = waiting(desk, team="billing")

    with pytest.raises(UnknownRun):
        desk.cancel(run, by="ben")

    assert desk.cancel(run, by="anna").status == "cancelled"


def test_a_decision_for_a_cancelled_run_is_refused(desk: Desk):
    run = waiting(desk)
    asks = run.asks
    desk.cancel(run.id)

    for ask in asks:
        with pytest.raises(AskClosed, match="withdrawn"):
            desk.reject(ask)
    carried_on(desk, run)
    assert run.status == "cancelled"


def test_cancel_voids_an_approval_that_is_not_spent(desk: Desk):
    run = waiting(desk)
    desk.approve(ask_of(run, "pay"))
    desk.cancel(run)
    carried_on(desk, run)

    assert RAN == []
    assert asked(run, "pay").effect is None


def test_cancel_stops_a_run_at_work_before_its_next_verb(desk: Desk):
    def flow(run: Running) -> Any:
        run.step(lambda: desk.cancel(run.id, "stop").id)
        RAN.append("between")
        run.step(note, "behind it")
        return "done"

    run = begun(desk, flow)

    assert run.status == "cancelled"
    assert "behind it" not in RAN
    assert run.output is None
    assert desk.verify()


def test_cancel_from_inside_stops_before_an_approved_effect(desk: Desk):
    def flow(run: Running) -> Any:
        later = run.later.call(pay, amount=40)
        run.question("Go?")
        desk.cancel(run.id, "stop")
        return later.result()

    run = begun(desk, flow)
    desk.approve(ask_of(run, "pay"))
    answered(desk, run, "yes", "Go?")
    assert run.status == "cancelled"
    assert RAN == []


def test_what_was_at_work_when_it_was_cancelled_has_half_a_minute_to_say_what_came_of_it(
    desk: Desk, clock: FakeClock
):
    def slow(amount: int) -> str:
        clock.advance("25s")
        desk.cancel(desk.runs()[0])
        clock.advance("25s")
        desk.sweep()
        return "paid all the same"

    run = approved(desk, begun(desk, lambda run: run.call(slow, amount=40)))

    assert run.status == "cancelled"
    (ask,) = run.asks
    assert ask.effect is not None
    assert (ask.effect.status, ask.effect.result) == ("done", "paid all the same")
    assert desk.verify()


def test_what_is_over_cannot_be_cancelled_or_tried_again(desk: Desk):
    done = begun(desk, lambda run: 1)
    cancelled = waiting(desk)
    with pytest.raises(RunOver, match="waiting"):
        desk.retry(cancelled)
    desk.cancel(cancelled)

    for run, status in ((done, "done"), (cancelled, "cancelled")):
        for steer in (desk.cancel, desk.retry):
            with pytest.raises(RunOver, match=status):
                steer(run)


def test_a_failed_run_can_be_cancelled_and_is_over_then(desk: Desk):
    @desk.workflow
    def flow(run: Running) -> Any:
        run.later.question("How many?")
        raise ValueError("broken")

    failed = begun(desk, flow)
    assert failed.status == "failed"
    assert desk.cancel(failed, "no use").status == "cancelled"
    assert [ask.status for ask in failed.asks] == ["withdrawn"]
    with pytest.raises(RunOver, match="cancelled"):
        desk.retry(failed)
    assert desk.verify()


def test_a_run_that_nobody_knows_is_an_error(desk: Desk):
    for use in (desk.get_run, desk.cancel, desk.retry, desk.resume):
        for odd in ("r-0000", "", "'; drop table runs; --"):
            with pytest.raises(UnknownRun, match="SAYSO_URL"):
                use(odd)


def test_of_many_who_cancel_at_once_one_wins(desk: Desk):
    run = waiting(desk)

    came = at_once([lambda: desk.cancel(run)] * 4)

    assert sum(isinstance(one, Run) for one in came) == 1
    assert sum(isinstance(one, RunOver) for one in came) == 3
    assert [event.kind for event in run.events].count("run.cancelled") == 1


# --- ended by a decision -----------------------------------------------------------------------


ENDINGS = {
    "a plan": lambda run: run.plan(["look"], title="It"),
    "a plan by a maker": lambda run: run.plan(lambda _: ["look"], title="It"),
    "a call": lambda run: run.call(pay, amount=40),
    "a question": lambda run: run.question("It"),
    "a confirmation": lambda run: run.confirm("It"),
    "a notice": lambda run: run.notice("It"),
    "a draft": lambda run: run.draft("text", title="It"),
    "a branch": lambda run: run.gather(lambda: run.confirm("It"), lambda: 1),
    "a nested workflow": lambda run: run.workflow(lambda run: run.confirm("It")),
    "a later": lambda run: run.later.confirm("It").result(),
    "a later that is joined": lambda run: run.later.confirm("It") and None,
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_rejection_that_ends_the_run_means_zero_further_calls(desk: Desk, name: str):
    def flow(run: Running) -> Any:
        run.later.question("Aside?")
        for _ in range(3):
            try:
                ENDINGS[name](run)
                if name == "a later that is joined":
                    return "returned"
                RAN.append("went on")
            except Exception:
                RAN.append("caught")
            except BaseException:  # what agents write
                pass
            run.step(note, "behind")
        return "done"

    run = begun(desk, flow)
    target = next(ask for ask in run.asks if ask.open and ask.title != "Aside?")
    desk.reject(target, "stop it", end=not name.startswith("a plan"))
    carried_on(desk, run)

    assert run.status == "cancelled", run.error
    assert "sam rejected" in str(run.error)
    assert "stop it" in str(run.error)
    assert RAN == []
    assert [ask.title for ask in run.asks if ask.open] == [], "nobody is asked in vain"
    assert run.output is None


# --- retry -------------------------------------------------------------------------------------


def test_a_failed_step_is_run_again_by_a_retry_and_nothing_else_is(desk: Desk):
    def flaky() -> str:
        RAN.append("flaky")
        if RAN.count("flaky") == 1:
            raise OSError("no line")
        return "worked"

    run = begun(
        desk, lambda run: [run.step(note, "before"), run.step(flaky), run.step(note, "behind")]
    )
    assert run.status == "failed"
    assert desk.retry(run).status == "ready"
    carried_on(desk, run)

    assert run.output == ["before", "worked", "behind"]
    assert RAN == ["before", "flaky", "flaky", "behind"]
    assert desk.verify()


def failing_twice() -> str:
    RAN.append("x")
    if len(RAN) <= 2:
        raise OSError("no line")
    return "worked"


def wrapped(run: Running) -> Any:
    try:
        return run.step(failing_twice)
    except StepFailed as failure:
        raise RuntimeError("in other words") from failure


RETRIED = {
    "two branches": lambda run: run.gather(
        lambda: run.step(failing_twice), lambda: run.step(failing_twice)
    ),
    "a nested workflow": lambda run: run.workflow(lambda run: run.step(failing_twice)),
    "an error in other words": wrapped,
}


@pytest.mark.parametrize("name", RETRIED)
def test_what_failed_in_a_lane_of_its_own_is_run_again_by_a_retry(desk: Desk, name: str):
    run = begun(desk, lambda run: RETRIED[name](run))
    for _ in range(2):
        if run.status == "failed":
            desk.retry(run)
            carried_on(desk, run)

    assert run.status == "done", run.error
    assert len(RAN) in (3, 4)


def test_a_failure_that_the_workflow_dealt_with_stays(desk: Desk):
    """Only what ended the run is tried again: the rest went its way because of the failure."""

    def broken() -> None:
        RAN.append("broken")
        raise OSError("no line")

    def fragile() -> str:
        RAN.append("fragile")
        if RAN.count("fragile") == 1:
            raise LookupError("nothing there")
        return "worked"

    def flow(run: Running) -> Any:
        try:
            run.step(broken)
        except StepFailed:
            run.step(note, "plan b")
        return run.step(fragile)

    run = begun(desk, flow)
    desk.retry(run)
    carried_on(desk, run)

    assert run.output == "worked", run.error
    assert RAN == ["broken", "plan b", "fragile", "fragile"]


def test_a_bug_between_verbs_can_be_mended_and_the_run_goes_on(
    desk: Desk, place: Place, clock: FakeClock
):
    @desk.workflow(name="flow")
    def flow(run: Running) -> Any:
        run.step(note, "once")
        raise ZeroDivisionError

    run = begun(desk, flow)
    assert run.error == "ZeroDivisionError"

    with Desk(place.url, clock=clock, account="sam@till") as second:

        @second.workflow(name="flow")
        def mended(run: Running) -> Any:
            return run.step(note, "once")

        second.retry(run.id)
        second.work(until="idle")

    assert run.output == "once"
    assert RAN == ["once"]
    assert run.error is None


def test_what_was_decided_while_a_run_was_parked_counts_when_it_goes_on(
    desk: Desk, place: Place, clock: FakeClock
):
    @desk.workflow(name="flow")
    def flow(run: Running) -> Any:
        later = run.later.question("Later?")
        return [run.question("Which?"), later.result()]

    run = begun(desk, flow)
    desk.respond(ask_of(run, "Which?"), "this")
    with Desk(place.url, clock=clock, account="sam@till") as second:
        second.workflow(name="flow")(lambda run: None)
        second.work(until="idle")
    assert run.status == "parked"

    answered(desk, run, "that", "Later?")
    assert run.status == "parked", "only a person lets it go on"
    desk.retry(run)
    carried_on(desk, run)
    assert run.output == ["this", "that"]


def test_an_ask_of_a_run_that_goes_on_cannot_be_erased(desk: Desk):
    run = waiting(desk)
    approved(desk, run, "pay")
    assert RAN == [40]

    with pytest.raises(sayso.SaysoError, match=run.id):
        desk.erase(asked(run, "pay"), "forget it")

    answered(desk, run, "this", "Which?")
    answered(desk, run, "that", "Later?")
    assert run.output == "that"
    desk.erase(asked(run, "pay"), "forget it")
    assert RAN == [40, "behind"]
    assert desk.verify()


# --- threads -----------------------------------------------------------------------------------


def talk(run: Running, text: str) -> Any:
    return [text, run.question(f"{text}?")]


def test_one_run_of_a_thread_at_a_time(desk: Desk):
    desk.workflow(talk)
    first = begun(desk, talk, "one", thread="t")

    for begin in (desk.start, desk.run):
        with pytest.raises(ThreadBusy, match=first.id) as busy:
            begin(talk, "two", thread="t")
        assert busy.value.run_id == first.id
    begun(desk, talk, "elsewhere", thread="u")
    answered(desk, first, "x")
    begun(desk, talk, "two", thread="t")

    assert [run.thread for run in desk.runs()].count("t") == 2


def test_a_run_that_lost_the_race_for_its_thread_does_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    """Another run of the thread starts after it looked and before it wrote its first line."""
    monkeypatch.setattr(journal, "FLUSH_AFTER", 3600)  # however long it takes to start another
    desk.workflow(talk)

    def flow(run: Running) -> Any:
        if not desk.runs(thread="t"):
            desk.start(talk, "faster", thread="t")
        run.step(note, "in a thread that belongs to another")
        return "done"

    with pytest.raises(ThreadBusy):
        begun(desk, flow, thread="t")
    assert RAN == []
    assert [run.workflow for run in desk.runs(thread="t")] == ["talk"]


@pytest.mark.timeout(20)
def test_a_clock_that_was_set_back_does_not_hide_the_run_of_a_thread(
    desk: Desk, place: Place, clock: FakeClock
):
    desk.workflow(talk)
    clock.advance("1h")
    ended = begun(desk, talk, "by a clock that was fast", thread="t")
    answered(desk, ended, "x")

    with Desk(place.url, clock=FakeClock(), account="sam@till") as set_back:
        set_back.workflow(talk)
        alive = begun(set_back, talk, "by the right time", thread="t")
        with pytest.raises(ThreadBusy, match=alive.id):
            set_back.start(talk, "third", thread="t")


def test_a_failed_run_is_not_tried_again_while_its_thread_has_gone_on(desk: Desk):
    def fails(run: Running) -> Any:
        raise OSError

    desk.workflow(talk)
    failed = begun(desk, fails, thread="t")
    going_on = begun(desk, talk, "two", thread="t")

    with pytest.raises(ThreadBusy, match=going_on.id):
        desk.retry(failed)


def test_a_thread_remembers_what_its_runs_did_in_order(desk: Desk, clock: FakeClock):
    desk.workflow(talk)
    for text in ("one", "two"):
        run = begun(desk, talk, text, thread="t")
        clock.advance(1)
        desk.respond(ask_of(run), text.upper())
        clock.advance(1)
        carried_on(desk, run)
    begun(desk, talk, "aside", thread="u")

    steps = desk.thread("t").steps

    assert [type(step).__name__ for step in steps] == ["TaskStep", "DecisionStep", "AnswerStep"] * 2
    assert [step.task for step in steps if isinstance(step, TaskStep)] == ["one", "two"]
    assert len(desk.thread("nobody")) == 0


def test_a_fresh_start_forgets_and_the_old_journal_stays(desk: Desk, clock: FakeClock):
    desk.workflow(talk)
    for text, fresh in (("one", False), ("two", True), ("three", False)):
        run = begun(desk, talk, text, thread="t", fresh=fresh)
        clock.advance(1)
        answered(desk, run, "x")
        clock.advance(1)

    tasks = [step.task for step in desk.thread("t") if isinstance(step, TaskStep)]

    assert tasks == ["two", "three"]
    assert len(desk.runs(thread="t")) == 3


def test_asks_of_a_run_are_filed_under_its_thread(desk: Desk):
    desk.workflow(talk)
    run = begun(desk, talk, "one", thread="t")

    assert titles(run) == ["one?"]
    assert [ask.id for ask in desk.inbox(thread="t").asks] == [ask_of(run).id]
    assert [ask.id for ask in desk.inbox(run=run.id).asks] == [ask_of(run).id]


# --- starting ----------------------------------------------------------------------------------


def test_what_is_no_workflow_is_refused(desk: Desk):
    odd: Any
    for odd in (pay, "talk", None, 7):
        with pytest.raises(Misuse, match=r"@desk\.workflow"):
            desk.start(odd)
    assert desk.runs() == []


def generator(run: Running) -> Any:
    yield run


class Shop:
    def flow(self, run: Running) -> None: ...


@pytest.mark.parametrize(
    "odd",
    [
        generator,
        lambda: 1,
        lambda *, run: run,
        7,
        "talk",
        Shop().flow,
        Shop,
        functools.partial(talk, text="x"),
        print,
    ],
)
def test_what_cannot_be_a_workflow_is_refused_while_decorating(local: Desk, odd: Any):
    with pytest.raises(BadValue):
        local.workflow(odd)


def test_two_workflows_of_one_name_are_refused(local: Desk):
    local.workflow(name="talk")(talk)

    with pytest.raises(BadValue, match="Two workflows are called 'talk'"):
        local.workflow(name="talk")(pay)
