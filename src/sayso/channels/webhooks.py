"""Webhooks: which receivers are told of what, and what became of the messages to them.

`desk.webhooks` is this. Who is told is kept in the journal (stream `webhooks`) without the secret
and without the path of the URL, which often is one too. The secret itself is stored as it is:
signing needs it. For receivers there is `verify`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, get_args

from sayso.channels.bulletin import PING, check_kinds, written
from sayso.channels.gathering import message_id
from sayso.channels.posting import Outcome, Postbox, check_url
from sayso.channels.signing import make_secret, signed, verify
from sayso.errors import BadValue, Misuse, UnknownPerson, UnknownWebhook
from sayso.model.actor import Actor, Origin
from sayso.model.event import fingerprint, link
from sayso.model.event_kinds import TOLD
from sayso.model.ids import short_id
from sayso.model.names import check_name
from sayso.store.contract import Append, Store
from sayso.store.named import RowChange
from sayso.store.outbox import (
    WEBHOOKS,
    DeliveryRow,
    Status,
    WebhookRow,
    drop_webhook,
    put_webhook,
)
from sayso.store.subscribed import FINGERPRINTS, host_of, secrets_of

__all__ = ["KINDS", "Delivery", "Outcome", "Webhook", "Webhooks", "verify"]

KINDS = TOLD  # of what a webhook is told that names nothing
MOST = 100  # webhooks on a desk: each is asked after at every look
_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Webhook:
    """A receiver of events. Its `secret` is shown once, by whoever added it."""

    id: str
    url: str
    kinds: tuple[str, ...]
    team: str | None
    full: bool
    allow_private: bool
    active: bool
    made_at: datetime
    failures: int = 0
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one webhook. `next_at` is when it is due, or when it ended."""

    id: str
    webhook: str
    about: str
    event: int
    kind: str
    status: Status
    attempts: int
    made_at: datetime
    next_at: datetime
    code: int | None
    error: str | None
    took: int | None


class Webhooks:
    """The webhooks of a desk."""

    def __init__(self, store: Callable[[], Store], origin: Origin) -> None:
        self._find = store
        self._origin = origin

    def add(
        self,
        url: str,
        kinds: Iterable[str] | str = KINDS,
        *,
        team: str | None = None,
        full: bool = False,
        allow_private: bool = False,
        by: str | None = None,
    ) -> Webhook:
        """Tell a receiver of events from now on. Keep the `secret` that comes back: it is shown once.

        Args:
            url: Where to send: https, or http.
            kinds: Of what: `ask.opened`, `ask.*`, or `*` for everything.
            team: Only of asks and runs of this team.
            full: Say everything, arguments and answers too; else only which ask, and its title.
            allow_private: Let it be an address of this machine or network.
            by: Who adds it.

        Raises:
            BadValue: the URL, a kind or the team is none, or it leads into this network.
        """
        store, secret = self._find(), make_secret()
        checked = check_url(url, private=allow_private)
        wanted = check_kinds(tuple([kinds] if isinstance(kinds, str) else kinds))
        row = WebhookRow(
            id="",
            url=checked,
            secret=secret,
            kinds=wanted,
            team=None if team is None else check_name("team", team),
            whole=bool(full),
            private=bool(allow_private),
            active=True,
            cursor=store.tip(),
            made_at=store.now(),
        )
        actor = self._actor(store, by)
        while True:
            done = self._done_before(store)
            if done is not None:
                return done
            if len(store.webhooks()) >= MOST:
                raise Misuse(f"There are {MOST} webhooks on this desk already. Remove some first.")
            row = row._replace(id=short_id("w", os.urandom(8), 6))
            said = {
                "id": row.id,
                "where": host_of(checked),
                "kinds": list(wanted),
                "full": row.whole,
            }
            payload = self._stamped({**said, "allow_private": row.private, "team": row.team})
            known = secrets_of(secret, checked)
            if noted(store, "webhook.added", payload, actor, put_webhook(row), secrets=known):
                return _shown(row, secret)

    def remove(self, webhook: Webhook | str, *, by: str | None = None) -> None:
        """Tell a receiver nothing more, and forget what was on its way to it.

        Raises:
            UnknownWebhook: there is none of this id.
        """
        store, webhook_id = self._find(), _id(webhook)
        actor = self._actor(store, by)
        while True:
            self.get(webhook_id)
            said = self._stamped({"id": webhook_id})
            if noted(store, "webhook.removed", said, actor, drop_webhook(webhook_id)):
                store.drop_deliveries()
                return

    def get(self, webhook_id: str) -> Webhook:
        """Return one webhook, without its secret.

        Raises:
            UnknownWebhook: there is none of this id.
        """
        return _shown(self._row(webhook_id))

    def __iter__(self) -> Iterator[Webhook]:
        """Go through the webhooks, the oldest first; their secrets are not shown."""
        return iter([_shown(row) for row in self._find().webhooks()])

    def __len__(self) -> int:
        """How many there are."""
        return len(self._find().webhooks())

    def test(self, webhook: Webhook | str) -> Outcome:
        """Send a ping now, once, and return what came of it.

        Raises:
            UnknownWebhook: there is none of this id.
        """
        row, now = self._row(_id(webhook)), self._find().now()
        body = written(PING, now, {"id": row.id})
        headers = signed(row.secret, message_id(), now, body)
        return Postbox().post(row.url, headers, body, private=row.private)

    def deliveries(
        self,
        status: Status | None = None,
        *,
        webhook: Webhook | str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> list[Delivery]:
        """Return messages, the newest first: those that wait, arrived, or were given up (`dead`).

        `after` is the id of a delivery, to go on behind it.
        """
        if status is not None and status not in get_args(Status):
            raise BadValue(f"status={status!r}: a delivery is waiting, delivered or dead.")
        if type(limit) is not int or not 1 <= limit <= _LISTED:
            raise BadValue(f"limit={limit!r}: give a number from 1 to {_LISTED}.")
        wanted = None if webhook is None else _id(webhook)
        rows = self._find().deliveries(status=status, webhook_id=wanted, limit=limit, after=after)
        return [_delivery(row) for row in rows]

    def redeliver(self, delivery: Delivery | str) -> Delivery:
        """Send a message again, under the same id, as if it had never been tried.

        Raises:
            UnknownWebhook: there is no delivery of this id.
            Misuse: its webhook is disabled.
        """
        delivery_id = delivery.id if isinstance(delivery, Delivery) else delivery
        store = self._find()
        found = store.delivery(delivery_id) if isinstance(delivery_id, str) else None
        hook = None if found is None else store.webhook(found.webhook)
        if hook is None:
            raise UnknownWebhook(delivery_id, "delivery")
        if not hook.active:
            raise Misuse(
                f"{hook.id} is disabled: its receiver answered 410 Gone. Remove it, and add it again."
            )
        store.redeliver(delivery_id)
        store.bell.ring()
        again = store.delivery(delivery_id)
        if again is None:
            raise UnknownWebhook(delivery_id, "delivery")
        return _delivery(again)

    def _row(self, webhook_id: str) -> WebhookRow:
        row = self._find().webhook(webhook_id) if isinstance(webhook_id, str) else None
        if row is None:
            raise UnknownWebhook(webhook_id)
        return row

    def _actor(self, store: Store, by: str | None) -> Actor:
        """Whoever holds the database may change webhooks; the journal says under which account."""
        if by is None:
            return Actor("person", self._origin.account.partition("@")[0])
        roster = store.register()
        by = roster.spelt(by)
        if not roster.solo and by not in roster.people:
            raise UnknownPerson(by, f"People here: {', '.join(sorted(roster.people))}.")
        return Actor("person", check_name("person", by))

    def _stamped(self, said: dict[str, Any]) -> dict[str, Any]:
        origin = self._origin
        whole = {**said, "via": origin.via, "account": origin.account, "request": origin.request}
        return {name: value for name, value in whole.items() if value is not None}

    def _done_before(self, store: Store) -> Webhook | None:
        """Return what this very request has added, if its answer was lost on the way."""
        if self._origin.request is None:
            return None
        mine = self._origin.request, self._origin.account
        for event in reversed(store.stream(WEBHOOKS)):
            said = event.payload or {}
            if event.kind == "webhook.added" and (said.get("request"), said["account"]) == mine:
                row = store.webhook(said["id"])
                return None if row is None else _shown(row, row.secret)
        return None


def noted(
    store: Store,
    kind: str,
    said: dict[str, Any],
    actor: Actor,
    *beside: RowChange,
    secrets: Mapping[str, tuple[bytes, ...]] = MappingProxyType({}),
) -> bool:
    """Write what happened to a webhook together with its row; False if somebody was faster."""
    head, salt = store.head(WEBHOOKS), os.urandom(16)
    prints = {FINGERPRINTS[what]: fingerprint(salt, *parts) for what, parts in secrets.items()}
    event = link(
        WEBHOOKS,
        head.seq + 1,
        kind,
        at=store.now(),
        actor=actor,
        payload=said | prints,
        salt=salt,
        previous=head.hash,
    )
    return store.commit(Append(event=event, beside=beside))


def webhook_record(hook: Webhook) -> dict[str, Any]:
    """Return a webhook as data, without its secret."""
    said = asdict(hook)
    del said["secret"]
    return {**said, "kinds": list(hook.kinds), "made_at": hook.made_at.isoformat()}


def delivery_record(delivery: Delivery) -> dict[str, Any]:
    """Return a delivery as data."""
    times = {"made_at": delivery.made_at.isoformat(), "next_at": delivery.next_at.isoformat()}
    return {**asdict(delivery), **times}


def _id(webhook: Webhook | str) -> str:
    return webhook.id if isinstance(webhook, Webhook) else webhook


def _shown(row: WebhookRow, secret: str | None = None) -> Webhook:
    return Webhook(
        row.id,
        row.url,
        row.kinds,
        row.team,
        row.whole,
        row.private,
        row.active,
        row.made_at,
        row.failures,
        secret,
    )


def _delivery(row: DeliveryRow) -> Delivery:
    return Delivery(
        row.id,
        row.webhook,
        row.stream,
        row.seq,
        row.kind,
        row.status,
        row.attempt,
        row.made_at,
        row.next_at,
        row.code,
        row.error,
        row.took,
    )
