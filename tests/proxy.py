"""A wire between a desk and PostgreSQL that a test can cut at a chosen moment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

Moment = Literal["before", "after"]
READY = b"Z\x00\x00\x00\x05"  # the server's "ready for query": the statement is over


class Wire:
    """Passes bytes both ways; `cut` breaks the connection around the next matching statement.

    "before": the statement never reaches the server. "after": the server has
    carried it out, and the answer never reaches the desk.
    """

    def __init__(self, folder: Path, server: str) -> None:
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._order: tuple[bytes, Moment, bool] | None = None
        self._open: list[socket.socket] = []
        self._down = False
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, statement: str, when: Moment, *, everything: bool = False) -> None:
        """Cut at the next statement that contains this text; `everything` takes the server down."""
        self._order = (statement.encode(), when, everything)

    def down(self) -> None:
        """Break every connection and refuse new ones."""
        self._down = True
        for end in list(self._open):
            _shut(end)

    def up(self) -> None:
        """Accept connections again."""
        self._down = False

    def close(self) -> None:
        self.down()
        _shut(self._listener)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._down:
                _shut(client)
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            self._open += [client, server]
            cutting = threading.Event()
            for source, target, from_client in ((client, server, True), (server, client, False)):
                threading.Thread(
                    target=self._pump, args=(source, target, from_client, cutting), daemon=True
                ).start()

    def _pump(
        self,
        source: socket.socket,
        target: socket.socket,
        from_client: bool,
        cutting: threading.Event,
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if from_client and self._matches(data):
                    order = self._order
                    assert order is not None
                    self._order = None
                    self.cuts += 1
                    self._down = self._down or order[2]
                    if order[1] == "before":
                        break
                    cutting.set()
                if not from_client and cutting.is_set():
                    if READY in data:
                        break
                    continue
                target.sendall(data)
        _shut(source)
        _shut(target)
        if self._down:
            self.down()

    def _matches(self, data: bytes) -> bool:
        return self._order is not None and self._order[0] in data


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def wired(url: str, folder: Path) -> Iterator[tuple[str, Wire]]:
    """Yield the address of the same database at the other end of a wire."""
    parts = urlsplit(url)
    host = parse_qs(parts.query)["host"][0]
    wire = Wire(folder, f"{host}/.s.PGSQL.5432")
    try:
        yield f"postgresql://postgres@/postgres?host={folder}", wire
    finally:
        wire.close()
