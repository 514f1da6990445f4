"""What an ask means for the trust in whoever asked: which key it counts for, and on what terms.

It stands in the first event of an ask, beside what is shown, and looks the same whether the key is
still reviewed or this very call was picked for an audit: an agent that reads its own asks learns
nothing of the coin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from sayso.model.content import Content
from sayso.model.digest import read

ASKER = "sayso"  # who asks about keys: no agent speaks for itself, and none is called so
Settles = Literal["grant", "flag"]
MOST_DAYS, MOST_PEOPLE = 30, 10  # that a policy may want behind a grant


class Least(NamedTuple):
    """How many days lie between the first and the last call that count, and how many people."""

    days: int
    people: int


LEAST: Mapping[str, Least] = {"low": Least(1, 1), "medium": Least(2, 2), "high": Least(2, 2)}
"""What a grant takes in each tier, besides its score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stake:
    """The key that a decision counts for.

    Attributes:
        key: Its id, such as `k-7f3k9m2p0q`.
        version: Of the agent.
        bucket: Of the arguments, as the tool sorts them.
        tier: By the policy, when it was asked.
        detection: The share of bad calls that reviewers are taken to notice.
        least: How many days and people must stand behind approved calls, where the policy wants more
            than is usual for the tier.
        settles: Of an ask about the key itself: whether it runs alone, or whether a flag holds.
    """

    key: str
    version: str = ""
    bucket: str = ""
    tier: str = ""
    detection: float | None = None
    least: Least | None = None
    settles: Settles | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the form kept in the journal; what is not stated is left out."""
        said = zip(_NAMES, _values(self), strict=True)
        return {name: value for name, value in said if value is not None and value != ""}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Stake:
        """Read the form kept in the journal."""
        least = said.get("least")
        return cls(**said) if least is None else cls(**said | {"least": Least(*least)})


_NAMES = tuple(field.name for field in fields(Stake))
_values = attrgetter(*_NAMES)


def matters_of(content: Content) -> tuple[str, ...] | None:
    """Return the arguments that its tool says matter; `None` if it names none, and so all do."""
    if content.stakes is None or '"matters"' not in content.stakes:  # nearly always, unread
        return None
    said = read(content.stakes)
    return tuple(said["matters"]) if "matters" in said else None


def touching(content: Content, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the arguments that matter, of those that differ; all do unless some are named."""
    changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    matters = matters_of(content)
    return sorted(name for name in changed if matters is None or name in matters)
