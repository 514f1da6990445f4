"""An agent under watch: for as long as a run carries it on, its parts go through the run.

Everything that is put in its place is taken out again, so that the agent is what it was.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from smolagents import ActionStep, CodeAgent, MultiStepAgent, PlanningStep, ToolCallingAgent
from smolagents.memory import CallbackRegistry, MemoryStep
from smolagents.monitoring import LogLevel

from sayso.adapters.base import Running
from sayso.adapters.smolagents.answers import Answers
from sayso.adapters.smolagents.blocks import Blocks, check_local
from sayso.adapters.smolagents.calls import Calls
from sayso.adapters.smolagents.code_review import CodeReview
from sayso.adapters.smolagents.plans import Plans
from sayso.adapters.smolagents.replies import Replies
from sayso.adapters.smolagents.terms import Terms
from sayso.adapters.smolagents.turns import Turns
from sayso.errors import Misuse

_MISSING = object()
_CLAIM = threading.Lock()
_AT_WORK: list[Any] = []  # agents that a run of this process has
_OURS = ("process_tool_calls", "execute_tool_call")


def crew(agent: Any) -> list[Any]:  # noqa: ANN401 - a MultiStepAgent
    """Return an agent and all that work for it, each once: two of them may share a helper."""
    found: list[Any] = []
    left = [agent]
    while left:
        one = left.pop(0)
        if not any(one is other for other in found):
            found.append(one)
            left += one.managed_agents.values()
    return found


def check_agent(agent: Any, name: str, terms: Terms) -> None:  # noqa: ANN401
    """Refuse an agent that could not be watched, before it does anything.

    Raises:
        Misuse: says what it is, and what to do.
        BadValue: something was said of a tool that it does not have.
    """
    if not isinstance(agent, MultiStepAgent):
        raise Misuse(
            f"{name} is {type(agent).__name__}: give an agent of smolagents, or build one."
        )
    tools: list[str] = []
    helpers: list[str] = []
    for one in crew(agent):
        _check_kind(one)
        tools += one.tools
        helpers += one.managed_agents
    terms.check(tools, helpers, name)


def _check_kind(agent: Any) -> None:  # noqa: ANN401
    if isinstance(agent, CodeAgent):
        check_local(agent)
        return
    if not isinstance(agent, ToolCallingAgent):
        raise Misuse(
            f"{type(agent).__name__} is neither a CodeAgent nor a ToolCallingAgent, so it is not known "
            "where it calls its tools."
        )
    for method in _OURS:
        if getattr(type(agent), method) is not getattr(ToolCallingAgent, method):
            raise Misuse(
                f"{type(agent).__name__} has a {method} of its own, which would call tools unseen. "
                "Leave it out: the run calls them."
            )


@contextmanager
def _claimed(agents: Sequence[Any]) -> Iterator[None]:
    """Have agents for one run alone; all of them, or none.

    Raises:
        Misuse: one is at work on another run.
    """
    with _CLAIM:
        if any(one is other for one in agents for other in _AT_WORK):
            raise Misuse(
                "This agent, or one that works for it, works on another run at the moment. Let the "
                "function that builds it return a new one each time, with helpers of its own, or "
                "give the agent itself to one Smol, which lets runs wait for it."
            )
        _AT_WORK.extend(agents)
    try:
        yield
    finally:
        with _CLAIM:
            _AT_WORK[:] = [one for one in _AT_WORK if not any(one is mine for mine in agents)]


@contextmanager
def watched(agent: Any, run: Running, name: str, terms: Terms) -> Iterator[Answers]:  # noqa: ANN401
    """Let an agent work under a run. What it answers is reviewed by the value that this yields."""
    answers = Answers(run, name)
    everybody = crew(agent)
    with ExitStack() as after:
        after.enter_context(_claimed(everybody))
        for one in everybody:
            called = name if one is agent else one.name
            _Watch(after, one, run, called, terms).place()
        if "answer" in terms.review:
            after.enter_context(
                _set(agent, "final_answer_checks", [*agent.final_answer_checks, answers])
            )
        yield answers


class _Watch:
    """One agent, and what takes the place of its parts."""

    def __init__(self, after: ExitStack, agent: Any, run: Running, name: str, terms: Terms) -> None:  # noqa: ANN401
        self._after = after
        self._agent = agent
        self._run = run
        self._name = name
        self._terms = terms

    def place(self) -> None:
        agent, run = self._agent, self._run
        live = self._hushed()
        replies = Replies(agent.model, run, live)
        calls = Calls(run, self._name, self._terms, live)
        self._put("model", replies)
        self._put("stream_outputs", None)  # what streams could not be recorded
        self._put("state", dict(agent.state))
        callbacks = _copied(agent.step_callbacks)
        self._put("step_callbacks", callbacks)
        if "plan" in self._terms.review:
            callbacks.register(PlanningStep, Plans(run, self._name))
        if isinstance(agent, CodeAgent):
            self._put_executor(calls, replies, callbacks)
        else:
            self._put("process_tool_calls", Turns(agent, calls))

    def _put_executor(self, calls: Calls, replies: Replies, callbacks: Any) -> None:  # noqa: ANN401
        inner, tag = self._agent.python_executor, self._agent.code_block_tags[0]
        why = partial(replies.before, tag)
        review: Callable[[str], str] = str
        if "code" in self._terms.review:
            reviewer = CodeReview(self._run, self._terms, why)
            callbacks.register(ActionStep, reviewer)
            review = reviewer.code
        for part in ("timeout_seconds", "state", "custom_tools", "static_tools"):
            self._after.enter_context(_set(inner, part, getattr(inner, part, None)))
        self._put("python_executor", Blocks(inner, calls, why, review))

    def _put(self, part: str, value: Any) -> None:  # noqa: ANN401
        self._after.enter_context(_set(self._agent, part, value))

    def _hushed(self) -> Callable[[], None]:
        """Let the agent log nothing of what it logged before; and then to standard error.

        Returns what to call once something new happens.
        """
        logger = self._agent.logger
        level, console = logger.level, logger.console
        self._after.enter_context(_set(logger, "level", LogLevel.OFF))
        if getattr(console, "file", None) is sys.stdout:  # it belongs to the program
            self._after.enter_context(
                _set(logger, "console", type(console)(stderr=True, highlight=False))
            )

        def live() -> None:
            logger.level = level

        return live


def _copied(registry: Any) -> Any:  # noqa: ANN401 - a CallbackRegistry
    """Return a registry that calls what another one calls, and more."""
    copy = CallbackRegistry()
    copy.register(MemoryStep, registry.callback)
    return copy


@contextmanager
def _set(owner: Any, part: str, value: Any) -> Iterator[None]:  # noqa: ANN401
    """Set an attribute for a while."""
    before = vars(owner).get(part, _MISSING)
    setattr(owner, part, value)
    try:
        yield
    finally:
        if before is _MISSING:
            delattr(owner, part)
        else:
            setattr(owner, part, before)
