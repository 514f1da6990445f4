"""How people decided before on what an agent does: the last verdicts, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.errors import BadValue
from sayso.insight.reader import catch_up
from sayso.store.casebook import CaseFilter
from sayso.store.contract import Store

_MOST = 200


@dataclass(frozen=True, slots=True)
class Record:
    """The last verdicts of people, the oldest first, and how many of them agreed, edited, refused.

    Those that answered instead are among the verdicts and in no other number.
    """

    verdicts: tuple[str, ...] = ()
    approved: int = 0
    edited: int = 0
    rejected: int = 0


def track_record(
    store: Store,
    *,
    agent: str | None,
    tool: str | None,
    kind: str,
    teams: tuple[str, ...] | None,
    team: str | None = None,
    limit: int = 20,
) -> Record:
    """Return how people decided last on this agent and tool; without a tool, on this kind.

    Without an agent, on what all of them did.

    `teams` are those whose asks may be seen besides what belongs to none; `None` means all. `team` is
    the one the agent works for, `""` for none: a namesake in another team is another agent. Without
    it, all of that name are taken for one.

    Raises:
        BadValue: the limit is no number from 1 to 200.
    """
    if type(limit) is not int or not 1 <= limit <= _MOST:
        raise BadValue(f"limit={limit!r}: give a number from 1 to {_MOST}.")
    catch_up(store)
    wanted = CaseFilter(agent=agent, tool=tool, kind=kind, teams=teams, team=team)
    found = store.record(wanted, limit)
    return Record(
        tuple(reversed(found)),
        approved=found.count("approve"),
        edited=found.count("edit"),
        rejected=found.count("reject"),
    )
