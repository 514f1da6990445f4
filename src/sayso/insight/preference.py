"""What people prefer, read from what they changed and advised: facts of the journal, no guesses.

A person who edits a call before approving it, or who tells an agent in words what to do instead,
leaves a preference. It belongs to the agent that asked. Whoever reads it may
rewrite it or remove it; that is an event of the same ask, and so is gone when the ask is erased.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from sayso.insight.case import as_text, clipped, edits_of, is_case
from sayso.insight.reader import catch_up
from sayso.insight.reading import SENSELESS
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.folding import fold
from sayso.store.casebook import CaseFilter
from sayso.store.contract import Store

EDITED, REMOVED = "preference.edited", "preference.removed"
LONGEST = 500  # characters
# Not questions: an answer is for the moment, and may be a secret.
_KINDS = ("action", "draft")
_PAGE = 100
_VERDICTS = ("edit", "respond")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """One thing that people want otherwise; `id` is the ask it comes from.

    The text is as it was written, on one line: whoever draws it makes it visible.
    """

    id: str
    agent: str
    text: str
    by: str
    at: datetime
    tool: str | None = None
    rewritten: bool = False


def preferences(
    store: Store, agent: str | None, *, limit: int, teams: tuple[str, ...] | None = None
) -> list[Preference]:
    """Return what people prefer of an agent, or of all of them, the newest first."""
    catch_up(store)
    wanted = CaseFilter(agent=agent, verdicts=_VERDICTS, teams=teams)
    return list(islice(_all(store, wanted), limit))


def _all(store: Store, wanted: CaseFilter) -> Iterator[Preference]:
    """Go through all of them: whether one was removed only its journal knows."""
    page = store.cases(wanted, _PAGE)
    while page:
        rows = [row for row in page if row.kind in _KINDS]
        journals = {events[0].stream: events for events in store.journals([row.id for row in rows])}
        for row in rows:
            yield from _known(journals.get(row.id))
        page = store.cases(wanted, _PAGE, older=page[-1])


def _known(events: Sequence[Event] | None) -> Iterator[Preference]:
    try:
        found = preference_of(events) if events else None
    except SENSELESS:
        return  # `sayso audit verify` says what is wrong with it
    if found is not None:
        yield found


def preference_of(events: Sequence[Event]) -> Preference | None:
    """Return the preference that an ask left, as it stands now."""
    ask = fold(events)
    decision = ask.decision
    if decision is None or not is_case(ask) or ask.kind not in _KINDS:
        return None
    said = [event for event in events if event.kind in (EDITED, REMOVED)]
    last = said[-1] if said else None
    if last is not None and last.kind == REMOVED:
        return None
    text = _learned(ask) if last is None else str((last.payload or {}).get("text", ""))
    if not text:
        return None
    return Preference(
        id=ask.id,
        agent=ask.content.agent,
        text=text,
        by=decision.by.id if last is None else last.actor.id,
        at=decision.at if last is None else last.at,
        tool=ask.tool,
        rewritten=last is not None,
    )


def _learned(ask: Ask) -> str:
    """Say in a line what a person changed, or said instead."""
    decision = ask.decision
    if decision is None or decision.verdict not in _VERDICTS:
        return ""
    words = [*edits_of(ask)]
    words += [as_text(decision.answer)] if decision.verdict == "respond" else []
    words += [decision.note] if decision.note else []
    said = "; ".join(filter(None, words))
    about = ask.tool or ask.title
    return clipped(f"{about}: {said}", LONGEST) if said else ""
