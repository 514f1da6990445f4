"""Whether everybody who is told of events by webhook is in the journal.

A row that somebody put into the table by hand would carry what agents and people say elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from sayso.errors import Tampered
from sayso.model.event import Event
from sayso.store.contract import Store
from sayso.store.outbox import WEBHOOKS, WebhookRow


def host_of(url: str) -> str:
    """Return what the journal says of a URL: no path, which is often as good as a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def eavesdroppers(store: Store) -> list[str]:
    """Return the webhooks that are not as the journal says."""
    while True:  # until no change came between the reads
        events = store.stream(WEBHOOKS)
        rows = {row.id: _row(row) for row in store.webhooks()}
        if store.head(WEBHOOKS).seq == (events[-1].seq if events else 0):
            break
    told = _told(events)
    return sorted(each for each in {*rows, *told} if rows.get(each) != told.get(each))


def _row(row: WebhookRow) -> list[object]:
    said = [host_of(row.url), list(row.kinds), row.team, row.whole, row.private]
    return [*said, row.active]


def _told(events: Sequence[Event]) -> dict[str, list[object]]:
    told: dict[str, list[object]] = {}
    for event in events:
        try:
            said = event.payload or {}
        except Tampered:  # named by whoever walks the chain
            continue
        each = str(said.get("id"))
        if event.kind == "webhook.added":
            names = ("where", "kinds", "team", "full", "allow_private")
            told[each] = [*(said.get(name) for name in names), True]
        elif event.kind == "webhook.disabled" and each in told:
            told[each][-1] = False
        elif event.kind == "webhook.removed":
            told.pop(each, None)
    return told
