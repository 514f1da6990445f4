"""Compare every webhook with the journal.

A row that somebody put into the table by hand would carry what agents and people say elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from sayso.errors import Tampered
from sayso.model.event import Event
from sayso.store.contract import Store
from sayso.store.fingerprints import Row, Told, prints_of, shown, unlike
from sayso.store.outbox import WEBHOOKS, WebhookRow

# What is compared, and the field of the event.
_SAID = {
    "list of kinds": "kinds",
    "team": "team",
    "fullness": "full",
    "reach": "allow_private",
}
# Of what the journal has fingerprints, and in which field of the event.
FINGERPRINTS = {"secret": "fingerprint", "address": "address"}


def host_of(url: str) -> str:
    """Return what the journal says of a URL: no path, which is often as good as a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def secrets_of(secret: str, url: str) -> dict[str, tuple[bytes, ...]]:
    """Return what the journal has fingerprints of. An address may be guessed, but not with the secret."""
    return {"secret": (secret.encode(),), "address": (secret.encode(), url.encode())}


def eavesdroppers(store: Store) -> list[str]:
    """Return a sentence for each difference between the webhooks and the journal."""
    while True:  # until no change came between the reads
        events = store.stream(WEBHOOKS)
        rows = {row.id: _row(row) for row in store.webhooks()}
        if store.head(WEBHOOKS).seq == (events[-1].seq if events else 0):
            break
    told = _told(events)
    gone = [
        f"webhook {each} is gone, and the journal says that it is told"
        for each in told.keys() - rows
    ]
    return sorted([*gone, *_differences(rows, told)])


def _differences(rows: dict[str, Row], told: dict[str, Told]) -> Iterator[str]:
    for each, row in rows.items():
        yield from unlike(row, told.get(each))


def _row(row: WebhookRow) -> Row:
    found = [list(row.kinds), row.team, row.whole, row.private]
    said = dict(zip(_SAID, found, strict=True)) | {"activity": row.active}
    title = f"webhook {shown(row.id)} to {shown(host_of(row.url))}"
    return Row(title, "is told of events", said, secrets_of(row.secret, row.url))


def _told(events: Sequence[Event]) -> dict[str, Told]:
    told: dict[str, Told] = {}
    for event in events:
        try:
            said = event.payload or {}
        except Tampered:  # named by whoever walks the chain
            continue
        each = str(said.get("id"))
        if event.kind == "webhook.added":
            known = {what: said.get(name) for what, name in _SAID.items()}
            told[each] = Told(known | {"activity": True}, prints_of(event, said, FINGERPRINTS))
        elif event.kind == "webhook.disabled" and each in told:
            told[each].said["activity"] = False
        elif event.kind == "webhook.removed":
            told.pop(each, None)
    return told
