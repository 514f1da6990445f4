"""Whatever a graph asks reaches people, and what they decide reaches it in the shape it asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from sayso import Desk
from sayso.adapters.langgraph import Graph
from sayso.channels.menu import offers
from sayso.errors import InvalidAnswer, InvalidEdit, VerdictNotAllowed
from tests.adapters.langgraph.conftest import Setting

ALL = {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True}
MAIL = {"to": "anna", "subject": "Tea"}
REQUEST = {
    "action_request": {"action": "write_email", "args": MAIL},
    "config": ALL,
    "description": "# A mail\nto **anna**",
}
BATCH: dict[str, Any] = {
    "action_requests": [
        {"name": "send", "args": {"to": "anna"}, "description": "Sends"},
        {"name": "send", "args": {"to": "ben"}},
        {"name": "drop", "args": {"table": "users"}},
    ],
    "review_configs": [
        {"action_name": "send", "allowed_decisions": ["approve", "edit", "reject", "respond"]},
        {"action_name": "drop", "allowed_decisions": ["approve", "reject"]},
    ],
}
EDITED = {
    "type": "object",
    "properties": {
        "type": {"const": "edit"},
        "edited_action": {
            "type": "object",
            "properties": {
                "name": {"const": "send"},
                "args": {
                    "type": "object",
                    "properties": {"to": {"type": "string"}},
                    "required": ["to"],
                    "additionalProperties": True,
                },
            },
        },
    },
}
APPROVAL = {
    "type": "tool_approval",
    "tool_call_id": "c1",
    "name": "send",
    "args": {"to": "anna"},
    "description": "Sends",
}
DECIDED = {
    "oneOf": [{"$ref": "#/$defs/Approve"}, {"$ref": "#/$defs/Edit"}, {"$ref": "#/$defs/Reject"}],
    "$defs": {
        "Approve": {"type": "object", "properties": {"type": {"const": "approve"}}},
        "Reject": {"type": "object", "properties": {"type": {"const": "reject"}}},
        "Edit": EDITED,
    },
}

DENIES = """
[[rules]]
name = "no mail"
tools = ["write_email"]
effect = "deny"
"""


Decision = tuple[Any, ...]


def heard(
    bench: Setting, make: Callable[[int], Any], decisions: list[Decision], schema: Any = None
) -> list[Any]:
    """Ask once for each decision, side by side, and return what the graph heard, in order."""
    made = bench("each")
    values = [make(number) for number in range(len(decisions))]
    run = made.begin({"log": [], "value": values, "schema": schema})
    for ask in run.asks:
        how, *what = decisions[ask.args["number"]]
        end = {"end": True} if what[-1:] == ["and end"] else {}
        getattr(made.desk, how)(ask, *(one for one in what if one != "and end"), **end)
    made.go(run)
    assert run.status == "done", (run.status, run.error)
    assert [asked for asked, _ in run.output["log"][:-1]] == values
    return [told for _, told in run.output["log"][:-1]]


def requested(number: int) -> dict[str, Any]:
    return {**REQUEST, "action_request": {"action": "send", "args": {"number": number, "to": "a"}}}


DECISIONS: list[Decision] = [
    ("approve",),
    ("edit", {"to": "ben"}),
    ("respond", "Shorter."),
    ("reject", "No more", "and end"),
    ("reject", "Too long"),
]
SAID = [
    {"type": "accept", "args": None},
    {"type": "edit", "args": {"action": "send", "args": {"number": 1, "to": "ben"}}},
    {"type": "response", "args": "Shorter."},
    {"type": "ignore", "args": None},
    {
        "type": "response",
        "args": (
            "Not carried out: sam said no: Too long. Do not make this call again. Go on another way, "
            "or say in your answer that it was not done."
        ),
    },
]


def test_an_agent_inbox_request_hears_each_decision_in_a_list(bench: Setting):
    assert heard(bench, lambda number: [requested(number)], DECISIONS) == [[one] for one in SAID]


def test_a_single_request_hears_a_list_too(bench: Setting):
    assert heard(bench, requested, [("approve",)]) == [[SAID[0]]]


def test_a_request_as_courses_write_it_hears_an_object(bench: Setting):
    words = ["ignore", "respond", "edit", "accept"]
    said = heard(
        bench,
        lambda number: {"action": "send", "config": words, "args": {"number": number, "to": "a"}},
        DECISIONS,
    )
    assert said == [SAID[0], {"type": "edit", "args": {"number": 1, "to": "ben"}}, *SAID[2:]]


def test_a_request_offers_what_its_config_allows(bench: Setting):
    made = bench("ask")
    notify = {**REQUEST, "config": {"allow_ignore": True, "allow_respond": True}}
    run = made.begin({"log": [], "value": [notify]})
    ask = made.ask(run)
    assert (ask.tool, set(ask.content.allow)) == ("write_email", {"reject", "respond"})
    with pytest.raises(VerdictNotAllowed):
        made.desk.approve(ask)
    assert "**anna**" in str(ask.content.facts)


@pytest.mark.parametrize(
    ("words", "button"),
    [
        (["ignore", "respond"], "Ignore"),
        (["accept", "ignore"], "Ignore"),
        (["accept", "respond", "ignore"], "Reject"),
        (["accept", "respond"], "Reject"),
    ],
)
def test_a_no_is_called_by_the_word_of_the_request(bench: Setting, words: list[str], button: str):
    """E53: where a person's no reaches the graph as ignore, the button says so."""
    made = bench("ask")
    request = {**REQUEST, "config": {f"allow_{word}": True for word in words}}
    ask = made.ask(made.begin({"log": [], "value": [request]}))

    assert ask.meaning("reject").button == button
    assert (button == "Ignore") == any(offer.button == "Ignore" for offer in offers(ask))
    assert made.desk.reject(ask).past == ("ignored" if button == "Ignore" else "rejected")


def test_a_batch_is_asked_call_by_call_and_answered_by_position(bench: Setting):
    made = bench("ask")
    run = made.begin({"log": [], "value": BATCH})
    drop, anna, ben = sorted(run.asks, key=lambda ask: (ask.tool or "", str(ask.args)))
    assert set(drop.content.allow) == {"approve", "reject"}
    made.desk.respond(ben, "later")
    made.desk.reject(drop, "keep it")
    made.desk.edit(anna, {"to": "anna@corp.com"})
    made.go(run)
    assert run.output["log"] == [
        {
            "decisions": [
                {
                    "type": "edit",
                    "edited_action": {"name": "send", "args": {"to": "anna@corp.com"}},
                },
                {"type": "respond", "message": "later"},
                {"type": "reject", "message": "keep it"},
            ]
        }
    ]


def test_an_edit_cannot_switch_the_tool_nor_break_its_schema(bench: Setting):
    made = bench("ask")
    run = made.begin({"log": [], "value": APPROVAL, "schema": DECIDED})
    ask = made.ask(run)
    assert (ask.tool, set(ask.content.allow)) == ("send", {"approve", "edit", "reject"})
    for edit in ({"to": 7}, {"more": "than the tool takes"}):
        with pytest.raises(InvalidEdit):
            made.desk.edit(ask, edit)
    made.desk.edit(ask, {"to": "ben"})
    made.go(run)
    assert run.output["log"] == [
        {"type": "edit", "edited_action": {"name": "send", "args": {"to": "ben"}}}
    ]


def test_an_approval_hears_one_decision(bench: Setting):
    said = heard(
        bench,
        lambda number: {**APPROVAL, "args": {"number": number, "to": "a"}},
        [("approve",), ("reject",), ("reject", "no"), ("edit", {"to": "ben"})],
        DECIDED,
    )
    edited = {"name": "send", "args": {"number": 3, "to": "ben"}}
    assert said == [
        {"type": "approve"},
        {"type": "reject"},
        {"type": "reject", "message": "no"},
        {"type": "edit", "edited_action": edited},
    ]


def test_a_rejection_that_ends_the_run_ends_it_where_the_graph_has_no_word_for_that(bench: Setting):
    made = bench("ask")
    run = made.begin({"log": [], "value": APPROVAL, "schema": DECIDED})
    made.desk.reject(made.ask(run), "enough", end=True)
    made.go(run)
    assert run.status == "cancelled"


ODD: list[Any] = [
    7,
    None,
    [],
    {},
    "",
    "  ",
    True,
    [1, {"a": None}],
    {"query": "How?", "deep": {"er": [1]}},
    {"action_request": {"action": "x", "args": {}}},  # no config
    {**REQUEST, "config": {}},  # nothing may be decided
    {**REQUEST, "action_request": {"action": " ", "args": {}}},
    [REQUEST, "and more"],
    {"action_requests": [{"name": "send", "args": {}}], "review_configs": [{}]},
    {**BATCH, "review_configs": BATCH["review_configs"][:1]},
    {
        "type": "tool_approval",
        "name": "send",
        "args": {},
    },  # no schema that says what is allowed
    {"text": "x" * 5000, "\x1b[31mred": "\u202etxt"},
]


def test_what_fits_no_shape_is_shown_as_it_is_and_answered_with_anything(bench: Setting):
    made = bench("each")
    run = made.begin({"log": [], "value": ODD})
    assert [ask.kind for ask in run.asks] == ["question"] * len(ODD)
    shown = [f"{ask.title}{ask.content.facts}" for ask in run.asks]
    for text in _texts(ODD):
        assert any(text.split("\n")[0] in one for one in shown), text
    for ask in run.asks:
        made.desk.respond(ask, {"data": [1, "two"]})
    made.go(run)
    assert run.output["log"][:-1] == [[value, {"data": [1, "two"]}] for value in ODD]


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value[:100]] if isinstance(value, str) and value.isascii() and value.strip() else []


def test_what_json_cannot_hold_is_shown_and_answered(bench: Setting):
    made = bench("odd each")
    run = made.begin({"log": [], "value": ["nan", "half", "bytes", "set", "blank"]})
    assert {ask.title for ask in run.asks} == {"nan", "?", "_wA=", "side asks"}, (
        "half a character is lost in SQLite"
    )
    assert {ask.content.facts for ask in run.asks} == {None, '[["","[1]"]]', '[["",""]]'}
    for ask in run.asks:
        made.desk.respond(ask, "seen")
    made.go(run)
    assert run.output["log"] == ["seen"] * 5 + ["end"]


def test_what_the_checkpointer_cannot_hold_ends_the_run_and_says_so(bench: Setting):
    run = bench("odd").begin({"log": [], "value": "big"})
    assert run.status == "failed"
    assert "not msgpack serializable" in str(run.error)


def test_a_very_long_value_is_shown_by_its_beginning(bench: Setting):
    made = bench("each")
    many = {str(number): number for number in range(12_000)}
    values = [{"text": "tea " * 100_000}, "tea " * 100_000, many]
    run = made.begin({"log": [], "value": values})
    shown = [str(ask.content.facts) for ask in run.asks]
    assert sum("400,000 characters in all" in one for one in shown) == 2
    for ask in run.asks:
        made.desk.respond(ask, "enough" if '["",' in str(ask.content.facts)[:9] else {"ok": True})
    made.go(run)
    assert run.status == "done", run.error


@pytest.mark.parametrize(
    ("verdicts", "kind", "offered"),
    [
        (["approve", "edit", "reject"], "action", {"approve", "reject"}),
        (["edit"], "question", {"reject", "respond"}),
    ],
)
def test_a_very_large_call_is_still_one_and_is_not_edited_unseen(
    bench: Setting, verdicts: list[str], kind: str, offered: set[str]
):
    made = bench("ask")
    batch = {
        "action_requests": [{"name": "send", "args": {"text": "tea " * 200_000}}],
        "review_configs": [{"action_name": "send", "allowed_decisions": verdicts}],
    }
    run = made.begin({"log": [], "value": batch})
    ask = made.ask(run)
    assert (ask.kind, set(ask.content.allow)) == (kind, offered)
    if kind == "action":
        made.desk.approve(ask)
        made.go(run)
        assert run.output["log"] == [{"decisions": [{"type": "approve"}]}]


def test_nothing_is_an_answer_too(bench: Setting):
    made = bench("ask")
    run = made.begin({"log": [], "value": {"pick": ["a", "b"]}})
    made.answer(run, None)
    assert (run.status, run.output["log"]) == ("done", [None]), run.error


def test_whoever_gives_an_answer_that_a_validator_refuses_is_asked_again(bench: Setting):
    made = bench("even")
    run = made.begin({"log": [], "value": ["How many?"]})
    last = made.ask(run).id
    for number in (3, 5):
        made.answer(run, {"n": number})
        assert run.status == "waiting", run.error
        again = made.ask(run)
        assert (again.title, f"{number} is odd" in str(again.content.why)) == ("How many?", True)
        assert again.content.about == last
        last = again.id
    made.answer(run, {"n": 4})
    assert (run.status, run.output["log"]) == ("done", [4, "end"]), run.error
    assert len(run.asks) == 3


def test_of_several_answers_only_a_refused_one_has_to_be_given_again(bench: Setting):
    made = bench("even")
    run = made.begin({"log": [], "value": ["a", "b"]})
    made.desk.respond(made.ask(run, "a"), {"n": 2})
    made.answer(run, {"n": 3}, "b")
    for _ in range(3):
        for ask in run.asks:
            if ask.open:
                made.desk.respond(ask, {"n": 2 if ask.title == "a" else 4})
        made.go(run)
    assert (run.status, run.output["log"]) == ("done", [2, 4, "end"]), run.error


def test_an_answer_must_fit_the_schema_that_the_node_gave(bench: Setting):
    made = bench("ask")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    run = made.begin({"log": [], "value": "How many?", "schema": schema})
    with pytest.raises(InvalidAnswer):
        made.desk.respond(made.ask(run), "many")
    made.answer(run, {"n": 7})
    assert run.output["log"] == [{"n": 7}]


def test_a_question_that_nobody_answers_ends_the_run(bench: Setting):
    made = bench("ask")
    run = made.begin({"log": [], "value": "How many?"})
    made.desk.reject(made.ask(run), "nobody knows")
    made.go(run)
    assert run.status == "failed"
    assert "nobody knows" in str(run.error)


def test_what_the_policy_denies_is_refused_without_asking(bench: Setting):
    made = bench("ask", policy=DENIES)
    run = made.begin({"log": [], "value": [REQUEST]})
    assert (run.status, run.asks) == ("done", []), run.error
    assert run.output["log"] == [[{"type": "ignore", "args": None}]]


@tool
def send(to: str, cc: str = "") -> str:
    """Send a mail."""
    return f"sent to {to} {cc}"


class Model(GenericFakeChatModel):
    """A model that makes two calls, and then is done."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


@pytest.mark.parametrize("given", [[send], []], ids=["given", "found in the graph"])
@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_langchain_s_own_middleware_asks_and_hears_as_it_wants_to(local: Desk, mode: Any, given):
    calls = [{"name": "send", "args": {"to": name}, "id": name} for name in ("anna", "ben", "cy")]
    model = Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("Done.")]))
    asks = HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode)
    agent = create_agent(model, [send], middleware=[asks], checkpointer=InMemorySaver())
    run = local.run(Graph("clerk", agent, tools=given), {"messages": ["go"]}, wait=False)
    anna, ben, cy = sorted(run.asks, key=lambda ask: str(ask.args["to"]))
    for edit in ({"to": 7}, {"tool": "delete_db"}):
        with pytest.raises(InvalidEdit):
            local.edit(anna, edit)
    local.edit(anna, {"to": "anna@corp.com", "cc": "dan"})  # a guess would not know of cc
    local.reject(ben, "not him")
    local.respond(cy, "she knows")
    local.work(until="idle")
    assert run.status == "done", run.error
    told = {m["tool_call_id"]: m["content"] for m in run.output["messages"] if m["type"] == "tool"}
    assert "sent to anna@corp.com dan" in str(told["anna"])
    assert "not him" in told["ben"]
    assert told["cy"] == "she knows"
