"""What a policy would do with one call, laid out for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from sayso.asks.lawbook import default_policy
from sayso.channels.fence import Row, paragraph
from sayso.model.requirement import Factor
from sayso.model.text import one_line, visible
from sayso.policy.rules import Policy
from sayso.policy.ruling import Ruling
from sayso.policy.trying import Trial
from sayso.policy.words import candidates, climbing, conditions_of

if TYPE_CHECKING:
    from rich.console import RenderableType

_GUTTER = 11
_SOLO = "whoever sits at this machine (solo mode)"
_REFUSED = ("ask: it would be refused, as nobody could decide it", "bold red")
_EFFECTS = {
    "allow": ("allow: it runs alone", "green"),
    "ask": ("ask: it waits for people", "yellow"),
    "deny": ("deny: it does not run, whoever asks", "bold red"),
}


def simulated(found: Policy, trial: Trial, earned: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Say the ruling on a call: the rules, the sentence, who would be asked, what can be earned."""
    said = trial.ruling
    told = _EFFECTS[said.effect] if trial.undecidable is None else _REFUSED
    yield Row("Ruling", Text(*told), _GUTTER)
    yield Row("Because", Text(visible(said.sentence)), _GUTTER)
    lines = {rule.name: rule.line for rule in found.rules if rule not in default_policy().rules}
    rules = [f"{name} (line {lines[name]})" if lines.get(name) else name for name in said.rules]
    yield Row("Rules", Text(", ".join(rules) or "none"), _GUTTER)
    if said.tier is not None:
        yield Row("Tier", Text(said.tier), _GUTTER)
    if not said.asks:
        return
    yield Row("Needs", Text(str(said.needs)), _GUTTER)
    for word in conditions_of(said):
        yield Row("", Text(word), _GUTTER)
    yield from _asked(said, trial)
    yield Row("Earned", Text(_earned(earned)), _GUTTER)
    if trial.undecidable is not None:
        yield paragraph(f"Nobody could decide it: {trial.undecidable}", "bold red")


def _earned(earned: Mapping[str, Any]) -> str:
    """Say whether an agent could earn to be spared it, and what its key would be made of."""
    if not earned["earnable"]:
        return f"cannot be: {earned['unearned']}"
    key = earned["key"]
    agent, tool = one_line(key["agent"] or "the agent", 60), one_line(key["tool"], 60)
    least = earned["least"]
    people = "1 person" if least["people"] == 1 else f"{least['people']} people"
    days = "1 day" if least["days"] == 1 else f"{least['days']} days"
    kinds = f"in each version, for each kind of {tool} call, as {key['tier']}"
    return f"can be, by {agent} {kinds}, with {people} who approve, over {days}"


def _asked(said: Ruling, trial: Trial) -> Iterator[RenderableType]:
    if trial.roster.solo:
        yield Row("Who", Text(_SOLO), _GUTTER)
        return
    label = "Who"
    for needs, names in trial.candidates:
        told = Text(", ".join(names)) if names else Text("nobody", style="bold red")
        yield Row(label, Text.assemble(f"{needs}: ", told), _GUTTER)
        label = ""
    for role in (role for _, roles in climbing(said.ladder) for role in roles):
        names = candidates(Factor(1, role), trial.roster)
        yield Row("", Text(f"later, {role}: {', '.join(names) or 'nobody'}"), _GUTTER)
