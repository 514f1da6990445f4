"""The asks of a server elsewhere."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from os import urandom
from typing import Any, TypeVar

from sayso.asks.docket import Docket
from sayso.asks.files import checked, note_of
from sayso.asks.inbox import Inbox, check_query
from sayso.asks.posted import write_post
from sayso.asks.spending import Ending, begun
from sayso.asks.versions import Version
from sayso.asks.vouching import check_harm
from sayso.errors import (
    AlreadySpent,
    BadValue,
    Forbidden,
    InvalidAnswer,
    InvalidEdit,
    SaysoError,
    UnknownAsk,
)
from sayso.model.actor import Actor
from sayso.model.ask import Ask, Ballot
from sayso.model.call import Call
from sayso.model.content import LIMIT, Content, Risk
from sayso.model.digest import frozen
from sayso.model.event import Event
from sayso.model.wire import read_ask, read_call, read_event, read_page
from sayso.remote.line import Line
from sayso.remote.stream import Stream
from sayso.remote.waiting import wait, wait_async
from sayso.store import SystemClock
from sayso.store.contract import InboxQuery, Lease

T = TypeVar("T")
# Filters of a list that a server is asked for by their own names.
_ASKED = (
    *("kind", "risk", "least", "agent", "tool", "run", "thread", "assignee", "limit", "after"),
)
UNNAMED = "whoever-the-token-names"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class RemoteDocket(Docket):
    """The asks that a server keeps. Who acts is who the token names."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._stream = Stream(line)
        self._now = SystemClock().now
        self._session: dict[str, Any] | None = None  # of its token, once somebody wants to know

    def now(self) -> datetime:
        """Return the time here; deadlines travel as the time that is left."""
        return self._now()

    # --- asking ---

    def open(
        self,
        content: Content,
        *,
        key: str | None = None,
        lease: Lease | None = None,
        always: bool = False,
        declared: bool = False,
    ) -> Ask:
        """Open an ask. The server takes nobody's word that people need not be asked."""
        del declared
        body: dict[str, Any] = {
            **write_post(content, now=self.now(), key=key, lease=lease, always=always)
        }
        if body["agent"] == UNNAMED:
            del body["agent"]
        # What is asked twice in the same words and waited for by nobody is counted on one ask
        # (E34). A key of ours would set them apart, and is not needed to send it again.
        counted = lease is None and content.kind == "action" and content.proposal.tool is not None
        once = key if key is not None else None if counted else _fresh()
        try:
            return self._line.read(read_ask, self._line.post("/asks", body, key=once))
        except BaseException as error:
            # Ctrl-C before the answer came: it may be open, and nobody would act on it any more.
            if lease is not None and not isinstance(error, Exception):
                self._unsay(body, once)
            raise

    def _unsay(self, body: dict[str, Any], key: str | None) -> None:
        with suppress(SaysoError):
            self.give_up(self._line.read(read_ask, self._line.post_once("/asks", body, key=key)))

    def look(self, ask_id: str) -> Ask:
        """Return an ask as it stands now."""
        return self._line.read(read_ask, self._line.get(_place(ask_id)))

    def listed(self, query: InboxQuery, *, role: str | None, person: str | None) -> Inbox:
        """Return a page of what waits for whoever the token names."""
        return self._page(query, status="open", role=role, person=person)

    def decided(self, query: InboxQuery, *, person: str | None) -> Inbox:
        """Return a page of what is closed, as far as whoever the token names sees it."""
        return self._page(query, status="decided", role=None, person=person)

    def _page(
        self, query: InboxQuery, *, status: str, role: str | None, person: str | None
    ) -> Inbox:
        check_query(query)
        if query.teams is not None:
            raise BadValue("teams=: behind HTTP you see the teams of whoever the token names.")
        said = {name: getattr(query, name) for name in _ASKED}
        data = self._line.get(
            "/asks", status=status, q=query.text, role=role, person=person, **said
        )
        page = self._line.read(read_page, data)
        reading = bool(data.get("reading", False))
        return Inbox(page.asks, page.count, page.cursor, page.damaged, reading=reading)

    def wait(self, ask_id: str, timeout: float | None = None) -> Ask:
        """Block until the ask is closed, through restarts of the server."""
        return wait(self._line, _place(ask_id), timeout)

    async def wait_async(self, ask_id: str, timeout: float | None = None) -> Ask:  # noqa: ASYNC109 - as `wait`
        """Wait without holding a thread."""
        return await wait_async(self._line, _place(ask_id), timeout)

    # --- deciding ---

    def decide(self, ask_id: str, ballot: Ballot, *, seen: str, by: str | None) -> Ask:
        """Record the verdict of the person that the token names."""
        self.check_by(by)
        body = {**ballot._asdict(), "seen": seen}
        body["args"] = _sendable(ballot.args, "edit", InvalidEdit)
        body["answer"] = _sendable(ballot.answer, "answer", InvalidAnswer)
        return self._done(ask_id, "decision", {n: v for n, v in body.items() if v is not None})

    def take_back(self, ask_id: str, *, by: str | None, note: str | None) -> Ask:
        """Take one's word on a settling ask back."""
        self.check_by(by)
        return self._done(ask_id, "take-back", {"note": note})

    def claim(self, ask_id: str, *, by: str | None) -> Ask:
        """Say that one is looking into it."""
        self.check_by(by)
        return self._done(ask_id, "claim", {})

    def assign(self, ask_id: str, to: str | None, *, by: str | None) -> Ask:
        """Give it to somebody to look into."""
        self.check_by(by)
        return self._done(ask_id, "assign", {"to": to})

    def incident(self, ask_id: str, harm: str, *, by: str | None) -> Ask:
        """Report that a call which was carried out did harm."""
        check_harm(harm)
        self.check_by(by)
        return self._done(ask_id, "incident", {"harm": harm})

    def check_by(self, by: str | None) -> None:
        """Refuse to act in the name of anybody but the owner of the token."""
        if by is None:
            return
        name = str(self._me().get("name"))
        if by != name:
            raise Forbidden(
                f"by={by!r}: behind HTTP, who decides is who the token names, which is "
                f"{name}. Leave by= out, or use a token of {by}."
            )

    @property
    def version(self) -> str:
        """The version of the agent, as its token says; empty if that says none."""
        return str(self._me().get("version") or "")

    def _me(self) -> dict[str, Any]:
        if self._session is None:
            self._session = dict(self._line.get("/session"))
        return self._session

    # --- carrying out ---

    def withdraw(self, ask_id: str, *, agent: str, note: str | None) -> Ask:
        """Close an open ask without a decision."""
        del agent
        return self._done(ask_id, "withdraw", {"note": note})

    def begin(
        self, ask_id: str, lease: Lease, *, risk: Risk | None = None, idempotent: bool = False
    ) -> Call:
        """Spend the approval: the server writes the intent before it answers."""
        body = {"risk": risk, **_lent(lease)}
        return self._line.read(read_call, self._post(ask_id, "begin", body))

    def begun(self, ask_id: str) -> Call:
        """Return the call that was begun on an ask; the server knows who holds it."""
        return begun(self.look(ask_id), "")

    def finish(
        self, call: Call, ending: Ending, *, result: object = None, error: str | None = None
    ) -> Ask:
        """Record what came of a call. A result that JSON cannot hold does not undo it."""
        body: dict[str, Any] = {"attempt": call.attempt, "holder": call.holder or None}
        if ending == "failed":
            return self._done(call.ask.id, "finish", {**body, "error": error or "it failed"})
        try:
            kept = frozen(result, limit=LIMIT, what="result")
        except BadValue:
            kept = None
        return self._done(call.ask.id, "finish", {**body, "result": kept})

    def doubt(
        self, ask_id: str, reason: str, *, attempt: int, lease: Lease | None = None
    ) -> Ask | None:
        """Make an effect `unknown` and ask people; `None` if it ended meanwhile."""
        body = {"attempt": attempt, "reason": reason, **({} if lease is None else _lent(lease))}
        try:
            return self._done(ask_id, "doubt", body)
        except AlreadySpent:
            return None

    def renew(self, lease: Lease) -> None:
        """Say that whoever holds this is alive; to say it twice does no harm."""
        holder, seconds = _lent(lease).values()
        self._line.post(f"/leases/{holder}", {"seconds": seconds}, key=None)

    def _done(self, ask_id: str, what: str, body: dict[str, Any]) -> Ask:
        return self._line.read(read_ask, self._post(ask_id, what, body))

    def _post(self, ask_id: str, what: str, body: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        return self._line.post(f"{_place(ask_id)}/{what}", body, key=_fresh())

    # --- the journal ---

    def history(self, ask_id: str) -> list[Event]:
        """Return everything that happened to an ask, in order."""
        data = self._line.get(f"{_place(ask_id)}/events")
        return self._line.read(_listed("events", read_event), data)

    def versions(self, ask_id: str) -> list[Version]:
        """Return all versions up to this ask, the oldest first."""
        data = self._line.get(f"{_place(ask_id)}/versions")
        return self._line.read(_listed("versions", _version), data)

    def file(self, ask_id: str, number: int) -> bytes:
        """Return the bytes of a file beside an ask."""
        ask = self.look(ask_id)
        note = note_of(ask, number)
        data = self._line.fetch(f"{_place(ask_id)}/files/{number}")
        return checked(ask, number, note, data)

    def tip(self) -> str:
        """Return the cursor of the last event there is."""
        return self._stream.tip()

    def events(self, after: str | None) -> Iterator[Event]:
        """Yield what is committed now, and end."""
        return self._stream.recorded(after)

    def follow(self, after: str | None, stop: threading.Event | None = None) -> Iterator[Event]:
        """Yield events as they come, through restarts of the server."""
        return self._stream.follow(after, stop or threading.Event())

    def wake(self) -> None:
        """Let whoever follows look whether to stop."""
        self._stream.wake()


def _place(ask_id: object) -> str:
    """Return where an ask is found; what cannot be an id is an ask that nobody knows."""
    if not isinstance(ask_id, str) or not _ID.fullmatch(ask_id):
        raise UnknownAsk(ask_id)
    return f"/asks/{ask_id}"


def _fresh() -> str:
    """Return a key for one request and its repetitions."""
    return urandom(16).hex()


def _lent(lease: Lease) -> dict[str, Any]:
    if lease.span is None:
        raise BadValue("Only a run holds something without a time.")
    return {"holder": lease.holder, "seconds": lease.span.total_seconds()}


def _sendable(value: object, what: str, kind: type[InvalidEdit | InvalidAnswer]) -> Any:  # noqa: ANN401
    try:
        return frozen(value, what=what)
    except BadValue as error:
        raise kind(str(error), fields={error.path: "cannot be stored"}) from error


def _listed(name: str, reader: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    return lambda data: [reader(item) for item in data[name]]


def _version(data: dict[str, Any]) -> Version:
    return Version(
        number=data["number"],
        ask=data["ask"],
        by=Actor.parse(data["by"]),
        at=datetime.fromisoformat(data["at"]),
        args=data["args"],
        guidance=data["guidance"],
    )
