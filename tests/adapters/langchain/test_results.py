"""Results of tools come back from the journal as they were."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.types import Command, Send

from sayso.adapters.langchain.results import answer, kept, restored
from tests.adapters.langchain.clerk import call

CALL: Any = call("act", "x")
NAMES = st.sampled_from(["$dict", "$message", "$send", "$command", "langchain", "lc", "a"])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=6,
)


def through_the_journal(result: Any) -> Any:
    return restored(json.loads(json.dumps(kept(result, CALL))), CALL)


@pytest.mark.parametrize(
    "result",
    [
        answer(CALL, "acted"),
        answer(CALL, ""),
        answer(CALL, ["a", {"type": "text", "text": "b"}]),
        answer(CALL, "no", failed=True),
        ToolMessage("acted", tool_call_id="x", artifact={"rows": [1]}, id="m1"),
        [answer(CALL, "acted"), Command(update={"number": 1})],
        Command(update=[("number", 1), ("messages", [answer(CALL, "acted")])]),
        Command(goto="there", update={"messages": [AIMessage("a"), RemoveMessage(id="b")]}),
        Command(goto=[Send("there", {"messages": [HumanMessage("go")]})], graph=Command.PARENT),
    ],
    ids=str,
)
def test_a_result_is_read_back_as_it_was(result: Any):
    assert through_the_journal(result) == result


@given(PLAIN)
def test_what_a_tool_writes_into_the_state_is_never_taken_for_something_else(value: Any):
    result: Command[Any] = Command(update={"found": value})
    assert through_the_journal(result) == result


@pytest.mark.parametrize("said", [7, None, {"id": 7}, ["a", 1], {"$command": []}])
def test_what_a_person_says_that_came_of_a_call_is_told_as_text(said: Any):
    assert json.loads(str(restored(said, CALL).content)) == said
