"""What an ask means for the trust in whoever asked: which key it counts for, and on what terms.

It stands in the first event of an ask, beside what is shown, and looks the same whether the key is
still reviewed or this very call was picked for an audit: an agent that reads its own asks learns
nothing of the coin.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

ASKER = "sayso"  # who asks about keys: no agent speaks for itself, and none is called so
Settles = Literal["grant", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stake:
    """The key that a decision counts for.

    Attributes:
        key: Its id, such as `k-7f3k9m2p0q`.
        version: Of the agent.
        bucket: Of the arguments, as the tool sorts them.
        tier: By the policy, when it was asked.
        detection: The share of bad calls that reviewers are taken to notice.
        settles: Of an ask about the key itself: whether it runs alone, or whether a flag holds.
    """

    key: str
    version: str = ""
    bucket: str = ""
    tier: str = ""
    detection: float | None = None
    settles: Settles | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the form kept in the journal; what is not stated is left out."""
        said = ((name, getattr(self, name)) for name in _NAMES)
        return {name: value for name, value in said if value is not None and value != ""}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Stake:
        """Read the form kept in the journal."""
        return cls(**said)


_NAMES = tuple(field.name for field in fields(Stake))
