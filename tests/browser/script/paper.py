"""An inbox of paper: pages with the HTML that the scripts rely on, and nothing behind them.

What is on each page, when an answer comes and what happens meanwhile is up to the test. So a race
can be played in any order, which no real service would do on demand.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from typing import Self
from urllib.parse import parse_qs, urlsplit

import sayso.web

STATIC = Path(sayso.web.__file__).parent / "static"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
NOW = "2026-11-02T14:03:00+00:00"
Fields = dict[str, list[str]]


@dataclass(frozen=True)
class Sheet:
    """One ask."""

    id: str
    title: str = "Pay 40 EUR back"
    kind: str = "action"
    shape: str = "low"
    waits: int = 1
    digest: str = "d1"
    editor: str = ""
    banner: str = ""
    open: bool = True
    extra: str = ""  # in the bar
    after: str = ""  # after the form

    @property
    def row(self) -> str:
        bulk = self.shape in ("low", "medium")
        pick = (
            f'<label><input class="pick" type="checkbox" name="pick" form="bulk" '
            f'value="{self.id} {self.digest}">Select</label>'
        )
        return (
            f'<li class="row" data-ask="{self.id}" data-kind="{self.kind}" '
            f'data-shape="{self.shape}"{f" data-bulk={self.digest}" if bulk else ""}>'
            f'<a class="row-link" href="/inbox/{self.id}" hx-get="/inbox/{self.id}" '
            f'hx-target="#detail" hx-push-url="true">{escape(self.title)}</a>'
            f"{pick if bulk else ''}</li>"
        )

    @property
    def bar(self) -> str:
        if not self.open:
            return f'<div id="bar-{self.id}"><p>There is nothing to decide.</p></div>'
        buttons = "".join(
            f'<button name="verdict" value="{verdict}" data-key="{key}" data-arms>'
            f"<span{label}>{word}</span></button>"
            for verdict, key, word, label in (
                ("approve", "a", "Approve", ' data-approve-label data-plain="Approve"'),
                ("reject", "r", "Reject", ""),
                ("respond", "c", "Ask for changes", ""),
            )
        )
        return (
            f'<div id="bar-{self.id}">{self.extra}<details class="note-fold"><summary>Note</summary>'
            f'<textarea id="note-{self.id}" name="note"></textarea></details>{buttons}</div>'
        )

    @property
    def state(self) -> str:
        return f'<div id="banner-{self.id}">{self.banner}</div>{self.bar}'

    @property
    def article(self) -> str:
        post = f"/inbox/{self.id}/decision"
        return (
            f'<article class="ask" data-ask="{self.id}" data-digest="{self.digest}" '
            f'data-version="1" data-kind="{self.kind}" data-shape="{self.shape}" '
            f'data-waits="{self.waits}" data-opened="{NOW}"><form id="decide-{self.id}" method="post" action="{post}" '
            f'hx-post="{post}" hx-target="#detail" novalidate>'
            f'<input type="hidden" name="seen" value="{self.digest}">'
            f'<h1 id="title-{self.id}">{escape(self.title)}</h1>'
            f'<div id="banner-{self.id}">{self.banner}</div>'
            f'<fieldset class="editor" id="editor-{self.id}">{self.editor}'
            f'<section id="edits-{self.id}" hidden><div class="section-head"><p></p></div>'
            f"<dl></dl></section></fieldset>{self.bar}</form>{self.after}</article>"
        )


@dataclass
class Paper:
    """The inbox: what is in it, what was posted, and which answers are held back."""

    sheets: list[Sheet] = field(default_factory=list)
    posted: list[tuple[str, Fields]] = field(default_factory=list)
    answers: dict[str, Callable[[Fields], tuple[int, str]]] = field(default_factory=dict)
    held: dict[str, threading.Event] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    keys: str = "on"
    up: bool = True
    streams: list[Queue[str | None]] = field(default_factory=list)

    # --- what a test does ---

    def change(self, id_: str, **given: object) -> None:
        """Let something happen to an ask, and tell whoever listens."""
        self.sheets = [
            replace(sheet, **given) if sheet.id == id_ else sheet  # type: ignore[arg-type]
            for sheet in self.sheets
        ]
        self.tell(id_)

    def remove(self, id_: str) -> None:
        self.sheets = [sheet for sheet in self.sheets if sheet.id != id_]
        self.tell(id_)

    def add(self, sheet: Sheet) -> None:
        self.sheets = [sheet, *self.sheets]
        self.tell(sheet.id)

    def tell(self, id_: str) -> None:
        for stream in [*self.streams]:
            stream.put(f'id: 1\ndata: {{"stream": "{id_}", "kind": "ask.decided"}}\n\n')

    def hold(self, path: str) -> threading.Event:
        """Hold back the answer at a path until the event is set."""
        self.held[path] = threading.Event()
        return self.held[path]

    def verdicts(self) -> list[tuple[str, str]]:
        """What was decided: the ask and the verdict."""
        return [
            (path.split("/")[2], (given.get("verdict") or given["option"])[0])
            for path, given in self.posted
            if path.endswith("/decision")
        ]

    # --- pages ---

    def sheet(self, id_: str) -> Sheet:
        return next(sheet for sheet in self.sheets if sheet.id == id_)

    @property
    def queue(self) -> str:
        rows = "".join(sheet.row for sheet in self.sheets)
        return (
            '<section id="queue"><h2>Inbox</h2>'
            f'<p id="count"><b>{len(self.sheets)}</b> waiting</p>'
            '<form action="/inbox"><input type="search" name="q" aria-label="Search"></form>'
            '<button id="new" type="button" hidden><span></span></button>'
            '<form id="bulk" method="post" action="/inbox/bulk">'
            f'<h3 class="group">Needs you</h3><ul class="rows">{rows}</ul>'
            '<div class="bulk-bar"><b data-picked></b><button name="verdict" value="approve">'
            'Approve</button><button type="button" data-unpick>Clear</button></div></form></section>'
        )

    def page(self, sheet: Sheet | None) -> str:
        return (
            '<!doctype html><html lang="en" data-theme="system"><head><meta charset="utf-8">'
            '<meta name="htmx-config" content=\''
            '{"includeIndicatorCSS":false,"defaultSettleDelay":0}'
            f"'><title>{escape(sheet.title) if sheet else 'Inbox'} - sayso</title>"
            '<script src="/static/htmx.min.js" defer></script>'
            '<script src="/static/boot.js" type="module"></script></head>'
            f'<body data-place="ask" data-query="?view=mine" data-now="{NOW}" '
            f'data-keys="{self.keys}"><p id="offline" hidden>Not connected.</p>'
            '<nav class="rail"><a class="place" href="/inbox">Inbox</a>'
            '<form method="post" action="/settings"><button name="theme" value="dark">Dark</button>'
            f"</form></nav>{self.queue}"
            f'<main id="detail" tabindex="-1">{sheet.article if sheet else "All clear"}</main>'
            '<aside id="context"></aside><section id="held" hidden></section><div id="toast" role="status"></div>'
            '<dialog id="palette" aria-label="Palette"><input role="combobox" aria-expanded="true" '
            'aria-controls="list" aria-label="Find"><ul id="list" role="listbox"></ul></dialog>'
            '<dialog id="help">Keys<button type="button" data-close>Close</button></dialog>'
            "</body></html>"
        )


class _Handler(BaseHTTPRequestHandler):
    server: _Listening
    paper: Paper  # as it was when the request came: it is answered from nothing else
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _send(
        self, status: int, body: str | bytes, media: str = "text/html", keep: str = "no-store"
    ) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{media}; charset=utf-8"),
            ("Content-Length", str(len(data))),
            ("Content-Security-Policy", CSP),
            ("Cache-Control", keep),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.paper = self.server.paper
        where = urlsplit(self.path)
        parts = where.path.strip("/").split("/")
        if not self.paper.up:
            self.close_connection = True
            return
        if parts[0] == "static":
            self._send(200, _script(parts[1]), "text/javascript", "max-age=3600")
            return
        if parts[0] == "api":
            self._stream()
            return
        self.paper.asked.append(self.path)
        self._page(parts)

    def _page(self, parts: list[str]) -> None:
        path = "/" + "/".join(parts)
        partial = self.headers.get("HX-Request") == "true"
        if path in self.paper.answers:
            body = self.paper.answers[path]({})
        elif path == "/inbox/queue":
            body = 200, self.paper.queue
        elif parts[0] != "inbox":
            body = 404, ""
        elif parts[-1] == "state":
            body = 200, self.paper.sheet(parts[1]).state
        elif len(parts) == 2:
            sheet = self.paper.sheet(parts[1])
            body = 200, sheet.article if partial else self.paper.page(sheet)
        else:
            body = 200, self.paper.page(self.paper.sheets[0] if self.paper.sheets else None)
        self._wait(path)
        self._send(*body)

    def _wait(self, path: str) -> None:
        if path in self.paper.held:
            assert self.paper.held[path].wait(20)

    def do_POST(self) -> None:
        self.paper = self.server.paper
        path = urlsplit(self.path).path
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        given = parse_qs(sent, keep_blank_values=True)
        if not self.paper.up:
            self.close_connection = True
            return
        self.paper.posted.append((path, given))
        answer = self.paper.answers.get(path, lambda _: (200, "<p>Decided.</p>"))(given)
        self._wait(path)
        self._send(*answer)

    def _stream(self) -> None:
        stream: Queue[str | None] = Queue()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"retry: 200\n\n")
        self.paper.streams.append(stream)
        self.close_connection = True
        try:
            while (said := self._next(stream)) is not None:
                self.wfile.write(said.encode())
        except OSError:
            return
        finally:
            self.paper.streams.remove(stream)

    def _next(self, stream: Queue[str | None]) -> str | None:
        try:
            return stream.get(timeout=1)
        except Empty:
            return ": alive\n\n"


@cache
def _script(name: str) -> bytes:
    return (STATIC / name).read_bytes()


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    paper: Paper


class PaperServer:
    """An inbox behind HTTP, on a free port; another one for each test."""

    def __init__(self) -> None:
        self._server = _Listening(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def showing(self, paper: Paper) -> Iterator[None]:
        """Show this inbox for a block; afterwards nobody waits for it, or listens to it."""
        self._server.paper = paper
        yield
        for event in paper.held.values():
            event.set()
        for stream in [*paper.streams]:
            stream.put(None)
