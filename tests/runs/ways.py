"""The ways workers are brought to runs, each with its database: one suite is for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sayso import Desk
from sayso.runs.dispatch import Dispatcher, Engine, dispatcher
from tests.forked import SAYSO, Forked
from tests.places import Place
from tests.runs.floor import PROGRAM, floor

ROOT = Path(__file__).resolve().parents[2]
Worker = Callable[..., Forked]


@dataclass(frozen=True)
class Way:
    """An engine on a database, and a folder in which workers are started."""

    engine: Engine
    place: Place
    folder: Path

    def desk(self, more: str = "", *, lease: float = 30) -> Desk:
        """Return a desk with the workflows."""
        own = Desk(self.place.url, agent="shop", account="sam@till", lease=lease)
        return floor(own, str(self.folder), more)

    def dispatcher(self, desk: Desk, threads: int = 2) -> Dispatcher:
        return dispatcher(desk.crew, desk.store, threads, self.engine)

    def worker(self, *options: str, program: str = "app", more: str = "") -> Forked:
        """Start `sayso worker` as a supervisor does, and wait until it serves."""
        source = PROGRAM.format(lease=30, folder=str(self.folder), more=more)
        (self.folder / f"{program}.py").write_text(source)
        env = {"SAYSO_URL": self.place.url, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        process = Forked(
            [SAYSO, "worker", program, "--engine", self.engine, *options],
            cwd=self.folder,
            env={**os.environ, **env},
        )
        assert process.stdout is not None
        while "Ctrl-C ends it" not in (line := process.stdout.readline()):
            if not line:
                raise AssertionError(process.communicate())
        return process


@contextmanager
def at_work(way: Way, desk: Desk, threads: int = 2) -> Iterator[Dispatcher]:
    """Carry runs on in this process for a block."""
    carrying = way.dispatcher(desk, threads)
    carrying.start()
    try:
        yield carrying
    finally:
        carrying.stop(60)
