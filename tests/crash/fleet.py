"""A fleet under load: workers that are killed, and deciders that all decide everything."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from sayso import AskClosed, Desk, Running
from sayso.errors import AskChanged, StoreError
from tests.crew import desk_at
from tests.forked import SAYSO, Forked

ROOT = Path(__file__).resolve().parents[2]
LEASE = 1.5
PROGRAM = """
import sayso
from tests.crash.fleet import fleet

desk = fleet(sayso.Desk(lease={lease}, agent="shop", account="sam@till"), {folder!r})
"""


def fleet(desk: Desk, folder: str) -> Desk:
    """Register what the fleet does: each payment takes a while, and is written down when it is made."""

    @desk.gate(risk="high")
    def pay(order: int) -> str:
        time.sleep(0.02)
        noted(folder, f"paid {order}")
        time.sleep(0.02)
        return f"paid {order}"

    @desk.workflow
    def settle(run: Running, order: int) -> Any:
        run.step(len, "looked up")
        paid = run.call(pay, order)
        return run.step(str, paid)

    return desk


def noted(folder: str, line: str) -> None:
    """Write a line down whole, whoever else writes and whatever is killed."""
    file = os.open(Path(folder, "book"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


def book(folder: Path) -> Counter[str]:
    """Return how often what happened."""
    file = folder / "book"
    return Counter(file.read_text().splitlines() if file.exists() else [])


@dataclass
class Decided:
    """What one decider came to: asks that it decided, and who was faster at the others."""

    won: list[str] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    cut_off: int = 0  # how often the database could not be reached


def decide_all(url: str, after: str, count: int, within: float, backwards: bool) -> Decided:
    """Approve every payment that is asked for, in a process of its own.

    Others do the same; who goes through the list backwards meets them in the middle.
    """
    desk, came = desk_at(url), Decided()
    ends = time.monotonic() + within
    while len(came.won) + len(came.lost) < count and time.monotonic() < ends:
        try:
            events = list(islice(desk.events(after=after), 100))
            opened = [event.stream for event in events if event.kind == "ask.opened"]
            for ask_id in reversed(opened) if backwards else opened:
                if ask_id not in came.lost and ask_id not in came.won:
                    _decide(desk, ask_id, came)
            after = events[-1].cursor or after if events else after
        except StoreError:
            came.cut_off += 1
        time.sleep(0.01)
    return came


def _decide(desk: Desk, ask_id: str, came: Decided) -> None:
    note, ask = f"by {os.getpid()}", desk.get(ask_id)
    if ask.kind != "action":
        return
    try:
        desk.approve(ask, note=note, by="sam")
        came.won.append(ask_id)
    except AskClosed as error:
        if (
            error.decision is None or error.decision.note != note
        ):  # else it was ours, before the connection broke
            came.lost[ask_id] = getattr(error.decision, "note", "nobody")
        elif ask_id not in came.won:
            came.won.append(ask_id)


class Workers:
    """Real `sayso worker` processes, two at a time, killed and replaced."""

    def __init__(self, url: str, folder: Path, count: int = 2, threads: int = 2) -> None:
        (folder / "fleet_app.py").write_text(PROGRAM.format(lease=LEASE, folder=str(folder)))
        self._command: list[str | Path] = [SAYSO, "worker", "fleet_app", "--threads", str(threads)]
        self._url, self._folder = url, folder
        self.kills = 0
        self.living = [self._start() for _ in range(count)]

    def _start(self) -> Forked:
        env = {"SAYSO_URL": self._url, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        process = Forked(self._command, cwd=self._folder, env={**os.environ, **env})
        assert process.stdout is not None
        while "Ctrl-C ends it" not in (line := process.stdout.readline()):
            assert line, process.communicate()
        return process

    def kill_one(self) -> None:
        """Kill the one that has lived longest, and start another in its place."""
        gone = self.living.pop(0)
        gone.kill()
        assert gone.wait() == -signal.SIGKILL
        gone.communicate()
        self.kills += 1
        self.living.append(self._start())

    def end(self) -> list[str]:
        """End all of them in good order; returns what they logged."""
        for process in self.living:
            process.terminate()
        said = [process.communicate()[1] for process in self.living]
        assert [process.wait() for process in self.living] == [0] * len(self.living)
        return said


@contextmanager
def working(url: str, folder: Path, **more: int) -> Iterator[Workers]:
    """Have workers for a block."""
    workers = Workers(url, folder, **more)
    try:
        yield workers
    finally:
        for process in workers.living:
            process.kill()
            process.communicate()


def answer_doubts(desk: Desk, folder: Path) -> int:
    """Answer what is in doubt as somebody who can look at the book; returns how many there were."""
    doubts = list(desk.inbox(kind="doubt"))
    for doubt in doubts:
        run = desk.get_run(doubt.content.run or "")
        paid = f"paid {run.events[0].payload['input']['args'][0]}"  # type: ignore[index]
        with suppress(AskChanged, AskClosed):  # a late result came in: look again
            if paid in book(folder):
                desk.respond(doubt, paid, by="sam")
            else:
                desk.approve(doubt, by="sam")
    return len(doubts)
