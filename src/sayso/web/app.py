"""The application: routes, limits and errors of one desk, put together."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.desk import Desk
from sayso.errors import SaysoError
from sayso.model.text import one_line
from sayso.web import (
    about,
    admin,
    asks,
    audit,
    calibration,
    events,
    metrics,
    policy,
    publishing,
    runs,
    scraping,
    sign_in,
    tools,
    tour,
    trust,
    webhooks,
)
from sayso.web.about import API, VERSION
from sayso.web.documents import PROBLEM
from sayso.web.faces import face, faced
from sayso.web.guard import Guard, dress
from sayso.web.inbox import routes as inbox
from sayso.web.limits import Bodies
from sayso.web.look import assets
from sayso.web.pages import audit as audit_page
from sayso.web.pages import entries, overview, people, policies, receivers, records, versions
from sayso.web.pages import insights as insights_page
from sayso.web.pages import publishing as publishing_page
from sayso.web.pages import runs as run_pages
from sayso.web.pages import tools as tools_page
from sayso.web.pages import trust as trust_page
from sayso.web.problems import on_error, on_http, on_invalid, unexpected
from sayso.web.service import Service
from sayso.web.settings import Settings

# Every part of the API is a router of its own; a new part is one more here.
ROUTERS: tuple[APIRouter, ...] = (
    about.router,
    scraping.router,
    asks.router,
    trust.router,
    runs.router,
    events.router,
    audit.router,
    metrics.router,
    calibration.router,
    policy.router,
    tools.router,
    publishing.router,
    sign_in.router,
    admin.router,
    webhooks.router,
    inbox.router,
    overview.router,
    audit_page.router,
    records.router,
    policies.router,
    versions.router,
    publishing_page.router,
    tools_page.router,
    run_pages.router,
    trust_page.router,
    insights_page.router,
    people.router,
    entries.router,
    receivers.router,
    assets.router,
)

_log = logging.getLogger("sayso.web")
_SAYS = f"{VERSION}; api={API}"


def make_app(desk: Desk, settings: Settings | None = None) -> FastAPI:
    """Return the HTTP API of a desk, to be served by any ASGI server.

    `app.state.service` is what requests share; whoever stops the server calls its `stop()`
    first, so that those who wait or follow let go.
    """
    service = Service(desk, settings or Settings())

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            service.end()

    app = Api(
        title="sayso",
        version=VERSION,
        summary="Human oversight for AI agents: nothing leaves without your say-so.",
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # it would fetch its scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    # Not `include_router`: it would work out every route again, for each application.
    app.router.routes += [route for router in ROUTERS for route in router.routes]
    if service.settings.oidc is not None:
        from sayso.web.oidc import routes  # the libraries for it are an extra

        app.include_router(routes(service, service.settings.oidc))
    if service.settings.tour is not None:
        app.include_router(tour.routes(service.settings.tour))
    app.add_exception_handler(SaysoError, faced(on_error))
    app.add_exception_handler(HTTPException, faced(on_http))
    app.add_exception_handler(RequestValidationError, faced(on_invalid))
    # The last one added is the outermost.
    app.add_middleware(Bodies, settings=service.settings, small=sign_in.SMALL)
    app.add_middleware(Guard, settings=service.settings)
    app.add_middleware(Answers, settings=service.settings)
    return app


class Api(FastAPI):
    """The application, with an OpenAPI document that knows our problems and our cookie."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; the server's own `send` is the only way to its connection."""
        server = getattr(send, "__self__", None)
        scope[events.TRANSPORT] = getattr(server, "transport", None)
        await super().__call__(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if self.openapi_schema is None:
            document = super().openapi()
            components = document.setdefault("components", {})
            components.setdefault("schemas", {})["Problem"] = PROBLEM
            service: Service = self.state.service
            components["securitySchemes"]["session"]["name"] = service.settings.cookie
        return super().openapi()


class Answers:
    """Lets every answer say which version gave it, and answers what nobody expected."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._https = (settings.public_url or "").startswith("https:")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def answered(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers["Sayso-Version"] = _SAYS
                dress(message, https=self._https or scope["scheme"] == "https")
            await send(message)

        try:
            await self._app(scope, receive, answered)
        except ClientDisconnect:  # nobody is there to be answered
            where = f"{scope['method']} {one_line(scope['path'], 200)}"
            _log.info("client-gone: %s was not answered, as its client has left", where)
        except Exception as error:
            response = face(Request(scope), unexpected(Request(scope), error))
            if begun:
                raise
            await response(scope, receive, answered)


_DESCRIPTION = """\
An agent opens an ask; people decide it; the agent begins what was approved, carries it out and
finishes it. A decision is taken once and names the digest it saw. An approval is spent once, by
`begin`.

Credentials go into `Authorization: Bearer`, or into the cookie of a session. An agent's token can
open, read, begin, finish and withdraw its own asks, and never decide.

Send `Idempotency-Key` with whatever changes an ask: the same request again, also after a broken
connection, gets the same answer and does nothing twice. Starting, cancelling and retrying a run
take no key: look before you send them again.
"""
