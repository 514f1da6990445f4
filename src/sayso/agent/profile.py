"""What an agent is like: its model, its tools and its bounds, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sayso.agent.kit import Held
from sayso.agent.limits import Limits
from sayso.agent.messages import Model
from sayso.agent.voice import Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """An agent's settings, checked."""

    name: str
    model: Model
    kit: Mapping[str, Held]
    limits: Limits
    on_step: Mapping[type, Callable[..., str | None]]
    find_voice: Callable[[], Voice]
    instructions: str = ""
    plan_every: int | None = None
    price: tuple[float, float] | None = None
    together: bool = False
    learn: bool = False
    explain: bool = False
    on_text: Callable[[str], object] | None = None
    pause: float = 1.0  # seconds before a model that did not reply is asked again

    @property
    def voice(self) -> Voice:
        """Who is told what it does, while it does it."""
        return self.find_voice()
