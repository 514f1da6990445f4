"""Names in a policy that nobody ever used: tools and arguments, with what was perhaps meant (E49)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase

from sayso.model.text import one_line
from sayso.policy.checking import Problem
from sayso.policy.conditions import Condition
from sayso.policy.rules import Policy, Rule

Called = Mapping[str, frozenset[str]]  # tools by name, with the arguments they were called with

_TEXT = r"""[rR]?(?:'''.*?'''|\"{3}.*?\"{3}|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_TEXTS = re.compile(rf"//[^\n]*|{_TEXT}", re.DOTALL)
_DOTTED = re.compile(r"(?<![\w.])args\s*\.\s*(\w+)(?!\w*\s*\()")
_INDEXED = re.compile(rf"(?<![\w.])args\s*\[\s*({_TEXT})\s*\]", re.DOTALL)
_COMPARED = re.compile(rf"(?<![\w.])tool\s*[!=]=\s*({_TEXT})", re.DOTALL)
_AMONG = re.compile(r"(?<![\w.])tool\s+in\s*\[([^\]]*)\]", re.DOTALL)


def unknown(policy: Policy, called: Called, *, strict: bool = False) -> list[Problem]:
    """Return the tools and arguments that a policy names and that were never called.

    It may be too early for a name, so it is fatal for the `strict` only. A tool that is denied
    is never called: only if its name is like that of another one it is taken for a mistake.
    """
    return [problem for rule in policy.rules for problem in _of_rule(rule, called, strict)]


def _of_rule(rule: Rule, called: Called, strict: bool) -> Iterator[Problem]:  # noqa: FBT001
    condition = rule.when if isinstance(rule.when, Condition) else None
    named = dict.fromkeys((*rule.tools, *(_tools_in(condition.text) if condition else ())))
    about = rule.name if rule.name.startswith("tools.") else f"rule {rule.name!r}"
    for name in named:
        if not any(_fits(name, tool) for tool in called):
            meant = _meant(name, called)
            reason = f"No tool {_quoted(name)} was ever called here.{meant}"
            fatal = strict and (rule.effect != "deny" or bool(meant))
            yield Problem(about, reason, fatal=fatal, line=rule.line)
    tools = [tool for tool in called if not named or any(_fits(name, tool) for name in named)]
    if condition is None or not tools:
        return
    known = frozenset().union(*(called[tool] for tool in tools))
    for name in _args_in(condition.text):
        if name not in known:
            of = "any tool" if not named else _listed(tools)
            reason = f"No call of {of} had an argument {_quoted(name)}.{_meant(name, known)}"
            yield Problem(about, reason, fatal=strict, line=rule.line)


def _fits(name: str, tool: str) -> bool:
    return fnmatchcase(tool.casefold(), name.casefold().replace("[", "[[]"))


def _tools_in(text: str) -> Iterator[str]:
    bare = _without_texts(text)
    for found in _COMPARED.finditer(text):
        if bare.startswith("tool", found.start()):
            yield _unquoted(found[1])
    for found in _AMONG.finditer(text):
        if bare.startswith("tool", found.start()):
            yield from (_unquoted(one[0]) for one in _TEXTS.finditer(found[1]))


def _args_in(text: str) -> list[str]:
    """Return the arguments a condition looks at, by the name that each has in a call."""
    bare = _without_texts(text)
    dotted = (found[1] for found in _DOTTED.finditer(bare))
    indexed = (
        _unquoted(found[1])
        for found in _INDEXED.finditer(text)
        if bare.startswith("args", found.start())
    )
    return list(dict.fromkeys((*dotted, *indexed)))


def _without_texts(text: str) -> str:
    """Return a condition with blanks for what stands in quotes or in a comment."""
    return _TEXTS.sub(lambda found: " " * len(found[0]), text)


def _unquoted(text: str) -> str:
    plain = text.lstrip("rR")
    mark = 3 if plain.startswith(("'''", '"""')) else 1
    return plain[mark:-mark]


def _meant(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f" Did you mean {_quoted(near[0])}?" if near else ""


def _quoted(name: str) -> str:
    return repr(one_line(name, 60))


def _listed(tools: list[str]) -> str:
    shown = ", ".join(one_line(tool, 40) for tool in sorted(tools)[:3])
    return shown if len(tools) <= 3 else f"{shown} and {len(tools) - 3} more"
