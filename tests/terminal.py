"""Real pseudo-terminals: one for a whole program, or one for a part of this process."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tests.forked import Forked

PATIENCE = 30.0
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen:
    """What a person sees and does: text that appears, lines that are typed."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self._master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._raw = b""
        self._read = 0

    @property
    def raw(self) -> str:
        """Everything that was written, codes and all."""
        return self._raw.decode(errors="replace")

    @property
    def text(self) -> str:
        """Everything that was written, without colours."""
        return _CODES.sub("", self.raw).replace("\r\n", "\n").replace("\r", "")

    def wait_for(self, wanted: str, *, patience: float = PATIENCE) -> str:
        """Wait until this appears behind what was waited for before; return all in between."""
        until = time.monotonic() + patience
        while wanted not in self.text[self._read :]:
            left = until - time.monotonic()
            assert left > 0, f"{wanted!r} did not appear in:\n{self.text[self._read :]}"
            assert self._more(left), f"the terminal closed before {wanted!r}:\n{self.text}"
        start = self._read
        self._read = self.text.index(wanted, start) + len(wanted)
        return self.text[start : self._read]

    def _more(self, patience: float) -> bool:
        if not select.select([self._master], [], [], min(patience, 0.2))[0]:
            return True
        try:
            more = os.read(self._master, 65536)
        except OSError:  # the last program with this terminal has ended
            return False
        self._raw += more
        return bool(more)

    def drain(self) -> None:
        """Read what is left once nobody writes any more."""
        while self._more(0.2):
            pass

    def type(self, line: str) -> None:
        """Type a line and press Enter."""
        self.press(f"{line}\n".encode())

    def answer(self, *said: str) -> None:
        """Wait for a prompt and type a line; then for the next prompt, and so on."""
        for prompt, line in zip(said[::2], said[1::2], strict=True):
            self.wait_for(prompt)
            self.type(line)

    def press(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._master, keys)

    def hang_up(self) -> None:
        """Press Ctrl-D: the input ends."""
        self.press(b"\x04")

    def close(self) -> None:
        """Pull the plug."""
        for end in (self._master, self.slave):
            if end >= 0:
                os.close(end)
        self._master = self.slave = -1


@contextmanager
def streams(screen: Screen) -> Iterator[tuple[TextIO, TextIO]]:
    """Open the terminal for a part of this process: where it reads, and where it writes."""
    with (
        os.fdopen(os.dup(screen.slave), "r") as stdin,
        os.fdopen(os.dup(screen.slave), "w") as stdout,
    ):
        yield stdin, stdout


class Program(Screen):
    """A program at a terminal of its own."""

    def __init__(
        self, command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], columns: int = 80
    ) -> None:
        super().__init__(columns)
        around = {**env, "TERM": "xterm-256color"}
        self._process = Forked(command, cwd=cwd, env=around, terminal=self.slave)
        os.close(self.slave)
        self.slave = -1

    def ended(self) -> int:
        """Wait until the program ends, and return its exit code."""
        until = time.monotonic() + PATIENCE
        while self._more(0.2) and self._process.poll() is None:
            assert time.monotonic() < until, f"the program did not end:\n{self.text}"
        return self._process.wait(PATIENCE)

    def kill(self) -> None:
        """End the program if it still runs, and close the terminal."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self.close()


@contextmanager
def running(
    command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], columns: int = 80
) -> Iterator[Program]:
    """Run a program at a terminal for a block."""
    program = Program(command, cwd=cwd, env=env, columns=columns)
    try:
        yield program
    finally:
        program.kill()
