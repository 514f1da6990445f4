"""The form of a call to try: what was typed, read into facts, with what is wrong on its field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from sayso.model.text import one_line
from sayso.model.unreadable import undecodable
from sayso.model.verdicts import KINDS
from sayso.policy.facts import Facts

# Every field of the form, with the most characters it takes.
FIELDS: Mapping[str, int] = {
    "tool": 200,
    "args": 100_000,
    "risk": 64,
    "agent": 200,
    "confidence": 20,
    "reversible": 20,
    "affects": 1000,
    "kind": 20,
    "team": 64,
    "tags": 1000,
    "conflict": 1,
    "unseen": 1,
    "gated": 1,
    "at": 40,
    "form": 4,  # `json`: the arguments as JSON, though there are fields for them
    "draw": 1,  # only the form, no ruling
}
_SELDOM = ("affects", "kind", "team", "tags", "conflict", "unseen", "gated", "at")
_ADDRESS = 4000  # characters that every browser and proxy takes
NO_RISK = "none"  # is chosen to try a call that declares none
_YES_NO = {"": None, "yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Typed:
    """What stands in the form, as it was typed."""

    values: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Typed:
        """Return what an address says of the fields."""
        return cls({name: given[name].replace("\0", "\ufffd") for name in FIELDS if name in given})

    def __getitem__(self, name: str) -> str:
        """Return what stands in a field."""
        return self.values.get(name, "")

    def put(self, **values: str) -> Typed:
        """Return it with something else in some fields."""
        return Typed({**self.values, **values})

    @property
    def address(self) -> str | None:
        """The address that says all of it; `None` if that would be too long for one."""
        said = urlencode({name: value for name, value in self.values.items() if value})
        return f"/policies?{said}" if said and len(said) <= _ADDRESS else None

    @property
    def given(self) -> bool:
        """Whether somebody has sent the form."""
        return "tool" in self.values

    @property
    def tried(self) -> bool:
        """Whether the call is to be ruled on."""
        return self.given and not self["draw"]

    @property
    def seldom(self) -> bool:
        """Whether something stands in the part of the form that is folded."""
        usual = {"kind": "action"}
        return any(self[name] not in ("", usual.get(name, "")) for name in _SELDOM)


def facts_of(typed: Typed) -> tuple[Facts | None, datetime | None, dict[str, str]]:
    """Return the call that was typed and its time; without a call, what is wrong by field."""
    errors = {
        name: f"At most {most:,} characters."
        for name, most in FIELDS.items()
        if len(typed[name]) > most
    }
    said: dict[str, Any] = {}
    for name, reads in _READERS.items():
        if name in errors:
            continue
        try:
            said[name] = reads(typed[name].strip())
        except ValueError as error:
            errors[name] = str(error)
    if errors:
        return None, None, errors
    at = said.pop("at")
    return Facts(**said, always=bool(typed["gated"]), unreadable=_unreadable(said)), at, {}


def _unreadable(said: Mapping[str, Any]) -> bool:
    return bool(undecodable(said["args"]))


def _tool(text: str) -> str:
    if not text:
        raise ValueError("Name the tool that is called.")
    return text


def args_of(text: str) -> dict[str, Any]:
    """Read arguments that were typed as JSON.

    Raises:
        ValueError: it is none, or no object; the message says what to write.
    """
    try:
        given = json.loads(text.strip() or "{}")
    except (ValueError, RecursionError) as error:
        raise ValueError(f'This is no JSON: {error}. Write it like {{"amount": 40}}.') from None
    match given:
        case dict():
            return given
        case _:
            raise ValueError('Arguments are an object of names and values: {"amount": 40}.')


def _confidence(text: str) -> float | None:
    if not text:
        return None
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise ValueError("Give a number from 0 to 1, or per cent: 0.8 or 80%.")
    return found


def _reversible(text: str) -> bool | None:
    if text not in _YES_NO:
        raise ValueError("Choose one of the list.")
    return _YES_NO[text]


def _kind(text: str) -> str:
    if text not in ("", *KINDS):
        raise ValueError(f"There are: {', '.join(KINDS)}.")
    return text or "action"


def _at(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except ValueError:
        words = f"{one_line(text, 40)!r} is no time; write it like 2026-01-01T03:00."
        raise ValueError(words) from None


_READERS: Mapping[str, Any] = {
    "tool": _tool,
    "args": args_of,
    "risk": lambda text: None if text in ("", NO_RISK) else text,
    "agent": str,
    "confidence": _confidence,
    "reversible": _reversible,
    "affects": lambda text: text or None,
    "kind": _kind,
    "tags": lambda text: tuple(one for part in text.split(",") if (one := part.strip())),
    "conflict": bool,
    "unseen": bool,
    "at": _at,
}
