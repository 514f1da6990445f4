"""Pages from templates: one environment, every text escaped, nothing inline.

Templates draw the values of `web/look/views.py` and know nothing else. A name that is not there
is an error and not an empty place.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from sayso.model.text import hides, one_line
from sayso.web.look import moments, prose, text
from sayso.web.look.assets import asset, modules
from sayso.web.look.marks import SHAPE_WORDS, bytes_, icon, record_ticks, spark, ticks
from sayso.web.look.packing import LEAST, packed, unpacks
from sayso.web.look.views import Frame, Message

TEMPLATES = Path(__file__).parent.parent / "templates"


class Page(HTMLResponse):
    """HTML that goes packed to whoever reads it packed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        self.headers["Vary"] = "Accept-Encoding, HX-Request"
        if len(self.body) >= LEAST and unpacks(scope):
            self.body = packed(bytes(self.body))
            self.headers["Content-Encoding"] = "gzip"
            self.headers["Content-Length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def page(
    template: str,
    frame: Frame,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,  # noqa: ANN401 - what the template draws
) -> HTMLResponse:
    """Return a whole page: the frame, and in it what the template draws."""
    said = drawn(template, frame=frame, now=frame.now, **values)
    return Page(said, status, headers=dict(headers or {}))


def fragment(
    template: str,
    *,
    now: datetime | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,  # noqa: ANN401 - what the template draws
) -> HTMLResponse:
    """Return a part of a page, to be put into one that is on the screen already."""
    said = drawn(template, frame=None, now=now, **values)
    return Page(said, status, headers=dict(headers or {}))


def sheet(
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,  # noqa: ANN401 - what the template draws
) -> HTMLResponse:
    """Return a page without the rail, for whoever is not signed in."""
    return Page(drawn(template, **values), status, headers=dict(headers or {}))


def message(
    said: Message, status: int = 200, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return a page that says something and what to do next."""
    return sheet("message.html", message=said, status=status, headers=headers)


def drawn(template: str, **values: Any) -> str:  # noqa: ANN401 - what the template draws
    """Return the text of a template."""
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    """Return the one environment, with its filters."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "shown": text.shown,
        "line": text.line,
        "plain": plain,
        "said": text.said,
        "told": text.told,
        "quoted": text.quoted,
        "clamp": text.clamp,
        "prose": prose.prose,
        "when": _when,
        "ago": _ago,
        "left": _left,
        "seconds": _seconds,
        "within": _within,
        "clock": moments.clock,
        "bytes": bytes_,
    }
    made.globals |= {
        "icon": icon,
        "asset": asset,
        "ticks": ticks,
        "record_ticks": record_ticks,
        "spark": spark,
        "soon": moments.soon,
        "hides": hides,
        "SHAPE_WORDS": SHAPE_WORDS,
        "modules": modules,
        # What a template may be drawn without; a page or a fragment that has them says so.
        **dict.fromkeys(("frame", "now", "ask", "queue", "toast", "undo", "tour_line", "record")),
        "oob": False,
        "query": "",
    }
    return made


def plain(value: object, width: int = 120) -> str:
    """Return a text of others on one line for an attribute, where no badge can stand."""
    return one_line(str(value), width)


@pass_context
def _when(context: Context, at: datetime) -> Markup:
    return moments.when(at, context["now"])


@pass_context
def _ago(context: Context, at: datetime) -> Markup:
    return moments.when(at, context["now"], ago=True)


@pass_context
def _seconds(context: Context, at: datetime) -> str:
    return moments.seconds(at, context["now"])


@pass_context
def _left(context: Context, at: datetime) -> Markup:
    return moments.left(at, context["now"])


@pass_context
def _within(context: Context, at: datetime) -> Markup:
    return moments.within(at, context["now"])
