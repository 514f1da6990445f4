"""Who is at the door: the credential of a request, and how far it reaches.

A token comes in the `Authorization` header, a session in the cookie; never in an address, which
lands in logs and histories. It is looked at before the body is read, and the people of the desk
are read anew with each request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Depends, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import APIKeyCookie, HTTPBearer

from sayso.access.caller import Caller
from sayso.access.caller import Scope as Reach
from sayso.access.sessions import caller_of_session
from sayso.access.tokens import caller_of_token
from sayso.errors import AgentsCannotDecide, NotSignedIn
from sayso.store.contract import Store
from sayso.web.known import LOOKED_AT, known
from sayso.web.problems import Problem
from sayso.web.service import Service, service_of

_STRANGERS = ""  # no credential is called so
_LARGE = 16 * 1024  # bytes of a body that is read on a thread, so that nobody else waits for it

_bearer = HTTPBearer(
    scheme_name="token",
    bearerFormat="sayso_...",
    description="A token, made with `sayso tokens create`. An agent's can never decide.",
    auto_error=False,
)
_session = APIKeyCookie(
    name="sayso_session",
    scheme_name="session",
    description="The session of a person who has signed in. Ignored beside a token.",
    auto_error=False,
)


async def caller(request: Request) -> Caller:
    """Return who sends this request.

    Raises:
        NotSignedIn: there is no credential, or it does not count.
        Problem: this credential, or strangers from this address, send too much.
    """
    found = known(request)
    if found is None:
        found = await look(request)
        setattr(request.state, LOOKED_AT, found)
    return found


async def look(request: Request) -> Caller:
    """Look at the credential of a request as it counts now."""
    service = service_of(request)
    try:
        found = await service.work(lambda: shown(service, request))
    except NotSignedIn:
        service.count_stranger(request)
        raise
    service.requests.take(found.credential)
    return found


def shown(service: Service, request: Request) -> Caller:
    """Return whose credential this is, as it counts now. Beside a header, cookies do not count.

    Raises:
        NotSignedIn: there is no credential, or it does not count.
    """
    store: Store = service.store
    headers = request.headers.getlist("authorization")
    if headers:
        scheme, _, text = headers[0].partition(" ")
        # Of two, a proxy might have looked at the other one.
        if len(headers) > 1 or scheme.casefold() != "bearer":
            raise NotSignedIn
        return caller_of_token(store, text.strip())
    secret = request.cookies.get(service.settings.cookie)
    if secret is None:
        raise NotSignedIn
    return caller_of_session(store, secret)


class Needs:
    """What a route asks of its caller: a credential with this scope, or any that counts."""

    def __init__(self, scope: Reach | None) -> None:
        self.scope = scope

    async def __call__(
        self,
        request: Request,
        _token: object = Security(_bearer),
        _cookie: object = Security(_session),
    ) -> Caller:
        """Return who sends the request, if their credential reaches this far."""
        return await self.admitted(request)

    async def admitted(self, request: Request) -> Caller:
        """Return who sends the request.

        Raises:
            NotSignedIn, WrongScope, Forbidden: they may not do this.
        """
        found = await caller(request)
        if self.scope is not None:
            found.check(self.scope)
        return found


class NeedsAPerson(Needs):
    """A credential with this scope, and of a person: agents hear why they never have it."""

    async def admitted(self, request: Request) -> Caller:
        """Return which person sends the request."""
        found = await caller(request)
        if found.kind == "agent":
            raise AgentsCannotDecide
        return await super().admitted(request)


def needs(scope: Reach) -> Any:  # noqa: ANN401 - as the framework declares its own
    """Declare that a route is for callers whose credential has this scope."""
    return Depends(NeedsAPerson(scope) if scope == "decisions:write" else Needs(scope))


signed_in: Any = Depends(Needs(None))  # a route for whoever has a credential that counts


class Door(APIRoute):
    """A route that knows who calls before it reads what they send, and reads that off the loop."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request to this route."""
        handle = super().get_route_handler()
        found = self.dependant.dependencies  # codespell:ignore dependant
        asked = [one.call for one in found if isinstance(one.call, Needs)]
        field = self.body_field

        async def guarded(request: Request) -> Response:
            for one in asked:
                await one.admitted(request)
            if field is None:
                return await handle(request)
            if not asked:
                service_of(request).count_stranger(request)
            _check_type(request)
            body = await request.body()
            if len(body) <= _LARGE:
                return await handle(request)
            service, sender = service_of(request), known(request)
            async with service.turn(request, sender.credential if sender else _STRANGERS):
                said = await service.work(lambda: _fitting(field, body))
                return await handle(request if said is None else _Fitting(request, said))

        return guarded


class _Fitting(Request):
    """A request whose body was read before, and fits."""

    def __init__(self, request: Request, said: object) -> None:
        super().__init__(request.scope, request.receive)
        self._request = request
        self._said = said

    async def body(self) -> bytes:
        """Return the body as it came."""
        return await self._request.body()

    async def json(self) -> Any:  # noqa: ANN401 - as the framework declares it
        """Return what the body says, as the route takes it."""
        return self._said


def _fitting(field: Any, body: bytes) -> object | None:  # noqa: ANN401 - of the framework
    """Return what a body says, as the route takes it; `None` if it is no JSON.

    Raises:
        RequestValidationError: it does not fit.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None  # what is wrong with it is said by whoever reads it again
    fitting: object
    fitting, errors = field.validate(said, loc=("body",))
    if errors:
        raise RequestValidationError(errors)
    return fitting


def _check_type(request: Request) -> None:
    """Refuse a body that does not say that it is JSON."""
    headers = request.headers
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return
    given = headers.get("content-type", "").partition(";")[0].strip().casefold()
    if given != "application/json":
        words = "The body must be JSON: send it with `Content-Type: application/json`."
        raise Problem(415, "wrong-type", words)
