"""What a policy says to a call: the defaults as tables, and how rules, tiers and risks go together."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.asks.lawbook import default_policy
from sayso.errors import BadPolicy, UnknownRole
from sayso.model.actor import Roster
from sayso.model.requirement import Requirement
from sayso.policy.checking import problems
from sayso.policy.facts import Facts
from sayso.policy.reading import read
from sayso.policy.rules import GATED, Policy, Rule
from sayso.policy.ruling import STRICTNESS, Ruling
from sayso.policy.tiers import BUILT_IN
from sayso.policy.trying import tried
from tests.hostile import ALL, raw_in
from tests.policy.comparing import stricter_than

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def policy(text: str) -> Policy:
    return read(text, default=default_policy())


def ruled(text: str = "", **facts: Any) -> Ruling:
    return policy(text).ruling(Facts(**facts), NOW)


# --- what nobody can read (B1) ---


@pytest.mark.parametrize(
    ("facts", "tier", "needs"),
    [
        ({"risk": "low"}, "medium", "1 junior"),
        ({"risk": "medium"}, "high", "1 senior"),
        ({"risk": "high"}, "critical", "1 senior and 1 security"),
        ({"risk": "critical"}, "critical", "1 senior and 1 security"),
        ({}, None, "1 reviewer"),
        ({"always": True}, None, "1 reviewer"),
        ({"requested": True}, None, "1 reviewer"),
    ],
)
def test_what_cannot_be_read_counts_as_one_level_riskier(
    facts: dict[str, Any], tier: str | None, needs: str
) -> None:
    said = ruled(unreadable=True, **facts)

    assert (said.effect, said.tier, str(said.needs)) == ("ask", tier, needs)
    assert "cannot be read by anybody" in said.sentence
    assert said.on_timeout == "reject"
    assert "cannot be read" not in ruled(**facts).sentence


def test_a_tier_of_a_rule_is_raised_too() -> None:
    said = ruled('[tools]\nsend = "low"', tool="send", risk="high", unreadable=True)

    assert (said.tier, str(said.needs), said.rules) == ("medium", "1 junior", ("tools.send",))


def test_a_policy_may_allow_or_deny_what_cannot_be_read() -> None:
    lets = '[[rules]]\nname = "pictures"\ntools = ["upload"]\neffect = "allow"'
    stops = '[[rules]]\nname = "blobs"\nwhen = "unreadable"\neffect = "deny"'

    assert ruled(lets, tool="upload", unreadable=True).effect == "allow"
    assert ruled(lets, tool="upload", unreadable=True, risk="low").effect == "ask"
    assert ruled(stops, tool="upload", unreadable=True).effect == "deny"
    assert ruled(stops, tool="upload").effect == "allow"


# --- the default policy (S2.6) ---


@pytest.mark.parametrize(
    ("facts", "effect", "why"),
    [
        # always ask: irreversible, high stakes, affects others
        ({"reversible": False}, "ask", "It cannot be undone."),
        ({"risk": "high"}, "ask", "Calls of high risk need 1 senior."),
        ({"affects": "customers"}, "ask", "It affects others."),
        # escalate: unsure, contradictory, never seen
        ({"confidence": 0.69}, "ask", "The agent is not sure of it."),
        ({"conflict": True}, "ask", "contradicts itself"),
        ({"unseen": True}, "ask", "Nothing like it was approved before."),
        # no person needed: safe and reversible; not merely confident
        ({}, "allow", "No rule asks for a person."),
        ({"reversible": True}, "allow", "No rule asks for a person."),
        ({"confidence": 0.7}, "allow", "No rule asks for a person."),
        ({"risk": "low", "confidence": 1.0}, "allow", "Calls of low risk run alone."),
        # confidence adds review and never removes it
        ({"reversible": False, "confidence": 1.0}, "ask", "It cannot be undone."),
        ({"risk": "low", "reversible": False}, "ask", "It cannot be undone."),
        ({"risk": "low", "confidence": 0.2}, "ask", "The agent is not sure of it."),
    ],
)
def test_the_default_policy(facts: dict[str, Any], effect: str, why: str) -> None:
    said = default_policy().ruling(Facts(**facts), NOW)

    assert said.effect == effect
    assert why in said.sentence
    assert said.version == default_policy().version


def test_every_reason_to_ask_is_named() -> None:
    said = ruled(reversible=False, affects="customers", confidence=0.1, risk="critical")

    assert said.rules == ("cannot be undone", "affects others", "unsure")
    assert said.tier == "critical"
    assert said.sentence == (
        "It cannot be undone. It affects others. The agent is not sure of it. "
        "Calls of critical risk need 1 senior and 1 security."
    )


# --- tiers (S2.9) ---

PEOPLE = {
    "jo": frozenset({"junior"}),
    "sam": frozenset({"senior"}),
    "sue": frozenset({"senior"}),
    "zoe": frozenset({"security"}),
    "max": frozenset({"senior", "security"}),
    "rob": frozenset[str](),
}


@pytest.mark.parametrize(
    ("risk", "enough", "too_few"),
    [
        ("medium", ["jo", "sam", "max"], ["rob", "zoe"]),
        ("high", ["sam", "sue", "max"], ["rob", "jo", "zoe", "jo zoe rob"]),
        ("critical", ["sam zoe", "max zoe", "sam max"], ["max", "sam sue", "zoe jo rob", "zoe"]),
    ],
)
def test_the_usual_tiers(risk: str, enough: list[str], too_few: list[str]) -> None:
    found = default_policy()
    said = found.ruling(Facts(risk=risk), NOW)
    people = found.widened(Roster(PEOPLE)).people

    def met(names: str) -> bool:
        return said.needs.met_by({name: people[name] for name in names.split()})

    assert (said.effect, said.tier, said.on_timeout) == ("ask", risk, "reject")
    assert [names for names in enough if not met(names)] == []
    assert [names for names in too_few if met(names)] == []


def test_a_risk_that_is_no_tier_is_critical_and_says_so() -> None:
    said = ruled(risk="hihg")

    assert said.needs == BUILT_IN["critical"].terms.needs
    assert "'hihg' is no tier" in said.sentence
    assert raw_in(ruled(risk=ALL).sentence) == []
    assert ruled("default = false\n[tiers.tiny]\nalone = true", risk="tiny").effect == "allow"


@pytest.mark.parametrize(
    ("strays", "said"),
    [
        (("a",), "pay declares no argument a, so"),
        (("a", "b"), "pay declares no arguments a, b, so"),
        (tuple("abcdefgh"), "and 3 more, so"),
    ],
)
def test_what_is_not_declared_of_a_tool_is_named(strays: tuple[str, ...], said: str) -> None:
    asked = ruled(tool="pay", strays=strays)

    assert asked.effect == "ask"
    assert f"{said} it never runs alone." in asked.sentence


# --- rules beside the declared risk ---

TIERED = """
[tiers.money]
needs = ["2 finance"]
within = "1h"
on_timeout = "approve"

[tools]
look_up = "low"
wipe = "critical"

[[rules]]
name = "small refunds"
tool = "refund"
when = "args.amount < 10"
tier = "low"

[[rules]]
name = "money"
tools = ["pay_*"]
tier = "money"

[[rules]]
name = "at night"
when = "time.getHours() < 6"
effect = "ask"
needs = ["1 oncall"]
cool_off = "1m"

[[rules]]
name = "never production"
tool = "drop_table"
when = 'args.host == "prod"'
effect = "deny"
why = "Nobody drops tables in production."

[[rules]]
name = "looks fine"
tool = "drop_table"
effect = "allow"
"""


@pytest.mark.parametrize(
    ("facts", "effect", "needs"),
    [
        # a rule with a tier takes the place of the declared risk, up and down
        ({"tool": "look_up", "risk": "critical"}, "allow", None),
        ({"tool": "wipe", "risk": "low"}, "ask", ["1 security", "1 senior"]),
        ({"tool": "refund", "args": {"amount": 5}, "risk": "high"}, "allow", None),
        ({"tool": "refund", "args": {"amount": 50}, "risk": "high"}, "ask", ["1 senior"]),
        ({"tool": "pay_rent", "risk": "high"}, "ask", ["2 finance"]),
        ({"tool": "repay", "risk": "low"}, "allow", None),
        # without one it adds
        ({"tool": "pay_rent", "reversible": False}, "ask", ["2 finance"]),
        ({"tool": "look_up", "reversible": False}, "ask", ["1 reviewer"]),
        ({"tool": "drop_table", "args": {"host": "prod"}, "risk": "low"}, "deny", None),
        ({"tool": "drop_table", "args": {"host": "dev"}}, "allow", None),
        # an allow takes nothing away
        ({"tool": "drop_table", "args": {"host": "dev"}, "risk": "high"}, "ask", ["1 senior"]),
    ],
)
def test_rules_with_a_tier_replace_the_declared_risk_and_others_add(
    facts: dict[str, Any], effect: str, needs: list[str] | None
) -> None:
    said = ruled(TIERED, **facts)

    assert said.effect == effect
    if needs:
        assert sorted(map(str, said.needs.factors)) == needs


def test_a_rule_by_the_clock_adds_its_people_at_that_time() -> None:
    night = policy(TIERED).ruling(Facts(tool="wipe"), NOW.replace(hour=3))

    assert sorted(map(str, night.needs.factors)) == ["1 oncall", "1 security", "1 senior"]
    assert (night.cool_off, night.rules) == (60.0, ("tools.wipe", "at night"))


def test_a_rule_that_could_not_be_checked_lowers_nothing_and_a_no_asks() -> None:
    said = ruled(TIERED, tool="refund", args={}, risk="critical")

    assert said.effect == "ask"
    assert said.needs == Requirement.parse(["1 security", "1 senior"])
    assert "The rule 'small refunds' could not be checked (there is no \"amount\")" in said.sentence
    assert said.rules == ("small refunds",)

    said = ruled(TIERED, tool="drop_table", args={})

    assert (said.effect, said.rules) == ("ask", ("never production",))
    assert said.needs == Requirement()


def test_a_grave_risk_is_never_approved_by_the_clock_whatever_its_tier() -> None:
    assert ruled(TIERED, tool="pay_rent").on_timeout == "approve"
    assert ruled(TIERED, tool="pay_rent", risk="medium").on_timeout == "approve"
    assert ruled(TIERED, tool="pay_rent", risk="high").on_timeout == "reject"
    assert ruled(TIERED, tool="pay_rent", risk="critical").on_timeout == "reject"
    assert ruled(TIERED, tool="pay_rent", risk="unheard of").on_timeout == "reject"


# --- gates ---


@pytest.mark.parametrize("text", ["", '[tools]\npay = "low"\n', "default = false\n", TIERED])
def test_a_bare_gate_asks_whatever_the_policy_says(text: str) -> None:
    said = ruled(text, tool="pay", always=True)

    assert said.effect == "ask"
    assert GATED in said.sentence


def test_a_gate_asks_by_what_it_declares_or_must_and_is_denied_by_a_rule() -> None:
    assert ruled(tool="pay", risk="low").effect == "allow"
    assert ruled(tool="pay", risk="high").needs == Requirement.parse("1 senior")

    assert ruled(tool="pay", risk="low", always=True).effect == "ask"
    assert ruled(tool="pay", risk="high", always=True).needs == Requirement.parse("1 senior")

    text = '[[rules]]\nname = "no"\ntool = "pay"\neffect = "deny"\n'

    assert ruled(text, tool="pay", always=True).effect == "deny"


def test_what_a_request_says_of_its_own_risk_lowers_nothing() -> None:
    """E23: only the policy may let a requested call run alone."""
    low = '[tools]\npay = "low"\n'

    assert ruled(tool="pay", risk="low", requested=True).effect == "ask"
    assert ruled(low, tool="pay", requested=True).effect == "allow"
    assert ruled(tool="pay", risk="critical", requested=True).tier == "critical"


# --- rules in Python ---


@pytest.mark.parametrize(
    ("answer", "effect"), [(True, "deny"), (False, "allow"), (None, "ask"), (1, "ask"), ("", "ask")]
)
def test_a_predicate_says_yes_or_no_and_anything_else_asks(answer: object, effect: str) -> None:
    own = Policy(rules=(Rule(name="mine", asked=lambda _: answer, effect="deny"),))

    assert own.ruling(Facts(), NOW).effect == effect


def test_a_predicate_that_fails_asks_and_says_why() -> None:
    def broken(facts: Facts) -> bool:
        raise KeyError(ALL)

    said = Policy(rules=(Rule(name="mine", asked=broken, effect="allow"),)).ruling(Facts(), NOW)

    assert said.effect == "ask"
    assert "could not be checked (KeyError" in said.sentence
    assert raw_in(said.sentence) == []


def test_a_predicate_sees_the_facts_and_only_where_its_condition_holds() -> None:
    seen: list[Facts] = []

    def look(facts: Facts) -> bool:
        seen.append(facts)
        return True

    own = Policy(
        rules=(Rule(name="mine", tools="pay", when="args.n > 1", asked=look, effect="ask"),)
    )
    call = Facts(tool="pay", args={"n": 2})

    assert own.ruling(call, NOW).effect == "ask"
    assert own.ruling(Facts(tool="pay", args={"n": 1}), NOW).effect == "allow"
    assert own.ruling(Facts(tool="spend", args={"n": 2}), NOW).effect == "allow"
    assert seen == [call]


def test_a_trial_says_of_every_rule_why_it_spoke_or_not() -> None:
    said: dict[str, tuple[dict[str, Any], str]] = {
        "code": ({"asked": lambda _: True}, "Your code says that it applies."),
        "all": ({}, "It is about every call."),
        "tool": ({"tools": "pay"}, "It is about every call of this tool."),
        "when": ({"when": "!conflict"}, "Its condition is true of this call."),
        "not": ({"when": "conflict"}, "Its condition is not true of this call."),
        "other": ({"tools": "mail"}, "It is about other tools."),
        "no": ({"asked": lambda _: False}, "Its condition, or your code, says that it does not"),
    }
    own = Policy(rules=tuple(Rule(name=n, effect="ask", **how) for n, (how, _) in said.items()))

    heard = tried(own, Facts(tool="pay"), NOW, Roster({})).heard

    for one in heard:
        assert one.because.startswith(said[one.rule.name][1])
    assert [one.spoke for one in heard] == [True] * 4 + [False] * 3


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ({"effect": None}, "either tier"),
        ({"effect": "ask", "tier": "low"}, "either tier"),
        ({"effect": "perhaps"}, "either tier"),
        ({"effect": "ask", "when": "amount > 1"}, "nothing called 'amount'"),
    ],
)
def test_a_rule_in_python_is_checked_as_well(rule: dict[str, Any], word: str) -> None:
    with pytest.raises(BadPolicy, match=word):
        Rule(name="mine", **rule)


def test_a_policy_in_python_is_checked_as_well() -> None:
    with pytest.raises(BadPolicy, match="Two rules are called 'a'"):
        Policy(rules=(Rule(name="a", effect="ask"), Rule(name="a", effect="deny")))
    with pytest.raises(BadPolicy, match="names the tier 'x'"):
        Policy(rules=(Rule(name="a", tier="x"),))


# --- rulings are remembered, and still each call has its own ---

calls = st.builds(
    Facts,
    tool=st.sampled_from(["look_up", "wipe", "refund", "pay_rent", "drop_table", "other", None]),
    args=st.fixed_dictionaries(
        {}, optional={"amount": st.integers(0, 20), "host": st.sampled_from(["prod", "dev"])}
    ),
    risk=st.none() | st.sampled_from([*BUILT_IN, "money", "odd"]),
    confidence=st.none() | st.floats(0, 1),
    reversible=st.none() | st.booleans(),
    always=st.booleans(),
)
REMEMBERING = policy(TIERED)


@settings(deadline=None)
@given(calls)
def test_a_ruling_does_not_depend_on_those_before(call: Facts) -> None:
    assert REMEMBERING.ruling(call, NOW) == policy(TIERED).ruling(call, NOW)


@settings(deadline=None)
@given(calls)
def test_no_rule_without_a_tier_makes_a_ruling_weaker(call: Facts) -> None:
    more = policy(TIERED + '[[rules]]\nname = "more"\neffect = "allow"\n')
    asks = policy(TIERED + '[[rules]]\nname = "more"\neffect = "ask"\nneeds = ["1 lead"]\n')
    before = REMEMBERING.ruling(call, NOW)

    assert not stricter_than(before, more.ruling(call, NOW))
    assert not stricter_than(before, asks.ruling(call, NOW))
    assert STRICTNESS.index(asks.ruling(call, NOW).effect) >= STRICTNESS.index("ask")


def test_many_names_of_tools_do_not_fill_the_memory() -> None:
    own = policy(TIERED)
    for number in range(10_500):
        own.ruling(Facts(tool=f"t{number}", risk=f"r{number}"), NOW)

    assert len(own._by_tool) <= 10_001
    assert len(own._known) <= 10


def test_many_different_calls_of_one_tool_do_not_fill_the_memory() -> None:
    own = policy("")
    for number in range(12_000):
        own.ruling(Facts(tool="t", agent=f"a{number}"), NOW)
    for _ in range(10):
        own.ruling(Facts(tool="t", confidence=float("nan")), NOW)

    assert 0 < len(own._said_to) <= 10_001
    before = len(own._said_to)
    own.ruling(Facts(tool="t", confidence=float("nan")), NOW)
    assert len(own._said_to) == before


def test_a_call_that_was_ruled_on_before_is_not_looked_at_again() -> None:
    own = policy("")
    first = own.ruling(Facts(tool="wipe", args={"a": 1}, risk="high"), NOW)

    assert own.ruling(Facts(tool="wipe", args={"b": 2}, risk="high"), NOW) is first


@pytest.mark.parametrize(
    "rule",
    [
        Rule(name="x", tools="wipe", when="has(args.all)", effect="deny"),
        Rule(name="x", tools="wipe", when="time.getHours() == 12", effect="deny"),
        Rule(name="x", tools="wipe", asked=lambda facts: "all" in facts.args, effect="deny"),
        Rule(name="x", tools="w*", when="risk == 'high' && has(args.all)", effect="deny"),
    ],
)
def test_what_looks_at_arguments_or_at_the_clock_is_looked_at_each_time(rule: Rule) -> None:
    own = Policy(rules=(rule,))
    evening = NOW.replace(hour=20)

    assert own.ruling(Facts(tool="wipe", risk="high"), evening).effect == "ask"
    assert own.ruling(Facts(tool="wipe", args={"all": 1}, risk="high"), NOW).effect == "deny"
    assert own.ruling(Facts(tool="wipe", risk="high"), evening).effect == "ask"


FACTS: dict[str, tuple[Any, ...]] = {
    "tool": ("wipe", "keep", None, ""),
    "agent": ("shop", "intern"),
    "kind": ("action", "draft"),
    "risk": (None, "low", "high", ""),
    "confidence": (None, 0.5, 1.0, 1, True, 0, False, 0.0),
    "conflict": (False, True),
    "unseen": (False, True),
    "unreadable": (False, True),
    "reversible": (None, False, True, 0, 1),
    "affects": (None, "", "others"),
    "tags": ((), ("pii",), ["pii"], (1,), (True,)),
    "always": (False, True),
    "requested": (False, True),
}
LOOKING = """
[tools]
keep = "low"
[[rules]]
name = "agents"
when = 'agent == "intern"'
effect = "ask"
[[rules]]
name = "drafts"
when = 'kind == "draft"'
effect = "deny"
[[rules]]
name = "private"
when = '"pii" in tags'
effect = "ask"
needs = ["1 privacy"]
[[rules]]
name = "cannot be told of anything but fractions"
when = "confidence == 1.0 && type(confidence) == double"
effect = "ask"
needs = ["1 statistician"]
"""
KEEPING = policy(LOOKING)


@settings(deadline=None)
@given(st.fixed_dictionaries({}, optional={n: st.sampled_from(v) for n, v in FACTS.items()}))
def test_what_is_remembered_of_one_call_is_said_to_no_other(said: dict[str, Any]) -> None:
    """One policy hears all of them, in any order; Python takes True for 1 and 1 for 1.0."""
    assert KEEPING.ruling(Facts(**said), NOW) == KEEPING._ruled(Facts(**said), NOW)


# --- people ---


def test_roles_come_from_the_desk_the_groups_the_file_and_other_roles() -> None:
    own = policy(
        """
        [groups]
        finance = ["anna", "nobody"]
        [roles]
        ben = ["lead"]
        [implies]
        lead = ["senior"]
        junior = ["lead"]
        """
    )
    wide = own.widened(Roster({"anna": frozenset({"x"}), "ben": frozenset(), "cleo": frozenset()}))

    assert wide.people == {
        "anna": frozenset({"anna", "x", "finance"}),
        "ben": frozenset({"ben", "lead", "senior", "junior"}),  # round in a circle, and no further
        "cleo": frozenset({"cleo"}),
    }
    assert own.widened(Roster({})).solo


def test_names_of_people_are_no_roles_in_use() -> None:
    wide = policy("").widened(Roster({"anna": frozenset({"senior"}), "ben": frozenset()}))

    assert wide.roles == ("junior", "senior")
    with pytest.raises(UnknownRole, match="Roles in use: junior, senior\\. "):
        Requirement.parse("1 carl").check(wide)


@pytest.mark.parametrize("role", ["senior", "security", "reviewer", "finance", "lead", "cook"])
def test_nobody_gets_a_role_by_being_called_so(role: str) -> None:
    own = policy('[groups]\nfinance = ["ben"]\n[implies]\nlead = ["senior"]\n')
    people = {role: frozenset[str](), "ben": frozenset({"cook"})}

    assert own.widened(Roster(people)).people[role] == frozenset()


def test_the_people_of_one_desk_are_not_taken_for_those_of_another() -> None:
    own = policy("")
    for number in range(100):
        names = {f"p{number}": frozenset({"senior"})}
        assert set(own.widened(Roster(names)).people) == set(names)
    assert len(own._wide) <= 16


DEMANDING = """
[tiers.money]
needs = ["3 finance"]
[groups]
finance = ["anna", "ben", "gone"]
ghosts = ["nobody"]
[roles]
nobody = ["senior"]
[[rules]]
name = "two leads"
effect = "ask"
needs = ["1 lead"]
within = "2h"
escalate = [{ after = "1h", to = ["ben", "director"] }]
"""


def test_what_nobody_on_the_desk_could_decide_is_found() -> None:
    roster = Roster({"anna": frozenset({"lead"}), "ben": frozenset()})
    found = {(each.about, each.fatal): each.reason for each in problems(policy(DEMANDING), roster)}

    assert set(found) == {
        ("tier medium", False),
        ("tier high", False),
        ("tier critical", False),
        ("tier money", True),
        ("rule 'two leads'", True),
        ("group finance", False),
        ("group ghosts", True),
        ("roles of nobody", False),
    }
    assert "3 finance can never be met" in found["tier money", True]
    assert "Nobody holds the role 'director'. Roles in use: " in found["rule 'two leads'", True]
    assert "Not on this desk: gone." in found["group finance", False]

    assert problems(policy(DEMANDING), Roster({})) == []
