"""Whatever goes wrong, as a problem document (RFC 9457) with a stable code.

An answer never says more than whoever asked may know: what we did not expect is a line in the
log and a plain 500.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from math import ceil
from typing import Any

from fastapi.exceptions import HTTPException, RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import ADMIN
from sayso.errors import (
    BadPolicy,
    BadValue,
    Conflict,
    Denied,
    Forbidden,
    Misuse,
    NotSignedIn,
    SaysoError,
    SchemaMismatch,
    StoreBusy,
    StoreFull,
    StoreUnavailable,
    TooManyAsks,
    TooManyTries,
    UnknownAsk,
    UnknownFile,
    UnknownKey,
    UnknownPerson,
    UnknownRole,
    UnknownRun,
    UnknownTool,
    UnknownWebhook,
)
from sayso.model.text import one_line, visible
from sayso.model.wire import ERRORS, write_error
from sayso.web.known import known

_log = logging.getLogger("sayso.web")

MEDIA_TYPE = "application/problem+json"
_DETAIL = 4000  # characters of a message
_LABEL = re.compile(r"(\[U\+[0-9A-F]{4,6} [A-Z0-9 -]+\])")  # as `model/text.py` writes them
_FIELDS = 50
UNUSABLE = (
    "No policy can be used, so every ask is refused and nothing is approved until it is mended. "
    "An administrator sees why."
)
_LATER = {429: 30, 503: 2}  # seconds after which to try again, where nothing else is known

# The first class that fits counts, so the narrow ones stand before the wide ones.
STATUS: tuple[tuple[type[SaysoError], int], ...] = (
    (NotSignedIn, 401),
    (UnknownAsk, 404),
    (UnknownRun, 404),
    (UnknownFile, 404),
    (UnknownPerson, 404),
    (UnknownWebhook, 404),
    (UnknownKey, 404),
    (UnknownTool, 404),
    (BadPolicy, 409),
    (Misuse, 422),
    (TooManyAsks, 429),
    (TooManyTries, 429),
    (Conflict, 409),
    (Forbidden, 403),
    (Denied, 403),
    (StoreBusy, 503),
    (StoreUnavailable, 503),
    (StoreFull, 503),
    (SchemaMismatch, 503),
)


class Problem(HTTPException):
    """Something that only HTTP knows of, with the code and the words it is answered with."""

    def __init__(
        self, status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, headers=dict(headers) if headers else None)
        self.code = code


def answer(problem: Problem) -> Response:
    """Return what only HTTP knows of as a problem document."""
    said = _document(problem.status_code, problem.code, str(problem.detail))
    return _response(said, problem.headers)


def status_of(error: SaysoError) -> int:
    """Return the status that an error is answered with."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def words_of(error: SaysoError) -> str:
    """Return an error in words for anybody: where a broken policy lies is not for all of them."""
    return UNUSABLE if isinstance(error, BadPolicy) else str(error)


def on_error(request: Request, error: Exception) -> Response:
    """Answer an error of ours. What is our own fault is said in the log only."""
    assert isinstance(error, SaysoError)  # noqa: S101 - registered for these alone
    status = status_of(error)
    if status == 500:
        return unexpected(request, error)
    said = write_error(error, status)
    said["detail"] = _shown(said["detail"])
    if isinstance(error, UnknownPerson):  # who else there is, administrators can list
        said["detail"] = f"{_shown(repr(error.name))} is not a person on this desk."
    if isinstance(error, UnknownRole):
        said["detail"] = f"Nobody holds the role {_shown(repr(error.role))}."
        said["more"] = {"role": error.role, "known": ()}
    if isinstance(error, BadPolicy):
        said |= _unusable(request, error)
    if isinstance(error, BadValue) and error.path:
        said["fields"] = {one_line(error.path, 200): said["detail"]}
    return _response(said, _headers(error, status))


def on_http(request: Request, error: Exception) -> Response:
    """Answer what the framework or we refused before any of our rooms was entered."""
    assert isinstance(error, StarletteHTTPException)  # noqa: S101 - registered for these alone
    if isinstance(error, Problem):
        return answer(error)
    status = error.status_code
    where = f"{request.method} {one_line(request.url.path, 200)}"
    code, detail = {
        400: ("bad-json", "The body cannot be read as JSON."),
        404: ("no-route", f"There is no {where} here. GET /openapi.json lists what there is."),
        405: ("wrong-method", f"{where}: this address takes other methods; see the Allow header."),
    }.get(status, (f"http-{status}", str(error.detail)))
    return _response(_document(status, code, detail), error.headers)


def on_invalid(_request: Request, error: Exception) -> Response:
    """Answer a request that does not fit its schema, field by field."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these alone
    found: Sequence[Any] = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        reason = found[0].get("ctx", {}).get("error", "")
        words = f"The body is no JSON: {reason} at character {found[0]['loc'][-1]}."
        return _response(_document(400, "bad-json", words))
    fields = {_path(one["loc"]): one_line(one["msg"], 300) for one in found[:_FIELDS]}
    words = "; ".join(f"{path}: {text}" for path, text in fields.items())
    said = _document(422, "invalid-request", f"The request does not fit. {words}")
    return _response(said | {"fields": fields})


def unexpected(request: Request, error: BaseException) -> Response:
    """Answer what nobody expected: plainly, and with everything in the log."""
    where = f"{request.method} {one_line(request.url.path, 200)}"
    _log.error("%s failed: %s", where, type(error).__name__, exc_info=error)
    code = error.code if isinstance(error, SaysoError) else "internal"
    words = "Something went wrong on the server. Its log says what; nothing was half written."
    return _response(_document(500, code, words))


def _unusable(request: Request, error: BadPolicy) -> dict[str, Any]:
    """Return what of a broken policy is told to others than those who could mend it."""
    where = f"{request.method} {one_line(request.url.path, 200)}"
    _log.error("%s was refused, as no policy can be used: %s", where, error)
    sender = known(request)
    if sender is not None and ADMIN in sender.scopes:
        return {}
    return {
        "detail": UNUSABLE,
        "more": {"reason": UNUSABLE, "line": None, "column": None, "file": ""},
    }


def _shown(text: str) -> str:
    """Return a message with what agents wrote made visible, unless it has been already."""
    pieces = _LABEL.split(text[:_DETAIL])
    pieces[::2] = (visible(piece) for piece in pieces[::2])
    return "".join(pieces)


def _path(loc: Sequence[Any]) -> str:
    """Return where a value sits, without saying that it sits in the body or the query."""
    inner = loc[1:] or loc
    return one_line(".".join(str(part) for part in inner), 200)


def _headers(error: SaysoError, status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    if status not in (429, 503):
        return {}
    after = getattr(error, "after", None)
    return {"Retry-After": str(max(1, ceil(after)) if after else _LATER[status])}


def _document(status: int, code: str, detail: str) -> dict[str, Any]:
    return {
        "type": f"{ERRORS}{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": _shown(detail),
        "code": code,
    }


def _response(said: dict[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse(said, said["status"], headers=dict(headers or {}), media_type=MEDIA_TYPE)
