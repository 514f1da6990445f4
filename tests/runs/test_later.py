"""Asks whose answer is not needed yet, and branches side by side."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from sayso import Desk, Running, StepFailed
from sayso.errors import Misuse
from tests.runs.people import (
    RAN,
    answered,
    approved,
    ask_of,
    begun,
    carried_on,
    note,
    pay,
    rejected,
    titles,
)


async def wire(amount: int) -> str:
    RAN.append(amount)
    return f"wired {amount}"


def broken(text: str) -> None:
    RAN.append(text)
    raise LookupError(text)


# --- later -------------------------------------------------------------------------------------


def test_every_verb_has_a_later(desk: Desk):
    def flow(run: Running) -> Any:
        later = run.later
        asked = [
            later.confirm("confirm"),
            later.question("question", int),
            later.choose("choose", ["a", "b"]),
            later.draft("text", title="draft"),
            later.plan(["look"], title="plan"),
            later.notice("notice"),
            later.feedback("42", title="feedback"),
            later.call(pay, amount=40),
        ]
        return [repr(one.result()) if n in (0, 6) else one.result() for n, one in enumerate(asked)]

    run = begun(desk, flow)
    assert len(titles(run)) == 8, "all of them are open before the first is decided"
    desk.respond(ask_of(run, "question"), 7)
    desk.approve(ask_of(run, "choose"), option="b")
    desk.reject(ask_of(run, "notice"))
    for ask in run.asks:
        if ask.open:
            desk.approve(ask)
    carried_on(desk, run)

    assert run.status == "done", run.error
    assert run.output[1:6] == [7, "b", "text", ["look"], "ignore"]
    assert run.output[7] == "paid 40"
    assert RAN == [40]


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_laters_may_be_decided_in_any_order(desk: Desk, order: str):
    def flow(run: Running) -> Any:
        a, b = run.later.question("a"), run.later.question("b")
        return [b.result(), a.result()]

    run = begun(desk, flow)
    for title in order:
        answered(desk, run, title.upper(), title)

    assert run.output == ["B", "A"]


def test_an_approved_later_call_is_carried_out_when_its_result_is_wanted(desk: Desk):
    def flow(run: Running) -> Any:
        later = run.later.call(pay, amount=40)
        run.question("Now?")
        run.step(note, "before")
        return [later.result(), later.result()]

    run = begun(desk, flow)
    approved(desk, run, "pay")
    assert RAN == [], "nobody wants it yet"
    answered(desk, run, "yes", "Now?")

    assert run.output == ["paid 40", "paid 40"]
    assert RAN == ["before", 40], "asked for twice, carried out once"


def test_an_open_later_call_is_no_difference_at_the_next_pauses(desk: Desk):
    def flow(run: Running) -> Any:
        later = run.later.call(pay, amount=40)
        said = [run.question("1?"), run.question("2?"), run.question("3?")]
        return [*said, later.result()]

    run = begun(desk, flow)
    for number in "123":
        answered(desk, run, number, f"{number}?")
        assert run.status == "waiting", run.error
    approved(desk, run, "pay")

    assert run.output == ["1", "2", "3", "paid 40"]


def test_what_is_never_collected_is_joined_at_the_end(desk: Desk):
    def flow(run: Running) -> Any:
        run.later.call(pay, amount=40)
        run.later.question("Which?")
        return "all done"

    run = begun(desk, flow)
    assert run.status == "waiting", "not done with open asks"
    answered(desk, run, "this", "Which?")
    assert run.status == "waiting"
    approved(desk, run, "pay")

    assert (run.status, run.output, RAN) == ("done", "all done", [40])


@pytest.mark.parametrize(("decide", "ran"), [(approved, [40]), (rejected, [])])
def test_an_async_tool_that_is_never_collected_is_carried_out_and_a_no_is_no_error(
    desk: Desk, decide: Any, ran: list[int]
):
    async def flow(run: Any) -> Any:
        run.later.call(wire, amount=40)
        return "all done"

    run = decide(desk, begun(desk, flow))

    assert (run.status, run.output, RAN) == ("done", "all done", ran), run.error


LANES = {
    "a nested workflow": lambda run: run.workflow(uncollected),
    "a branch": lambda run: run.gather(lambda: uncollected(run), lambda: 2),
}


def uncollected(run: Running) -> str:
    return str(run.later.call(pay, amount=40).key)


@pytest.mark.parametrize("name", LANES)
def test_what_a_lane_of_its_own_never_collected_is_joined_too(desk: Desk, name: str):
    run = begun(desk, lambda run: [LANES[name](run), run.question("Which?")][1])
    if name == "a branch":  # a nested workflow is joined where it ends
        answered(desk, run, "this", "Which?")
    assert run.status == "waiting", "not done with an open ask"

    approved(desk, run, "pay")
    if name != "a branch":
        answered(desk, run, "this")
    assert (run.status, run.output, RAN) == ("done", "this", [40])


def test_whether_it_is_done_is_recorded_because_it_may_decide_the_way(desk: Desk):
    seen: list[list[bool]] = []

    def flow(run: Any) -> Any:
        later = run.later.question("Which?")
        early = later.done()
        run.question("Go on?")
        late = later.done()
        seen.append([early, late])
        if not early:
            run.step(note, "was not there yet")
        return [later.result(), run.question("End?")]

    run = begun(desk, flow)
    desk.respond(ask_of(run, "Which?"), "this")
    answered(desk, run, "yes", "Go on?")
    answered(desk, run, "yes", "End?")

    assert run.output == ["this", "yes"], run.error
    assert seen == [[False, True], [False, True]]
    assert RAN == ["was not there yet"]


def test_done_and_result_are_awaited_where_the_workflow_is_async(desk: Desk):
    async def flow(run: Any) -> Any:
        later = run.later.call(wire, amount=40)
        return [await later.done(), await later.result()]

    run = begun(desk, flow)
    approved(desk, run)

    assert run.output == [False, "wired 40"]


def test_a_later_may_be_collected_in_a_branch(desk: Desk):
    def flow(run: Running) -> Any:
        later = run.later.question("Which?")
        return run.gather(lambda: later.result(), lambda: run.step(note, "other"))

    run = begun(desk, flow)
    assert RAN == ["other"]
    answered(desk, run, "this")

    assert run.output == ["this", "other"]


@pytest.mark.parametrize(
    "use",
    [
        lambda run: run.later.draft(lambda _: "text"),
        lambda run: run.later.plan(lambda _: ["look"]),
    ],
)
def test_a_maker_is_refused_where_nobody_waits_to_make_it_again(desk: Desk, use: Any):
    def flow(run: Running) -> Any:
        with pytest.raises(Misuse, match="gather"):
            use(run)

    run = begun(desk, flow)

    assert run.status == "done", run.error
    assert run.asks == []


def test_a_decision_while_the_run_is_running_is_not_lost(desk: Desk):
    """It comes after the run has read its asks and before it waits."""

    def flow(run: Running) -> Any:
        later = run.later.question("a")
        if desk.get(later.id).open:
            desk.respond(desk.get(later.id), "A")
        return [run.question("b"), later.result()]

    run = begun(desk, flow)
    assert titles(run) == ["a", "b"]
    assert run.status == "waiting"
    answered(desk, run, "B", "b")

    assert run.output == ["B", "A"]


@pytest.mark.parametrize("awaits", [False, True], ids=["plain", "async"])
def test_a_decision_right_before_the_run_waits_for_it_is_not_lost(desk: Desk, awaits: bool):
    """The run has read its asks, the answer comes, the run is about to wait for that answer."""

    def decide(ask_id: str) -> None:
        if desk.get(ask_id).open:
            desk.respond(desk.get(ask_id), "just in time")

    def plain(run: Running) -> Any:
        later = run.later.question("Which?")
        decide(later.id)
        return later.result()

    async def awaited(run: Any) -> Any:
        later = run.later.question("Which?")
        decide(later.id)
        return await later.result()

    run = begun(desk, desk.workflow(name="flow")(awaited if awaits else plain))

    assert (run.status, run.output) == ("done", "just in time")


def test_a_call_that_just_ended_is_known_when_a_pause_misses(desk: Desk):
    """Its result is not written yet when the pause finds that there is more to do."""

    def flow(run: Running) -> Any:
        later = run.later.question("a")
        paid = run.call(pay, amount=40)
        if desk.get(later.id).open:
            desk.respond(desk.get(later.id), "A")
        return [paid, run.question("b"), later.result()]

    run = begun(desk, flow)
    approved(desk, run, "pay")
    assert run.status == "waiting", run.error
    assert titles(run) == ["a", "b", "pay"], "no doubt, and nothing twice"
    answered(desk, run, "B", "b")

    assert run.output == ["paid 40", "B", "A"]
    assert RAN == [40]


# --- gather ------------------------------------------------------------------------------------


def test_branches_run_side_by_side_and_return_in_order(desk: Desk):
    both = threading.Barrier(2, timeout=10)

    def meet(name: str) -> str:
        both.wait()
        return name

    assert begun(
        desk,
        lambda run: run.gather(lambda: run.step(meet, "left"), lambda: run.step(meet, "right")),
    ).output == ["left", "right"]


def test_async_branches_may_be_awaitables_or_functions(desk: Desk):
    async def flow(run: Any) -> Any:
        async def both() -> Any:
            return [await run.step(note, "x"), await run.question("c")]

        return await run.gather(run.question("a"), lambda: run.question("b"), both())

    run = begun(desk, flow)
    assert set(titles(run)) == {"a", "b", "c"}
    for title in "cab":
        answered(desk, run, title.upper(), title)

    assert run.output == ["A", "B", ["x", "C"]], run.error
    assert RAN == ["x"]


def test_every_branch_goes_as_far_as_it_can_before_the_run_waits(desk: Desk):
    run = begun(
        desk,
        lambda run: run.gather(
            lambda: run.call(pay, amount=1),
            lambda: [run.step(note, "x"), run.call(pay, amount=2)],
            lambda: "nothing to wait for",
        ),
    )
    asks = run.asks
    assert len(asks) == 2
    assert set(run.row.waits) == {ask.id for ask in asks}

    first, second = sorted(asks, key=lambda ask: ask.args["amount"])
    desk.approve(second)
    carried_on(desk, run)
    assert RAN == ["x", 2], "an approved one runs at once"
    assert run.status == "waiting"
    desk.approve(first)
    carried_on(desk, run)

    assert run.output == ["paid 1", ["x", "paid 2"], "nothing to wait for"]
    assert RAN == ["x", 2, 1]


def test_a_branch_that_fails_is_heard_when_the_others_are_through(desk: Desk):
    seen: list[str] = []

    def flow(run: Running) -> Any:
        try:
            run.gather(lambda: run.step(broken, "left"), lambda: run.question("Right?"))
        except StepFailed as failure:
            seen.append(failure.message)
        return run.question("End?")

    run = begun(desk, flow)
    assert titles(run) == ["Right?"], "the other branch is not given up"
    assert seen == []
    answered(desk, run, "r", "Right?")
    answered(desk, run, "e", "End?")

    assert run.output == "e"
    assert seen == ["left", "left"]
    assert RAN == ["left"]


def test_branches_have_branches(desk: Desk):
    run = begun(
        desk,
        lambda run: run.gather(
            lambda: run.gather(lambda: run.question("a"), lambda: run.question("b")),
            lambda: run.gather(lambda: run.question("c")),
        ),
    )
    for title in "bca":
        answered(desk, run, title, title)

    assert run.output == [["a", "b"], ["c"]]


def test_gather_of_nothing_is_nothing(desk: Desk):
    assert begun(desk, lambda run: [run.gather(), run.step(note, "x")]).output == [[], "x"]


def test_gather_takes_functions_and_says_so(desk: Desk):
    run = begun(desk, lambda run: run.gather(run.step(note, "too early")))

    assert run.status == "failed"
    assert "lambda" in str(run.error)


def test_many_branches_write_one_whole_journal(desk: Desk):
    async def slow(n: int) -> int:
        await asyncio.sleep(0.001 * (n % 3))
        return n

    async def flow(run: Any) -> Any:
        async def branch(n: int) -> Any:
            return [await run.step(slow, n), await run.step(slow, n + 1)]

        found = await run.gather(*(branch(n) for n in range(20)))
        return [found, await run.question("Fine?")]

    run = begun(desk, flow)
    answered(desk, run, "yes")

    assert run.output == [[[n, n + 1] for n in range(20)], "yes"]
    assert desk.verify()


def test_many_threads_write_one_whole_journal(desk: Desk):
    def flow(run: Running) -> Any:
        branches = [lambda n=n: [run.step(int, n), run.step(int, n + 1)] for n in range(12)]
        return [run.gather(*branches), run.question("Fine?")]

    run = begun(desk, flow)
    answered(desk, run, "yes")

    assert run.output == [[[n, n + 1] for n in range(12)], "yes"], run.error
    assert desk.verify()
