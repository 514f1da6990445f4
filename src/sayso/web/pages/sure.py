"""What is asked once more before something ends, and what stands in the way of a form."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import Response

from sayso.errors import BadValue, SaysoError, SignInAgain
from sayso.web.look.views import Place
from sayso.web.pages.board import board
from sayso.web.problems import status_of
from sayso.web.visit import Visit

_TOLD = (403, 409, 422)  # what is said on the page; everything else is a page of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Sure:
    """A question before something ends: what will follow, and where to go instead."""

    title: str
    follows: tuple[str, ...]
    action: str
    button: str
    back: str
    beware: tuple[str, ...] = ()
    possible: bool = True
    hidden: tuple[tuple[str, str], ...] = ()
    note: str = ""  # what can be written with it, if anything
    place: Place = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why nothing was done: above the form or on a field, perhaps with a way to sign in again."""

    words: str
    status: int
    field: str = ""
    sign_in: str | None = None


def refused(error: SaysoError, back: str) -> Refused:
    """Return what to say of an error on the page that sent the form.

    Raises:
        SaysoError: it is nothing to say there.
    """
    status = status_of(error)
    if status not in _TOLD:
        raise error
    again = f"/sign-in?{urlencode({'next': back})}" if isinstance(error, SignInAgain) else None
    field = error.path or "" if isinstance(error, BadValue) else ""
    return Refused(words=str(error), status=status, field=field, sign_in=again)


def sure_page(
    request: Request, visit: Visit, sure: Sure, refusal: Refused | None = None
) -> Response:
    """Ask whether somebody is sure."""
    status = 200 if refusal is None else refusal.status
    return board(
        request,
        visit,
        "sure.html",
        sure.title,
        sure.place,
        status=status,
        sure=sure,
        refusal=refusal,
    )
