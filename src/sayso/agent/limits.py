"""How much an agent may use up, and how much it has. People's time never counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from sayso.agent.messages import Usage
from sayso.errors import BadValue
from sayso.model.money import say_dollars
from sayso.model.span import Span, say_span, span

_AGAIN = "A retry grants it as much again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of one run of an agent."""

    steps: int = 20
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, steps: object, tokens: object, cost: object, time: Span | None) -> Limits:
        """Check and take the bounds.

        Raises:
            BadValue: one of them makes no sense.
        """
        _check("max_steps", steps, int)
        if tokens is not None:
            _check("max_tokens", tokens, int)
        if cost is not None:
            _check("max_cost", cost, (int, float))
        seconds = None if time is None else span(time).total_seconds()
        return cls(steps=steps, tokens=tokens, cost=cost, seconds=seconds)  # type: ignore[arg-type]

    def times(self, factor: int) -> Limits:
        """Return the bounds after a person granted as much again, perhaps several times."""
        return Limits(
            steps=self.steps * factor,
            tokens=None if self.tokens is None else self.tokens * factor,
            cost=None if self.cost is None else self.cost * factor,
            seconds=None if self.seconds is None else self.seconds * factor,
        )


def _check(name: str, value: object, kinds: type | tuple[type, ...]) -> None:
    if isinstance(value, bool) or not isinstance(value, kinds) or value <= 0:  # type: ignore[operator]
        raise BadValue(f"{name}={value!r}: give a number above 0.")


class Over(NamedTuple):
    """A bound that is reached; whether a person can grant as much again."""

    why: str
    more: bool = True

    @property
    def text(self) -> str:
        """What people are told."""
        return f"{self.why} {_AGAIN}" if self.more else self.why


@dataclass(slots=True)
class Spent:
    """What a run of an agent has used up so far, its model's time and its tools' time included."""

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    priced: bool = True
    seconds: float = 0.0

    def model(self, usage: Usage, took: float) -> None:
        """Count one call of the model."""
        self.calls += 1
        self.tokens += usage.tokens
        self.seconds += took
        self.cost += usage.cost or 0.0
        self.priced = self.priced and usage.cost is not None

    def plus(self, other: Spent) -> Spent:
        """Return this and what somebody working for it used up, whose turns are its own affair."""
        return Spent(
            self.steps,
            self.calls,
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.priced and other.priced,
            self.seconds + other.seconds,
        )

    def over(self, limits: Limits, *, planning: bool = False) -> Over | None:
        """Say which bound is reached, if one is. A plan is no step."""
        if self.steps >= limits.steps and not planning:
            return Over(f"it has made {limits.steps} steps without an answer (max_steps).")
        if limits.tokens is not None and self.tokens >= limits.tokens:
            return Over(f"it has used {self.tokens:,} tokens of {limits.tokens:,} (max_tokens).")
        if limits.seconds is not None and self.seconds >= limits.seconds:
            worked = say_span(timedelta(seconds=self.seconds))
            return Over(f"it has worked for {worked} (max_time).")
        return None if limits.cost is None else self._too_dear(limits.cost)

    def _too_dear(self, limit: float) -> Over | None:
        if not self.priced:
            return Over(
                "it has a limit on cost (max_cost), and the price of its model is not known. Say "
                "it, price=(input, output) in dollars for a million tokens, and retry.",
                more=False,
            )
        if self.cost >= limit:
            return Over(f"it has cost {say_dollars(self.cost)} of {say_dollars(limit)} (max_cost).")
        return None


def priced(usage: Usage, price: tuple[float, float] | None) -> Usage:
    """Return the usage with its cost, where a price for a million tokens is given."""
    if price is None:
        return usage
    cost = (usage.input * price[0] + usage.output * price[1]) / 1_000_000
    return Usage(usage.input, usage.output, cost)
