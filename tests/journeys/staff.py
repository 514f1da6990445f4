"""Processes of the support desk that come, do one thing in its thread, and are gone; or die at it.

They use the very agent of `examples/31_support_desk`. `python -m tests.journeys.staff` forks one for
each order it reads. One can be told to die (kill -9) at its n-th statement.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from sayso import Desk, Run
from tests.crash.mortal import Killer, arm
from tests.crash.shop import note
from tests.crash.visitors import receive

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/31_support_desk"
THREAD = "12"
DELETE = "Please delete the database customers"
DELETED = "The database customers is deleted."


def serve() -> Any:
    """Return the module with the agent, so that the desks of this process serve it."""
    if str(EXAMPLE) not in sys.path:
        sys.path.insert(0, str(EXAMPLE))
    return import_module("support")


def last_run(desk: Desk) -> Run:
    """Return the last run of the thread."""
    (run,) = desk.runs(thread=THREAD, limit=1)
    return run


def ask(desk: Desk, question: str) -> str:
    """Be the user's program."""
    return desk.run(serve().agent, question, thread=THREAD, wait=False).id


def go_on(desk: Desk) -> str:
    """Be whoever goes on with the run."""
    run = last_run(desk)
    desk.work(until="idle", only=run.id)
    return run.status


def decide(desk: Desk) -> str:
    """Be the admin: say yes; where it is in doubt whether it happened, look first."""
    (open_,) = last_run(desk).state.pending
    if open_.kind == "question":
        return desk.respond(open_, "certbot --nginx").status
    if open_.kind == "doubt" and not Path("data/customers.db").exists():
        return desk.respond(open_, DELETED).status
    return desk.approve(open_).status


WORK: dict[str, Callable[..., Any]] = {"ask": ask, "go on": go_on, "decide": decide}


def noting(tool: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """Note each time that a tool does its work."""

    def noted(*args: Any) -> Any:
        result = work(*args)
        note(".", tool, "done")
        return result

    return noted


def live(order: dict[str, Any], report: int) -> None:
    """Be one of them. Ends the process."""
    try:
        os.chdir(order["folder"])
        database = serve() and import_module("database")
        database.shutil.copy = noting("backup", database.shutil.copy)
        Path.unlink = noting("drop", Path.unlink)  # type: ignore[method-assign]
        desk = Desk(order["url"], agent="support", account="sam@till")
        if order["dies"] is not None:
            arm(Killer(*order["dies"]))
        os.write(report, json.dumps(WORK[order["do"]](desk, *order["args"])).encode())
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def rows(file: Path) -> int:
    """Count the customers in a database file."""
    connection = sqlite3.connect(file)
    try:
        return int(connection.execute("SELECT count(*) FROM customers").fetchone()[0])
    finally:
        connection.close()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        serve()
        import_module("sayso.store.postgres")
        receive(live)
