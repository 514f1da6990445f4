"""What a policy would do with one call: the ruling, why each rule spoke or not, and who could decide.

Nothing is opened and nothing is written; the command line, the API and the page say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sayso.errors import Misuse
from sayso.model.actor import Roster
from sayso.model.text import one_line
from sayso.policy.conditions import Condition
from sayso.policy.facts import Facts
from sayso.policy.rules import Policy, Rule
from sayso.policy.ruling import Ruling
from sayso.policy.words import ruling_record, who


@dataclass(frozen=True, slots=True)
class Heard:
    """What one rule had to say to the call: `spoke`, and why, or why not."""

    rule: Rule
    spoke: bool
    because: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A ruling on a call that nobody made.

    Attributes:
        ruling: What is to be done with it.
        heard: Every rule of the policy, in its order.
        roster: The people who would be asked, with the roles that the policy gives them.
        undecidable: Why nobody could decide it, so that it would be refused when it is proposed;
            `None` if somebody could, or nobody is asked.
    """

    ruling: Ruling
    heard: tuple[Heard, ...]
    roster: Roster
    undecidable: str | None

    @property
    def candidates(self) -> list[tuple[str, list[str]]]:
        """For every place that must be filled, who could fill it; nothing if nobody is asked."""
        return who(self.ruling.needs, self.roster) if self.ruling.asks else []


def tried(
    policy: Policy, facts: Facts, now: datetime, people: Roster, team: str | None = None
) -> Trial:
    """Try a call: what would be ruled, and who of these people, or of their team, could decide."""
    ruling = policy.ruling(facts, now)
    roster = policy.widened(people).within(team)
    return Trial(ruling, tuple(_heard(policy, facts, now)), roster, undecidable(ruling, roster))


def undecidable(said: Ruling, roster: Roster) -> str | None:
    """Return why nobody on the desk could decide it, `None` if somebody could."""
    if not said.asks:
        return None
    try:
        said.needs.check(roster)
    except Misuse as error:
        return str(error)
    return None


def _heard(policy: Policy, facts: Facts, now: datetime) -> Iterator[Heard]:
    spoke = {one.rule.name: one for one in policy.matching(facts, now)}
    for rule in policy.rules:
        one = spoke.get(rule.name)
        if one is None:
            yield Heard(rule, spoke=False, because=_silent(rule, facts))
        elif one.unsure is not None:
            why = (
                f"It could not be told whether it applies, so it asks: {one_line(one.unsure, 200)}"
            )
            yield Heard(rule, spoke=True, because=why)
        else:
            yield Heard(rule, spoke=True, because=_spoken(rule))


def _spoken(rule: Rule) -> str:
    if rule.asked is not None:
        return "Your code says that it applies."
    if isinstance(rule.when, Condition):
        return "Its condition is true of this call."
    return "It is about every call of this tool." if rule.tools else "It is about every call."


def _silent(rule: Rule, facts: Facts) -> str:
    if not rule.names(facts.tool):
        return "It is about other tools."
    if isinstance(rule.when, Condition) and rule.asked is None:
        return "Its condition is not true of this call."
    return "Its condition, or your code, says that it does not apply."


def trial_record(trial: Trial) -> dict[str, Any]:
    """Return a trial as data."""
    return {
        **ruling_record(trial.ruling),
        "solo": trial.roster.solo,
        "who": [{"needs": needs, "people": names} for needs, names in trial.candidates],
        "undecidable": trial.undecidable,
        "heard": [
            {"rule": one.rule.name, "spoke": one.spoke, "because": one.because}
            for one in trial.heard
        ],
    }
