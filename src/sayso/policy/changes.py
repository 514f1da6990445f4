"""How one policy differs from another, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from sayso.policy.rules import Policy
from sayso.policy.words import declared_told, earning_told, pace_told, sentence, tier_told, written

Sort = Literal["new", "gone", "changed"]
_UNKNOWN = {"ask": "People are asked for each such call.", "deny": "Such a call does not run."}


class Change(NamedTuple):
    """One thing that another policy says, and what this one says of it."""

    sort: Sort
    what: str
    before: str | None
    after: str | None

    @property
    def sentence(self) -> str:
        """The change in one sentence."""
        if self.sort == "new":
            return f"New: {self.what}. {self.after}"
        if self.sort == "gone":
            return f"Gone: {self.what}. {self.before}"
        return f"Changed: {self.what}. Before: {self.before} Now: {self.after}"


def changes(before: Policy, after: Policy) -> tuple[Change, ...]:
    """Return what changes when a policy follows another: rules, tiers, tools, people, paces."""
    return tuple(_compared(_said(before), _said(after)))


def change_record(change: Change) -> dict[str, str | None]:
    """Return a change as data."""
    return {**change._asdict(), "sentence": change.sentence}


def _compared(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for what, said in after.items():
        if what not in before:
            yield Change("new", what, None, said)
        elif before[what] != said:
            yield Change("changed", what, before[what], said)
    for what, said in before.items():
        if what not in after:
            yield Change("gone", what, said, None)


def _said(policy: Policy) -> dict[str, str]:
    """Return everything that a policy says, each under a name of its own."""
    found = {f"the rule {rule.name!r}": _rule(policy, rule.name) for rule in policy.rules}
    for name in policy.order:
        found[f"the tier {name}"] = f"It says: {tier_told(policy.tiers[name])}."
    for name, declared in policy.declared.items():
        said = declared_told(declared)
        if said:
            found[f"the declaration of {name}"] = said
    found["tools that nothing declares"] = _UNKNOWN[policy.unknown_tools]
    found["arguments that nothing declares"] = _UNKNOWN[policy.unknown_arguments]
    for name, people in policy.groups.items():
        found[f"the group {name}"] = f"In it: {', '.join(people)}."
    for name, roles in policy.roles.items():
        found[f"the roles of {name}"] = f"They are: {', '.join(roles) or 'none'}."
    for name, roles in policy.implied.items():
        found[f"who is {name}"] = f"They count as: {', '.join(roles) or 'nothing else'}."
    for name in policy.paces:
        who = f"the pace of {name}" if name else "the pace of each agent"
        found[who] = f"It is: {pace_told(policy.pace(name))}."
    found["what agents can earn"] = f"It is {earning_told(policy.earning)}."
    return found


def _rule(policy: Policy, name: str) -> str:
    rule = next(rule for rule in policy.rules if rule.name == name)
    code = written(rule)
    said = sentence(policy, rule) if code is None else f"{sentence(policy, rule)} When: {code}."
    return f"{said} Why: {rule.why}" if rule.why else said
