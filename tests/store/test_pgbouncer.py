"""A desk behind PgBouncer: what its page says of pooling, tried with the real thing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from sayso import Desk
from sayso.errors import StoreError, StoreUnavailable
from sayso.runs.dispatch import install
from sayso.store import open_store
from tests.cli.conftest import COMMAND
from tests.forked import Forked
from tests.places import Place
from tests.runs.floor import PROGRAM, floor
from tests.together import until

pytestmark = pytest.mark.soak

SETTINGS = """
[databases]
pooled = host={host} dbname=pooled user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
max_client_conn = 200
{more}
"""
IGNORED = "ignore_startup_parameters = options"
# What a desk says at the start of each connection, and PgBouncer does not pass on.
ROLE = (
    "set search_path = public, sayso_engine",
    "set idle_in_transaction_session_timeout = '10s'",
    "set lock_timeout = '5s'",
    "set statement_timeout = '60s'",
)


@pytest.fixture
def behind(cluster: str) -> Iterator[Place]:
    """A database with Procrastinate's tables, in which the role has the settings of a desk."""
    host = parse_qs(urlsplit(cluster).query)["host"][0]
    os.chmod(host, 0o755)  # PgBouncer does not run as root
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("create database pooled")
        try:
            place = Place("postgres", cluster.replace("/postgres?", "/pooled?"))
            for setting in ROLE:
                connection.execute(f"alter role postgres in database pooled {setting}")
            store = open_store(place.url)
            store.migrate()
            install(store)
            store.close()
            yield place
        finally:
            connection.execute("drop database pooled with (force)")


@contextmanager
def bouncer(place: Place, mode: str, more: str = IGNORED) -> Iterator[str]:
    """Run PgBouncer before a database, and yield the address there."""
    found = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert found is not None, "There is no pgbouncer: make soak installs it."
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host = parse_qs(urlsplit(place.url).query)["host"][0]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        file = Path(folder, "pgbouncer.ini")
        file.write_text(SETTINGS.format(host=host, port=port, mode=mode, more=more))
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        process = subprocess.Popen([found, "-q", *user, str(file)], stderr=subprocess.DEVNULL)
        try:
            until(lambda: _answers(port))
            yield f"postgresql://postgres@127.0.0.1:{port}/pooled"
        finally:
            process.terminate()
            process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as door:
        return door.connect_ex(("127.0.0.1", port)) == 0


def test_sessions_that_are_pooled_carry_decisions_hints_and_wake_ups(
    behind: Place, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(PROGRAM.format(lease=30, folder=str(tmp_path), more=""))
    with bouncer(behind, "session") as url:
        env = {**os.environ, "SAYSO_URL": url}
        worker = Forked([COMMAND, "worker", "app"], cwd=tmp_path, env=env)
        try:
            with Desk(url) as desk:
                floor(desk, str(tmp_path))
                until(lambda: behind.count("sayso_engine.procrastinate_workers"))
                run = desk.start(desk.flows["settle"].fn, 7)
                until(lambda: run.status == "waiting")
                desk.approve(run.state.pending[0])
                assert run.result(20) == "paid 7"
                for order in range(20):  # prepared by then
                    desk.approve(desk.open("refund", {"order": order}))
        finally:
            worker.terminate()
            worker.communicate()


def test_transactions_cannot_be_pooled(behind: Place) -> None:
    with bouncer(behind, "transaction") as url, Desk(url) as desk:
        desk.on("*", print)

        def decide(thread: int) -> None:
            for order in range(100):
                desk.approve(desk.open("refund", {"order": order, "thread": thread}))

        with ThreadPoolExecutor(4) as pool, pytest.raises(StoreError, match="prepared statement"):
            list(pool.map(decide, range(4)))


def test_without_leave_to_ignore_what_it_does_not_know_nothing_is_let_in(behind: Place) -> None:
    with (
        bouncer(behind, "session", "") as url,
        Desk(url) as desk,
        pytest.raises(StoreUnavailable, match="unsupported startup parameter: options"),
    ):
        desk.inbox()
