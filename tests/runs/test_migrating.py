"""`sayso db migrate` by a newer program while workers of the older one are at work."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sayso import Desk
from sayso.runs.dispatch import install
from sayso.store import open_store
from tests import forked
from tests.cli.conftest import COMMAND
from tests.forked import Forked
from tests.places import Place
from tests.runs.floor import PROGRAM, book, floor
from tests.together import until

# What a later version of sayso would do: it knows one step more.
NEWER = """
import sys
from sayso.store import open_store, postgres, queries

known = queries.read_migrations("postgres")
step = (9999, "9999_later", "alter table runs add column later text; create index runs_later on runs (later)")
postgres.read_migrations = lambda dialect: [*known, step]
store = open_store(sys.argv[1])
print(store.migrate())
"""


@pytest.fixture
def office(cluster: str) -> Iterator[Place]:
    """A database of its own: it will be too new for everybody else."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("create database upgraded")
        try:
            url = cluster.replace("/postgres?", "/upgraded?")
            store = open_store(url)
            store.migrate()
            install(store)
            store.close()
            yield Place("postgres", url)
        finally:
            connection.execute("drop database upgraded with (force)")


@pytest.mark.parametrize("engine", ["procrastinate", "threads"])
def test_workers_finish_what_they_have_and_none_begins_with_old_code(
    office: Place, tmp_path: Path, engine: str
) -> None:
    (tmp_path / "app.py").write_text(PROGRAM.format(lease=30, folder=str(tmp_path), more=""))
    ours = str(Path(__file__).parents[2])
    env = {**os.environ, "SAYSO_URL": office.url, "SAYSO_ENGINE": engine, "PYTHONPATH": ours}
    worker = Forked([COMMAND, "worker", "app"], cwd=tmp_path, env=env)
    try:
        with Desk(office.url) as desk:
            floor(desk, str(tmp_path))
            run = desk.start(desk.flows["slow"].fn, 100)
            until(lambda: len(book(tmp_path)) > 3)

            (tmp_path / "newer.py").write_text(NEWER)
            newer: list[str | Path] = [sys.executable, tmp_path / "newer.py", office.url]
            done = forked.run(newer, cwd=tmp_path, env=env)
            assert len(book(tmp_path)) < 100, "it was at work meanwhile"
            (tmp_path / "hurry").touch()
            assert done.stdout == "['9999_later']\n", done.stderr

            # On the connections that it had; ours would be refused a new one.
            until(lambda: office.one("select status from runs where id = ?", run.id) == "done")
            assert book(tmp_path) == [f"step {n}" for n in range(100)]
        late = forked.run([COMMAND, "worker", "app"], cwd=tmp_path, env=env)
        assert late.returncode == 1
        assert "migrated by a newer sayso" in late.stderr
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    finally:
        if worker.poll() is None:
            worker.kill()
        worker.communicate()
