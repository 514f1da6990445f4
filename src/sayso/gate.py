"""`@desk.gate`: a function that runs only after somebody said yes to exactly this call.

The way through a gate is written once, as a generator that yields what must be
waited for: a decision, the function itself, a pause. One driver blocks on
those, for plain functions; the other awaits them, for `async def`. Everything
in between is a short transaction.
"""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

from sayso.asks.carrying import CURRENT, Do, Gated, Pause, at_once, gated, heard, refused, tried
from sayso.asks.docket import Docket
from sayso.asks.files import File
from sayso.asks.forms import Forms
from sayso.asks.leases import Heartbeat
from sayso.asks.waiting import check_may_block
from sayso.errors import (
    Denied,
    FinishedLate,
    NotApproved,
    Skipped,
    StoreError,
    TooManyAsks,
)
from sayso.model.ask import Ask
from sayso.model.call import Call
from sayso.model.content import Content, Risk
from sayso.model.conversion import decode
from sayso.model.span import Span
from sayso.model.text import one_line
from sayso.model.tool import Bound
from sayso.model.verdicts import Verdict
from sayso.runs.here import running
from sayso.store.contract import Lease

P = ParamSpec("P")
R = TypeVar("R")
_log = logging.getLogger("sayso.gate")
_TO_CALL = (
    "Nothing was asked. Write the gate as `async def` and await it, or call it in a thread: "
    "await asyncio.to_thread({}, ...)."
)


class Host(Protocol):
    """What a gate needs of its desk."""

    forms: Forms
    docket: Docket
    heartbeat: Heartbeat

    def registered(self, gate: Gated) -> None:
        """Hear of a function that was put behind a gate: so its tool is declared."""
        ...

    def put(
        self,
        content: Content,
        *,
        lease: Lease | None = None,
        always: bool = False,
        declared: bool = False,
    ) -> Ask:
        """Open an ask; one that the policy allows is decided at once."""
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


class Gates:
    """The part of a desk that puts functions behind gates."""

    @overload
    def gate(self, fn: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def gate(
        self,
        fn: None = None,
        *,
        name: str | None = ...,
        risk: Risk | Callable[..., Risk] | None = ...,
        reversible: bool | None = ...,
        affects: str | None = ...,
        impact: str | Callable[..., object] | None = ...,
        preview: Callable[..., object] | None = ...,
        secret: Sequence[str] = ...,
        on_reject: object = ...,
        tell: bool = ...,
        idempotent: bool = ...,
        verify: Callable[..., object] | None = ...,
        limit: Span | None = ...,
        unknown: type[BaseException] | tuple[type[BaseException], ...] = ...,
        later: bool = ...,
        unseen: bool | float = ...,
        bucket: Callable[..., str] | None = ...,
        matters: Sequence[str] | str | None = ...,
        earns: bool = ...,
        why: str | None = ...,
        confidence: float | None = ...,
        needs: Iterable[str] | str | None = ...,
        deny: int = ...,
        allow: Iterable[Verdict] | Verdict | None = ...,
        within: Span | None = ...,
        run: str | None = ...,
        thread: str | None = ...,
        agent: str | None = ...,
        requester: str | None = ...,
        owner: str | None = ...,
        team: str | None = ...,
        tags: Iterable[str] = ...,
        conflicts: Iterable[str] = ...,
        files: Iterable[File] = ...,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def gate(self, fn: Callable[P, R] | None = None, **given: Any) -> Any:
        """Put a function behind a gate: it runs only after somebody approved exactly this call.

        Approve runs it with the frozen arguments, edit with the edited ones,
        reject raises `Rejected`, respond raises `Answered`. Use it bare or with:

        Args:
            fn: The function, plain or `async def`.
            **given: `name` of the tool; `risk` (a word or a function of the
                arguments), `reversible`, `affects`, `impact`, `preview` for people to
                see; `secret` parameters that are never shown or stored; `on_reject`, a
                value to return instead of raising; `tell`, for tools of models: return what
                the model should hear of a no or an answer instead of raising; `unknown` exceptions after which nobody
                knows whether it happened, `idempotent` (then it may be tried again with the
                same key), `verify` (asked whether it happened; "did not" counts after
                `limit`); `unseen` to look for cases like the call; `bucket`, a function of the
                arguments that names the kind of call, each of which is trusted by itself, `matters`,
                the parameters whose change says something of a call, and `earns=False` for what
                people are always asked; `later`, for a tool of an agent that goes on with other work
                while the call waits; and the terms of every ask: `needs`, `within`, `allow`, ...

        Raises:
            BadValue: while decorating: a parameter cannot be shown, or an option is unknown.
        """
        if fn is not None:
            return make_gate(cast("Host", self), fn, **given)
        return lambda decorated: make_gate(cast("Host", self), decorated, **given)


def make_gate(host: Host, fn: Callable[P, R], **given: Any) -> Callable[P, R]:  # noqa: ANN401
    """Return the function behind a gate, with the same signature."""
    gate = replace(gated(fn, **given), always=True)
    host.registered(gate)
    if inspect.iscoroutinefunction(fn):

        @functools.wraps(fn)
        async def gated_async(*args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401 - as fn
            run = running()
            if run is not None:
                return await run.call_gated(gate, args, kwargs)
            return await _walk_async(host, _passage(host, gate, args, kwargs))

        return cast("Callable[P, R]", _marked(gated_async, gate))

    to_call = _TO_CALL.format(fn.__name__)

    @functools.wraps(fn)
    def gated_sync(*args: P.args, **kwargs: P.kwargs) -> R:
        run = running()
        if run is not None:
            return cast("R", run.call_gated(gate, args, kwargs))
        check_may_block(f"{fn.__name__}()", to_call)
        return cast("R", _walk(host, _passage(host, gate, args, kwargs)))

    return _marked(gated_sync, gate)


def _marked(fn: Callable[P, R], gate: Gated) -> Callable[P, R]:
    fn.__sayso_gate__ = gate  # type: ignore[attr-defined]
    return fn


# --- the passage: what happens, in order -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Settle:
    ask: Ask


_Step = _Settle | Do | Pause
_Passage = Generator[_Step, Any, Any]


def _passage(host: Host, gate: Gated, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Passage:
    """Ask, wait, and carry out what was approved."""
    bound = gate.tool.bind(args, kwargs)
    content = gate.content(host.forms, bound)
    with host.heartbeat.holding() as lease:
        bare = gate.tool.risk is None
        try:
            ask = host.put(content, lease=lease, always=gate.asks_people, declared=not bare)
        except (Denied, TooManyAsks) as no:
            return heard(no, gate.rules)
        try:
            ask = ask if ask.closed else (yield _Settle(ask))
        except BaseException:  # Ctrl-C, a cancelled task: nobody will act on an answer any more
            host.docket.give_up(ask)
            raise
        if not ask.decision:
            return refused(ask, gate.rules)
        approved = gate.fitting(bound, ask)  # refused before anything is spent
        try:
            call = _begun(host, gate, bound, ask, lease)
        except NotApproved as no:
            return heard(no, gate.rules)
        return (yield from _carried_out(host, gate, bound, approved, call, lease))


def _begun(host: Host, gate: Gated, bound: Bound, ask: Ask, lease: Lease) -> Call:
    risk = gate.risk_as_edited(bound, ask)
    return host.docket.begin(ask.id, lease, risk=risk, idempotent=gate.rules.idempotent)


def _carried_out(
    host: Host, gate: Gated, bound: Bound, args: dict[str, Any], call: Call, lease: Lease
) -> _Passage:
    """Run the function; when in doubt, ask a person, who may say to run it again."""
    tool, rules, ask = gate.tool, gate.rules, call.ask
    while True:
        try:
            result = yield from tried(rules, Do(tool.fn, bound.receiver, args, call))
        except rules.unknown as error:
            reason = f"it raised {one_line(bound.conceal(repr(error)), 200)}"
        except Exception as error:
            _record(host, call, "failed", error=one_line(bound.conceal(repr(error)), 500))
            raise
        except BaseException as error:
            reason = f"the program was interrupted in the middle ({type(error).__name__})."
            asked = host.docket.doubt(ask.id, reason, attempt=call.attempt)
            if asked is not None:
                host.tell(asked)
            raise
        else:
            _record(host, call, "done", result=bound.conceal(gate.kept(result)))
            return result
        asked = host.docket.doubt(ask.id, reason, attempt=call.attempt, lease=lease)
        if asked is None:  # the sweep was faster
            asked = _doubt_of(host, ask)
        host.opened(asked)
        answered: Ask = yield _Settle(asked)
        if answered.decision is None or answered.decision.verdict == "reject":
            return heard(Skipped(answered), rules)
        if answered.decision.verdict == "respond":
            answer = answered.decision.answer
            return answer if tool.returns is Any else decode(tool.returns, answer)
        call = _begun(host, gate, bound, ask, lease)


def _doubt_of(host: Host, ask: Ask) -> Ask:
    effect = host.docket.look(ask.id).effect
    if effect is None or effect.doubt is None:
        raise FinishedLate(ask, effect.status if effect else "none")
    return host.docket.look(effect.doubt)


def _record(host: Host, call: Call, ending: Any, **came: Any) -> None:  # noqa: ANN401
    """Write down what came of it, through an outage if need be.

    The function has run, and its caller must hear of that whatever the database
    does: an error here would read like an invitation to run it again. What cannot
    be written is a doubt, once the lease lapses.
    """
    for pause in (0.05, 0.2, 1.0, 3.0, None):
        try:
            host.docket.finish(call, ending, **came)
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
        case Pause(seconds):
            return time.sleep(seconds)
        case Do(fn, receiver, args, call):
            token = CURRENT.set(call)
            try:
                return at_once(fn(*receiver, **args), call.tool)
            finally:
                CURRENT.reset(token)


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
    import asyncio

    match step:
        case _Settle(ask):
            return await host.settle_async(ask)
        case Pause(seconds):
            return await asyncio.sleep(seconds)
        case Do(fn, receiver, args, call):
            token = CURRENT.set(call)
            try:
                result = fn(*receiver, **args)
                return await result if isinstance(result, Awaitable) else result
            finally:
                CURRENT.reset(token)


async def _hop(move: _Move, value: object, passage: _Passage) -> _Step | _End | _Failed:
    """Go one step on in a thread, and see it through even if the task is cancelled meanwhile.

    A passage that is still under way then hears of the cancelling at its next step.
    """
    import asyncio

    work = asyncio.ensure_future(asyncio.to_thread(_advance, move, value))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError as cancelled:
        step = await work
        if isinstance(step, _End | _Failed):
            raise
        return _advance(passage.throw, cancelled)
