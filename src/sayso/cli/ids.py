"""Ids as people type them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

# The letters that ids leave out, because they are read as these digits.
_MISREAD = str.maketrans("oil", "011")


class _Id(click.ParamType):  # type: ignore[type-arg]
    """An id that whoever forgot it is told where to find."""

    name = "id"

    def __init__(self, prefix: str, found: str) -> None:
        self._prefix, self._found = prefix, found

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        del param, ctx
        return _stored(self._prefix, value)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        del param, ctx
        return f"{self._found} shows the ids."


def id_argument(command: F) -> F:
    """Give a command the id of an ask as its first argument."""
    asked = _Id("a", "`sayso inbox list`")
    return click.argument("ask_id", metavar="ID", type=asked)(command)


def run_argument(command: F) -> F:
    """Give a command the id of a run as its first argument."""
    started = _Id("r", "`sayso runs list`")
    return click.argument("run_id", metavar="ID", type=started)(command)


def token_argument(command: F) -> F:
    """Give a command the id of a token as its first argument."""
    made = _Id("t", "`sayso tokens list`")
    return click.argument("token_id", metavar="ID", type=made)(command)


def key_argument(command: F) -> F:
    """Give a command the id of a key as its first argument."""
    trusted = _Id("k", "`sayso trust`")
    return click.argument("key", metavar="KEY", type=trusted)(command)


def run_id(typed: str) -> str:
    """Return the id of a run as it is stored: `7F3K` and `r-7f3k` are the same, and `o` and `0`."""
    return _stored("r", typed)


def _stored(prefix: str, typed: str) -> str:
    symbols = typed.strip().lower().removeprefix(f"{prefix}-").translate(_MISREAD)
    return f"{prefix}-{symbols}"
