"""The text of a policy with the declaration of a tool at its end."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from sayso.errors import BadValue


def with_declaration(text: str, declaration: str) -> str:
    """Return a policy that also declares a tool.

    Where `[tools]` gives the tool a tier in one line, that line goes: the declaration says it.

    Raises:
        BadValue: the declaration is not TOML, or says something else than one tool.
    """
    name, said = _one_tool(declaration)
    tier = tier_line(text, name)
    if tier is not None:
        text = _without_line(text, name)
        if "tier" not in said:
            declaration = f"{declaration.rstrip()}\ntier = {_quoted(tier)}\n"
    before = f"{text.rstrip()}\n\n" if text.strip() else ""
    return f"{before}{declaration.strip()}\n"


def tier_line(text: str, name: str) -> str | None:
    """Return the tier that one line of `[tools]` gives a tool; `None` if none does."""
    said = _tools(_read(text)).get(name)
    return said if isinstance(said, str) else None


def _one_tool(declaration: str) -> tuple[str, Mapping[str, Any]]:
    try:
        given = tomllib.loads(declaration)
    except tomllib.TOMLDecodeError as error:
        raise BadValue(f"The declaration is not TOML: {error}.", path="declaration") from error
    tools = _tools(given)
    said = next(iter(tools.values()), None)
    if set(given) != {"tools"} or len(tools) != 1 or not isinstance(said, dict):
        raise BadValue(
            "A declaration says one tool and nothing else, as [tools.refund] with its args.",
            path="declaration",
        )
    return next(iter(tools)), said


def _read(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # whoever reads it as a policy says where
        return {}


def _tools(given: Mapping[str, Any]) -> Mapping[str, Any]:
    tools = given.get("tools")
    return tools if isinstance(tools, dict) else {}


def _without_line(text: str, name: str) -> str:
    """Return a policy without the one line that gives a tool its tier; as it was if there is none."""
    whole = _read(text)
    wanted = {**whole, "tools": {k: v for k, v in _tools(whole).items() if k != name}}
    lines = text.splitlines(keepends=True)
    for number in range(len(lines)):
        rest = "".join(lines[:number] + lines[number + 1 :])
        if name in lines[number] and _read(rest) == wanted:
            return rest
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
