"""What the pages beside the inbox have in common: who may look, and what stands around a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Depends, Request
from starlette.responses import Response

from sayso.access.caller import Scope
from sayso.web.callers import NeedsAPerson
from sayso.web.inbox.pages import frame_of, toast_of
from sayso.web.inbox.queue import waiting_for
from sayso.web.look.render import page
from sayso.web.look.views import Place, Toast
from sayso.web.visit import Visit


def person(scope: Scope) -> Any:  # noqa: ANN401 - as the framework declares its own
    """Let in people who may do that; agents are turned away."""
    return Depends(NeedsAPerson(scope))


def board(
    request: Request,
    visit: Visit,
    template: str,
    title: str,
    place: Place,
    *,
    status: int = 200,
    done: str | None = None,
    back: str = "",
    toast: Toast | None = None,
    live_from: str | None = None,
    **values: Any,  # noqa: ANN401 - what the template draws
) -> Response:
    """Answer with a page. The rail counts what waits, as the inbox does.

    `done` is an ask that was just decided on this page; `back` is its address, if asks are decided here.
    `live_from` is where the page can be looked at again: a form may be answered with it from elsewhere.
    """
    counted = waiting_for(visit).counted
    if done is not None:
        toast = toast_of(visit, done)
    frame = frame_of(request, visit, title, place)
    frame = replace(frame, counted=counted, toast=toast, tray=replace(frame.tray, back=back))
    return page(template, frame, status=status, live_from=live_from, **values)
