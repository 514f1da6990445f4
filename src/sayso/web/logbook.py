"""What the service says on stderr: a line for each request, and what its parts report.

Never a token, a cookie, a query string or a body. What a stranger sends stands on one line
and can draw nothing on a terminal.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal, TextIO

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.model.ids import short_id
from sayso.model.text import one_line, visible
from sayso.web.known import LOOKED_AT

Style = Literal["json", "text"]
REQUEST_ID = "X-Request-Id"

_requests = logging.getLogger("sayso.web.requests")
_TOKEN = re.compile(r"sayso_[0-9A-Za-z]{8,}")
_GIVEN = re.compile(r"[0-9A-Za-z._-]{1,64}")
_PROBES = ("/health", "/ready")  # every few seconds for ever; told only when something is wrong
_FINE = 200
_LEVELS = {"sayso": logging.INFO, "uvicorn": logging.WARNING}


class Logbook:
    """Middleware that writes one line for each request once it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and say what came of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        began, status = time.monotonic(), 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).setdefault(REQUEST_ID, request_id)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            if status != _FINE or scope["path"] not in _PROBES:
                _requests.info("request", extra={"request": _noted(scope, status, began)})


def _request_id(scope: Scope) -> str:
    """Return the id that a proxy gave the request, or one of ours."""
    given = Headers(scope=scope).get(REQUEST_ID, "")
    return (
        given
        if _GIVEN.fullmatch(given) and not _TOKEN.search(given)
        else short_id("q", os.urandom(8), 12)
    )


def _noted(scope: Scope, status: int, began: float) -> dict[str, Any]:
    caller = scope["state"].get(LOOKED_AT)
    return {
        "method": one_line(scope["method"], 20),
        "path": masked(one_line(scope["path"], 200)),
        "status": status,  # 0: whoever asked went away before there was an answer
        "ms": round((time.monotonic() - began) * 1000, 1),
        "caller": None if caller is None else f"{caller.kind}:{caller.name or 'here'}",
        "id": scope["state"]["request_id"],
    }


def masked(text: str) -> str:
    """Return a text without the tokens in it."""
    return _TOKEN.sub("sayso_***", text)


class _Lines(logging.Formatter):
    """One record, one line; JSON for machines or short text for people."""

    def __init__(self, style: Style, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._json = style == "json"
        self._now = now

    def format(self, record: logging.LogRecord) -> str:
        """Write the line."""
        request: dict[str, Any] | None = getattr(record, "request", None)
        if self._json:
            return self._as_json(record, request)
        at = f"{self._now():%H:%M:%S}"
        if request is None:
            return f"{at} {record.levelname.lower()} {self._said(record, lines=True)}"
        who = request["caller"] or "-"
        return (
            f"{at} {request['method']} {request['path']} {request['status']} "
            f"{request['ms']:g} ms {who} {request['id']}"
        )

    def _as_json(self, record: logging.LogRecord, request: dict[str, Any] | None) -> str:
        line: dict[str, Any] = {"time": self._now().isoformat(timespec="milliseconds")}
        if request is None:
            line |= {"level": record.levelname.lower(), "logger": record.name}
            line |= {"message": self._said(record, lines=False)}
        else:
            line |= request
        return json.dumps(line)

    def _said(self, record: logging.LogRecord, *, lines: bool) -> str:
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        text = masked(text)
        return visible(text, lines=True) if lines else text


def keep_log(
    style: Style,
    now: Callable[[], datetime],
    stream: TextIO | None = None,
    *,
    quiet: bool = False,
) -> None:
    """Write what sayso and the server under it say to stderr, from now on; quietly, only warnings."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Lines(style, now))
    for name, level in _LEVELS.items():
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(max(level, logging.WARNING) if quiet else level)
        logger.propagate = False
