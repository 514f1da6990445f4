"""A Python function as a tool: how its call is frozen, shown, and run from the frozen form."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sayso.errors import BadValue
from sayso.model.content import LIMIT, RISKS, Proposal, Risk, pairs
from sayso.model.conversion import decode, encode
from sayso.model.digest import canonical
from sayso.model.names import check_name
from sayso.model.schema import schema_of
from sayso.model.signature import parameter_types, return_type, signature_schema
from sayso.model.text import one_line

HIDDEN = "(hidden)"
_RECEIVERS = ("self", "cls")
MOST_BUCKET = 60  # characters that name a kind of call


@dataclass(frozen=True, slots=True)
class Bound:
    """One call of a tool: what is shown and stored, and what never leaves this process."""

    args: dict[str, Any]
    live: dict[str, Any] = field(repr=False)
    receiver: tuple[Any, ...] = field(repr=False)

    def conceal(self, value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
        """Return JSON, or a text, without the secrets that found their way into it."""
        match value:
            case str():
                for secret in sorted(set(_leaves(self.live, 0)), key=len, reverse=True):
                    value = value.replace(secret, HIDDEN)
                return value
            case list():
                return [self.conceal(item) for item in value]
            case dict():
                return {self.conceal(name): self.conceal(item) for name, item in value.items()}
            case _:
                hidden = any(
                    type(value) is type(secret) and value == secret for secret in self.live.values()
                )
                return HIDDEN if hidden and not isinstance(value, bool | None) else value


def _leaves(value: object, depth: int) -> Iterator[str]:
    """Yield every text in a secret, however deep. Short ones would be found in innocent words."""
    if depth > 6:
        return
    match value:
        case str():
            found = [value, repr(value)[1:-1]]
            yield from (text for text in found if len(text) > 3)
        case bytes():
            yield from _leaves(value.decode("utf-8", "replace"), depth)
        case dict():
            for item in value.values():
                yield from _leaves(item, depth + 1)
        case list() | tuple() | set() | frozenset():
            for item in value:
                yield from _leaves(item, depth + 1)
        case None | bool():
            return
        case int() | float():
            yield from _leaves(str(value), depth)
        case _:
            yield from _leaves(str(value), depth)
            yield from _leaves(getattr(value, "__dict__", {}), depth + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What a function declares about itself, for people and for the policy."""

    fn: Callable[..., Any]
    name: str
    title: str | None = None  # how it is called where its name is not plain, or spelt otherwise
    schema: dict[str, Any]
    types: Mapping[str, Any]
    returns: object
    receives: bool
    shape: str
    returned: str | None
    secret: tuple[str, ...] = ()
    risk: Risk | Callable[..., Risk] | None = None
    reversible: bool | None = None
    affects: str | None = None
    impact: str | Callable[..., Any] | None = None
    preview: Callable[..., Any] | None = None
    bucket: Callable[..., Any] | None = None
    matters: tuple[str, ...] | None = None
    source: str = ""  # the file of the function and its name in there

    @classmethod
    def of(cls, fn: Callable[..., Any], *, name: str | None = None, **declared: Any) -> Tool:  # noqa: ANN401
        """Read a function's signature.

        Raises:
            BadValue: a parameter cannot be shown to people, or a declaration is wrong.
        """
        if not callable(fn):
            raise BadValue(f"A gate goes on a function, not on {type(fn).__name__}.")
        if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
            raise BadValue(
                f"{fn.__name__} is a generator: it would be called done before a line of it ran. "
                "Gate a function that does the work and returns."
            )
        first = next(iter(inspect.signature(fn).parameters), "")
        receiver = (first,) if first in _RECEIVERS else ()
        secret = declared.pop("secret", ()) or ()
        secret = (secret,) if isinstance(secret, str) else tuple(secret)
        schema = signature_schema(fn, skip=(*receiver, *secret))
        known = parameter_types(fn)
        for hidden in secret:
            if hidden not in known:
                raise BadValue(f"secret={hidden!r}: {fn.__name__} has no such parameter.")
            schema["properties"][hidden] = {"const": HIDDEN}
        risk = declared.get("risk")
        if risk is not None and not callable(risk) and risk not in RISKS:
            raise BadValue(f"risk={risk!r}: it is one of {', '.join(RISKS)}, or a function.")
        returns = return_type(fn)
        _check_sorting(fn, declared, known)
        called = name or getattr(fn, "__name__", type(fn).__name__).strip("<>")  # `<lambda>`
        plain = check_name("tool", called)
        return cls(
            fn=fn,
            name=plain,
            title=None if called == plain else called,
            schema=schema,
            shape=canonical(schema),
            returned=_returned(returns),
            types={name: type_ for name, type_ in known.items() if name not in receiver},
            returns=returns,
            receives=bool(receiver),
            secret=secret,
            source=source_of(fn),
            **declared,
        )

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound:
        """Freeze a call: every argument by name, defaults included, as JSON.

        Raises:
            TypeError: as the function itself would.
            BadValue: an argument cannot be shown and stored.
        """
        signature = _signature(self.fn)
        names = _plain_names(self.fn)
        if names is not None and len(args) == len(names) and not kwargs:
            named: dict[str, Any] = dict(zip(names, args, strict=True))
        else:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            named = _flat(signature, bound.arguments)
        receiver = (args[0],) if self.receives else ()
        if self.receives:
            named.pop(next(iter(signature.parameters)))
        live = {name: named[name] for name in self.secret if name in named}
        frozen = {
            name: HIDDEN if name in live else self._frozen(name, value)
            for name, value in named.items()
        }
        return Bound(frozen, live, receiver)

    def _frozen(self, name: str, value: object) -> Any:  # noqa: ANN401 - JSON
        try:
            return encode(self.types.get(name, Any), value)
        except BadValue as error:
            where = f"{name}.{error.path}" if error.path else name
            raise BadValue(
                f"The argument {where} of {self.name} cannot be shown to a person: {error} "
                f"If it must not be shown, gate with secret=[{name!r}].",
                path=where,
            ) from error

    def thaw(self, args: Mapping[str, Any], bound: Bound) -> dict[str, Any]:
        """Return the arguments to run with: the frozen ones, and the hidden ones as they were."""
        return {
            name: bound.live[name]
            if name in bound.live
            else decode(self.types.get(name, Any), value)
            for name, value in args.items()
        }

    def shown(self, bound: Bound) -> dict[str, Any]:
        """Return the facts of a call that the function's declarations compute.

        A declaration that fails is said to have failed; one for risk fails closed.
        """
        computes = callable(self.impact) or callable(self.preview)
        plain = self.thaw(bound.args, bound) if computes else {}
        facts: dict[str, Any] = {
            "reversible": self.reversible,
            "affects": self.affects,
            "hidden": self.secret,
        }
        impact = _computed(self.impact, plain, "impact")
        if impact is not None:
            facts["impact"] = bound.conceal(str(impact))
        preview = _computed(self.preview, plain, "preview")
        if preview is not None:
            kept = preview if isinstance(preview, Mapping) else {"": preview}
            seen = {str(k): bound.conceal(_plain(v)) for k, v in kept.items()}
            facts["preview"] = pairs(seen, "preview")
        return facts

    def receiver_facts(self, bound: Bound) -> dict[str, str] | None:
        """Return which object a method is called on, so that people can tell one from another."""
        if not bound.receiver:
            return None
        target = bound.receiver[0]
        if isinstance(target, type):
            return {"on": target.__qualname__}
        plain = getattr(type(target), "__repr__", None) is getattr(object, "__repr__", None)
        shown = type(target).__qualname__ if plain else bound.conceal(repr(target))
        return {"on": one_line(shown, 200)}

    def risk_of(self, bound: Bound) -> Risk | None:
        """Return the declared risk of this call. A function that fails counts as critical."""
        if not callable(self.risk):
            return self.risk
        try:
            said = self.risk(**self.thaw(bound.args, bound))
        except Exception:  # noqa: BLE001 - whatever it is, not knowing the risk is the worst risk
            return "critical"
        return said if said in RISKS else "critical"

    def bucket_of(self, bound: Bound) -> str | None:
        """Return the kind of call this is, as the tool sorts them; `None` if that could not be told."""
        if self.bucket is None:
            return ""
        try:
            said = self.bucket(**self.thaw(bound.args, bound))
        except Exception:  # noqa: BLE001 - whatever it is, the call is of no kind that is known
            return None
        if not isinstance(said, str) or not said.isprintable() or len(said) > MOST_BUCKET:
            return None
        return said

    def proposal(self, bound: Bound) -> Proposal:
        """Return one call as it is proposed. Its arguments fit: they were made by the very types.

        Raises:
            BadValue: all of them together are too large.
        """
        arguments = canonical(bound.args, limit=LIMIT, what="arguments")
        return Proposal(self.name, arguments, self.shape)


def _check_sorting(
    fn: Callable[..., Any], declared: dict[str, Any], known: Mapping[str, Any]
) -> None:
    """Take what a tool says of its calls for the sake of trust, and refuse what makes no sense."""
    bucket, matters = declared.get("bucket"), declared.get("matters")
    if bucket is not None and not callable(bucket):
        raise BadValue(
            f"bucket= is a function of the arguments that names the kind of call, not {bucket!r}."
        )
    if matters is None:
        return
    names = (matters,) if isinstance(matters, str) else tuple(matters)
    for name in names:
        if name not in known:
            raise BadValue(f"matters={name!r}: {fn.__name__} has no such parameter.")
    declared["matters"] = names


def source_of(fn: Callable[..., Any]) -> str:
    """Return where a function is written: its file, or its module, and its name in there."""
    module = getattr(fn, "__module__", None) or type(fn).__module__
    file = getattr(sys.modules.get(module), "__file__", None)
    return f"{file or module}:{getattr(fn, '__qualname__', type(fn).__qualname__)}"


@lru_cache(maxsize=512)
def _signature(fn: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(fn)


@lru_cache(maxsize=512)
def _plain_names(fn: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the names of all parameters, if each of them takes one positional argument."""
    parameters = _signature(fn).parameters.values()
    plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    return tuple(p.name for p in parameters) if plain else None


def _returned(returns: object) -> str | None:
    """Return the JSON Schema of the result as text, if the declared type has one."""
    if returns is Any:
        return None
    try:
        return canonical(schema_of(returns))
    except BadValue:
        return None


def _computed(declared: object, args: Mapping[str, Any], what: str) -> Any:  # noqa: ANN401
    if not callable(declared):
        return declared
    try:
        return declared(**args)
    except Exception as error:  # noqa: BLE001 - a broken preview must not hide the call itself
        return f"(the {what} could not be computed: {one_line(repr(error), 200)})"


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    try:
        canonical(value)
    except BadValue:
        return str(value)
    return value


def _flat(signature: inspect.Signature, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Put the contents of `**kwargs` beside the named arguments."""
    named: dict[str, Any] = {}
    for name, value in arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        else:
            named[name] = value
    return named
