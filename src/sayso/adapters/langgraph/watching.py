"""What a node says in `interrupt()` while a turn runs: an answer goes only to what was decided.

LangGraph keeps the answers of a task by number, and hands the first one to whatever its
node asks first when it runs again. What people saw is known by its digest; so each call of
`interrupt()` is met here, and is given the answer to its own payload, or none. Where a node
asks something else now, it waits for people again, and nothing that was said before counts. A
node that no longer asks, or that goes on without an answer, does not count as done, and the run
is parked.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import langgraph.config
import langgraph.types
from langgraph.errors import GraphBubbleUp, GraphRecursionError
from langgraph.types import interrupt
from pydantic import TypeAdapter

from sayso.adapters.base import SILENT, Parked, behind
from sayso.adapters.langgraph.position import digest_of
from sayso.adapters.langgraph.raised import Raised, plain, written
from sayso.errors import Misuse, SaysoError

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_PAD, _SEND, _ANSWERED = "__pregel_scratchpad", "__pregel_send", "__resume__"
_SHOWN = 300  # characters of a payload in the words of an error
_WATCH: ContextVar[Watch | None] = ContextVar("sayso_interrupts", default=None)
_PROBE: ContextVar[list[bool] | None] = ContextVar("sayso_probe", default=None)
_LOCK = threading.Lock()
_DEAF = (
    "The interrupt() of this version of LangGraph cannot be watched, so an approval could be given "
    "to something that nobody saw. No graph is run. Install a version that the page on LangGraph "
    "names."
)
# Of these an answer is not the reason: the world, a limit of the graph, or what our verbs say.
_OTHER = (OSError, SaysoError, GraphBubbleUp, GraphRecursionError)
_NEXT = "Put that right and retry the run, or cancel it."


def watch_interrupts() -> None:
    """Make sure that every call of `interrupt()` in this process is met, once and for all.

    Raises:
        Misuse: this LangGraph has changed in what that takes.
    """
    with _LOCK:
        if not _met():
            langgraph.config.get_config = _meeting(langgraph.config.get_config)
        met = _met()
    if not met or _numbered() is None:
        raise Misuse(_DEAF)


def _met() -> bool:
    """Whether a call of `interrupt()` comes by here. Outside of a graph it does nothing else."""
    met: list[bool] = []

    def probe() -> None:
        _PROBE.set(met)
        with suppress(RuntimeError):
            interrupt(None)

    Context().run(probe)
    return any(met)


def _meeting(real: Callable[[], Any]) -> Callable[[], Any]:
    """Return LangGraph's `get_config`, which `interrupt()` calls first; others notice nothing."""

    def get_config() -> Any:  # noqa: ANN401 - what LangGraph says
        caller = sys._getframe(1)  # noqa: SLF001 - the payload is only there
        if caller.f_code is not interrupt.__code__:
            return real()
        probe, watch = _PROBE.get(), _WATCH.get()
        if probe is not None:
            probe.append("value" in caller.f_locals)
        config = real()
        if watch is None or not watch.means(config["configurable"]):
            return config
        asked = dict(caller.f_locals)
        met = watch.met(config["configurable"], asked["value"], asked.get("response_schema"))
        return {**config, "configurable": met}

    return get_config


def _numbered() -> Callable[[str, int], str] | None:
    """Return LangGraph's own function that names an interrupt by its task and its number there."""
    found = getattr(langgraph.types, "_interrupt_id", None)
    return found if callable(found) else None


@dataclass(frozen=True, slots=True)
class Payload:
    """What a call of `interrupt()` asks, as it is and as the checkpointer would keep it."""

    value: Any
    digests: frozenset[str]

    @classmethod
    def of(cls, value: Any, schema: Any, saver: BaseCheckpointSaver[Any]) -> Payload:  # noqa: ANN401
        """Take the digest of both: some values come back from a checkpointer as another type."""
        if schema is not None and not isinstance(schema, dict):
            schema = TypeAdapter(schema).json_schema()
        found = {digest_of(plain(value), schema)}
        with suppress(Exception):  # what cannot be kept was never asked
            kept = saver.serde.loads_typed(saver.serde.dumps_typed(value))
            found.add(digest_of(plain(kept), schema))
        return cls(plain(value), frozenset(found))


@dataclass(frozen=True, slots=True)
class Unheard:
    """What a part asked without having an answer: it must stop there."""

    asked: str
    silent: bool  # asked where nobody can be: whoever forbade it says so


class Watch:
    """The calls of `interrupt()` in one turn."""

    def __init__(
        self,
        thread_id: str,
        saver: BaseCheckpointSaver[Any],
        decided: Mapping[str, Raised],
        answers: Mapping[str, Any],
        here: Callable[[], str],
    ) -> None:
        """Watch one turn.

        Args:
            thread_id: The thread of the graph; graphs on others are none of our business.
            saver: What keeps it.
            decided: All that people have decided on in this run, by the ids of the interrupts.
            answers: What the graph is to hear, by the same ids; what was given last counts.
            here: Says which part runs: a task, or a call of a tool in one.
        """
        self._thread = thread_id
        self._saver = saver
        self._decided = decided
        self._answers = answers
        self._here = here
        self._used: dict[str, set[str]] = {}  # by task, the ids whose answers were handed out
        self._raised: dict[str, Unheard] = {}  # by part
        self._faults: dict[str, str] = {}  # by part
        self._agents: dict[str, str | None] = {}  # by task
        self._inside: dict[str, str] = {}  # by task: the agent or part that it is of
        self._tools: dict[str, str] = {}  # by task, the tool that it called last
        self.chains: dict[str, tuple[str, ...]] = {}  # by interrupt
        self._gone: dict[str, list[str]] = {}  # by task, the answers that no longer count
        self._most = len(answers)  # answers that a task can have
        self._last: dict[str, str] = {}  # by part, the answer it heard and has done nothing since
        self._unfit: dict[str, BaseException] = {}  # what was raised right after an answer, by id
        self._lock = threading.RLock()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Meet the calls in this block, on whatever thread.

        Raises:
            Misuse: this LangGraph does not let us.
        """
        watch_interrupts()
        around = _WATCH.set(self)
        try:
            yield
        finally:
            _WATCH.reset(around)

    def means(self, conf: Mapping[str, Any]) -> bool:
        """Whether this is a call in the graph of this turn."""
        return conf.get("thread_id") == self._thread

    # --- a call of interrupt() ---

    def met(self, conf: dict[str, Any], value: Any, schema: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return what `interrupt()` is to believe, so that it finds the answer to its payload.

        Raises:
            Parked: the part goes on although something in it was swallowed.
        """
        name = self._here()
        self.check_here(name)
        if not conf.keys() >= {"checkpoint_ns", _PAD, _SEND}:
            raise self._fault(name, _DEAF)
        task, pad = conf["checkpoint_ns"], conf[_PAD]
        payload = Payload.of(value, schema, self._saver)
        with self._lock:
            self._most = max(self._most, len(pad.resume))
            answered = self._answered(task, pad.resume)
            number = self._number(task, payload)
            unused = self._unused(task)
            if number is None:
                silent = SILENT.get() is not None
                self._raised[name] = Unheard(shown(payload.value), silent)
            if number is None and name == task:  # others run beside a call of a tool
                self._renew(task, unused)
        index = len(answered) if number is None else number
        if number is None:
            self._chained(task, index)
        self._heard(name, task, number)

        def send(writes: Any) -> Any:  # noqa: ANN401 - as LangGraph's
            whole = [(key, answered if key == _ANSWERED else one) for key, one in writes]
            return conf[_SEND](whole)

        return {
            **conf,
            _PAD: replace(pad, resume=answered, interrupt_counter=lambda: index),
            _SEND: send,
        }

    def _answered(self, task: str, resume: Sequence[Any]) -> list[Any]:
        """Return the answers of a task by their numbers: ours, which may differ from those kept."""
        found = list(resume)
        for number, one in self._known(task):
            found += [None] * (number + 1 - len(found))
            found[number] = self._answers[one.id]
        return found

    def _number(self, task: str, payload: Payload) -> int | None:
        """Return which answer of a task is the one to this payload, and has not been used."""
        used = self._used.setdefault(task, set())
        for number, one in self._known(task):
            if one.id not in used and one.digest in payload.digests:
                used.add(one.id)
                return number
        return None

    def _known(self, task: str) -> list[tuple[int, Raised]]:
        """Return what people decided on that this task asked, each with its number there."""
        id_of = _numbered()
        if id_of is None:
            return []
        ids = [(number, id_of(task, number)) for number in range(self._most)]
        gone = self._gone.get(task, ())
        return [
            (number, self._decided[id_])
            for number, id_ in ids
            if id_ in self._decided and id_ not in gone
        ]

    def _unused(self, task: str) -> list[Raised]:
        used = self._used.get(task, set())
        return [one for _, one in self._known(task) if one.id not in used]

    # --- who asked whom ---

    def belongs(self, task: str, agent: str | None, *, inside: bool) -> None:
        """Note which agent a task is of, and whose it is inside the graph.

        An agent without a name has that of the one around it; then it is called by what runs it.
        """
        self._agents[task] = agent
        if inside:
            around = task.rpartition("|")[0]
            own = agent if agent != self._agents.get(around) else None
            self._inside[task] = own or self._tools.get(around) or _node(around)

    def uses(self, task: str, tool: str) -> None:
        """Note which tool a task calls."""
        self._tools[task] = tool

    def _chained(self, task: str, number: int) -> None:
        """Note through whom an interrupt comes."""
        id_of, parts = _numbered(), task.split("|")
        tasks = ["|".join(parts[: depth + 1]) for depth in range(1, len(parts))]
        found = [self._inside[one] for one in tasks if one in self._inside]
        if id_of is not None and found:
            self.chains[id_of(task, number)] = tuple(dict.fromkeys(found))

    # --- a node that asks something else ---

    def _renew(self, task: str, unused: Sequence[Raised]) -> None:
        """Forget what people said to a task and it has not heard: it asks something else now."""
        if unused:
            self._gone.setdefault(task, [])
        for one in unused:
            self._gone[task].append(one.id)

    def renewed(self, asked: Iterable[str]) -> dict[str, list[str]]:
        """Return which of these interrupts stand for others that no longer count."""
        id_of = _numbered()
        if id_of is None:
            return {}
        found: dict[str, list[str]] = {}
        for task, gone in self._gone.items():
            numbers = range(self._most + len(gone) + 2)
            new = {id_of(task, number) for number in numbers} - self._decided.keys()
            found |= {one: list(gone) for one in asked if one in new}
        return found

    # --- an answer that a node cannot use ---

    def _heard(self, part: str, task: str, number: int | None) -> None:
        id_of = _numbered()
        if number is None or id_of is None:
            self._last.pop(part, None)
        else:
            self._last[part] = id_of(task, number)

    def acted(self, part: str) -> None:
        """Note that a part does something: what it raises from here on is not about an answer."""
        with self._lock:
            for name in [one for one in self._last if within(part, one)]:
                del self._last[name]

    def raised(self, part: str, error: BaseException) -> None:
        """Note that a part raised, and which answer it had just heard, if that may be the reason."""
        with self._lock:
            heard = self._last.pop(part, None)
            if heard is not None and isinstance(error, Exception) and not isinstance(error, _OTHER):
                self._unfit[heard] = error

    def unfit(self, error: Exception) -> dict[str, BaseException]:
        """Return what was raised right after answers, by interrupt, if that ended the turn."""
        causes = behind(error)
        return self._unfit if any(one in causes for one in self._unfit.values()) else {}

    # --- a node ---

    def begun(self, task: str) -> None:
        """Note that a task runs, maybe again: then it asks all that it asked before again."""
        with self._lock:
            self._used.pop(task, None)
            self._last.pop(task, None)
            for name in self._below(task):
                del self._raised[name]

    def returned(self, name: str) -> None:
        """Note that a part has returned a result. It must have been told all that it asked."""
        with self._lock:
            raised = [self._raised[one] for one in self._below(name)]
        if raised:
            self._fault(name, _swallowed(name, raised[0].asked))

    def unawaited(self, task: str, said: str) -> None:
        """Note that a task has returned a result and never awaited one of its verbs."""
        node = task.rpartition("|")[2].partition(":")[0]
        self._fault(task, f"{node} does not count as done: {said} {_NEXT}")

    def interrupted(self, task: str) -> None:
        """Note that a task stopped at what it asked, as it should. So must the one around it."""
        around = task.rpartition("|")[0]
        with self._lock:
            raised = {name: self._raised.pop(name) for name in self._below(task)}
            if around:
                self._raised |= {around + name[len(task) :]: one for name, one in raised.items()}
        if raised:
            self._renew(task, self._unused(task))

    def failed(self, task: str) -> None:
        """Note that a call of a tool failed, since it asked where nobody can be asked."""
        with self._lock:
            for name in self._below(task):
                if self._raised[name].silent:
                    del self._raised[name]

    def calling(self, task: str, call: str) -> None:
        """Note that a task makes a call. It must have asked about that first, if it did before."""
        for one in self._unused(task):
            about = one.value if isinstance(one.value, dict) else {}
            if about.get("type") == "tool_approval" and about.get("tool_call_id") == call:
                self._fault(task, _unheard(one))

    def _below(self, task: str) -> list[str]:
        return [name for name in self._raised if within(task, name)]

    def ended(self, task: str) -> None:
        """Note that a task has come to its end. It must have heard all that people said to it."""
        self.returned(task)
        unused = self._unused(task)
        if unused:
            self._fault(task, _unheard(unused[0]))

    def check(self, task: str = "") -> None:
        """Stop if something is wrong in a task or below it; with none, in the turn.

        Raises:
            Parked: something is.
        """
        for name, text in tuple(self._faults.items()):
            if not task or within(task, name):
                raise Parked(text)

    def check_here(self, name: str) -> None:
        """Stop a part that goes on after it swallowed what stopped it.

        Raises:
            Parked: it does.
        """
        if name in self._raised:
            self.returned(name)
        for one, text in tuple(self._faults.items()):
            if one == name or within(one, name):
                raise Parked(text)

    def check_over(self) -> None:
        """Make sure, after a turn, that nothing is wrong, even where nobody saw a part end.

        Raises:
            Parked: something is.
        """
        for name in tuple(self._raised):
            self.returned(name)
        self.check()

    def _fault(self, name: str, text: str) -> Parked:
        with self._lock:
            self._faults.setdefault(name, text)
        return Parked(text)


def within(task: str, name: str) -> bool:
    """Whether a part is a task, a call of a tool in it, or in a graph that it runs."""
    return f"{name} ".startswith((f"{task} ", f"{task}|"))


def shown(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return the beginning of a payload, for the words of an error."""
    text = " ".join(written(value).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _unheard(was: Raised) -> str:
    return (
        f"{was.node} ran again and did not ask what people have answered, so it never heard them. "
        f"They decided on: {shown(was.value)} It may have acted all the same, and does not count "
        f"as done. What a node asks must not change. {_NEXT}"
    )


def _node(name: str) -> str:
    return name.rpartition("|")[2].partition(":")[0]


def _swallowed(name: str, asked: str) -> str:
    return (
        f"{_node(name)} swallowed its own interrupt and went on without an answer. It asked: {asked} It may "
        "have acted all the same, and does not count as done. Let GraphInterrupt pass: keep "
        f"interrupt() out of try: ... except Exception. {_NEXT}"
    )
