"""What a journal remembers does not happen again; what the code does since then goes on."""

from __future__ import annotations

import functools
import logging
import sys
from typing import Any

from sayso import Desk, Running
from sayso.testing import FakeClock
from tests.places import Place
from tests.runs.people import answered, approved, ask_of, begun, carried_on


def one() -> int:
    return 1


def other_process(place: Place, clock: FakeClock) -> Desk:
    """Return a desk that shares nothing with the first one but the database."""
    return Desk(place.url, clock=clock, agent="shop", account="sam@till")


def test_code_of_a_finished_verb_never_runs_again(desk: Desk):
    ran: list[str] = []

    def step() -> str:
        ran.append("step")
        return "s"

    def tool() -> str:
        ran.append("tool")
        return "t"

    def nested(run: Running) -> str:
        ran.append("nested")
        return run.step(step)

    def flow(run: Running) -> Any:
        said = [run.step(step), run.call(tool), run.workflow(nested)]
        said += run.gather(lambda: run.step(step), lambda: run.step(step))
        return [*said, run.question("1?"), run.question("2?"), run.question("3?")]

    run = begun(desk, flow)
    approved(desk, run, "tool")
    for answer in "abc":
        answered(desk, run, answer)

    assert run.output == ["s", "t", "s", "s", "s", "a", "b", "c"]
    assert ran == ["step", "tool", "nested", "step", "step", "step"]


def test_code_that_was_appended_behind_the_pause_is_run(desk: Desk, place: Place, clock: FakeClock):
    run = begun(desk, lambda run: [run.step(one), run.question("Which?")])
    desk.respond(ask_of(run), "this")

    with other_process(place, clock) as second:

        @second.workflow(name="flow")
        def new(run: Running) -> Any:
            said = [run.step(one), run.question("Which?"), run.step(one)]
            return [*said, run.question("Really?")]

        answered(second, carried_on(second, second.get_run(run.id)), "yes", "Really?")

    assert run.output == [1, "this", 1, "yes"]


def test_a_step_whose_input_changed_stands_and_the_difference_is_noted(desk: Desk, caplog: Any):
    calls: list[int] = []

    def step(number: int) -> int:
        calls.append(number)
        return number

    given = iter([1, 2])
    run = begun(desk, lambda run: [run.step(step, next(given)), run.question("Which?")])
    with caplog.at_level(logging.WARNING, "sayso.runs"):
        answered(desk, run, "this")

    assert run.output == [1, "this"]
    assert calls == [1]
    assert "was given something else before" in caplog.text


def test_what_was_recorded_is_a_copy(desk: Desk):
    shared = {"n": [1]}

    def step() -> Any:
        return shared

    def flow(run: Running) -> Any:
        found = run.step(step)
        found["n"].append(2)
        shared["n"].append(3)
        run.question("Which?")
        return found

    run = begun(desk, flow)
    answered(desk, run, "this")

    assert run.output == {"n": [1, 2]}


def test_anything_callable_can_be_a_step(desk: Desk):
    class Counter:
        def __init__(self, start: int) -> None:
            self.n = start

        def __call__(self) -> int:
            return self.n

        def plus(self, more: int) -> int:
            return self.n + more

    run = begun(
        desk,
        lambda run: [
            run.step(Counter(1)),
            run.step(Counter(1).plus, 1),
            run.step(functools.partial(Counter(1).plus, more=2)),
            run.step(lambda: 4),
            run.step(len, "12345"),
            run.question("Which?"),
        ],
    )
    answered(desk, run, "this")

    assert run.output == [1, 2, 3, 4, 5, "this"]


def test_input_is_the_same_at_every_replay_whatever_the_workflow_does_to_it(desk: Desk):
    def flow(run: Running, orders: list[int], *more: int, note: str = "-", **rest: int) -> Any:
        orders.append(99)
        run.question("Which?")
        return [orders, list(more), note, rest]

    run = begun(desk, flow, [1], 2, 3, note="n", extra=4)
    answered(desk, run, "this")

    assert run.output == [[1, 99], [2, 3], "n", {"extra": 4}]


def test_keys_are_places_in_a_lane_and_so_survive_moving_code_around(
    desk: Desk, place: Place, clock: FakeClock
):
    def flow(run: Running) -> Any:
        return [run.step(one), run.question("Which?")]

    run = begun(desk, desk.workflow(name="flow")(flow))
    keys = [event.payload["key"] for event in run.events if event.kind == "step.done"]  # type: ignore[index]
    assert keys == ["1"]
    assert ask_of(run).key == f"{run.id}:2"

    with other_process(place, clock) as second:

        @second.workflow(name="flow")
        def elsewhere(run: Running) -> Any:

            def renamed(run: Running) -> int:

                return run.step(one)

            return [renamed(run), run.question("Which?")]

        answered(second, second.get_run(run.id), "this")

    assert run.output == [1, "this"]


def test_lanes_count_for_themselves(desk: Desk):
    def nested(run: Running) -> Any:
        return [run.step(one), run.question("In it?")]

    def flow(run: Running) -> Any:
        run.step(one)
        run.workflow(nested)
        run.gather(lambda: run.question("Left?"), lambda: [run.step(one), run.question("Right?")])

    run = begun(desk, flow)
    answered(desk, run, "x", "In it?")

    steps = [event.payload["key"] for event in run.events if event.kind == "step.done"]  # type: ignore[index]
    assert steps == ["1", "2.1", "2", "3.2.1"]
    assert {ask.title: ask.key for ask in run.asks} == {
        "In it?": f"{run.id}:2.2",
        "Left?": f"{run.id}:3.1.1",
        "Right?": f"{run.id}:3.2.2",
    }


def test_a_replay_is_linear_in_the_journal(local: Desk):
    """Four times the journal takes at most about four times as many calls, not sixteen."""

    def inner(run: Running, number: int) -> Any:
        return run.random()

    def flow(run: Running, size: int) -> Any:
        for number in range(size):
            run.workflow(inner, number)
        return run.question("Which?")

    def replayed(size: int) -> int:
        run = begun(local, flow, size)
        local.respond(ask_of(run), "this")
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            carried_on(local, run)
        finally:
            sys.setprofile(None)
        assert run.output == "this"
        return calls

    short, long = replayed(100), replayed(400)
    assert long < 5 * short


def test_nothing_is_held_in_memory_while_a_run_waits(desk: Desk):
    class Big:
        alive = 0

        def __init__(self) -> None:
            Big.alive += 1

        def __del__(self) -> None:
            Big.alive -= 1

    def flow(run: Running) -> Any:
        big = Big()
        run.question("Which?")
        return repr(big)

    begun(desk, flow)
    import gc

    gc.collect()
    assert Big.alive == 0
