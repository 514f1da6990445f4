"""A database as it was some migrations ago, with nothing in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from sayso.store.queries import read_migrations
from tests.places import Place


@contextmanager
def database_at(request: pytest.FixtureRequest, folder: Path, version: int) -> Iterator[Place]:
    """Make a database of the fixture's dialect whose last migration was this one."""
    steps = [step for step in read_migrations(request.param) if step[0] <= version]
    if request.param == "sqlite":
        with closing(sqlite3.connect(folder / "old.db")) as file:
            for number, _, sql in steps:
                file.executescript(f"{sql}; pragma user_version = {number}")
        yield Place("sqlite", f"sqlite:///{folder}/old.db")
        return
    cluster: str = request.getfixturevalue("cluster")
    name = f"at_{version}"
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        try:
            place = Place("postgres", cluster.replace("/postgres?", f"/{name}?"))
            place.sql("create table sayso_schema (version int not null)")
            place.sql("insert into sayso_schema values (?)", version)
            for _, _, sql in steps:
                place.sql(sql)
            yield place
        finally:
            connection.execute(f"drop database {name} with (force)")
