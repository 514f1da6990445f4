"""A server in a process of its own, started again whenever it dies."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sayso import Desk
from sayso.access.tokens import make_token
from tests.forked import Forked
from tests.service import free_port
from tests.together import until

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Kept:
    """The server: where it is, how often it died, and how to kill it."""

    local: Desk
    port: int
    folder: Path
    words: tuple[str, ...]
    deaths: int = 0
    _process: Forked | None = None
    _stopping: bool = False
    _desks: list[Desk] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def desk(self, name: str, kind: str, **given: object) -> Desk:
        """Return a desk behind this server, with a token of an agent or a person."""
        _, token = make_token(
            self.local.store,
            name=name,
            kind=kind,  # type: ignore[arg-type]
            expires=None,
            origin=self.local.origin,
        )
        desk = Desk(self.url, token=token, **given)  # type: ignore[arg-type]
        self._desks.append(desk)
        return desk

    def answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()

    def keep(self) -> None:
        while not self._stopping:
            given = [self.local.url, str(self.port), str(self.folder), *self.words]
            command = [sys.executable, "-m", "tests.remote.mortal", *given]
            self._process = Forked(command, cwd=ROOT, env=os.environ)
            self._process.communicate(None)
            if self._process.wait() == -9 and not self._stopping:
                self.deaths += 1

    def end(self) -> None:
        for desk in self._desks:
            desk.close()
        self._stopping = True
        self.kill()


@contextmanager
def kept(local: Desk, folder: Path, *words: str) -> Iterator[Kept]:
    """Serve a database from another process for a block."""
    server = Kept(local, free_port(), folder, words)
    keeper = threading.Thread(target=server.keep, daemon=True)
    keeper.start()
    try:
        until(server.answers, within=60)  # nobody tries for long to reach what was never there
        yield server
    finally:
        server.end()
        keeper.join(20)
