"""The tools of an agent: what a model is told of each, and which of them ask a person first."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sayso.agent.messages import ToolCall, ToolSpec
from sayso.agent.plan import NAME as PLAN
from sayso.agent.stating import offered
from sayso.asks.carrying import Gated, gated, gated_of
from sayso.errors import BadValue, InvalidAnswer
from sayso.insight.bounds import bound_of
from sayso.model.conversion import decode
from sayso.model.digest import canonical
from sayso.model.faults import violations
from sayso.model.requirement import Requirement
from sayso.model.tool import HIDDEN, Bound
from sayso.runs.execution import in_a_loop

ASKED_RISKS = ("medium", "high", "critical")
_RECEIVERS = ("self", "cls")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


class BadCall(Exception):
    """A call that cannot be made as the model wrote it. Says why, for the model to read."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Held:
    """One tool in the hands of an agent."""

    gate: Gated
    spec: ToolSpec
    confirmed: bool
    shape: str = ""  # the schema as text: it is looked at with every call

    @property
    def name(self) -> str:
        """Its name."""
        return self.spec.name

    @property
    def later(self) -> bool:
        """Whether the model goes on with other work while a call of it waits for people."""
        return self.gate.rules.later

    def asks(self, bound: Bound | None = None) -> bool:
        """Whether a person is asked before this call; without one, whether that can happen."""
        tool = self.gate.tool
        if self.confirmed or self.gate.always or "needs" in self.gate.rules.terms:
            return True
        if tool.reversible is False or tool.affects:
            return True
        if callable(tool.risk):
            return bound is None or tool.risk_of(bound) in ASKED_RISKS
        # Whether a call is unseen nobody knows before it is made.
        return tool.risk in ASKED_RISKS or (bound is None and self.gate.rules.unseen is not None)

    @property
    def why(self) -> str:
        """Why it asks, in words."""
        tool = self.gate.tool
        reasons = ["listed in confirm"] if self.confirmed else []
        reasons += ["gated on the desk"] if self.gate.always else []
        if callable(tool.risk):
            reasons.append("its risk depends on the call")
        elif tool.risk in ASKED_RISKS:
            reasons.append(f"risk {tool.risk}")
        reasons += ["cannot be undone"] if tool.reversible is False else []
        reasons += [f"affects {tool.affects}"] if tool.affects else []
        reasons += ["if nothing like it was approved"] if self.gate.rules.unseen else []
        if "needs" in self.gate.rules.terms:
            reasons.append(f"needs {Requirement.parse(self.gate.rules.terms['needs'])}")
        return ", ".join(reasons)

    def bind(self, call: ToolCall) -> Bound:
        """Freeze the arguments that a model sent.

        Raises:
            BadCall: they do not fit.
        """
        if call.broken is not None:
            raise BadCall("BadArguments", f"The arguments are no JSON object: {call.broken[:200]}")
        tool = self.gate.tool
        sent = [name for name in tool.secret if name in call.args]
        if sent:
            raise BadCall("BadArguments", f"There is no argument {sent[0]!r}.")
        wrong = violations(self.shape, dict(call.args))
        if wrong:
            said = "; ".join(f"{where}: {what}" for where, what in list(wrong.items())[:5])
            raise BadCall("BadArguments", f"The arguments do not fit {call.tool}: {said}")
        try:
            values = {
                name: decode(tool.types.get(name, Any), value) for name, value in call.args.items()
            }
            return tool.bind((), values)
        except InvalidAnswer as error:
            said = "; ".join(f"{where}: {what}" for where, what in error.fields.items())
            raise BadCall("BadArguments", f"The arguments do not fit {call.tool}: {said}") from None
        except (BadValue, TypeError) as error:
            raise BadCall("BadArguments", f"{call.tool} does not take this: {error}") from None


Kit = Mapping[str, Held]


def kit_of(
    tools: Sequence[Callable[..., Any]],
    confirm: Sequence[str] | Literal[True],
    *,
    agent: str,
    explain: bool = False,
    unseen: bool | float = False,
) -> dict[str, Held]:
    """Return the tools of an agent by name.

    Raises:
        BadValue: a tool cannot be one, two share a name, or `confirm` names none of them.
    """
    if callable(tools):
        raise BadValue(f"tools= is a list of functions: [{getattr(tools, '__name__', tools)}].")
    kit: dict[str, Held] = {}
    bound = bound_of(unseen)
    for fn in tools:
        gate = _looking(_gate(fn, agent), bound)
        name = _name(gate, agent)
        if name in kit or name == PLAN:
            taken = "is the name under which plans are handed in" if name == PLAN else "is taken"
            raise BadValue(
                f"Two tools of {agent} are called {name!r}; the name {taken}. Give one another "
                "name: @sayso.tool(name=...)."
            )
        spec = _spec(gate, name, agent)
        shape = canonical(dict(spec.schema))
        if explain:
            spec = replace(spec, schema=offered(spec.schema, name))
        kit[name] = Held(_leaf(gate), spec, confirm is True, shape)
    for given in () if confirm is True else confirm:
        name = _FOREIGN.sub("_", given)
        if name not in kit:
            near = difflib.get_close_matches(name, kit, n=1)
            hint = (
                f" Did you mean {near[0]!r}?" if near else f" It has: {', '.join(kit) or 'none'}."
            )
            raise BadValue(f"confirm={name!r}: {agent} has no such tool.{hint}")
        kit[name] = replace(kit[name], confirmed=True)
    return {name: _confirmed(held) for name, held in kit.items()}


def _confirmed(held: Held) -> Held:
    """Let nobody earn to be spared what is listed in `confirm`."""
    if not held.confirmed:
        return held
    gate = held.gate
    return replace(held, gate=replace(gate, rules=replace(gate.rules, earns=False)))


def _gate(fn: Callable[..., Any], agent: str) -> Gated:
    """Return a function as a tool; of a method or a `partial`, without what is bound already."""
    if isinstance(fn, functools.partial):
        if fn.args:
            raise BadValue(
                f"A tool of {agent} is a partial with positional arguments; bind them by name: "
                "functools.partial(fn, name=...)."
            )
        return _bound(_gate(fn.func, agent), fn, tuple(fn.keywords))
    gate = gated_of(fn)
    if gate is None and not hasattr(fn, "__name__"):
        raise BadValue(
            f"A tool of {agent} is {type(fn).__name__}, not a function. Give its method."
        )
    if gate is None:
        return gated(fn)
    if gate.tool.receives and inspect.ismethod(fn):
        receiver = next(iter(inspect.signature(gate.tool.fn).parameters))
        return _bound(gate, gate.tool.fn.__get__(fn.__self__), (receiver,))
    return gate


def _looking(gate: Gated, bound: float | None) -> Gated:
    """Let calls be compared with past cases, unless the tool says itself from which score on."""
    if bound is None or gate.rules.unseen is not None or gate.rules.asks:
        return gate
    return replace(gate, rules=replace(gate.rules, unseen=bound))


def _bound(gate: Gated, fn: Callable[..., Any], gone: Sequence[str]) -> Gated:
    """Return the same tool without the parameters that have their value already."""
    tool = gate.tool
    signature = inspect.signature(tool.fn)
    left = [p for name, p in signature.parameters.items() if name not in gone]

    def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the tool itself
        result = fn(*args, **kwargs)
        return in_a_loop(result) if inspect.iscoroutine(result) else result

    run.__name__, run.__qualname__, run.__doc__ = tool.name, tool.name, tool.fn.__doc__
    run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
    shown = {n: s for n, s in tool.schema["properties"].items() if n not in gone}
    required = [n for n in tool.schema.get("required", ()) if n not in gone]
    schema = {**tool.schema, "properties": shown, "required": required}
    changed = replace(
        tool,
        fn=run,
        schema=schema,
        shape=canonical(schema),
        types={n: t for n, t in tool.types.items() if n not in gone},
        secret=tuple(n for n in tool.secret if n not in gone),
        receives=tool.receives and not set(gone) & set(_RECEIVERS),
    )
    return replace(gate, tool=changed)


def _name(gate: Gated, agent: str) -> str:
    """Return the name under which a model calls a tool: providers take no other characters."""
    if gate.tool.name == "lambda":  # a word of Python, so no function has this name
        raise BadValue(f"A tool of {agent} is a lambda. Models call tools by name: use def.")
    return _FOREIGN.sub("_", gate.tool.name)[:64]


def _spec(gate: Gated, name: str, agent: str) -> ToolSpec:
    """Return what a model is told; it never hears of arguments that people must not see."""
    tool = gate.tool
    schema = dict(tool.schema)
    for hidden in tool.secret:
        parameter = inspect.signature(tool.fn).parameters[hidden]
        if parameter.default is parameter.empty:
            raise BadValue(
                f"{tool.name} of {agent} takes {hidden!r}, which is secret, so no model can give it. "
                f"Bind it: functools.partial({tool.name}, {hidden}=...)."
            )
    schema["properties"] = {
        name: shape for name, shape in schema["properties"].items() if shape != {"const": HIDDEN}
    }
    schema["required"] = [n for n in schema.get("required", ()) if n in schema["properties"]]
    return ToolSpec(name, inspect.getdoc(tool.fn) or tool.name, schema)


def _leaf(gate: Gated) -> Gated:
    """Let an `async def` tool run in a loop of its own: an agent's turns are plain."""
    fn = gate.tool.fn
    if gate.rules.asks or not inspect.iscoroutinefunction(fn):
        return gate

    def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the tool itself
        return in_a_loop(fn(*args, **kwargs))

    run.__name__, run.__qualname__ = fn.__name__, fn.__qualname__
    run.__signature__ = inspect.signature(fn)  # type: ignore[attr-defined]
    return replace(gate, tool=replace(gate.tool, fn=run))
