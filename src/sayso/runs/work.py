"""What a verb hands out to be done, and the two ways of doing it: blocking, or awaited.

A verb is a generator. It yields user code to run and gets back what it
returned, or the exception it raised; everything else it does itself.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AbstractContextManager
from contextvars import Token
from dataclasses import dataclass, field
from typing import Any

from sayso.asks.carrying import CURRENT, Do, Pause, at_once
from sayso.runs.lanes import Lane, closed_to_verbs, inside


@dataclass(frozen=True, slots=True)
class Step:
    """User code that may not use verbs, with a time limit if it has one."""

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...] = field(repr=False, default=())
    kwargs: dict[str, Any] = field(repr=False, default_factory=dict)
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Nested:
    """User code with a lane of its own."""

    name: str
    lane: Lane
    fn: Callable[..., Any]
    args: tuple[Any, ...] = field(repr=False, default=())
    kwargs: dict[str, Any] = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class Together:
    """Branches to run side by side. What comes back is a list of `Came`, in order."""

    branches: Sequence[Nested]


@dataclass(frozen=True, slots=True)
class Came:
    """What a branch came to."""

    value: Any = None
    error: BaseException | None = None


Todo = Do | Pause | Step | Nested | Together
Passage = Generator[Todo, Any, Any]


class OutOfTime(Exception):
    """A step took longer than its limit."""


def drive(passage: Passage) -> Any:  # noqa: ANN401 - what the verb returns
    """Walk through a verb, blocking."""
    try:
        todo = next(passage)
        while True:
            try:
                value = _done(todo)
            except BaseException as error:  # noqa: BLE001 - the verb decides what it means
                todo = passage.throw(_plain(error))
            else:
                todo = passage.send(value)
    except StopIteration as stop:
        return stop.value


async def drive_async(passage: Passage) -> Any:  # noqa: ANN401 - what the verb returns
    """Walk through a verb, awaiting user code."""
    try:
        todo = next(passage)
        while True:
            try:
                value = await _awaited(todo)
            except BaseException as error:  # noqa: BLE001 - the verb decides what it means
                todo = passage.throw(_plain(error))
            else:
                todo = passage.send(value)
    except StopIteration as stop:
        return stop.value


def _plain(error: BaseException) -> BaseException:
    """Return the error as a generator can take it."""
    if not isinstance(error, StopIteration):
        return error
    plain = RuntimeError(f"raised {error!r}")
    plain.__cause__ = error
    return plain


def _set(todo: Do | Step | Nested) -> AbstractContextManager[None]:
    """Set what user code finds around it."""
    if isinstance(todo, Do):
        return _Carrying(todo)
    return closed_to_verbs(todo.name) if isinstance(todo, Step) else inside(todo.lane)


class _Carrying(closed_to_verbs):
    """Say which call is carried out, besides."""

    __slots__ = ("_call", "_other")
    _other: Token[Any]

    def __init__(self, do: Do) -> None:
        super().__init__(do.call.tool)
        self._call = do.call

    def __enter__(self) -> None:
        super().__enter__()
        self._other = CURRENT.set(self._call)

    def __exit__(self, *_: object) -> None:
        CURRENT.reset(self._other)
        super().__exit__()


def _called(todo: Do | Step | Nested) -> Any:  # noqa: ANN401 - whatever it returns
    if isinstance(todo, Do):
        return todo.fn(*todo.receiver, **todo.args)
    return todo.fn(*todo.args, **todo.kwargs)


def _name(todo: Do | Step | Nested) -> str:
    return todo.call.tool if isinstance(todo, Do) else todo.name


def _done(todo: Todo) -> Any:  # noqa: ANN401 - whatever it returns
    match todo:
        case Pause(seconds):
            return time.sleep(seconds)
        case Together(branches):
            return _side_by_side(branches)
        case Step(limit=float(limit)):
            return _within(limit, todo)
        case _:
            with _set(todo):
                return at_once(_called(todo), _name(todo))


def _within(limit: float, step: Step) -> Any:  # noqa: ANN401 - whatever it returns
    """Run a step on a thread and wait no longer than its limit. The thread cannot be stopped."""
    came: list[Came] = []
    around = contextvars.copy_context()

    def run() -> None:
        try:
            with _set(step):
                came.append(Came(at_once(_called(step), step.name)))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            came.append(Came(error=error))

    thread = threading.Thread(
        target=around.run, args=(run,), name=f"sayso-step-{step.name}", daemon=True
    )
    thread.start()
    thread.join(limit)
    if not came:
        raise OutOfTime(f"took longer than {limit:g} s")
    if came[0].error is not None:
        raise came[0].error
    return came[0].value


def _side_by_side(branches: Sequence[Nested]) -> list[Came]:
    came = [Came() for _ in branches]

    def run(number: int, branch: Nested) -> None:
        try:
            with _set(branch):
                came[number] = Came(at_once(_called(branch), branch.name))
        except BaseException as error:  # noqa: BLE001 - the verb decides what it means
            came[number] = Came(error=error)

    threads = [
        threading.Thread(
            target=contextvars.copy_context().run,
            args=(run, number, branch),
            name=f"sayso-branch-{branch.lane.path}",
            daemon=True,
        )
        for number, branch in enumerate(branches)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return came


async def _awaited(todo: Todo) -> Any:  # noqa: ANN401 - whatever it returns
    import asyncio

    match todo:
        case Pause(seconds):
            return await asyncio.sleep(seconds)
        case Together(branches):
            return await _side_by_side_async(branches)
        case Step(limit=float(limit)) if not inspect.iscoroutinefunction(todo.fn):
            return await asyncio.to_thread(_within, limit, todo)
        case Step(limit=float(limit)):
            timer = asyncio.timeout(limit)
            try:
                async with timer:
                    with _set(todo):
                        return await _value(_called(todo), todo.name)
            except TimeoutError as error:
                if not timer.expired():
                    raise
                raise OutOfTime(f"took longer than {limit:g} s") from error
        case _:
            with _set(todo):
                return await _value(_called(todo), _name(todo))


async def _value(result: object, name: str) -> object:
    if inspect.isawaitable(result):
        return await result
    return at_once(result, name)


async def _side_by_side_async(branches: Sequence[Nested]) -> list[Came]:
    import asyncio

    async def run(branch: Nested) -> Came:
        try:
            with _set(branch):
                result = _called(branch)
                return Came(await result if isinstance(result, Awaitable) else result)
        except BaseException as error:  # noqa: BLE001 - the verb decides what it means
            return Came(error=error)

    tasks = [asyncio.ensure_future(run(branch)) for branch in branches]
    return list(await asyncio.gather(*tasks))
