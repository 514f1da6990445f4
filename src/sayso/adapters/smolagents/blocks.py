"""The code of a `CodeAgent`: tools in the middle of it are gates, and a pause cannot be swallowed.

The interpreter of smolagents stays what it is. It is handed tools that stand before the real
ones; each of their calls is a verb of the run. At a replay the code runs again, and they
return what they returned.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any

from smolagents import FinalAnswerTool, LocalPythonExecutor, MultiStepAgent
from smolagents.local_python_executor import CodeOutput, PythonExecutor

from sayso.adapters.base import UNMADE, Seats, Stop
from sayso.adapters.smolagents.calls import Calls, Came
from sayso.adapters.smolagents.steady import Clock, Variables
from sayso.adapters.smolagents.terms import named
from sayso.adapters.smolagents.values import NoForm, written
from sayso.errors import Diverged, Misuse, StepFailed

Review = Callable[[str], str]
_DIFFERS = (
    "This call is in code that a model wrote, which runs again at every replay. Most often it goes "
    "through a set, whose order differs from process to process: give all workers the same "
    "PYTHONHASHSEED, and tell the model in its instructions to use sorted(...) on sets. Otherwise "
    "it reads what has changed: give the agent a tool for that, since only tools are recorded."
)


class NotCarriedOut(Exception):
    """A call that people did not want. The code that made it must not go on as if it were done."""


class ToolFailed(Exception):
    """A tool that failed with an error of its own kind."""


class TookTooLong(Exception):
    """A block of code ran longer than its executor allows."""


def check_local(agent: Any) -> None:  # noqa: ANN401 - a CodeAgent
    """Refuse executors that run elsewhere.

    Raises:
        Misuse: says why.
    """
    executor = agent.python_executor
    if isinstance(executor, LocalPythonExecutor | Blocks):
        return
    raise Misuse(
        f"{type(executor).__name__} runs code elsewhere: tools are sent there as source text and run "
        "where nobody can be asked, so no gate would hold; and a sandbox that is gone cannot be "
        'gone on with. Use executor_type="local", or put what needs a sandbox into a tool.'
    )


class Blocks(PythonExecutor):
    """Stands before the executor of an agent."""

    def __init__(
        self,
        inner: LocalPythonExecutor,
        calls: Calls,
        why: Callable[[], str],
        review: Review,
    ) -> None:
        self._inner = inner
        self._calls = calls
        self._why = why
        self._review = review
        self._clock = Clock(f"{calls.run.id} {calls.name}")
        self._limit: float | None = getattr(inner, "timeout_seconds", None)
        self._stop: BaseException | None = None
        self._done: list[str] = []
        self._around = copy_context()
        self._turn = threading.Lock()
        self._seats: Seats | None = None
        self._thread = 0  # the one that runs the block; code may have more
        self._times: Counter[str] = Counter()
        # Timed here: the host's timer would let the same block pass at a replay, where no tool runs.
        inner.timeout_seconds = None
        inner.state = Variables(self._clock, dict(inner.state))
        inner.custom_tools = {}

    @property
    def state(self) -> Any:  # noqa: ANN401 - a dict
        """The variables of the code, which the agent reads when a block has failed."""
        return self._inner.state

    def send_variables(self, variables: dict[str, Any]) -> None:
        """Hand variables on."""
        self._inner.send_variables(variables=variables)

    def send_tools(self, tools: dict[str, Any]) -> None:
        """Hand tools on, each behind its gate."""
        self._inner.send_tools({name: self._guarded(name, tool) for name, tool in tools.items()})

    def __call__(self, code_action: str) -> CodeOutput:
        """Run a block of code; pause if anything in it did, whatever the code made of that (E35)."""
        run = self._calls.run
        self._clock.begin(run.now())
        code = self._review(code_action)
        self._seats, self._thread, self._times = run.seats(), threading.get_ident(), Counter()
        self._done, self._around = [], copy_context()
        came: CodeOutput | None = None
        failure: Exception | None = None
        began = time.monotonic()
        try:
            came = self._inner(code)
        except Exception as error:  # noqa: BLE001 - raised again below
            failure = error
        if self._stop is not None:
            raise self._stop
        if self._late(time.monotonic() - began):
            raise TookTooLong(f"The code ran longer than the {self._limit:g} seconds it may.")
        if came is None:
            raise failure or AssertionError("unreachable: it returned, or it failed")
        return came

    def _late(self, took: float) -> bool:
        """Whether the block took too long when it ran first: a replay takes no time."""
        limit = self._limit
        if limit is None:
            return False

        def block() -> bool:
            return took > limit

        block.__qualname__ = "block"
        return self._calls.run.step(block)

    def _guarded(self, name: str, tool: Any) -> Any:  # noqa: ANN401 - what code calls by this name
        if type(tool) is FinalAnswerTool:
            return tool

        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the tool
            if threading.get_ident() == self._thread:
                return self._unless_stopped(self._called, tool, args, kwargs)
            # Code may have threads of its own, which know nothing of the run, nor of each other.
            with self._turn:
                return self._around.copy().run(
                    self._unless_stopped, self._called_beside, tool, args, kwargs
                )

        call.__name__ = name
        return call

    def _unless_stopped(self, called: Callable[..., Any], *given: Any) -> Any:  # noqa: ANN401
        if self._stop is not None:  # a `finally` must do nothing that was not asked
            raise self._stop
        try:
            return called(*given)
        except Stop as stop:
            self._stop = stop
            raise
        except Diverged as error:
            said = Diverged(error.key, f"{error.detail} {_DIFFERS}")
            self._stop = self._calls.run.fault = said  # what the parked run says
            raise said from error

    def _called_beside(self, tool: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Make a call at a place of its own: threads come in another order at a replay."""
        place = f"{tool.name} {_digest(_given(tool, args, kwargs))}"
        self._times[place] += 1
        if self._seats is None:
            raise AssertionError("unreachable: code calls tools while a block runs")
        with self._seats.at(f"{place} {self._times[place]}"):
            return self._called(tool, args, kwargs)

    def _called(self, tool: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        given = _given(tool, args, kwargs)
        came = self._calls.open(tool, given, self._why()).came()
        made = dict(given if came.edited is None else came.edited)
        if came.edited is not None:
            self._note(f"{came.by} changed this call of {tool.name} to {_shown(made)}.")
        if came.error is not None:
            if self._done:
                self._note(f"Carried out before that: {'; '.join(self._done)}.")
            raise _raised(came)
        self._done.append(f"{tool.name} {_shown(made)}")
        return came.value

    def _note(self, text: str) -> None:
        """Put a line among what the code printed: the model reads that, also of code that failed."""
        printed = self._inner.state.get("_print_outputs")
        if printed is not None:
            printed.append(f"[desk] {text}\n")


def _given(tool: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(tool, MultiStepAgent):
        return {**dict(zip(tool.inputs, args, strict=False)), **kwargs}
    return named(tool, args, kwargs)


def _digest(args: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(written(dict(args)), sort_keys=True)
    except NoForm:  # then it is refused anyway
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


def _shown(args: Mapping[str, Any]) -> str:
    written = ", ".join(f"{name}={value!r}" for name, value in args.items())
    return f"({written if len(written) <= 300 else f'{written[:300]}...'})"


def _raised(came: Came) -> Exception:
    """Return what the code meets: the error of the tool by its own name, the same at a replay."""
    error = came.error
    if not isinstance(error, StepFailed) or error.kind in UNMADE:
        return NotCarriedOut(came.text)
    kind = getattr(builtins, error.kind, None)
    if kind is KeyError:  # which says its key as code has it
        return KeyError(error.message.strip("'"))
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(error.message)
        except TypeError:  # one that takes more than a text
            pass
    return ToolFailed(f"{error.kind}: {error.message}")
