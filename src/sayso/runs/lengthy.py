"""What is told of a run that is too long to be read whole: what it used up, and the plan in force.

A page shows both at each look. So they are read from the few events that say something of them,
and of those no more than a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sayso.model.ask import Ask
from sayso.runs.following import Following
from sayso.runs.journal import asks_of
from sayso.runs.usage import RunUsage, used
from sayso.store.contract import RunRow, Store

ADDED_UP = 50_000  # events of a run that are looked through at most
_PLANS = 50  # of the newest; agents inside may have plans of their own among them


def usage_of(store: Store, row: RunRow) -> RunUsage:
    """Add up what the models of a run used up, in its first `ADDED_UP` events."""
    return used(store.run_steps(row.id, "model", 0, ADDED_UP))


def plan_of(
    store: Store, row: RunRow, pending: Sequence[Ask], seen: Callable[[Ask], bool]
) -> Following | None:
    """Return the plan in force, of those that are `seen`; `pending` is what the run asks now.

    The last event says whether the run has gone on since the plan was approved.
    """
    plans = [ask for ask in asks_of(row.id, store.run_plans(row.id, _PLANS)) if seen(ask)]
    if not plans:
        return None
    last = store.endings([row.id]).get(row.id)
    since = max(row.seq - ADDED_UP, 0)
    marks = store.run_steps(row.id, "queued", since, row.seq) if pending else []
    events = [*marks, *([] if last is None else [last])]
    return Following.read(events, [*plans, *pending], row.progress)
