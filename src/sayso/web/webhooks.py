"""Who is told of events, for those who run the desk.

Addresses of the server's own network are for whoever sits at it: `sayso webhooks add
--allow-private`. Over HTTP nobody points the server at its neighbours.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import Caller
from sayso.channels.webhooks import (
    Delivery,
    Webhook,
    Webhooks,
    delivery_record,
    webhook_record,
)
from sayso.store.outbox import Status
from sayso.web.bodies import WebhookPost
from sayso.web.callers import Door, needs
from sayso.web.documents import (
    READING,
    WRITING,
    DeliveryDocument,
    DeliveryList,
    WebhookDocument,
    WebhookList,
    answers,
)
from sayso.web.service import service_of
from sayso.web.visit import IdempotencyKey, Visit, visit_of

router = APIRouter(prefix="/api/v1", tags=["webhooks"], route_class=Door)

WebhookId = Annotated[str, Path(max_length=40, description="A webhook.", examples=["w-7f3k2a"])]
DeliveryId = Annotated[
    str, Path(max_length=40, description="A delivery.", examples=["d-7f3k2a9c8b1x0m5n"])
]


@router.get(
    "/webhooks",
    operation_id="list_webhooks",
    summary="List webhooks",
    responses={200: {"model": WebhookList}, **answers(401, 403)},
)
async def list_webhooks(request: Request, caller: Caller = needs("admin")) -> Response:
    """Return who is told of events, the oldest first. Secrets are not shown again."""
    visit = visit_of(request, caller)
    found = await service_of(request).work(lambda: list(webhooks_of(visit)))
    return JSONResponse({"webhooks": [webhook_record(hook) for hook in found]})


@router.post(
    "/webhooks",
    operation_id="add_webhook",
    summary="Add a webhook",
    status_code=201,
    responses={201: {"model": WebhookDocument}, **answers(*WRITING)},
)
async def add_webhook(
    request: Request,
    body: WebhookPost,
    caller: Caller = needs("admin"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Tell a receiver of events from now on. The answer has its secret, this once."""
    visit = visit_of(request, caller, idempotency_key, body.model_dump(mode="json"))
    hook = await service_of(request).work(lambda: _added(visit, body))
    return JSONResponse({**webhook_record(hook), "secret": hook.secret}, 201)


def _added(visit: Visit, body: WebhookPost) -> Webhook:
    return webhooks_of(visit).add(
        body.url, tuple(body.kinds), team=body.team, full=body.full, by=visit.caller.name
    )


@router.delete(
    "/webhooks/{id}",
    operation_id="remove_webhook",
    summary="Remove a webhook",
    status_code=204,
    response_class=Response,
    responses=answers(*READING),
)
async def remove_webhook(
    request: Request,
    id: WebhookId,  # noqa: A002 - as the address says
    caller: Caller = needs("admin"),
) -> Response:
    """Tell a receiver nothing more, and forget what was on its way to it."""
    visit = visit_of(request, caller)
    await service_of(request).work(lambda: webhooks_of(visit).remove(id, by=caller.name))
    return Response(status_code=204)


@router.get(
    "/deliveries",
    operation_id="list_deliveries",
    summary="List deliveries",
    responses={200: {"model": DeliveryList}, **answers(401, 403, 422)},
)
async def list_deliveries(
    request: Request,
    caller: Caller = needs("admin"),
    status: Annotated[Status | None, Query(description="Only those that stand so.")] = None,
    webhook: Annotated[str | None, Query(max_length=40, description="Only to this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 50,
) -> Response:
    """Return messages to webhooks, the newest first; `dead` ones were given up."""
    visit = visit_of(request, caller)

    def found() -> list[Delivery]:
        return webhooks_of(visit).deliveries(status, webhook=webhook, limit=limit)

    listed = await service_of(request).work(found)
    return JSONResponse({"deliveries": [delivery_record(one) for one in listed]})


@router.post(
    "/deliveries/{id}/redeliver",
    operation_id="redeliver",
    summary="Send a message again",
    responses={200: {"model": DeliveryDocument}, **answers(*WRITING)},
)
async def redeliver(
    request: Request,
    id: DeliveryId,  # noqa: A002
    caller: Caller = needs("admin"),
) -> Response:
    """Make a message due again, under the same id, as if it had never been tried."""
    visit = visit_of(request, caller)
    again = await service_of(request).work(lambda: webhooks_of(visit).redeliver(id))
    return JSONResponse(delivery_record(again))


def webhooks_of(visit: Visit) -> Webhooks:
    """Return the webhooks of the desk, changed in the name of the caller."""
    return Webhooks(lambda: visit.store, visit.origin)
