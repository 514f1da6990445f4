"""Whether agents may earn to run alone on a desk, and how well its reviewers are taken to look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever asks reads no file
    from sayso.policy.tables import Table

EARNING = ("enabled", "detection")


@dataclass(frozen=True, slots=True)
class Earning:
    """What `[autonomy]` says.

    Attributes:
        enabled: Whether grants are proposed, and those that were ratified count.
        detection: The share of bad calls that reviewers notice; `None` for what is usual.
    """

    enabled: bool = True
    detection: float | None = None


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
    return Earning(enabled, None if detection is None else float(detection))
