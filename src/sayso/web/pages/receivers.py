"""Webhooks and what became of the messages to them, for administrators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, cast, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import Caller
from sayso.channels.webhooks import KINDS, Delivery, Outcome, Webhook
from sayso.errors import SaysoError
from sayso.store.outbox import Status
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.views import Chip
from sayso.web.pages.board import board, person
from sayso.web.pages.people import around, known, words
from sayso.web.pages.sure import Refused, Sure, refused, sure_page
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of
from sayso.web.webhooks import webhooks_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_ADMIN = person("admin")
WebhookId = Annotated[str, Path(max_length=40)]
_PAGE = 50
_PATH = "/people/webhooks"
_LABELS = {"": "All", "waiting": "Waiting", "delivered": "Arrived", "dead": "Given up"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which deliveries are shown: everything is in the address."""

    status: Status | None = None
    webhook: str | None = None
    after: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Wanted:
        """Read them from an address; what is none is left out."""
        status = given.get("status", "")
        return cls(
            status=cast("Status", status) if status in get_args(Status) else None,
            webhook=given.get("webhook") or None,
            after=given.get("after") or None,
        )

    def href(self, **other: str | None) -> str:
        """Return the address with something else in it."""
        said = {"status": self.status, "webhook": self.webhook} | other
        query = urlencode({name: value for name, value in said.items() if value})
        return f"{_PATH}?{query}#deliveries" if query else f"{_PATH}#deliveries"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adding:
    """What stands in the form of a webhook, and what was just done."""

    url: str = ""
    kinds: str = ""
    team: str = ""
    full: bool = False
    errors: Mapping[str, str] = field(default_factory=dict)
    refusal: Refused | None = None
    made: Webhook | None = None
    tested: tuple[str, Outcome] | None = None


@router.get(_PATH)
async def webhooks(
    request: Request,
    who: Caller = _ADMIN,
    after: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show who is told of events, and what became of the messages."""
    visit, wanted = visit_of(request, who), Wanted.of(request.query_params)
    return await service_of(request).work(lambda: _page(request, visit, Adding(), wanted))


def _page(request: Request, visit: Visit, adding: Adding, wanted: Wanted | None = None) -> Response:
    hooks, shown = webhooks_of(visit), wanted or Wanted()
    found = hooks.deliveries(
        shown.status, webhook=shown.webhook, limit=_PAGE + 1, after=shown.after
    )
    page = found[:_PAGE]
    return board(
        request,
        visit,
        "webhooks.html",
        "Webhooks",
        "people",
        status=200 if adding.refusal is None else adding.refusal.status,
        live_from=shown.href(after=shown.after),
        **around(visit, _PATH),
        hooks=list(hooks),
        deliveries=page,
        counts=visit.store.delivery_counts(),
        more=shown.href(after=page[-1].id) if len(found) > _PAGE else None,
        chips=[
            Chip(label=label, href=shown.href(status=name), current=name == (shown.status or ""))
            for name, label in _LABELS.items()
        ],
        wanted=shown,
        adding=adding,
        usual=", ".join(KINDS),
        about=_about,
        known=known(visit.people),
    )


def _about(delivery: Delivery) -> str | None:
    """Return the page of what a message is about, if it has one."""
    return f"/inbox/{delivery.about}" if delivery.about.startswith("a-") else None


@router.post(_PATH)
async def add_form(request: Request, who: Caller = _ADMIN) -> Response:
    """Tell a receiver of events from now on. Its secret is on the answer, this once."""
    fields = await posted(request)
    visit = visit_of(request, who)

    def made() -> Response:
        typed = _typed(fields)
        try:
            hook = webhooks_of(visit).add(
                typed["url"],
                tuple(words(typed["kinds"])) or KINDS,
                team=typed["team"] or None,
                full=typed["full"],
                by=visit.caller.name,
            )
        except SaysoError as error:
            refusal = refused(error, _PATH)
            errors = {refusal.field: refusal.words} if refusal.field in typed else {}
            return _page(request, visit, Adding(**typed, errors=errors, refusal=refusal))
        return _page(request, visit, Adding(made=hook))

    return await service_of(request).work(made)


def _typed(fields: Posted) -> dict[str, Any]:
    said: dict[str, Any] = {
        name: value_of(fields, name).strip() for name in ("url", "kinds", "team")
    }
    return said | {"full": bool(value_of(fields, "full"))}


@router.post("/people/webhooks/{id}/test")
async def ping_form(
    request: Request,
    id: WebhookId,  # noqa: A002 - as the address says
    who: Caller = _ADMIN,
) -> Response:
    """Send a ping now, once, and say what came of it."""
    visit = visit_of(request, who)

    def made() -> Response:
        outcome = webhooks_of(visit).test(id)
        return _page(request, visit, Adding(tested=(id, outcome)))

    return await service_of(request).work(made)


@router.get("/people/webhooks/{id}/remove")
async def sure_remove(
    request: Request,
    id: WebhookId,  # noqa: A002
    who: Caller = _ADMIN,
) -> Response:
    """Ask whether a receiver is to be told nothing more."""
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: sure_page(request, visit, removal_of(webhooks_of(visit).get(id)))
    )


@router.post("/people/webhooks/{id}/remove")
async def remove_form(
    request: Request,
    id: WebhookId,  # noqa: A002
    who: Caller = _ADMIN,
) -> Response:
    """Tell a receiver nothing more."""
    visit = visit_of(request, who)

    def made() -> Response:
        webhooks_of(visit).remove(id, by=visit.caller.name)
        return RedirectResponse(_PATH, 303)

    return await service_of(request).work(made)


def removal_of(hook: Webhook) -> Sure:
    """Say what follows if a webhook is removed."""
    return Sure(
        title=f"Remove the webhook {hook.id}?",
        follows=(
            f"{hook.url} is told nothing more.",
            "What is on its way to it, and what is known of messages to it, is forgotten.",
            "Its secret no longer signs anything. Added again, it gets another one.",
        ),
        action=f"/people/webhooks/{hook.id}/remove",
        button="Remove it",
        back=_PATH,
    )


@router.post("/people/deliveries/{id}/redeliver")
async def redeliver_form(
    request: Request,
    id: Annotated[str, Path(max_length=40)],  # noqa: A002
    who: Caller = _ADMIN,
) -> Response:
    """Send a message again."""
    fields = await posted(request)
    visit, wanted = visit_of(request, who), Wanted.of({n: value_of(fields, n) for n in fields})

    def made() -> Response:
        try:
            webhooks_of(visit).redeliver(id)
        except SaysoError as error:
            return _page(request, visit, Adding(refusal=refused(error, _PATH)), wanted)
        return RedirectResponse(wanted.href(after=wanted.after), 303)

    return await service_of(request).work(made)
