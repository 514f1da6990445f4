"""A small shop whose orders are runs. What it did to the world is lines in files of a folder.

Its code passes by named moments; a test says what happens there (see
`tests.crash.runs_mortal`), by default nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sayso
from sayso import Desk
from sayso.runs.running import Running

MOMENTS: dict[str, Callable[[], object]] = {}


def reached(moment: str) -> None:
    """Do what was arranged for this moment."""
    MOMENTS.get(moment, int)()


def note(folder: str, name: str, line: str) -> None:
    """Append one line in one system call, so that nobody's line is torn or lost."""
    file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


def noted(folder: str | Path, name: str) -> list[str]:
    """Return what was noted, line by line."""
    file = Path(folder) / name
    return file.read_text().splitlines() if file.exists() else []


# --- tools: the effect is one line in `paid` ---


def _pay(folder: str, number: int) -> str:
    reached("in the tool")
    note(folder, "paid", f"{number} {sayso.current_call().key}")
    reached("after the effect")
    return f"paid {number}"


def payments(folder: str | Path, number: int) -> list[str]:
    """Return the keys under which an order was paid."""
    found = [line.split() for line in noted(folder, "paid")]
    return [key for paid, key in found if paid == str(number)]


@sayso.tool
def pay(folder: str, number: int) -> str:
    return _pay(folder, number)


@sayso.tool(idempotent=True)
def pay_again(folder: str, number: int) -> str:
    return _pay(folder, number)


def look(folder: str, number: int) -> sayso.Happened | sayso.DidNotHappen:
    if payments(folder, number):
        return sayso.Happened(f"paid {number}")
    return sayso.DidNotHappen()


@sayso.tool(verify=look, limit=0.2)
def pay_traced(folder: str, number: int) -> str:
    return _pay(folder, number)


TOOLS: dict[str, Callable[..., str]] = {
    "plain": pay,
    "idempotent": pay_again,
    "verify": pay_traced,
}


# --- workflows ---


def _stepped(folder: str, number: int, name: str) -> str:
    note(folder, "steps", f"{number} {name}")
    reached(f"in {name}")
    return name


def pack(folder: str, number: int) -> str:
    return _stepped(folder, number, "pack")


def ship(folder: str, number: int) -> str:
    return _stepped(folder, number, "ship")


def book(folder: str, number: int) -> str:
    return _stepped(folder, number, "book")


def order(run: Running, folder: str, number: int, kind: str) -> list[str]:
    """Pack, pay, ship."""
    packed = run.step(pack, folder, number)
    paid = run.call(TOOLS[kind], folder, number)
    return [packed, paid, run.step(ship, folder, number)]


def billing(run: Running, folder: str, number: int, kind: str) -> str:
    paid = run.call(TOOLS[kind], folder, number)
    run.step(book, folder, number)
    return paid


def order_billed(run: Running, folder: str, number: int, kind: str) -> list[str]:
    """Pack, let another workflow pay and book, ship."""
    packed = run.step(pack, folder, number)
    paid = run.workflow(billing, folder, number, kind)
    return [packed, paid, run.step(ship, folder, number)]


def order_early(run: Running, folder: str, number: int, kind: str) -> list[str]:
    """Ask for the payment first, pack meanwhile, pay, ask whether to ship."""
    payment = run.later.call(TOOLS[kind], folder, number)
    question = run.later.question("Which box?")
    packed = run.step(pack, folder, number)
    return [packed, payment.result(), question.result()]


def wrap(run: Running, folder: str, number: int) -> list[Any]:
    """Ask two things at once, and do nothing else."""
    return run.gather(lambda: run.question("Which box?"), lambda: run.question("Which ribbon?"))


def fragile(run: Running, folder: str, number: int) -> str:
    """Do something between verbs that may kill whoever carries it on."""
    note(folder, "steps", f"{number} began")
    reached("between verbs")
    return run.step(pack, folder, number)


WORKFLOWS: tuple[Callable[..., Any], ...] = (
    order,
    order_billed,
    order_early,
    wrap,
    fragile,
)


def shop(desk: Desk) -> Desk:
    """Register everything the shop can do."""
    for workflow in WORKFLOWS:
        desk.workflow(workflow)
    return desk
