"""What brings workers to runs: threads that look for themselves, or an engine that wakes them.

The row decides who may carry a run on, here as there. A wake-up that is lost,
doubled, late or out of order changes when something happens, never what.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, Protocol

from sayso.errors import Misuse, SchemaMismatch
from sayso.runs.worker import Crew
from sayso.store.contract import Store, Wakeups

Engine = Literal["threads", "procrastinate"]
ENGINES: tuple[Engine, ...] = ("threads", "procrastinate")


class Dispatcher(Protocol):
    """Carries runs on in the background."""

    @property
    def engine(self) -> Engine:
        """What wakes it."""
        ...

    def start(self) -> None:
        """Begin."""
        ...

    def stop(self, patience: float) -> None:
        """Let every run go at its next verb, and wait that many seconds for it."""
        ...


class Threads:
    """Threads that hear the bell of the store, and look for themselves once a second."""

    engine: Engine = "threads"

    def __init__(self, crew: Crew, threads: int) -> None:
        self._crew = crew
        self._threads = threads

    def start(self) -> None:
        """Begin."""
        self._crew.shift()
        self._crew.sign_on()
        self._crew.start(self._threads)

    def stop(self, patience: float) -> None:
        """Let every run go at its next verb, and wait for that."""
        self._crew.stop(patience)


def dispatcher(crew: Crew, store: Store, threads: int, engine: Engine | None = None) -> Dispatcher:
    """Return what was asked for; else the engine where it is installed, else threads.

    Raises:
        Misuse: the engine was asked for and is not there.
        SchemaMismatch: its tables are older or newer than the library.
    """
    if engine == "threads":
        return Threads(crew, threads)
    missing = _missing(store)
    if missing is None and store.wakeups is not None:
        return _woken(crew, store, store.wakeups, threads)
    if engine == "procrastinate":
        raise Misuse(f"There are no wake-ups by Procrastinate here: {missing}")
    return Threads(crew, threads)


def _missing(store: Store) -> str | None:
    """Return what the engine lacks here, and what to do about it."""
    if store.wakeups is None:
        return f"{store.url} is no PostgreSQL database. Leave --engine out, or move the desk."
    if not has_library():
        return "the library is not installed. Run: pip install 'sayso[postgres]'"
    if store.wakeups.version() is None:
        return f"its tables are not in the database. Run: sayso db migrate --desk {store.url}"
    return None


def has_library() -> bool:
    """Whether Procrastinate can be imported; it is not loaded for the answer."""
    return find_spec("procrastinate") is not None


def _woken(crew: Crew, store: Store, wakeups: Wakeups, threads: int) -> Dispatcher:
    from sayso.runs.engine import Woken, newest

    check_engine(store.url, wakeups.version() or "", newest())
    return Woken(crew, wakeups, threads)


def check_engine(url: str, found: str, newest: str) -> None:
    """Refuse tables that are not those of the library."""
    if found < newest:
        raise SchemaMismatch(
            f"The tables of Procrastinate in {url} are older than the library here ({found[:8]}, "
            f"{newest[:8]}). Run: sayso db migrate --desk {url}"
        )
    if found > newest:
        raise SchemaMismatch(
            f"The tables of Procrastinate in {url} are newer than the library here ({found[:8]}, "
            f"{newest[:8]}). Upgrade it: pip install --upgrade procrastinate. Until then: "
            "sayso worker --engine threads"
        )


def install(store: Store) -> list[str] | None:
    """Bring the engine's tables up to date; the steps taken, or `None` where there can be none.

    Raises:
        SchemaMismatch: the tables are newer than the library.
    """
    if store.wakeups is None or not has_library():
        return None
    from sayso.runs.engine import newest, schema, steps

    found = store.wakeups.version()
    if found is not None and found > newest():
        check_engine(store.url, found, newest())
    return store.wakeups.install(schema(), steps())
