"""What the policy said when an ask was put: frozen on it as text, read at every look.

Asks of one kind are put under one ruling, so most texts were read before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from sayso.model.digest import read

OnTimeout = Literal["reject", "approve"]

CRITICAL = "critical"
# A no is never worth less than a yes nobody gave (E22).
NEVER_BY_TIMEOUT = ("high", CRITICAL)

# Where a tier stands among all, the gravest first. Tiers of a policy's own stand between the words.
RANKS: Mapping[str | None, int] = {CRITICAL: 100, "high": 200, "medium": 300, "low": 400}
STEP = 100  # from one word to the next
UNSTATED = RANKS["medium"]  # unknown is not harmless
_OWN = RANKS["high"]  # a tier that a policy made up was made up for a reason


class Level(NamedTuple):
    """How grave an ask is by its policy: the name of the tier in force, and where that stands.

    `word` is the word by which it is coloured: the one at its place, or the next below. `own` says
    whether the tier is one that the policy made up.
    """

    name: str | None
    rank: int
    word: str | None
    own: bool = False


@lru_cache(maxsize=1024)
def level_of(risk: str | None, tier: str | None = None, rank: int | None = None) -> Level:
    """Return the graver of what was declared and what the policy makes of it."""
    stated = RANKS.get(risk, UNSTATED)
    placed = stated if tier is None else rank_of_tier(tier, rank)
    if tier is None or (risk is not None and stated < placed):
        return Level(risk, stated, risk)
    return Level(tier, placed, word_at(placed), tier not in RANKS)


def rank_of_tier(tier: str, rank: int | None = None) -> int:
    """Return where a tier stands; one of a policy's own where it stood when it was asked for."""
    return RANKS.get(tier, rank or _OWN)


def word_at(rank: int) -> str:
    """Return the word at this place, or the next one below it."""
    return next((str(word) for word, place in RANKS.items() if place >= rank), "low")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """The ruling that an ask is put under, without what its card says elsewhere.

    `asked` and `deny` are whom the asker wanted and how many refusals were to end it, before the
    policy added its own; beside them `needs` is whom the policy wanted by itself. `requested` is noted where nobody may have to agree: somebody asked for it
    in so many words, and what the call says of itself lowers nothing. `critical` is whether that
    was among the tiers, of which `tier` is the highest. `rank` is where a tier of the policy's own
    stood among the others then.
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
    needs: tuple[str, ...] | None = None
    requested: bool = False
    critical: bool = False
    rank: int | None = None

    def __post_init__(self) -> None:
        """Take the tier for what it says."""
        if self.tier == CRITICAL:
            object.__setattr__(self, "critical", True)


NOTHING = Ruled()


@lru_cache(maxsize=1024)
def ruled(text: str) -> Ruled:
    """Read a ruling from the text it was frozen as."""
    said = read(text)
    lists = {
        name: tuple(said[name]) for name in ("rules", "remind", "asked", "needs") if name in said
    }
    ladder = tuple((after, tuple(roles)) for after, roles in said.get("ladder", ()))
    return Ruled(**{**said, **lists, "ladder": ladder})
