"""Ids as people type them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

# The letters that ids leave out, because they are read as these digits.
_MISREAD = str.maketrans("oil", "011")


def id_argument(command: F) -> F:
    """Give a command the id of an ask as its first argument."""

    def stored(_: click.Context, __: click.Parameter, value: str) -> str:
        return ask_id(value)

    return click.argument("ask_id", metavar="ID", callback=stored)(command)


def run_argument(command: F) -> F:
    """Give a command the id of a run as its first argument."""

    def stored(_: click.Context, __: click.Parameter, value: str) -> str:
        return run_id(value)

    return click.argument("run_id", metavar="ID", callback=stored)(command)


def ask_id(typed: str) -> str:
    """Return the id as it is stored: `7F3K` and `a-7f3k` are the same, and so are `o` and `0`."""
    return _stored("a", typed)


def run_id(typed: str) -> str:
    """Return the id of a run as it is stored, in the same way."""
    return _stored("r", typed)


def token_id(typed: str) -> str:
    """Return the id of a token as it is stored, in the same way."""
    return _stored("t", typed)


def _stored(prefix: str, typed: str) -> str:
    symbols = typed.strip().lower().removeprefix(f"{prefix}-").translate(_MISREAD)
    return f"{prefix}-{symbols}"
