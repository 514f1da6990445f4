"""A bench for each test: a graph, a desk, a checkpointer, and processes to run it in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sayso import Desk
from tests.adapters.langgraph.workshop import Bench, Workshop
from tests.places import Place

Setting = Callable[..., Bench]
NUMBERS = count(1)


@pytest.fixture(scope="session")
def workshop() -> Iterator[Workshop]:
    """Where processes come from."""
    workshop = Workshop()
    yield workshop
    workshop.dismiss()


@pytest.fixture(scope="session")
def checkpoints(cluster: str) -> str:
    """A database of their own for checkpoints, in the PostgreSQL of these tests."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("drop database if exists checkpoints")
        connection.execute("create database checkpoints")
    head, _, tail = cluster.partition("/postgres?")
    return f"{head}/checkpoints?{tail}" if tail else f"{cluster.rpartition('/')[0]}/checkpoints"


def _bench(workshop: Workshop, place: Place, saver: str, folder: Path) -> Iterator[Setting]:
    with Desk(place.url, agent="shop", account="sam@till") as desk:

        def made(
            graph: str,
            *,
            compile: dict[str, Any] | None = None,  # noqa: A002
            policy: str | None = None,
            **options: Any,
        ) -> Bench:
            thread = f"thread {next(NUMBERS)}"
            inner = folder / thread
            inner.mkdir()
            file = None if policy is None else str(inner / "policy.toml")
            if policy is not None:
                (inner / "policy.toml").write_text(policy)
            given = (graph, thread, options, compile or {}, file)
            return Bench(workshop, desk, place.url, saver, inner, *given)

        yield made


@pytest.fixture
def bench(workshop: Workshop, sqlite: Place, tmp_path: Path) -> Iterator[Setting]:
    """A bench with both the desk and the checkpoints in SQLite files."""
    yield from _bench(workshop, sqlite, f"{tmp_path}/checkpoints.db", tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def everywhere(
    request: pytest.FixtureRequest, workshop: Workshop, tmp_path: Path
) -> Iterator[Setting]:
    """A bench on each database: both the desk's and the checkpointer's."""
    file = f"{tmp_path}/checkpoints.db"
    saver = file if request.param == "sqlite" else request.getfixturevalue("checkpoints")
    yield from _bench(workshop, request.getfixturevalue(request.param), saver, tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def awaited(
    request: pytest.FixtureRequest, workshop: Workshop, tmp_path: Path
) -> Iterator[Setting]:
    """A bench on each database, whose checkpointer is opened on an event loop."""
    file = f"{tmp_path}/checkpoints.db"
    saver = file if request.param == "sqlite" else request.getfixturevalue("checkpoints")
    yield from _bench(workshop, request.getfixturevalue(request.param), f"aio:{saver}", tmp_path)
