"""Policies in TOML: what they say, and where they are wrong."""

from __future__ import annotations

import json
import tomllib
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.asks.lawbook import default_policy
from sayso.errors import BadPolicy
from sayso.model.requirement import Requirement
from sayso.policy.changes import changes
from sayso.policy.paces import DEFAULT, NO_LIMIT
from sayso.policy.places import Path, places
from sayso.policy.reading import read
from sayso.policy.rules import Policy
from sayso.policy.ruling import Rung
from sayso.policy.tiers import BUILT_IN, IMPLIED
from sayso.policy.words import pace_told


def policy(text: str) -> Policy:
    return read(dedent(text).lstrip("\n"), source="p.toml", default=default_policy())


def refused(text: str) -> str:
    with pytest.raises(BadPolicy) as error:
        policy(text)
    assert error.value.code == "bad-policy"
    assert f"p.toml:{error.value.line}:{error.value.column}: " in str(error.value)
    return str(error.value)


# --- good ones ---


def test_a_rule_says_what_is_written() -> None:
    found = policy(
        """
        [[rules]]
        name = "large refunds"
        tools = ["refund", "pay_*"]
        when = "args.amount > 100"
        effect = "ask"
        needs = ["1 senior", "1 security"]
        deny = 2
        within = "4h"
        on_timeout = "approve"
        cool_off = 8
        execute_within = "1d"
        remind = [0.9, 0.25]
        escalate = [{ after = "2h", to = "lead" }, { after = "3h", to = ["boss", "anna"] }]
        requester = true
        why = "Large refunds need two."
        """
    ).rules[-1]

    assert (found.name, found.tools, found.line) == ("large refunds", ("refund", "pay_*"), 1)
    assert found.why == "Large refunds need two."
    assert found.effect == "ask"
    assert found.terms.needs == Requirement.parse(["1 senior", "1 security"], deny=2)
    assert (found.terms.within, found.terms.on_timeout) == (4 * 3600, "approve")
    assert (found.terms.cool_off, found.terms.execute_within) == (8, 86400)
    assert found.terms.remind == (0.25, 0.9)
    assert found.terms.ladder == (Rung(7200, ("lead",)), Rung(10800, ("boss", "anna")))
    assert found.terms.requester


def test_the_version_is_that_of_the_text_and_of_an_empty_policy_its_own() -> None:
    found = policy("")

    assert found.rules == default_policy().rules
    assert found.tiers == BUILT_IN
    assert found.implied == IMPLIED
    assert found.version not in (None, default_policy().version)

    text = '[tools]\nrefund = "high"\n'

    assert policy(text).version == policy(text).version
    assert policy(text).version == policy(text.replace("\n", "\r\n")).version
    assert policy(text).version != policy(text.replace("high", "low")).version

    assert read("\ufeff[tools]\r\nrefund = 'high'\r\n").rules[-1].tier == "high"

    assert policy('[desk]\nurl = "sqlite:///x.db"\n').rules == default_policy().rules


def test_the_rules_of_the_default_policy_stay_unless_they_are_left_out() -> None:
    own = '[[rules]]\nname = "mine"\neffect = "ask"\n'

    assert [rule.name for rule in policy(own).rules] == [
        *(rule.name for rule in default_policy().rules),
        "mine",
    ]
    assert [rule.name for rule in policy(f"default = false\n{own}").rules] == ["mine"]
    assert policy("default = false").tiers == BUILT_IN


def test_a_tool_by_name_belongs_to_its_tier() -> None:
    rules = policy('[tools]\nrefund = "high"\n"pay_*" = "critical"').rules[-2:]

    assert [(rule.name, rule.tools, rule.tier, rule.line) for rule in rules] == [
        ("tools.refund", ("refund",), "high", 2),
        ("tools.pay_*", ("pay_*",), "critical", 3),
    ]


def test_e58_a_tier_of_ones_own_ranks_below_critical_unless_it_runs_alone() -> None:
    found = policy('[tiers.money]\nneeds = "2 finance"\n[tiers.reading]\nalone = true')

    assert found.order == ("low", "reading", "medium", "high", "money", "critical")


def test_e58_a_tier_of_ones_own_stands_where_it_is_written() -> None:
    needs = '\nneeds = "1 senior"\n'
    names = ("small", "medium", "payout", "large", "critical", "doomsday")
    found = policy("".join(f"[tiers.{name}]{needs}" for name in names))

    assert found.order == (
        *("low", "small", "medium", "payout", "large", "high", "critical", "doomsday"),
    )
    assert [found.tiers[name].rank for name in names] == [399, 300, 299, 298, 100, 99]


def test_a_usual_tier_keeps_its_people_when_only_its_times_are_said() -> None:
    found = policy('[tiers.high]\nwithin = "1d"\n[tiers.critical]\ndeny = 2\n').tiers

    assert found["high"].terms.needs == Requirement.parse("1 senior")
    assert found["high"].terms.within == 86400
    assert found["critical"].terms.needs == Requirement.parse(["1 senior", "1 security"], deny=2)


def test_groups_roles_and_what_a_role_counts_as() -> None:
    found = policy(
        """
        [groups]
        security = ["anna", "ben"]
        [roles]
        cleo = ["senior"]
        [implies]
        lead = ["senior"]
        """
    )

    assert found.groups == {"security": ("anna", "ben")}
    assert found.roles == {"cleo": ("senior",)}
    assert found.implied == {"senior": ("junior",), "lead": ("senior",)}


@pytest.mark.parametrize("cool_off", ["0", "0.0"])
def test_no_cool_off_can_be_said(cool_off: str) -> None:
    found = policy(f'[tiers.x]\nneeds = "1 a"\ncool_off = {cool_off}').tiers["x"]

    assert found.terms.cool_off == 0


@pytest.mark.parametrize(
    ("asks", "per"),
    [
        ("100 per minute", 60),
        ("100 per hour", 3600),
        ("100 per day", 86400),
        ("100 per 10m", 600),
        (" 100  per 1h30m ", 5400),
    ],
)
def test_how_many_asks_in_which_time(asks: str, per: float) -> None:
    assert policy(f'[agents]\nasks = "{asks}"').pace("shop") == (100, per, 1000)


def test_what_is_said_of_one_agent_replaces_what_is_said_of_each() -> None:
    found = policy(
        """
        [agents]
        asks = "100 per hour"
        waiting = 50
        [agents.crawler]
        asks = "5 per minute"
        [agents.Night-Shift]
        waiting = 2
        """
    )

    assert found.pace("shop") == (100, 3600, 50)
    assert found.pace("crawler") == (5, 60, 50)
    assert found.pace("night-shift") == (100, 3600, 2)


def test_a_limit_can_be_lifted_and_else_there_is_a_pace() -> None:
    assert tuple(DEFAULT) == (600, 60, 1000)
    assert policy("").pace("shop") == DEFAULT
    assert policy("[agents.crawler]\nwaiting = 1\n").pace("shop") == DEFAULT
    assert policy("[agents.crawler]\nwaiting = 1\n").pace("crawler") == (600, 60, 1)

    found = policy("[agents]\nasks = false\n[agents.crawler]\nwaiting = false\n")

    assert found.pace("shop") == (NO_LIMIT, 60, 1000)
    assert found.pace("crawler") == (NO_LIMIT, 60, NO_LIMIT)
    assert pace_told(found.pace("shop")) == "as many asks as it likes, at most 1,000 open at once"
    assert pace_told(found.pace("crawler")) == "as many asks as it likes, any number open at once"
    assert pace_told(DEFAULT) == "at most 600 asks in 1 min, at most 1,000 open at once"


def test_a_stand_in_for_one_of_several_places_may_count_as_another() -> None:
    """A senior counts as a junior, but not as security, so there is something to stand in for."""
    text = """
    [tiers.x]
    needs = ["1 junior", "1 security"]
    escalate = [{ after = "1h", to = ["senior"] }]
    """

    assert policy(text).tiers["x"].terms.ladder == (Rung(3600, ("senior",)),)


def test_the_calls_of_a_tool_are_sorted_by_an_argument_that_the_words_name() -> None:
    plain, by_sum, by_unit = (
        policy(PAY + more) for more in ("", 'bucket = "sum"', 'bucket = "unit"')
    )

    assert [one.declared["pay"].sorts for one in (plain, by_sum, by_unit)] == [None, "sum", "unit"]
    assert [one.sentence for one in changes(plain, by_unit)] == [
        "Changed: the declaration of pay. Before: It takes sum (integer), unit (string). "
        "Now: It takes sum (integer), unit (string). Each unit is a kind of call that earns by itself."
    ]
    assert [one.what for one in changes(by_sum, by_unit)] == ["the declaration of pay"]


# --- bad ones: file, line, column, and what to do ---

RULE = '[[rules]]\nname = "x"\neffect = "ask"\n'
TIER = '[tiers.x]\nneeds = ["1 senior"]\n'
PAY = '[tools.pay]\nargs = { sum = "integer", unit = "string" }\n'
RUNGS = f'{RULE}needs = "1 senior"\nwithin = "8h"\nescalate = ['

BAD = [
    # no TOML
    ("[[rules]\n", "1:8", "Expected ']]'"),
    ("x = 1\nx = 2\n", "2:6", "Cannot overwrite a value"),
    ("[tiers.x]\nneeds = [\n  '1 senior'\n\n", "3:12", "ends too early"),
    ('[tools]\nrefund = "high\n', "2:15", "Illegal character"),
    ("a = " + "[" * 3000 + "]" * 3000, "1:1", "nested too deep"),
    # what is not known
    ("[rulez]\n", "1:1", "no 'rulez' here. Did you mean rules?"),
    ("[[rule]]\n", "1:1", "Did you mean rules?"),
    ("qwxyz = 1\n", "1:1", "There are: tiers, rules, groups"),
    (f'{RULE}wwhen = "conflict"\n', "4:1", "no 'wwhen' here. Did you mean when?"),
    (f"{TIER}on_timout = 'reject'\n", "3:1", "Did you mean on_timeout?"),
    (f"{RUNGS}{{ aftr = '1h', to = 'a' }}]", "6:15", "Did you mean after?"),
    (f"{RUNGS}{{ after = '1h', needs = '1 a' }}]", "6:29", "no 'needs' here. There are: after, to"),
    ('[tools]\nrefund = "hihg"\n', "2:10", "no tier 'hihg'. There are: low, medium, high"),
    ('[tools]\nrefund = ["high"]\n', "2:10", "no tier ['high']"),
    ('[[rules]]\nname = "x"\ntier = "hihg"\n', "3:8", "no tier 'hihg'"),
    ('[tools]\n"" = "high"\n', "2:1", "cannot be the name of a tool"),
    ('[tools]\n"a\\u202Eb" = "high"\n', "2:1", "[U+202E RIGHT-TO-LEFT OVERRIDE]"),
    # a bucket
    ('[tools.pay]\ntier = "low"\nbucket = "unit"\n', "3:10", "'unit', and no args are declared"),
    (f'{PAY}bucket = "unti"\n', "3:10", "'unti', which is no declared argument: sum, unit."),
    (f'{PAY}bucket = "card"\nsecret = ["card"]\n', "3:10", "'card', which is secret"),
    (f'{PAY}bucket = ["unit"]\n', "3:10", 'bucket names one argument, such as "currency"'),
    (f'{PAY}bucket = ""\n', "3:10", "'', which is no declared argument"),
    ('[tools]\n"pay*" = { tier = "low", bucket = "unit" }\n', "2:26", "goes with the name of one"),
    # of the wrong kind
    ("default = 'no'\n", "1:11", "default is true or false"),
    ("tiers = 5\n", "1:9", "tiers is a table: [tiers]"),
    ("[tiers]\nx = 5\n", "2:5", "x is a table: [tiers.x]"),
    ("[rules]\nname = 'x'\n", "1:1", "each under [[rules]]"),
    ("rules = ['x']\n", "1:9", "each under [[rules]]"),
    ("tools = 'refund'\n", "1:9", "tools is a table"),
    ("[groups]\nsecurity = 'anna'\n", "2:12", 'a list of names, such as ["anna"]'),
    ("[groups]\nsecurity = []\n", "2:12", "Nobody is in the group security"),
    ("[groups]\nsecurity = ['a b']\n", "2:12", "cannot be the name of a person"),
    ("[groups]\n'a b' = ['anna']\n", "2:1", "cannot be the name of a group"),
    ("[groups]\nreviewer = ['anna']\n", "2:12", "Everybody on the desk is a reviewer"),
    ("[roles]\nanna = ['reviewer']\n", "2:8", "Everybody on the desk is a reviewer"),
    ("[roles]\nanna = [5]\n", "2:8", "cannot be the name of a role"),
    ("[implies]\nlead = 'senior'\n", "2:8", "a list of names"),
    # rules
    ('[[rules]]\neffect = "ask"\n', "1:1", "A rule needs a name"),
    ('[[rules]]\nname = "  "\neffect = "ask"\n', "2:8", "A rule needs a name"),
    ("[[rules]]\nname = 5\neffect = 'ask'\n", "2:8", "name is a text"),
    (f"[[rules]]\nname = '{'x' * 101}'\neffect = 'ask'\n", "2:8", "up to 100 characters"),
    ('[[rules]]\nname = "a\\u202Eb"\neffect = "ask"\n', "2:8", "[U+202E RIGHT-TO-LEFT"),
    ('[[rules]]\nname = "x"\n', "1:1", "either tier = ... or effect"),
    (f'{RULE}tier = "high"\n', "1:1", "either tier = ... or effect"),
    ('[[rules]]\nname = "x"\neffect = "maybe"\n', "3:10", "effect is allow, ask or deny"),
    (f"{RULE}{RULE}", "5:8", "a rule 'x' already, in line 1"),
    ('[[rules]]\nname = "unsure"\neffect = "ask"\n', "2:8", "already, in the default policy"),
    ('[tools]\nx = "low"\n[[rules]]\nname = "tools.x"\neffect = "ask"\n', "4:8", "already"),
    ('[[rules]]\nname = "x"\ntier = "low"\nneeds = "1 a"\n', "4:1", 'goes with effect = "ask"'),
    ('[[rules]]\nname = "x"\neffect = "deny"\nwithin = "1h"\n', "4:1", "within goes with"),
    (f"{RULE}tool = 'a'\ntools = ['b']\n", "4:1", "tool and tools are the same"),
    (f"{RULE}tools = []\n", "4:9", "tools names one or more"),
    (f"{RULE}tools = ['a', '']\n", "4:9", "tools holds '' in place 2"),
    (f"{RULE}tool = 5\n", "4:8", "tool names one or more"),
    (f"{RULE}why = 5\n", "4:7", "why is a text"),
    (f'{RULE}why = "a\\u200Bb"\n', "4:7", "cannot be seen: a[U+200B"),
    # conditions
    (f'{RULE}when = "amount > 1"\n', "4:9", "nothing called 'amount'"),
    (f"{RULE}when = 'args.x == 1 && amount > 1'\n", "4:24", "nothing called 'amount'"),
    (f'{RULE}when = "args.x == \\"a\\" && amount > 1"\n', "4:28", "nothing called 'amount'"),
    (f"{RULE}when = \"tool == '\\u00e9' && amount > 1\"\n", "4:29", "nothing called 'amount'"),
    (f'{RULE}when = """\nargs.x == 1 &&\n  amount > 1"""\n', "6:3", "nothing called 'amount'"),
    (f'{RULE}when = """args.x == 1 && \\\n   amount > 1"""\n', "5:4", "nothing called 'amount'"),
    (f"{RULE}when = '''\nargs.x == 1 &&\n  amount > 1'''\n", "6:3", "nothing called 'amount'"),
    (f'{RULE}when = "tool =="\n', "4:16", "ends too early"),
    (f'{RULE}when = "false"\n', "4:9", "never true"),
    (f'{RULE}when = "1 > 2"\n', "4:9", "never true"),
    (f'{RULE}when = "args.flag"\n', "4:9", "args.flag == true"),
    (f"{RULE}when = true\n", "4:8", "A condition is a text"),
    # who and when
    (f"{RULE}needs = {{ senior = 1 }}\n", "4:9", 'such as ["1 senior", "1 security"]'),
    (f"{RULE}needs = []\n", "4:9", "asks nobody"),
    (f"{RULE}needs = ['one senior person']\n", "4:9", "is no requirement"),
    (f"{RULE}needs = ['{'9' * 5000} senior']\n", "4:9", "up to 100"),
    (f"{RULE}needs = 'senior'\ndeny = 0\n", "5:8", "from 1 on"),
    (f"{RULE}deny = true\n", "4:8", "from 1 on"),
    (f"{RULE}within = '-1h'\n", "4:10", "not a span of time"),
    (f"{RULE}within = 0\n", "4:10", "longer than zero"),
    (f"{RULE}within = -5\n", "4:10", "longer than zero"),
    (f"{RULE}within = nan\n", "4:10", "not a span of time"),
    (f"{RULE}within = 07:30:00\n", "4:10", "not a span of time"),
    (f"{RULE}cool_off = false\n", "4:12", "not a span of time"),
    (f"{RULE}execute_within = '2000 years'\n", "4:18", "not a span of time"),
    (f"{RULE}on_timeout = 'reject'\n", "4:14", "needs a deadline"),
    (f"{RULE}within = '1h'\non_timeout = 'allow'\n", "5:14", "reject, or approve"),
    (f"{RULE}remind = [0.5]\n", "4:10", "needs a deadline"),
    (f"{RULE}within = '1h'\nremind = [2.0]\n", "5:10", "such as [0.5, 0.9]"),
    (f"{RULE}within = '1h'\nremind = 0.5\n", "5:10", "such as [0.5, 0.9]"),
    (f"{RULE}requester = 'yes'\n", "4:13", "requester is true or false"),
    # tiers
    ("[tiers.x]\nwithin = '1h'\n", "1:1", "neither alone = true nor needs"),
    ("[tiers.low]\nwithin = '1h'\n", "1:1", "neither alone = true nor needs"),
    ("[tiers.'a b']\nalone = true\n", "1:1", "cannot be the name of a tier"),
    ("[tiers.x]\nalone = 1\n", "2:9", "alone is true or false"),
    (f"{TIER}alone = true\n", "2:1", "leave needs out"),
    ("[tiers.high]\nalone = true\n", "2:9", "never runs alone"),
    ("[tiers.critical]\nalone = true\n", "2:9", "never runs alone"),
    (
        "[tiers.high]\nwithin = '1h'\non_timeout = 'approve'\n",
        "3:14",
        "never approved by the clock",
    ),
    (f"{TIER}name = 'y'\n", "3:1", "no 'name' here"),
    # escalation
    (f"{RULE}escalate = 'lead'\n", "4:12", "escalate is a list"),
    (f"{RUNGS}{{ after = '1h' }}]", "6:13", "A rung says after and to"),
    (f"{RUNGS}{{ after = 'soon', to = 'a' }}]", "6:23", "not a span of time"),
    (f"{RUNGS}{{ after = 0, to = 'a' }}]", "6:23", "longer than zero"),
    (f"{RUNGS}{{ after = '1h', to = [] }}]", "6:34", 'such as ["lead"]'),
    (f"{RUNGS}{{ after = '1h', to = 5 }}]", "6:34", 'such as ["lead"]'),
    (f"{RUNGS}{{ after = '1h', to = ['1 lead'] }}]", "6:34", "cannot be the name of a role"),
    (f"{RUNGS}{{ after = '1h', to = 'reviewer' }}]", "6:34", "Then everybody could decide"),
    (
        f"{RUNGS}\n{{ after = '2h', to = 'a' }},\n{{ after = '2h', to = 'b' }}]",
        "8:11",
        "go up in time",
    ),
    (f"{RUNGS}{{ after = '8h', to = 'lead' }}]", "6:23", "after the deadline"),
    (
        f"{RUNGS}{{ after = '1h', to = ['lead', 'senior'] }}]",
        "6:34",
        "senior is asked at first: the escalation goes round in a circle",
    ),
    (
        f"{RUNGS}\n{{ after = '1h', to = ['a', 'b'] }},\n"
        "{ after = '2h', to = 'c' },\n{ after = '3h', to = ['d', 'b'] }]",
        "9:22",
        "b is asked on rung 1: the escalation goes round in a circle",
    ),
    (f"{RUNGS}{{ after = '1h', to = ['a', 'a'] }}]", "6:34", "a is asked on this rung"),
    (
        f"{RULE}[[rules.escalate]]\nafter = '1h'\nto = 'lead'\n",
        "6:6",
        "lead may fill every place from the beginning",
    ),
    (
        "[tiers.medium]\nescalate = [{ after = '1h', to = 'senior' }]\n",
        "2:34",
        "senior may fill every place from the beginning",
    ),
    # agents
    ("agents = 5\n", "1:10", "agents is a table: [agents]"),
    ("[agents]\nask = '1 per hour'\n", "2:1", "'ask' is neither asks nor waiting"),
    ("[agents]\nasks = 100\n", "2:8", 'written like "100 per hour"'),
    ("[agents]\nasks = '100'\n", "2:8", 'written like "100 per hour"'),
    ("[agents]\nasks = '0 per hour'\n", "2:8", 'written like "100 per hour"'),
    ("[agents]\nasks = '-1 per hour'\n", "2:8", 'written like "100 per hour"'),
    ("[agents]\nasks = '1.5 per hour'\n", "2:8", 'written like "100 per hour"'),
    (f"[agents]\nasks = '{'9' * 5000} per hour'\n", "2:8", 'written like "100 per hour"'),
    ("[agents]\nasks = '5 per fortnight'\n", "2:8", "'fortnight' is no time to count them in"),
    ("[agents]\nasks = '5 per 0m'\n", "2:8", "'0m' is no time to count them in"),
    ("[agents]\nasks = { a = 1 }\n", "2:8", 'written like "100 per hour"'),
    ("[agents]\nwaiting = 0\n", "2:11", "1 to 1,000,000"),
    ("[agents]\nwaiting = true\n", "2:11", "1 to 1,000,000"),
    ("[agents]\nwaiting = 1.0\n", "2:11", "1 to 1,000,000"),
    ("[agents.shop]\nwait = 5\n", "2:1", "Did you mean waiting?"),
    ("[agents.shop]\n", "1:1", "Say how fast it may ask"),
    ("[agents.shop]\nwaiting = -1\n", "2:11", "1 to 1,000,000"),
    ("[agents.'']\nwaiting = 1\n", "1:1", "cannot be the name of an agent"),
    ('[agents."a\\u202Eb"]\nwaiting = 1\n', "1:1", "[U+202E RIGHT-TO-LEFT OVERRIDE]"),
]


@pytest.mark.parametrize(("text", "place", "word"), BAD)
def test_what_is_wrong_is_said_with_its_place(text: str, place: str, word: str) -> None:
    said = refused(text)

    assert word in said
    assert said.startswith(f"p.toml:{place}: ")


def test_a_mistake_in_windows_lines_stands_on_the_same_line() -> None:
    text = f'{RULE}when = """\nargs.x == 1 &&\n  amount > 1"""\n'.replace("\n", "\r\n")

    assert refused(text).startswith("p.toml:6:3: ")


def test_nothing_of_a_broken_policy_is_taken_over() -> None:
    with pytest.raises(BadPolicy):
        policy(f'{RULE}[[rules]]\nname = "y"\neffect = "sometimes"\n')


# --- places: wherever the tables of a document begin ---

bare = st.from_regex(r"[a-z_-]{1,4}", fullmatch=True)
names = bare | st.text("ab .\"'\\é", min_size=1, max_size=3)
scalars = (
    st.integers(-99, 99)
    | st.booleans()
    | st.text("ab #=[]{}\"'\\é\n", max_size=6)
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=5)
tables = st.dictionaries(names, values | st.dictionaries(names, scalars, max_size=2), max_size=4)


def written(value: Any) -> str:
    match value:
        case dict():
            pairs = (f"{json.dumps(name)} = {written(item)}" for name, item in value.items())
            return "{ " + ", ".join(pairs) + " }"
        case list():
            return "[\n  " + ",  # more\n  ".join(map(written, value)) + "\n]"
        case str() if "\n" in value and "'''" not in value and not value.endswith("'"):
            return f"'''\n{value}'''"
        case str():
            return json.dumps(value)
        case _:
            return json.dumps(value)


def every_path(value: Any, path: Path = ()) -> set[Path]:
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return {path}.union(*(every_path(item, (*path, name)) for name, item in inner)) - {()}


@settings(deadline=None)
@given(tables, st.lists(tables, max_size=2), st.dictionaries(names, tables, max_size=2))
def test_every_value_of_a_document_has_a_place_and_stands_there(
    top: dict[str, Any], rules: list[dict[str, Any]], tiers: dict[str, dict[str, Any]]
) -> None:
    def lines(table: dict[str, Any]) -> str:
        return "".join(f"  {json.dumps(n)}={written(v)}\t# {n!r} =\n" for n, v in table.items())

    top = {name: value for name, value in top.items() if name not in ("rules", "tiers")}
    text = lines(top)
    text += "".join(f"[[ rules ]]  # [x]\n{lines(table)}" for table in rules)
    text += "".join(f"[tiers.{json.dumps(n)}]\n{lines(table)}" for n, table in tiers.items())
    read_by_tomllib = tomllib.loads(text)

    found = places(text)

    headers = {("rules",), ("tiers",)}
    assert every_path(read_by_tomllib) - headers <= set(found.values)
    rows = text.split("\n")
    for name, value in top.items():
        place = found.of((name,))
        assert place is not None
        assert rows[place[0] - 1][place[1] - 1 :].startswith(written(value).split("\n")[0])
        key = found.of((name,), key=True)
        assert key is not None
        assert rows[key[0] - 1][key[1] - 1 :].startswith(json.dumps(name))


@settings(deadline=None)
@given(st.text("ab\"'\\é😀\n\t ", max_size=12))
def test_every_character_of_a_text_is_found_where_it_is_written(inside: str) -> None:
    marked = f"{inside}@"
    line, column = marked.count("\n") + 1, len(marked.rsplit("\n", 1)[-1])
    for token in (
        json.dumps(marked),
        json.dumps(marked, ensure_ascii=False),
        '"""\n' + inside.replace("\\", "\\\\").replace('"', '\\"') + '@"""',
    ):
        text = f"a = 1\nb = {token}\nc = 2"
        if "\\ud8" in token:  # half a character is none in TOML
            continue
        assert tomllib.loads(text)["b"] == marked

        found = places(text).inside(("b",), line, column)

        assert found is not None
        assert text.split("\n")[found[0] - 1][found[1] - 1] == "@"


@pytest.mark.parametrize(
    ("when", "wrong"),
    [
        ("risk == 'hihg'", "hihg"),
        ('kind != "acton"', "acton"),
        ("risk=='severe' || unseen", "severe"),
    ],
)
def test_a_word_that_is_none_is_refused_where_it_stands(when: str, wrong: str) -> None:
    text = f"[[rules]]\nname = 'typo'\nwhen = {when!r}\neffect = 'deny'\n"

    with pytest.raises(BadPolicy, match=f"called '{wrong}', so this never holds") as caught:
        read(text, source="law.toml")

    assert caught.value.line == 3


def test_a_tier_of_ones_own_is_a_word_for_a_risk() -> None:
    policy = read(
        "[tiers.severe]\nneeds = ['1 senior']\n"
        "[[rules]]\nname = 'own'\nwhen = \"risk == 'severe'\"\neffect = 'deny'\n",
        source="law.toml",
    )

    assert policy.rules[-1].name == "own"
