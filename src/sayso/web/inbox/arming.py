"""How much is at stake with an ask, and for how long it must have been seen before it is decided."""

from __future__ import annotations

from sayso.model.ask import Ask
from sayso.model.ruled import NEVER_BY_TIMEOUT

_LIGHT = ("low", "medium")
_SECONDS = 1  # for which an ask that has just appeared takes no decision, by click, tap or key
_GRAVE_SECONDS = 2  # the same where much is at stake


def grants(ask: Ask) -> bool:
    """Whether a yes lets an agent run alone."""
    return ask.stake is not None and ask.stake.settles == "grant"


def weighs(ask: Ask) -> bool:
    """Whether so much is at stake that an ask is decided on its own page alone."""
    tier = ask.content.ruled.tier
    # A tier that a policy made up was made up for a reason.
    light = ask.risk not in NEVER_BY_TIMEOUT and tier in (None, *_LIGHT)
    return not light or ask.content.ruled.critical or grants(ask)


def waits_for(ask: Ask) -> int:
    """Return for how many seconds an ask takes no decision once it has appeared on a page."""
    return _GRAVE_SECONDS if weighs(ask) or ask.kind == "doubt" else _SECONDS
