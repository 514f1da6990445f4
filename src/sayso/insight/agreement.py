"""How far two people agree who looked at the same.

Kappa takes off the agreement that chance would bring, and collapses where nearly everything is
approved. So it never stands alone: PABAK takes chance to be one half, and AC1 (Gwet) is steady where
one answer prevails.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """What pairs of people come to; `None` where it is not defined."""

    pairs: int
    share: float | None = None
    kappa: float | None = None
    pabak: float | None = None
    ac1: float | None = None


def agreement(both: int, first: int, second: int, neither: int) -> Agreement:
    """Return how far pairs agree.

    Args:
        both: How often both said yes.
        first: How often only the one who spoke first did.
        second: How often only the other did.
        neither: How often neither did.
    """
    pairs = both + first + second + neither
    if not pairs:
        return Agreement(0)
    share = (both + neither) / pairs
    one, other = (both + first) / pairs, (both + second) / pairs
    mean = (one + other) / 2
    return Agreement(
        pairs,
        share,
        kappa=_beyond(share, one * other + (1 - one) * (1 - other)),
        pabak=2 * share - 1,
        ac1=_beyond(share, 2 * mean * (1 - mean)),
    )


def _beyond(share: float, chance: float) -> float | None:
    """Return the agreement beyond chance; `None` if chance alone would always agree."""
    return (share - chance) / (1 - chance) if chance < 1 else None
