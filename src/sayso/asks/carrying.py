"""How a function behind a gate behaves: what its rules say, and trying it by those rules.

`tried` is a generator that yields what must be waited for, so that a gate may
block, an `async def` await, and a run write its journal in between.
"""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable, Generator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload

from sayso.asks.forms import Forms, Terms
from sayso.asks.spending import Allowed
from sayso.errors import (
    Answered,
    BadValue,
    InvalidAnswer,
    InvalidEdit,
    Misuse,
    Rejected,
    SaysoError,
)
from sayso.insight.bounds import bound_of
from sayso.model.ask import Ask
from sayso.model.call import Call
from sayso.model.content import Content, Risk
from sayso.model.conversion import encode
from sayso.model.digest import canonical
from sayso.model.span import span
from sayso.model.tool import Bound, Tool

_log = logging.getLogger("sayso.gate")
_TRIES = 3
F = TypeVar("F", bound=Callable[..., Any])
MISSING = object()
UNMADE = ("Denied", "NotApproved")  # a call of a run that failed like this was never begun
CURRENT: ContextVar[Call | Allowed] = ContextVar("sayso_current_call")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a gate behaves around its function."""

    on_reject: Any = MISSING
    tell: bool = False  # what was said instead of a yes is returned in words, and not raised
    idempotent: bool = False
    verify: Callable[..., Any] | None = None
    limit: float | None = None
    unknown: tuple[type[BaseException], ...] = ()
    asks: bool = False
    later: bool = False  # an agent goes on with other work while its calls wait for people
    unseen: float | None = None  # the score of a case from which on a call counts as seen before
    earns: bool = True  # whether an agent can earn to call it without asking
    terms: Terms = field(default_factory=Terms)


@dataclass(frozen=True, slots=True)
class Gated:
    """A tool with the rules of its gate."""

    tool: Tool
    rules: Rules
    always: bool = False  # a gate on a desk asks, whatever its tool declares
    sentence: str | None = None  # why people are asked, if there is more to say than that

    @property
    def asks_people(self) -> bool:
        """Whether a call asks whatever the policy allows: nothing is declared, or people are named."""
        return self.tool.risk is None or self.rules.terms.get("needs") is not None

    def content(self, forms: Forms, bound: Bound, **more: Any) -> Content:  # noqa: ANN401 - terms
        """Return what people are shown of one call."""
        tool = self.tool
        more_shown: dict[str, Any] = {}
        terms: Terms = {**self.rules.terms, "risk": tool.risk_of(bound), **more}  # type: ignore[typeddict-item]
        proposal, rules = tool.proposal(bound), self.rules
        if rules.unseen is not None:
            more_shown["unseen"] = forms.unseen(proposal, rules.unseen, terms.get("team"))
        more_shown["stakes"] = self._stakes(forms, bound)
        return forms.call(
            proposal,
            title=tool.title,
            returns=tool.returned,
            facts=tool.receiver_facts(bound),
            **tool.shown(bound),
            **more_shown,
            sentence=self.sentence,
            terms=terms,
        )

    def _stakes(self, forms: Forms, bound: Bound) -> str | None:
        """Return what tells calls that are trusted together from others, as JSON.

        `None` for what people are always asked: nothing is declared of it, it says so itself, or
        nobody can tell which kind of call it is.
        """
        if self.asks_people or not self.rules.earns:
            return None
        tool, bucket = self.tool, self.tool.bucket_of(bound)
        if bucket is None:
            return None
        said: dict[str, Any] = {"version": forms.version(tool.fn), "bucket": bucket}
        if tool.matters is not None:
            said["matters"] = list(tool.matters)
        return canonical({name: value for name, value in said.items() if value != ""})

    def kept(self, result: object) -> object:
        """Return the result in its JSON form, if its declared type has one."""
        if self.tool.returns is Any:
            return result
        try:
            return encode(self.tool.returns, result)
        except BadValue:
            return result

    def risk_as_edited(self, bound: Bound, ask: Ask) -> Risk | None:
        """Return the risk of an edited call, if a function of its arguments says so (E13)."""
        if ask.original is None or not callable(self.tool.risk):
            return None
        return self.tool.risk_of(replace(bound, args=ask.args))

    def fitting(self, bound: Bound, ask: Ask) -> dict[str, Any]:
        """Return the approved arguments as the function takes them.

        An edit fits the schema, or it would have been refused. A type may check more
        than a schema can say; then nothing is spent and the program hears of it.
        """
        try:
            return self.tool.thaw(ask.args, bound)
        except InvalidAnswer as error:
            raise InvalidEdit(
                f"{ask.id} was approved with arguments that {self.tool.name} does not take, so it "
                "was not run.",
                fields=error.fields,
            ) from error


_DECLARED = (
    *("risk", "reversible", "affects", "impact", "preview", "secret"),
    *("bucket", "matters"),
)
_RULES = (
    *("on_reject", "tell", "idempotent", "verify", "limit", "unknown", "asks", "later"),
    *("unseen", "earns"),
)


def gated(fn: Callable[..., Any], *, name: str | None = None, **given: Any) -> Gated:  # noqa: ANN401
    """Sort the options of a gate: what the tool declares, how it behaves, what its asks take.

    Raises:
        BadValue: an option is unknown or makes no sense, or a parameter cannot be shown.
    """
    terms = {n: v for n, v in given.items() if n in Terms.__annotations__ and n != "risk"}
    for option in given:
        if option not in {*_DECLARED, *_RULES, *terms}:
            raise BadValue(f"A gate has no option {option!r}.")
    if terms:
        Forms.check(terms)  # type: ignore[arg-type]
    limit = given.get("limit")
    _check_later(given)
    _check_tell(given)
    rules = Rules(
        on_reject=given.get("on_reject", MISSING),
        tell=given.get("tell", False),
        idempotent=given.get("idempotent", False),
        verify=_callable(given.get("verify")),
        limit=None if limit is None else span(limit).total_seconds(),
        unknown=_exceptions(given.get("unknown", ())),
        asks=given.get("asks", False),
        later=given.get("later", False),
        unseen=bound_of(given.get("unseen")),
        earns=_flag(given.get("earns", True), "earns"),
        terms=terms,  # type: ignore[arg-type]
    )
    if rules.asks and rules.unseen is not None:
        raise BadValue(
            "asks=True and unseen=: only a call can be compared with others, not a tool that asks."
        )
    declared = {option: given[option] for option in _DECLARED if option in given}
    return Gated(Tool.of(fn, name=name, **declared), rules)


def _check_later(given: Mapping[str, Any]) -> None:
    """Refuse a `later` that cannot be kept."""
    if not isinstance(given.get("later", False), bool):
        raise BadValue(f"later={given['later']!r}: it is True or False.")
    if given.get("later") and given.get("asks"):
        raise BadValue(
            "A tool with asks=True asks while it works, so its calls cannot wait in a queue. Leave "
            "out asks=True or later=True."
        )


def _check_tell(given: Mapping[str, Any]) -> None:
    """Refuse a `tell` that says two things, or nothing."""
    if not _flag(given.get("tell", False), "tell"):
        return
    if "on_reject" in given:
        raise BadValue("tell=True and on_reject= both say what is returned after a no. Give one.")
    if given.get("asks"):
        raise BadValue(
            "A tool with asks=True asks while it works, so no single no is said to it. Leave out "
            "tell=True, and return sayso.told(error) where it asks."
        )


def gated_of(fn: object) -> Gated | None:
    """Return what `@desk.gate` or `@sayso.tool` noted about a function."""
    return getattr(fn, "__sayso_gate__", None)


@overload
def tool(fn: F) -> F: ...
@overload
def tool(fn: None = None, **given: Any) -> Callable[[F], F]: ...  # noqa: ANN401
def tool(fn: Callable[..., Any] | None = None, **given: Any) -> Any:
    """Declare what a function does to the world, for the desk of the run that calls it.

    It stays a plain function; `run.call(fn, ...)` asks before it runs. It takes
    what `desk.gate` takes, and `asks=True` for a function that itself asks people
    (`sayso.question` and so on): it then runs as a workflow inside the workflow.
    """
    if fn is None:
        return functools.partial(tool, **given)
    fn.__sayso_gate__ = gated(fn, **given)  # type: ignore[attr-defined]
    return fn


def _callable(verify: object) -> Callable[..., Any] | None:
    if verify is not None and not callable(verify):
        raise BadValue(f"verify= is a function, not {type(verify).__name__}.")
    return verify


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise BadValue(f"{name}={value!r}: it is True or False.")
    return value


def _exceptions(unknown: object) -> tuple[type[BaseException], ...]:
    kinds = unknown if isinstance(unknown, tuple) else (unknown,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise BadValue(f"unknown={kind!r}: name classes of exceptions, such as TimeoutError.")
    return kinds


def refused(ask: Ask, rules: Rules) -> Any:  # noqa: ANN401 - the value of on_reject
    """Say what a closed ask that was not approved means for its caller."""
    if ask.decision is not None and ask.decision.verdict == "respond":
        return heard(Answered(ask), rules)
    if rules.on_reject is MISSING:
        return heard(Rejected(ask), rules)
    return rules.on_reject


def heard(no: SaysoError, rules: Rules) -> str:
    """Return what a model is told of a call that was not made, or raise it, if the gate does not tell."""
    if not rules.tell:
        raise no
    from sayso.asks.refusals import told  # few programs tell

    return told(no)


def current_call() -> Call | Allowed:
    """Return the call that is being carried out, for its idempotency key.

    Raises:
        Misuse: no gated function is running here.
    """
    call = CURRENT.get(None)
    if call is None:
        raise Misuse("current_call() works inside a gated function while it runs.")
    return call


# --- trying ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Do:
    """A function to be run now."""

    fn: Callable[..., Any]
    receiver: tuple[Any, ...] = field(repr=False)
    args: dict[str, Any] = field(repr=False)
    call: Call | Allowed

    @property
    def hides(self) -> bool:
        """Whether it has arguments that must not be seen, not even in a log."""
        hidden = self.call.hidden if self.call.ask is None else self.call.ask.content.hidden
        return bool(hidden)


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing to be done for so many seconds."""

    seconds: float


Trying = Generator[Do | Pause, Any, Any]


def tried(rules: Rules, do: Do) -> Trying:
    """Run the function. Where not knowing can be settled without a person, settle it."""
    for attempt in range(1, _TRIES + 1):
        begun = time.monotonic()
        try:
            return (yield do)
        except rules.unknown as error:
            found = yield from verified(rules, do, begun)
            if isinstance(found, Happened):
                return found.result
            retry = rules.idempotent or isinstance(found, DidNotHappen)
            if not retry or attempt == _TRIES:
                raise
            reason = type(error).__name__
            _log.warning("%s: %s, trying again with the same key", do.call.tool, reason)
    raise AssertionError("unreachable: the last try returns or raises")


def verified(rules: Rules, do: Do, begun: float) -> Generator[Do | Pause, Any, Finding]:
    """Ask `verify`. "Did not happen" counts only once the call can no longer be on its way."""
    if rules.verify is None:
        return CannotTell()
    while True:
        try:
            found = yield Do(rules.verify, (), do.args, do.call)
        except Exception:  # noqa: BLE001 - a verify that fails tells nothing
            _log.warning("verify of %s failed", do.call.tool, exc_info=not do.hides)
            return CannotTell()
        if isinstance(found, Happened):
            return found
        if not isinstance(found, DidNotHappen):
            if not isinstance(found, CannotTell):
                _log.error("verify of %s returned %r, which says nothing", do.call.tool, found)
            return CannotTell()
        if rules.limit is None:
            return CannotTell()
        left = rules.limit - (time.monotonic() - begun)
        if left <= 0:
            return found
        yield Pause(left)


def at_once(result: object, tool: str) -> object:
    """Return a result that is one, and not the promise of running the function later.

    Raises:
        Misuse: it is a coroutine or a generator, of which nothing has run.
    """
    if not (
        inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result)
    ):
        return result
    if inspect.iscoroutine(result):
        result.close()  # it must not run behind anybody's back
    what = f"{tool} returned {type(result).__name__}, so nothing of it has run."
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise Misuse(f"{what} Return a list instead: list(...).")
    raise Misuse(
        f"{what} Gate the `async def` function itself: put @desk.gate directly above it; in a run, "
        "make the workflow `async def` too."
    )
