"""How much an agent may ask of people, so that the ask that matters is not buried (E34)."""

from __future__ import annotations

from datetime import timedelta

from sayso.asks.lawbook import Lawbook
from sayso.errors import TooManyAsks
from sayso.model.span import say_span
from sayso.model.text import one_line
from sayso.store.contract import Store


def check_pace(store: Store, law: Lawbook, agent: str) -> bool:
    """Refuse one more ask of an agent that asks too much; returns whether it is to be counted.

    Two that ask at the same moment may both be let in: it keeps an inbox readable, and guards
    nothing else.

    Raises:
        TooManyAsks: says when to try again.
    """
    pace = law.policy.pace(agent)
    if pace is None:
        return False
    now, per = store.now(), timedelta(seconds=pace.per or 0)
    found = store.paced(agent, now - per)
    name = one_line(agent, 40)
    if pace.waiting is not None and found.waiting >= pace.waiting:
        raise TooManyAsks(
            name, f"has {found.waiting:,} asks open, and may have {pace.waiting:,}", None
        )
    if pace.asks is not None and found.asks >= pace.asks:
        after = min((found.first or now) + per - now, per)  # also after a clock was set back
        reason = (
            f"has asked {found.asks:,} times within {say_span(per)}, and may {pace.asks:,} times"
        )
        raise TooManyAsks(name, reason, max(after.total_seconds(), 1.0))
    return True
