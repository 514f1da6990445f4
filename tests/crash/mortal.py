"""A process whose children die on order: kill -9 before or after the n-th statement.

Started once per test (`python -m tests.crash.mortal`), it reads one order a
line and forks a child for each: forking is a hundred times cheaper than
starting an interpreter. The child arms itself, does what it was told on a desk
of its own, and reports through a pipe what the call returned.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import count
from typing import Any

import psycopg

from sayso import Call, Desk, File

Order = dict[str, Any]


class Killer:
    """Counts what is passed, by whichever thread, and kills this process at the chosen one."""

    def __init__(self, number: int, when: str) -> None:
        self._number = number
        self._when = when
        self._numbers = count(1)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Pass one; its number is its own, however many threads are between before and after."""
        number = next(self._numbers)
        self._strike(number, "before")
        try:
            yield
        finally:
            self._strike(number, "after")

    def pass_by(self) -> None:
        """Pass one at which nothing is done."""
        with self.passing():
            pass

    def _strike(self, number: int, when: str) -> None:
        if (number, when) == (self._number, self._when):
            os.kill(os.getpid(), signal.SIGKILL)


def looks(statement: object) -> bool:
    """Whether a statement leaves everything as it is."""
    return isinstance(statement, str) and statement.lstrip()[:7].lower() == "select "


def arm(killer: Killer, *, all_of_them: bool = True) -> None:
    """Let the killer see the statements of both databases from now on, or those that may change something."""
    plain_connect = sqlite3.connect

    class Watched(sqlite3.Connection):
        def execute(self, *args: Any) -> sqlite3.Cursor:
            if looks(args[0]) and not all_of_them:
                return super().execute(*args)
            with killer.passing():
                return super().execute(*args)

    def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        return plain_connect(*args, factory=Watched, **kwargs)

    sqlite3.connect = connect  # type: ignore[assignment]

    plain_execute = psycopg.Connection.execute
    plain_command = psycopg.Connection._exec_command

    def execute(self: Any, *args: Any, **kwargs: Any) -> Any:
        if looks(args[0]) and not all_of_them:
            return plain_execute(self, *args, **kwargs)
        with killer.passing():
            return plain_execute(self, *args, **kwargs)

    def command(self: Any, *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        """Begin and commit of a transaction block go this way."""
        with killer.passing():
            return (yield from plain_command(self, *args, **kwargs))

    psycopg.Connection.execute = execute  # type: ignore[method-assign]
    psycopg.Connection._exec_command = command  # type: ignore[method-assign]


def _call(desk: Desk, order: Order) -> Call:
    return Call(desk.get(order["ask"]), **order["call"])


def _swept(desk: Desk, order: Order) -> list[str]:
    """Do what is due by then, and say to which asks that was done."""
    swept = desk.sweep(datetime.fromisoformat(order["now"]))
    return list(getattr(swept, order["deed"]))


# What needs reading first is read by `prepare`, on another desk, before the killer is armed.
PREPARE: dict[str, Callable[[Desk, Order], Any]] = {
    "finish": _call,
    **dict.fromkeys(
        ("approve", "edit", "hold", "take back", "claim", "withdraw", "erase", "begin"),
        lambda desk, order: desk.get(order["ask"]),
    ),
}
WORK: dict[str, Callable[[Desk, Order, Any], Any]] = {
    "open": lambda desk, order, _: desk.open("pay", {"amount": 40}, key=order["key"]).id,
    "open with files": lambda desk, order, _: (
        desk.open(
            "pay", {"amount": 40}, key=order["key"], files=[File("note", order["key"].encode())]
        ).id
    ),
    "approve": lambda desk, order, ask: desk.approve(ask, note="yes").status,
    "edit": lambda desk, order, ask: desk.edit(ask, {"amount": 30}).status,
    "hold": lambda desk, order, ask: desk.approve(ask, hold="1h").status,
    "take back": lambda desk, order, ask: desk.take_back(ask).status,
    "claim": lambda desk, order, ask: desk.claim(ask).assignee,
    "repeat": lambda desk, order, _: desk.open("pay", {"amount": order["amount"]}).repeats,
    "clock": lambda desk, order, _: _swept(desk, order),
    "withdraw": lambda desk, order, ask: desk.withdraw(ask).status,
    "begin": lambda desk, order, ask: desk.begin(ask).key,
    "finish": lambda desk, order, call: desk.finish(call, "paid").status,
    "doubt": lambda desk, order, _: list(desk.sweep(datetime.fromisoformat(order["now"])).doubts),
    "erase": lambda desk, order, ask: desk.erase(ask, "forget").status,
    "people": lambda desk, order, _: desk.people.add(order["name"], roles=["senior"]).name,
    "seal": lambda desk, order, _: str(desk.seal()),
}


def live(order: Order, report: int) -> None:
    """Be the child: prepare, arm, work, report. Ends the process."""
    try:
        work = order["work"]
        ready = None
        if work in PREPARE:
            with Desk(order["url"], account="sam@till") as desk:
                ready = PREPARE[work](desk, order)
        arm(Killer(order["number"], order["when"]), all_of_them=order["all"])
        result = WORK[work](Desk(order["url"], agent="shop", account="sam@till"), order, ready)
        os.write(report, json.dumps(result).encode())
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main() -> None:
    for url in ("sqlite:///nowhere.db", "postgresql://nowhere/nothing"):
        Desk(url)  # opens nothing, but reads the queries that every child would read
    for line in sys.stdin:
        theirs, ours = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(theirs)
            live(json.loads(line), ours)
        os.close(ours)
        with os.fdopen(theirs, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        ending = {
            "killed": os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL,
            "status": status,
            "reported": json.loads(said) if said else None,
        }
        print(json.dumps(ending), flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
