"""Who sends a request, once their credential was looked at; kept with the request."""

from __future__ import annotations

from starlette.requests import Request

from sayso.access.caller import Caller

LOOKED_AT = "sayso_caller"  # in the state of a request


def known(request: Request) -> Caller | None:
    """Return who sends it; `None` if nobody has looked yet."""
    found: Caller | None = getattr(request.state, LOOKED_AT, None)
    return found
