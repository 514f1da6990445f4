"""What an agent that learns recalls before a task: recorded, so that a replay recalls the same."""

from __future__ import annotations

from sayso.agent.job import Job
from sayso.insight.case import Case
from sayso.insight.nearest import cases_like
from sayso.insight.preference import preferences
from sayso.insight.reminding import reminder
from sayso.model.verdicts import Verdict
from sayso.runs.lanes import Lane
from sayso.runs.work import Passage
from sayso.store.casebook import CaseFilter, seen_by_team

_PREFERENCES = 20
_EXAMPLES = 3
_CALLS = 5
_ALIKE = 0.2  # arguments share fewer words with a task than another task does


def recall_passage(job: Job, lane: Lane, key: str) -> Passage:
    """Return what people said before: preferences, bad results, and calls like what is to be done."""
    yield from ()
    run, name = job.run, job.agent.name
    entry = run.entry(key, "recall", name)
    if entry is not None:
        return str(entry.said.get("result") or "")
    known = preferences(run.journal.store, name, limit=_PREFERENCES, teams=_teams(job))
    text = reminder(known[::-1], _bad_ones(job), _calls(job))
    run.journal.record(key, "recall", name, result=text)
    return text


def _teams(job: Job) -> tuple[str, ...]:
    return seen_by_team(job.run.journal.row.team)


def _bad_ones(job: Job) -> list[Case]:
    # Its own only: what was said of another's work may be nothing for those who read this one's.
    wanted = CaseFilter(
        kind="feedback", agent=job.agent.name, verdicts=("reject",), teams=_teams(job)
    )
    found = cases_like(job.run.journal.store, job.task, wanted, limit=2 * _EXAMPLES)
    # What was said in this very run is in its task already.
    return [case for case in found if case.run != job.run.id][:_EXAMPLES]


def _calls(job: Job) -> list[Case]:
    """Return the nearest calls that people took as they were, or refused.

    Edits and answers leave preferences: an agent hears of them as such, until somebody removes one.
    """
    taken: tuple[Verdict, ...] = ("approve", "reject")
    wanted = CaseFilter(kind="action", agent=job.agent.name, verdicts=taken, teams=_teams(job))
    found = cases_like(job.run.journal.store, job.task, wanted, limit=2 * _CALLS, least=_ALIKE)
    calls = [case for case in found if case.tool is not None and case.run != job.run.id]
    return calls[:_CALLS]
