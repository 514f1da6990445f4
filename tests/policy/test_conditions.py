"""Conditions: what they see, what they refuse, and that not knowing is no no."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.errors import BadPolicy
from sayso.policy.complaints import VARIABLES, untold
from sayso.policy.conditions import Condition, Conditions, Verdict
from sayso.policy.facts import Facts
from tests.hostile import ALL, raw_in

NOW = datetime(2026, 3, 4, 17, 30, tzinfo=UTC)  # a Wednesday


def said(*texts: str, now: datetime = NOW, **facts: Any) -> list[Verdict]:
    conditions = Conditions([Condition.parse(text) for text in texts])
    return conditions.evaluated(Facts(**facts).values(now))


def refused(text: Any) -> BadPolicy:
    with pytest.raises(BadPolicy) as error:
        Condition.parse(text)
    return error.value


# --- what a condition sees ---

SEEN: list[tuple[str, dict[str, Any]]] = [
    ('tool == "refund"', {"tool": "refund"}),
    ("args.amount > 100", {"args": {"amount": 101}}),
    ('agent.startsWith("growth")', {"agent": "growth-2"}),
    ('kind == "draft"', {"kind": "draft"}),
    ('risk in ["high", "critical"]', {"risk": "high"}),
    ("confidence < 0.7", {"confidence": 0.69}),
    ("conflict", {"conflict": True}),
    ("unseen", {"unseen": True}),
    ("unreadable", {"unreadable": True}),
    ("reversible == false", {"reversible": False}),
    ('affects == "customers"', {"affects": "customers"}),
    ('"pii" in tags', {"tags": ("pii", "eu")}),
    ('time.getHours("Europe/Berlin") >= 18', {}),
]


@pytest.mark.parametrize(("text", "facts"), SEEN)
def test_a_condition_sees_the_facts_of_a_call(text: str, facts: dict[str, Any]) -> None:
    assert said(text, **facts) == [True]
    if facts:
        assert said(text) != [True]
    else:
        assert said(text, now=NOW.replace(hour=6)) == [False]


def test_every_variable_is_tried_here() -> None:
    assert [text for text, _ in SEEN if not any(name in text for name in VARIABLES)] == []
    assert [
        n for n in VARIABLES if not any(n in text.split('"')[0] or n in text for text, _ in SEEN)
    ] == []


@pytest.mark.parametrize(
    ("text", "args", "answer"),
    [
        ("args.amount > 100", {"amount": 100.5}, True),
        ("args.amount > 100.0", {"amount": 101}, True),
        ('args.to.endsWith("@corp.example")', {"to": "a@corp.example"}, True),
        ('args.to.lowerAscii().split("@")[1] == "corp.example"', {"to": "A@Corp.Example"}, True),
        ('args.to.matches("^[a-z]+$")', {"to": "abc1"}, False),
        (
            "args.items.exists(item, item.price > 10)",
            {"items": [{"price": 1}, {"price": 11}]},
            True,
        ),
        ("size(args.items) > 2", {"items": [1, 2, 3]}, True),
        ('args["two words"] == 1', {"two words": 1}, True),
        ("has(args.address.zip)", {"address": {"zip": 1}}, True),
        ("has(args.address)", {}, False),
        ("args.note == null", {"note": None}, True),
        ("args.amount > 100 // more than usual", {"amount": 101}, True),
        ("args.amount >\n  100", {"amount": 101}, True),
    ],
)
def test_arguments_are_reached_by_name(text: str, args: dict[str, Any], answer: bool) -> None:
    assert said(text, args=args) == [answer]


@pytest.mark.parametrize(
    ("name", "value"),
    [("risk", "low"), ("confidence", 0.9), ("reversible", True), ("affects", "customers")],
)
def test_what_was_not_stated_is_not_stated(name: str, value: Any) -> None:
    stated: dict[str, Any] = {name: value}

    assert said(f"has({name})", f"!has({name})", f"has( {name} )") == [False, True, False]
    assert said(f"has({name})", f"!has({name})", **stated) == [True, False]


def test_confidence_that_was_not_stated_is_no_reason_to_ask() -> None:
    text = "has(confidence) && confidence < 0.7"

    assert [said(text, confidence=value) for value in (None, 0.5, 0.7, 1)] == [
        [False],
        [True],
        [False],
        [False],
    ]


def test_has_in_quotes_and_comments_is_only_text() -> None:
    assert said('tool == "has(risk)"', tool="has(risk)") == [True]
    assert said("tool == 'it\\'s has(risk)'", tool="it's has(risk)") == [True]
    assert said('tool == r"\\has(risk)"', tool="\\has(risk)") == [True]
    assert said('tool == """say "has(risk)" """', tool='say "has(risk)" ') == [True]
    assert said("conflict // has(risk)\n", conflict=True) == [True]


# --- what is refused when it is loaded ---


@pytest.mark.parametrize(
    ("text", "line", "column", "word"),
    [
        ("amount > 100", 1, 1, "There is nothing called 'amount'"),
        ("args.x == 1 &&\n  amount > 100", 2, 3, "There is nothing called 'amount'"),
        ("tool == 'é😀' && amount > 1", 1, 17, "There is nothing called 'amount'"),
        ("has(confidence) && amount > 1", 1, 20, "There is nothing called 'amount'"),
        ("has(  risk  ) && amount > 1", 1, 18, "There is nothing called 'amount'"),
        ("tool.shout() == 'X'", 1, 11, "There is no function 'shout'"),
        ("tool ==", 1, 8, "ends too early"),
        ("tool = 'x'", 1, 6, "write == instead of ="),
        ("(tool == 'x'", 1, 13, "missing ')'"),
        ("tool == 'x') || (true", 1, 12, "')'"),
        ("risk > 5", 1, 6, "> does not go with string and int"),
        ("has(tool)", 1, 5, "always there"),
        ("tool", 1, 1, "no yes or no but string"),
        ("1 + 1", 1, 1, "no yes or no but int"),
        ("args.flag", 1, 1, "args.flag == true"),
        ("reversible", 1, 1, "reversible == true"),
        ("false", 1, 1, "never true"),
        ("1 == 2 || 'a' in ['b']", 1, 1, "never true"),
        ("1 / 0 == 1", 1, 1, "never be told"),
        ("args.to.matches('(')", 1, 17, "regular expression"),
        ("unseen ||\ntime.getHours('Europe/Berlinn') > 17", 2, 15, "timezone"),
        ("(" * 200 + "true" + ")" * 200, 1, 1, "nested too deep"),
        ("tool == '\ud800'", 1, 1, "no text"),
        ("   ", 1, 1, "A condition is a text"),
        ("", 1, 1, "A condition is a text"),
        (True, 1, 1, "A condition is a text"),
        (None, 1, 1, "A condition is a text"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused_with_its_place(
    text: Any, line: int, column: int, word: str
) -> None:
    error = refused(text)

    assert word in str(error)
    assert (error.line, error.column) == (line, column)


def test_reasons_and_faults_are_one_line_that_can_be_read() -> None:
    error = refused(f"nothing == '''{ALL}''' &&\n" + "true && " * 2000 + "true")

    assert len(str(error)) < 500
    assert raw_in(str(error)) == []
    assert "\n" not in str(error)

    (why,) = said("args.map[args.key] == 1", args={"map": {}, "key": ALL + "x" * 10_000})

    assert isinstance(why, str)
    assert len(why) < 120
    assert raw_in(why) == []
    assert len(untold("an error of the library that nobody has met " * 9)) == 120


# --- what cannot be told on a call ---


@pytest.mark.parametrize(
    ("text", "args", "why"),
    [
        ("args.amount > 100", {}, 'there is no "amount"'),
        ("args.amount > 100", {"amount": "200"}, "> does not go with string and int"),
        ("args.amount > 100", {"amount": None}, "> does not go with null and int"),
        ("confidence < 0.7", {}, "< does not go with null and double"),
        ("!reversible", {}, "! does not go with this value"),
        ("args.a.b == 1", {"a": 5}, "no fields"),
        ("args.list[3] == 1", {"list": [1]}, "there is no item 3"),
        ("int(args.x) > 1", {"x": "one"}, "cannot convert"),
        ("args.x / 0 == 1", {"x": 1}, "divide by zero"),
        ("args.x.all(a, args.x.all(b, a == b))", {"x": [1] * 500}, "too much to go through"),
        ("args.text == 'x'", {"text": "\ud800"}, "no text"),
    ],
)
def test_what_cannot_be_told_is_neither_yes_nor_no(
    text: str, args: dict[str, Any], why: str
) -> None:
    sure = "tool == 'pay'"
    found = said(sure, text, "args == args || true", tool="pay", args=args)

    assert isinstance(found[1], str)
    assert why in found[1]
    if "\ud800" not in str(args):
        assert found[0] is True, "one that cannot be told says nothing about the others"


def test_what_is_known_anyway_stands_and_no_conditions_say_nothing() -> None:
    assert said("unseen || args.amount > 100", unseen=True) == [True]
    assert said("conflict && args.amount > 100") == [False]

    assert said("true", "1 < 2") == [True, True]

    assert Conditions([]).evaluated(Facts().values(NOW)) == []


@pytest.mark.parametrize("amount", [2**63 - 1, 2**63, 2**70, 10**309, 10**400])
def test_numbers_of_any_size_keep_their_order(amount: int) -> None:
    texts = ("args.amount > 1000", "args.amount < -1000")

    assert said(*texts, args={"amount": amount}) == [True, False]
    assert said(*texts, args={"amount": -amount}) == [False, True]
    assert said("args.deep[0].amount > 1000", args={"deep": [{"amount": amount}]}) == [True]


@pytest.mark.parametrize("text", [ALL, "😀" * 1000, "x" * 1_000_000])
def test_hostile_text_is_compared_as_it_is(text: str) -> None:
    length = f"size(args.text) == {len(text)}"

    assert said("args.text == affects", length, affects=text, args={"text": text}) == [True, True]


def test_a_text_is_never_judged_by_its_beginning_alone() -> None:
    """The library ends a text at the first null character; what runs is the whole of it."""
    inside = "args.to.endsWith('@corp.example')"

    told, other = said(inside, "tool == ''", args={"to": "a@corp.example\0@evil.example"})
    assert told == "a text holds characters that are no text"
    assert other is True
    hidden = {"to": "a@evil.example", "to\0": "a@corp.example"}
    assert said(inside, args=hidden) == said(inside, args=dict(reversed(hidden.items()))) == [False]
    assert isinstance(said("tool == 'pay'", tool="pay\0")[0], str)
    assert isinstance(said("'a' in tags", tags=("a\0b",))[0], str)


# --- all at once ---

CONDITIONS = [
    "args.amount > 100",
    "args.amount < 10 // small",
    "has(args.note)",
    'has(args.note) && args.note.contains("has(risk)")',
    "has(confidence) && confidence < 0.7",
    "confidence < 0.7",
    "conflict || unseen",
    "!reversible",
    'risk == "high"',
    "args.list.exists(item, item > args.amount)",
    "size(args.list) > 3",
    "(" * 28 + "unseen" + ")" * 28,  # too deep to stand in a row with others
    'tool.startsWith("pay")',
    "true",
]
small = st.integers(-200, 200) | st.sampled_from([2**63, -(2**70), 10**400])
facts = st.builds(
    Facts,
    tool=st.none() | st.sampled_from(["pay", "refund"]),
    args=st.fixed_dictionaries(
        {},
        optional={
            "amount": small | st.floats(allow_nan=False) | st.text(max_size=3) | st.none(),
            "note": st.text(max_size=5) | st.just("has(risk)"),
            "list": st.lists(small, max_size=5),
        },
    ),
    risk=st.none() | st.sampled_from(["low", "high"]),
    confidence=st.none() | st.floats(0, 1),
    conflict=st.booleans(),
    unseen=st.booleans(),
    unreadable=st.booleans(),
    reversible=st.none() | st.booleans(),
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(CONDITIONS), max_size=150), facts)
def test_many_at_once_say_what_each_says_alone(texts: list[str], call: Facts) -> None:
    parsed = [Condition.parse(text) for text in texts]
    values = call.values(NOW)
    alone = {c.text: Conditions([c]).evaluated(values)[0] for c in parsed}

    assert Conditions(parsed).evaluated(values) == [alone[text] for text in texts]


def test_threads_do_not_disturb_each_other() -> None:
    conditions = Conditions([Condition.parse(f"args.n == {n}") for n in range(130)])
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def tried(number: int) -> bool:
        found = conditions.evaluated(Facts(args={"n": number}).values(NOW))
        return found == [n == number for n in range(130)]

    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(tried, [n % 130 for n in range(1000)]))
    finally:
        sys.setswitchinterval(before)


def test_the_language_of_conditions_is_loaded_when_a_condition_is() -> None:
    """Whoever imports sayso, and `Policy` and `Rule` with it, does not wait for it."""
    code = (
        "import sys; from sayso import Facts, Policy, Rule; print('cel_expr_python' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
