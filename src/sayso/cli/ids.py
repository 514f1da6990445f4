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


def ask_id(typed: str) -> str:
    """Return the id as it is stored: `7F3K` and `a-7f3k` are the same, and so are `o` and `0`."""
    symbols = typed.strip().lower().removeprefix("a-").translate(_MISREAD)
    return f"a-{symbols}"
