"""Whoever carries events to webhooks: reads on in the journal, and sends what is due.

Several couriers, in one process or many, may work on one desk. To each webhook sends whoever holds
its lease, so that at most one message is on its way to a receiver, in the order of the journal. A
message that failed waits for its next turn and holds up none behind it. A courier that dies between
sending and recording leaves a delivery that is due: it arrives again, under the same id.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from sayso.channels.bulletin import bulletin
from sayso.channels.gathering import Gatherer
from sayso.channels.posting import TIMEOUT, Outcome, Postbox, seconds_asked
from sayso.channels.signing import signed
from sayso.channels.webhooks import noted
from sayso.errors import BadValue, SaysoError, Tampered
from sayso.model.actor import CLOCK
from sayso.store.contract import Store
from sayso.store.outbox import DeliveryRow, WebhookRow, disable_webhook

_log = logging.getLogger("sayso.channels")

# Of Standard Webhooks: at once, then after so long each time; three days in all.
SCHEDULE = tuple(
    timedelta(seconds=seconds)
    for seconds in (0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
JITTER = 0.1  # of the wait, on top: a receiver that comes back is not met by all at once
SENDERS = 4
_LONGEST_REST = timedelta(days=1)
_LEASE = timedelta(seconds=60)  # longer than a batch with its last attempt takes
_BATCH_SECONDS = 10.0
_BATCH = 50  # deliveries to one receiver before another one has its turn
_LOOK_EVERY = 1.0  # what no bell tells: a delivery that has become due
_BREATH = 0.05  # between two looks at a journal that grows fast
_PARTING = 5.0  # seconds that a stop waits for receivers to answer
_TIDY_EVERY = timedelta(hours=1)
_GONE = 410
_BUSY = (429, 503)


class Courier:
    """Carries events to the webhooks of one desk, on threads of its own or until idle.

    Half of its threads send only to receivers whose last answer was good: however many others
    never answer, they keep nobody else waiting.
    """

    def __init__(
        self,
        store: Callable[[], Store],
        *,
        senders: int = SENDERS,
        timeout: float = TIMEOUT,
    ) -> None:
        if type(senders) is not int or not 1 <= senders <= 64:
            raise BadValue(f"senders={senders!r}: give a number from 1 to 64.")
        self._find = store
        self._senders = senders
        self._postbox = Postbox(timeout)
        self._gatherer = Gatherer()
        self._tidied_at: datetime | None = None
        self._stop = threading.Event()
        self._heard = threading.Event()
        self._ears: list[threading.Event] = []
        self._threads: list[threading.Thread] = []

    # --- on threads ---

    def start(self) -> None:
        """Carry events from now on. Starting twice changes nothing."""
        if self._threads:
            return
        self._stop.clear()
        self._ears = [threading.Event() for _ in range(self._senders)]
        self._threads = [threading.Thread(target=self._watch, name="sayso-courier", daemon=True)]
        for number, ear in enumerate(self._ears):
            steady = number < self._senders // 2
            self._threads.append(
                threading.Thread(
                    target=self._work, args=(ear, steady), name="sayso-sender", daemon=True
                )
            )
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Carry nothing more. What is on its way for longer than a few seconds comes again later."""
        end = time.monotonic() + _PARTING
        self._stop.set()
        for ear in (self._heard, *self._ears):
            ear.set()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=max(end - time.monotonic(), 0))
        self._threads = []

    def _watch(self) -> None:
        """Read on whenever the journal grows, and wake the senders when something is due."""
        store = self._find()
        with store.bell.listening(self._heard.set):
            while not self._stop.is_set():
                self._heard.clear()
                if self._safely(lambda: self._look(store)):
                    self._stop.wait(_BREATH)
                    continue
                self._heard.wait(_LOOK_EVERY)
                self._stop.wait(_BREATH)

    def _look(self, store: Store) -> bool:
        grew = self._gatherer.gather(store)
        if store.deliverable():
            for ear in self._ears:
                ear.set()
        self._tidy(store)
        return grew

    def _work(self, ear: threading.Event, steady: bool) -> None:  # noqa: FBT001 - a thread's
        while not self._stop.is_set():
            ear.clear()
            if not self._safely(lambda: self.serve(steady=steady) is not None):
                ear.wait()

    def _safely(self, work: Callable[[], bool]) -> bool:
        """Do a piece of work; what goes wrong with it must not end the thread."""
        try:
            return work()
        except SaysoError as error:
            _log.warning("Carrying events to webhooks failed; trying again. %s", error)
        except Exception:  # noqa: BLE001 - whatever it is, the next message is another one
            _log.exception("Carrying events to webhooks failed; trying again.")
        return False

    # --- until idle ---

    def deliver(self) -> int:
        """Read on and send, until nothing is due; return how many messages arrived."""
        store, arrived = self._find(), 0
        while True:
            grew = self._gatherer.gather(store)
            sent = self.serve()
            arrived += sent or 0
            if not grew and sent is None:
                self._tidy(store)
                return arrived

    # --- sending ---

    def serve(self, *, steady: bool = False) -> int | None:
        """Send to one webhook what is due to it; how many arrived, or `None` if nothing was due."""
        store, holder = self._find(), os.urandom(8).hex()
        hook = store.claim_webhook(holder, _LEASE, steady=steady)
        if hook is None:
            return None
        arrived, failures, rest = 0, hook.failures, None
        try:
            end = time.monotonic() + _BATCH_SECONDS
            for delivery in store.due_deliveries(hook.id, _BATCH):
                outcome = self._send(store, hook, delivery)
                arrived += outcome.ok
                failures = 0 if outcome.ok else failures + 1
                rest = _rest(outcome, store.now())
                if failures or self._stop.is_set() or time.monotonic() > end:
                    break
        finally:
            store.release_webhook(hook.id, holder, failures, rest)
        return arrived

    def _send(self, store: Store, hook: WebhookRow, delivery: DeliveryRow) -> Outcome:
        tried = delivery._replace(attempt=delivery.attempt + 1)
        try:
            body = bulletin(store, tried, full=hook.whole)
        except Tampered as error:
            store.failed(tried._replace(status="dead", error=str(error), next_at=store.now()))
            return Outcome(None, str(error), 0)
        headers = signed(hook.secret, tried.id, store.now(), body)
        outcome = self._postbox.post(hook.url, headers, body, private=hook.private)
        self._record(store, hook, tried, outcome)
        return outcome

    def _record(self, store: Store, hook: WebhookRow, tried: DeliveryRow, outcome: Outcome) -> None:
        if outcome.ok:
            store.delivered(tried, outcome.code or 200, outcome.took)
            return
        said = tried._replace(code=outcome.code, error=outcome.error, took=outcome.took)
        now = store.now()
        if outcome.code == _GONE:
            store.failed(said._replace(status="dead", next_at=now))
            _disable(store, hook)
        elif tried.attempt >= len(SCHEDULE):
            store.failed(said._replace(status="dead", next_at=now))
            _log.warning("%s of %s is dead: %s", tried.id, hook.id, outcome.error)
        else:
            wait = max(_pause(tried.attempt), _rest(outcome, now) or timedelta())
            store.failed(said._replace(next_at=now + wait))

    def _tidy(self, store: Store) -> None:
        now = store.now()
        if self._tidied_at is None or now - self._tidied_at >= _TIDY_EVERY:
            self._tidied_at = now
            store.drop_deliveries()


def _pause(attempt: int) -> timedelta:
    """Return how long to wait after so many attempts, with some jitter."""
    share = int.from_bytes(os.urandom(2)) / 0xFFFF
    return SCHEDULE[attempt] * (1 + JITTER * share)


def _rest(outcome: Outcome, now: datetime) -> timedelta | None:
    """Return how long the receiver asked to be left alone."""
    asked = outcome.retry_after if outcome.code in _BUSY else None
    seconds = seconds_asked(asked, now.timestamp())
    return min(timedelta(seconds=seconds), _LONGEST_REST) if seconds else None


def _disable(store: Store, hook: WebhookRow) -> None:
    """Tell it nothing more: its receiver answered 410 Gone."""
    reason = "its receiver answered 410 Gone"
    while True:
        found = store.webhook(hook.id)
        if found is None or not found.active:
            break
        said = {"id": hook.id, "reason": reason, "via": "courier", "account": ""}
        if noted(store, "webhook.disabled", said, CLOCK, disable_webhook(hook.id)):
            _log.warning("Webhook %s is disabled: %s", hook.id, reason)
            break
    store.give_up_deliveries(hook.id, f"The webhook was disabled: {reason}.")
