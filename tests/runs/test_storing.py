"""Results and errors that cannot be kept, and steps that fail, repeat or never return."""

from __future__ import annotations

import asyncio
import functools
import math
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import sayso
from sayso import Desk, Running, StepFailed
from sayso.errors import BadValue, RunFailed
from sayso.runs import journal
from sayso.testing import FakeClock
from tests.places import Place
from tests.runs.people import RAN, answered, approved, asked, begun, carried_on


def numbers() -> Any:
    yield 1


def half_a_character() -> str:
    return "\ud800"


def wrong_type() -> int:
    return "one"  # type: ignore[return-value]


def deep() -> Any:
    value: Any = 1
    for _ in range(1000):
        value = [value]
    return value


def loop() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


UNSTORABLE = {
    "an object": object,
    "a set": lambda: {1, 2},
    "not a number": lambda: math.nan,
    "bytes": lambda: b"raw",
    "keys that are no text": lambda: {1: "one"},
    "a lock inside": lambda: {"lock": [threading.Lock()]},
    "a generator": numbers,
    "half a character": half_a_character,
    "a loop": loop,
    "too deep": deep,
    "another type than promised": wrong_type,
    "an exception": lambda: ValueError("returned, not raised"),
    "too large": lambda: "x" * (17 * 1024 * 1024),
}


@pytest.mark.parametrize("name", UNSTORABLE)
def test_a_step_whose_result_cannot_be_stored_fails_the_same_way_each_time(local: Desk, name: str):
    seen: list[tuple[str, str]] = []

    def make() -> Any:
        RAN.append(name)
        return UNSTORABLE[name]()

    make.__annotations__["return"] = int if name == "another type than promised" else Any

    def flow(run: Running) -> Any:
        try:
            run.step(make)
        except StepFailed as failure:
            seen.append((failure.kind, failure.message))
        return run.question("And now?")

    run = begun(local, flow)
    answered(local, run, "ok")

    assert run.output == "ok", run.error
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert len(seen[0][1]) < 1200
    assert len(RAN) == 1


def test_the_way_out_is_said(desk: Desk):
    run = begun(desk, lambda run: run.step(object))

    assert run.status == "failed"
    assert "object failed: BadValue: it returned object, which cannot be recorded" in str(run.error)
    assert "store it elsewhere and return where it is" in str(run.error)


def test_an_output_that_cannot_be_stored_fails_the_run_and_nothing_is_lost(desk: Desk):
    def flow(run: Running) -> Any:
        run.step(RAN.append, 1)
        return object() if len(RAN) == 1 else "fine"

    run = begun(desk, flow)
    assert run.status == "failed"
    assert "output" in str(run.error)

    RAN.append("the code was corrected")
    desk.retry(run)
    carried_on(desk, run)

    assert run.output == "fine"
    assert RAN == [1, "the code was corrected"]


def test_the_result_of_a_nested_workflow_that_cannot_be_stored_names_it(desk: Desk):
    def inner(run: Running) -> Any:
        return object()

    run = begun(desk, lambda run: run.workflow(inner))

    assert run.status == "failed"
    assert "inner" in str(run.error)


@pytest.mark.parametrize("value", [{1, 2}, object(), math.inf, {"a": b""}], ids=repr)
def test_input_that_cannot_be_stored_is_refused_before_there_is_a_run(local: Desk, value: Any):
    @local.workflow
    def flow(run: Running, order: Any) -> None: ...

    for begin in (local.start, local.run):
        with pytest.raises(BadValue, match="order"):
            begin(flow, value)
    assert local.runs() == []


def test_arguments_that_the_workflow_does_not_take_are_refused(local: Desk):
    @local.workflow
    def flow(run: Running, order: int) -> None: ...

    with pytest.raises(TypeError):
        local.start(flow)
    with pytest.raises(TypeError):
        local.start(flow, 1, extra=2)
    assert local.runs() == []


# --- errors that cannot be stored --------------------------------------------------------------


class NoWords(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__(threading.Lock())


class Huge(Exception):
    def __str__(self) -> str:
        return "x" * 5_000_000


class Hostile(Exception):
    def __str__(self) -> str:
        return "\ud800 \x00 \x1b[2K \u202e pay"


@pytest.mark.parametrize("error", [NoWords, Unpicklable, Huge, Hostile])
@pytest.mark.parametrize("where", ["step", "tool", "workflow"])
def test_any_exception_is_a_failure_that_people_see(desk: Desk, error: Any, where: str):
    def fail() -> None:
        RAN.append(where)
        raise error

    @desk.workflow
    def flow(run: Running) -> Any:
        match where:
            case "step":
                run.step(fail)
            case "tool":
                run.call(fail)
            case _:
                raise error

    run = desk.start(flow)
    carried_on(desk, run)
    if where == "tool":
        approved(desk, run)
        effect = asked(run, "fail").effect
        assert effect is not None
        assert effect.status == "failed"

    assert run.status == "failed"
    assert error.__name__ in str(run.error)
    assert len(str(run.error)) < 1200
    assert all(char.isprintable() for char in str(run.error))
    assert len(RAN) <= 1
    assert desk.verify()


def test_a_run_cannot_take_its_worker_down(desk: Desk):
    @desk.workflow
    def bad(run: Running) -> Any:
        raise NoWords

    @desk.workflow
    def leaves(run: Running) -> Any:
        sys.exit(3)

    @desk.workflow
    def good(run: Running) -> Any:
        return "good"

    runs = [desk.start(flow) for flow in (bad, leaves, good)]
    desk.work(until="idle")

    assert [run.status for run in runs] == ["failed", "failed", "done"]


@pytest.mark.parametrize("where", ["step", "tool"])
def test_leaving_the_program_from_a_step_or_tool_ends_the_run_alone(desk: Desk, where: str):
    def leave() -> None:
        RAN.append(where)
        sys.exit("argparse said so")

    @desk.workflow
    def flow(run: Running) -> Any:
        return run.step(leave) if where == "step" else run.call(leave)

    run = desk.start(flow)
    desk.work(until="idle")
    if where == "tool":
        desk.approve(asked(run, "leave"))
        desk.work(until="idle")
        assert run.status in ("failed", "waiting"), "failed, or a doubt"
    else:
        assert run.status == "failed"
        assert "SystemExit" in str(run.error)
    assert len(RAN) == 1


def test_a_failed_run_says_why_to_whoever_waits_for_it(desk: Desk):
    def flow(run: Running) -> Any:
        raise LookupError("no such order")

    run = begun(desk, flow)

    with pytest.raises(RunFailed, match="LookupError: no such order") as failed:
        run.result(timeout=1)
    assert f"sayso runs retry {run.id}" in str(failed.value)
    trace = (run.events[-1].payload or {})["trace"]
    assert "test_storing.py" in trace


# --- steps by rule -----------------------------------------------------------------------------


def flaky(fails: int, kind: type[Exception] = OSError) -> Callable[[], str]:
    def fetch() -> str:
        RAN.append(1)
        if len(RAN) <= fails:
            raise kind("no line")
        return "fetched"

    return fetch


@pytest.mark.parametrize("awaits", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize(
    ("rule", "fetch", "tries"),
    [
        (sayso.retrying(3, pause=0), flaky(2), 3),
        (sayso.retrying(2, pause=0), flaky(5), 2),
        (sayso.retrying(3, pause=0, on=OSError), flaky(5, LookupError), 1),
        (lambda fetch: fetch, flaky(1), 1),
    ],
    ids=["until it comes", "no more often", "other exceptions", "without a rule"],
)
def test_a_step_is_tried_as_often_as_its_rule_says(
    local: Desk, rule: Any, fetch: Any, tries: int, awaits: bool
):
    def plain(run: Running) -> Any:
        return run.step(rule(fetch))

    async def awaited(run: Any) -> Any:
        return await run.step(rule(fetch))

    run = begun(local, local.workflow(awaited if awaits else plain))

    assert run.status == ("done" if tries == 3 else "failed")
    assert len(RAN) == tries


def test_a_rule_never_repeats_an_effect(local: Desk):
    put = sayso.retrying(3, pause=0)(flaky(1))
    run = begun(local, lambda run: run.call(put))
    approved(local, run)

    assert run.status == "failed"
    assert len(RAN) == 1


@pytest.mark.parametrize("awaits", [False, True], ids=["plain", "async"])
def test_a_step_that_never_returns_is_left_behind_at_its_limit(desk: Desk, awaits: bool):
    ended = threading.Event()

    @sayso.retrying(2, pause=0, limit=0.1)
    def hang() -> None:
        RAN.append(1)
        ended.wait(30)

    def plain(run: Running) -> Any:
        return run.step(hang)

    async def awaited(run: Any) -> Any:
        return await run.step(hang)

    began = time.monotonic()
    run = begun(desk, desk.workflow(awaited if awaits else plain))
    took = time.monotonic() - began
    ended.set()

    assert run.status == "failed"
    assert "took longer than 0.1 s" in str(run.error)
    assert took < 5
    assert len(RAN) == 2


def test_an_async_step_that_never_returns_is_cancelled_at_its_limit(desk: Desk):
    @sayso.retrying(1, limit=0.1)
    async def hang() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            RAN.append("cancelled")
            raise

    async def flow(run: Any) -> Any:
        return await run.step(hang)

    run = begun(desk, flow)

    assert "took longer than 0.1 s" in str(run.error)
    assert RAN == ["cancelled"]


def test_a_timeout_of_its_own_is_not_taken_for_the_limit(local: Desk):
    @sayso.retrying(1, limit=30)
    async def impatient() -> None:
        raise TimeoutError("the server is slow")

    async def flow(run: Any) -> Any:
        return await run.step(impatient)

    assert "TimeoutError: the server is slow" in str(begun(local, flow).error)


@pytest.mark.parametrize(
    "given",
    [
        {"times": 0},
        {"times": 1.5},
        {"times": True},
        {"on": 7},
        {"on": (OSError, int)},
        {"limit": -1},
        {"limit": 0},
        {"limit": "soon"},
        {"pause": -1},
        {"pause": "soon"},
    ],
    ids=str,
)
def test_a_rule_that_makes_no_sense_is_refused_while_decorating(given: dict[str, Any]):
    with pytest.raises(BadValue, match=r"span of time|whole number|exception"):
        sayso.retrying(**given)


def test_what_a_step_that_was_left_behind_still_does_is_not_recorded(desk: Desk):
    """Its thread cannot be stopped; nothing of it reaches the journal."""
    go_on, gone = threading.Event(), threading.Event()

    @sayso.retrying(1, limit=0.05)
    def slow(run: Any) -> str:
        go_on.wait(10)
        try:
            run.question("Too late?")
        except BaseException as error:
            RAN.append(type(error).__name__)
        gone.set()
        return "too late"

    def flow(run: Running) -> Any:
        try:
            run.step(slow, run)
        except StepFailed as failure:
            return failure.kind

    run = begun(desk, flow)
    before = len(run.events)
    go_on.set()
    assert gone.wait(10)

    assert run.output == "OutOfTime"
    assert len(run.events) == before
    assert run.asks == []
    assert len(RAN) == 1


# --- no room left ------------------------------------------------------------------------------


class Small(sqlite3.Connection):
    """A connection to a disk with room for so many pages."""

    pages: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute(f"pragma max_page_count = {self.pages}")


def test_a_full_disk_stops_a_run_and_nothing_recorded_is_lost(
    sqlite: Place, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    def flow(run: Running) -> Any:
        for number in range(20):
            run.step(fill, number)
        return "done"

    def fill(number: int) -> str:
        RAN.append(number)
        return "x" * 20_000

    with Desk(sqlite.url, clock=clock, account="sam@till") as desk:
        run = desk.start(desk.workflow(flow))
    monkeypatch.setattr(Small, "pages", sqlite.one("pragma page_count") + 40, raising=False)
    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Small))
    monkeypatch.setattr(journal, "_PAUSES", (0.0,) * 4)  # no disk grows while it waits
    with Desk(sqlite.url, clock=clock, account="sam@till") as full:
        full.workflow(flow)
        full.work(until="idle")
    monkeypatch.undo()
    before = list(RAN)
    assert 2 < len(before) < 20
    assert before == list(range(len(before)))

    with Desk(sqlite.url, clock=clock, account="sam@till") as roomy:
        roomy.workflow(flow)
        clock.advance("2m")
        found = carried_on(roomy, roomy.get_run(run.id))

        assert found.output == "done", (found.status, found.error)
        assert roomy.verify()
    assert sorted(set(RAN)) == list(range(20))
    assert len(RAN) <= 22, "only what could not be written was done again"
