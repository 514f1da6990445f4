"""What the rest of the house may ask of a database, and the values that cross over.

One change of state and its event are one commit (promise 7), and the event is
also the lock: `(stream, seq)` is unique, so of any number of racers who append
the same next event one succeeds and the others are told to look again. There
is no other compare-and-set in the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from sayso.model.actor import Person, Roster
from sayso.model.ask import Ask
from sayso.model.content import Content
from sayso.model.event import Event
from sayso.model.lifecycle import RunStatus
from sayso.model.ruled import RANKS
from sayso.store.accounts import Accounts
from sayso.store.bell import Bell
from sayso.store.boards import Boards
from sayso.store.casebook import Casebook
from sayso.store.epochs import Epochs
from sayso.store.fleet import Fleet, Teams
from sayso.store.labels import Labels
from sayso.store.named import RowChange
from sayso.store.outbox import Outbox
from sayso.store.readers import Readers
from sayso.store.tallies import Tallies
from sayso.store.trail import Trail
from sayso.store.trust import TrustRows

COUNT_LIMIT = 1000
SOON = timedelta(hours=2)  # whatever expires within this time comes first
PEOPLE = "people"  # the stream that says who is on the desk
LAW = "law"  # the stream that says which policy is in force

# The inbox lists by rank: the tier in force. What is for information has ranks of its own behind.
INFORMATION = 1000


@dataclass(frozen=True, slots=True)
class Lease:
    """A promise that `holder` is alive until then, unless it says so again.

    Without a span the holder is a run, whose own lease says whether it is alive.
    """

    holder: str
    span: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """One event, and the row that it changes, to be written together or not at all.

    `before` makes the writing statement itself refuse from that moment on, `held`
    once the lease of the program that asked has lapsed, `people` once the roster
    is no longer the one that was read, `law` once the law has another mark than that by which
    it was ruled. `beside` are other rows that go with the event.
    """

    event: Event
    ask: Ask | None = None
    person: Person | None = None
    active: bool = True
    lease: Lease | None = None
    before: datetime | None = None
    held: bool = False
    people: int | None = None
    law: bytes | None = None
    beside: tuple[RowChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening(Append):
    """The event that opens an ask, and its row.

    `once` opens nothing while another asks the same; `paced` counts it towards what the
    policy lets its agent ask.
    """

    ask: Ask
    once: bool = False
    paced: bool = False


class RunRow(NamedTuple):
    """Who may carry a run on, and how it stands. What it did is in its journal."""

    id: str
    workflow: str
    path: str
    thread: str | None
    status: RunStatus
    started_at: datetime
    changed_at: datetime
    now: datetime
    seq: int = 1
    wake: int = 0
    waits: tuple[str, ...] = ()
    token: str | None = None
    worker: str | None = None
    lease_until: datetime | None = None
    attempt: int = 0
    doing: str | None = None
    progress: float | None = None
    team: str | None = None
    code: str = ""  # the version of its workflow that it last went on with

    @property
    def lapsed(self) -> bool:
        """Whether whoever carried it on has fallen silent."""
        return self.lease_until is not None and self.lease_until <= self.now


@dataclass(frozen=True, slots=True)
class StartRun:
    """A new run. With a token it is being carried on from its first moment."""

    row: RunRow
    span: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldRun:
    """Whoever holds the token writes on; nobody else does. `seq` is its last event by then."""

    id: str
    token: str
    seq: int
    span: timedelta
    doing: str | None = None
    progress: float | None = None
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveRun:
    """The holder of the token lets go. With `wake`, only if no decision came meanwhile."""

    id: str
    token: str
    seq: int
    status: RunStatus
    waits: tuple[str, ...] = ()
    wake: int | None = None
    doing: str | None = None
    progress: float | None = None
    code: str | None = None  # stays what it was


@dataclass(frozen=True, slots=True, kw_only=True)
class SteerRun:
    """Somebody other than its worker ends a run, or lets it go on."""

    id: str
    seq: int
    before: RunStatus
    status: RunStatus


RunChange = StartRun | HoldRun | LeaveRun | SteerRun


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuery:
    """Which runs to list, the newest first.

    With `teams`, only what somebody of these teams sees: theirs, and what belongs to none. `begins` is
    how their ids begin.
    """

    status: RunStatus | None = None
    thread: str | None = None
    workflow: str | None = None
    begins: str | None = None
    teams: tuple[str, ...] | None = None
    limit: int = 50
    before: tuple[datetime, str] | None = None


class Current(NamedTuple):
    """The newest runs that are not over, and how many there are of each status."""

    rows: tuple[RunRow, ...]
    counts: Mapping[str, int]


class Loaded(NamedTuple):
    """An ask's journal with the moment of reading, the people, and whether its lease lapsed.

    `people` is the number of the last change of the roster, `law` the mark of the law: the hash of
    the last event of its stream, empty if it has none.
    """

    events: tuple[Event, ...]
    now: datetime
    roster: Roster
    gone: bool
    holder: str | None
    people: int
    law: bytes
    until: datetime | None = None  # until when its holder wants to be heard of again


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxQuery:
    """Which asks to list, of those that are open or of those that are closed.

    `roles` of `None` means whoever they are for. With `teams`, only what somebody of these teams
    sees: theirs, and what belongs to none. `asker` is an agent and its team: only what it asked.
    `least` is the lowest risk that is listed, `words` are what `text` is searched by.
    """

    kind: str | None = None
    risk: str | None = None
    least: str | None = None
    agent: str | None = None
    tool: str | None = None
    text: str | None = None
    words: tuple[str, ...] | None = None
    run: str | None = None
    thread: str | None = None
    roles: tuple[str, ...] | None = None
    teams: tuple[str, ...] | None = None
    not_voted: str | None = None
    assignee: str | None = None
    asker: tuple[str, str | None] | None = None
    limit: int = 50
    after: str | None = None


@dataclass(frozen=True, slots=True)
class InboxPage:
    """The rows of one page and the count, from one statement and so from one moment.

    `at` is the moment by which it was settled what expires soon: that of the first page.
    """

    loaded: tuple[Loaded, ...]
    count: int
    cursor: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Paced:
    """How much an agent asks of people: since a moment, the first of them then, and open now.

    `begun` is how many of its calls are not over: of each, people may be asked whether it happened.
    """

    asks: int
    first: datetime | None
    waiting: int
    begun: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """The last event of a stream."""

    seq: int
    hash: bytes


class Widen(Protocol):
    """Gives people the roles they hold besides those in the database: a policy may give them more."""

    def __call__(self, roster: Roster, mark: bytes | None = None) -> Roster:
        """Return the people with all their roles, by the law of this mark."""
        ...


class Wakeups(Protocol):
    """Tables beside the journal by which an engine wakes workers. Nothing is decided by them."""

    def version(self) -> str | None:
        """The last step that was taken here, or `None` if nothing was installed."""
        ...

    def address(self) -> str:
        """Where the engine finds its tables; it may hold a password."""
        ...

    def queues(self, workflows: Sequence[str]) -> list[str]:
        """The queues in which the runs of these workflows are announced."""
        ...

    def install(self, schema: str, steps: Sequence[tuple[str, str]]) -> list[str]:
        """Bring the tables up to date: the whole SQL, or the steps that are missing."""
        ...

    def prune(self) -> int:
        """Drop some of what wakes nobody any more."""
        ...

    def counts(self, limit: int) -> Mapping[str, int]:
        """How many wake-ups there are by status, of the first so many; `stuck` with the dead."""
        ...


class Store(
    Readers,
    Casebook,
    Tallies,
    Labels,
    Trail,
    Accounts,
    Outbox,
    Fleet,
    Epochs,
    Boards,
    TrustRows,
    Protocol,
):
    """A database that keeps the journal. Every method is one short transaction."""

    bell: Bell
    url: str
    wakeups: Wakeups | None
    widen: Widen

    def now(self) -> datetime:
        """The present by the clock that deadlines and leases go by."""
        ...

    def load(self, ask_id: str) -> Loaded | None:
        """Everything about one ask, or `None` if there is none."""
        ...

    def find_key(self, key: str) -> str | None:
        """The id of the ask opened under this idempotency key."""
        ...

    def commit(self, *appends: Append, run: RunChange | None = None, synced: bool = True) -> bool:
        """Write all of it durably, or nothing: then somebody was faster, and False comes back.

        What is not `synced` survives the death of this process, not that of the machine.
        """
        ...

    def claimable(self, serves: Sequence[str]) -> bool:
        """Whether there is something to claim. It may be gone a moment later."""
        ...

    def overdue(self, serves: Sequence[str], span: timedelta, limit: int) -> list[str]:
        """Runs that have been ready for that long, or whose worker fell silent."""
        ...

    def claim(
        self,
        serves: Sequence[str],
        token: str,
        worker: str,
        span: timedelta,
        only: str | None = None,
    ) -> RunRow | None:
        """Take one run that is ready, or whose worker fell silent. Not synced to the disk."""
        ...

    def beat(self, run_id: str, token: str, span: timedelta, doing: str | None) -> bool:
        """Hold on to a run; False if somebody else has it."""
        ...

    def run(self, run_id: str) -> RunRow | None:
        """How a run stands, or `None` if there is none."""
        ...

    def run_of_thread(self, thread: str, team: str | None = None) -> RunRow | None:
        """The one run of a team's thread that is not over, if there is one."""
        ...

    def runs(self, query: RunQuery) -> list[RunRow]:
        """Runs, the newest first."""
        ...

    def runs_now(self, limit: int, teams: Teams = None) -> Current:
        """The newest of each status that are not over, and how many there are: one moment."""
        ...

    def run_asks(self, run_id: str) -> list[list[Event]]:
        """The journals of all asks of a run, in the order they were opened."""
        ...

    def history(self, run_id: str) -> list[list[Event]]:
        """The journal of a run, and behind it those of all its asks: one moment of them all."""
        ...

    def stray_runs(self) -> list[str]:
        """Runs in the list that have no journal."""
        ...

    def inbox(self, query: InboxQuery) -> InboxPage:
        """One page of open asks."""
        ...

    def closed(self, query: InboxQuery) -> InboxPage:
        """One page of what was put to people and is closed, the newest first."""
        ...

    def due(self, limit: int, now: datetime | None = None) -> list[str]:
        """Asks with which the clock has something to do, by the store's clock or at `now`."""
        ...

    def settling(self, voter: str, limit: int) -> list[str]:
        """Asks that this person has decided, of which the decision does not count yet."""
        ...

    def lapsed(self, limit: int, now: datetime | None = None) -> list[str]:
        """Asks whose effect was begun by somebody who no longer holds the lease."""
        ...

    def renew(self, holder: str, span: timedelta) -> None:
        """Hold on to everything `holder` asked or is carrying out."""
        ...

    def roster(self) -> Roster:
        """The people of the desk."""
        ...

    def people_seen(self) -> tuple[Roster, int]:
        """The people as they were last read here, and the number of their last change.

        For a write that checks the number.
        """
        ...

    def people_now(self) -> int:
        """The number of the last change of the people, having read them anew."""
        ...

    def alike(self, likeness: str) -> tuple[str, int] | None:
        """Count one more of what asks the same and is not decided yet: its id, and how many."""
        ...

    def paced(self, agent: str, since: datetime) -> Paced:
        """How many asks an agent has put to people since then, and what is not over."""
        ...

    def register(self) -> Roster:
        """The people of the desk, with the roles they hold in the database alone."""
        ...

    def head(self, stream: str) -> Head:
        """The end of a stream; seq 0 if nothing was written to it."""
        ...

    def stream(self, stream: str, after: int = 0) -> list[Event]:
        """The events of one stream."""
        ...

    def tail(self, after: str | None, limit: int, *, kept_here: bool = False) -> list[Event]:
        """Committed events of all streams after a cursor; none is ever missed or given twice.

        With `kept_here` the cursor is kept in this database, and a crash that takes an event takes it,
        too. Otherwise no event is returned that a crash could take.
        """
        ...

    def tip(self) -> str:
        """The cursor behind which only what is not yet committed will come."""
        ...

    def recent(self, limit: int) -> list[Event]:
        """The last events of all streams, the newest first, as far as they are known here."""
        ...

    def scan(self, batch: int = 2000) -> Iterator[Sequence[Event]]:
        """Every event, stream by stream, for verification and export."""
        ...

    def indexed(self, ids: Sequence[str]) -> Mapping[str, Mapping[str, object]]:
        """What the index says of these asks, column by column."""
        ...

    def strays(self) -> list[str]:
        """Asks in the index that have no journal."""
        ...

    def total(self) -> int:
        """How many events there are."""
        ...

    def erase(self, stream: str, seqs: Sequence[int], note: Append) -> bool:
        """Null the payloads of these events, with the event that says so, in one commit.

        The files of the ask go too, unless another one shows the same.
        """
        ...

    def file(self, digest: str) -> bytes | None:
        """The bytes of a file that asks show, or `None` if none does."""
        ...

    def health(self) -> dict[str, str]:
        """What `sayso doctor` shows about this database."""
        ...

    def schema(self) -> tuple[int, int]:
        """The version of the database, and the newest this program knows."""
        ...

    def migrate(self) -> list[str]:
        """Bring the tables up to date; returns the names of the steps taken."""
        ...

    def close(self) -> None:
        """Let go of connections. The store opens new ones if it is used again."""
        ...


def rank_of_risk(risk: str) -> int:
    """Return the rank of what declares this risk and must be decided."""
    return RANKS[risk]


def informs(content: Content) -> bool:
    """Whether an ask is for information: nothing is held back until somebody answers."""
    return content.kind in ("notice", "feedback") or bool(
        content.kind == "draft" and content.optional
    )
