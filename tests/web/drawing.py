"""Draws the macros of our templates in tests, with the filters that text of others goes through."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from sayso.web.look.prose import prose
from sayso.web.look.render import plain
from sayso.web.look.text import clamp, line, shown


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sayso.web"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "shown": shown,
        "line": line,
        "plain": plain,
        "clamp": clamp,
        "prose": prose,
    }
    return environment


def drawn(macro: str, *given: object, template: str = "facts.html") -> str:
    """Return the HTML of one macro."""
    module = _environment().get_template(template).make_module()
    return str(getattr(module, macro)(*given))
