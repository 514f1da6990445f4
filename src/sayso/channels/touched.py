"""Whom and what a call touches, read by us from the call itself and not from what is said of it.

Arguments that by their names are people, addresses or accounts are named with
their values; lists are counted. It is a reading of names, so it says no more
than "it names": what a tool affects, only the tool can declare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sayso.channels.values import as_json, as_name, clipped, ordered
from sayso.model.ask import Ask

_SHOWN = 3
_MOST = 8
_DEEPEST = 4
_BRIEF = 40
_SOMEBODY = frozenset(
    {
        *("to", "cc", "bcc", "recipient", "receiver", "addressee", "audience", "subscriber"),
        *("attendee", "participant", "invitee", "guest", "user", "username", "login", "customer"),
        *("client", "patient", "member", "employee", "candidate", "tenant", "person", "people"),
        *("contact", "owner", "assignee", "payee", "payer", "beneficiary", "account", "iban"),
        *("phone", "email", "mail", "address", "team", "group", "channel"),
    }
)
# What a name says of how somebody is written down, not of who it is.
_MANNER = frozenset({"id", "name", "number", "no", "handle", "list"})
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True, slots=True)
class Touched:
    """One argument that names somebody, or that is a list."""

    name: str
    values: tuple[Any, ...]
    listed: bool
    somebody: bool
    hidden: bool = False

    @property
    def count(self) -> int:
        """How many it names."""
        return len(self.values)

    def __str__(self) -> str:
        """Write it as a person would say it, safe to print."""
        name = as_name(self.name)
        if self.hidden:
            return f"somebody hidden ({name})"
        if not self.listed:
            return f"{_brief(self.values[0])} ({name})"
        if not self.somebody:
            return f"{self.count:,} ({name})"
        first = ", ".join(_brief(value) for value in self.values[:_SHOWN])
        return f"{self.count:,} ({name}: {first}{', …' if self.count > _SHOWN else ''})"


def touched(ask: Ask) -> tuple[Touched, ...]:
    """Return whom and what the call of an ask names, as it stands now, edits included."""
    if ask.tool is None:
        return ()
    found = list(_found(dict(ordered(ask)), (), ask.content.hidden))
    return tuple(sorted(found, key=lambda one: not one.somebody))


def in_words(found: tuple[Touched, ...]) -> str:
    """Say in a line what a call names."""
    parts = [str(one) for one in found[:_MOST]]
    if len(found) > _MOST:
        parts.append(f"{len(found) - _MOST:,} more arguments")
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _found(
    args: Mapping[str, Any], path: tuple[str, ...], hidden: tuple[str, ...]
) -> Iterator[Touched]:
    for key, value in args.items():
        name, somebody = ".".join((*path, key)), _names_somebody(key)
        if not path and key in hidden:
            if somebody:
                yield Touched(name, (), listed=False, somebody=True, hidden=True)
        elif isinstance(value, dict):
            if len(path) < _DEEPEST:
                yield from _found(value, (*path, key), hidden)
        elif isinstance(value, list):
            if len(value) > 1 or (value and somebody):
                yield Touched(name, tuple(value), listed=True, somebody=somebody)
        elif somebody and value not in (None, ""):
            several = _addresses(value)
            yield Touched(name, several or (value,), listed=bool(several), somebody=True)


def _names_somebody(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and _singular(words[-1]) in _MANNER:
        words.pop()
    return bool(words) and _singular(words[-1]) in _SOMEBODY


def _singular(word: str) -> str:
    for ending, single in (("ies", "y"), ("sses", "ss"), ("ss", "ss"), ("s", "")):
        if word.endswith(ending):
            return word.removesuffix(ending) + single
    return word


def _addresses(value: object) -> tuple[str, ...]:
    """Return the addresses of a text that holds several."""
    if not isinstance(value, str):
        return ()
    parts = [part.strip() for part in re.split("[,;]", value) if part.strip()]
    return tuple(parts) if len(parts) > 1 and all("@" in part for part in parts) else ()


def _brief(value: object) -> str:
    """Write a value shortly. A text that is cut still ends in its quote."""
    shown = as_json(value)
    if len(shown) <= _BRIEF:
        return shown
    return clipped(shown, _BRIEF - 1) + ('"' if isinstance(value, str) else "")
