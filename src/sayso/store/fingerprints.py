"""Compare rows with the events that made them, and secrets with their fingerprints.

A fingerprint is a salted hash in the event that made a secret, or changed it. It says nothing to
anybody who does not know the secret, and without it a secret could be swapped unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sayso.model.event import Event, fingerprint
from sayso.model.text import one_line

DIFFERS = "differs from what the journal recorded"
UNKNOWN = "and the journal has no record of it"
OLDER = "the journal has no fingerprint of it. Make it anew"  # one from before there were any


class Row(NamedTuple):
    """A row as it is in its table: what it is called, what it says, and its secrets.

    A secret may be recognised by several parts: an address cannot be guessed without the secret of
    its webhook.
    """

    title: str
    does: str
    said: Mapping[str, object]
    secrets: Mapping[str, tuple[bytes, ...]]


@dataclass(slots=True)
class Told:
    """The same as the journal tells of it: by the words of `Row.said`, and with its fingerprints."""

    said: dict[str, object]
    prints: list[tuple[bytes, Mapping[str, object]]] = field(default_factory=list)

    def knows(self, what: str, parts: tuple[bytes, ...]) -> bool:
        """Whether one of the fingerprints is of this secret."""
        return any(prints[what] == fingerprint(salt, *parts) for salt, prints in self.prints)

    def older(self, what: str) -> bool:
        """Whether it was made before there were fingerprints."""
        return all(prints[what] is None for _, prints in self.prints)


def prints_of(event: Event, said: Mapping[str, Any], names: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return the fingerprints in an event: `names` are its fields for each secret."""
    return [(event.salt or b"", {what: said.get(name) for what, name in names.items()})]


def unlike(row: Row, told: Told | None) -> Iterator[str]:
    """Say in what a row is not as the journal tells of it."""
    if told is None:
        yield f"{row.title} {row.does}, {UNKNOWN}"
        return
    for what, value in row.said.items():
        if told.said[what] != value:
            yield f"{row.title}: its {what} {DIFFERS}"
    for what, parts in row.secrets.items():
        if told.older(what):
            yield f"{row.title}: {OLDER}"
            return
        if not told.knows(what, parts):
            yield f"{row.title}: its {what} {DIFFERS}"
            return  # whatever else is recognised by it differs, too


def shown(text: str) -> str:
    """Return a name from a table in one visible line."""
    return one_line(text, 100)
