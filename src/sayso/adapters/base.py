"""What an adapter stands on: how a host's agent becomes a run, its tools gates, its parts places.

An adapter is an object that a desk can run: `desk.run(adapter, task)`. It
calls its host inside a workflow, and everything that the host must not do twice, or not
unseen, goes through the verbs of the run:

- a reply of the model is a `run.step`: recorded, and not asked for again;
- a tool is a gate made by `foreign`: `run.call` asks first, `run.effect` leaves that to the policy;
- a call that is asked for now and carried out later, beside others of its turn, is `prepared`;
- calls that a host shows all at once and makes one by one are `cleared`, and then `carried_out`;
- a call that the host itself carries out is put before people by `run.propose`, under the name that
  `made_plain` gives; its plans and its texts by `review_plan` and `review_draft`, which tell what people said to them;
- code that the host calls in its own order has its place by name: `run.seats()`;
- whatever an outcome of a call means for the model, `told` says it, in the same words everywhere.

`tests/adapters/test_contract.py` says what every adapter must hold to.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from sayso.asks.carrying import UNMADE, gated, gated_of
from sayso.asks.forms import Form, Step
from sayso.asks.refusals import told
from sayso.errors import SaysoError, StepFailed
from sayso.model.ask import Ask
from sayso.model.digest import canonical
from sayso.model.names import made_plain
from sayso.model.schema import check_schema
from sayso.model.text import one_line
from sayso.model.tool import HIDDEN
from sayso.runs.calls import asked_for
from sayso.runs.clearing import (
    Errand,
    Refusal,
    carried_out,
    carried_out_async,
    cleared,
    errand,
)
from sayso.runs.execution import in_a_loop
from sayso.runs.failures import behind, text_of
from sayso.runs.lanes import CHAIN, LANE
from sayso.runs.laters import RunLater
from sayso.runs.loops import LoopGone, LoopThread, awaited_on, check_loop
from sayso.runs.running import Running
from sayso.runs.seats import Seats, seated
from sayso.runs.stops import NotStarted, Parked, Stop
from sayso.runs.streams import Listener
from sayso.runs.workflow import Workflow, acting

__all__ = [
    "SILENT",
    "UNMADE",
    "Errand",
    "Listener",
    "LoopGone",
    "LoopThread",
    "Parked",
    "Refusal",
    "Running",
    "Seats",
    "Stop",
    "UntestedHost",
    "acting_as",
    "awaited_on",
    "behind",
    "carried_out",
    "carried_out_async",
    "check_host",
    "check_loop",
    "check_schema",
    "cleared",
    "distinct",
    "errand",
    "foreign",
    "hosted",
    "in_a_loop",
    "made_plain",
    "one_line",
    "prepared",
    "put_choice",
    "put_question",
    "refused",
    "review_draft",
    "review_plan",
    "seated",
    "text_of",
    "told",
]

# The call of a tool that runs here and can ask nobody: if it tries, its adapter lets it fail.
SILENT: ContextVar[str | None] = ContextVar("sayso_silent", default=None)
_NUMBER = re.compile(r"\d+")


class UntestedHost(UserWarning):
    """The host framework has a version that is too old, or that a test of ours fails with."""


def check_host(package: str, oldest: str, fails: Mapping[str, str] | None = None) -> str:
    """Return the version of a host that is installed, and warn of one that is known not to work.

    Every later version counts as one that works, until a test says otherwise.

    Args:
        package: Its name on the package index.
        oldest: The first version that is known to work.
        fails: What does not work, by version: "1.4" means all that begin so.
    """
    found = importlib.metadata.version(package)
    numbers = _numbers(found)
    known = [
        said
        for version, said in (fails or {}).items()
        if numbers[: len(_numbers(version))] == _numbers(version)
    ]
    if numbers < _numbers(oldest):
        known.append(f"the oldest version that this adapter was tried with is {oldest}")
    if known:
        warnings.warn(
            f"{package} {found} is installed, and this adapter may not work with it: "
            f"{'; '.join(known)}. Install another version: pip install '{package}>={oldest}'.",
            UntestedHost,
            stacklevel=3,
        )
    return found


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in _NUMBER.findall(version)[:3])


def hosted(name: str, fn: Callable[..., Any], *, depth: int = 2) -> Workflow:
    """Return a function that takes the run as the workflow of a host's agent.

    Keep it as `__sayso_workflow__` of the object that a desk is to run.

    Args:
        name: What people and the journal call the agent. Workers find its runs by it.
        fn: Called with the run and the input. What its annotations say is how both are stored.
        depth: How many calls up the module is found that makes the agent.
    """
    return acting(name, sys._getframe(depth).f_globals["__name__"], fn)  # noqa: SLF001


def refused(run: Running, error: SaysoError) -> Stop:
    """Return what stops a run that cannot be carried on here.

    One that is new is not begun at all, and its starter is told why; any other waits for a person.
    """
    return NotStarted(error) if run.journal.unwritten else Parked(str(error))


def foreign(
    name: str,
    fn: Callable[..., Any],
    schema: Mapping[str, Any],
    **given: Any,  # noqa: ANN401 - as of `sayso.tool`
) -> Callable[..., Any]:
    """Return a tool of a host as one of ours, for `run.call` and `run.effect`.

    Args:
        name: What the model and the host call it. Where that is not plain, the journal and the
            policy have a plain name, and people also read this one.
        fn: Carries the call out; it is given the arguments by name.
        schema: The JSON Schema of the arguments, which an edit must fit.
        **given: What `sayso.tool` takes: risk, preview, secret, idempotent and so on.

    Raises:
        BadValue: an option is unknown or makes no sense.
    """
    secret = given.pop("secret", ())
    hidden = (secret,) if isinstance(secret, str) else tuple(secret)

    def call(**args: Any) -> Any:  # noqa: ANN401 - whatever the host's tool takes and returns
        return fn(**args)

    call.__name__ = call.__qualname__ = name
    gate = gated(call, name=made_plain("tool", name), **given)
    shape = {"type": "object", **schema}
    if hidden:
        secrets = {name: {"const": HIDDEN} for name in hidden}
        shape["properties"] = {**shape.get("properties", {}), **secrets}
    called = None if gate.tool.name == name else name
    tool = replace(
        gate.tool,
        title=called,
        schema=shape,
        shape=canonical(shape),
        secret=hidden,
        source=f"{_program()}:{gate.tool.name}",
    )
    call.__sayso_gate__ = replace(gate, tool=tool)  # type: ignore[attr-defined]
    return call


def _program() -> str:
    """Return which program gives a desk the tools of its host: its file, or where a command was typed."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if file is None or file.endswith(("/sayso", "/__main__.py")):
        return os.getcwd()
    return str(file)


def distinct(ids: Iterable[str | None]) -> list[str]:
    """Return an id for each call of a turn: its own, or one like it if that is empty or taken.

    Hosts keep calls by their ids; of two with one id, one would be lost.
    """
    taken: list[str] = []
    for number, given in enumerate(ids, start=1):
        found = given or f"call-{number}"
        while found in taken:
            found = f"{found}+"
        taken.append(found)
    return taken


@contextmanager
def acting_as(run: Running, name: str) -> Iterator[None]:
    """Let what is asked in this block name this agent, and whom it works for."""
    inner = LANE.get() is not run.root
    around = CHAIN.get() or ((run.journal.row.workflow,) if inner else ())
    before = CHAIN.set((*around, made_plain("agent", name)))
    try:
        yield
    finally:
        CHAIN.reset(before)


def prepared(
    run: Running, tool: Callable[..., Any], args: Mapping[str, Any], *, always: bool
) -> RunLater:
    """Ask for a call now, if somebody must be asked; it is carried out where its result is wanted.

    Args:
        run: The run that makes the call.
        tool: What `foreign` returned.
        args: Its arguments by name.
        always: Whether people are asked whatever the policy allows.

    Raises:
        BadValue: an argument cannot be shown and stored.
    """
    gate = gated_of(tool) or gated(tool)
    bound = gate.tool.bind((), args)

    def opened(key: str) -> Ask | None:
        try:
            if run.goes_alone(key, gate, bound, always=always):
                return None
        except StepFailed:  # denied: recorded, and raised where the result is wanted
            return None
        return asked_for(run, key, gate, bound)

    return run.put_later(
        lambda _, key: opened(key),
        lambda lane, key: run.calling_bound(lane, key, gate, bound, always=always),
    )


def put_question(run: Running, text: str, schema: dict[str, Any], **terms: Any) -> RunLater:  # noqa: ANN401
    """Ask a question now, for an answer of this schema later; `facts`, `about` as of `run.question`."""
    return _put(run, run.forms.question(text, schema, **terms))


def put_choice(
    run: Running,
    text: str,
    options: Sequence[object],
    own: dict[str, Any] | None,
    **terms: Any,  # noqa: ANN401 - as of `run.choose`, and `facts` and `about`
) -> RunLater:
    """Ask for one of the options now, or for another answer of the schema `own`.

    Raises:
        BadValue: the options fit on no buttons, or nobody could tell two apart.
    """
    return _put(run, run.forms.choose(text, options, own, **terms))


def _put(run: Running, form: Form[Any]) -> RunLater:
    return run.put_later(
        lambda _, key: run.asked(key, form.content),
        lambda lane, key: run.asking(lane, key, form),
    )


def review_plan(
    run: Running,
    steps: Sequence[Step],
    *,
    about: str | None = None,
    **terms: Any,  # noqa: ANN401 - as of `run.plan`
) -> Ask:
    """Put a plan before people, who may also send it back; return the ask as it was decided.

    A rejection ends the run. `about` is the id of the ask that was sent back before.
    """
    return _reviewed(run, run.forms.plan(lambda _: steps, **terms), about)


def review_draft(run: Running, text: str, *, about: str | None = None, **terms: Any) -> Ask:  # noqa: ANN401 - as of `run.draft`
    """Put a text before people, who may also send it back; return the ask as it was decided."""
    return _reviewed(run, run.forms.draft(lambda _: text, **terms), about)


def _reviewed(run: Running, form: Form[Any], about: str | None) -> Ask:
    asked: Form[Ask] = Form(replace(form.content, about=about), lambda ask: ask)
    return run.verb(lambda lane, key: run.asking(lane, key, asked))  # type: ignore[no-any-return]
