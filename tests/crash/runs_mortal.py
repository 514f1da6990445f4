"""Workers that die, freeze or are told to go, at a moment that a test names.

`python -m tests.crash.runs_mortal` forks a worker for each order it reads;
forking is a hundred times cheaper than starting an interpreter. A moment is a
place in the code of the shop, or right before or after the commit that holds
an event of some kind (`before effect.intended`).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from sayso import Desk
from sayso.runs.journal import Journal
from sayso.store.base import SqlStore
from tests.crash.mortal import Killer, arm
from tests.crash.shop import MOMENTS, WORKFLOWS, reached, shop, wrap

ROOT = Path(__file__).resolve().parents[2]
Act = Literal["die", "freeze", "hold", "linger"]
Order = dict[str, Any]


# --- in the worker ---


def watch() -> None:
    """Let the moments around commits, claims and results come by."""
    commit, claim = SqlStore.commit, SqlStore.claim
    finish, leave = Journal.finish, Journal.leave

    def committed(self: Any, *appends: Any, **more: Any) -> bool:
        kinds = [append.event.kind for append in appends]
        for kind in kinds:
            reached(f"before {kind}")
        written = commit(self, *appends, **more)
        for kind in kinds if written else ():
            reached(f"after {kind}")
        return written

    def claimed(self: Any, *args: Any, **kwargs: Any) -> Any:
        row = claim(self, *args, **kwargs)
        if row is not None:
            reached("after the claim")
        return row

    def finished(self: Any, *args: Any, **kwargs: Any) -> Any:
        reached("before the result is noted")
        return finish(self, *args, **kwargs)

    def left(self: Any, status: Any, **more: Any) -> Any:
        if status == "waiting":
            reached("before the pause")
        return leave(self, status, **more)

    Journal.leave = left  # type: ignore[method-assign]
    SqlStore.commit = committed  # type: ignore[method-assign]
    SqlStore.claim = claimed  # type: ignore[method-assign]
    Journal.finish = finished  # type: ignore[method-assign]


def _act(act: Act, moment: str, folder: str) -> Callable[[], None]:
    """Return what happens when a moment comes by: every time, or the first time only."""
    if act == "linger":
        return lambda: time.sleep(0.02)

    def strike() -> None:
        del MOMENTS[moment]
        if act == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif act == "freeze":
            os.kill(os.getpid(), signal.SIGSTOP)
        else:
            Path(folder, f"{moment}: here").touch()
            _wait_for(Path(folder, f"{moment}: go on").exists)

    return strike


def fork_and_work(desk: Desk, folder: str, run_id: str) -> None:
    """Fork while a thread carries a run on. Parent and child both have work of their own."""
    run = desk.get_run(run_id)
    desk.crew.start(1)
    _wait_for(Path(folder, "in pack: here").exists)
    child = os.fork()
    if child == 0:
        waiting = desk.run(wrap, folder, 0, wait=False).status == "waiting"
        os._exit(0 if waiting and run.status == "running" else 1)
    assert os.waitpid(child, 0)[1] == 0, "the forked child could not work"
    Path(folder, "in pack: go on").touch()
    _wait_for(lambda: run.status != "running")


def _wait_for(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.005)


def live(order: Order) -> None:
    """Be the worker. Ends the process."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        watch()
        for moment, act in order["moments"].items():
            MOMENTS[moment] = _act(act, moment, order["folder"])
        desk = Desk(order["url"], lease=order["lease"], agent="shop", account="sam@till")
        shop(desk)
        signal.signal(signal.SIGTERM, lambda *_: desk.crew.halt())
        if order["statement"] is not None:
            arm(Killer(*order["statement"]))
        if order["forks"]:
            fork_and_work(desk, order["folder"], order["run"])
        else:
            desk.work(until=order["until"], threads=order["threads"], only=order["run"])
        desk.close()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def warm_up() -> None:
    """Do everything once, so that no child has to load or prepare it anew."""
    import_module("sayso.store.postgres")
    with tempfile.TemporaryDirectory() as folder, Desk(f"sqlite:///{folder}/desk.db") as desk:
        run = shop(desk).start(WORKFLOWS[0], folder, 1, "plain")
        desk.work(until="idle")
        desk.approve(run.asks[0])
        desk.work(until="idle")


def main() -> None:
    warm_up()
    for line in sys.stdin:
        order = json.loads(line)
        if "pid" in order:
            answer = os.waitpid(order["pid"], os.WUNTRACED)[1]
        else:
            answer = os.fork()
            if answer == 0:
                live(order)
        print(answer, flush=True)


# --- in the test ---


class Child:
    """A worker, as the test sees it."""

    def __init__(self, nursery: Nursery, pid: int, folder: Path) -> None:
        self.pid = pid
        self._nursery = nursery
        self._folder = folder
        self.ended = False

    def wait(self) -> int:
        """Wait until it has ended; returns the signal that killed it, or 0."""
        status = self._nursery.say({"pid": self.pid})
        assert not os.WIFSTOPPED(status), "it was stopped, not ended"
        self.ended = True
        if os.WIFSIGNALED(status):
            return os.WTERMSIG(status)
        assert os.WEXITSTATUS(status) == 0, "the worker failed in another way"
        return 0

    def wait_frozen(self) -> None:
        """Wait until it has frozen itself."""
        status = self._nursery.say({"pid": self.pid})
        self.ended = not os.WIFSTOPPED(status)
        assert not self.ended, f"it ended with {status} instead"

    def wait_at(self, moment: str) -> None:
        """Wait until it is held at a moment."""
        _wait_for((self._folder / f"{moment}: here").exists)

    def go_on(self, moment: str) -> None:
        """Let it go on from there."""
        (self._folder / f"{moment}: go on").touch()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)


class Nursery:
    """Starts workers."""

    def __init__(self) -> None:
        self._children: list[Child] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.runs_mortal"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, order: Order) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def start(
        self,
        url: str,
        folder: Path,
        moments: dict[str, Act] | None = None,
        *,
        run: str | None = None,
        lease: float = 0.15,
        until: str | None = "idle",
        threads: int = 1,
        forks: bool = False,
        statement: tuple[int, str] | None = None,
    ) -> Child:
        """Start a worker. It ends when there is nothing to do, unless told otherwise.

        With `statement` it dies before or after the n-th one it sends to the database.
        """
        order = {
            "url": url,
            "folder": str(folder),
            "moments": moments or {},
            "run": run,
            "lease": lease,
            "until": until,
            "threads": threads,
            "forks": forks,
            "statement": statement,
        }
        child = Child(self, self.say(order), folder)
        self._children.append(child)
        return child

    def clear(self) -> None:
        """End whatever a failed test left behind."""
        for child in self._children:
            if not child.ended:
                with suppress(ProcessLookupError):
                    child.signal(signal.SIGKILL)
                while os.WIFSTOPPED(self.say({"pid": child.pid})):
                    pass
        self._children.clear()

    def dismiss(self) -> None:
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0


@contextmanager
def nursing() -> Iterator[Nursery]:
    """Start workers for a block."""
    nursery = Nursery()
    try:
        yield nursery
    finally:
        nursery.dismiss()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
