"""Which of two rulings wants more: a yardstick for tests."""

from __future__ import annotations

from sayso.policy.ruling import STRICTNESS, Ruling, joined, together


def stricter_than(one: Ruling, other: Ruling) -> bool:
    """Whether a call approved under the other would need more under this one."""
    if one.effect != other.effect:
        return STRICTNESS.index(one.effect) > STRICTNESS.index(other.effect)
    if not one.asks:
        return False
    if other.requester and not one.requester:
        return True
    if together(one.needs, other.needs) != together(other.needs, other.needs):
        return True
    return joined([one, other]).ladder != other.ladder
