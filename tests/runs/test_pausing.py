"""A pause cannot be swallowed: whatever user code does with it, the run waits."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sayso import Desk, Running
from tests.runs.people import RAN, answered, approved, begun, carried_on, note, titles


def pay(amount: int) -> str:
    RAN.append("pay")
    return "paid"


def swallow_everything(run: Running) -> Any:
    try:
        run.call(pay, amount=40)
    except BaseException:
        RAN.clear()
    return "done without you"


def finally_return(run: Running) -> Any:
    try:
        run.call(pay, amount=40)
    finally:
        return "done without you"  # noqa: B012 - what agents write


def suppressed(run: Running) -> Any:
    with contextlib.suppress(BaseException):
        run.call(pay, amount=40)
    return "done without you"


def another_error(run: Running) -> Any:
    try:
        run.call(pay, amount=40)
    except BaseException as error:
        raise ValueError("hidden") from error


def in_a_thread(run: Running) -> Any:
    thread = threading.Thread(target=lambda: suppressed(run))
    thread.start()
    thread.join()
    return "done without you"


def in_a_pool(run: Running) -> Any:
    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(run.call, pay, amount=40).exception()
    return f"done without you: {error!r}"


def in_a_nested_workflow(run: Running) -> Any:
    return run.workflow(swallow_everything)


def around_a_nested_workflow(run: Running) -> Any:
    def inner(run: Running) -> Any:
        return run.call(pay, amount=40)

    with contextlib.suppress(BaseException):
        run.workflow(inner)
    return "done without you"


def in_a_branch(run: Running) -> Any:
    return run.gather(lambda: swallow_everything(run), lambda: finally_return(run))


def around_a_gather(run: Running) -> Any:
    with contextlib.suppress(BaseException):
        run.gather(lambda: run.call(pay, amount=40))
    return "done without you"


def while_collecting(run: Running) -> Any:
    later = run.later.call(pay, amount=40)
    with contextlib.suppress(BaseException):
        later.result()
    return "done without you"


async def in_a_task_group(run: Any) -> Any:
    async def work() -> Any:
        return await run.call(pay, amount=40)

    with contextlib.suppress(BaseException):
        async with asyncio.TaskGroup() as group:
            group.create_task(work())
    return "done without you"


async def in_gather_with_exceptions(run: Any) -> Any:
    found = await asyncio.gather(run.call(pay, amount=40), return_exceptions=True)
    return f"done without you: {found!r}"


async def in_a_forgotten_task(run: Any) -> Any:
    task = asyncio.ensure_future(run.call(pay, amount=40))
    await asyncio.wait([task])
    return f"done without you: {task.exception()!r}"


async def async_finally(run: Any) -> Any:
    try:
        await run.call(pay, amount=40)
    finally:
        return "done without you"  # noqa: B012 - what agents write


SWALLOWERS = [
    swallow_everything,
    finally_return,
    suppressed,
    another_error,
    in_a_thread,
    in_a_pool,
    in_a_nested_workflow,
    around_a_nested_workflow,
    in_a_branch,
    around_a_gather,
    while_collecting,
    in_a_task_group,
    in_gather_with_exceptions,
    in_a_forgotten_task,
    async_finally,
]


@pytest.mark.parametrize("flow", SWALLOWERS, ids=lambda flow: flow.__name__)
def test_a_swallowed_pause_is_a_pause_until_it_is_decided(desk: Desk, flow: Callable[..., Any]):
    run = begun(desk, desk.workflow(flow))
    assert run.status == "waiting", (run.status, run.output, run.error)
    assert run.output is None
    assert RAN == []
    assert set(titles(run)) == {"pay"}
    assert desk.verify()
    assert carried_on(desk, run).status == "waiting", "looking again changes nothing"

    for ask in run.asks:
        desk.approve(ask)
    assert carried_on(desk, run).status == "done", run.error
    assert ["pay"] * len(run.asks) == RAN


@pytest.mark.parametrize("flow", SWALLOWERS[:6], ids=lambda flow: flow.__name__)
def test_nothing_behind_a_swallowed_pause_happens(local: Desk, flow: Callable[..., Any]):
    @local.workflow(name="more")
    def more(run: Running) -> Any:
        with contextlib.suppress(ValueError):
            flow(run)
        with contextlib.suppress(BaseException):
            run.step(note, "behind it")
        with contextlib.suppress(BaseException):
            run.question("Behind it?")
        with contextlib.suppress(BaseException):
            run.later.call(pay, amount=1)
        return "done without you"

    run = begun(local, more)

    assert run.status == "waiting"
    assert RAN == []
    assert titles(run) == ["pay"]


def test_finally_runs_at_every_pause_and_except_exception_at_none(desk: Desk):
    left: list[str] = []

    def flow(run: Running) -> Any:
        try:
            return [run.question("1?"), run.question("2?")]
        except Exception:
            RAN.append("caught")
        finally:
            left.append("left")

    run = begun(desk, flow)
    for answer in "ab":
        answered(desk, run, answer)

    assert (len(left), RAN) == (3, [])
    assert run.output == ["a", "b"]


def test_two_verbs_at_once_in_one_lane_park_the_run_with_the_way_out(desk: Desk):
    inside, ended = threading.Event(), threading.Event()

    def slow() -> None:
        inside.set()
        ended.wait(5)

    def flow(run: Running) -> Any:
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(run.step, slow)
            inside.wait(5)
            with contextlib.suppress(Exception):
                run.step(note, "second")
            ended.set()
            first.result(5)
        return "fine"

    run = begun(desk, flow)

    assert run.status == "parked"
    assert "one lane" in str(run.error)
    assert "run.gather(" in str(run.error)
    assert RAN == []


def test_two_tasks_in_one_lane_park_the_run(desk: Desk):
    async def slow() -> None:
        await asyncio.sleep(0.02)

    async def flow(run: Any) -> Any:
        await asyncio.gather(run.step(slow), run.step(slow))

    run = begun(desk, flow)

    assert run.status == "parked"
    assert "run.gather(" in str(run.error)


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_a_verb_that_nobody_awaited_is_not_taken_for_done(desk: Desk):
    async def flow(run: Any) -> Any:
        forgotten = run.call(pay, amount=40)
        return f"paid: {forgotten is not None}"

    run = begun(desk, flow)

    assert run.status in ("failed", "parked")
    assert "was not awaited" in str(run.error)


def test_a_call_in_flight_when_the_workflow_returns_is_seen_through(desk: Desk):
    async def slow(amount: int) -> str:
        await asyncio.sleep(0.1)
        RAN.append("slow")
        return "paid"

    async def flow(run: Any) -> Any:
        task = asyncio.ensure_future(run.call(slow, amount=40))
        await asyncio.sleep(0.03)
        return f"did not wait for {task.done()}"

    run = begun(desk, flow)
    approved(desk, run, "slow")

    open_asks = [ask for ask in run.asks if ask.open]
    assert not (run.status == "done" and open_asks), "done with an open question"
    assert RAN == ["slow"] or open_asks, "it happened, or people are asked"


async def given_up_in(verb: Awaitable[Any], inside: list[asyncio.Event]) -> Any:
    """Await a verb, and cancel it once it is in the middle, however long it takes to come there."""
    inside.append(asyncio.Event())  # of this walk, and its loop
    task = asyncio.ensure_future(verb)
    begun = asyncio.ensure_future(inside[-1].wait())
    await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
    begun.cancel()
    task.cancel()
    return await task


def test_a_step_that_is_cancelled_in_the_middle_does_not_change_history(desk: Desk):
    """Given up the first time, it would come to its end at the replay: that is no replay."""

    inside: list[asyncio.Event] = []

    async def slow() -> str:
        RAN.append("slow")
        inside[-1].set()
        await asyncio.sleep(0.2 if len(RAN) == 1 else 0)
        return "came"

    async def flow(run: Any) -> Any:
        try:
            found = await given_up_in(run.step(slow), inside)
        except asyncio.CancelledError:
            found = "given up"
        await run.step(note, f"went on with: {found}")
        return [found, await run.question("And now?")]

    run = begun(desk, flow)
    if run.status == "waiting":
        answered(desk, run, "ok")

    assert run.status != "done" or run.output == ["given up", "ok"]
    assert RAN.count("slow") == 1
    assert not run.error or "slow" in run.error


def test_a_call_that_is_cancelled_in_the_middle_is_in_doubt(desk: Desk):
    inside: list[asyncio.Event] = []

    async def slow(amount: int) -> str:
        RAN.append("slow")
        inside[-1].set()
        await asyncio.sleep(10)
        return "paid"

    async def flow(run: Any) -> Any:
        try:
            return await given_up_in(run.call(slow, amount=40), inside)
        except asyncio.CancelledError:
            return "nobody knows"

    run = begun(desk, flow)
    approved(desk, run, "slow")
    assert run.status == "waiting", "not done with an open doubt"
    answered(desk, run, "it was paid", "Did slow happen?")

    assert run.output == "it was paid"
    assert RAN == ["slow"]


def test_the_verbs_of_another_run_are_refused(desk: Desk):
    """A run kept in a global: with two workers at work it is soon the wrong one."""
    kept: list[Running] = []

    def first(run: Running) -> Any:
        kept.append(run)
        return run.question("Which?")

    def second(run: Running) -> Any:
        return kept[0].step(note, "for another")

    one = begun(desk, first)
    while_it_waits = begun(desk, second)
    answered(desk, one, "this", "Which?")
    when_it_is_over = begun(desk, second)

    for run in (while_it_waits, when_it_is_over):
        assert run.status in ("failed", "parked"), run.status
        assert one.id in str(run.error)
    assert one.output == "this"
    assert RAN == []
