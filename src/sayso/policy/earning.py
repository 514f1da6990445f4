"""Whether agents may earn to run alone on a desk, and how well its reviewers are taken to look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sayso.model.stake import LEAST, MOST_DAYS, MOST_PEOPLE, Least

if TYPE_CHECKING:  # whoever asks reads no file
    from sayso.policy.tables import Table

EARNING = ("enabled", "detection", "days", "people")
_Numbers = dict[str, int]


@dataclass(frozen=True, slots=True)
class Earning:
    """What `[autonomy]` says.

    Attributes:
        enabled: Whether grants are proposed, and those that were ratified count.
        detection: The share of bad calls that reviewers notice; `None` for what is usual.
        least: By tier, how many days and people a grant takes where that is more than usual.
    """

    enabled: bool = True
    detection: float | None = None
    least: Mapping[str, Least] = field(default_factory=dict)


def read_earning(table: Table) -> Earning:
    """Read `[autonomy]`.

    Raises:
        BadPolicy: it makes no sense; says where, and what to do.
    """
    table.only(*EARNING)
    enabled, detection = table.get("enabled", True), table.get("detection")
    if not isinstance(enabled, bool):
        table.fail("enabled", "enabled is true or false.")
    number = isinstance(detection, int | float) and not isinstance(detection, bool)
    if detection is not None and not (number and 0.1 <= detection <= 1):
        table.fail("detection", "detection is the share of bad calls that are noticed: 0.1 to 1.")
    days = _raised(table, "days", {tier: least.days for tier, least in LEAST.items()}, MOST_DAYS)
    people = _raised(
        table, "people", {tier: least.people for tier, least in LEAST.items()}, MOST_PEOPLE
    )
    wanted = {tier: Least(days[tier], people[tier]) for tier in LEAST}
    more = {tier: least for tier, least in wanted.items() if least != LEAST[tier]}
    return Earning(enabled, None if detection is None else float(detection), more)


def _raised(table: Table, key: str, usual: _Numbers, most: int) -> _Numbers:
    """Return a number by tier; it is a number for all of them, or a table of some, and never less."""
    said = table.get(key)
    if said is None:
        return usual
    given = said if isinstance(said, dict) else dict.fromkeys(usual, said)
    for tier, number in given.items():
        if tier not in usual:
            table.fail(key, f"{key} is for the tiers {', '.join(usual)}: nothing else is earned.")
        if type(number) is not int or not usual[tier] <= number <= most:
            table.fail(key, f"{key} of the tier {tier} is a number from {usual[tier]} to {most}.")
    return usual | given
