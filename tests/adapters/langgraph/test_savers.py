"""The savers that cannot be tried across processes here: MongoDB's, on a stand-in or a real server."""

from __future__ import annotations

import os
from typing import Any

import mongomock
import pytest
from langgraph.checkpoint.mongodb import MongoDBSaver

from sayso import Desk
from sayso.adapters.langgraph import Graph
from tests.adapters.langgraph.graphs import FOLDER, GRAPHS
from tests.runs.people import ask_of

SERVER = os.environ.get("SAYSO_TEST_MONGODB")


class Client(mongomock.MongoClient):
    """A stand-in for MongoDB, in this process."""

    def append_metadata(self, *_: object) -> None:
        """Take what the driver would tell its server of itself."""


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """mongomock, which does not know yet that an update may say in which order it looks."""
    from mongomock.collection import BulkOperationBuilder

    add = BulkOperationBuilder.add_update

    def add_update(self: Any, *args: Any, sort: Any = None, **more: Any) -> Any:
        return add(self, *args, **more)

    monkeypatch.setattr(BulkOperationBuilder, "add_update", add_update)
    return Client()


def told(desk: Desk, saver: Any, folder: str) -> None:
    """Run a graph that acts, asks, and acts, to its end."""
    FOLDER["at"] = folder
    made = Graph("mongo", GRAPHS["twice kept"]().compile(checkpointer=saver))
    run = desk.run(made, {"log": []}, wait=False)
    for said in ("one", "two"):
        desk.respond(ask_of(run), said)
        desk.work(until="idle")
    assert (run.status, run.output["log"]) == ("done", ["one", "two"]), run.error


def test_mongodb_s_saver_works_on_a_stand_in(local: Desk, stand_in: Any, tmp_path: Any):
    told(local, MongoDBSaver(stand_in), str(tmp_path))


@pytest.mark.skipif(SERVER is None, reason="SAYSO_TEST_MONGODB names no server")
def test_mongodb_s_saver_works_on_a_real_server(local: Desk, tmp_path: Any):
    with MongoDBSaver.from_conn_string(str(SERVER)) as saver:
        told(local, saver, str(tmp_path))
