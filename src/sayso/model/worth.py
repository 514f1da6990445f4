"""What a stated confidence is worth, as it is frozen on an ask: by what people decided before.

Worked out when the ask opens (`insight.calibrating`) and part of what is shown, so that everybody who
looks at the ask sees the same, and can see later what was known then.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from functools import lru_cache
from typing import Any, Literal

from sayso.model.digest import read, written

Light = Literal["green", "amber", "red"]
FEWEST = 50  # decisions that make a record


@dataclass(frozen=True, slots=True)
class Worth:
    """How often people left what an agent proposed as it was, when it was about as sure.

    Attributes:
        labels: How many times people decided on what it stated a confidence of, with this tool.
        good: Of those in which it was about as sure, how many were approved unchanged and not
            found harmful since.
        near: How many those are.
        value: The recalibrated confidence, `None` while there is no record.
        light: Green from 0.95, amber from 0.70, red below and without a record.
    """

    labels: int = 0
    good: int = 0
    near: int = 0
    value: float | None = None
    light: Light = "red"

    @property
    def text(self) -> str:
        """The same as JSON, for the ask."""
        return written(self.json)

    @property
    def json(self) -> dict[str, Any]:
        """The same as data; without a record it has no value."""
        said = {"labels": self.labels, "good": self.good, "near": self.near, "light": self.light}
        return said if self.value is None else {**said, "value": self.value}

    @property
    def words(self) -> str:
        """What it is worth, and what that rests on, in a sentence."""
        if self.value is None:
            there = f"there is {self.labels}" if self.labels == 1 else f"there are {self.labels}"
            return f"What that is worth is not known yet: it takes {FEWEST} decisions, and {there}."
        worth = f"Worth {percent(self.value)} by its record"
        if not self.near:
            return f"{worth} of {self.labels:,} decisions, none of them when it was about as sure."
        times = f"{self.good:,} of {self.near:,} times"
        return f"{worth}: approved unchanged {times} when it was about as sure."


@lru_cache(maxsize=256)
def worth_of(text: str | None) -> Worth | None:
    """Read what was frozen on an ask; `None` if nothing was."""
    return None if text is None else Worth(**read(text))


def percent(share: float) -> str:
    """Return a share in percent. It is cut, not rounded: 94.97% must not read as 95%."""
    hundredth = (Decimal(repr(share)) * 100).quantize(Decimal("0.1"), ROUND_DOWN)
    return f"{hundredth}%".replace(".0%", "%")
