"""Providers of language models on this machine: real HTTP, real sockets, and replies that a test chose.

A server answers each request with the next reply of its script, in its own protocol, whole or as a
stream of events, as the request asks. It keeps what it was sent, byte for byte what went over the wire.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeVar

Event = tuple[str, dict[str, Any] | str]  # its name, and its data


@dataclass(frozen=True)
class Call:
    """A tool call of a reply. Arguments that are a text are sent as that text, whatever it says."""

    id: str
    tool: str
    args: dict[str, Any] | str = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.args if isinstance(self.args, str) else json.dumps(self.args)


@dataclass(frozen=True)
class Said:
    """A reply: thinking (with a signature), then text in pieces, then calls."""

    text: str | Sequence[str] = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    end: Literal["", "cut", "kept back"] = ""  # at the limit of tokens, or by a filter
    tokens: tuple[int, int] = (11, 7)
    more: Mapping[str, Any] = field(default_factory=dict)  # what else Anthropic tells of a message

    @property
    def pieces(self) -> list[str]:
        return [self.text] * bool(self.text) if isinstance(self.text, str) else list(self.text)

    @property
    def whole(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Refused:
    """An error with its status, as the provider words it."""

    status: int
    message: str = "no"
    kind: str = "some_error"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Broken:
    """A stream that ends after so many events: by a torn connection, or as if all had been said."""

    said: Said
    events: int
    how: Literal["torn", "ended"] = "torn"


@dataclass(frozen=True)
class Troubled:
    """A stream in which the provider reports an error after so many events."""

    said: Said
    events: int
    kind: str
    message: str


@dataclass(frozen=True)
class Plain:
    """Whatever a proxy in between may send."""

    status: int
    text: str
    kind: str = "text/html"


@dataclass(frozen=True)
class HungUp:
    """The connection is closed before anything is sent."""


@dataclass(frozen=True)
class Silent:
    """Nothing is sent until the server closes, or the client goes."""


Answer = Said | Refused | Broken | Troubled | Plain | HungUp | Silent


@dataclass(frozen=True)
class Request:
    """What came over the wire, and from which end of it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    peer: int


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64  # of Python's 5, what comes at once on a busy machine is turned away

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that go: tests make them."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Provider:
    """One server. Subclasses speak a protocol."""

    suffix = "/v1"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._script: list[Answer | Callable[[Request], Answer]] = []
        self._lock = threading.Lock()
        provider = self

        class Handler(_Handler):
            owner = provider

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.suffix}"

    @property
    def body(self) -> dict[str, Any]:
        """What the last request said."""
        return self.requests[-1].body

    def will(self, *answers: Answer | str | Callable[[Request], Answer]) -> None:
        """Answer the next requests so, one after the other; the last answer is given for ever."""
        self._script += [Said(one) if isinstance(one, str) else one for one in answers]

    def next(self, *answers: Answer | str) -> None:
        """Forget the rest of the script, and answer so from now on."""
        self._script = []
        self.will(*answers)

    def take(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        return answer(request) if callable(answer) else answer

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # --- the protocol ---

    def streamed(self, request: Request) -> bool:
        return bool(request.body.get("stream"))

    def reply(self, said: Said, request: Request) -> dict[str, Any]:
        raise NotImplementedError

    def events(self, said: Said, request: Request) -> list[Event]:
        raise NotImplementedError

    def error(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": kind, "code": kind, "param": None}}

    def trouble(self, kind: str, message: str) -> Event:
        return "", self.error(0, kind, message)


P = TypeVar("P", bound=Provider)


class _Handler(BaseHTTPRequestHandler):
    owner: Provider
    protocol_version = "HTTP/1.1"  # connections are kept
    disable_nagle_algorithm = True  # and what is written is sent

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its parent has it
        pass

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(sent), self.client_address[1])
        with suppress(ConnectionError):
            self._answer(self.owner.take(request), request)

    def _answer(self, answer: Answer, request: Request) -> None:
        match answer:
            case Said() if self.owner.streamed(request):
                self._stream(self.owner.events(answer, request))
                self._end()
            case Said():
                self._whole(200, json.dumps(self.owner.reply(answer, request)))
            case Refused(status, message, kind, headers):
                self._whole(status, json.dumps(self.owner.error(status, kind, message)), headers)
            case Broken(said, events, how):
                self._stream(self.owner.events(said, request)[:events])
                self._end() if how == "ended" else self._tear()
            case Troubled(said, events, kind, message):
                said_so_far = self.owner.events(said, request)[:events]
                self._stream([*said_so_far, self.owner.trouble(kind, message)])
                self._end()
            case Plain(status, text, kind):
                self._whole(status, text, {"content-type": kind})
            case HungUp():
                self._tear()
            case Silent():
                self.owner.closing.wait(30)
                self._tear()

    def _whole(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in ({"content-type": "application/json"} | dict(headers or {})).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, events: list[Event]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            line = (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
            self.wfile.write(f"{len(line.encode()):x}\r\n{line}\r\n".encode())
            self.wfile.flush()

    def _end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def _tear(self) -> None:
        # No lingering: the other side is told that the connection is reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()


class Chat(Provider):
    """OpenAI's chat completions, as vLLM, Ollama, Hugging Face and many others speak them."""

    def reply(self, said: Said, request: Request) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": said.whole or None}
        if said.thinking:
            message["reasoning_content"] = said.thinking
        if said.calls:
            message["tool_calls"] = [self._call(call) for call in said.calls]
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": self._reason(said)}],
            "usage": self._usage(said),
        }

    def events(self, said: Said, request: Request) -> list[Event]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        if said.thinking:
            deltas.append({"reasoning_content": said.thinking})
        deltas += [{"content": piece} for piece in said.pieces]
        for index, call in enumerate(said.calls):
            half = len(call.text) // 2
            first = {**self._call(call), "index": index}
            first["function"] = {"name": call.tool, "arguments": call.text[:half]}
            rest = {"index": index, "function": {"arguments": call.text[half:]}}
            deltas += [{"tool_calls": [first]}, {"tool_calls": [rest]}]
        chunks = [self._chunk(request, [{"index": 0, "delta": delta}]) for delta in deltas]
        last = {"index": 0, "delta": {}, "finish_reason": self._reason(said)}
        chunks += [self._chunk(request, [last]), self._chunk(request, [], self._usage(said))]
        return [*(("", chunk) for chunk in chunks), ("", "[DONE]")]

    def _chunk(
        self, request: Request, choices: list[dict[str, Any]], usage: object = None
    ) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": request.body["model"],
            "choices": choices,
            "usage": usage,
        }

    def _call(self, call: Call) -> dict[str, Any]:
        function = {"name": call.tool, "arguments": call.text}
        return {"id": call.id, "type": "function", "function": function}

    def _reason(self, said: Said) -> str:
        ends = {"cut": "length", "kept back": "content_filter"}
        return ends.get(said.end) or ("tool_calls" if said.calls else "stop")

    def _usage(self, said: Said) -> dict[str, int]:
        read, written = said.tokens
        return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


class Responses(Provider):
    """OpenAI's own present-day protocol."""

    def reply(self, said: Said, request: Request) -> dict[str, Any]:
        return self._response(said, request, "incomplete" if said.end else "completed")

    def events(self, said: Said, request: Request) -> list[Event]:
        told: list[Event] = [("response.created", {"response": self._begun(request)})]
        for index, item in enumerate(self._items(said)):
            at = {"output_index": index, "item_id": item["id"]}
            begun = item | {key: [] for key in ("content", "summary") if key in item}
            begun |= {"arguments": ""} if "arguments" in item else {}
            told.append(("response.output_item.added", {"output_index": index, "item": begun}))
            told += [
                (f"response.{name}", {**at, **data}) for name, data in self._within(item, said)
            ]
            told.append(("response.output_item.done", {"output_index": index, "item": item}))
        last = "response.incomplete" if said.end else "response.completed"
        told.append((last, {"response": self.reply(said, request)}))
        return [
            (name, {"type": name, "sequence_number": number, **data})
            for number, (name, data) in enumerate(told)
            if isinstance(data, dict)
        ]

    def _within(self, item: dict[str, Any], said: Said) -> list[tuple[str, dict[str, Any]]]:
        """What is told while an item comes in."""
        if item["type"] == "reasoning":
            at, text = {"summary_index": 0}, said.thinking
            return [
                (
                    "reasoning_summary_part.added",
                    {**at, "part": {"type": "summary_text", "text": ""}},
                ),
                ("reasoning_summary_text.delta", {**at, "delta": text}),
                ("reasoning_summary_text.done", {**at, "text": text}),
                (
                    "reasoning_summary_part.done",
                    {**at, "part": {"type": "summary_text", "text": text}},
                ),
            ]
        if item["type"] == "message":
            at = {"content_index": 0}
            empty = {"type": "output_text", "text": "", "annotations": []}
            return [
                ("content_part.added", {**at, "part": empty}),
                *(("output_text.delta", {**at, "delta": piece}) for piece in said.pieces),
                ("output_text.done", {**at, "text": said.whole}),
            ]
        return [
            ("function_call_arguments.delta", {"delta": item["arguments"]}),
            ("function_call_arguments.done", {"arguments": item["arguments"]}),
        ]

    def _items(self, said: Said) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        if said.thinking:
            summary = [{"type": "summary_text", "text": said.thinking}]
            items.append(
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": summary,
                    "encrypted_content": "sealed",
                }
            )
        if said.whole:
            content = [{"type": "output_text", "text": said.whole, "annotations": []}]
            items.append(
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                }
            )
        items += [
            {
                "type": "function_call",
                "id": f"fc_{call.id}",
                "call_id": call.id,
                "name": call.tool,
                "arguments": call.text,
                "status": "completed",
            }
            for call in said.calls
        ]
        return items

    def _begun(self, request: Request) -> dict[str, Any]:
        return {**self._response(Said(), request, "in_progress"), "output": [], "usage": None}

    def _response(self, said: Said, request: Request, status: str) -> dict[str, Any]:
        read, written = said.tokens
        ends = {"cut": "max_output_tokens", "kept back": "content_filter"}
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1_700_000_000,
            "model": request.body["model"],
            "status": status,
            "incomplete_details": {"reason": ends[said.end]} if said.end else None,
            "error": None,
            "output": self._items(said),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": read,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": written,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": read + written,
            },
        }


class Anthropic(Provider):
    """Anthropic's messages."""

    suffix = ""

    def reply(self, said: Said, request: Request) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if said.thinking:
            content.append({"type": "thinking", "thinking": said.thinking, "signature": "signed"})
        if said.whole:
            content.append({"type": "text", "text": said.whole})
        content += [
            {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.args}
            for call in said.calls
        ]
        return self._message(said, request, content, self._reason(said))

    def events(self, said: Said, request: Request) -> list[Event]:
        told: list[Event] = [
            ("message_start", {"message": self._message(said, request, [], None)}),
            ("ping", {}),
        ]
        blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
        if said.thinking:
            deltas = [
                {"type": "thinking_delta", "thinking": said.thinking},
                {"type": "signature_delta", "signature": "signed"},
            ]
            blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
        if said.pieces:
            deltas = [{"type": "text_delta", "text": piece} for piece in said.pieces]
            blocks.append(({"type": "text", "text": ""}, deltas))
        for call in said.calls:
            half = len(call.text) // 2
            parts = (call.text[:half], call.text[half:])
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            block = {"type": "tool_use", "id": call.id, "name": call.tool, "input": {}}
            blocks.append((block, deltas))
        for index, (block, deltas) in enumerate(blocks):
            told.append(("content_block_start", {"index": index, "content_block": block}))
            told += [("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
            told.append(("content_block_stop", {"index": index}))
        stop = {"stop_reason": self._reason(said), "stop_sequence": None}
        told.append(("message_delta", {"delta": stop, "usage": {"output_tokens": said.tokens[1]}}))
        told.append(("message_stop", {}))
        return [(name, {"type": name, **data}) for name, data in told if isinstance(data, dict)]

    def error(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": kind, "message": message}}

    def trouble(self, kind: str, message: str) -> Event:
        return "error", self.error(0, kind, message)

    def _reason(self, said: Said) -> str:
        ends = {"cut": "max_tokens", "kept back": "refusal"}
        return ends.get(said.end) or ("tool_use" if said.calls else "end_turn")

    def _message(
        self, said: Said, request: Request, content: list[dict[str, Any]], reason: str | None
    ) -> dict[str, Any]:
        read, written = said.tokens
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": request.body["model"],
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": read, "output_tokens": written if reason else 1},
            **said.more,
        }


class Google(Provider):
    """Google's `generateContent`."""

    suffix = ""

    def streamed(self, request: Request) -> bool:
        return ":streamGenerateContent" in request.path

    def reply(self, said: Said, request: Request) -> dict[str, Any]:
        whole = Said(said.whole, said.calls)
        return self._chunk(said, self._parts(whole), self._reason(said))

    def events(self, said: Said, request: Request) -> list[Event]:
        parts = self._parts(said)
        chunks = [self._chunk(said, [part], None) for part in parts[:-1]]
        return [
            ("", chunk) for chunk in [*chunks, self._chunk(said, parts[-1:], self._reason(said))]
        ]

    def error(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return {"error": {"code": status, "status": kind, "message": message}}

    def _parts(self, said: Said) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = [{"text": piece} for piece in said.pieces]
        for call in said.calls:
            function = {"name": call.tool, "args": call.args, "id": call.id}
            parts.append({"functionCall": function, "thoughtSignature": "c2VhbGVk"})
        return parts

    def _reason(self, said: Said) -> str:
        return {"cut": "MAX_TOKENS", "kept back": "SAFETY"}.get(said.end, "STOP")

    def _chunk(self, said: Said, parts: list[dict[str, Any]], reason: str | None) -> dict[str, Any]:
        read, written = said.tokens
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if reason:
            candidate["finishReason"] = reason
        return {
            "candidates": [candidate],
            "modelVersion": "gemini-3-pro",
            "usageMetadata": {
                "promptTokenCount": read,
                "candidatesTokenCount": written,
                "totalTokenCount": read + written,
            },
        }


@contextmanager
def serving(provider: P) -> Iterator[P]:
    """Serve until the block ends."""
    try:
        yield provider
    finally:
        provider.close()
