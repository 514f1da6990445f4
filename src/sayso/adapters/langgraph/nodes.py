"""What nodes may use: the verbs of sayso stand at the place of the task that runs them.

LangGraph runs a node again from its top after each pause. A verb in it stands
at a place that is named by the node's task, so the second time it meets what it did the first
time: `sayso.step` and `sayso.effect` act once, and a question is asked once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime

from sayso.adapters.base import SILENT, Seats, Stop
from sayso.adapters.langgraph.watching import Watch, within
from sayso.errors import Misuse

_CALL: ContextVar[tuple[str, UUID] | None] = ContextVar("sayso_tool_call", default=None)


@contextmanager
def seated(seats: Seats, asked: Watch, awaits: Callable[[], bool]) -> Iterator[None]:
    """Let the verbs in nodes of a graph that is invoked in this block stand at their tasks.

    Args:
        seats: Their places.
        asked: The watch over what the nodes ask.
        awaits: Says whether the code that runs here awaits its verbs.
    """

    def place() -> tuple[str, object]:
        found = _place()
        asked.check_here(found[0])
        asked.acted(found[0])
        return found

    with seats.by(place, awaits), asked.watching():
        yield


def here() -> str:
    """Return which part of a graph runs: a task, or a call of a tool in one."""
    return _place()[0]


def _place() -> tuple[str, object]:
    """Return where in its graph this code runs, and what tells this time from the one before.

    The tools of one node run side by side, so each call of one has a place of its own.
    """
    try:
        info = get_runtime().execution_info
    except RuntimeError:
        info = None
    if info is None:
        raise Misuse(
            "A verb of sayso was used in a graph, and not in one of its nodes, so it has no place "
            "to be found again at. Move it into a node."
        )
    call = _CALL.get()
    if call is None:
        return info.checkpoint_ns, info.node_attempt
    return f"{info.checkpoint_ns} {call[0]}", (info.node_attempt, call[1])


class PauseWatch(BaseCallbackHandler):
    """Tells LangGraph of a pause in its own words, and lets no node end that has swallowed one.

    A pause is no `Exception`, so that nodes which catch those let it pass. To LangGraph it would be
    a crash: it would drop the work of the nodes beside. Where a node ends, a
    pause is therefore an interrupt that asks nothing, for the asks are with the desk already.
    """

    raise_error = True  # what is raised here is meant
    run_inline = True  # on an event loop too: what is set here is for the code that follows

    def __init__(self, seats: Seats, asked: Watch) -> None:
        self.stopped = False
        self._asked = asked
        self._seats = seats
        self._nodes: dict[UUID, str] = {}
        self._lock = threading.Lock()
        self._calls: dict[UUID, tuple[str, str, tuple[str, UUID] | None]] = {}

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: Any,  # noqa: ANN401 - whatever the node is given
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **_: Any,  # noqa: ANN401 - what else there is to know
    ) -> None:
        """Note which node it is, if it is one."""
        known = metadata or {}
        place = known.get("langgraph_checkpoint_ns")
        if place and name == known.get("langgraph_node"):
            if not self._runs(place):
                self._asked.begun(place)
            inside = bool(known.get("checkpoint_ns"))
            self._asked.belongs(place, known.get("lc_agent_name"), inside=inside)
            self._nodes[run_id] = place

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ANN401
        """Stop a node after all in which, or below which, a verb has paused or something is wrong.

        Raises:
            GraphInterrupt: it has.
        """
        place = self._nodes.pop(run_id, None)
        if place is None:
            return
        try:
            self._seats.check_paused(lambda name: within(place, name))
            self._check_awaited(place)
            if not self._runs(place):
                self._asked.ended(place)
            self._asked.check(place)
        except Stop as stop:
            self._interrupt(stop)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ANN401
        """Stop a node as LangGraph knows it.

        Raises:
            GraphInterrupt: a verb stopped the node, or something is wrong with what it asks.
        """
        place = self._nodes.pop(run_id, None)
        if place is None:
            return
        if isinstance(error, Stop):
            self._interrupt(error)
        if isinstance(error, GraphInterrupt):
            self._asked.interrupted(place)
        self._asked.raised(place, error)
        try:
            self._asked.check(place)
        except Stop as stop:
            self._interrupt(stop)

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        tool_call_id: str | None = None,
        **_: Any,  # noqa: ANN401 - what else there is to know
    ) -> None:
        """Note which call of a tool runs in this context, if a model has made one.

        Two of one turn may have the same id; then the second to come has another name.

        Raises:
            GraphInterrupt: people were asked about this call, and it did not wait for their word.
        """
        name, place = tool_call_id, (metadata or {}).get("langgraph_checkpoint_ns", "")
        self._asked.acted(place)
        self._asked.uses(place, str((serialized or {}).get("name") or ""))
        if not name:
            return
        try:
            self._asked.calling(place, name)
            self._asked.check(place)
        except Stop as stop:
            self._interrupt(stop)
        with self._lock:
            taken = {one[:2] for one in self._calls.values()}
            while (place, name) in taken:
                name = f"{name}+"
            self._calls[run_id] = (place, name, _CALL.get())
        _CALL.set((name, run_id))

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ANN401
        """Go back to the node. A call that has a result must have been told all that it asked."""
        call = self._calls.get(run_id)
        if call is not None:
            self._asked.returned(f"{call[0]} {call[1]}")
        self._leave(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ANN401
        """Go back to the node."""
        call = self._calls.get(run_id)
        if call is not None:
            self._asked.raised(f"{call[0]} {call[1]}", error)
        if call is not None and SILENT.get() is not None and isinstance(error, GraphInterrupt):
            self._asked.failed(call[0])
        self._leave(run_id)

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **_: Any,  # noqa: ANN401 - what else there is to know
    ) -> None:
        """Note that a node goes on with what it was told."""
        self._asked.acted((metadata or {}).get("langgraph_checkpoint_ns", ""))

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[Any]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **_: Any,  # noqa: ANN401 - what else there is to know
    ) -> None:
        """Note that a node goes on with what it was told."""
        self._asked.acted((metadata or {}).get("langgraph_checkpoint_ns", ""))

    def _leave(self, run_id: UUID) -> None:
        with self._lock:
            call = self._calls.pop(run_id, None)
        if call is not None:
            _CALL.set(call[2])

    def _check_awaited(self, place: str) -> None:
        """Note that a node has ended in which a verb was called and never awaited.

        Where the host would keep what the node returned, an error of it is not enough.
        """
        try:
            self._seats.check_awaited(lambda name: within(place, name))
        except Misuse as error:
            self._asked.unawaited(place, str(error))

    def _runs(self, place: str) -> bool:
        """Whether something of this task still runs: a runnable in it may have the node's name."""
        return place in tuple(self._nodes.values())

    def _interrupt(self, stop: Stop) -> NoReturn:
        self.stopped = True
        raise GraphInterrupt from stop


def _unexpected(record: logging.LogRecord) -> bool:
    """LangChain warns of whatever a handler raises; what ours raises is meant."""
    return not (isinstance(record.args, tuple) and record.args[:1] == (PauseWatch.__name__,))


logging.getLogger("langchain_core.callbacks.manager").addFilter(_unexpected)
