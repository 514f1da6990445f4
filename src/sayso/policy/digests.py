"""What tells one policy from another: of its text, or of what code declares.

A policy that was made in code is known by what it declares and by the code of its predicates. What
is left at its default counts for nothing, so that a newer sayso finds the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from functools import partial
from typing import Any

from sayso.model.digest import written
from sayso.model.requirement import Requirement
from sayso.policy.conditions import Condition
from sayso.policy.places import normal, places
from sayso.policy.rules import Policy

NAME = "policy"  # of one made in code that has no other
MADE = "code of the policy"
ELSEWHERE = ("desk", "serve")  # sayso.toml also says where the desk is, and how it is served
_LENGTH = 12
_LABELS = ("version", "source", "name", "text")
_CONSTANTS = (int, float, str, bytes, bool, type(None), tuple, frozenset)


def digest(text: str) -> str:
    """Return what tells a text from others."""
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def spoken(text: str) -> str:
    """Return the text of a valid policy without what it says of the desk and of the service.

    An address may hold a password. Every line keeps its number.
    """
    text = normal(text)
    begins = sorted((at, str(path[0])) for path, at in places(text).keys.items())
    kept, before, silent = [], 0, False
    for at, section in begins:
        if (section in ELSEWHERE) is not silent:
            kept.append(_lines(text[before:at], silent=silent))
            before, silent = at, not silent
    return "".join((*kept, _lines(text[before:], silent=silent)))


def _lines(text: str, *, silent: bool) -> str:
    return "\n" * text.count("\n") if silent else text


def in_code(policy: Policy) -> Policy:
    """Return a policy that a program made with its name and its version."""
    name, version = policy.name or NAME, digest_of(policy)
    return replace(policy, name=name, version=version, source=f"{MADE} {name!r}", text=None)


def digest_of(policy: Policy) -> str:
    """Return what tells a policy that was made in code from others."""
    return digest(written(_declared(policy, without=_LABELS)))


def _declared(value: Any, *, without: tuple[str, ...] = ()) -> dict[str, Any]:  # noqa: ANN401
    said = {each.name: (each, getattr(value, each.name)) for each in fields(value) if each.compare}
    return {
        name: _plain(found)
        for name, (each, found) in said.items()
        if name not in without and found != _default(each)
    }


def _default(each: Field[Any]) -> object:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return each.default


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a policy is made of
    match value:
        case Requirement():
            said: Any = [*map(str, value.factors), value.deny]
        case Condition():
            said = value.text
        case Mapping():
            said = {str(name): _plain(found) for name, found in value.items()}
        case list() | tuple():
            said = [_plain(found) for found in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            said = _declared(value)
        case _ if callable(value):
            said = list(_code(value))
        case str() | bool() | int() | None:
            said = value
        case _:
            said = repr(value)
    return said


def _code(fn: Callable[..., Any]) -> Iterator[Any]:
    """Yield what a predicate is made of: its text, and the values that it is bound to."""
    from inspect import getsource
    from textwrap import dedent

    if isinstance(fn, partial):
        yield from _code(fn.func)
        yield [repr(fn.args), repr(sorted(fn.keywords.items()))]
        return
    inner = fn if hasattr(fn, "__code__") else type(fn).__call__
    code = getattr(inner, "__code__", None)
    try:
        yield dedent(getsource(inner)).strip()
    except (OSError, TypeError):  # typed at a prompt, or no function of Python
        yield repr(fn) if code is None else [code.co_code.hex(), repr(code.co_names)]
    yield repr(getattr(inner, "__defaults__", None))
    known = getattr(inner, "__globals__", {})
    names = () if code is None else code.co_names
    bound = {name: known[name] for name in names if name in known}
    for cell in getattr(inner, "__closure__", None) or ():
        found = cell.cell_contents
        yield list(_code(found)) if hasattr(found, "__code__") else _bound(found)
    yield {name: repr(found) for name, found in bound.items() if isinstance(found, _CONSTANTS)}
    yield sorted(vars(fn).items()).__repr__() if inner is not fn and hasattr(fn, "__dict__") else ""


def _bound(value: object) -> str:
    return (
        repr(value) if isinstance(value, (*_CONSTANTS, list, dict, set)) else type(value).__name__
    )
