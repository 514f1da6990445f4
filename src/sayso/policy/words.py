"""A policy and its rulings in plain words, and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.model.actor import Roster
from sayso.model.digest import read
from sayso.model.requirement import Factor, Requirement
from sayso.model.ruled import OnTimeout
from sayso.model.span import say_span
from sayso.model.stake import LEAST
from sayso.model.text import one_line
from sayso.model.tool import HIDDEN
from sayso.policy.checking import Problem
from sayso.policy.conditions import Condition
from sayso.policy.earning import Earning
from sayso.policy.paces import EACH, NO_LIMIT, Limits
from sayso.policy.plain import in_words
from sayso.policy.rules import Policy, Rule
from sayso.policy.ruling import Ruling, Rung
from sayso.policy.tiers import Terms, Tier

if TYPE_CHECKING:  # most policies declare no tool
    from sayso.model.declaration import Declaration


def spell(seconds: float) -> str:
    """Say a span of time."""
    return say_span(timedelta(seconds=seconds))


# --- tools ---


def declared_told(declared: Declaration) -> str:
    """Say what a policy declares of a tool besides its tier; nothing if that is all it says."""
    said = []
    if declared.shapes:
        listed = ", ".join(f"{name} ({form})" for name, form in arguments_told(declared))
        said.append(f"It takes {listed}." if listed else "It takes no arguments.")
    if declared.reversible is not None:
        said.append("It can be undone." if declared.reversible else "It cannot be undone.")
    if declared.affects:
        said.append(f"It affects {one_line(declared.affects, 200)}.")
    for names, what in ((declared.secret, "Secret"), (declared.matters or (), "What matters")):
        if names:
            said.append(f"{what}: {', '.join(one_line(name, 40) for name in names)}.")
    if declared.sorts is not None:
        said.append(f"Each {one_line(declared.sorts, 40)} is a kind of call that earns by itself.")
    return " ".join(said)


def arguments_told(declared: Declaration) -> Iterator[tuple[str, str]]:
    """Say each argument that a source declares, and of what form it is."""
    for shape in declared.shapes:
        schema = read(shape)
        needed = schema.get("required", ())
        for name in declared.arguments:
            optional = "" if name in needed else ", optional"
            yield one_line(name, 40), f"{form_told(schema['properties'][name])}{optional}"


def form_told(form: object) -> str:
    """Say what fits a schema: its type, and what else it wants."""
    if not isinstance(form, dict):
        return "anything"
    said = {key: value for key, value in form.items() if key not in ("title", "default")}
    if said.get("const") == HIDDEN:
        return "secret"
    kind, listed = said.pop("type", None), said.pop("enum", None)
    if isinstance(listed, list):
        return one_line(f"one of {', '.join(map(str, listed))}", 200)
    rest = ", ".join(f"{key} {one_line(str(value), 60)}" for key, value in said.items())
    word = kind if isinstance(kind, str) else " or ".join(kind) if kind else ""
    return one_line(", ".join(filter(None, (word, rest))) or "anything", 200)


# --- rules and tiers ---


def about(rule: Rule) -> str:
    """Say which calls a rule is about."""
    code = written(rule)
    what = tools_told(rule) if code is None else f"{tools_told(rule)} when {code}"
    return f"{what} when your code says so" if rule.asked is not None else what


def written(rule: Rule) -> str | None:
    """Return the condition of a rule as it was written, on one line."""
    if not isinstance(rule.when, Condition):
        return None
    return one_line(" ".join(rule.when.text.split()), 100)


def tools_told(rule: Rule) -> str:
    """Say which tools a rule is about, whatever its condition is."""
    return ", ".join(one_line(name, 40) for name in rule.tools) or "every call"


def sentence(policy: Policy, rule: Rule) -> str:
    """Say a rule: when it applies, in words, and what it does then."""
    return f"For every {_calls(rule)}{_where(rule)}: {_does(policy, rule)}."


def _calls(rule: Rule) -> str:
    names = [one_line(name, 40) for name in rule.tools]
    return f"call of {' or '.join(names)}" if names else "call"


def _where(rule: Rule) -> str:
    held = [] if rule.when is None else [_condition(rule, alone=rule.asked is None)]
    if rule.asked is not None:
        held.append("your code says so")
    return f" where {' and '.join(held)}" if held else ""


def _condition(rule: Rule, *, alone: bool) -> str:
    said = in_words(rule.when, alone=alone) if isinstance(rule.when, Condition) else None
    return said or "its condition is true"


def _does(policy: Policy, rule: Rule) -> str:
    if rule.tier is not None:
        return f"it belongs to the tier {one_line(rule.tier, 64)}, which {_needed(policy.tiers[rule.tier])}"
    if rule.effect == "ask":
        return terms_told(rule.terms)
    # Another rule may still want people, or deny it.
    return "it does not run" if rule.effect == "deny" else "this rule lets it run alone"


def _needed(tier: Tier) -> str:
    needs = tier.terms.needs or Requirement()
    return "runs alone" if tier.alone else "; ".join((f"needs {needs}", *conditions_of(tier.terms)))


def outcome(rule: Rule) -> str:
    """Say what a rule does to them."""
    if rule.tier is not None:
        return f"tier {rule.tier}"
    return terms_told(rule.terms) if rule.effect == "ask" else str(rule.effect)


def tier_told(tier: Tier) -> str:
    """Say what a tier needs."""
    return "runs alone" if tier.alone else terms_told(tier.terms)


def terms_told(terms: Terms) -> str:
    """Say who is asked, and what time does."""
    return "; ".join((f"ask {terms.needs or Requirement()}", *conditions_of(terms)))


def conditions_of(terms: Terms | Ruling) -> list[str]:
    """Say what goes with an ask besides who must agree."""
    needs = terms.needs or Requirement()
    said = [f"{needs.deny} refusals end it"] if needs.deny > 1 else []
    if terms.within is not None:
        said.append(deadline(terms.within, terms.on_timeout))
    if terms.within is not None and terms.remind:
        said.append(f"reminded at {' and '.join(f'{part:.0%}' for part in terms.remind)}")
    said += ladder_told(terms.ladder)
    if terms.cool_off:
        said.append(f"can be taken back for {spell(terms.cool_off)}")
    if terms.execute_within is not None:
        said.append(f"to be carried out within {spell(terms.execute_within)}")
    if terms.requester:
        said.append("whoever requested it may decide")
    return said


def deadline(within: float, on_timeout: OnTimeout) -> str:
    """Say until when, and what happens then."""
    then = "approved" if on_timeout == "approve" else "rejected"
    return f"within {spell(within)}, then {then}"


def ladder_told(ladder: Sequence[Rung]) -> list[str]:
    """Say who may stand in after a while, each role where it comes in first."""
    return [
        f"after {spell(after)} whoever is {' or '.join(roles)} may stand in"
        for after, roles in climbing(ladder)
    ]


def climbing(ladder: Sequence[Rung]) -> Iterator[tuple[float, list[str]]]:
    """Yield the roles that come in on each rung; rungs of a ruling name those below too."""
    before: set[str] = set()
    for rung in ladder:
        yield rung.after, [role for role in rung.roles if role not in before]
        before |= set(rung.roles)


def paced(policy: Policy) -> tuple[str, ...]:
    """Return the agents whose pace is worth a line: each of them, then those with one of their own."""
    return tuple(dict.fromkeys((EACH, *policy.paces)))


def pace_told(pace: Limits) -> str:
    """Say how fast an agent may ask."""
    asks = "ask" if pace.asks == 1 else "asks"
    often = (
        "as many asks as it likes"
        if pace.asks == NO_LIMIT
        else f"at most {pace.asks:,} {asks} in {spell(pace.per)}"
    )
    many = "any number" if pace.waiting == NO_LIMIT else f"at most {pace.waiting:,}"
    return f"{often}, {many} open at once"


def earning_told(earning: Earning) -> str:
    """Say whether agents can earn to run alone."""
    if not earning.enabled:
        return "nothing: people are asked whenever the rules say so"
    noticed = (
        ""
        if earning.detection is None
        else f"; reviewers are taken to notice {earning.detection:.0%} of bad calls"
    )
    return f"what is asked for because of its tier alone, below critical{noticed}{_least(earning)}"


def _least(earning: Earning) -> str:
    """Say where a grant takes more people and days than usual."""
    return "".join(
        f"; {tier} takes {least.people} people and {least.days} days"
        for tier, least in earning.least.items()
    )


# --- who ---


def candidates(factor: Factor, roster: Roster) -> list[str]:
    """Return who on the desk could fill a place."""
    return sorted(name for name, roles in roster.people.items() if factor.takes(roles))


def who(needs: Requirement, roster: Roster) -> list[tuple[str, list[str]]]:
    """Return for every factor who could fill it."""
    return [(str(factor), candidates(factor, roster)) for factor in needs.factors]


# --- as data ---


def policy_record(policy: Policy) -> dict[str, Any]:
    """Return a policy as data."""
    return {
        "source": policy.source,
        "version": policy.version,
        "tiers": {name: tier_told(policy.tiers[name]) for name in policy.order},
        "rules": [
            {
                "name": rule.name,
                "line": rule.line,
                "about": about(rule),
                "says": outcome(rule),
                "sentence": sentence(policy, rule),
            }
            for rule in policy.rules
        ],
        "groups": {name: list(names) for name, names in policy.groups.items()},
        "roles": {name: list(names) for name, names in policy.roles.items()},
        "implies": {name: list(names) for name, names in policy.implied.items()},
        "autonomy": {
            "enabled": policy.earning.enabled,
            "detection": policy.earning.detection,
            "least": {
                tier: (policy.earning.least.get(tier) or usual)._asdict()
                for tier, usual in LEAST.items()
            },
            "says": earning_told(policy.earning),
        },
        "agents": [_pace_record(name, policy.pace(name)) for name in paced(policy)],
    }


def _pace_record(name: str, pace: Limits) -> dict[str, Any]:
    """Return the pace of an agent as data; a limit that was lifted is null."""
    often = pace.asks != NO_LIMIT
    return {
        "agent": name or None,
        "asks": pace.asks if often else None,
        "per": pace.per if often else None,
        "waiting": pace.waiting if pace.waiting != NO_LIMIT else None,
    }


def problem_record(problem: Problem) -> dict[str, Any]:
    """Return a problem as data."""
    return {
        "about": problem.about,
        "line": problem.line,
        "fatal": problem.fatal,
        "reason": problem.reason,
    }


def ruling_record(ruling: Ruling) -> dict[str, Any]:
    """Return a ruling as data."""
    asking = {
        "needs": [str(factor) for factor in ruling.needs.factors],
        "deny": ruling.needs.deny,
        "within": ruling.within,
        "on_timeout": ruling.on_timeout,
        "cool_off": ruling.cool_off,
        "execute_within": ruling.execute_within,
        "remind": list(ruling.remind),
        "escalate": [{"after": rung.after, "to": list(rung.roles)} for rung in ruling.ladder],
        "requester": ruling.requester,
    }
    return {
        "effect": ruling.effect,
        "sentence": ruling.sentence,
        "rules": list(ruling.rules),
        "tier": ruling.tier,
        "version": ruling.version,
        **(asking if ruling.asks else {}),
    }
