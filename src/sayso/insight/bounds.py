"""From which score on a past case counts as one like a call; known without looking at any case."""

from __future__ import annotations

from sayso.errors import BadValue
from sayso.model.digest import canonical

# From this score on a case counts as one like it, unless another bound is given.
NEAR = 0.35


def check_bound(value: object, what: str) -> float:
    """Return a bound from 0 to 1.

    Raises:
        BadValue: it is none.
    """
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not 0 <= value <= 1:  # type: ignore[operator]
        raise BadValue(f"{what}={value!r}: give a number from 0 to 1.")
    return float(value)  # type: ignore[arg-type]


def bound_of(declared: object) -> float | None:
    """Return the bound that a tool or an agent declares with `unseen=`; `None` if it does not.

    Raises:
        BadValue: it is neither `True` nor a number from 0 to 1.
    """
    if declared is None or declared is False:
        return None
    if declared is True:
        return NEAR
    try:
        return check_bound(declared, "unseen")
    except BadValue:
        raise BadValue(
            f"unseen={declared!r}: True, or the score from 0 to 1 that a past case must reach."
        ) from None


def nothing_known(bound: float) -> str:
    """Return what is shown where nobody can look: it counts as unseen."""
    return canonical({"bound": bound, "of": 0, "unseen": True, "nearest": []})
