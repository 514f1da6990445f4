"""How fast an agent may ask, so that the ask that matters is not buried under its others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.errors import BadValue
from sayso.model.span import span
from sayso.model.text import hides, one_line

if TYPE_CHECKING:  # whoever asks how fast an agent may ask reads no file
    from sayso.policy.tables import Table

EACH = ""  # stands for every agent; none has this name
PACE = ("asks", "waiting")
_ASKS = re.compile(r"\s*([0-9]{1,6})\s+per\s+(\S.*)")
_UNITS = {"minute": "1m", "hour": "1h", "day": "1d"}
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Pace:
    """At most so many asks in so many seconds, and so many open at once; `None` is no limit."""

    asks: int | None = None
    per: float | None = None
    waiting: int | None = None


def pace_of(agent: str, paces: Mapping[str, Pace]) -> Pace | None:
    """Return the pace of one agent: what is said of it, and of every agent where it says nothing."""
    own, each = paces.get(agent), paces.get(EACH)
    if own is None or each is None:
        return own or each
    asks, per = (own.asks, own.per) if own.asks is not None else (each.asks, each.per)
    return Pace(asks, per, own.waiting if own.waiting is not None else each.waiting)


def read_paces(table: Table) -> dict[str, Pace]:
    """Read `[agents]`, which says it of every agent, and `[agents.NAME]`, of one.

    Raises:
        BadPolicy: it makes no sense; says where, and what to do.
    """
    paces = {EACH: _pace(table)} if any(key in table for key in PACE) else {}
    for name in table:
        if name not in PACE:
            paces[name] = _named(table, name)
    return paces


def _named(table: Table, name: str) -> Pace:
    if not name.strip() or hides(name, lines=False):
        table.fail(name, f"No agent is called {one_line(name, 40)!r}.", at_key=True)
    if not isinstance(table.get(name), dict):
        table.fail(
            name,
            f"{one_line(name, 40)!r} is neither asks nor waiting, and what one agent may do stands "
            "under its name: [agents.NAME].",
            at_key=True,
        )
    own = table.table(name)
    own.only(*PACE)
    if not any(key in own for key in PACE):
        own.fail(None, 'Say how fast it may ask: asks = "100 per hour", or waiting = 50.')
    return _pace(own)


def _pace(table: Table) -> Pace:
    asks, per = _asks(table) if "asks" in table else (None, None)
    return Pace(asks, per, _waiting(table) if "waiting" in table else None)


def _asks(table: Table) -> tuple[int, float]:
    said = table.get("asks")
    found = _ASKS.fullmatch(said) if isinstance(said, str) else None
    if found is None or int(found[1]) < 1:
        table.fail("asks", 'asks is written like "100 per hour", "10 per minute" or "5 per 10m".')
    unit = found[2].strip()
    try:
        return int(found[1]), span(_UNITS.get(unit, unit)).total_seconds()
    except BadValue:
        table.fail(
            "asks",
            f"{one_line(unit, 40)!r} is no time to count them in. "
            'Write "per minute", "per hour", "per day" or "per 10m".',
        )


def _waiting(table: Table) -> int:
    said = table.get("waiting")
    if type(said) is not int or not 1 <= said <= _MOST:
        table.fail(
            "waiting", f"waiting is how many of its asks may be open at once, 1 to {_MOST:,}."
        )
    return said
