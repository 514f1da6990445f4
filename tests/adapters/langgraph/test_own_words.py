"""Payloads in a program's own words become choices, approvals and typed questions, and nothing else.

What they say is shown. It decides neither who is asked nor what a button means.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from sayso import Ask, Desk
from sayso.adapters.langgraph import Graph
from sayso.adapters.langgraph.answers import Answers
from sayso.adapters.langgraph.calls import Calls
from sayso.adapters.langgraph.raised import Known, Raised
from sayso.adapters.langgraph.shapes import shape_of
from sayso.errors import BadValue, InvalidAnswer, VerdictNotAllowed
from tests.adapters.langgraph.conftest import Setting
from tests.adapters.langgraph.graphs import State, one_node
from tests.adapters.langgraph.workshop import Bench
from tests.runs.people import answered, ask_of

WIPE: dict[str, Any] = {"action": "wipe", "disk": "sda", "message": "Wipe it?"}
STRICT = """
[[rules]]
name = "two for disks"
tools = ["wipe"]
effect = "ask"
needs = "2 reviewer"
"""
LENIENT = """
[[rules]]
name = "wipe away"
tools = ["wipe"]
effect = "allow"
"""
DENIES = STRICT.replace('"ask"', '"deny"').replace('needs = "2 reviewer"', "")


def asked(bench: Setting, value: Any, schema: Any = None, **more: Any) -> tuple[Bench, Any, Ask]:
    made = bench("ask", **more)
    run = made.begin({"log": [], "value": value, "schema": schema})
    return made, run, made.ask(run)


def heard(made: Bench, run: Any) -> Any:
    made.go(run)
    assert run.status == "done", (run.status, run.error)
    return run.output["log"][0]


# --- choices -----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["options", "choices"])
def test_options_become_buttons_and_the_graph_hears_the_option(bench: Setting, key: str):
    made, run, ask = asked(bench, {"question": "Which size?", key: ["small", 7, True]})
    assert (ask.kind, ask.title) == ("choice", "Which size?")
    assert [one.label for one in ask.content.options] == ["small", "7", "true"]
    made.desk.approve(ask, option="7")
    assert heard(made, run) == 7


def test_an_option_with_a_value_of_its_own_says_what_the_graph_hears(bench: Setting):
    """A label is hostile text: it may say the opposite of what it sends."""
    options = [{"label": "Reject", "value": "approve"}, {"label": "Other", "colour": "red"}]
    made, run, ask = asked(bench, {"question": "And?", "options": options})
    first, second = ask.content.options
    assert (first.detail, "colour" in str(second.detail)) == ("The graph hears: approve", True)
    made.desk.approve(ask, option="Other")
    assert heard(made, run) == options[1]


def test_something_else_than_the_listed_options_may_be_answered(bench: Setting):
    made, run, ask = asked(bench, {"question": "Which size?", "options": ["small", "large"]})
    made.desk.respond(ask, {"size": 40})
    assert heard(made, run) == {"size": 40}


def test_a_schema_that_lists_values_takes_no_others(bench: Setting):
    made, run, ask = asked(bench, "Which size?", {"enum": ["small", {"size": 40}]})
    with pytest.raises(VerdictNotAllowed):
        made.desk.respond(ask, "medium")
    made.desk.approve(ask, option='{"size": 40}')
    assert heard(made, run) == {"size": 40}


def test_values_with_titles_are_buttons_with_these_words(bench: Setting):
    schema = {"oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]}
    made, run, ask = asked(bench, "Which size?", schema)
    assert [one.label for one in ask.content.options] == ["Small", "l"]
    made.desk.approve(ask, option="Small")
    assert heard(made, run) == "s"


ODD: list[Any] = [[], ["a", "a"], ["x" * 300], [" "], ["a", None], ["a", ["b"]], "a, b", [{"x": 1}]]


@pytest.mark.parametrize("options", [*ODD, list(range(101))])
def test_options_that_fit_on_no_buttons_are_shown_and_answered_freely(bench: Setting, options: Any):
    made, run, ask = asked(bench, {"question": "Which?", "options": options})
    assert (ask.kind, "options" in str(ask.content.facts)) == ("question", True)
    made.desk.respond(ask, "that one")
    assert heard(made, run) == "that one"


# --- approvals ---------------------------------------------------------------------------------

AGREED = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "notes": {"type": "string"}},
    "required": ["approved"],
}


PAIR = [{"label": "Do", "value": "ok"}, {"label": "Not", "value": "cancel"}]


@pytest.mark.parametrize(
    ("more", "schema", "yes", "no"),
    [
        ({}, {"type": "boolean"}, True, False),
        ({}, AGREED, {"approved": True}, {"approved": False}),
        ({}, {"enum": ["Reject", "Approve"]}, "Approve", "Reject"),
        ({"options": ["no", "yes"]}, None, "yes", "no"),
        ({"choices": PAIR}, None, "ok", "cancel"),
    ],
)
def test_a_call_with_known_words_for_yes_and_no_is_approved_or_not(
    bench: Setting, more: dict[str, Any], schema: Any, yes: Any, no: Any
):
    for verdict, hears in (("approve", yes), ("reject", no), ("withdraw", no)):
        made, run, ask = asked(bench, {**WIPE, **more}, schema)
        assert (ask.kind, ask.tool, ask.args) == ("action", "wipe", {"disk": "sda"})
        assert set(ask.content.allow) == {"approve", "reject"}
        assert "Wipe it?" in str(ask.content.facts)
        getattr(made.desk, verdict)(ask)
        assert heard(made, run) == hears


def test_a_rejection_that_ends_the_run_says_nothing_to_the_graph(bench: Setting):
    made, run, ask = asked(bench, WIPE, {"type": "boolean"})
    made.desk.reject(ask, "enough", end=True)
    made.go(run)
    assert run.status == "cancelled"


CALLS: list[tuple[Any, str, dict[str, Any]]] = [
    ({"tool": "send", "args": {"to": "a"}}, "send", {"to": "a"}),
    ({"tool_name": "send", "input": {"to": "a"}, "why": "?"}, "send", {"to": "a"}),
    ({"tool_call": {"name": "send", "args": {"to": "a"}, "id": "7"}}, "send", {"to": "a"}),
    ({"action": "send", "to": "a", "question": "Send?"}, "send", {"to": "a"}),
]


@pytest.mark.parametrize(("value", "tool", "args"), CALLS)
def test_a_call_is_read_in_the_ways_that_programs_write_it(
    bench: Setting, value: Any, tool: str, args: dict[str, Any]
):
    _, _, ask = asked(bench, value, {"type": "boolean"})
    assert (ask.tool, ask.args) == (tool, args)
    shown = f"{ask.content.facts}{ask.args}{ask.tool}"
    assert all(str(one) in shown for one in value.values() if isinstance(one, str))


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (WIPE, None),  # no word for a yes
        ({**WIPE, "options": ["approve", "reject", "edit"]}, None),
        ({**WIPE, "options": ["yes", "ok"]}, None),
        ({**WIPE, "options": ["red", "no"]}, None),
        ({"question": "Wipe it?", "options": ["yes", "no"]}, None),  # no call
        (WIPE, {**AGREED, "required": ["approved", "notes"]}),
        ({"action": 7, "disk": "sda"}, {"type": "boolean"}),
    ],
)
def test_what_is_not_known_for_sure_is_no_approval(bench: Setting, value: Any, schema: Any):
    _, _, ask = asked(bench, value, schema)
    assert ask.kind in ("question", "choice")


def test_the_policy_adds_to_a_call_in_words_of_its_own(bench: Setting):
    _, _, ask = asked(bench, WIPE, {"type": "boolean"}, policy=STRICT)
    assert ask.content.needs.several


def test_no_policy_approves_a_call_that_a_payload_names(bench: Setting):
    """A payload may name a harmless tool: that decides nothing."""
    _, _, ask = asked(bench, WIPE, {"type": "boolean"}, policy=LENIENT)
    assert ask.open


def test_a_denied_call_hears_its_no(bench: Setting):
    made = bench("ask", policy=DENIES)
    run = made.begin({"log": [], "value": WIPE, "schema": {"type": "boolean"}})
    assert (run.status, run.asks, run.output["log"]) == ("done", [], [False])


def test_what_a_payload_says_of_risk_people_and_time_is_shown_and_counts_for_nothing(
    bench: Setting,
):
    said: dict[str, Any] = {
        "risk": "low",
        "needs": [],
        "allow": ["approve"],
        "within": "1s",
        "agent": "root",
    }
    said |= {"title": "Nothing to see", "reversible": True, "approved": True}
    made, _, plain = asked(bench, WIPE, {"type": "boolean"})
    _, _, ask = asked(bench, {**WIPE, "args": {"disk": "sda"}, **said}, {"type": "boolean"})
    for name in ("risk", "needs", "allow", "due_at", "agent", "reversible", "title"):
        assert getattr(ask.content, name) == getattr(plain.content, name)
    assert all(name in str(ask.content.facts) for name in said)
    made.desk.reject(plain)


# --- typed questions ---------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["question", "prompt", "message", "query", "instruction"])
def test_a_question_is_asked_in_its_own_words_and_the_rest_is_shown(bench: Setting, key: str):
    _, _, ask = asked(bench, {"draft": "Dear", key: "Is it fine?"})
    assert (ask.title, ask.kind) == ("Is it fine?", "question")
    assert ask.content.facts == '[["draft","Dear"]]'


def test_a_text_may_be_answered_with_json(bench: Setting):
    """LangGraph's guide to tools asks by a text, and wants `{"type": "accept"}`."""
    for answer in ({"type": "accept"}, "7", ["a"]):
        made, run, ask = asked(bench, "Book it?")
        made.desk.respond(ask, answer)
        assert heard(made, run) == answer
    made, run, ask = asked(bench, "Book it?")
    with pytest.raises(InvalidAnswer):
        made.desk.respond(ask, 7)


# --- answers that code declares ----------------------------------------------------------------


def raised(value: Any = "And?", node: str = "ask", schema: Any = None) -> Raised:
    return Raised("i", node, value, schema, "")


def test_an_answer_is_declared_by_node():
    answers = Answers({"age": int, "size": Literal["s", "l"], "any": {"type": "array"}})
    assert answers.to(raised(node="age")) == {"type": "integer"}
    assert answers.to(raised(node="any")) == {"type": "array"}
    assert answers.to(raised(node="other")) is None


def test_an_answer_is_declared_by_a_function_of_the_payload():
    def takes(payload: Any) -> Any:
        payload["changed"] = True  # and nobody sees that
        return {"age": int, "name": str}.get(payload["wants"])

    one = raised({"wants": "age"})
    for answers in (Answers(takes), Answers({"ask": takes})):
        assert answers.to(one) == {"type": "integer"}
        assert answers.to(raised({"wants": "tea"})) is None
    assert one.value == {"wants": "age"}


def test_a_function_that_fails_names_its_node():
    with pytest.raises(BadValue, match="what ask asks: KeyError"):
        Answers(lambda payload: payload["wants"]).to(raised({}))


def test_a_declared_answer_for_all_is_no_mapping_of_nodes():
    schema = {"type": "object", "properties": {"ask": {"type": "string"}}}
    assert Answers(schema).to(raised()) == schema
    assert Answers(bool).to(raised()) == {"type": "boolean"}
    assert Answers({}).to(raised()) == {}
    with pytest.raises(BadValue):
        Answers({"ask": {"type": "no such type"}})


def test_the_schema_of_an_interrupt_counts_more_than_a_declared_answer():
    known = Known(answer=Answers(bool).to)
    assert isinstance(shape_of(raised(WIPE), known), Calls)
    shape: Any = shape_of(raised(WIPE, schema={"type": "string"}), known)
    assert shape.schema == {"type": "string"}


def test_each_question_of_one_node_has_its_own_answer(local: Desk):
    def node(state: State) -> State:
        return {"log": [interrupt("How many?"), interrupt("How are they called?")]}

    wanted = {"How many?": int, "How are they called?": list[str]}
    compiled = one_node(node).compile(checkpointer=InMemorySaver())
    run = local.run(Graph("till", compiled, answer=wanted.get), {"log": []}, wait=False)
    with pytest.raises(InvalidAnswer):
        local.respond(ask_of(run), "two")
    answered(local, run, 2)
    answered(local, run, ["Tom", "Jerry"])
    assert (run.status, run.output["log"]) == ("done", [2, ["Tom", "Jerry"]]), run.error
