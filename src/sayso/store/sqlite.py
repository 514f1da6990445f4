"""The journal in one SQLite file: no service, no set-up.

WAL, and `synchronous=FULL`, because a decision must survive a power cut once it
was reported. Writers take turns (`BEGIN IMMEDIATE`); readers never wait.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from sayso.errors import (
    BadValue,
    Misuse,
    SchemaMismatch,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from sayso.model.event import Event, moment
from sayso.store.base import (
    ERASED,
    Row,
    SqlStore,
    ask_change_of,
    change_of,
    event_of,
    noted,
    person_parameters,
    woken_by,
)
from sayso.store.clock import Clock
from sayso.store.contract import Append, RunChange
from sayso.store.epochs import cursor_at, from_before, read_cursor
from sayso.store.fleet import ALIVE
from sayso.store.forking import DOOR
from sayso.store.grouping import Group
from sayso.store.named import Part
from sayso.store.pool import Pool
from sayso.store.private import make_private
from sayso.store.queries import FIRST, numbered, older, read_migrations, read_queries
from sayso.store.readers import COLUMNS

_MERGED = 200  # pages of an index that an erasure merges at once: a few milliseconds
POLL = 0.01  # how often a waiting process looks for commits of others; a look costs 5 microseconds

_WORDS = {
    "each_row": "json_each(:rows) one",
    "r": "(one.value)",
    **{f"r{n}": f"json_extract(one.value, '$[{n}]')" for n in range(COLUMNS)},
    "served": (
        "exists (select 1 from json_each(:serves) s "
        "where s.value in (r.workflow, r.workflow || '|' || r.path))"
        " and (r.code = '' or exists (select 1 from json_each(:serves) s"
        " where s.value = r.workflow || '|=' || r.code) or {left})"
    ),
    "left": (  # nobody who is alive has the code that it went on with
        "not exists (select 1 from workers w where w.seen_at > {now} - {alive}"
        " and instr(w.codes, '|' || r.workflow || '=' || r.code || '|') > 0)"
    ),
    "alive": str(int(ALIVE.total_seconds() * 1_000_000)),
    "guard": (
        "id = :id"
        " and coalesce(:before > {now}, 1)"
        " and not (:held and coalesce(lease_until <= {now}, 0))"
        " and {same_people} and {same_law}"
    ),
    "same_people": "(:people is null or :people = {people})",
    "same_law": "(:law is null or :law = coalesce({law}, x''))",
    "now": ":now",
    "roster": (
        "case when exists (select 1 from people where active = 1) then"
        " (select json_group_object(name, json_array(json(roles), json(teams)))"
        " from people where active = 1) end"
    ),
    "people": "(select coalesce(max(p.seq), 0) from events p where p.stream = 'people')",
    "law": "(select l.hash from events l where l.stream = 'law' order by l.seq desc limit 1)",
    "roles": (
        "(:roles is null or exists "
        "(select 1 from json_each(:roles) r where instr(a.roles, r.value) > 0))"
    ),
    "seen": "(:teams is null or team = '' or team in (select value from json_each(:teams)))",
    "walk_begins": "",
    "walk_ends": "",
    "of_actors": "(:actors is null or t.actor in (select value from json_each(:actors)))",
    "of_kinds": "(:kinds is null or t.kind in (select value from json_each(:kinds)))",
    "behind_colon": "substr(cursor, instr(cursor, ':') + 1)",
    "among": "in (select value from json_each(:ids))",
    "never": "4611686018427387904",
    "none": "'[]'",
    "as_many": "json_array_length(f.ids)",
    "gathered": "json_group_array(g.id)",
    "each": "json_each(walk.ids) j",
    "matching": (
        "select t.id from text_words join texts t on t.pos = text_words.rowid"
        " where text_words match :match"
    ),
    "locked": "",
    "held": "",
    "unsynced": "true",
    "shared": "",
}


class SQLiteStore(SqlStore):
    """A desk in a file."""

    _sign = "?"

    def __init__(self, path: str, clock: Clock, *, timeout: float = 5.0) -> None:
        super().__init__(f"sqlite:///{path}", clock)
        self.path = Path(path).absolute()  # a program may change its folder meanwhile
        self._uri = f"{self.path.as_uri()}?mode=rw"
        self._timeout = timeout
        self._queries = read_queries("sqlite", _WORDS)
        self._sql = {name: numbered(sql, self._sign) for name, sql in self._queries.items()}
        self._note, _ = self._sql["note"]
        self._note_lawful, _ = self._sql["note_lawful"]
        self._steps = read_migrations("sqlite")
        self._pool = Pool(self._connect, sqlite3.Error, self._explained, door=DOOR)
        self._lent = self._pool.lend
        # For commits that must survive the death of this process, not of the machine.
        self._hasty = Pool(self._connect_hasty, sqlite3.Error, self._explained, door=DOOR)
        self._eyes: set[_Eye] = set()
        # Threads of this process queue here: SQLite's own way to wait for a lock is to sleep. Always
        # inside a loan, so that nobody waits in it while the process forks.
        self._group = Group()
        self._file: tuple[int, int] | None = None  # which one it is that was opened
        DOOR.keepers.add(self)

    def let_go(self) -> None:
        """Close every connection, because the process is about to fork."""
        self._pool.close()
        self._hasty.close()
        for eye in tuple(self._eyes):
            eye.close()

    def _connect(self) -> sqlite3.Connection:
        make_private(self.path)  # SQLite would let everybody read what it creates
        connection = sqlite3.connect(
            self._uri,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )
        try:
            self._file = self._file or self._there()
            self._check_there()
            self._set_up(connection)
            self._upgrade(connection)
            self._check_copy(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_hasty(self) -> sqlite3.Connection:
        connection = self._connect()
        connection.execute("pragma synchronous = normal")
        return connection

    def _there(self) -> tuple[int, int] | None:
        """Return which file stands at the path now."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _check_there(self) -> None:
        """Refuse to go on with a file that nobody else can find any more."""
        there = self._there()
        if there != self._file:
            gone = "is gone" if there is None else "is another one by now"
            raise StoreUnavailable(
                f"The file {self.path} {gone}: what this program still writes is lost when it ends. "
                "Stop it, put the file back (a backup, if there is one), and start it again."
            )

    def _set_up(self, connection: sqlite3.Connection) -> None:
        """Choose WAL. While two programs make a new file, SQLite does not wait for its turn here."""
        patience = time.monotonic() + self._timeout
        connection.execute("pragma page_size = 4096")
        while True:
            try:
                connection.execute("pragma journal_mode = wal")
                break
            except sqlite3.OperationalError as error:
                if (
                    error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY
                    or time.monotonic() > patience
                ):
                    raise
                time.sleep(0.005)
        connection.execute("pragma synchronous = full")
        connection.execute("pragma secure_delete = on")  # what is erased must not stay readable

    def _check_copy(self, connection: sqlite3.Connection) -> None:
        self._restored = None
        taken = self._run(connection, "copied_at", {}).fetchone()[0]
        if taken is not None and not self._putting_right:
            raise SchemaMismatch(
                f"{self.path} is a backup, taken on {moment(taken):%Y-%m-%d %H:%M:%S} UTC: what "
                "happened after that is not known here. Put it right before anybody acts: "
                f"sayso db restored --desk {self.url}"
            )

    def _upgrade(self, connection: sqlite3.Connection) -> list[str]:
        if self._behind(connection) == []:
            return []
        connection.execute("begin immediate")
        try:
            # Look again inside the lock: another process may have done it meanwhile.
            steps = self._behind(connection)
            for number, _, sql in steps:
                for statement in _statements(sql):
                    connection.execute(statement)
                connection.execute(f"pragma user_version = {number}")
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise
        return [name for _, name, _ in steps]

    def _behind(self, connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
        """Return the steps this file has not taken yet."""
        newest = self._steps[-1][0]
        found: int = connection.execute("pragma user_version").fetchone()[0]
        if found > newest:
            raise SchemaMismatch(
                f"{self.path} was written by a newer sayso (schema {found}; this program knows "
                f"{newest}). Upgrade this program: pip install --upgrade sayso"
            )
        if 0 < found < FIRST:
            raise SchemaMismatch(f"{self.path} {older(found)}")
        return [step for step in self._steps if step[0] > found]

    def _rows(self, name: str, **parameters: object) -> list[Row]:
        parameters.setdefault("now", self._now())
        with self._lent() as connection:
            return self._run(connection, name, parameters).fetchall()

    def _run(
        self, connection: sqlite3.Connection, name: str, parameters: dict[str, object]
    ) -> sqlite3.Cursor:
        sql, names = self._sql[name]
        return connection.execute(sql, [parameters[name] for name in names])

    def _unsynced(self, name: str, **parameters: object) -> list[Row]:
        def work(connection: sqlite3.Connection) -> list[Row]:
            parameters["now"] = self._now()
            cursor = self._run(connection, name, parameters)
            return cursor.fetchall() if cursor.description else [(1,)] * cursor.rowcount

        with self._hasty.lend() as connection:
            rows: list[Row] = self._group.write(connection, work, synced=False)
            return rows

    def _write(
        self,
        appends: Sequence[Append],
        erase: Sequence[tuple[str, int]],
        run: RunChange | None = None,
        *,
        synced: bool = True,
    ) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            try:
                return self._put_all(connection, appends, erase, run)
            except sqlite3.IntegrityError:  # lost a race, or the id or the key is taken
                return False

        with (self._pool if synced else self._hasty).lend() as connection:
            written: bool = self._group.write(connection, work, synced=synced)
            if erase and written:
                self._purge(connection)
            return written

    def _put_all(
        self,
        connection: sqlite3.Connection,
        appends: Sequence[Append],
        erase: Sequence[tuple[str, int]],
        run: RunChange | None,
    ) -> bool:
        now = self._now()
        written = run is None or self._steered(connection, run, now)
        written = written and all(self._put(connection, append, now) for append in appends)
        for stream, seq in erase if written else ():
            self._run(connection, "erase", {"stream": stream, "seq": seq})
        for name in ERASED if erase and written else ():
            self._run(connection, name, {"stream": erase[0][0]})
        return written

    def _purge(self, connection: sqlite3.Connection) -> None:
        """Let nothing that was erased stay readable in the file.

        In many short transactions, so that others get their turn. Whatever is not done, because
        somebody keeps the file busy or this program dies, the next erasure does.
        """
        with suppress(sqlite3.OperationalError):
            for name in ("purge_case_words", "purge_text_words"):
                self._merge(connection, name)
        # The write-ahead log holds what was erased until it is emptied. Somebody who reads just now
        # may keep it for a moment longer.
        with self._group.alone():
            connection.execute("pragma wal_checkpoint(truncate)")

    def _merge(self, connection: sqlite3.Connection, name: str) -> None:
        pages = -_MERGED
        while True:
            with self._group.alone():
                before = connection.total_changes
                self._run(connection, name, {"pages": pages})
                if connection.total_changes - before < 2:  # FTS5 says so that nothing is left
                    return
            pages = _MERGED

    def _steered(self, connection: sqlite3.Connection, run: RunChange, now: int | None) -> bool:
        name, parameters = change_of(run)
        parameters["now"] = now
        return self._run(connection, name, parameters).rowcount == 1

    def _put(self, connection: sqlite3.Connection, append: Append, now: int | None) -> bool:
        run_id = woken_by(append)
        if run_id is not None:
            woken = f"|{append.event.stream}|"
            self._run(connection, "run_wake", {"run_id": run_id, "woken": woken, "now": now})
        if append.ask is not None:
            name, parameters = ask_change_of(append, append.ask)
            parameters["now"] = now
            if self._run(connection, name, parameters).rowcount == 0:
                return False  # too late
        note, event = self._note, noted(append.event)
        if append.law is not None and append.ask is None:  # else the row of the ask is the guard
            note, event = self._note_lawful, (*event, append.law)
        if connection.execute(note, event).rowcount == 0:
            return False  # it follows an event that is not here, or rests on a law of before
        if append.person is not None:
            person = person_parameters(append.person, active=append.active)
            self._run(connection, "put_person", person)
        return all(
            self._run(connection, change.query, change.values).rowcount or not change.needed
            for change in append.beside
        )

    def _together(self, parts: Sequence[Part], *, fenced: bool) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            now = self._now()
            for number, (name, parameters) in enumerate(parts):
                written = self._run(connection, name, {"now": now, **parameters})
                if fenced and number == 0 and written.rowcount == 0:
                    return False
            return True

        with self._hasty.lend() as connection:
            written: bool = self._group.write(connection, work, synced=False)
            return written

    def _any_of(self, words: Sequence[str]) -> str:
        return " OR ".join(f'"{word}"' for word in words)

    def _all_of(self, words: Sequence[str], state: str) -> str:
        wanted = " AND ".join(f'"{word}"' for word in words)
        return f'state : "{state}" AND words : ({wanted} *)' if words else 'state : "none"'

    def _roles(self, roles: Sequence[str] | None) -> object:
        return None if roles is None else json.dumps([f"|{role}|" for role in roles])

    def _ids(self, ids: Sequence[str]) -> object:
        return json.dumps(list(ids))

    def _names(self, names: Sequence[str]) -> object:
        return json.dumps(list(names))

    def tail(self, after: str | None, limit: int, *, kept_here: bool = False) -> list[Event]:
        """Return events after a cursor. Writers take turns, so rowid order is commit order."""
        del kept_here  # a crash that took a commit of this file took its readers, too
        epoch, place = read_cursor(after or "0")
        if "." in place:
            raise BadValue(f"{after!r} is no cursor of this desk's events.")
        given = {"pos": int(place), "epoch": epoch if after else None}
        rows = self._rows("tail", limit=limit, **given)
        if not rows and self._rows("ahead", **given)[0][0]:
            raise from_before(after)
        return [event_of(row, cursor_at(row[0], str(row[1]))) for row in rows]

    def tip(self) -> str:
        """Return the cursor of the newest event."""
        epoch, pos = self._rows("tip")[0]
        return cursor_at(epoch, str(pos))

    def backup(self, file: Path) -> None:
        """Copy the desk into a file, while others write.

        Raises:
            Misuse: the file is there already, or its folder is not.
            StoreUnavailable: it cannot be written.
        """
        if file.exists():
            raise Misuse(f"{file} is there already. Name another file, or remove it.")
        if not file.parent.is_dir():
            raise Misuse(
                f"There is no folder {file.parent} to write {file.name} into. Make it first."
            )
        part = file.with_name(f"{file.name}.part")
        part.unlink(missing_ok=True)
        try:
            part.touch(mode=0o600, exist_ok=False)  # it holds what the desk holds
            with closing(sqlite3.connect(part, isolation_level=None)) as copy:
                with self._lent() as connection:
                    connection.backup(copy)  # one moment of it all; in WAL nobody waits for it
                self._run(copy, "mark_copy", {"now": self._now()})
                copy.execute("pragma journal_mode = delete")  # one file, nothing beside it
            part.rename(file)
        except (sqlite3.Error, OSError) as error:
            part.unlink(missing_ok=True)
            raise StoreUnavailable(f"{file} could not be written: {error}.") from error

    def _watch(self, ring: Callable[[], None], wanted: Callable[[], bool]) -> None:
        tick = threading.Event()
        seen = None
        eye = _Eye()  # of this thread alone: the one before it may still be closing its own
        self._eyes.add(eye)
        try:
            while wanted():
                version = self._version(eye)
                if version != seen:
                    ring()
                seen = version
                tick.wait(POLL)
        finally:
            with DOOR:
                self._eyes.discard(eye)
                eye.close()

    def _version(self, eye: _Eye) -> tuple[int, int]:
        """Return what changes with every commit of another connection, and with each of ours."""
        with DOOR:
            if eye.connection is None:
                eye.connection = self._connect()
            found = eye.connection.execute("pragma data_version").fetchone()
            return id(eye.connection), found[0]

    def schema(self) -> tuple[int, int]:
        """Return the version of the file, and the newest this program knows.

        Raises:
            StoreUnavailable: the file was deleted or replaced since it was opened.
        """
        with self._lent() as connection:
            found = connection.execute("pragma user_version").fetchone()[0]
        self._check_there()
        return found, self._steps[-1][0]

    def migrate(self) -> list[str]:
        """Bring the file up to date. Opening it did already."""
        with self._lent() as connection:
            return self._upgrade(connection)

    def health(self) -> dict[str, str]:
        """Return what `sayso doctor` shows."""
        with self._lent() as connection:
            mode = connection.execute("pragma journal_mode").fetchone()[0]
            sync = connection.execute("pragma synchronous").fetchone()[0]
            check = connection.execute("pragma quick_check(1)").fetchone()[0]
        return {
            "file": str(self.path),
            "sqlite": sqlite3.sqlite_version,
            "size": f"{self.path.stat().st_size:,} bytes",
            "journal_mode": mode,
            "synchronous": {0: "off", 1: "normal", 2: "full", 3: "extra"}[sync],
            "integrity": check,
        }

    def close(self) -> None:
        """Let go of the watching thread and of idle connections."""
        self.bell.close()
        self._pool.close()
        self._hasty.close()
        self._file = None

    def _explained(self, error: sqlite3.Error) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        where = str(self.path)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreBusy(
                f"{where} was locked by another program for {self._timeout:g} s, so nothing was "
                "written. Try again; if it stays locked, look for a program that holds it open."
            )
        if code == sqlite3.SQLITE_FULL:
            return StoreFull(
                f"There is no room left for {where}, so nothing was written. Free some disk space "
                "and try again."
            )
        if code == sqlite3.SQLITE_READONLY:
            return StoreUnavailable(f"{where} is read-only for this account. Nothing was written.")
        if code == sqlite3.SQLITE_CANTOPEN:
            return StoreUnavailable(
                f"{where} cannot be opened: does its folder exist, and may this account write there?"
            )
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return StoreUnavailable(
                f"{where} is not a SQLite database, or is damaged ({error}). Restore it from a "
                "backup or name another file."
            )
        return StoreUnavailable(f"{where}: {error}. Nothing was written.")


class _Eye:
    """The connection through which one thread watches for commits of others."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def _statements(script: str) -> Iterator[str]:
    """Split a migration into statements; `executescript` would commit behind our back."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
