"""Who an event names, and the people who may decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from sayso.errors import BadValue

ActorKind = Literal["person", "agent", "policy", "clock"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


@dataclass(frozen=True, slots=True)
class Actor:
    """Whoever did something: a person, an agent, the policy or the clock."""

    kind: ActorKind
    id: str

    def __str__(self) -> str:
        """Write `person:anna`, the form kept in the journal."""
        return f"{self.kind}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> Actor:
        """Read the form kept in the journal."""
        kind, _, name = text.partition(":")
        if kind not in {"person", "agent", "policy", "clock"}:
            raise BadValue(f"{text!r} names no actor; expected something like 'person:anna'.")
        return cls(kind, name)  # type: ignore[arg-type]


CLOCK = Actor("clock", "clock")


@dataclass(frozen=True, slots=True)
class Origin:
    """Through which door a call came, and under which account of the system.

    A desk opened on a database is as powerful as the database, so a name alone
    proves little; the journal keeps this beside it.
    """

    via: str
    account: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may decide, with the roles they hold."""

    name: str
    roles: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Roster:
    """The people of a desk. With nobody on it the desk is in solo mode."""

    people: Mapping[str, frozenset[str]]

    @property
    def solo(self) -> bool:
        """Whether whoever sits at this machine is the one reviewer and holds every role."""
        return not self.people

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role somebody holds, sorted; people's own names are none."""
        held = (roles - {name} for name, roles in self.people.items())
        return tuple(sorted({role for roles in held for role in roles}))

    def holding(self, names: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return those of `names` who are still on the desk, with their roles."""
        return {name: self.people[name] for name in names if name in self.people}


def plain_name(text: str, what: str) -> str:
    """Return `text` if it can be the name of a person or a role.

    Raises:
        BadValue: it is empty, too long, or holds characters that would not read as a name.
    """
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        raise BadValue(
            f"{text!r} cannot be the name of a {what}: use up to 64 letters, digits and . _ @ + - "
            "beginning with a letter or digit."
        )
    return text
