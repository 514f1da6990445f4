"""How fast an agent may ask, so that the ask that matters is not buried under its others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sayso.errors import BadValue
from sayso.model.names import fold
from sayso.model.span import span
from sayso.model.text import one_line

if TYPE_CHECKING:  # whoever asks how fast an agent may ask reads no file
    from sayso.policy.tables import Table

EACH = ""  # stands for every agent; none has this name
PACE = ("asks", "waiting")
_ASKS = re.compile(r"\s*([0-9]{1,6})\s+per\s+(\S.*)")
_UNITS = {"minute": "1m", "hour": "1h", "day": "1d"}
_MOST = 1_000_000
NO_LIMIT = 1_000_000_000  # more than anybody asks


@dataclass(frozen=True, slots=True)
class Pace:
    """At most so many asks in so many seconds, and so many open at once.

    `None` says nothing of it: then the pace of every agent counts, and where that says nothing
    either, `DEFAULT`. `NO_LIMIT` lifts it.
    """

    asks: int | None = None
    per: float | None = None
    waiting: int | None = None


class Limits(NamedTuple):
    """How fast one agent may ask, all said."""

    asks: int
    per: float
    waiting: int


# No agent asks people ten things a second and means it; one in a loop soon does (E46).
DEFAULT = Limits(600, 60.0, 1_000)


LIFTED: Mapping[str, Pace] = {EACH: Pace(NO_LIMIT, DEFAULT.per, NO_LIMIT)}  # of every agent


def pace_of(agent: str, paces: Mapping[str, Pace]) -> Limits:
    """Return the pace of one agent: what is said of it, then of every agent, then the default."""
    if not paces:
        return DEFAULT
    asks, per, waiting = DEFAULT
    for said in (paces.get(EACH), paces.get(fold(agent))):
        if said is not None and said.asks is not None:
            asks, per = said.asks, said.per or per
        if said is not None and said.waiting is not None:
            waiting = said.waiting
    return Limits(asks, per, waiting)


def read_paces(table: Table) -> dict[str, Pace]:
    """Read `[agents]`, which says it of every agent, and `[agents.NAME]`, of one.

    Raises:
        BadPolicy: it makes no sense; says where, and what to do.
    """
    paces = {EACH: _pace(table)} if any(key in table for key in PACE) else {}
    for name in table:
        if name in PACE:
            continue
        plain = table.plain(name, "agent", name, at_key=True)
        if plain in paces:
            table.fail(name, f"What {plain} may do is said twice.", at_key=True)
        paces[plain] = _named(table, name)
    return paces


def _named(table: Table, name: str) -> Pace:
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
    if said is False:
        return NO_LIMIT, DEFAULT.per
    found = _ASKS.fullmatch(said) if isinstance(said, str) else None
    if found is None or int(found[1]) < 1:
        table.fail(
            "asks",
            'asks is written like "100 per hour", "10 per minute" or "5 per 10m", or false for no '
            "limit.",
        )
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
    if said is False:
        return NO_LIMIT
    if type(said) is not int or not 1 <= said <= _MOST:
        table.fail(
            "waiting",
            f"waiting is how many of its asks may be open at once, 1 to {_MOST:,}, or false for no "
            "limit.",
        )
    return said
