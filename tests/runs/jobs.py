"""What other processes do in tests of runs; each has its own desk and its own copy of the code."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from sayso import Desk, Running
from tests.crew import desk_at


def look(order: int) -> str:
    return f"order {order} looked up"


def review(run: Running, order: int) -> Any:
    """Open an ask, do other work, come back for the answer."""
    later = run.later.question(f"Refund order {order}?", int)
    looked = run.step(look, order)
    return [looked, later.result()]


def at(url: str) -> Desk:
    """Return the desk of this process, with the workflow registered."""
    desk = desk_at(url)
    desk.workflow(name="review")(review)
    return desk


def start(url: str, order: int) -> str:
    """Start a run and carry it on until it waits."""
    return at(url).run(review, order, wait=False).id


def answer(url: str, run_id: str, value: object) -> str:
    """Decide what a run waits for, without having its code."""
    desk = Desk(url, account="sam@till")
    with desk:
        (ask,) = desk.get_run(run_id).state.pending
        desk.respond(ask, value)
        return desk.get_run(run_id).status


def carry_on(url: str) -> None:
    """Do what there is to do."""
    at(url).work(until="idle")


def outcome(url: str, run_id: str) -> tuple[str, Any]:
    """Tell how a run stands."""
    with Desk(url, account="sam@till") as desk:
        run = desk.get_run(run_id)
        return run.status, run.output


def pay_and_die(run: Running, file: str) -> Any:
    """Pay, and be killed right after that, the first time."""

    def pay(amount: int) -> str:
        with Path(file).open("a") as book:
            book.write(f"{amount}\n")
        if os.environ.get("SAYSO_TEST_DIES"):
            os.kill(os.getpid(), signal.SIGKILL)
        return "paid"

    return [run.step(look, 7), run.call(pay, amount=40)]


def die_paying(url: str, run_id: str) -> None:
    """Carry a run on, in a process that will not come back."""
    os.environ["SAYSO_TEST_DIES"] = "yes"
    desk = Desk(url, account="sam@till")
    desk.workflow(name="flow")(pay_and_die)
    desk.resume(run_id, wait=False)
