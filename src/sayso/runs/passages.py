"""What the verbs of a run do, and how they are entered.

Each takes the next place in its lane. If the journal has something there, that is
the answer, provided it is the answer to the same question; otherwise the verb does what
it says and the journal has it from then on.
"""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sayso.asks.carrying import UNMADE, Gated, Pause, heard
from sayso.asks.forms import Form, Forms, Terms
from sayso.asks.ruling import denied, rule, weighed
from sayso.errors import BadValue, Denied, Diverged, Misuse, Outcome, Rejected, StepFailed
from sayso.insight.unseen import precedents
from sayso.model.ask import Ask
from sayso.model.content import LIMIT, Content
from sayso.model.conversion import decode, encode
from sayso.model.digest import canonical, frozen, text_digest
from sayso.model.text import one_line
from sayso.model.tool import Bound
from sayso.model.verdicts import Kind
from sayso.runs.alone import alone, refuse
from sayso.runs.awaited import Awaited
from sayso.runs.calls import call_passage
from sayso.runs.differing import difference
from sayso.runs.entering import Entered, cancelled
from sayso.runs.failures import failure_of
from sayso.runs.journal import Entry, Journal, prefixes
from sayso.runs.lanes import CHAIN, INSIDE, LANE, VERSION, Lane
from sayso.runs.laters import RunLater
from sayso.runs.retrying import rule_of
from sayso.runs.seats import Seats
from sayso.runs.stops import Ended, Fenced, Paused, Released, Stop
from sayso.runs.work import Came, Nested, OutOfTime, Passage, Together, drive, drive_async
from sayso.runs.work import Step as Work
from sayso.runs.workflow import returned_type

if TYPE_CHECKING:
    from sayso.runs.loops import LoopThread
    from sayso.runs.streams import Listener

T = TypeVar("T")
_log = logging.getLogger("sayso.runs")
_LARGEST = 16 * LIMIT


def _anything(_: object) -> None:
    """Refuse nothing."""


class Leader(Protocol):
    """What a run needs to know of the worker that carries it on."""

    def stopping(self) -> bool:
        """Whether it should stop at the next verb."""
        ...


class Place(Protocol):
    """The surroundings of a run in the process that carries it on."""

    def loops(self) -> LoopThread:
        """Return the thread with the event loop of this desk."""
        ...

    def listener(self, run_id: str) -> Listener | None:
        """Return who hears what a run streams, if anybody does."""
        ...


class RunForms(Forms):
    """The forms of a desk, filed under a run."""

    def __init__(self, journal: Journal) -> None:
        store, row = journal.store, journal.row
        super().__init__(
            journal.actor.id, store.now, lambda *call: precedents(store, *call), row.team
        )
        self.version = lambda _: VERSION.get() or journal.code
        self._filed: dict[str, Any] = {"run": row.id, "thread": row.thread}
        if row.team is not None:
            self._filed["team"] = row.team

    def _content(self, kind: Kind, title: str, proposal: Any, terms: Terms, **more: Any) -> Content:  # noqa: ANN401
        named: Terms = {**terms, **self._filed}  # type: ignore[typeddict-item]
        agents = CHAIN.get()
        if agents:
            named["agent"] = terms.get("agent") or agents[-1]
            more["chain"] = " > ".join(agents) if len(agents) > 1 else None
        return super()._content(kind, title, proposal, named, **more)


class Passages:
    """A run while it is carried on."""

    def __init__(
        self,
        journal: Journal,
        leader: Leader,
        *,
        awaits: bool,
        place: Place,
    ) -> None:
        self.journal = journal
        self.forms: Forms = RunForms(journal)
        self.stop: Stop | None = None
        self.fault: Exception | None = None
        self.waits: dict[str, None] = {}
        self.met: set[str] = set()
        self.seated: set[str] = set()
        self.finished: set[str] = set()
        self._failures: list[tuple[str, BaseException]] = []
        self._siblings: list[tuple[BaseException, BaseException]] = []
        self.in_flight: dict[object, None] = {}
        self.cut: list[str] = []
        self._numbers = count(1)
        self._handed_out: dict[int, tuple[str, Awaited, str]] = {}
        self._leader = leader
        self._place = place
        self.root = Lane(self, awaits=awaits)
        self._laters: list[RunLater] = []

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.journal.id

    @property
    def thread(self) -> str | None:
        """The thread it belongs to."""
        return self.journal.row.thread

    @property
    def loops(self) -> LoopThread:
        """The thread with the event loop of this desk, for hosts that must be awaited."""
        return self._place.loops()

    @property
    def listener(self) -> Listener | None:
        """The listener to the stream of the host, if there is one."""
        return self._place.listener(self.id)

    # --- how a verb is entered ---

    def verb(self, passage: Callable[[Lane, str], Passage]) -> Any:  # noqa: ANN401
        """Go through a verb of somebody else's making, such as a turn of an agent."""
        return self._go(passage)

    def _go(self, passage: Callable[[Lane, str], Passage]) -> Any:  # noqa: ANN401
        return self._through(lambda lane: passage(lane, lane.next()))

    def _through(self, passage: Callable[[Lane], Passage], apart: Lane | None = None) -> Any:  # noqa: ANN401
        """Walk through a verb in the lane of whoever calls, or in one apart; awaited, if it must."""
        lane = apart or self._lane()
        if lane.awaits:
            number = next(self._numbers)
            name = _verb(sys._getframe(1))  # noqa: SLF001
            verb = Awaited(name, self._through_async(passage, apart, number))
            self._handed_out[number] = name, verb, lane.place
            return verb
        with Entered(self, lane):
            return drive(passage(lane))

    async def _through_async(
        self, passage: Callable[[Lane], Passage], apart: Lane | None, number: int
    ) -> Any:  # noqa: ANN401
        self._handed_out.pop(number, None)
        lane = apart or self._lane()  # a branch of a gather awaits it in a lane of its own
        with Entered(self, lane):
            return await drive_async(passage(lane))

    def check_awaited(self, within: Callable[[str], bool] = lambda _: True) -> None:
        """Refuse to end as if all were done when a verb was never awaited.

        Args:
            within: Which places are meant, by their paths; all of them, if it is left out.

        Raises:
            Misuse: names it.
        """
        handed = tuple(self._handed_out.items())
        left = [(number, name, verb) for number, (name, verb, path) in handed if within(path)]
        for number, _, verb in left:
            del self._handed_out[number]
            verb.close()
        for _, name, _ in left:
            raise Misuse(f"{name}(...) was not awaited, so it did nothing: await it.")

    def verbs_in_flight(self) -> bool:
        """Whether a verb is at work, on whatever thread or task."""
        return bool(self.in_flight)

    def note_cut(self, place: str, what: str) -> None:
        """Note that a verb was cancelled in the middle; a host that did so calls its part again."""
        if self.seated.isdisjoint(prefixes(place)):
            self.cut.append(what)

    def cut_off(self) -> Misuse | None:
        """Return what is wrong if the workflow cancelled a verb of its own and then went on."""
        if not self.cut or self.waits:
            return None
        return Misuse(
            f"The verb at step {self.cut[0]} was cancelled in the middle (asyncio.timeout, "
            "wait_for, a TaskGroup), and a replay could not go the same way. Give the step a limit "
            "instead: @sayso.retrying(limit=...)."
        )

    def failed_at(self, errors: Sequence[BaseException]) -> list[str]:
        """Return the places whose failures led to these errors, for a retry to forget."""
        found = list(errors)
        found += [other for one, other in self._siblings if any(one is error for error in errors)]
        return [key for key, failure in self._failures if any(failure is e for e in found)]

    def _lane(self) -> Lane:
        lane = LANE.get()
        if lane is None:
            return self.root
        if lane.run is not self:
            other = lane.run.id if isinstance(lane.run, Passages) else "another run"
            raise Misuse(f"This is the run {self.id}, and {other} is carried on here. Use its run.")
        return lane

    def check(self, lane: Lane) -> None:
        """Refuse a verb that must not act now."""
        name = INSIDE.get()
        if name is not None:
            raise Misuse(
                f"{name} asks people while it runs, so a replay would not find its place again. "
                f"Declare it with @sayso.tool(asks=True), or use the verb in the workflow itself."
            )
        if self.stop is None and self.journal.lost:
            self.stop = Fenced(f"{self.id} is carried on by somebody else")
        if self.stop is None and self._leader.stopping():
            self.stop = Released(self.id)
        if self.stop is not None:
            raise self.stop
        self.fault = self.fault or self.cut_off()
        if self.fault is not None:
            raise self.fault
        if lane.paused:
            raise Paused(self.id)

    # --- what the verbs do ---

    def entry(self, key: str, verb: str, name: str, *, holds: bool = False) -> Entry | None:
        """Return what the journal has at this place. `holds` says that the verb has verbs inside.

        Raises:
            Diverged: it has something else.
        """
        self.met.add(key)
        if not holds:
            self._check_leaf(key, f"{verb} {name!r}")
        known = self.journal.asks.get(key)
        if known is not None:
            raise Diverged(key, f"it was {_shown(known)}, it is now {verb} {name!r}.")
        entry = self.journal.entries.get(key)
        if entry is not None and (entry.verb, entry.name) != (verb, name):
            raise Diverged(key, f"it was {entry.verb} {entry.name!r}, it is now {verb} {name!r}.")
        return entry

    def _check_leaf(self, key: str, now: str) -> None:
        if key in self.journal.prefixes:
            raise Diverged(key, f"it had steps of its own (a gather, a workflow), it is now {now}.")

    def stepping(
        self,
        key: str,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        check: Callable[[Any], object] = _anything,
    ) -> Passage:
        """Run a step, or return what was recorded; what `check` refuses is a step that failed."""
        name = _name(fn)
        entry = self.entry(key, "step", name)
        returns, put_in = returned_type(fn), _digest(args, kwargs)
        if entry is not None:
            if put_in != entry.said.get("input"):
                _log.warning("%s: step %s (%s) was given something else before", self.id, key, name)
            return self._recorded(key, entry, returns)
        self.journal.flush()
        rule = rule_of(fn)
        attempt = 1
        while True:
            self.journal.doing = name
            try:
                result = yield Work(name, fn, args, kwargs, rule.limit)
            except Exception as error:
                if attempt < rule.times and isinstance(error, (*rule.on, OutOfTime)):
                    _log.warning("%s: step %s failed (%r), trying again", self.id, name, error)
                    attempt += 1
                    yield Pause(rule.pause)
                    continue
                raise self._failed(key, name, put_in, error) from error
            except BaseException as error:
                if cancelled(error):
                    self.note_cut(key, f"{key} ({name})")
                raise
            finally:
                self.journal.doing = None
            break
        try:
            kept = _kept("it", returns, result)
        except BadValue as error:
            raise self._failed(key, name, put_in, error) from error
        try:  # before it is recorded as done: a retry would meet it again
            check(_decoded(returns, kept))
        except BadValue as error:
            raise self._failed(key, name, put_in, error, refused=kept) from error
        self.journal.record(key, "step", name, result=kept, input=put_in)
        return _decoded(returns, kept)

    def _failed(
        self,
        key: str,
        name: str,
        put_in: str | None,
        error: Exception,
        **made: Any,  # noqa: ANN401 - what it made nevertheless
    ) -> StepFailed:
        failure = failure_of(name, error)
        said = {"kind": failure.kind, "message": failure.message}
        self.journal.record(key, "step", name, failed=True, error=said, input=put_in, **made)
        self._failures.append((key, failure))
        return failure

    def _recorded(self, key: str, entry: Entry, returns: object) -> Any:  # noqa: ANN401
        if not entry.failed:
            return _decoded(returns, entry.said.get("result"))
        error = entry.said["error"]
        failure = StepFailed(entry.name, error["kind"], error["message"])
        self._failures.append((key, failure))
        raise failure

    def asked(self, key: str, content: Content) -> Ask:
        """Return the ask at this place, opening it if there is none.

        Raises:
            Diverged: the journal has something else here.
        """
        self.met.add(key)
        self._check_leaf(key, f"a {content.kind}")
        entry = self.journal.entries.get(key)
        if entry is not None:
            raise Diverged(key, f"it was {entry.verb} {entry.name!r}, it is now a {content.kind}.")
        known = self.journal.asks.get(key)
        if known is None:
            return self.journal.open(key, content)
        differs = difference(known, content)
        if differs is not None:
            raise Diverged(key, differs)
        return known

    def closed(self, lane: Lane, ask: Ask, *, hears_end: bool = False) -> Ask:
        """Return an ask that is decided, or pause.

        Raises:
            Paused: it is open.
            Rejected: it was withdrawn.
            Ended: it was rejected in a way that ends the run, and whoever asked need not hear it.
        """
        if not ask.closed:
            self.waits[ask.id] = None
            raise Paused(self.id)
        decision = ask.decision
        if decision is None:
            raise Rejected(ask)
        ends = decision.end and not hears_end
        if ends or (ask.kind == "plan" and decision.verdict == "reject"):
            raise Ended(ask)
        return ask

    def check_answered(self, path: str) -> None:
        """Pause if anything is open that was asked below this place.

        Raises:
            Paused: it waits for people.
        """
        asks = tuple(self.journal.asks.items())
        held = {key: ask for key, ask in asks if not ask.closed and not ask.content.optional}
        below = {key: ask for key, ask in held.items() if key.startswith(f"{path}.")}
        self.met.update(below)
        self.waits.update(dict.fromkeys(ask.id for ask in below.values()))
        if below:
            raise Paused(self.id)

    def proposed(self, key: str, content: Content) -> Ask | None:
        """Return the ask about a call that somebody else carries out; `None` if it is denied."""
        name = content.proposal.tool or ""
        if key not in self.journal.entries:
            try:
                return self.asked(key, content)
            except Denied as error:
                said = {"kind": "Denied", "message": str(error)}
                self.journal.record(key, "propose", name, failed=True, error=said)
        self.entry(key, "propose", name)
        return None

    def proposing(self, lane: Lane, key: str, form: Form[Ask]) -> Passage:
        """Put such a call before people, and return the ask as it was decided."""
        if self.proposed(key, form.content) is None:
            return self._recorded(key, self.journal.entries[key], Any)
        return (yield from self.asking(lane, key, form))

    def asking(self, lane: Lane, key: str, form: Form[T]) -> Passage:
        """Put a form to people, and the one that its outcome may be."""
        yield from ()
        for number in range(1, 1000):
            place = key if number == 1 else f"{key}~{number}"
            asked = self.asked(place, form.content)
            if asked.content.optional:
                return form.at_once
            ask = self.closed(lane, asked, hears_end=form.hears_end)
            outcome = form.outcome(ask)
            if not isinstance(outcome, Form):
                return outcome
            form = outcome
        raise Misuse(f"{key} was sent back 1,000 times.")

    def _reviewing(
        self,
        lane: Lane,
        key: str,
        maker: Callable[[Any], Any],
        form_of: Callable[[Any], Form[Any]],
        check: Callable[[Any], object],
        first: Any = None,  # noqa: ANN401 - what the maker makes
    ) -> Passage:
        """Show what a maker made; when it is sent back, let it make another one.

        What nobody could review (`check`) counts as the maker failing, so that a retry calls it.
        """
        self.entry(key, "review", _name(maker), holds=True)
        inner = Lane(self, key)
        made, guidance, before = first, None, None
        while True:
            if made is None:
                made = yield from self.stepping(inner.next(), maker, (guidance,), {}, check)
            form = form_of(made)
            content = replace(form.content, about=before)
            ask = self.closed(lane, self.asked(inner.next(), content))
            decision = ask.decision
            if decision is None or decision.verdict != "respond":
                return form.outcome(ask)
            made, guidance, before = None, decision.text or "", ask.id

    def calling(
        self,
        lane: Lane,
        key: str,
        gate: Gated,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        always: bool | None = None,
    ) -> Passage:
        """Ask for a call and carry it out; or run the workflow that a tool is."""
        if gate.rules.asks:
            return (yield from self.nesting(lane, key, gate.tool.fn, args, kwargs))
        bound = gate.tool.bind(args, kwargs)
        return (yield from self.calling_bound(lane, key, gate, bound, always=always))

    def calling_bound(
        self, lane: Lane, key: str, gate: Gated, bound: Bound, *, always: bool | None = None
    ) -> Passage:
        """Do the same with arguments that are frozen already; what the policy allows goes alone.

        `always` says whether people are asked whatever the policy allows: by default, if nothing
        is declared of the risk.
        """
        must = gate.asks_people if always is None else always
        try:
            if self.goes_alone(key, gate, bound, always=must):
                return (yield from alone(self, lane, key, gate, bound))
            return (yield from call_passage(self, lane, key, gate, bound))
        except Outcome as no:
            return heard(no, gate.rules)
        except StepFailed as failure:
            if gate.rules.tell and failure.kind in UNMADE:
                return heard(failure, gate.rules)
            self._failures.append((key, failure))
            raise

    def goes_alone(
        self, key: str, gate: Gated, bound: Bound, *, always: bool, stated: bool = False
    ) -> bool:
        """Whether a call needs nobody's approval. What the journal has at its place stands.

        With `stated` it does not, unless a rule or what is declared of the tool says so.

        Raises:
            StepFailed: the policy denies it.
        """
        journal = self.journal
        if key in journal.entries or key in journal.begun:
            return True
        if journal.law is None or journal.place(key) in journal.asks:
            return False
        name, coded = gate.tool.name, journal.law.tools.last
        if name not in coded or coded[name] is not gate.tool:
            journal.law.tools.declare(gate.tool, asks=gate.always and gate.asks_people)
        content = weighed(journal.store, gate.content(self.forms, bound))
        while True:
            law = journal.law.current(journal.store)
            ruling = rule(law, content, journal.store.now(), always=always)
            if ruling.effect != "deny" or not journal.law.moved(journal.store, law.mark):
                break
        if ruling.effect == "deny":
            failure = StepFailed(gate.tool.name, "Denied", str(denied(content, ruling)))
            raise refuse(self, key, gate.tool.name, failure)
        said = bool(ruling.rules) or ruling.tier is not None
        free = ruling.effect == "allow" and (said or not stated)
        if free:
            journal.alone[key] = law.mark, law.policy.version
        else:
            journal.prepared[key] = bound, content
        return free

    def nesting(
        self,
        lane: Lane,
        key: str,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Passage:
        """Run a workflow inside this one, or return what it returned."""
        name, returns = _name(fn), returned_type(fn)
        entry = self.entry(key, "workflow", name, holds=True)
        if entry is not None:
            self.finished.add(key)
            return self._recorded(key, entry, returns)
        inner = Lane(self, key, awaits=inspect.iscoroutinefunction(fn))
        if inner.awaits and not lane.awaits:
            raise Misuse(f"{name} is `async def`: only a workflow that is so too can run it.")
        result = yield Nested(name, inner, fn, args, kwargs)
        self._check_paused([inner])
        yield from self._joining([later for later in self.uncollected() if later.lane is inner])
        kept = _kept(name, returns, result)
        self.journal.record(key, "workflow", name, result=kept)
        return _decoded(returns, kept)

    def _joining(self, laters: Sequence[RunLater]) -> Passage:
        """Wait for laters that nobody collected: all of them, whichever is decided first."""
        paused = False
        for later in laters:
            try:
                yield from later.passage(later.lane)
            except Outcome:
                continue  # what people said to it interests nobody
            except Paused:
                paused = True
        if paused:
            raise Paused(self.id)

    def join(self) -> Any:  # noqa: ANN401 - awaitable, if the workflow is
        """Wait for what was opened and never collected, at the end of the workflow."""
        laters = self.uncollected()
        return self._through(lambda _: self._joining(laters), Lane(self, awaits=self.root.awaits))

    def _gathering(self, lane: Lane, key: str, branches: Sequence[Any]) -> Passage:
        self.entry(key, "gather", "gather", holds=True)
        nested = [
            Nested(f"branch {n}", Lane(self, f"{key}.{n}", awaits=lane.awaits), _function(branch))
            for n, branch in enumerate(branches, start=1)
        ]
        came: list[Came] = yield Together(nested)
        for outcome in came:
            if isinstance(outcome.error, Stop) and not isinstance(outcome.error, Paused):
                raise outcome.error
        self._check_paused([branch.lane for branch in nested])
        errors = [outcome.error for outcome in came if outcome.error is not None]
        for error in errors:
            self._siblings += [(error, other) for other in errors]
            raise error
        return [outcome.value for outcome in came]

    def _check_paused(self, lanes: Sequence[Lane]) -> None:
        """A pause in a lane of its own pauses whoever waits for it, even if it was swallowed."""
        if any(lane.paused for lane in lanes):
            raise Paused(self.id)

    def _value(self, key: str, verb: str, make: Callable[[], Any], kind: object) -> Passage:
        yield from ()
        entry = self.entry(key, verb, verb)
        if entry is None:
            kept = encode(kind, make())
            self.journal.record(key, verb, verb, result=kept)
        else:
            kept = entry.said["result"]
        return decode(kind, kept)

    def _seating(self, key: str) -> Passage:
        yield from ()
        self.entry(key, "seats", "seats", holds=True)
        self.seated.add(key)
        return Seats(self, key)

    def _progressing(self, key: str, fraction: float, text: str | None) -> Passage:
        yield from ()
        if self.entry(key, "progress", "progress") is None:
            self.journal.progress = fraction
            self.journal.record(key, "progress", "progress", result=fraction, text=text)

    # --- laters ---

    def put_later(
        self, open_: Callable[[Lane, str], Ask | None], result: Callable[..., Passage]
    ) -> RunLater:
        """Open an ask now, for an answer that is needed later."""
        lane = self._lane()
        with Entered(self, lane):
            key = lane.next()
            known = key in self.journal.asks
            ask = open_(lane, key)
            if not known:
                self.journal.flush()
        later = RunLater(self, lane, key, ask, result)
        self._laters.append(later)
        return later

    def collect(self, later: RunLater) -> Any:  # noqa: ANN401 - what the verb returns
        """Return what a later comes to, as a verb of the lane that wants it."""
        return self._through(later.passage)

    def later_done(self, later: RunLater) -> Any:  # noqa: ANN401 - a bool, or awaitable
        """Whether a later is decided, recorded: it may decide where the workflow goes."""

        def decided() -> bool:
            return later.ask is None or self.journal.reread(later.key).closed

        return self._go(lambda _, key: self._value(key, "done", decided, bool))

    def uncollected(self) -> list[RunLater]:
        """What was opened and never asked for: it is joined when the workflow returns."""
        return [later for later in self._laters if not later.collected]


def _shown(ask: Ask) -> str:
    return f"{ask.kind} {one_line(ask.tool or ask.title, 60)!r}"


def _verb(frame: FrameType | None) -> str:
    """Return which verb was called, to name it if it is never awaited."""
    while frame is not None and frame.f_code.co_name.startswith(("_", "<", "collect")):
        frame = frame.f_back
    return frame.f_code.co_name.removesuffix("_gated") if frame is not None else "verb"


def _name(fn: Callable[..., Any]) -> str:
    return str(getattr(fn, "__qualname__", type(fn).__name__))


def _kept(name: str, returns: object, result: object) -> Any:  # noqa: ANN401 - JSON
    try:
        plain = result if returns is Any else encode(returns, result)
        return frozen(plain, limit=_LARGEST, what="result")
    except BadValue as error:
        raise BadValue(
            f"{name} returned {type(result).__name__}, which cannot be recorded: {error} Return "
            "plain data or a Pydantic type, or store it elsewhere and return where it is."
        ) from error


def _decoded(returns: object, kept: Any) -> Any:  # noqa: ANN401 - JSON in, a value out
    return kept if returns is Any else decode(returns, kept)


def _digest(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
    try:
        return text_digest(canonical([list(args), dict(kwargs)]))[:16]
    except BadValue:  # an object of the program's own: then there is nothing to compare
        return None


def _function(branch: Any) -> Callable[[], Any]:  # noqa: ANN401 - a function or an awaitable
    if callable(branch):
        return branch  # type: ignore[no-any-return]
    if inspect.isawaitable(branch):
        return lambda: branch
    raise BadValue(
        f"gather takes functions without arguments, such as lambda: run.question('...'), not "
        f"{type(branch).__name__}."
    )
