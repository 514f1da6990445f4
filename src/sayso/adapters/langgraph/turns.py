"""One run of a graph, turn by turn: invoke it, let people decide what it asks, invoke it again.

A turn is one `invoke`, carried out as an effect: its intent is in the journal before, and what the
graph then asks is in the journal after it. Before each turn the checkpointer must say what it
said after the last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, cast

from langgraph.errors import is_invalid_resume
from langgraph.types import Command
from pydantic import ValidationError

from sayso import CannotTell, Happened, Rejected
from sayso.adapters.base import (
    LoopGone,
    LoopThread,
    Parked,
    Running,
    Seats,
    Stop,
    acting_as,
    foreign,
    made_plain,
    one_line,
    refused,
    text_of,
)
from sayso.adapters.langgraph.driver import Compiled, Driver
from sayso.adapters.langgraph.nodes import PauseWatch, here, seated
from sayso.adapters.langgraph.position import TAG, Position
from sayso.adapters.langgraph.raised import Earlier, Known, Raised, plain
from sayso.adapters.langgraph.shapes import Shape, shape_of
from sayso.adapters.langgraph.watching import Watch, shown
from sayso.errors import Conflict, Misuse

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

_OVER = object()
_TRIES = 3  # answers to one interrupt that a graph may refuse until the run is parked
_SAID = 500  # characters of what a validator says


class Host(Protocol):
    """What a run needs to know of its graph."""

    name: str
    guarded: bool
    config: RunnableConfig
    context: object

    def driver(self, loops: LoopThread) -> Driver:
        """Return the way to call the graph."""
        ...

    def known(self, graph: Compiled) -> Known:
        """What is known of answers beforehand."""
        ...


class Thread:
    """One run of a graph, while it is carried on."""

    def __init__(self, host: Host, run: Running, given: Any) -> None:  # noqa: ANN401 - JSON
        self.host = host
        self.run = run
        self.given = given
        self.driver = _driver(host, run)
        self.known = host.known(self.driver.graph)
        self.seats: Seats = run.seats()
        self.asked: dict[str, str | None] = {}  # the last ask of each interrupt
        self.decided: dict[str, Raised] = {}
        self.told: dict[str, Any] = {}  # what the graph was told last, by interrupt
        self.tries: Counter[str] = Counter()  # answers that it did not take, by interrupt
        self.gone: dict[str, Raised] = {}  # what was decided and is worded otherwise by now

    def carried_on(self) -> Any:  # noqa: ANN401 - JSON
        """Go on turn by turn until the graph has ended, and return its values."""
        before: Position | None = None
        answers: dict[str, Any] = {}
        for number in count(1):
            before = self._turn(number, before, answers)
            if before.done and not before.paused:
                break
            self._forget(before)
            self._check_tries(before)
            answers = self._answers(before, answers)
            self.told |= answers
            self.decided |= {one.id: one for one in before.raised}
        return self.run.step(self._output)

    # --- one turn ---

    def _turn(self, number: int, before: Position | None, answers: dict[str, Any]) -> Position:
        """Invoke the graph once, and return where it stands then."""
        turn = Turn(self, number, before, answers)
        self.run.step(turn.look)
        rules: dict[str, Any] = (
            {"idempotent": True} if self.host.guarded else {"verify": turn.verify}
        )
        called = f"{self.host.name}:turn-{number}"
        gate = foreign(called, turn.invoke, {}, risk="low", preview=turn.preview, **rules)
        came = self.run.effect(gate, answers=answers)
        found = Position.read(came)
        if found is None:  # in doubt, a person said that it happened
            found = Position.read(self.run.step(turn.by_hand, came))
        if found is None:
            raise AssertionError("unreachable: a turn ends at a position")
        return found

    def config(self, number: int, **more: Any) -> RunnableConfig:  # noqa: ANN401
        """Return what LangGraph is told of a turn."""
        given = self.host.config
        return {
            **given,
            "configurable": {**given.get("configurable", {}), **self.thread, **more},
            "metadata": {**given.get("metadata", {}), TAG: self.tag(number)},
        }

    @property
    def thread(self) -> dict[str, Any]:
        """The thread of the graph: that of the run, or one of its own."""
        return {"thread_id": self.run.thread or self.run.id}

    def watch(self) -> Watch:
        """Return what watches over the calls of `interrupt()` in a turn."""
        saver = cast("BaseCheckpointSaver[Any]", self.driver.graph.checkpointer)
        return Watch(self.thread["thread_id"], saver, self.decided, self.told, here)

    def tag(self, number: int) -> str:
        """What is noted on each checkpoint of a turn."""
        return f"{self.run.id}:{number}"

    def position(self, before: Position | None) -> Position:
        """Ask the checkpointer where the thread stands; at stops `before`, it may go on."""
        config: RunnableConfig = {"configurable": self.thread}
        state = self.driver.state(config, subgraphs=True)
        return Position.of(self.driver, state, before.stops if before is not None else ())

    def _output(self) -> Any:  # noqa: ANN401 - JSON
        config: RunnableConfig = {"configurable": self.thread}
        return plain(self.driver.state(config).values)

    # --- what people say ---

    def _answers(self, at: Position, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what people decided on all that is asked, by the ids of the interrupts.

        A task that was resumed and then paused in a verb, or was held at a stop, has not kept what
        it was resumed with: it still asks what was answered, and is given the same again.
        """
        again = at.ids if at.paused else frozenset(at.behind)
        if at.refused:
            again = at.ids
        kept = {i: value for i, value in given.items() if i in again and i not in at.refused}
        known = self.known
        shapes = {one.id: shape_of(one, known) for one in at.raised if one.id not in kept}
        earlier = {one.id: self._earlier(one, at) for one in at.raised}
        chains = {one.id: one.chain for one in at.raised}
        asked = {id_: self._put(shape, earlier[id_], chains[id_]) for id_, shape in shapes.items()}
        self.asked |= {id_: laters[0].id for id_, laters in asked.items()}
        stop = self._stop(at.ahead if at.paused else (*at.ahead, *at.idle))
        if at.paused:
            self.run.step(self.seats.check_answered)
        if stop is not None and not stop.result().decision:
            raise Rejected(stop.ask)
        return {**kept, **{id_: shape.reply(asked[id_]) for id_, shape in shapes.items()}}

    def _put(self, shape: Shape, earlier: Earlier | None, chain: Sequence[str]) -> list[Any]:
        """Ask, and say through which agents of the graph it comes. The graph itself is who asks.

        So a rule of the policy for the graph counts for all that is inside it.
        """
        if not chain:
            return shape.put(self.run, earlier)
        name = made_plain("agent", self.host.name)
        with ExitStack() as around:
            for one in (name, *chain):
                around.enter_context(acting_as(self.run, one))
            return shape.put(self.run, earlier, agent=name)

    def _forget(self, at: Position) -> None:
        """Let nothing count that was said to what a node words otherwise by now."""
        for new, gone in at.renewed.items():
            self.tries[new] = 1 + max(self.tries[one] for one in gone)
            self.gone |= {one: self.decided.pop(one) for one in gone if one in self.decided}

    def _check_tries(self, at: Position) -> None:
        """Stop asking once people have answered several times for nothing; a retry asks again.

        Raises:
            Parked: they have.
        """
        self.tries.update(at.refused.keys())
        most = _TRIES * (1 + self.run.journal.granted["answers"])
        for one in at.raised:
            if self.tries[one.id] >= most and (one.id in at.refused or one.id in at.renewed):
                raise Parked(self._in_vain(one, at), more="answers")

    def _in_vain(self, one: Raised, at: Position) -> str:
        because = at.refused.get(one.id)
        if because is not None:
            return (
                f"{one.node} took none of {self.tries[one.id]} answers. The last time it said: "
                f"{because} Retry the run to be asked again, or cancel it."
            )
        was = self.gone[at.renewed[one.id][0]]
        return (
            f"{one.node} asked something else {self.tries[one.id]} times when it ran again, so it was "
            f"given no answer. People decided on: {shown(was.value)} Now it asks: {shown(one.value)} "
            "What a node asks must not change: compute it in a node before, or by sayso.step(...). "
            "Retry the run to be asked again, or cancel it."
        )

    def _earlier(self, one: Raised, at: Position) -> Earlier | None:
        """Return what was asked before at the place of an interrupt, and does not count."""
        if one.id in at.refused:
            return Earlier(self.asked.get(one.id), because=at.refused[one.id])
        if one.id not in at.renewed:
            return None
        old = at.renewed[one.id][0]
        return Earlier(self.asked.get(old), was=self.gone[old].value, now=one.value)

    def _stop(self, nodes: Sequence[str]) -> Any:  # noqa: ANN401 - a later
        """Ask before the nodes at which the graph was compiled to stop, if there are any."""
        if not nodes:
            return None
        named = ", ".join(nodes)
        return self.run.later.propose(
            made_plain("tool", named), {}, title=f"Go on with {named}?", without=("edit", "respond")
        )


class Turn:
    """One `invoke` of the graph, and what is known before and after it."""

    def __init__(
        self, thread: Thread, number: int, before: Position | None, answers: dict[str, Any]
    ) -> None:
        self._thread = thread
        self._number = number
        self._before = before
        self._answers = answers

    def look(self) -> None:
        """Make sure that the thread stands where it was left when people were asked.

        Raises:
            Parked: it does not, so what they decided must not be used.
        """
        if self._before is None:
            return
        differs = self._now().differs_from(self._before, self._thread.driver.graph.nodes)
        if differs is not None:
            raise Parked(differs)

    def preview(self, **_: Any) -> dict[str, str]:  # noqa: ANN401 - the turn's arguments
        """Say what may have run, and what has not for sure, if the process died in this turn."""
        return {"runs next": ", ".join(self._now().nodes) or "nothing"}

    def invoke(self, answers: dict[str, Any]) -> Any:  # noqa: ANN401
        """Let the graph go on until it asks, or ends; what is shown of it is not needed here."""
        given = self._given(self._now())
        if given is _OVER:
            return self._now().kept
        seats, driver = self._thread.seats, self._thread.driver
        resumes = {"__pregel_strict_resume": True} if isinstance(given, Command) else {}
        config = self._thread.config(self._number, **resumes)
        asked = self._thread.watch()
        watch = PauseWatch(seats, asked)
        refused: dict[str, str] = {}
        config["callbacks"] = [*_listed(config.get("callbacks")), watch]
        try:
            with seated(seats, asked, driver.awaits):
                driver.invoke(given, config, self._thread.host.context, self._thread.run.listener)
        except LoopGone:  # as if this process had died: whoever goes on looks at what was kept
            raise
        except Stop:
            watch.stopped = True
        except Exception as error:
            refused = self._refused(error)
            if not refused:  # else nothing was resumed
                refused = self._raised_after(asked.unfit(error))
                asked.check()
            if not watch.stopped and not refused:
                raise
        if not refused:
            asked.check_over()
        if not watch.stopped and _pauses(seats):
            raise Misuse(
                "A node swallowed the pause of a verb in it and the graph went on without the "
                "answer, so nothing of this turn counts. Catch Exception, never BaseException."
            )
        found = self._now().refusing(refused)
        found = found.renewing(asked.renewed(found.ids)).chained(asked.chains)
        return (found.waiting() if watch.stopped else found).kept

    def _refused(self, error: Exception) -> dict[str, str]:
        """Return what a validator said to answers that fit their JSON Schema, by interrupt.

        It does not say which answer it means, but what the type is called that it belongs to.
        """
        if not is_invalid_resume(error) or not isinstance(error, ValidationError):
            return {}
        known = self._thread.known
        asking = [
            one
            for one in self._now().raised
            if one.id in self._answers and shape_of(one, known).anew
        ]
        named = [one for one in asking if (one.schema or {}).get("title") == error.title]
        said = "; ".join(": ".join((*map(str, e["loc"]), e["msg"])) for e in error.errors())
        return {one.id: said[:_SAID] for one in named or asking}

    def _raised_after(self, unfit: Mapping[str, BaseException]) -> dict[str, str]:
        """Return what nodes raised right after answers that may be given once more."""
        asked = {one.id: one for one in self._now().raised}
        known = self._thread.known
        return {
            id_: one_line(text_of(error), _SAID)
            for id_, error in unfit.items()
            if id_ in asked and shape_of(asked[id_], known).anew
        }

    def _given(self, now: Position) -> Any:  # noqa: ANN401 - what LangGraph takes
        """Return what the graph has to be given now; some of it may have been given before.

        Raises:
            Conflict: it stands where this turn cannot have brought it.
        """
        before = self._before
        if before is None and now.tag != self._tag:
            return self._thread.given
        if before is not None and not self._begun(now):
            differs = now.differs_from(before, self._thread.driver.graph.nodes)
            if differs is not None:
                raise Conflict(differs)
        elif self._over(now):
            return _OVER
        left = {id_: value for id_, value in self._answers.items() if id_ in now.ids}
        return Command(resume=left) if left else None

    def _now(self) -> Position:
        return self._thread.position(self._before)

    @property
    def _tag(self) -> str:
        return self._thread.tag(self._number)

    @property
    def _by_hand(self) -> str:
        return f"{self._tag} by hand"

    def _begun(self, now: Position) -> bool:
        """Whether the graph has visibly gone on in this turn."""
        before = self._before
        return now.tag == self._tag or (before is not None and now.ahead_of(before))

    def _over(self, now: Position) -> bool:
        """Whether this turn has come to its end: to what it was not told yet, or to the graph's."""
        asked = now.ids.difference(now.behind)
        return self._begun(now) and now.settled and asked.isdisjoint(self._answers)

    def verify(self, **_: Any) -> Happened | CannotTell:  # noqa: ANN401 - the turn's arguments
        """Ask the checkpointer whether a turn whose process died had come to its end."""
        now = self._now()
        return Happened(now.kept) if self._over(now) else CannotTell()

    def by_hand(self, update: Any) -> Any:  # noqa: ANN401 - JSON
        """Let a node count as done that a person says has done its work: its update is theirs.

        Raises:
            Parked: it is not clear which node is meant, or what it returned.
        """
        now = self._now()
        if self._over(now):
            return now.kept
        if now.tag != self._by_hand:  # else it was updated before, and not recorded
            known = self._before is not None or now.tag == self._tag
            if not known or len(now.nodes) != 1 or not isinstance(update, dict | None):
                raise Parked(
                    "Somebody said that the turn happened, and the graph cannot go on from that: "
                    f"{', '.join(now.nodes) or 'nothing'} is to run next. Bring the thread to where "
                    "it should be with graph.update_state(...)."
                )
            config = self._thread.config(self._number)
            config["metadata"][TAG] = self._by_hand
            self._thread.driver.update(config, update, now.nodes[0])
        return self._now().waiting().kept


def _driver(host: Host, run: Running) -> Driver:
    """Return the way to call the graph; a run whose graph cannot be run here is not begun.

    Raises:
        Stop: it cannot.
    """
    try:
        return host.driver(run.loops)
    except Misuse as error:
        raise refused(run, error) from error


def _pauses(seats: Seats) -> bool:
    try:
        seats.check_paused()
    except Stop:
        return True
    return False


def _listed(callbacks: object) -> list[Any]:
    with suppress(AttributeError):
        callbacks = callbacks.handlers  # type: ignore[attr-defined]
    return list(callbacks) if isinstance(callbacks, list | tuple) else []
