"""Whom to tell of events by webhook, how far they were told, and what is on its way to them.

The journal is the outbox: an event is written in one commit with what it says, and the live tail
misses none. So nothing is written here when an ask is opened; a webhook has a cursor, and whoever
moves it writes the deliveries in the same commit (docs/decisions/0034).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol

from sayso.model.event import Event, micros, moment
from sayso.store.named import Part, RowChange, SqlQueries

WEBHOOKS = "webhooks"  # the stream that says who is told
KEPT = timedelta(days=7)  # what arrived longer ago is forgotten
Status = Literal["waiting", "delivered", "dead"]


class WebhookRow(NamedTuple):
    """Whom to tell, of what, and how far that has been done."""

    id: str
    url: str
    secret: str
    kinds: tuple[str, ...]
    team: str | None
    whole: bool
    private: bool
    active: bool
    cursor: str
    made_at: datetime
    failures: int = 0


class DeliveryRow(NamedTuple):
    """One event on its way to one webhook. `next_at` is when it is due, or when it ended."""

    id: str
    webhook: str
    stream: str
    seq: int
    kind: str
    status: Status
    attempt: int
    next_at: datetime
    made_at: datetime
    code: int | None = None
    error: str | None = None
    took: int | None = None


class Told(NamedTuple):
    """An event that a webhook is to be told of, under the id its message will have."""

    id: str
    event: Event


def put_webhook(row: WebhookRow) -> RowChange:
    """Return the part of a commit that adds a webhook."""
    given = {
        **row._asdict(),
        "kinds": f"|{'|'.join(row.kinds)}|",
        "whole": int(row.whole),
        "private": int(row.private),
        "made_at": micros(row.made_at),
    }
    return RowChange("put_webhook", given)


def drop_webhook(webhook_id: str) -> RowChange:
    """Return the part of a commit that removes a webhook."""
    return RowChange("drop_webhook", {"id": webhook_id})


def disable_webhook(webhook_id: str) -> RowChange:
    """Return the part of a commit that tells a webhook nothing more."""
    return RowChange("disable_webhook", {"id": webhook_id})


class Outbox(Protocol):
    """What a store can do with webhooks. Every method is one short transaction."""

    def webhooks(self) -> list[WebhookRow]:
        """All webhooks, the oldest first."""
        ...

    def webhook(self, webhook_id: str) -> WebhookRow | None:
        """One webhook, or `None`."""
        ...

    def beginnings(self, streams: Sequence[str]) -> list[list[Event]]:
        """The first two events of these streams."""
        ...

    def put_deliveries(
        self, webhook_id: str, told: Sequence[Told], *, before: str, after: str
    ) -> bool:
        """Move a cursor and write what lies between; nothing, and False, if it moved already."""
        ...

    def deliverable(self) -> bool:
        """Whether there is something to send. It may be gone a moment later."""
        ...

    def claim_webhook(self, holder: str, span: timedelta, *, steady: bool) -> WebhookRow | None:
        """Take on one webhook with something due that nobody sends to; or only a `steady` one."""
        ...

    def release_webhook(
        self, webhook_id: str, holder: str, failures: int, rest: timedelta | None = None
    ) -> None:
        """Let others send to it, now or after a rest."""
        ...

    def due_deliveries(self, webhook_id: str, limit: int) -> list[DeliveryRow]:
        """What is due to a webhook, in the order of the journal."""
        ...

    def delivered(self, delivery: DeliveryRow, code: int, took: int) -> None:
        """Record that it arrived."""
        ...

    def failed(self, delivery: DeliveryRow) -> None:
        """Record what came of an attempt, as the delivery now says."""
        ...

    def give_up_deliveries(self, webhook_id: str, error: str) -> None:
        """Send nothing of what still waits for this webhook."""
        ...

    def redeliver(self, delivery_id: str) -> bool:
        """Make it due, as if it had never been tried; False if there is none."""
        ...

    def delivery(self, delivery_id: str) -> DeliveryRow | None:
        """One delivery, or `None`."""
        ...

    def deliveries(
        self, *, status: str | None, webhook_id: str | None, limit: int, after: str | None = None
    ) -> list[DeliveryRow]:
        """Deliveries, the newest first; `after` goes on behind that one."""
        ...

    def drop_deliveries(self) -> None:
        """Forget what arrived a week ago, and what was meant for webhooks that are no more."""
        ...


class SqlOutbox(SqlQueries):
    """Webhooks and deliveries in a SQL database."""

    def webhooks(self) -> list[WebhookRow]:
        """Return all webhooks."""
        return [_webhook(row) for row in self._rows("webhooks")]

    def webhook(self, webhook_id: str) -> WebhookRow | None:
        """Return one webhook."""
        rows = self._rows("webhook", id=webhook_id)
        return _webhook(rows[0]) if rows else None

    def beginnings(self, streams: Sequence[str]) -> list[list[Event]]:
        """Return the first two events of these streams."""
        found: dict[str, list[Event]] = {}
        for row in self._rows("beginnings", ids=self._names(streams)) if streams else []:
            found.setdefault(row[0], []).append(Event(*row))
        return list(found.values())

    def put_deliveries(
        self, webhook_id: str, told: Sequence[Told], *, before: str, after: str
    ) -> bool:
        """Move a cursor and write what lies between."""
        moved: dict[str, object] = {"id": webhook_id, "before": before, "after": after}
        parts: list[Part] = [("webhook_moves", moved)]
        for one in told:
            event = one.event
            at = {"stream": event.stream, "seq": event.seq, "kind": event.kind}
            parts.append(("put_delivery", {"id": one.id, "webhook": webhook_id, **at}))
        return self._together(parts, fenced=True)

    def deliverable(self) -> bool:
        """Return whether there is something to send."""
        return bool(self._rows("deliverable"))

    def claim_webhook(self, holder: str, span: timedelta, *, steady: bool) -> WebhookRow | None:
        """Take on one webhook with something due."""
        lease = span // timedelta(microseconds=1)
        rows = self._unsynced("claim_webhook", holder=holder, span=lease, steady=int(steady))
        return _webhook(rows[0]) if rows else None

    def release_webhook(
        self, webhook_id: str, holder: str, failures: int, rest: timedelta | None = None
    ) -> None:
        """Let others send to it, now or after a rest."""
        given = {"id": webhook_id, "holder": holder, "failures": failures}
        span = None if rest is None else rest // timedelta(microseconds=1)
        self._unsynced("release_webhook", **given, span=span)

    def due_deliveries(self, webhook_id: str, limit: int) -> list[DeliveryRow]:
        """Return what is due to a webhook."""
        rows = self._rows("due_deliveries", webhook=webhook_id, limit=limit)
        return [_delivery(row) for row in rows]

    def delivered(self, delivery: DeliveryRow, code: int, took: int) -> None:
        """Record that it arrived."""
        attempt = delivery.attempt
        self._unsynced("delivery_ends", id=delivery.id, attempt=attempt, code=code, took=took)

    def failed(self, delivery: DeliveryRow) -> None:
        """Record what came of an attempt."""
        given = delivery._asdict()
        wanted = ("id", "status", "attempt", "code", "error", "took")
        due = micros(delivery.next_at)
        self._unsynced("delivery_fails", **{name: given[name] for name in wanted}, next_at=due)

    def give_up_deliveries(self, webhook_id: str, error: str) -> None:
        """Send nothing of what still waits."""
        self._unsynced("deliveries_die", webhook=webhook_id, error=error)

    def redeliver(self, delivery_id: str) -> bool:
        """Make it due again."""
        return bool(self._unsynced("redeliver", id=delivery_id))

    def delivery(self, delivery_id: str) -> DeliveryRow | None:
        """Return one delivery."""
        rows = self._rows("delivery", id=delivery_id)
        return _delivery(rows[0]) if rows else None

    def deliveries(
        self, *, status: str | None, webhook_id: str | None, limit: int, after: str | None = None
    ) -> list[DeliveryRow]:
        """Return deliveries, the newest first."""
        wanted = {"status": status, "webhook": webhook_id, "after": after}
        rows = self._rows("deliveries", **wanted, limit=limit)
        return [_delivery(row) for row in rows]

    def drop_deliveries(self) -> None:
        """Forget what arrived a week ago."""
        self._unsynced("drop_deliveries", span=KEPT // timedelta(microseconds=1))


def _webhook(row: Sequence[Any]) -> WebhookRow:
    found = WebhookRow._make(row)
    return found._replace(
        kinds=tuple(kind for kind in str(row[3]).split("|") if kind),
        whole=bool(found.whole),
        private=bool(found.private),
        active=bool(found.active),
        made_at=moment(row[9]),
    )


def _delivery(row: Sequence[Any]) -> DeliveryRow:
    found = DeliveryRow._make(row)
    return found._replace(next_at=moment(row[7]), made_at=moment(row[8]))
