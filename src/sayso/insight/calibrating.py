"""What a stated confidence is worth by the record, when an ask opens and in a table.

A record is that of one agent and one tool in one team: a namesake elsewhere is another agent. It can
make the policy ask more people, and never fewer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import groupby
from math import floor
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sayso.autonomy.calibration import (
    Curve,
    Label,
    Reliability,
    calibrated,
    light,
    reliability,
)
from sayso.insight.labelling import THOUSANDTHS
from sayso.insight.reader import catch_up
from sayso.model.content import Content
from sayso.model.worth import Light, Worth
from sayso.store.contract import Store
from sayso.store.labels import LabelRow

_log = logging.getLogger("sayso.insight")
_NEAR = 25  # thousandths: within this of each other, two confidences are about the same
_EVERY = 1.0  # seconds between two looks at the journal by who opens asks
_READ_ON = 2000  # events that whoever opens an ask reads at most
_MOST = 1000  # records that are kept for that long

Of = tuple[str, str, str, str]  # team, agent, tool, kind
Sums = tuple[tuple[int, int, int, float, float], ...]  # stated, n, good, weight, good weight


class _Known(NamedTuple):
    """What was looked up since the journal was last read."""

    at: float
    records: dict[Of, Sums]


_known: WeakKeyDictionary[Store, _Known] = WeakKeyDictionary()


def weighed(store: Store, content: Content) -> Content:
    """Return content with what its confidence is worth; as it is, if none was stated.

    Without the record an ask opens as well, and says that there is none.
    """
    stated = content.confidence
    if stated is None:
        return content
    try:
        of = content.team or "", content.agent, content.proposal.tool or "", content.kind
        worth = _frozen(_record(store, of), stated)
    except Exception:  # noqa: BLE001 - whatever it is, it is no reason not to ask people
        _log.warning("What a confidence is worth could not be looked up", exc_info=True)
        worth = Worth().text
    return content.changed(worth=worth)


@lru_cache(maxsize=1024)
def _frozen(sums: Sums, stated: float) -> str:
    """Return what is kept on an ask: agents say the same few numbers over and over."""
    return worth_by(sums, stated).text


def worth_by(sums: Sums, stated: float) -> Worth:
    """Return what a confidence is worth by these decisions."""
    middle = stated * THOUSANDTHS
    near = [row for row in sums if abs(row[0] - middle) <= _NEAR]
    curve = _curve(sums)
    # Cut, not rounded: what is below a bound stays below it.
    value = None if curve is None else floor(curve(stated) * 10_000) / 10_000
    return Worth(
        labels=sum(row[1] for row in sums),
        good=sum(row[2] for row in near),
        near=sum(row[1] for row in near),
        value=value,
        light=light(value),
    )


def _record(store: Store, of: Of) -> Sums:
    """Return the record of an agent and a tool. It is read once a second: it does not change much."""
    now, known = time.monotonic(), _known.get(store)
    if known is None or now - known.at >= _EVERY:
        catch_up(store, most=_READ_ON)
        known = _known[store] = _Known(now, {})
    found = known.records.get(of)
    if found is None:
        if len(known.records) > _MOST:  # names come from agents
            known.records.clear()
        found = known.records[of] = _sums(store.labels_of(*of))
    return found


def forget(store: Store) -> None:
    """Look at the journal again at the next ask, as if a second had passed."""
    _known.pop(store, None)


def _sums(rows: Sequence[LabelRow]) -> Sums:
    return tuple(row[4:] for row in rows)


@lru_cache(maxsize=256)
def _curve(sums: Sums) -> Curve | None:
    """Fit once: most asks of an agent open between two decisions."""
    return calibrated(_labels(sums))


def _labels(sums: Sums) -> list[Label]:
    """Return sums as labels: of each confidence those that were right, and those that were not."""
    labels = []
    for stated, n, good, weight, good_weight in sums:
        share = stated / THOUSANDTHS
        if good:
            labels.append(Label(share, right=True, weight=good_weight, times=good))
        if n > good:
            wrong = weight - good_weight
            labels.append(Label(share, right=False, weight=wrong, times=n - good))
    return labels


# --- the table ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How far one agent's confidence in one tool can be relied upon.

    Attributes:
        team: Whose agent it is, `None` for nobody's.
        agent: The agent.
        tool: The tool, `None` for plans and drafts.
        kind: What kind of ask it stated it with.
        labels: How many times people decided.
        good: How many of these were approved unchanged and not found harmful since.
        record: Whether that is enough to say what a confidence is worth.
        reliability: By tenths, and in all.
        worth: What each tenth is worth by the record, as (stated, worth, light); empty without one.
    """

    team: str | None
    agent: str
    tool: str | None
    kind: str
    labels: int
    good: int
    record: bool
    reliability: Reliability
    worth: tuple[tuple[float, float, Light], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as data."""
        said = asdict(self)
        said |= said.pop("reliability")
        said["bins"] = [one._asdict() for one in self.reliability.bins]
        said["worth"] = [
            {"stated": stated, "worth": worth, "light": lit} for stated, worth, lit in self.worth
        ]
        return said


def calibrations(
    store: Store,
    *,
    agent: str | None = None,
    tool: str | None = None,
    teams: tuple[str, ...] | None = None,
    most: int | None = None,
) -> list[Calibration]:
    """Return how far the confidence of agents can be relied upon, those with most decisions first.

    `teams` are those whose asks may be seen besides what belongs to none; `None` means all. At most so
    many events of the journal are read for it.
    """
    catch_up(store, most=most)
    forget(store)
    found = store.labelled(agent=agent, tool=tool, teams=teams)
    return sorted(_tables(found), key=lambda one: (-one.labels, one.agent, one.tool or ""))


def _tables(rows: Sequence[LabelRow]) -> Iterator[Calibration]:
    for (team, agent, tool, kind), group in groupby(rows, key=lambda row: row[:4]):
        sums = _sums(list(group))
        table = reliability(_labels(sums))
        if table is None:
            continue
        curve = _curve(sums)
        yield Calibration(
            team=team or None,
            agent=agent,
            tool=tool or None,
            kind=kind,
            labels=sum(row[1] for row in sums),
            good=sum(row[2] for row in sums),
            record=curve is not None,
            reliability=table,
            worth=() if curve is None else tuple(_read_off(curve, table)),
        )


def _read_off(curve: Curve, table: Reliability) -> Iterator[tuple[float, float, Light]]:
    for one in table.bins:
        worth = curve(one.stated)
        yield one.stated, worth, light(worth)
