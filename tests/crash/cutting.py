"""Two ways to cut a worker off from PostgreSQL: a cable between network namespaces, and a wire of ours."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from tests.proxy import Wire
from tests.server import Server


class Line(Protocol):
    """What a worker reaches the database by."""

    url: str
    prefix: Sequence[str]  # in front of the command that is to use it

    def cut(self) -> None:
        """Let nothing through any more."""
        ...

    def mend(self) -> None:
        """Let everything through again."""
        ...


class Cable:
    """A network namespace and a pair of interfaces that lead out of it: nothing else does."""

    def __init__(self, server: Server, number: int) -> None:
        self._name = f"sayso{os.getpid() % 10000}x{number}"
        outer, inner = f"so{os.getpid() % 10000}x{number}", f"si{os.getpid() % 10000}x{number}"
        self._outer = outer
        here, there = f"10.203.{number}.1", f"10.203.{number}.2"
        _ip("netns", "add", self._name)
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", self._name)
        _ip("addr", "add", f"{here}/30", "dev", outer)
        _ip("link", "set", outer, "up")
        _ip("-n", self._name, "addr", "add", f"{there}/30", "dev", inner)
        _ip("-n", self._name, "link", "set", inner, "up")
        _ip("-n", self._name, "link", "set", "lo", "up")
        # Not the 15 seconds of everybody: a test has no time.
        self.url = f"{server.address(here)}?tcp_user_timeout=3000&connect_timeout=2"
        self.prefix: Sequence[str] = ("ip", "netns", "exec", self._name)

    def cut(self) -> None:
        _ip("link", "set", self._outer, "down")

    def mend(self) -> None:
        _ip("link", "set", self._outer, "up")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", self._outer)
        _ip("netns", "del", self._name)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def why_no_namespaces() -> str | None:
    """Return why this account cannot make network namespaces here, or `None` if it can."""
    if os.geteuid() != 0:
        return "network namespaces need root; the wire of ours was cut instead"
    assert shutil.which("ip"), "ip is missing: apt-get install iproute2 (make test does it)"
    name = f"sayso{os.getpid() % 10000}probe"
    try:
        _ip("netns", "add", name)
        _ip("netns", "del", name)
    except subprocess.CalledProcessError as error:
        return f"this root may not make network namespaces ({error.stderr.strip()})"
    return None


@contextmanager
def cables(server: Server, count: int) -> Iterator[list[Line]]:
    """Have network namespaces for a block, each with its cable to the server."""
    with ExitStack() as stack:
        made: list[Line] = []
        for number in range(1, count + 1):
            cable = Cable(server, number)
            stack.callback(cable.remove)
            made.append(cable)
        yield made


class OurWire:
    """A wire of `tests.proxy`, as a line."""

    prefix: Sequence[str] = ()

    def __init__(self, folder: str, server: Server) -> None:
        self._wire = Wire(Path(folder), server.socket)
        self.url = f"postgresql://postgres@/postgres?host={folder}"

    def cut(self) -> None:
        self._wire.down()

    def mend(self) -> None:
        self._wire.up()

    def close(self) -> None:
        self._wire.close()


@contextmanager
def wires(server: Server, count: int) -> Iterator[list[Line]]:
    """Have wires for a block: they break at once, and then refuse whoever dials."""
    with ExitStack() as stack:
        made: list[Line] = []
        for _ in range(count):
            folder = stack.enter_context(TemporaryDirectory(prefix="sayso-wire-"))
            wire = OurWire(folder, server)
            stack.callback(wire.close)
            made.append(wire)
        yield made
