"""From the journal to deliveries: what each webhook is to be told of, each event once.

Reading on is a compare-and-set of the webhook's cursor in one commit with the deliveries, so that
any number of readers write every delivery once, and none is lost with whoever dies.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import NamedTuple

from sayso.channels.bulletin import decided_alone, matches, team_of
from sayso.errors import BadValue
from sayso.model.event import Event
from sayso.model.ids import short_id
from sayso.store.contract import Store
from sayso.store.outbox import Told, WebhookRow

_log = logging.getLogger("sayso.channels")
_READ = 500  # events at a time
_ID_LENGTH = 16  # 80 bits: nobody looks whether it is free
_TO_PEOPLE = ("ask.opened", "ask.decided")
_OF_TEAMS = (
    "ask.opened",
    "run.started",
    "trust.begun",
)  # what begins a stream that may belong to a team


def message_id() -> str:
    """Return a fresh id for a message."""
    return short_id("d", os.urandom(_ID_LENGTH), _ID_LENGTH)


class _Place(NamedTuple):
    """How far events were read for a webhook: beyond what is stored, if none was for it."""

    stored: str
    at: str


class Gatherer:
    """Reads on for all webhooks of a desk. What concerned nobody is not written down each time."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}

    def gather(self, store: Store) -> bool:
        """Read a stretch of the journal for every webhook; False if there was nothing new."""
        stretches: dict[str, list[Event]] = {}  # most webhooks stand at the same place
        grew = False
        for hook in store.webhooks():
            try:
                grew |= hook.active and self._read_on(store, hook, stretches)
            except BadValue as error:
                _log.warning("Webhook %s cannot read on: %s", hook.id, error)
        return grew

    def _read_on(self, store: Store, hook: WebhookRow, stretches: dict[str, list[Event]]) -> bool:
        place = self._places.get(hook.id)
        if place is None or place.stored != hook.cursor:  # somebody else has read on
            place = _Place(hook.cursor, hook.cursor)
        if place.at not in stretches:
            stretches[place.at] = store.tail(place.at, _READ)
        events = stretches[place.at]
        if not events:
            return False
        upto = events[-1].cursor or place.at
        told = [Told(message_id(), event) for event in concerning(store, hook, events)]
        if not told and len(events) < _READ:
            self._places[hook.id] = _Place(hook.cursor, upto)
        elif store.put_deliveries(hook.id, told, before=hook.cursor, after=upto):
            self._places[hook.id] = _Place(upto, upto)
        else:
            self._places.pop(hook.id, None)
        return True


def concerning(store: Store, hook: WebhookRow, events: Sequence[Event]) -> list[Event]:
    """Return the events that a webhook is to be told of."""
    found = [event for event in events if matches(hook.kinds, event.kind)]
    streams = sorted({event.stream for event in found})
    beginnings = {each[0].stream: each for each in store.beginnings(streams)}
    return [event for event in found if _concerns(hook, event, beginnings.get(event.stream, []))]


def _concerns(hook: WebhookRow, event: Event, beginning: Sequence[Event]) -> bool:
    if event.kind in _TO_PEOPLE and decided_alone(beginning):
        return False  # the policy allowed it: nobody was asked
    if hook.team is None:
        return True
    # Accounts, people and webhooks are of the whole desk, whatever their first event was about.
    if not beginning or beginning[0].kind not in _OF_TEAMS:
        return False
    return team_of(beginning[0]) == hook.team
