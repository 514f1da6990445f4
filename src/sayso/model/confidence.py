"""How sure an agent is, in three words, with the number and what it rests on.

A number that a model states means little by itself. So it is called what it is, the record of what
people made of such numbers stands beside it, and what nobody stated counts as low. It can add review
and never removes any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sayso.errors import BadValue
from sayso.model.text import one_line
from sayso.model.worth import Worth, percent, worth_of

Level = Literal["high", "medium", "low"]
HIGH = 0.95
MEDIUM = 0.70
_WORDS: dict[Level, str] = {
    "high": "High confidence",
    "medium": "Medium confidence: please review",
    "low": "Low confidence: needs your input",
}


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure the agent is, as people are told.

    The level is that of what was stated or of what that is worth, whichever is less.
    """

    level: Level
    stated: float | None
    worth: Worth | None = None

    @classmethod
    def of(cls, stated: float | None, worth: str | None = None) -> Confidence:
        """Return the level of a number from 0 to 1, or of none; `worth` as it is on the ask."""
        if stated is None:
            return cls("low", None)
        heard = heard_as(stated, worth)
        level: Level = "high" if heard >= HIGH else "medium" if heard >= MEDIUM else "low"
        return cls(level, stated, worth_of(worth))

    @property
    def words(self) -> str:
        """The level as a phrase that says what to do."""
        return _WORDS[self.level]

    @property
    def rests_on(self) -> str:
        """Where the number comes from."""
        return "not stated" if self.stated is None else "stated by the agent"

    @property
    def percent(self) -> str | None:
        """The number in percent."""
        return None if self.stated is None else percent(self.stated)


def heard_as(stated: float, worth: str | None) -> float:
    """Return how sure an agent counts as: as it says, or as its record says if that is less."""
    known = worth_of(worth)
    return stated if known is None or known.value is None else min(stated, known.value)


def check_confidence(value: object) -> float | None:
    """Return a stated confidence, `None` if there is none.

    Raises:
        BadValue: it is no number from 0 to 1.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadValue(
            f"confidence={_given(value)}: state it as a number from 0 to 1, or leave it out."
        )
    return float(value)


def check_threshold(value: object, what: str) -> float:
    """Return the confidence from which on something counts as sure.

    Raises:
        BadValue: it is no number above 0 and up to 1.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise BadValue(f"{what}={_given(value)}: give a number above 0, and at most 1.")
    return float(value)


def _given(value: object) -> str:
    try:
        return one_line(repr(value), 60)
    except ValueError:  # an integer with more digits than Python writes
        return "(a huge number)"
