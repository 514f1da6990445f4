"""What the policy said when an ask was put: frozen on it as text, read at every look.

Asks of one kind are put under one ruling, so most texts were read before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sayso.model.digest import read

OnTimeout = Literal["reject", "approve"]

CRITICAL = "critical"
# A no is never worth less than a yes nobody gave (E22).
NEVER_BY_TIMEOUT = ("high", CRITICAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """The ruling that an ask is put under, without what its card says elsewhere.

    `asked` and `deny` are whom the asker wanted and how many refusals were to end it, before the
    policy added its own. `requested` is noted where nobody may have to agree: somebody asked for it
    in so many words, and what the call says of itself lowers nothing. `critical` is whether that
    was among the tiers, of which `tier` is the highest.
    """

    rules: tuple[str, ...] = ()
    tier: str | None = None
    version: str | None = None
    on_timeout: OnTimeout = "reject"
    cool_off: float = 0.0
    execute_within: float | None = None
    remind: tuple[float, ...] = ()
    ladder: tuple[tuple[float, tuple[str, ...]], ...] = ()
    requester: bool = False
    asked: tuple[str, ...] | None = None
    deny: int = 1
    requested: bool = False
    critical: bool = False

    def __post_init__(self) -> None:
        """Take the tier for what it says."""
        if self.tier == CRITICAL:
            object.__setattr__(self, "critical", True)


NOTHING = Ruled()


@lru_cache(maxsize=1024)
def ruled(text: str) -> Ruled:
    """Read a ruling from the text it was frozen as."""
    said = read(text)
    lists = {name: tuple(said[name]) for name in ("rules", "remind", "asked") if name in said}
    ladder = tuple((after, tuple(roles)) for after, roles in said.get("ladder", ()))
    return Ruled(**{**said, **lists, "ladder": ladder})
