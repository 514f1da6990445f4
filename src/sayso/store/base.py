"""What both databases have in common: how rows become values and back.

A dialect gives `_rows` (run one named query) and `_write` (append atomically);
everything else here is written once.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar, Literal

from sayso.errors import BadValue
from sayso.model.actor import Person, Roster
from sayso.model.agenda import next_at
from sayso.model.ask import Ask
from sayso.model.event import GENESIS, Event, micros, moment
from sayso.model.ids import is_id
from sayso.model.names import folded
from sayso.model.ruled import level_of
from sayso.store.accounts import SqlAccounts
from sayso.store.bell import Bell
from sayso.store.boards import COUNTED, NOT_OVER, SqlBoards
from sayso.store.casebook import SqlCasebook
from sayso.store.clock import Clock
from sayso.store.contract import (
    COUNT_LIMIT,
    INFORMATION,
    SOON,
    Append,
    Current,
    Head,
    HoldRun,
    InboxPage,
    InboxQuery,
    LeaveRun,
    Loaded,
    Opening,
    Paced,
    RunChange,
    RunQuery,
    RunRow,
    StartRun,
    SteerRun,
    Wakeups,
    Widen,
    informs,
    rank_of_risk,
)
from sayso.store.epochs import SqlEpochs
from sayso.store.fleet import SqlFleet, Teams
from sayso.store.labels import SqlLabels
from sayso.store.outbox import SqlOutbox
from sayso.store.queries import numbered, several
from sayso.store.readers import SqlReaders
from sayso.store.tallies import SqlTallies
from sayso.store.trail import SqlTrail
from sayso.store.trust import SqlTrust

Row = Sequence[Any]
_EVENT = 9  # columns of an event, always the last ones of a row
_NOTED = _EVENT + 1
_STREAM = attrgetter("stream")


class SqlStore(
    SqlReaders,
    SqlCasebook,
    SqlTallies,
    SqlLabels,
    SqlTrail,
    SqlAccounts,
    SqlOutbox,
    SqlFleet,
    SqlEpochs,
    SqlBoards,
    SqlTrust,
    ABC,
):
    """The journal in a SQL database."""

    def __init__(self, url: str, clock: Clock) -> None:
        self.url = url
        self._clock = clock
        self.bell = Bell(self._watch)
        self.widen: Widen = _as_they_are
        self._seen: tuple[str | None, int] | None = None  # the people, and their last change
        self.wakeups: Wakeups | None = None
        clock.watch(self.bell.ring)

    _sign: ClassVar[str]  # before the number of a value
    _queries: Mapping[str, str]
    _sql: dict[str, tuple[str, tuple[str, ...]]]  # the same with numbers, and whose they are

    def _several(self, name: str, part: str, place: str, own: Sequence[str], times: int) -> str:
        known = f"{part} {times}"
        if known not in self._sql:
            whole = several(self._queries[name], place, self._queries[part], own, times)
            self._sql[known] = numbered(whole, self._sign)
        return known

    @abstractmethod
    def _write(
        self,
        appends: Sequence[Append],
        erase: Sequence[tuple[str, int]],
        run: RunChange | None = None,
        *,
        synced: bool = True,
    ) -> bool:
        """Write everything in one commit; False, and nothing written, on a lost race."""

    @abstractmethod
    def _watch(self, ring: Any, wanted: Any) -> None:  # noqa: ANN401 - see Bell
        """Ring at commits of other processes while wanted."""

    @abstractmethod
    def _roles(self, roles: Sequence[str] | None) -> object:
        """Return the roles filter as the dialect's query takes it."""

    def now(self) -> datetime:
        """Return the present by the clock of this store."""
        return self._clock.now()

    def _now(self) -> int | None:
        return micros(self._clock.now())

    def load(self, ask_id: str) -> Loaded | None:
        """Return everything about one ask, or `None`."""
        if not is_id(ask_id):
            return None
        rows = self._rows("load", id=ask_id)
        if not rows:
            return None
        self._seen = rows[0][1], rows[0][4]
        return _loaded(rows, self.widen)

    def find_key(self, key: str) -> str | None:
        """Return the id of the ask opened under this idempotency key."""
        rows = self._rows("find_key", key=key)
        return rows[0][0] if rows else None

    def commit(self, *appends: Append, run: RunChange | None = None, synced: bool = True) -> bool:
        """Write all of it durably or, if somebody was faster, nothing."""
        written = self._write(appends, (), run, synced=synced)
        if written:
            self.bell.ring()
        return written

    def erase(self, stream: str, seqs: Sequence[int], note: Append) -> bool:
        """Null these payloads together with the event that says so."""
        return self._write((note,), [(stream, seq) for seq in seqs])

    def file(self, digest: str) -> bytes | None:
        """Return the bytes of a file that asks show."""
        rows = self._rows("file", digest=digest)
        return bytes(rows[0][0]) if rows else None

    def inbox(self, query: InboxQuery) -> InboxPage:
        """Return one page of open asks and how many there are."""
        soon, place, latest, opened_at, last = _place(query.after)
        rows = self._page(
            "inbox",
            query,
            state="open",
            soon=soon,
            soon_span=_span(SOON),
            place=place,
            latest=latest,
            opened_at=opened_at,
            id=last,
        )
        asks = _grouped(rows)
        reckoned = rows[0][5]
        full = 0 < len(asks) == query.limit
        cursor = json.dumps([reckoned, *asks[-1][0][2:5], asks[-1][0][1]]) if full else None
        loaded = tuple(_loaded([row[6:] for row in group], self.widen) for group in asks)
        return InboxPage(loaded, _counted(rows), cursor, moment(reckoned) - SOON)

    def closed(self, query: InboxQuery) -> InboxPage:
        """Return one page of what is closed, the newest first, and how many there are."""
        closed_at, last = _place_behind(query.after)
        rows = self._page("closed", query, state="closed", closed_at=closed_at, id=last)
        asks = _grouped(rows)
        full = 0 < len(asks) == query.limit
        cursor = json.dumps([asks[-1][0][2], asks[-1][0][1]]) if full else None
        loaded = tuple(_loaded([row[3:] for row in group], self.widen) for group in asks)
        return InboxPage(loaded, _counted(rows), cursor, moment(int(rows[0][3])))

    def _page(self, name: str, query: InboxQuery, *, state: str, **place: object) -> list[Row]:
        """Run the query that finds these asks by an index."""
        words, teams = query.words, query.teams
        if words is not None:
            name, place["match"] = f"{name}_found", self._all_of(words, state)
        elif teams is not None:
            name, teams = f"{name}_of_teams", ("", *teams)
        return self._rows(
            name,
            kind=query.kind,
            risk=query.risk,
            least=None if query.least is None else rank_of_risk(query.least),
            agent=folded(query.agent),
            tool=folded(query.tool),
            run=query.run,
            thread=query.thread,
            assignee=query.assignee,
            asker=query.asker[0] if query.asker else None,
            asker_team=(query.asker[1] or "") if query.asker else "",
            not_voted=f"|{query.not_voted}|" if query.not_voted else None,
            roles=self._roles(query.roles),
            teams=self._teams(teams),
            count_limit=COUNT_LIMIT,
            limit=query.limit,
            **place,
        )

    def due(self, limit: int, now: datetime | None = None) -> list[str]:
        """Return asks with which the clock has something to do."""
        return [row[0] for row in self._rows("due", limit=limit, **_at(now))]

    def settling(self, voter: str, limit: int) -> list[str]:
        """Return asks that this person has decided, of which the decision does not count yet."""
        return [row[0] for row in self._rows("settling", voter=f"|{voter}|", limit=limit)]

    def lapsed(self, limit: int, now: datetime | None = None) -> list[str]:
        """Return asks whose effect was begun by somebody who no longer holds the lease."""
        return [row[0] for row in self._rows("lapsed", limit=limit, **_at(now))]

    def renew(self, holder: str, span: timedelta) -> None:
        """Hold on to everything `holder` asked or is carrying out."""
        self._rows("renew", holder=holder, span=_span(span))

    def roster(self) -> Roster:
        """Return the people of the desk."""
        return self.widen(self.register())

    def register(self) -> Roster:
        """Return the people of the desk with the roles they hold in the database."""
        text, number = self._rows("roster")[0]
        self._seen = text, number
        return _roster(text)

    def people_now(self) -> int:
        """Return the number of the last change of the people, having read them anew."""
        self.register()
        return self.people_seen()[1]

    def people_seen(self) -> tuple[Roster, int]:
        """Return the people as last read here, and the number of their last change."""
        if self._seen is None:
            self.register()
        text, number = self._seen or (None, 0)
        roster = _roster(text)
        return roster if roster.solo else self.widen(roster), number

    def alike(self, likeness: str) -> tuple[str, int] | None:
        """Count one more of what asks the same and is not decided yet."""
        rows = self._unsynced("alike", likeness=likeness)
        return (rows[0][0], rows[0][1]) if rows else None

    def paced(self, agent: str, since: datetime) -> Paced:
        """Return how many asks an agent has put to people since then, and what is not over."""
        asks, first, *now = self._rows("paced", agent=agent, since=micros(since))[0]
        return Paced(asks, None if first is None else moment(first), *now)

    def head(self, stream: str) -> Head:
        """Return the end of a stream; seq 0 if nothing was written to it."""
        rows = self._rows("head", stream=stream)
        return Head(rows[0][0], bytes(rows[0][1])) if rows else Head(0, GENESIS)

    def stream(self, stream: str, after: int = 0) -> list[Event]:
        """Return the events of one stream."""
        return [event_of(row) for row in self._rows("stream", stream=stream, after=after)]

    def scan(self, batch: int = 2000) -> Iterator[Sequence[Event]]:
        """Yield every event, stream by stream."""
        stream, seq = "", 0
        while rows := self._rows("scan", stream=stream, seq=seq, limit=batch):
            stream, seq = rows[-1][0], rows[-1][1]
            yield [event_of(row) for row in rows]

    def indexed(self, ids: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return what the index says of these asks, column by column."""
        rows = self._rows("indexed", ids=self._ids(ids))
        return {row[0]: dict(zip(INDEXED, row, strict=True)) for row in rows}

    def _ids(self, ids: Sequence[str]) -> object:
        return list(ids)

    def strays(self) -> list[str]:
        """Return asks in the index that have no journal."""
        return [row[0] for row in self._rows("strays")]

    def claimable(self, serves: Sequence[str]) -> bool:
        """Return whether there is something to claim."""
        return bool(self._rows("claimable", serves=self._names(serves)))

    def overdue(self, serves: Sequence[str], span: timedelta, limit: int) -> list[str]:
        """Return runs that have been ready for that long, or whose worker fell silent."""
        given = {"serves": self._names(serves), "span": _span(span), "limit": limit}
        return [row[0] for row in self._rows("overdue", **given)]

    def claim(
        self,
        serves: Sequence[str],
        token: str,
        worker: str,
        span: timedelta,
        only: str | None = None,
    ) -> RunRow | None:
        """Take one run that is ready, or else one whose worker fell silent."""
        given = {
            "serves": self._names(serves),
            "token": token,
            "worker": worker,
            "span": _span(span),
            "only": only,
        }
        for name in ("claim", "reclaim") if only is None else ("claim_this",):
            rows = self._unsynced(name, **given)
            if rows:
                return run_of(rows[0])
        return None

    def beat(self, run_id: str, token: str, span: timedelta, doing: str | None) -> bool:
        """Hold on to a run; False if somebody else has it."""
        given = {"id": run_id, "token": token, "span": _span(span), "doing": doing}
        return bool(self._unsynced("run_beat", **given))

    def run(self, run_id: str) -> RunRow | None:
        """Return how a run stands."""
        rows = self._rows("run", id=run_id) if is_id(run_id) else []
        return run_of(rows[0]) if rows else None

    def run_of_thread(self, thread: str, team: str | None = None) -> RunRow | None:
        """Return the one run of a team's thread that is not over."""
        rows = self._rows("run_of_thread", thread=thread, team=team or "")
        return run_of(rows[0]) if rows else None

    def runs(self, query: RunQuery) -> list[RunRow]:
        """Return runs, the newest first."""
        when, last = query.before or (None, None)
        rows = self._rows(
            _by(query),
            status=query.status,
            thread=query.thread,
            workflow=query.workflow,
            teams=self._teams(query.teams),
            begins=query.begins,
            before=micros(when) if when else None,
            before_id=last,
            limit=query.limit,
        )
        return [run_of(row) for row in rows]

    def runs_now(self, limit: int, teams: Teams = None) -> Current:
        """Return the newest of each status that are not over, and how many there are."""
        given = {"limit": limit, "count_limit": COUNTED, "teams": self._teams(teams)}
        rows = self._rows("runs_now", **given)
        counts = {str(row[0]): int(row[1]) for row in rows}
        found = {status: [row[2:] for row in rows if row[0] == status] for status in NOT_OVER}
        ordered = [run_of(row) for status in NOT_OVER for row in found[status]]
        return Current(tuple(ordered), {status: counts.get(status, 0) for status in NOT_OVER})

    def run_asks(self, run_id: str) -> list[list[Event]]:
        """Return the journals of all asks of a run, in the order they were opened."""
        return _by_stream(self._rows("run_asks", id=run_id))

    def history(self, run_id: str) -> list[list[Event]]:
        """Return the journal of a run, and behind it those of all its asks."""
        return _by_stream(self._rows("history", id=run_id))

    def stray_runs(self) -> list[str]:
        """Return runs in the list that have no journal."""
        return [row[0] for row in self._rows("stray_runs")]

    def recent(self, limit: int) -> list[Event]:
        """Return the last events of all streams, the newest first."""
        return [event_of(row) for row in self._rows("recent", limit=limit)]

    def total(self) -> int:
        """Return how many events there are."""
        return int(self._rows("total")[0][0])


def _grouped(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of a page ask by ask; an empty page is one row without any."""
    listed = [list(group) for _, group in groupby(rows, key=lambda row: row[1])]
    return [group for group in listed if group[0][1] is not None]


def _counted(rows: Sequence[Row]) -> int:
    return min(int(rows[0][0]), COUNT_LIMIT + 1)


def _as_they_are(roster: Roster, mark: bytes | None = None) -> Roster:
    return roster


def _loaded(rows: Sequence[Row], widen: Widen) -> Loaded:
    now, text, holder, lease_until, people, mark = rows[0][:6]
    law = bytes(mark) if mark else b""
    roster = _roster(text)
    gone = lease_until is not None and lease_until <= now
    return Loaded(
        tuple(event_of(row) for row in rows if row[-_EVENT] is not None),
        moment(int(now)),
        roster if roster.solo else widen(roster, law),
        gone,
        holder,
        people,
        law,
        None if lease_until is None else moment(int(lease_until)),
    )


@lru_cache(maxsize=16)  # of a text, not of the database: every row of a page carries the same one
def _roster(text: str | None) -> Roster:
    people = json.loads(text) if text else {}
    return Roster(
        {name: frozenset(roles) for name, (roles, _) in people.items()},
        {name: frozenset(teams) for name, (_, teams) in people.items()},
    )


def _by_stream(rows: Sequence[Row]) -> list[list[Event]]:
    events = [event_of(row) for row in rows]
    return [list(group) for _, group in groupby(events, key=_STREAM)]


def event_of(row: Row, cursor: str | None = None) -> Event:
    """Return the event in the last columns of a row."""
    return Event._make((*row[-_EVENT:], None, cursor))


def run_of(row: Row) -> RunRow:
    """Return the run in a row."""
    return RunRow(
        id=row[0],
        workflow=row[1],
        path=row[2],
        thread=row[3],
        status=row[4],
        seq=row[5],
        wake=row[6],
        waits=_listed(row[7]),
        token=row[8],
        worker=row[9],
        lease_until=None if row[10] is None else moment(row[10]),
        attempt=row[11],
        started_at=moment(row[12]),
        changed_at=moment(row[13]),
        doing=row[14],
        progress=row[15],
        team=row[16] or None,
        code=row[17],
        now=moment(row[18]),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split("|") if part)


def _by(query: RunQuery) -> str:
    """Return the query that finds these runs by an index."""
    if query.thread is not None:
        return "runs_of_thread"
    if query.workflow is not None:
        return "runs_of_workflow"
    return "runs" if query.status is None else "runs_of_status"


def _bars(names: Sequence[str]) -> str:
    return f"|{'|'.join(names)}|" if names else ""


def change_of(change: RunChange) -> tuple[str, dict[str, object]]:
    """Return the name of the query that changes a run's row, and its parameters."""
    match change:
        case StartRun(row, span):
            return "run_start", {
                "id": row.id,
                "workflow": row.workflow,
                "path": row.path,
                "thread": row.thread,
                "status": row.status,
                "run_seq": row.seq,
                "token": row.token,
                "worker": row.worker,
                "span": None if span is None else _span(span),
                "attempt": row.attempt,
                "waits": _bars(row.waits),
                "progress": row.progress,
                "team": row.team or "",
                "code": row.code,
                "started_at": micros(row.started_at),
            }
        case HoldRun():
            return "run_hold", {
                "id": change.id,
                "token": change.token,
                "run_seq": change.seq,
                "span": _span(change.span),
                "doing": change.doing,
                "progress": change.progress,
                "code": change.code,
            }
        case LeaveRun():
            return "run_leave", {
                "id": change.id,
                "token": change.token,
                "run_seq": change.seq,
                "status": change.status,
                "waits": _bars(change.waits),
                "wake": change.wake,
                "doing": change.doing,
                "progress": change.progress,
                "code": change.code,
            }
        case SteerRun():
            return "run_steer", {
                "id": change.id,
                "before": change.before,
                "run_seq": change.seq,
                "status": change.status,
            }


# What goes with the payloads of an erased ask, in this order.
ERASED = ("forget", "hide_case", "hide_text", "hold_files", "drop_files", "hide_files")

# What a run that waits for an ask goes on after.
_WAKING = frozenset({"ask.decided", "ask.withdrawn"})


def woken_by(append: Append) -> str | None:
    """Return the run to be woken by this, if it closes an ask of one."""
    if append.ask is None or append.event.kind not in _WAKING:
        return None
    return append.ask.content.run


def noted(event: Event) -> Row:
    """Return what the query `note` takes: the columns of an event, and the hash that it follows."""
    return event[:_NOTED]


def noted_next(event: Event) -> Row:
    """Return what the query `note_next` takes, for an event that follows one of the same statement."""
    return event[:_EVENT]


Change = tuple[Literal["open", "grow", "judge", "move"], dict[str, object]]

# What changes where an ask stands in the queue, or when the clock looks at it next.
_MOVING = frozenset(
    f"ask.{word}"
    for word in (
        *("edited", "raised", "settling", "taken_back"),
        *("reminded", "escalated", "assigned"),
    )
)
_NEVER = 2**62
_LAST = micros(datetime.max.replace(tzinfo=UTC))
_PLACES = 3000  # where spans of the inbox begin


def ask_change_of(append: Append, ask: Ask) -> Change:
    """Return the name of the query that changes an ask's row, and its parameters."""
    lease, opens = append.lease, isinstance(append, Opening)
    parameters = index_row(ask) if opens else _changes_of(append, ask)
    parameters["holder"] = lease.holder if lease else None
    parameters["span"] = _span(lease.span) if lease and lease.span else None
    parameters["people"], parameters["law"] = append.people, append.law
    if isinstance(append, Opening):
        parameters["likeness"] = ask.likeness if append.once else None
        parameters["paced"] = int(append.paced)
        return "open", parameters
    if append.event.kind in _MOVING:
        # What was edited asks something else than it did.
        edited = {"edited": append.event.kind == "ask.edited"}
        return "move", parameters | _place_of(ask) | edited
    if ask.effect is None and lease is None and not ask.held:
        return "judge", parameters
    effect = ask.effect
    parameters |= {"effect": effect.status if effect else None, "over": ask.over}
    parameters["spends"] = int(
        append.event.kind == "effect.intended" and effect is not None and effect.attempt == 1
    )
    return "grow", parameters


def _changes_of(append: Append, ask: Ask) -> dict[str, object]:
    return {
        "id": ask.id,
        "status": ask.status,
        "version": ask.version,
        "voters": _voters(ask),
        "roles": _roles(ask),
        "before": micros(append.before) if append.before else None,
        "held": append.held,
        "closed_at": micros(ask.closed_at) if ask.closed_at else None,
    }


def _roles(ask: Ask) -> str:
    """Return the roles an ask is for, as the index keeps them."""
    return f"|{'|'.join(ask.needs.roles)}|"


def _voters(ask: Ask) -> str:
    """Return who voted on the version shown now, as the index keeps it."""
    return f"|{'|'.join([vote.by.id for vote in ask.votes])}|"


INDEXED = (
    *("id", "ask_stream", "ask_kind", "status", "rank", "tier", "risk", "run", "thread", "key"),
    *("roles", "voters", "version", "opened_at", "due_at", "next_at", "latest", "agent"),
    *("assignee", "effect", "team", "tool", "closed_at"),
)


def index_row(ask: Ask) -> dict[str, object]:
    """Return what the index must say of an ask: all of it follows from the journal."""
    content = ask.content
    return {
        "id": ask.id,
        "ask_stream": ask.stream,
        "ask_kind": content.kind,
        "status": ask.status,
        "risk": content.risk,
        "run": content.run,
        "thread": content.thread,
        "key": ask.key,
        "roles": _roles(ask),
        "voters": _voters(ask),
        "version": ask.version,
        "opened_at": micros(ask.opened_at),
        "agent": None if _by_policy(ask) else content.agent,
        "effect": ask.effect.status if ask.effect else None,
        "team": content.team or "",
        "tool": ask.tool,
        "closed_at": micros(ask.closed_at) if ask.closed_at else None,
        **_place_of(ask),
    }


def _place_of(ask: Ask) -> dict[str, object]:
    """Return where an ask stands in the queue, and when the clock looks at it next."""
    due_at = micros(ask.due_at) if ask.due_at else None
    next_, said = next_at(ask), ask.content.ruled
    level = level_of(ask.content.risk, said.tier, said.rank)
    return {
        "rank": level.rank + INFORMATION if informs(ask.content) else level.rank,
        "tier": level.name if level.own and said.rank is not None else None,
        "due_at": due_at,
        "latest": _NEVER if due_at is None else due_at,
        "next_at": micros(next_) if next_ else None,
        "assignee": ask.assignee,
    }


def _by_policy(ask: Ask) -> bool:
    return ask.decision is not None and ask.decision.by.kind == "policy"


def person_parameters(person: Person, *, active: bool) -> dict[str, object]:
    """Return a person's row as query parameters."""
    return {
        "name": person.name,
        "roles": json.dumps(sorted(person.roles)),
        "teams": json.dumps(sorted(person.teams)),
        "active": int(active),
    }


def _at(now: datetime | None) -> dict[str, object]:
    return {} if now is None else {"now": micros(now)}


def _span(delta: timedelta) -> int:
    return delta // timedelta(microseconds=1)


def _place(cursor: str | None) -> tuple[int | None, int, int, int, str]:
    """Read the cursor of an inbox page; without one the first page begins before everything.

    It says from when on something expires soon, so that pages that follow each other fit together.
    """
    if cursor is None:
        return None, 0, -1, 0, ""
    match _parts(cursor):
        case [soon, place, latest, opened_at, last] if (
            _numbers(soon, place, latest, opened_at)
            and soon <= _LAST
            and place < _PLACES
            and is_id(last)
        ):
            return soon, place, latest, opened_at, last
        case _:
            raise _nowhere(cursor)


def _place_behind(cursor: str | None) -> tuple[int, str]:
    """Read the cursor of a page of what is closed."""
    if cursor is None:
        return _NEVER, ""
    match _parts(cursor):
        case [closed_at, last] if _numbers(closed_at) and is_id(last):
            return closed_at, last
        case _:
            raise _nowhere(cursor)


def _nowhere(cursor: str) -> BadValue:
    return BadValue(f"after={cursor!r} is no place in this list. Begin at its first page.")


def _parts(cursor: str) -> Any:  # noqa: ANN401 - whatever it says
    try:
        return json.loads(cursor)
    except (ValueError, TypeError, RecursionError):
        return None


def _numbers(*values: Any) -> bool:  # noqa: ANN401 - see `_parts`
    return all(type(value) is int and 0 <= value <= _NEVER for value in values)
