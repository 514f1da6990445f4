"""The journal in PostgreSQL, for a fleet.

A unit of work is one guarded statement, so one round trip. Time is the
database's, so that all machines agree on deadlines and leases. NOTIFY only
hints that something happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import psycopg
from psycopg import conninfo, errors

from sayso.errors import (
    BadValue,
    SchemaMismatch,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from sayso.model.event import Event
from sayso.store.address import without_password
from sayso.store.base import (
    ERASED,
    Row,
    SqlStore,
    ask_change_of,
    change_of,
    event_of,
    noted,
    noted_next,
    person_parameters,
    woken_by,
)
from sayso.store.clock import Clock
from sayso.store.contract import Append, RunChange
from sayso.store.epochs import cursor_at, from_before, read_cursor
from sayso.store.fleet import ALIVE, Idler, Strain
from sayso.store.named import Part as NamedPart
from sayso.store.pool import Pool
from sayso.store.queries import FIRST, joined, numbered, older, read_migrations, read_queries
from sayso.store.readers import COLUMNS
from sayso.store.wakeups import PostgresWakeups

Connection = psycopg.Connection[tuple[Any, ...]]
Part = tuple[str, Sequence[object]]  # a named query and its values

# A steered clock (tests) passes its time; otherwise the parameter is null and the server's counts.
_NOW = "coalesce(cast(:now as bigint), cast(extract(epoch from clock_timestamp()) * 1000000 as bigint))"
_WORDS = {
    "each_row": "jsonb_array_elements(cast(:rows as jsonb)) with ordinality one (value, key)",
    "r": "one.value #>> '{}'",
    **{f"r{n}": f"one.value ->> {n}" for n in range(COLUMNS)},
    "served": (
        "(r.workflow = any(:serves) or r.workflow || '|' || r.path = any(:serves))"
        " and (r.code = '' or r.workflow || '|=' || r.code = any(:serves) or {left})"
    ),
    "left": (  # nobody who is alive has the code that it went on with
        "not exists (select 1 from workers w where w.seen_at > {now} - {alive}"
        " and strpos(w.codes, '|' || r.workflow || '=' || r.code || '|') > 0)"
    ),
    "alive": str(int(ALIVE.total_seconds() * 1_000_000)),
    "guard": (
        "id = :id"
        " and coalesce(cast(:before as bigint) > {now}, true)"
        " and not (:held and coalesce(lease_until <= {now}, false))"
        " and {same_people} and {same_law}"
    ),
    "same_people": "(cast(:people as bigint) is null or cast(:people as bigint) = {people})",
    "same_law": (
        "(cast(:law as bytea) is null or cast(:law as bytea) = coalesce({law}, cast('' as bytea)))"
    ),
    "now": _NOW,
    "roster": (
        "(select cast(json_object_agg(name,"
        " json_build_array(cast(roles as json), cast(teams as json))) as text)"
        " from people where active = 1)"
    ),
    "people": "(select coalesce(max(p.seq), 0) from events p where p.stream = 'people')",
    "law": "(select l.hash from events l where l.stream = 'law' order by l.seq desc limit 1)",
    "roles": (
        "(cast(:roles as text[]) is null or exists "
        "(select 1 from unnest(cast(:roles as text[])) r where strpos(a.roles, r) > 0))"
    ),
    "seen": ("(cast(:teams as text[]) is null or team = '' or team = any(cast(:teams as text[])))"),
    "walk_begins": "(",
    "walk_ends": " order by at desc, n desc limit :steps)",
    "of_actors": "(cast(:actors as text[]) is null or t.actor = any(cast(:actors as text[])))",
    "of_kinds": "(cast(:kinds as text[]) is null or t.kind = any(cast(:kinds as text[])))",
    "behind_colon": "substr(cursor, strpos(cursor, ':') + 1)",
    "among": "= any(cast(:ids as text[]))",
    "never": "cast(4611686018427387904 as bigint)",
    "none": "cast('{}' as text[])",
    "as_many": "cardinality(f.ids)",
    "gathered": "coalesce(array_agg(g.id), cast('{}' as text[]))",
    "each": "unnest(walk.ids) j (value)",
    "matching": "select t.id from texts t where t.lexemes @@ cast(:match as tsquery)",
    "locked": "for update skip locked",
    "held": "for update",
    "unsynced": "set_config('synchronous_commit', 'off', true) = 'off'",
    "shared": "for share of e",
}

# A transaction left open holds back the live tail of everybody, so the server ends it.
_OPTIONS = (
    "-c idle_in_transaction_session_timeout=10s -c synchronous_commit=on -c lock_timeout=5s"
    " -c statement_timeout=60s"
    " -c default_transaction_isolation=read\\ committed"
    # And the other way round: sessions of a machine that was cut off do not stay for hours.
    " -c tcp_user_timeout=15s -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5"
    " -c tcp_keepalives_count=3"
)
_HINT_EVERY = 1.0
_LISTEN_FOR = 0.2  # at most this long until a closing store is noticed
_MOST_PARTS = 8  # in one statement: every combination of parts is a statement to be prepared
_WAKE = "run_wake"


class _Lost(Exception):
    """Somebody was faster; raised to roll the transaction back."""


class PostgresStore(SqlStore):
    """A desk in a PostgreSQL database."""

    _sign = "$"

    def __init__(self, url: str, clock: Clock) -> None:
        super().__init__(without_password(url), clock)
        self._conninfo = url
        self._queries = read_queries("postgres", _WORDS)
        self._sql = {name: numbered(sql, self._sign) for name, sql in self._queries.items()}
        self._wholes: dict[tuple[str, ...], str] = {}
        self._steps = read_migrations("postgres")
        self._pool = Pool(self._connect, psycopg.Error, self._explained)
        self._lent = self._pool.lend
        self._ahead: timedelta | None = None  # how far the server's clock is ahead of ours
        self._unsure = timedelta()
        self.wakeups = PostgresWakeups(self._lent, self._address, self._queries)

    def _address(self) -> dict[str, Any]:
        """Return what libpq is told; it may hold a password."""
        given: dict[str, Any] = {
            "application_name": "sayso",
            "connect_timeout": 10,
            # A server that froze or was cut off is noticed: what is sent must arrive within 15
            # seconds, and who only listens asks after 10 whether it is still there.
            "tcp_user_timeout": 15_000,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
        }
        given |= conninfo.conninfo_to_dict(self._conninfo)
        given["options"] = f"{_OPTIONS} {given.get('options') or ''}".strip()
        return given

    def _dial(self) -> Connection:
        given = self._address()
        # Queries with $1 as they are: reading them for %(name)s takes as long as a small one.
        return psycopg.connect(
            conninfo.make_conninfo(**given), autocommit=True, cursor_factory=psycopg.RawCursor
        )

    def _compare_clocks(self, connection: Connection) -> None:
        """Note how far the server's clock is ahead of ours, as exactly as it was ever seen.

        The way of the question and of the answer is not known; a shorter way is a better look.
        A clock that was set meanwhile shows by a difference that the ways cannot explain.
        """
        asked = self._clock.now()
        row = connection.execute("select clock_timestamp()").fetchone()
        heard = self._clock.now()
        if row is None:
            return
        unsure = (heard - asked) / 2
        ahead = row[0] - asked - unsure
        known = self._ahead
        if known is None or unsure < self._unsure or abs(ahead - known) > unsure + self._unsure:
            self._ahead, self._unsure = ahead, unsure

    def _connect(self) -> Connection:
        connection = self._dial()
        try:
            self._check(connection)
            self._check_restored(connection)
            self._compare_clocks(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: Connection) -> None:
        found, newest = _found(connection), self._steps[-1][0]
        if 0 < found < FIRST:
            raise SchemaMismatch(f"{self.url} {older(found)}")
        if found < newest:
            state = "has no sayso tables yet" if found == 0 else f"is at schema {found}"
            raise SchemaMismatch(
                f"{self.url} {state}; this program needs schema {newest}. "
                f"Run: sayso db migrate --desk {self.url}"
            )
        if found > newest:
            raise SchemaMismatch(
                f"{self.url} was migrated by a newer sayso (schema {found}; this program knows "
                f"{newest}). Upgrade this program: pip install --upgrade sayso"
            )

    def _now(self) -> int | None:
        return super()._now() if self._clock.steered else None

    def now(self) -> datetime:
        """Return the database's time as last compared, or the steered clock's."""
        if self._clock.steered:
            return self._clock.now()
        if self._ahead is None:
            with self._lent():  # dialling sets it
                pass
        return self._clock.now() + (self._ahead or timedelta())

    def _rows(self, name: str, **parameters: object) -> list[Row]:
        try:
            return self._asked(name, parameters)
        except StoreUnavailable:
            # After a restart of the server every idle connection is broken: try a new one, once.
            self._pool.close()
            return self._asked(name, parameters)

    def _asked(self, name: str, parameters: dict[str, object]) -> list[Row]:
        with self._lent() as connection:
            cursor = self._run(connection, name, parameters)
            # `cursor.description` would tell as well, but describes every column to do so.
            return list(cursor.fetchall()) if cursor.pgresult and cursor.pgresult.nfields else []

    def _unsynced(self, name: str, **parameters: object) -> list[Row]:
        with self._lent() as connection:
            cursor = self._run(connection, name, parameters)
            return list(cursor.fetchall()) if cursor.description else [(1,)] * cursor.rowcount

    def _write(
        self,
        appends: Sequence[Append],
        erase: Sequence[tuple[str, int]],
        run: RunChange | None = None,
        *,
        synced: bool = True,
    ) -> bool:
        try:
            with self._lent() as connection:
                return self._attempt(connection, appends, erase, run, synced=synced)
        except StoreUnavailable:
            self._pool.close()
        # The connection broke somewhere around the commit, perhaps because the server had been
        # started anew. Our event has a hash that nobody else can have written, so the journal
        # knows whether the commit took place; if it did not, the same is written once more.
        if appends and self._arrived(appends[0].event):
            return True
        with self._lent() as connection:
            return self._attempt(connection, appends, erase, run, synced=synced) or (
                bool(appends) and self._arrived(appends[0].event)
            )

    def _attempt(
        self,
        connection: Connection,
        appends: Sequence[Append],
        erase: Sequence[tuple[str, int]],
        run: RunChange | None,
        *,
        synced: bool,
    ) -> bool:
        parts = self._parts(appends, run)
        try:
            if synced and len(parts) <= _MOST_PARTS and not erase and _apart(appends):
                return self._at_once(connection, parts)
            with connection.transaction():
                if not synced:
                    connection.execute("set local synchronous_commit = off")
                self._in_turn(connection, parts, appends, erase)
            return True
        # Lost a race, in whatever words, or the idempotency key is taken.
        except (
            _Lost,
            errors.DivisionByZero,
            errors.UniqueViolation,
            errors.DeadlockDetected,
            errors.SerializationFailure,
        ):
            return False

    def _parts(self, appends: Sequence[Append], run: RunChange | None) -> list[Part]:
        """Return what is to be written, query by query.

        Runs before asks, and both in one order: two who want the same must not wait for each other.
        """
        now = self._now()
        parts = [] if run is None else [self._part(*change_of(run), now)]
        wakes = [
            (run_id, append.event.stream) for append in appends if (run_id := woken_by(append))
        ]
        for run_id, ask_id in sorted(wakes):
            parts.append(self._part(_WAKE, {"run_id": run_id, "woken": f"|{ask_id}|"}, now))
        place: tuple[object, ...] = ()  # behind the last event
        for append in sorted(appends, key=lambda append: append.event.stream):
            if append.ask is not None:
                parts.append(self._part(*ask_change_of(append, append.ask), now))
            event = append.event
            next_ = place == (event.stream, event.seq, event.previous)
            name, values = ("note_next", noted_next(event)) if next_ else ("note", noted(event))
            if append.law is not None and append.ask is None:  # else its row is the guard
                name, values = f"{name}_lawful", (*values, append.law)
            parts.append((name, values))
            place = event.stream, event.seq + 1, event.hash
        return parts

    def _part(self, name: str, parameters: dict[str, object], now: int | None) -> Part:
        parameters["now"] = now
        return name, [parameters[each] for each in self._sql[name][1]]

    def _at_once(self, connection: Connection, parts: Sequence[Part]) -> bool:
        """Write everything as one statement: one round trip, and a commit of its own."""
        names = tuple([name for name, _ in parts])
        whole = self._wholes.get(names)
        if whole is None:
            queries = [self._queries[name] for name in names]
            whole = self._wholes[names] = joined(queries, [name == _WAKE for name in names])
        values = [value for _, given in parts for value in given]
        return connection.execute(whole, values).fetchone() is not None

    def _in_turn(
        self,
        connection: Connection,
        parts: Sequence[Part],
        appends: Sequence[Append],
        erase: Sequence[tuple[str, int]],
    ) -> None:
        """Write one after the other what does not fit into one statement."""
        for name, values in parts:
            written = connection.execute(self._sql[name][0], values)
            if written.rowcount == 0 and name != _WAKE:
                raise _Lost
        for append in appends:
            if append.person is not None:
                person = person_parameters(append.person, active=append.active)
                self._run(connection, "put_person", person)
            for change in append.beside:
                written = self._run(connection, change.query, change.values)
                if written.rowcount == 0 and change.needed:
                    raise _Lost
        for stream, seq in erase:
            self._run(connection, "erase", {"stream": stream, "seq": seq})
        for name in ERASED if erase else ():
            self._run(connection, name, {"stream": erase[0][0]})
        connection.execute("select pg_notify('sayso', '')")

    def _run(
        self, connection: Connection, name: str, parameters: dict[str, object]
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        sql, names = self._sql[name]
        parameters.setdefault("now", self._now())
        return connection.execute(sql, [parameters[each] for each in names])

    def _arrived(self, event: Event) -> bool:
        found = self.stream(event.stream, event.seq - 1)
        return bool(found) and found[0].hash == event.hash

    def _together(self, parts: Sequence[NamedPart], *, fenced: bool) -> bool:
        lost = False
        with self._lent() as connection, connection.transaction():
            connection.execute("set local synchronous_commit = off")
            if self._putting_right:  # the whole journal may be numbered anew
                connection.execute("set local statement_timeout = 0")
            for number, (name, parameters) in enumerate(parts):
                written = self._run(connection, name, parameters)
                lost = fenced and number == 0 and written.rowcount == 0
                if lost:
                    raise psycopg.Rollback
        return not lost

    def _any_of(self, words: Sequence[str]) -> str:
        return " | ".join(f"'{word}'" for word in words)

    def _all_of(self, words: Sequence[str], state: str) -> str:
        wanted = " & ".join(f"'{word}'" for word in words)
        return f"'={state}' & {wanted}:*" if words else "'=none'"

    def _names(self, names: Sequence[str]) -> object:
        return list(names)

    def _roles(self, roles: Sequence[str] | None) -> object:
        return None if roles is None else [f"|{role}|" for role in roles]

    def tail(self, after: str | None, limit: int, *, kept_here: bool = False) -> list[Event]:
        """Return events after a cursor, but none newer than the oldest running transaction."""
        epoch, place = read_cursor(after or "0.0")
        xid, dot, pos = place.partition(".")
        if not dot:
            raise BadValue(f"{after!r} is no cursor of this desk's events.")
        given = {"xid": xid, "epoch": epoch if after else None}
        name = "tail" if kept_here else "tail_lasting"
        rows = self._rows(name, pos=int(pos), limit=limit, **given)
        if not rows and self._rows("ahead", **given)[0][0]:
            raise from_before(after)
        return [event_of(row, cursor_at(row[0], f"{row[1]}.{row[2]}")) for row in rows]

    def tip(self) -> str:
        """Return the cursor behind which the next events will come."""
        epoch, xid = self._rows("tip")[0][:2]
        return cursor_at(epoch, f"{xid}.0")

    def _watch(self, ring: Callable[[], None], wanted: Callable[[], bool]) -> None:
        with self._lent() as connection:
            connection.execute("listen sayso")
            ring()  # whatever came before we listened
            try:
                quiet = 0.0
                while wanted():
                    told = list(connection.notifies(timeout=_LISTEN_FOR, stop_after=1))
                    quiet = 0.0 if told else quiet + _LISTEN_FOR
                    # A hint may get lost; somebody who waits then looks on their own.
                    if told or quiet >= _HINT_EVERY:
                        quiet = 0.0
                        ring()
            finally:
                if not connection.closed:
                    connection.execute("unlisten sayso")

    def schema(self) -> tuple[int, int]:
        """Return the version of the database, and the newest this program knows."""
        with self._unchecked() as connection:
            return _found(connection), self._steps[-1][0]

    def migrate(self) -> list[str]:
        """Bring the tables up to date, all steps in one transaction; safe to run from two places."""
        taken = []
        with self._unchecked() as connection, connection.transaction():
            connection.execute("set local statement_timeout = 0")
            connection.execute("set local lock_timeout = 0")  # whoever migrates will be done
            connection.execute("select pg_advisory_xact_lock(hashtext('sayso migrate'))")
            connection.execute("set local lock_timeout = '5s'")
            found = _found(connection)
            if 0 < found < FIRST:
                raise SchemaMismatch(f"{self.url} {older(found)}")
            if found == 0:
                connection.execute("create table if not exists sayso_schema (version int not null)")
                connection.execute("insert into sayso_schema values (0)")
            for number, name, sql in self._steps:
                if number > found:
                    connection.execute(sql)
                    connection.execute("update sayso_schema set version = $1", (number,))
                    taken.append(name)
        return taken

    def _check_restored(self, connection: Connection) -> None:
        self._restored = None  # it may have happened under us
        row = connection.execute(self._queries["restored"]).fetchone()
        if row is not None and row[0] and not self._putting_right:
            raise SchemaMismatch(
                f"{self.url} was restored from a backup: what happened after that was taken is not "
                f"known here. Put it right before anybody acts: sayso db restored --desk {self.url}"
            )

    def _renumbering(self) -> list[NamedPart]:
        ahead = self._rows("numbered_ahead")[0][0]
        return [("renumber_webhooks", {}), ("renumber", {})] if ahead else []

    @contextmanager
    def _unchecked(self) -> Iterator[Connection]:
        """Open a connection of its own to a database whose schema may be old."""
        try:
            with self._dial() as connection:
                yield connection
        except psycopg.Error as error:
            raise self._explained(error) from error

    def health(self) -> dict[str, str]:
        """Return what `sayso doctor` shows."""
        with self._lent() as connection:
            settings = {
                name: connection.execute(f"show {name}").fetchone()
                for name in ("server_version", "fsync", "synchronous_commit")
            }
            row = connection.execute("select pg_database_size(current_database())").fetchone()
        shown = {name: str(value[0]) for name, value in settings.items() if value}
        return {"server": self.url, "size": f"{row[0]:,} bytes" if row else "?", **shown}

    def strain(self, idle: timedelta) -> Strain | None:
        """Return how the server stands, as far as this account may see it."""
        most, reserved, connections = self._rows("connections")[0]
        idlers = tuple(Idler._make(row) for row in self._rows("idlers", span=idle))
        return Strain(connections, most - reserved, idlers, self._ahead or timedelta())

    def close(self) -> None:
        """Let go of the watching thread and of idle connections."""
        self.bell.close()
        self._pool.close()

    def _explained(self, error: psycopg.Error) -> StoreError:
        if isinstance(
            error, (errors.LockNotAvailable, errors.QueryCanceled, errors.DeadlockDetected)
        ):
            return StoreBusy(f"{self.url} was busy for too long. Nothing was written; try again.")
        if isinstance(error, errors.DiskFull):
            return StoreFull(f"{self.url} has no room left. Nothing was written.")
        if isinstance(error, (errors.UndefinedTable, errors.UndefinedColumn)):
            return SchemaMismatch(
                f"{self.url} lacks tables. Run: sayso db migrate --desk {self.url}"
            )
        if isinstance(error, psycopg.DataError | psycopg.ProgrammingError):
            return StoreError(f"{self.url} does not take this: {error}. Nothing was written.")
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        return StoreUnavailable(
            f"{self.url} is not reachable, or the connection broke: {first}. Nothing is half "
            "written; check the server (sayso doctor) and try again."
        )


def _apart(appends: Sequence[Append]) -> bool:
    """Whether one statement can write them: it changes no row twice, and nothing beside asks."""
    asks = [append.event.stream for append in appends if append.ask is not None]
    plain = all(append.person is None and not append.beside for append in appends)
    return plain and len(set(asks)) == len(asks)


def _found(connection: Connection) -> int:
    row = connection.execute("select to_regclass('sayso_schema')").fetchone()
    if row is None or row[0] is None:
        return 0
    version = connection.execute("select version from sayso_schema").fetchone()
    return int(version[0]) if version else 0
