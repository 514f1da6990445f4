"""What of an agent people see: which tools ask, which risk they have, what is reviewed."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sayso.adapters.base import foreign
from sayso.adapters.smolagents.values import NoForm, formed, read, written
from sayso.errors import BadValue

REVIEWS = ("plan", "code", "answer")
CODE = "python_interpreter"  # what smolagents calls the tool that a block of code goes to
_TYPES = {"string", "boolean", "integer", "number", "array", "object", "null"}
_KEPT = ("description", "enum", "format", "minimum", "maximum", "minLength", "maxLength", "pattern")


@dataclass(frozen=True, slots=True)
class Terms:
    """What was said of one agent, and of those who work for it."""

    confirm: frozenset[str] | Literal[True] = frozenset()
    risk: Mapping[str, Any] = field(default_factory=dict)
    review: frozenset[str] = frozenset()
    gates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        confirm: Sequence[str] | Literal[True],
        risk: Mapping[str, Any] | None,
        review: Sequence[str],
        gates: Mapping[str, Mapping[str, Any]] | None,
    ) -> Terms:
        """Check what was said.

        Raises:
            BadValue: a list is a text, or something is to be reviewed that cannot be.
        """
        for name, given in (("confirm", confirm), ("review", review)):
            if isinstance(given, str):
                raise BadValue(f"{name}={given!r}: give a list of names: [{given!r}].")
        unknown = [what for what in review if what not in REVIEWS]
        if unknown:
            raise BadValue(f"review={unknown[0]!r}: it is some of {', '.join(REVIEWS)}.")
        asking: frozenset[str] | Literal[True] = True if confirm is True else frozenset(confirm)
        return cls(asking, dict(risk or {}), frozenset(review), dict(gates or {}))

    def check(self, tools: Sequence[str], helpers: Sequence[str], agent: str) -> None:
        """Refuse what was said of tools that nobody has: a typo must not open a gate.

        Raises:
            BadValue: names one.
        """
        confirmed = () if self.confirm is True else self.confirm
        asked = [*tools, *helpers]
        for option, said, names in (
            ("confirm", confirmed, asked),
            ("risk", self.risk, [*asked, CODE]),
            ("gates", self.gates, tools),
        ):
            for name in sorted(said):
                if name in names:
                    continue
                near = difflib.get_close_matches(name, names, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"It has: {', '.join(names)}."
                raise BadValue(f"{option}={name!r}: {agent} has no such tool. {hint}")

    def asks(self, name: str) -> bool:
        """Whether a tool asks whatever the policy allows."""
        return self.confirm is True or name in self.confirm

    def hidden(self, name: str) -> Sequence[str]:
        """Return the arguments of a tool that are neither shown nor stored."""
        secret = self.gates.get(name, {}).get("secret", ())
        return (secret,) if isinstance(secret, str) else secret

    def frozen(self, tool: Any, args: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a Tool
        """Return the arguments of a call as they are stored and shown; secrets are neither.

        Raises:
            BadValue: one has no form, in words for the model that gave it.
        """
        frozen, hidden = dict(args), self.hidden(tool.name)
        for name in args:
            if name in hidden:
                continue
            try:
                frozen[name] = written(args[name])
            except NoForm as error:
                raise BadValue(
                    f"{tool.name} was not called: its argument {name} is or holds {error}, which "
                    "cannot be recorded. Give it text, numbers, lists, dictionaries, tuples, sets, "
                    "dates, bytes, arrays or images."
                ) from error
        return frozen

    def gate(
        self,
        tool: Any,  # noqa: ANN401 - a Tool
        carry_out: Callable[..., Any],
        args: Mapping[str, Any],
        why: str | None,
    ) -> Any:  # noqa: ANN401 - a gate
        """Return a tool of smolagents as one of ours, for a call with these arguments.

        Its functions are given values as the tool is, and not their stored forms.
        """
        given = {"why": why, **self.gates.get(tool.name, {})}
        if tool.name in self.risk:
            given["risk"] = self.risk[tool.name]
        for option in ("risk", "impact", "preview", "verify"):
            if callable(given.get(option)):
                given[option] = _reading(given[option])
        schema = schema_of(tool.inputs)
        shapes = schema["properties"]
        for name in shapes:
            if formed(args.get(name)):
                shapes[name] = _or_as_it_is(shapes[name], args[name])
        return foreign(tool.name, carry_out, schema, **given)


def _reading(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def reads(**args: Any) -> Any:  # noqa: ANN401
        return fn(**{name: read(value) for name, value in args.items()})

    return reads


def _or_as_it_is(shape: Mapping[str, Any], form: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a shape that lets an edit of other arguments leave this one in its stored form."""
    return {"anyOf": [shape, {"type": "array" if isinstance(form, list) else "object"}]}


def schema_of(inputs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the inputs of a tool as a JSON Schema of its arguments."""
    return {
        "properties": {name: _shape(said) for name, said in inputs.items()},
        "required": [name for name, said in inputs.items() if not said.get("nullable")],
        "additionalProperties": False,
    }


def _shape(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return one input; types that JSON does not have are open to anything."""
    shape = {name: said[name] for name in _KEPT if name in said}
    given = said.get("type", "any")
    types = [given] if isinstance(given, str) else list(given)
    if all(type_ in _TYPES for type_ in types):
        types += ["null"] if said.get("nullable") and "null" not in types else []
        shape["type"] = types[0] if len(types) == 1 else types
    if isinstance(said.get("items"), Mapping):
        shape["items"] = _shape(said["items"])
    if isinstance(said.get("properties"), Mapping):
        shape["properties"] = {name: _shape(part) for name, part in said["properties"].items()}
    return shape


def named(tool: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a Tool
    """Return the arguments of a call by name, defaults included: people see all it is called with.

    Raises:
        TypeError: as the tool itself would.
    """
    if len(args) == 1 and not kwargs and isinstance(args[0], dict):
        given = args[0]
        if given and all(name in tool.inputs for name in given):  # as `Tool.__call__` reads it
            args, kwargs = (), given
    signature = inspect.signature(tool.forward)
    taken = [p for p in signature.parameters.values() if p.name != "self"]  # which `@tool` adds
    signature = signature.replace(parameters=taken)
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in taken):
        return {**dict(zip(tool.inputs, args, strict=False)), **kwargs}
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
