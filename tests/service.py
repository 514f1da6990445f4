"""`sayso serve` as a process of its own, that a test ends, kills and starts again."""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
from pathlib import Path
from typing import Self

from sayso import Desk
from sayso.access.tokens import make_token
from tests.forked import Forked

COMMAND = Path(sys.executable).with_name("sayso")


class Service:
    """A real service on one database and one port. `with` starts it and ends it."""

    def __init__(self, url: str) -> None:
        self._database = url
        self.port = free_port()
        self._process: Forked | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and return once it serves."""
        command = [str(COMMAND), "serve", "--no-open", "--port", str(self.port)]
        self._process = Forked(
            [*command, "--desk", self._database],
            cwd=Path.cwd(),
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self._process.stdout is not None
        while "Ctrl-C ends it" not in (line := self._process.stdout.readline()):
            assert line, "the service did not start"

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and return the exit code."""
        assert self._process is not None
        self._process.send_signal(number)
        self._process.communicate(timeout=30)
        return self._process.wait()

    def restart(self, number: int) -> int:
        """End it with a signal, start it again, and return the exit code of the first."""
        code = self.end(number)
        self.start()
        return code

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            self.end(signal.SIGKILL)


def free_port() -> int:
    """Return a port that stays ours while the service is away.

    Those that the system gives out by itself may be given to a client meanwhile, even to one
    that tries to reach the service, which would then reach itself.
    """
    while True:
        port = random.randint(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def token(desk: Desk, name: str, kind: str) -> str:
    """Make a token for an agent or a person, and return its text."""
    made = make_token(desk.store, name=name, kind=kind, expires=None, origin=desk.origin)  # type: ignore[arg-type]
    return made[1]
