"""Tools that ask people in the middle, and the verbs as functions of the module."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest

import sayso
from sayso import Desk, Running, StepFailed
from sayso.errors import Misuse
from tests.runs.people import RAN, answered, approved, ask_of, begun, carried_on, note, titles


def charge(amount: int) -> str:
    RAN.append(amount)
    return f"charged {amount}"


@sayso.tool(asks=True)
def book(city: str) -> Any:
    """A tool that asks: its steps are recorded, only its leaves are effects."""
    night = sayso.step(note, f"night in {city}")
    hotel = sayso.choose("Which hotel?", ["Ritz", "Hostel"])
    price = sayso.question("How much?", int)
    if not sayso.confirm("Book it?", {"hotel": hotel}):
        return None
    return (night, hotel, price)


@sayso.tool(asks=True)
async def book_async(city: str) -> Any:
    await sayso.step(note, f"night in {city}")
    return [await sayso.question("How much?", int), await sayso.confirm("Book it?") and city]


def test_a_tool_that_asks_is_a_workflow_inside_the_workflow(desk: Desk):
    run = begun(desk, lambda run: [run.call(book, city="Rome"), run.question("Happy?")])
    assert titles(run) == ["Which hotel?"], "the tool itself needs no say-so"
    desk.approve(ask_of(run), option="Ritz")
    carried_on(desk, run)
    answered(desk, run, 90)
    approved(desk, run)
    answered(desk, run, "yes", "Happy?")

    assert run.output == [["night in Rome", "Ritz", 90], "yes"]
    assert RAN == ["night in Rome"]


def test_an_async_tool_that_asks_is_awaited(desk: Desk):
    async def flow(run: Any) -> Any:
        return await run.call(book_async, "Rome")

    run = begun(desk, flow)
    answered(desk, run, 90)
    approved(desk, run)

    assert run.output == [90, "Rome"], run.error
    assert RAN == ["night in Rome"]


def test_an_async_tool_that_asks_is_refused_in_a_plain_workflow(desk: Desk):
    run = begun(desk, lambda run: run.call(book_async, "Rome"))

    assert run.status == "failed"
    assert "async def" in str(run.error)
    assert RAN == []


def test_calls_inside_a_tool_that_asks_are_effects_of_their_own(desk: Desk):
    @desk.gate
    def transfer(amount: int) -> str:
        RAN.append(amount)
        return "moved"

    @sayso.tool(asks=True)
    def settle(amount: int) -> Any:
        return [transfer(amount), sayso.question("Receipt?")]

    run = begun(desk, lambda run: run.call(settle, amount=40))
    approved(desk, run, "transfer")
    assert RAN == [40]
    answered(desk, run, "7")

    assert run.output == ["moved", "7"]
    assert RAN == [40]


def silent_tool() -> Any:
    return sayso.question("May I?")


def confirming_tool() -> Any:
    return bool(sayso.confirm("May I?"))


@pytest.mark.parametrize("tool", [silent_tool, confirming_tool])
def test_a_tool_that_asks_without_saying_so_is_refused_with_the_advice(desk: Desk, tool: Any):
    def flow(run: Running) -> Any:
        with pytest.raises(StepFailed, match="asks=True"):
            run.call(tool)
        return "told"

    run = begun(desk, flow)
    approved(desk, run)

    assert run.output == "told", run.error
    assert titles(run) == [tool.__name__], "nothing was asked from inside"


def test_every_verb_is_refused_inside_a_step(desk: Desk):
    @desk.gate
    def transfer(amount: int) -> str:
        RAN.append(amount)
        return "moved"

    def flow(run: Running) -> Any:
        verbs = [
            lambda: run.step(note, "x"),
            lambda: run.call(charge, amount=1),
            lambda: run.effect(charge, 1),
            lambda: run.question("?"),
            lambda: run.later.question("?"),
            lambda: run.gather(lambda: 1),
            lambda: run.workflow(lambda run: 1),
            lambda: run.now(),
            lambda: run.progress(0.5),
            lambda: sayso.question("?"),
            lambda: transfer(40),
        ]
        for verb in verbs:
            with pytest.raises(StepFailed, match="asks=True") as refused:
                run.step(verb)
            assert refused.value.kind == "Misuse"
        return "told"

    run = begun(desk, flow)

    assert run.output == "told", run.error
    assert run.asks == []
    assert RAN == []


def test_a_thread_inside_a_step_asks_nothing_either(desk: Desk):
    def flow(run: Running) -> Any:
        def step() -> None:
            thread = threading.Thread(target=_quietly, args=(run,))
            thread.start()
            thread.join()

        run.step(step)
        return "went on"

    run = begun(desk, flow)

    assert run.asks == []
    assert run.status in ("failed", "parked")


def _quietly(run: Running) -> None:
    with contextlib.suppress(BaseException):
        run.question("From a thread?")


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        (lambda: sayso.question("?"), "desk.question"),
        (lambda: sayso.confirm("?"), "desk.confirm"),
        (lambda: sayso.choose("?", ["a", "b"]), "desk.choose"),
        (lambda: sayso.step(note, "x"), "inside a run"),
        (lambda: sayso.effect(note, "x"), "call the function itself"),
    ],
)
def test_the_verbs_of_the_module_need_a_run(use: Any, advice: str):
    with pytest.raises(Misuse, match=advice):
        use()
    assert RAN == []


def test_a_tool_that_asks_may_be_called_in_branches(desk: Desk):
    @sayso.tool(asks=True)
    def price(city: str) -> Any:
        return [city, sayso.question(f"How much in {city}?", int)]

    run = begun(
        desk,
        lambda run: run.gather(
            lambda: run.call(price, city="Rome"), lambda: run.call(price, city="Oslo")
        ),
    )
    assert len(titles(run)) == 2
    answered(desk, run, 200, "How much in Oslo?")
    answered(desk, run, 90, "How much in Rome?")

    assert run.output == [["Rome", 90], ["Oslo", 200]]


def test_a_later_of_a_tool_that_asks_is_refused_because_there_is_nothing_to_open(desk: Desk):
    def flow(run: Running) -> Any:
        with pytest.raises(Misuse, match="asks people itself"):
            run.later.call(book, city="Rome")
        return "told"

    assert begun(desk, flow).output == "told"


def test_a_run_inside_a_step_of_another_run_is_a_run_of_its_own(desk: Desk):
    def outer(run: Running) -> Any:
        return run.step(lambda: begun(desk, lambda run: run.step(note, "inner")).output)

    assert begun(desk, outer).output == "inner"


def test_a_tool_stays_a_plain_function_outside_a_run():
    @sayso.tool(risk="high")
    def double(number: int) -> int:
        return 2 * number

    assert double(4) == 8
