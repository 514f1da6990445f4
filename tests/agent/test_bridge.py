"""The bridge to real models, over real HTTP: what goes over the wire, what comes back, what goes wrong."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

import sayso
from sayso.agent.bridge import Bridge
from sayso.agent.bridge.building import Access, built
from sayso.agent.bridge.loop import current
from sayso.agent.bridge.names import PROVIDERS, Name
from sayso.agent.messages import Message, Prompt, Reply, ToolCall, ToolSpec
from sayso.errors import ModelFailed, ModelUnavailable
from tests.providers import (
    Anthropic,
    Broken,
    Call,
    Chat,
    Google,
    HungUp,
    Plain,
    Provider,
    Refused,
    Request,
    Responses,
    Said,
    Silent,
    Troubled,
    serving,
)
from tests.together import until

KEY = "sk-test-0123456789abcdef"
SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string", "minLength": 1}, "copies": {"type": "integer"}},
    "required": ["to"],
    "additionalProperties": False,
}
SEND = ToolSpec("send", "Send a letter.", SCHEMA)
PLAN = ToolSpec("plan", "Make a plan.", {"type": "object", "properties": {}})


@dataclass(frozen=True)
class Wire:
    """A protocol: who speaks it here, and the bridge that leads there."""

    server: type[Provider]
    bridge: Callable[[Provider], Bridge]


def _responses(server: Provider) -> Bridge:
    # Only OpenAI itself is spoken to in this protocol by name.
    provider = OpenAIProvider(base_url=server.url, api_key=KEY)
    return Bridge(OpenAIResponsesModel("gpt-5", provider=provider))


def _named(name: str) -> Callable[[Provider], Bridge]:
    return lambda server: Bridge(name, base_url=server.url, api_key=KEY)


WIRES = {
    "chat": Wire(Chat, _named("openai:llama-4")),
    "anthropic": Wire(Anthropic, _named("anthropic:claude-opus-5")),
    "responses": Wire(Responses, _responses),
    "google": Wire(Google, _named("google:gemini-3-pro-preview")),
    "huggingface": Wire(Chat, _named("huggingface:meta-llama/Llama-3.3-70B-Instruct")),
    "ollama": Wire(Chat, _named("ollama:llama3.2:3b")),
}
MAIN = ("chat", "anthropic", "responses")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no address and no proxy of whoever runs the tests."""
    for provider in PROVIDERS.values():
        for name in (*provider.keys, provider.address or "NONE"):
            monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[[type[Provider]], Provider]]:
    with ExitStack() as stack:
        yield lambda kind: stack.enter_context(serving(kind()))


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


@pytest.fixture(params=MAIN)
def main_wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


@pytest.fixture
def chat(serve: Callable[[type[Provider]], Provider]) -> Provider:
    return serve(Chat)


@pytest.fixture
def claude(serve: Callable[[type[Provider]], Provider]) -> Provider:
    return serve(Anthropic)


Serve = Callable[[type[Provider]], Provider]


def user(text: str) -> Message:
    return Message(role="user", text=text)


def said_by(reply: Reply) -> Message:
    """The reply as a later prompt shows it, by way of the journal's JSON."""
    kept = Reply.of(json.loads(json.dumps(reply.json)))
    return Message(role="assistant", text=kept.text, calls=kept.calls, native=kept.native)


def result(call: str, text: str, *, failed: bool = False) -> Message:
    return Message(role="tool", call=call, tool="send", text=text, failed=failed)


def ask(*messages: Message | str, **more: Any) -> Prompt:
    told = tuple(user(m) if isinstance(m, str) else m for m in messages)
    return Prompt(messages=told, **({"tools": (SEND, PLAN)} | more))


def told(error: BaseException) -> str:
    """Everything anybody could print of an error."""
    return "".join(traceback.format_exception(error))


# --- what goes over the wire ---


def test_chat_completions_are_asked_in_their_own_words(chat: Provider) -> None:
    chat.will("Hello.")

    WIRES["chat"].bridge(chat).reply(ask(Message(role="system", text="Be brief."), "Hi"))

    assert chat.requests[0].path == "/v1/chat/completions"
    assert chat.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert chat.body["model"] == "llama-4"
    assert chat.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
    ]
    assert chat.body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": spec.name,
                "description": spec.description,
                "parameters": spec.schema,
            },
        }
        for spec in (SEND, PLAN)
    ]
    assert chat.body["tool_choice"] == "auto"


def test_anthropic_is_asked_in_its_own_words(claude: Provider) -> None:
    claude.will("Hello.")

    WIRES["anthropic"].bridge(claude).reply(ask(Message(role="system", text="Be brief."), "Hi"))

    assert claude.requests[0].path.startswith("/v1/messages")
    assert claude.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert claude.body["model"] == "claude-opus-5"
    assert claude.body["system"] == "Be brief."
    assert claude.body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    ]
    assert claude.body["tools"] == [
        {"name": spec.name, "description": spec.description, "input_schema": spec.schema}
        for spec in (SEND, PLAN)
    ]
    assert claude.body["tool_choice"] == {"type": "auto"}


def test_openai_itself_is_asked_to_keep_nothing(serve: Serve) -> None:
    openai = serve(Responses)
    openai.will("Hello.")

    WIRES["responses"].bridge(openai).reply(ask("Hi"))

    assert openai.requests[0].path == "/v1/responses"
    assert openai.body["store"] is False
    assert openai.body["include"] == ["reasoning.encrypted_content"]
    assert "previous_response_id" not in openai.body
    assert [tool["parameters"] for tool in openai.body["tools"]] == [SEND.schema, PLAN.schema]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_conversation_with_two_calls_in_one_message_round_trips(
    wire: Wire, serve: Serve, streamed: bool
) -> None:
    server = serve(wire.server)
    server.will(
        Said("I will.", (Call("c1", "send", {"to": "Ann"}), Call("c2", "send", {"to": "Bo"}))),
        "Both are on their way.",
    )
    bridge = wire.bridge(server)
    say: Any = (lambda piece: None) if streamed else None

    first = bridge.reply(ask("Write to Ann and Bo.", say=say))
    assert first.text == "I will."
    assert first.calls == (
        ToolCall("c1", "send", {"to": "Ann"}),
        ToolCall("c2", "send", {"to": "Bo"}),
    )

    second = bridge.reply(
        ask(
            "Write to Ann and Bo.",
            said_by(first),
            result("c1", "sent"),
            result("c2", "no such address", failed=True),
            say=say,
        )
    )
    assert (second.text, second.calls) == ("Both are on their way.", ())
    sent = json.dumps(server.body)
    assert len(server.requests) == 2
    for words in ("Write to Ann and Bo.", "I will.", "Ann", "Bo", "sent", "no such address"):
        assert words in sent
    assert sent.index("I will.") < sent.index("sent") < sent.index("no such address")


def test_results_go_back_to_chat_completions_under_the_ids_of_their_calls(chat: Provider) -> None:
    chat.will("Done.")
    calls = (ToolCall("c1", "send", {"to": "Ann"}), ToolCall("c2", "send", {"to": "Bo"}))

    WIRES["chat"].bridge(chat).reply(
        ask(
            "Go.",
            Message(role="assistant", text="I will.", calls=calls),
            result("c1", "sent"),
            result("c2", "no such address", failed=True),
        )
    )

    assert chat.body["messages"][1:] == [
        {
            "role": "assistant",
            "content": "I will.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "send", "arguments": '{"to":"Ann"}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "send", "arguments": '{"to":"Bo"}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sent"},
        {"role": "tool", "tool_call_id": "c2", "content": '{"error":"no such address"}'},
    ]


def test_results_go_back_to_anthropic_in_one_turn_and_say_which_failed(claude: Provider) -> None:
    claude.will("Done.")
    calls = (ToolCall("c1", "send", {"to": "Ann"}), ToolCall("c2", "send", {"to": "Bo"}))

    WIRES["anthropic"].bridge(claude).reply(
        ask(
            "Go.",
            Message(role="assistant", calls=calls),
            result("c1", "sent"),
            result("c2", "no such address", failed=True),
        )
    )

    _, assistant, results = claude.body["messages"]
    assert assistant["content"] == [
        {"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "Ann"}},
        {"type": "tool_use", "id": "c2", "name": "send", "input": {"to": "Bo"}},
    ]
    assert results["role"] == "user"
    assert [
        (block["tool_use_id"], block["is_error"], block["content"][0]["text"])
        for block in results["content"]
    ] == [("c1", False, "sent"), ("c2", True, "no such address")]


def test_results_stand_right_behind_their_calls_whatever_a_person_said_meanwhile(
    main_wire: Wire, serve: Serve
) -> None:
    server = serve(main_wire.server)
    server.will("Done.")
    calls = (ToolCall("c1", "send", {"to": "Ann"}),)

    main_wire.bridge(server).reply(
        ask("Go.", Message(role="assistant", calls=calls), user("Hurry up."), result("c1", "sent"))
    )

    sent = json.dumps(server.body)
    assert sent.index('"sent"') < sent.index("Hurry up.")


def test_a_call_a_person_changed_is_what_the_model_sees(wire: Wire, serve: Serve) -> None:
    server = serve(wire.server)
    server.will(Said("", (Call("c1", "send", {"to": "everybody"}),), thinking="hm"), "Done.")
    bridge = wire.bridge(server)
    reply = bridge.reply(ask("Go."))
    shown = said_by(reply)
    edited = replace(shown, calls=(replace(shown.calls[0], args={"to": "Ann", "copies": 2}),))

    bridge.reply(ask("Go.", edited, result("c1", "sent to Ann")))

    sent = json.dumps(server.body)
    assert "everybody" not in sent
    assert "Ann" in sent
    assert "copies" in sent


@pytest.mark.parametrize(
    ("wire", "choice"),
    [
        ("chat", {"type": "function", "function": {"name": "plan"}}),
        ("anthropic", {"type": "tool", "name": "plan"}),
        ("responses", {"type": "function", "name": "plan"}),
    ],
    indirect=["wire"],
)
def test_the_tool_that_must_be_called_is_forced_and_the_others_stay_known(
    wire: Wire, choice: dict[str, Any], serve: Serve
) -> None:
    server = serve(wire.server)
    server.will(Said("", (Call("c1", "plan"),)))

    reply = wire.bridge(server).reply(ask("Go.", must="plan"))

    assert server.body["tool_choice"] == choice
    assert len(server.body["tools"]) == 2
    assert reply.calls == (ToolCall("c1", "plan"),)


def test_a_model_that_cannot_be_forced_sees_only_the_tool_it_must_call(claude: Provider) -> None:
    claude.will(Said("", (Call("c1", "plan"),)))

    _named("anthropic:claude-opus-5-5")(claude).reply(ask("Go.", must="plan"))

    assert claude.body["tool_choice"] == {"type": "auto"}
    assert [tool["name"] for tool in claude.body["tools"]] == ["plan"]


def test_settings_go_along(chat: Provider) -> None:
    chat.will("Hello.")

    bridge = Bridge("openai:llama-4", base_url=chat.url, settings={"temperature": 0.25})
    bridge.reply(ask("Hi"))

    assert chat.body["temperature"] == 0.25


# --- what comes back ---


def test_a_streamed_reply_is_said_piece_by_piece_and_is_the_same_in_the_end(
    wire: Wire, serve: Serve
) -> None:
    server = serve(wire.server)
    pieces = ["Let me ", "think", " about\nthat. ✓"]
    server.will(Said(pieces, (Call("c1", "send", {"to": "Ann"}),), thinking="Ann it is."))
    bridge = wire.bridge(server)
    said: list[str] = []

    streamed = bridge.reply(ask("Go.", say=said.append))
    whole = bridge.reply(ask("Go."))

    assert said == pieces
    assert streamed.text == "".join(pieces)
    assert streamed == whole


def test_pieces_are_said_as_they_arrive_and_in_the_caller_s_thread(chat: Provider) -> None:
    chat.will(Broken(Said(["one", "two"]), 3))  # the reply never ends, yet both were said
    said: list[tuple[str, threading.Thread]] = []

    with pytest.raises(ModelUnavailable):
        WIRES["chat"].bridge(chat).reply(
            ask("Go.", say=lambda piece: said.append((piece, threading.current_thread())))
        )

    assert said == [(word, threading.current_thread()) for word in ("one", "two")]


def test_what_goes_wrong_in_the_callback_is_the_caller_s_own_error(chat: Provider) -> None:
    chat.will(Said(["one", "two"]), "again")
    bridge = WIRES["chat"].bridge(chat)

    def fail(piece: str) -> None:
        raise ZeroDivisionError(piece)

    with pytest.raises(ZeroDivisionError, match="one"):
        bridge.reply(ask("Go.", say=fail))
    assert bridge.reply(ask("Go.")).text == "again"


def test_tokens_are_counted(wire: Wire, serve: Serve) -> None:
    server = serve(wire.server)
    server.will(Said("Hello.", tokens=(1234, 56)))
    bridge = wire.bridge(server)

    for say in (None, lambda piece: None):
        usage = bridge.reply(ask("Hi", say=say)).usage
        assert (usage.input, usage.output, usage.tokens) == (1234, 56, 1290)


def test_dollars_are_counted_where_the_price_is_known_and_else_unknown_and_not_nothing(
    claude: Provider, chat: Provider
) -> None:
    chat.will("Hello.")
    assert WIRES["chat"].bridge(chat).reply(ask("Hi")).usage.cost is None
    claude.will(Said("Hello.", tokens=(1_000_000, 0)), Said("Hello.", tokens=(2_000_000, 0)))
    bridge = WIRES["anthropic"].bridge(claude)

    one, two = (bridge.reply(ask("Hi")).usage.cost for _ in range(2))

    assert one is not None
    assert one > 0
    assert two == pytest.approx(2 * one)


def test_a_reply_says_which_model_it_is_from(wire: Wire, serve: Serve) -> None:
    server = serve(wire.server)
    server.will("Hello.")

    model = wire.bridge(server).reply(ask("Hi")).model

    assert model == server.body.get("model", "gemini-3-pro")


def test_an_empty_reply_is_an_empty_reply(chat: Provider) -> None:
    chat.will("")

    reply = WIRES["chat"].bridge(chat).reply(ask("Hi"))

    assert (reply.text, reply.calls) == ("", ())


NO_ARGUMENTS = (
    '{"to": "An',
    "[1, 2]",
    '"Ann"',
    "null",
    '{"copies": NaN}',
    '{"copies": 1e999}',
    '{"to": "\\ud800"}',
)


@pytest.mark.parametrize("streamed", [False, True])
def test_arguments_that_are_none_are_kept_as_they_came(chat: Provider, streamed: bool) -> None:
    bridge = WIRES["chat"].bridge(chat)
    for raw in NO_ARGUMENTS:
        chat.next(Said("", (Call("c1", "send", raw),)), "Sorry.")

        reply = bridge.reply(ask("Go.", say=(lambda piece: None) if streamed else None))
        assert reply.calls == (ToolCall("c1", "send", {}, broken=raw),)

        failed = result("c1", "these are no arguments", failed=True)
        bridge.reply(ask("Go.", said_by(reply), failed))
        call = chat.body["messages"][1]["tool_calls"][0]["function"]
        assert raw in json.loads(call["arguments"]).values()  # JSON again, with what it said inside


def test_a_call_without_arguments_has_none(chat: Provider) -> None:
    chat.will(Said("", (Call("c1", "plan", ""),)))

    assert WIRES["chat"].bridge(chat).reply(ask("Go.")).calls == (ToolCall("c1", "plan", {}),)


# --- what the provider wants to see again ---


def test_anthropic_gets_its_thinking_back_with_the_signature(claude: Provider) -> None:
    claude.will(Said("I will.", (Call("c1", "send", {"to": "Ann"}),), thinking="hm"), "Done.")
    bridge = WIRES["anthropic"].bridge(claude)

    bridge.reply(ask("Go.", said_by(bridge.reply(ask("Go."))), result("c1", "sent")))

    assert claude.body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "signed"},
        {"type": "text", "text": "I will."},
        {"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "Ann"}},
    ]


@pytest.mark.filterwarnings("ignore:.*thinking block")
def test_thinking_that_an_edit_made_stale_is_dropped_and_asked_to_be_from_then_on(
    claude: Provider,
) -> None:
    """Anthropic's newest models bind their thinking to all that was said before it."""
    dropped = {"type": "thinking_dropped", "reason": "prefix_binding_mismatch", "block_index": 0}
    stale = "The block is bound to a different conversation"
    call = (Call("c1", "send", {"to": "everybody"}),)
    claude.will(
        Said("", call, thinking="hm"),
        Refused(400, stale, "invalid_request_error"),
        Said("Done.", more={"input_transformations": [dropped]}),
        "Bye.",
    )
    bridge = _named("anthropic:claude-opus-5-5")(claude)
    shown = said_by(bridge.reply(ask("Go.")))
    edited = replace(shown, calls=(replace(shown.calls[0], args={"to": "Ann"}),))
    so_far = (user("Go."), edited, result("c1", "sent"))

    done = bridge.reply(ask(*so_far))
    bridge.reply(ask(*so_far, said_by(done), "Thank you."))

    asked = ["block_binding" in json.dumps(request.body) for request in claude.requests]
    assert asked == [False, False, True, True]  # and no second refusal


def test_openai_gets_its_reasoning_back_sealed_and_in_its_place(serve: Serve) -> None:
    openai = serve(Responses)
    openai.will(Said("I will.", (Call("c1", "send", {"to": "Ann"}),), thinking="hm"), "Done.")
    bridge = WIRES["responses"].bridge(openai)

    bridge.reply(ask("Go.", said_by(bridge.reply(ask("Go."))), result("c1", "sent")))

    reasoning, text, call, output = openai.body["input"][1:]
    assert (reasoning["id"], reasoning["encrypted_content"]) == ("rs_1", "sealed")
    assert text["id"] == "msg_1"
    assert (call["id"], call["call_id"], call["arguments"]) == ("fc_c1", "c1", '{"to":"Ann"}')
    assert (output["call_id"], output["output"]) == ("c1", "sent")


def test_google_gets_the_signature_of_its_call_back(serve: Serve) -> None:
    google = serve(Google)
    google.will(Said("", (Call("c1", "send", {"to": "Ann"}),)), "Done.")
    bridge = WIRES["google"].bridge(google)

    bridge.reply(ask("Go.", said_by(bridge.reply(ask("Go."))), result("c1", "sent")))

    call = google.body["contents"][1]["parts"][0]
    assert (call["functionCall"]["name"], call["thoughtSignature"]) == ("send", "c2VhbGVk")


def test_a_compatible_server_gets_its_reasoning_back_in_its_own_field(chat: Provider) -> None:
    chat.will(Said("", (Call("c1", "send", {"to": "Ann"}),), thinking="hm"), "Done.")
    bridge = WIRES["chat"].bridge(chat)

    bridge.reply(ask("Go.", said_by(bridge.reply(ask("Go."))), result("c1", "sent")))

    assert chat.body["messages"][1]["reasoning_content"] == "hm"


def test_nobody_is_shown_what_another_provider_thought(
    claude: Provider, chat: Provider, serve: Serve
) -> None:
    claude.will(Said("I will.", (Call("c1", "send", {"to": "Ann"}),), thinking="a secret"))
    thought = said_by(WIRES["anthropic"].bridge(claude).reply(ask("Go.")))
    for name in ("chat", "responses", "google"):
        server = serve(WIRES[name].server)
        server.will("Done.")
        WIRES[name].bridge(server).reply(ask("Go.", thought, result("c1", "sent")))
        sent = json.dumps(server.body)
        assert "a secret" not in sent
        assert "I will." in sent
        assert "Ann" in sent


def test_what_is_kept_for_the_provider_is_small_and_plain(main_wire: Wire, serve: Serve) -> None:
    server = serve(main_wire.server)
    server.will(Said("x" * 9000, (Call("c1", "send", {"to": "y" * 9000}),), thinking="hm"))

    native = main_wire.bridge(server).reply(ask("Go.")).native

    assert native is not None
    assert len(json.dumps(native, allow_nan=False)) < 500


def test_of_a_plain_reply_nothing_is_kept(chat: Provider, claude: Provider) -> None:
    for wire, server in (("chat", chat), ("anthropic", claude)):
        server.will(Said("I will.", (Call("c1", "send", {"to": "Ann"}),)))
        assert WIRES[wire].bridge(server).reply(ask("Go.")).native is None


def test_what_a_newer_version_kept_is_left_alone(claude: Provider) -> None:
    claude.will("Done.")
    native = {"v": 99, "by": "anthropic", "parts": [{"kind": "song"}]}
    said = Message(role="assistant", text="I will.", native=native)

    WIRES["anthropic"].bridge(claude).reply(ask("Go.", said, "And?"))

    assert claude.body["messages"][1]["content"] == [{"type": "text", "text": "I will."}]


def test_ids_the_agent_had_to_change_do_not_mix_up_what_was_kept(serve: Serve) -> None:
    openai = serve(Responses)
    twice = (Call("c1", "send", {"to": "Ann"}), Call("c1", "plan"))
    openai.will(Said("", twice, thinking="hm"), "Done.")
    bridge = WIRES["responses"].bridge(openai)
    shown = said_by(bridge.reply(ask("Go.")))
    first, second = shown.calls

    told_apart = replace(shown, calls=(first, replace(second, id="c1+")))
    bridge.reply(ask("Go.", told_apart, result("c1", "sent"), result("c1+", "planned")))

    items = [item for item in openai.body["input"] if item.get("type") == "function_call"]
    assert [(item["call_id"], item["name"]) for item in items] == [("c1", "send"), ("c1+", "plan")]


# --- replies that are none ---


@pytest.mark.parametrize("streamed", [False, True])
def test_a_reply_that_is_cut_off_is_not_taken_for_an_answer(
    wire: Wire, serve: Serve, streamed: bool
) -> None:
    server = serve(wire.server)
    server.will(Said("The answer is forty-t", end="cut"))

    with pytest.raises(ModelFailed, match="max_tokens") as caught:
        wire.bridge(server).reply(ask("Hi", say=(lambda piece: None) if streamed else None))

    assert not isinstance(caught.value, ModelUnavailable)


@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_that_is_kept_back_is_told_as_such(
    main_wire: Wire, serve: Serve, streamed: bool
) -> None:
    server = serve(main_wire.server)
    server.will(Said("I cannot", end="kept back"))

    with pytest.raises(ModelFailed, match="refuses to answer"):
        main_wire.bridge(server).reply(ask("Hi", say=(lambda piece: None) if streamed else None))


@pytest.mark.parametrize("how", ["torn", "ended"])
def test_a_stream_that_breaks_off_is_asked_for_again_later(
    wire: Wire, serve: Serve, how: Any
) -> None:
    server = serve(wire.server)
    bridge = wire.bridge(server)
    said = Said(["one ", "two ", "three ", "four ", "five"])
    for events in (0, 1, 4):
        server.next(Broken(said, events, how))
        with pytest.raises(ModelUnavailable):
            bridge.reply(ask("Hi", say=lambda piece: None))
    assert len(server.requests) == 3

    server.next("all of it")
    assert bridge.reply(ask("Hi", say=lambda piece: None)).text == "all of it"


@pytest.mark.parametrize(
    ("wire", "kind", "later"),
    [
        ("anthropic", "overloaded_error", True),
        ("anthropic", "api_error", True),
        ("anthropic", "invalid_request_error", False),
        ("chat", "server_error", True),
        ("chat", "rate_limit_exceeded", True),
        ("chat", "context_length_exceeded", False),
        ("chat", "something_else", True),
    ],
    indirect=["wire"],
)
def test_an_error_within_a_stream_is_told_like_one_before_it(
    wire: Wire, kind: str, later: bool, serve: Serve
) -> None:
    server = serve(wire.server)
    server.will(Troubled(Said(["one ", "two"]), 3, kind, "went wrong over here"))

    with pytest.raises(ModelFailed, match="went wrong over here") as caught:
        wire.bridge(server).reply(ask("Hi", say=lambda piece: None))

    assert isinstance(caught.value, ModelUnavailable) is later


# --- providers that are down, or refuse ---


@pytest.mark.parametrize("streamed", [False, True])
def test_trouble_that_passes_is_asked_about_once_and_may_be_asked_again(
    wire: Wire, serve: Serve, streamed: bool
) -> None:
    server = serve(wire.server)
    bridge = wire.bridge(server)
    prompt = ask("Hi", say=(lambda piece: None) if streamed else None)
    for number, status in enumerate((408, 409, 429, 500, 502, 503, 504, 529), start=1):
        server.next(Refused(status, "too much going on"))
        with pytest.raises(ModelUnavailable, match=f"{status}.*too much going on") as caught:
            bridge.reply(prompt)
        assert caught.value.after is None
        assert len(server.requests) == number  # the libraries' own retries are off

    server.next("Hello.")
    assert bridge.reply(prompt).text == "Hello."


def test_a_provider_may_say_when_to_come_back(main_wire: Wire, serve: Serve) -> None:
    server = serve(main_wire.server)
    bridge = main_wire.bridge(server)
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    for headers, after in (
        ({"retry-after": at}, pytest.approx(90, abs=10)),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
    ):
        server.next(Refused(429, "slow down", headers=headers))
        with pytest.raises(ModelUnavailable) as caught:
            bridge.reply(ask("Hi"))
        assert caught.value.after == after, headers


def test_a_refusal_is_final_and_names_the_model_and_the_status(
    main_wire: Wire, serve: Serve
) -> None:
    server = serve(main_wire.server)
    bridge = main_wire.bridge(server)
    for number, status in enumerate((400, 401, 403, 404, 413, 422), start=1):
        server.next(Refused(status, "we do not like this"))
        with pytest.raises(ModelFailed, match=f"{status}: we do not like this") as caught:
            bridge.reply(ask("Hi"))
        assert not isinstance(caught.value, ModelUnavailable)
        assert repr(bridge)[8:-2] in str(caught.value)
        assert len(server.requests) == number


@pytest.mark.parametrize(
    ("name", "refused", "said"),
    [
        ("anthropic", Refused(401, "no", "authentication_error"), "key in ANTHROPIC_API_KEY"),
        ("chat", Refused(404, "no such model"), r"name of the model.*127\.0\.0\.1:"),
        ("chat", Refused(429, "quota exceeded", "insufficient_quota"), "top it up"),
        (
            "anthropic",
            Refused(400, "prompt is too long: 300000 tokens", "invalid_request_error"),
            "longer than this model reads",
        ),
    ],
    ids=["a wrong key", "an unknown model", "an empty account", "a long conversation"],
)
def test_a_refusal_says_what_to_do_about_it(
    serve: Serve, name: str, refused: Refused, said: str
) -> None:
    server = serve(WIRES[name].server)
    server.will(refused)
    with pytest.raises(ModelFailed, match=said) as caught:
        WIRES[name].bridge(server).reply(ask("Hi"))
    assert not isinstance(caught.value, ModelUnavailable), "nor is it waited for"


def test_the_key_is_in_no_message_even_if_the_provider_repeats_it(
    main_wire: Wire, serve: Serve
) -> None:
    server = serve(main_wire.server)
    bridge = main_wire.bridge(server)
    for status in (401, 429, 500):
        server.next(Refused(status, f"Incorrect API key provided: {KEY}"))
        with pytest.raises(ModelFailed, match="Incorrect API key") as caught:
            bridge.reply(ask("Hi"))
        assert KEY not in told(caught.value)
    assert KEY not in repr(bridge)


def test_a_key_that_does_not_look_like_one_is_in_no_message_either(chat: Provider) -> None:
    chat.will(Refused(401, "who is open sesame?"))

    bridge = Bridge("openai:llama-4", base_url=chat.url, api_key="open sesame")
    with pytest.raises(ModelFailed, match=r"who is \*\*\*\?") as caught:
        bridge.reply(ask("Hi"))

    assert "sesame" not in told(caught.value)


def test_what_a_provider_says_cannot_disturb_a_terminal(chat: Provider) -> None:
    chat.will(Refused(400, "\x1b[2Jbad\nnews" + "!" * 5000))

    with pytest.raises(ModelFailed) as caught:
        WIRES["chat"].bridge(chat).reply(ask("Hi"))

    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_nobody_listening_is_told_with_the_address(wire: Wire, serve: Serve) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody listens here
        port = held.getsockname()[1]
        server = serve(wire.server)
        bridge = _moved(wire, server, port)

        with pytest.raises(ModelUnavailable, match=str(port)) as caught:
            bridge.reply(ask("Hi"))

    assert caught.value.after is None


def _moved(wire: Wire, server: Provider, port: int) -> Bridge:
    class Elsewhere(wire.server):  # type: ignore[name-defined]
        def __init__(self) -> None:
            pass

        port = property(lambda self: port)

    return wire.bridge(Elsewhere())


@pytest.mark.parametrize("streamed", [False, True])
def test_a_provider_that_hangs_up_may_be_called_again(
    wire: Wire, serve: Serve, streamed: bool
) -> None:
    server = serve(wire.server)
    server.will(HungUp(), "Hello.")
    bridge = wire.bridge(server)
    prompt = ask("Hi", say=(lambda piece: None) if streamed else None)

    with pytest.raises(ModelUnavailable, match="could not be reached"):
        bridge.reply(prompt)

    assert bridge.reply(prompt).text == "Hello."


@pytest.mark.parametrize("streamed", [False, True])
def test_a_provider_that_says_nothing_is_not_waited_for_beyond_the_time_given(
    chat: Provider, streamed: bool
) -> None:
    chat.will(Silent())
    bridge = Bridge("openai:llama-4", base_url=chat.url, timeout=0.3)
    began = time.monotonic()

    with pytest.raises(ModelUnavailable, match=r"0\.3 s"):
        bridge.reply(ask("Hi", say=(lambda piece: None) if streamed else None))

    assert time.monotonic() - began < 10


def test_a_page_of_a_proxy_is_no_reply(chat: Provider) -> None:
    chat.will(Plain(200, "<html>Please log in</html>"), Plain(502, "<html>Bad gateway</html>"))
    bridge = WIRES["chat"].bridge(chat)

    with pytest.raises(ModelFailed, match="Check the address") as caught:
        bridge.reply(ask("Hi"))
    assert not isinstance(caught.value, ModelUnavailable)

    with pytest.raises(ModelUnavailable, match="502"):
        bridge.reply(ask("Hi"))


# --- keys and addresses ---


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("anthropic:claude-opus-5", "ANTHROPIC_API_KEY"),
        ("google:gemini-3-pro-preview", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("huggingface:a/b", "HF_TOKEN"),
    ],
)
def test_without_a_key_people_are_told_which_variable_holds_it(name: str, variable: str) -> None:
    bridge = Bridge(name)  # no harm done yet: programs without the key may describe their agents

    with pytest.raises(ModelFailed, match=f"set {variable}"):
        bridge.reply(ask("Hi"))


def test_key_and_address_come_from_the_environment(
    chat: Provider, claude: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY + "2")
    monkeypatch.setenv("OLLAMA_BASE_URL", chat.url)
    chat.will("Hello.")
    claude.will("Hello.")

    Bridge("openai:llama-4").reply(ask("Hi"))
    Bridge("anthropic:claude-opus-5").reply(ask("Hi"))
    assert chat.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert claude.requests[0].headers["authorization"] == f"Bearer {KEY}2"

    Bridge("ollama:llama3.2").reply(ask("Hi"))
    assert KEY not in str(chat.requests[1].headers)


def test_a_wrong_address_in_the_environment_is_told_with_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "localhost:11434")

    with pytest.raises(ModelFailed, match="OLLAMA_BASE_URL is 'localhost:11434'"):
        Bridge("ollama:llama3.2").reply(ask("Hi"))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_key_in_the_environment_is_not_sent_to_an_address_given_in_code(
    provider: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in PROVIDERS[provider].keys:
        monkeypatch.setenv(variable, KEY)
    server = serve({"anthropic": Anthropic, "google": Google}.get(provider, Chat))
    server.will("Hello.")

    Bridge(f"{provider}:model", base_url=server.url).reply(ask("Hi"))

    assert KEY not in str(server.requests)


def test_openai_by_name_is_spoken_to_in_its_present_day_protocol_and_others_in_the_common_one() -> (
    None
):
    name = Name("openai", "gpt-5")

    home = built(name, Access(None, KEY))
    europe = built(name, Access("https://eu.api.openai.com/v1", KEY))
    other = built(name, Access("https://api.openai.com.example.org/v1", KEY))

    assert [type(model).__name__ for model in (home, europe, other)] == [
        "OpenAIResponsesModel",
        "OpenAIResponsesModel",
        "OpenAIChatModel",
    ]
    assert "api.openai.com" in str(home.base_url)


# --- threads, loops, processes, connections ---


def echo(request: Request) -> Said:
    return Said(["You said: ", str(request.body["messages"][-1]["content"])])


def test_many_threads_share_one_bridge_and_each_gets_its_own_reply(chat: Provider) -> None:
    chat.will(echo)
    bridge = WIRES["chat"].bridge(chat)

    def talk(number: int) -> list[str]:
        said: list[str] = []
        return [
            bridge.reply(ask(f"{number}")).text,
            bridge.reply(ask(f"{number}", say=said.append)).text,
            "".join(said),
        ]

    with ThreadPoolExecutor(16) as pool:
        heard = list(pool.map(talk, range(48)))

    assert heard == [[f"You said: {number}"] * 3 for number in range(48)]


def test_it_replies_inside_a_running_event_loop_too(chat: Provider) -> None:
    chat.will(echo)
    bridge = WIRES["chat"].bridge(chat)

    async def program() -> list[str]:
        here = bridge.reply(ask("here")).text
        aside = [asyncio.to_thread(bridge.reply, ask(f"{number}")) for number in range(4)]
        return [here, *(reply.text for reply in await asyncio.gather(*aside))]

    for _ in range(2):  # a second loop of the caller's is none of the bridge's business
        assert asyncio.run(program()) == [
            f"You said: {word}" for word in ("here", "0", "1", "2", "3")
        ]


def test_context_variables_of_the_caller_go_along() -> None:
    trace: ContextVar[str] = ContextVar("trace")
    trace.set("of the caller")

    async def look(put: Callable[[str], None]) -> str:
        return trace.get()

    assert current().run(look) == "of the caller"


def test_one_connection_serves_one_reply_after_the_other(main_wire: Wire, serve: Serve) -> None:
    server = serve(main_wire.server)
    server.will("Hello.")
    bridge = main_wire.bridge(server)

    for number in range(6):
        # From different threads, as a worker would.
        with ThreadPoolExecutor(1) as pool:
            say = (lambda piece: None) if number % 2 else None
            assert pool.submit(bridge.reply, ask("Hi", say=say)).result().text == "Hello."

    assert len({request.peer for request in server.requests}) == 1


def test_bridges_that_are_dropped_leave_nothing_open(chat: Provider) -> None:
    chat.will("Hello.")

    def use_and_drop(times: int) -> None:
        for _ in range(times):
            assert WIRES["chat"].bridge(chat).reply(ask("Hi")).text == "Hello."
        gc.collect()

    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    kept = WIRES["chat"].bridge(chat)
    kept.reply(ask("Hi"))
    before = held()

    use_and_drop(20)

    until(lambda: held() <= before)
    assert len({request.peer for request in chat.requests}) == 21


@contextmanager
def program(chat: Provider, *lines: str, flags: tuple[str, ...] = ()) -> Iterator[Any]:
    """A program of its own that has a bridge to the server. Nothing of it outlives the test."""
    source = [
        "import os, signal",
        "signal.signal(signal.SIGINT, signal.default_int_handler)",
        "from sayso.agent.bridge import Bridge",
        "from sayso.agent.messages import Message, Prompt",
        "hi = Prompt(messages=(Message(role='user', text='Hi'),))",
        f"bridge = Bridge('openai:llama-4', base_url='{chat.url}')",
        *lines,
    ]
    with subprocess.Popen(
        [sys.executable, *flags, "-c", "\n".join(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            yield running
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


def test_a_program_ends_cleanly_with_its_connections_open(chat: Provider) -> None:
    chat.will("Hello.")

    with program(chat, "print(bridge.reply(hi).text)", flags=("-W", "default")) as done:
        out, err = done.communicate(timeout=30)

    assert (done.returncode, out.strip(), err) == (0, "Hello.", "")


def test_a_forked_child_opens_its_own_connection_and_leaves_its_parent_s_alone(
    chat: Provider,
) -> None:
    chat.will("Hello.")

    with program(
        chat,
        "assert bridge.reply(hi).text == 'Hello.'",
        "child = os.fork()",
        "heard = bridge.reply(hi).text",
        "os._exit(0 if heard == 'Hello.' else 1) if child == 0 else None",
        "print(heard, os.waitpid(child, 0)[1], bridge.reply(hi).text)",
    ) as done:
        out, err = done.communicate(timeout=30)

    assert (done.returncode, out.strip()) == (0, "Hello. 0 Hello."), err
    assert len(chat.requests) == 4
    assert len({request.peer for request in chat.requests}) == 2


def test_ctrl_c_ends_the_wait_for_a_reply(chat: Provider) -> None:
    chat.will(Silent())

    with program(
        chat, "try: bridge.reply(hi)", "except KeyboardInterrupt: print('interrupted')"
    ) as waiting:
        until(lambda: chat.requests)
        waiting.send_signal(signal.SIGINT)
        out, err = waiting.communicate(timeout=30)

    assert (waiting.returncode, out.strip()) == (0, "interrupted"), err


# --- with an agent on this side of it ---


def test_an_agent_s_call_is_edited_by_a_person_and_the_provider_sees_the_edit(
    desk: sayso.Desk, main_wire: Wire, serve: Serve
) -> None:
    server = serve(main_wire.server)
    server.will(
        Said("I will.", (Call("c1", "send", {"to": "everybody"}),), thinking="hm"),
        Refused(503, "one moment", headers={"retry-after-ms": "1"}),
        "Done.",
    )
    sent: list[str] = []

    def send(to: str) -> str:
        """Send a letter."""
        sent.append(to)
        return f"sent to {to}"

    agent = sayso.Agent("clerk", main_wire.bridge(server), tools=[send], confirm=["send"])
    run = desk.run(agent, "Write a letter.", wait=False)
    desk.edit(run.state.pending[0], {"to": "Ann"})

    assert desk.resume(run).result() == "Done."
    assert sent == ["Ann"]
    said = json.dumps(server.body)
    assert "everybody" not in said
    assert "sent to Ann" in said
    assert len(server.requests) == 3
