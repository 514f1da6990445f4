"""What an agent is like: its model, its tools and its bounds, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from sayso.agent.kit import Held
from sayso.agent.limits import Limits
from sayso.agent.messages import Model
from sayso.agent.voice import Voice
from sayso.model.digest import canonical
from sayso.runs.workflow import version_of


@dataclass(frozen=True, kw_only=True)
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
    declared: str = ""  # the version that whoever made it says it has
    pause: float = 1.0  # seconds before a model that did not reply is asked again

    @cached_property
    def version(self) -> str:
        """What it is made of, in short: its model, what it is told, and its tools.

        Whatever it has earned, it has earned as that.
        """
        tools = [
            [one.name, one.spec.description, one.shape, version_of(one.gate.tool.fn.__module__)]
            for one in self.kit.values()
        ]
        said = [self.declared, _named(self.model), self.instructions, tools, self.plan_every]
        return sha256(canonical(said).encode()).hexdigest()[:12]

    @property
    def voice(self) -> Voice:
        """Who is told what it does, while it does it."""
        return self.find_voice()


def _named(model: Model) -> list[str]:
    """Return what tells a model from others: what it is called, and the code that speaks to it."""
    kind = type(model)
    said = [getattr(model, name, None) for name in ("name", "model", "model_name")]
    names = [name for name in said if isinstance(name, str)]
    return [kind.__qualname__, version_of(kind.__module__), *names]
