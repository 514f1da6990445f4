"""An error as somebody at a browser sees it: a page that says what failed, and what to do.

Programs get the problem document. The page is made from it, so both say the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.web.look.render import fragment, message
from sayso.web.look.views import Message

Handler = Callable[[Request, Exception], Response]
INBOX = ("To the inbox", "/inbox")
_KEPT = ("allow", "connection", "retry-after", "www-authenticate")
_TITLES = {
    400: "This cannot be read",
    401: "You are not signed in",
    403: "You may not do this",
    404: "There is nothing here",
    408: "It took too long",
    409: "Somebody was faster",
    413: "This is too large",
    422: "This does not fit",
    429: "Too much at once",
    500: "Something went wrong",
    503: "Not now",
}


def faced(handler: Handler) -> Handler:
    """Let a handler of errors answer people with pages."""

    def answered(request: Request, error: Exception) -> Response:
        return face(request, handler(request, error))

    return answered


def face(request: Request, answer: Response) -> Response:
    """Return an answer as whoever asked wants it: a problem document, or a page."""
    if not wants_page(request) or "problem" not in answer.headers.get("content-type", ""):
        return answer
    said = json.loads(bytes(answer.body))
    kept = {name: value for name, value in answer.headers.items() if name in _KEPT}
    if said["code"] == "not-signed-in":
        return _sign_in(request, said, kept)
    words = _words(request, said)
    if from_script(request):
        return fragment("words.html", status=answer.status_code, headers=kept, message=words)
    return message(words, answer.status_code, kept)


def wants_page(request: Request) -> bool:
    """Whether a person at a browser asks, for something that is not of the API."""
    return "text/html" in request.headers.get("accept", "") and not (
        request.url.path.startswith(("/api/", "/static/"))
    )


def from_script(request: Request) -> bool:
    """Whether a script of ours asks, for a part of a page."""
    return request.headers.get("hx-request") == "true"


def coming_back(request: Request) -> str:
    """Return the address of the sign-in that leads back to this page."""
    path = request.url.path if request.method == "GET" else request.url.path.rpartition("/")[0]
    query = f"?{request.url.query}" if request.url.query else ""
    return f"/sign-in?{urlencode({'next': f'{path}{query}'})}"


def _sign_in(request: Request, said: dict[str, Any], headers: dict[str, str]) -> Response:
    to = coming_back(request)
    if from_script(request):  # what is typed on the page stays there
        words = Message(title=_TITLES[401], alert=said["detail"], links=(("Sign in", to),))
        return fragment("words.html", status=401, headers=headers, message=words)
    if request.method == "GET":
        return RedirectResponse(to, 303)
    said_next = ("Nothing was done. Sign in, and send it again.",)
    return message(
        Message(title=_TITLES[401], said=said_next, links=(("Sign in", to),)), 401, headers
    )


def _words(request: Request, said: dict[str, Any]) -> Message:
    if said["code"] == "unknown-ask":
        return Message(
            title="There is no such ask for you",
            said=(
                "It was never here, it was deleted, or it belongs to a team that you are not of. "
                "Which of these is not said.",
            ),
            links=(INBOX,),
            reference=said["code"],
        )
    title = _TITLES.get(said["status"], said["title"])
    if said["code"] == "bad-policy":
        title = "No policy can be used"
    if request.method == "GET" and said["status"] == 422:  # nothing else was sent
        title = "Something in this address is wrong"
    return Message(title=title, alert=said["detail"], links=(INBOX,), reference=said["code"])
