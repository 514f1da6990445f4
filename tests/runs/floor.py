"""Workflows for tests of what brings workers to runs; they write down what really happened."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from sayso import Desk, Running

LOOK_EVERY = 0.2  # seconds: what no bell tells is found in a fifth of the time that it takes others

PROGRAM = """
import sayso
from tests.runs.floor import floor

desk = floor(sayso.Desk(lease={lease}, agent="shop"), {folder!r}, {more!r})
"""


def noted(folder: str, line: str) -> str:
    with Path(folder, "book").open("a") as book:
        book.write(f"{line}\n")
    return line


def book(folder: str | Path) -> list[str]:
    """Return what happened, in order."""
    file = Path(folder, "book")
    return file.read_text().splitlines() if file.exists() else []


def floor(desk: Desk, folder: str, more: str = "") -> Desk:
    """Register the workflows, and one more of that name; look around often."""
    desk.crew.look_every = LOOK_EVERY

    @desk.gate(risk="high")
    def pay(order: int) -> str:
        return noted(folder, f"paid {order}")

    @desk.workflow
    def settle(run: Running, order: int) -> Any:
        return run.call(pay, order)

    @desk.workflow
    def note(run: Running, word: str) -> Any:
        return run.step(noted, folder, word)

    @desk.workflow
    def weigh(run: Running, word: str, risk: Any) -> Any:
        run.confirm(word, risk=risk)
        return run.step(noted, folder, word)

    @desk.workflow
    def slow(run: Running, count: int) -> Any:
        for number in range(count):
            run.step(_slowly, folder, number)
        return "walked"

    if more:
        desk.workflow(name=more)(_more)
    return desk


def _more(run: Running) -> Any:
    return run.step(os.getpid)


def _slowly(folder: str, number: int) -> None:
    noted(folder, f"step {number}")
    if not Path(folder, "hurry").exists():
        time.sleep(0.05)
