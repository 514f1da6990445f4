"""A form that came after its session had ended: nothing is done, and what was typed is handed back.

A page with scripts keeps what is typed on it. Without them the answer takes its place, and what
somebody wrote for a quarter of an hour would be gone. So the answer shows it, as text and nothing
else: no ask is read, since nobody knows who sent this.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from sayso.errors import NotSignedIn
from sayso.web.callers import Door
from sayso.web.faces import from_script, wants_page
from sayso.web.forms.sent import MARKS, Posted
from sayso.web.inbox.answering import filters_in
from sayso.web.inbox.posting import posted
from sayso.web.look.render import sheet
from sayso.web.problems import Problem

_MOST = 200  # fields that are handed back
_OURS = frozenset(
    (
        "seen",
        "request",
        "back",
        "hold",
        "tab",
        "do",
        "was",
        "dropped",
        "sure",
        "pick",
        "theme",
        "keys",
    )
)
_OUR_MARKS = frozenset({"seen", *MARKS - {"new"}})


class InboxDoor(Door):
    """A door that hands back what was typed if whoever sent it is no longer signed in."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request to this route."""
        handle = super().get_route_handler()

        async def kept(request: Request) -> Response:
            try:
                return await handle(request)
            except NotSignedIn:
                if request.method != "POST" or from_script(request) or not wants_page(request):
                    raise
                try:
                    fields = await posted(request)
                except Problem:  # no form of ours: there is nothing to hand back
                    raise NotSignedIn from None
            return _handed_back(request, fields)

        return kept


def _handed_back(request: Request, fields: Posted) -> Response:
    came_from = request.url.path.rpartition("/")[0]
    back = filters_in(request, fields).href(came_from)
    found = list(typed(fields))
    return sheet(
        "signed_out.html",
        status=401,
        headers={"WWW-Authenticate": "Bearer"},
        sign_in=f"/sign-in?{urlencode({'next': back})}",
        typed=found[:_MOST],
        more=max(0, len(found) - _MOST),
    )


def typed(fields: Posted) -> Iterator[tuple[str, str]]:
    """Yield what somebody typed or pressed, by the name of its field; not what our pages add."""
    for name, values in fields.items():
        mark, marked, _ = name.partition(":")
        if name in _OURS or (marked and mark in _OUR_MARKS):
            continue
        yield from ((name, value) for value in values if value)
