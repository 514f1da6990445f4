"""What can be done with the asks of a desk, wherever they are kept.

The verbs, the gates and the reviews are written against this: `StoredDocket` does it with a
database, `remote.docket` over HTTP.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime

from sayso.asks.assigning import assign, claim
from sayso.asks.deciding import decide
from sayso.asks.files import file_of
from sayso.asks.inbox import Inbox, decided, listing
from sayso.asks.lawbook import Lawbook
from sayso.asks.listening import follow, recorded
from sayso.asks.opening import open_ask
from sayso.asks.spending import Ending, begin, begun, doubt, finish
from sayso.asks.standing import standing
from sayso.asks.taking_back import take_back
from sayso.asks.versions import Version, versions
from sayso.asks.waiting import wait, wait_async
from sayso.asks.withdrawing import GIVEN_UP, withdraw
from sayso.errors import Conflict, StoreError
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask, Ballot
from sayso.model.call import Call
from sayso.model.content import Content, Risk
from sayso.model.event import Event
from sayso.store.contract import InboxQuery, Lease, Store


class Docket(ABC):
    """The asks of a desk: each method is one short transaction, or a wait that holds nothing."""

    @abstractmethod
    def now(self) -> datetime:
        """Return the time by which deadlines are reckoned."""

    @abstractmethod
    def open(
        self,
        content: Content,
        *,
        key: str | None = None,
        lease: Lease | None = None,
        always: bool = False,
        declared: bool = False,
    ) -> Ask:
        """Open an ask, or return the one that asks the same under this key."""

    @abstractmethod
    def look(self, ask_id: str) -> Ask:
        """Return an ask as it stands now."""

    @abstractmethod
    def listed(self, query: InboxQuery, *, role: str | None, person: str | None) -> Inbox:
        """Return a page of what waits."""

    @abstractmethod
    def decided(self, query: InboxQuery, *, person: str | None) -> Inbox:
        """Return a page of what is closed, the newest first."""

    @abstractmethod
    def decide(self, ask_id: str, ballot: Ballot, *, seen: str, by: str | None) -> Ask:
        """Record one person's verdict on the version whose digest they saw."""

    @abstractmethod
    def take_back(self, ask_id: str, *, by: str | None, note: str | None) -> Ask:
        """Take one person's word on a settling ask back."""

    @abstractmethod
    def claim(self, ask_id: str, *, by: str | None) -> Ask:
        """Say that somebody is looking into it."""

    @abstractmethod
    def assign(self, ask_id: str, to: str | None, *, by: str | None) -> Ask:
        """Give it to somebody to look into."""

    @abstractmethod
    def withdraw(self, ask_id: str, *, agent: str, note: str | None) -> Ask:
        """Close an open ask without a decision."""

    @abstractmethod
    def begin(
        self, ask_id: str, lease: Lease, *, risk: Risk | None = None, idempotent: bool = False
    ) -> Call:
        """Spend the approval and record the intent."""

    @abstractmethod
    def begun(self, ask_id: str) -> Call:
        """Return the call that was begun on an ask."""

    @abstractmethod
    def finish(
        self, call: Call, ending: Ending, *, result: object = None, error: str | None = None
    ) -> Ask:
        """Record what came of a call."""

    @abstractmethod
    def doubt(
        self, ask_id: str, reason: str, *, attempt: int, lease: Lease | None = None
    ) -> Ask | None:
        """Make an effect `unknown` and ask people; `None` if it ended meanwhile."""

    @abstractmethod
    def renew(self, lease: Lease) -> None:
        """Say that whoever holds this is alive."""

    @abstractmethod
    def wait(self, ask_id: str, timeout: float | None = None) -> Ask:
        """Block until the ask is closed, and return it."""

    @abstractmethod
    async def wait_async(self, ask_id: str, timeout: float | None = None) -> Ask:  # noqa: ASYNC109 - as `wait`
        """Wait as `wait` does, without holding a thread."""

    @abstractmethod
    def history(self, ask_id: str) -> list[Event]:
        """Return everything that happened to an ask, in order."""

    @abstractmethod
    def versions(self, ask_id: str) -> list[Version]:
        """Return all versions up to this ask, the oldest first."""

    @abstractmethod
    def file(self, ask_id: str, number: int) -> bytes:
        """Return the bytes of a file beside an ask, counted from 1."""

    @abstractmethod
    def tip(self) -> str:
        """Return the cursor of the last event there is."""

    @abstractmethod
    def events(self, after: str | None) -> Iterator[Event]:
        """Yield what is committed now, and end."""

    @abstractmethod
    def follow(self, after: str | None, stop: threading.Event | None = None) -> Iterator[Event]:
        """Yield events after a cursor, then wait for more, until `stop` is set."""

    @abstractmethod
    def wake(self) -> None:
        """Let whoever follows look whether to stop."""

    def give_up(self, ask: Ask) -> None:
        """Withdraw the ask of a program that stops waiting, if that is still possible.

        If it is not (decided already, or out of reach), the lapsing lease will tell people
        that the program has gone.
        """
        with suppress(Conflict, StoreError):
            self.withdraw(ask.id, agent=ask.content.agent, note=GIVEN_UP)


class StoredDocket(Docket):
    """The asks in a database."""

    def __init__(self, store: Callable[[], Store], origin: Origin, law: Lawbook) -> None:
        self._find = store
        self._origin = origin
        self._law = law

    def now(self) -> datetime:
        """Return the time of the desk's clock."""
        return self._find().now()

    def open(
        self,
        content: Content,
        *,
        key: str | None = None,
        lease: Lease | None = None,
        always: bool = False,
        declared: bool = False,
    ) -> Ask:
        """Open an ask by the policy in force."""
        return open_ask(
            self._find(),
            content,
            origin=self._origin,
            key=key,
            lease=lease,
            law=self._law,
            always=always,
            requested=not declared,
        )

    def look(self, ask_id: str) -> Ask:
        """Return an ask as it stands now."""
        return standing(self._find(), ask_id).ask

    def listed(self, query: InboxQuery, *, role: str | None, person: str | None) -> Inbox:
        """Return a page of what waits."""
        return listing(self._find(), query, role=role, person=person, most=None)

    def decided(self, query: InboxQuery, *, person: str | None) -> Inbox:
        """Return a page of what is closed, the newest first."""
        return decided(self._find(), query, person=person, most=None)

    def decide(self, ask_id: str, ballot: Ballot, *, seen: str, by: str | None) -> Ask:
        """Record one person's verdict."""
        store, origin = self._find(), self._origin
        return decide(store, ask_id, ballot, seen=seen, by=by, origin=origin, law=self._law)

    def take_back(self, ask_id: str, *, by: str | None, note: str | None) -> Ask:
        """Take one person's word back."""
        return take_back(self._find(), ask_id, by=by, origin=self._origin, note=note)

    def claim(self, ask_id: str, *, by: str | None) -> Ask:
        """Say that somebody is looking into it."""
        return claim(self._find(), ask_id, by=by, origin=self._origin)

    def assign(self, ask_id: str, to: str | None, *, by: str | None) -> Ask:
        """Give it to somebody to look into."""
        return assign(self._find(), ask_id, to, by=by, origin=self._origin)

    def withdraw(self, ask_id: str, *, agent: str, note: str | None) -> Ask:
        """Close an open ask without a decision."""
        actor = Actor("agent", agent)
        return withdraw(self._find(), ask_id, actor=actor, origin=self._origin, note=note)

    def begin(
        self, ask_id: str, lease: Lease, *, risk: Risk | None = None, idempotent: bool = False
    ) -> Call:
        """Spend the approval and record the intent."""
        store, origin = self._find(), self._origin
        return begin(
            store,
            ask_id,
            origin=origin,
            lease=lease,
            law=self._law,
            risk=risk,
            idempotent=idempotent,
        )

    def begun(self, ask_id: str) -> Call:
        """Return the call that was begun on an ask."""
        at = standing(self._find(), ask_id)
        return begun(at.ask, at.holder or "")

    def finish(
        self, call: Call, ending: Ending, *, result: object = None, error: str | None = None
    ) -> Ask:
        """Record what came of a call."""
        origin = self._origin
        return finish(self._find(), call, ending, origin=origin, result=result, error=error)

    def doubt(
        self, ask_id: str, reason: str, *, attempt: int, lease: Lease | None = None
    ) -> Ask | None:
        """Make an effect `unknown` and ask people."""
        store, origin = self._find(), self._origin
        return doubt(store, ask_id, reason, origin=origin, attempt=attempt, lease=lease)

    def renew(self, lease: Lease) -> None:
        """Say that whoever holds this is alive."""
        if lease.span is not None:
            self._find().renew(lease.holder, lease.span)

    def wait(self, ask_id: str, timeout: float | None = None) -> Ask:
        """Block until the ask is closed."""
        return wait(self._find(), ask_id, timeout)

    async def wait_async(self, ask_id: str, timeout: float | None = None) -> Ask:  # noqa: ASYNC109 - as `wait`
        """Wait without holding a thread."""
        return await wait_async(self._find(), ask_id, timeout)

    def history(self, ask_id: str) -> list[Event]:
        """Return everything that happened to an ask."""
        return list(standing(self._find(), ask_id).events)

    def versions(self, ask_id: str) -> list[Version]:
        """Return all versions up to this ask."""
        return versions(self._find(), ask_id)

    def file(self, ask_id: str, number: int) -> bytes:
        """Return the bytes of a file beside an ask."""
        return file_of(self._find(), self.look(ask_id), number)[1]

    def tip(self) -> str:
        """Return the cursor of the last event there is."""
        return self._find().tip()

    def events(self, after: str | None) -> Iterator[Event]:
        """Yield what is committed now."""
        return recorded(self._find(), after)

    def follow(self, after: str | None, stop: threading.Event | None = None) -> Iterator[Event]:
        """Yield events as they are committed anywhere."""
        return follow(self._find(), after, stop=stop)

    def wake(self) -> None:
        """Let whoever follows look whether to stop."""
        self._find().bell.ring()
