"""`@desk.gate`: a function that runs only after somebody said yes to exactly this call.

The way through a gate is written once, as a generator that yields what must be
waited for: a decision, the function itself, a pause. One driver blocks on
those, for plain functions; the other awaits them, for `async def`. Everything
in between is a short transaction.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from sayso.asks.forms import Forms, Span, Terms
from sayso.asks.leases import Heartbeat
from sayso.asks.spending import Call, begin, doubt, finish
from sayso.asks.standing import standing
from sayso.asks.withdrawing import take_back
from sayso.errors import (
    Answered,
    BadValue,
    FinishedLate,
    InvalidAnswer,
    InvalidEdit,
    Misuse,
    Rejected,
    Skipped,
    StoreError,
)
from sayso.model.actor import Origin
from sayso.model.ask import Ask
from sayso.model.content import Content
from sayso.model.conversion import decode, encode
from sayso.model.span import span
from sayso.model.text import one_line
from sayso.model.tool import Bound, Tool
from sayso.store.contract import Lease, Store

P = ParamSpec("P")
R = TypeVar("R")
_log = logging.getLogger("sayso.gate")
_current: ContextVar[Call] = ContextVar("sayso_current_call")
_TRIES = 3
_MISSING = object()


class Host(Protocol):
    """What a gate needs of its desk."""

    forms: Forms
    origin: Origin
    heartbeat: Heartbeat

    @property
    def store(self) -> Store:
        """Where the ask is kept."""
        ...

    def put(self, content: Content, *, lease: Lease | None = None) -> Ask:
        """Open an ask."""
        ...

    def opened(self, ask: Ask) -> None:
        """Hear of an ask that was opened by other means."""
        ...

    def tell(self, ask: Ask) -> None:
        """Say in a line that an ask waits, without waiting for it."""
        ...

    def settle(self, ask: Ask) -> Ask:
        """Block until the ask is closed."""
        ...

    async def settle_async(self, ask: Ask) -> Ask:
        """Wait until the ask is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Happened:
    """`verify` says: the call took place, with this result."""

    result: Any = None


@dataclass(frozen=True, slots=True)
class DidNotHappen:
    """`verify` says: the call left no trace. Counts only after the gate's time limit."""


@dataclass(frozen=True, slots=True)
class CannotTell:
    """`verify` says: no idea. A person is asked."""


Finding = Happened | DidNotHappen | CannotTell


def current_call() -> Call:
    """Return the approved call that is being carried out, for its idempotency key.

    Raises:
        Misuse: no gated function is running here.
    """
    call = _current.get(None)
    if call is None:
        raise Misuse("current_call() works inside a gated function while it runs.")
    return call


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a gate behaves around its function."""

    on_reject: Any = _MISSING
    idempotent: bool = False
    verify: Callable[..., Any] | None = None
    limit: float | None = None
    unknown: tuple[type[BaseException], ...] = ()
    terms: Terms = field(default_factory=Terms)


def make_gate(
    host: Host,
    fn: Callable[P, R],
    *,
    name: str | None = None,
    declared: dict[str, Any],
    on_reject: object = _MISSING,
    idempotent: bool = False,
    verify: Callable[..., Any] | None = None,
    limit: Span | None = None,
    unknown: type[BaseException] | tuple[type[BaseException], ...] = (),
    terms: Terms,
) -> Callable[P, R]:
    """Return the function behind a gate, with the same signature."""
    tool = Tool.of(fn, name=name, **declared)
    host.forms.check(terms)
    rules = Rules(
        on_reject=on_reject,
        idempotent=idempotent,
        verify=_callable(verify),
        limit=None if limit is None else span(limit).total_seconds(),
        unknown=_exceptions(unknown),
        terms=terms,
    )
    if inspect.iscoroutinefunction(fn):

        @functools.wraps(fn)
        async def gated_async(*args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401 - as fn
            return await _walk_async(host, _passage(host, tool, rules, args, kwargs))

        return cast("Callable[P, R]", gated_async)

    @functools.wraps(fn)
    def gated(*args: P.args, **kwargs: P.kwargs) -> R:
        return cast("R", _walk(host, _passage(host, tool, rules, args, kwargs)))

    return gated


def _callable(verify: Callable[..., Any] | None) -> Callable[..., Any] | None:
    if verify is not None and not callable(verify):
        raise BadValue(f"verify= is a function, not {type(verify).__name__}.")
    return verify


def _exceptions(unknown: object) -> tuple[type[BaseException], ...]:
    kinds = unknown if isinstance(unknown, tuple) else (unknown,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise BadValue(f"unknown={kind!r}: name classes of exceptions, such as TimeoutError.")
    return kinds


# --- the passage: what happens, in order -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Settle:
    ask: Ask


@dataclass(frozen=True, slots=True)
class _Run:
    fn: Callable[..., Any]
    receiver: tuple[Any, ...] = field(repr=False)
    args: dict[str, Any] = field(repr=False)
    call: Call


@dataclass(frozen=True, slots=True)
class _Pause:
    seconds: float


_Step = _Settle | _Run | _Pause
_Passage = Generator[_Step, Any, Any]


def _passage(
    host: Host, tool: Tool, rules: Rules, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> _Passage:
    """Ask, wait, and carry out what was approved."""
    bound = tool.bind(args, kwargs)
    terms: Terms = {**rules.terms, "risk": tool.risk_of(bound)}
    content = host.forms.action(
        tool.name,
        bound.args,
        schema=tool.schema,
        returns=tool.returns_schema(),
        facts=tool.receiver_facts(bound),
        shown=tool.shown(bound),
        **terms,
    )
    with host.heartbeat.holding() as lease:
        ask = host.put(content, lease=lease)
        try:
            ask = yield _Settle(ask)
        except BaseException:  # Ctrl-C, a cancelled task: nobody will act on an answer any more
            take_back(host.store, ask, origin=host.origin)
            raise
        if not ask.decision:
            return _refused(ask, rules)
        return (yield from _carried_out(host, tool, rules, bound, ask, lease))


def _refused(ask: Ask, rules: Rules) -> Any:  # noqa: ANN401 - the value of on_reject
    if ask.decision is not None and ask.decision.verdict == "respond":
        raise Answered(ask)
    if rules.on_reject is _MISSING:
        raise Rejected(ask)
    return rules.on_reject


def _carried_out(
    host: Host, tool: Tool, rules: Rules, bound: Bound, ask: Ask, lease: Lease
) -> _Passage:
    """Spend the approval and run; when in doubt, ask a person, who may say to run it again."""
    args = _fitting(tool, bound, ask)
    while True:
        call = begin(host.store, ask.id, origin=host.origin, lease=lease)
        run = _Run(tool.fn, bound.receiver, args, call)
        try:
            result = yield from _tried(rules, run)
        except rules.unknown as error:
            reason = f"it raised {one_line(bound.conceal(repr(error)), 200)}"
        except Exception as error:
            _record(host, call, "failed", error=one_line(bound.conceal(repr(error)), 500))
            raise
        except BaseException as error:
            reason = f"the program was interrupted in the middle ({type(error).__name__})."
            asked = doubt(host.store, ask.id, reason, origin=host.origin, attempt=call.attempt)
            if asked is not None:
                host.tell(asked)
            raise
        else:
            _record(host, call, "done", result=bound.conceal(_kept(tool, result)))
            return result
        asked = doubt(
            host.store, ask.id, reason, origin=host.origin, attempt=call.attempt, lease=lease
        )
        if asked is None:  # the sweep was faster
            asked = _doubt_of(host, ask)
        host.opened(asked)
        answered: Ask = yield _Settle(asked)
        if answered.decision is None or answered.decision.verdict == "reject":
            raise Skipped(answered)
        if answered.decision.verdict == "respond":
            answer = answered.decision.answer
            return answer if tool.returns is Any else decode(tool.returns, answer)


def _doubt_of(host: Host, ask: Ask) -> Ask:
    effect = standing(host.store, ask.id).ask.effect
    if effect is None or effect.doubt is None:
        raise FinishedLate(ask, effect.status if effect else "none")
    return standing(host.store, effect.doubt).ask


def _fitting(tool: Tool, bound: Bound, ask: Ask) -> dict[str, Any]:
    """Return the approved arguments as the function takes them.

    An edit fits the schema, or it would have been refused. A type may check more
    than a schema can say; then nothing is spent and the program hears of it.
    """
    try:
        return tool.thaw(ask.args, bound)
    except InvalidAnswer as error:
        raise InvalidEdit(
            f"{ask.id} was approved with arguments that {tool.name} does not take, so it was not "
            "run.",
            fields=error.fields,
        ) from error


def _tried(rules: Rules, run: _Run) -> _Passage:
    """Run the function. Where not knowing can be settled without a person, settle it."""
    for attempt in range(1, _TRIES + 1):
        begun = time.monotonic()
        try:
            return (yield run)
        except rules.unknown as error:
            found = yield from _verified(rules, run, begun)
            if isinstance(found, Happened):
                return found.result
            retry = rules.idempotent or isinstance(found, DidNotHappen)
            if not retry or attempt == _TRIES:
                raise
            reason = type(error).__name__
            _log.warning("%s: %s, trying again with the same key", run.call.tool, reason)
    raise AssertionError("unreachable: the last try returns or raises")


def _verified(rules: Rules, run: _Run, begun: float) -> Generator[_Step, Any, Finding]:
    """Ask `verify`. "Did not happen" counts only once the call can no longer be on its way."""
    if rules.verify is None:
        return CannotTell()
    while True:
        try:
            found = yield _Run(rules.verify, (), run.args, run.call)
        except Exception:  # noqa: BLE001 - a verify that fails tells nothing
            _log.warning(
                "verify of %s failed", run.call.tool, exc_info=not run.call.ask.content.hidden
            )
            return CannotTell()
        if isinstance(found, Happened):
            return found
        if not isinstance(found, DidNotHappen):
            if not isinstance(found, CannotTell):
                _log.error("verify of %s returned %r, which says nothing", run.call.tool, found)
            return CannotTell()
        if rules.limit is None:
            return CannotTell()
        left = rules.limit - (time.monotonic() - begun)
        if left <= 0:
            return found
        yield _Pause(left)


def _kept(tool: Tool, result: object) -> object:
    """Return the result in its JSON form, if its declared type has one."""
    if tool.returns is Any:
        return result
    try:
        return encode(tool.returns, result)
    except BadValue:
        return result


def _record(host: Host, call: Call, ending: Any, **came: Any) -> None:  # noqa: ANN401
    """Write down what came of it, through an outage if need be.

    The function has run, and its caller must hear of that whatever the database
    does: an error here would read like an invitation to run it again. What cannot
    be written is a doubt, once the lease lapses.
    """
    for pause in (0.05, 0.2, 1.0, 3.0, None):
        try:
            finish(host.store, call, ending, origin=host.origin, **came)
        except FinishedLate as error:
            _log.warning("%s", error)
        except StoreError as error:
            _log.warning("The outcome of %s could not be written: %s", call.ask.id, error)
            if pause is not None:
                time.sleep(pause)
                continue
        return


# --- the drivers: how to wait ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _End:
    value: Any


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


_Move = Callable[[Any], _Step]


def _advance(move: _Move, value: object) -> _Step | _End | _Failed:
    """Go one step on. Endings are values, because not every exception can cross a thread hop."""
    try:
        return move(value)
    except StopIteration as stop:
        return _End(stop.value)
    except BaseException as error:  # noqa: BLE001 - raised again by the driver
        return _Failed(error)


def _walk(host: Host, passage: _Passage) -> Any:  # noqa: ANN401 - what the function returns
    step = _advance(passage.send, None)
    while not isinstance(step, _End | _Failed):
        try:
            value = _blocked(host, step)
        except BaseException as error:  # noqa: BLE001 - the passage decides what it means
            step = _advance(passage.throw, error)
        else:
            step = _advance(passage.send, value)
    return _ended(step)


def _ended(step: _End | _Failed) -> Any:  # noqa: ANN401 - what the function returns
    if isinstance(step, _Failed):
        raise step.error
    return step.value


def _blocked(host: Host, step: _Step) -> Any:  # noqa: ANN401 - depends on the step
    match step:
        case _Settle(ask):
            return host.settle(ask)
        case _Pause(seconds):
            return time.sleep(seconds)
        case _Run(fn, receiver, args, call):
            token = _current.set(call)
            try:
                return _at_once(fn(*receiver, **args), call)
            finally:
                _current.reset(token)


def _at_once(result: object, call: Call) -> object:
    """Return a result that is one, and not the promise of running the function later."""
    if not (
        inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result)
    ):
        return result
    if inspect.iscoroutine(result):
        result.close()  # it must not run behind anybody's back
    raise Misuse(
        f"{call.tool} returned {type(result).__name__}, so nothing of it has run. Gate the "
        "`async def` function itself: put @desk.gate directly above it."
    )


async def _walk_async(host: Host, passage: _Passage) -> Any:  # noqa: ANN401 - as the function
    step = await _hop(passage.send, None, passage)
    while not isinstance(step, _End | _Failed):
        try:
            value = await _awaited(host, step)
        except BaseException as error:  # noqa: BLE001 - the passage decides what it means
            step = await _hop(passage.throw, error, passage)
        else:
            step = await _hop(passage.send, value, passage)
    return _ended(step)


async def _awaited(host: Host, step: _Step) -> Any:  # noqa: ANN401 - depends on the step
    match step:
        case _Settle(ask):
            return await host.settle_async(ask)
        case _Pause(seconds):
            return await asyncio.sleep(seconds)
        case _Run(fn, receiver, args, call):
            token = _current.set(call)
            try:
                result = fn(*receiver, **args)
                return await result if isinstance(result, Awaitable) else result
            finally:
                _current.reset(token)


async def _hop(move: _Move, value: object, passage: _Passage) -> _Step | _End | _Failed:
    """Go one step on in a thread, and see it through even if the task is cancelled meanwhile.

    A passage that is still under way then hears of the cancelling at its next step.
    """
    work = asyncio.ensure_future(asyncio.to_thread(_advance, move, value))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError as cancelled:
        step = await work
        if isinstance(step, _End | _Failed):
            raise
        return _advance(passage.throw, cancelled)
