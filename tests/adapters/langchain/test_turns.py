"""A message with other calls than the model made: wherever a provider keeps them."""

from __future__ import annotations

import json
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage

from sayso.adapters.langchain.turns import completed, last_turn, named, rewritten
from tests.adapters.langchain.clerk import call, consistent

OLD: Any = [call("pay", "", to="old"), call("pay", "", to="old too")]
NEW: Any = [call("pay", "call-1", to="new"), call("pay", "call-2", to="new too")]


def test_blocks_of_every_provider_are_rewritten_in_their_order() -> None:
    content: list[Any] = [
        {"type": "text", "text": "I pay."},
        {"type": "tool_use", "id": "", "name": "pay", "input": {"to": "old"}, "partial_json": "o"},
        {"type": "function_call", "call_id": None, "name": "pay", "arguments": '{"to": "old too"}'},
    ]
    made = rewritten(AIMessage(content, tool_calls=OLD, id="m"), NEW)
    assert "old" not in made.model_dump_json()
    assert made.content[1:] == [
        {"type": "tool_use", "id": "call-1", "name": "pay", "input": {"to": "new"}},
        {
            "type": "function_call",
            "call_id": "call-2",
            "name": "pay",
            "arguments": '{"to": "new too"}',
        },
    ]
    assert (made.id, made.tool_calls) == ("m", NEW)


def test_what_openai_sends_beside_the_message_is_rewritten() -> None:
    functions = [
        {"id": one["id"], "type": "function", "function": {"name": "pay", "arguments": one["args"]}}
        for one in (call("pay", "a", to="old"), call("pay", "b", to="kept"))
    ]
    for one in functions:
        cast("Any", one)["function"]["arguments"] = json.dumps(one["function"]["arguments"])
    before: Any = [call("pay", "a", to="old"), call("pay", "b", to="kept")]
    after: Any = [call("pay", "a", to="new"), before[1]]
    extra = {"tool_calls": functions, "function_call": {"name": "pay", "arguments": "old"}}
    made = rewritten(AIMessage("", tool_calls=before, additional_kwargs=extra), after)
    assert "old" not in made.model_dump_json()
    assert made.additional_kwargs["tool_calls"][1] == functions[1]


def test_a_message_that_was_streamed_keeps_no_pieces_of_the_old_call() -> None:
    piece: Any = {"name": "pay", "args": '{"to": "old"}', "id": "a", "index": 0}
    streamed = AIMessageChunk(content="", tool_call_chunks=[piece], id="m")
    made = rewritten(streamed, [cast("Any", call("pay", "a", to="new"))])
    assert "old" not in made.model_dump_json()
    assert (type(made), made.id) == (AIMessage, "m")


def test_blocks_that_are_no_calls_stay_as_they_are() -> None:
    content: list[Any] = ["text", {"type": "server_tool_use", "id": "s", "input": {"q": "old"}}]
    made = rewritten(AIMessage(content, tool_calls=OLD), NEW)
    assert made.content == content


def test_the_same_calls_are_the_same_message() -> None:
    message = AIMessage("", tool_calls=[call("pay", "a", to="x")])
    assert rewritten(message, named(message.tool_calls)) is message


def test_calls_that_nobody_answered_are_answered_where_they_were_made() -> None:
    history: Any = [
        HumanMessage("go"),
        AIMessage("", tool_calls=[call("pay", "a"), call("pay", "b")]),
        ToolMessage("paid", tool_call_id="b"),
        HumanMessage("again"),
        AIMessage("", tool_calls=[call("pay", "c")]),
    ]
    assert not consistent(history)
    found = completed(history)
    assert consistent(found)
    assert [type(message).__name__[:2] for message in found] == [
        "Hu",
        "AI",
        "To",
        "To",
        "Hu",
        "AI",
        "To",
    ]
    assert completed(found) == found


def test_a_history_without_a_model_has_no_turn() -> None:
    assert last_turn([HumanMessage("go")]) == (None, set())
