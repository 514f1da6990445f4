"""The indexes of cases and of all asks by their words: pure rows of what the journal says of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sayso.insight.case import is_case, row_of, text_of
from sayso.insight.reading import Batch
from sayso.model.event import Event
from sayso.store.casebook import CaseRow, TextRow


def cases_in(batch: Batch) -> tuple[list[CaseRow], list[str]]:
    """Return the asks that people decided, and those that are no case."""
    rows = [row_of(told.ask) for _, told in sorted(batch.asks.items()) if is_case(told.ask)]
    return rows, _others(batch, {row.id for row in rows})


def texts_in(batch: Batch) -> tuple[list[TextRow], list[str]]:
    """Return the asks by the words on them, and those that have none any more."""
    told = sorted(batch.asks.items())
    rows = [text_of(ask, *_leaving(events)) for _, (ask, events) in told if ask.digest]
    return rows, _others(batch, {row.id for row in rows})


def _leaving(events: Sequence[Event]) -> list[str]:
    """Return why an ask was withdrawn: the one thing said to it that it does not carry."""
    notes = [(event.payload or {}).get("note") for event in events if event.kind == "ask.withdrawn"]
    return [note for note in notes if isinstance(note, str)]


def _others(batch: Batch, known: Collection[str]) -> list[str]:
    return sorted(batch.changed.difference(known))
