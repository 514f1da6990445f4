"""A real shell at a real terminal of 80 columns, in which the lines of a page are typed.

Our own programs start at once (`tests/forked.py`), each at a terminal of its own; everything else is
typed into a shell. One does for a page, so that `cd`, `export` and `activate` last as they do for a reader. What
says "Ctrl-C ends it" keeps its terminal: whoever types the next line opens another one.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.forked import Forked

_BASH = ("bash", "--noprofile", "--norc", "--noediting", "+H", "-i")
# A terminal belongs to a session, and Ctrl-C reaches only those whose terminal it is.
_AT_TERMINAL = (
    "import fcntl, os, sys, termios;"
    "os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)
_READY = re.compile(r"@@(\d+)@@$")
_AWAITING = re.compile(r"(?:: |\[y/N\] )$")
_SERVES = "Ctrl-C ends it\n"
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_PATIENCE = 60.0


class Shell:
    """One terminal. `ended` is the exit code of the last command; None while a server has it."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._screen, terminal = _terminal()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _AT_TERMINAL, *_BASH],
            cwd=folder,
            env={**env, "PS1": "@@$?@@", "HISTFILE": "", "BASH_SILENCE_DEPRECATION_WARNING": "1"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        self.ended: int | None = None
        self._read([])

    @property
    def folder(self) -> Path:
        """Where somebody is who typed what was typed here."""
        return Path(f"/proc/{self._process.pid}/cwd").readlink()

    def type(self, command: str, answers: list[str], *, stays: bool) -> str:
        """Type a line, answer its prompts, and return what it printed; without answers, Ctrl-C.

        What `stays` is left alone once it says how it is ended.
        """
        self._press(f"{command}\n")
        said = self._read(answers, stays=stays)
        return said.partition("\n")[2]  # the terminal shows the line that was typed

    def interrupt(self) -> str:
        """Press Ctrl-C, and return what was printed until the shell is back."""
        self._press("\x03")
        return self._read([])

    def close(self) -> None:
        os.close(self._screen)  # hangs up: what runs in it ends too
        self._process.kill()
        self._process.wait()

    def _press(self, keys: str) -> None:
        self.ended = None
        os.write(self._screen, keys.encode())

    def _more(self) -> bytes:
        return os.read(self._screen, 65536)

    def _end(self, said: str) -> str | None:
        """What was printed, if the shell is back."""
        back = _READY.search(said)
        if back is None:
            return None
        self.ended = int(back[1])
        return said[: back.start()]

    def _read(self, answers: list[str], *, stays: bool = False) -> str:
        """Read until the shell is back, or a server is there; answer whenever something is awaited."""
        raw, said, answered = b"", "", 0
        waiting = list(answers)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            said = _ESCAPE.sub("", raw.decode(errors="replace"))
            if (printed := self._end(said)) is not None:
                return printed
            if stays and said.endswith(_SERVES):
                return said
            if select.select([self._screen], [], [], 0.2)[0]:
                raw += self._more()
            elif _AWAITING.search(said[answered:]):
                answered = len(said)
                answer = waiting.pop(0) if waiting else "^C"
                os.write(self._screen, b"\x03" if answer == "^C" else f"{answer}\n".encode())
        raise AssertionError(f"still running after {_PATIENCE:g} s:\n{said}")


class Started(Shell):
    """A terminal with one program of ours in it, which starts at once."""

    def __init__(self, words: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._screen, terminal = _terminal()
        self._place = folder
        self._program = Forked(words, cwd=folder, env=env, terminal=terminal)
        os.close(terminal)
        self._gone = False
        self.ended: int | None = None

    @property
    def folder(self) -> Path:
        return self._place

    def read(self, answers: list[str], *, stays: bool) -> str:
        """Answer its prompts, and return what it printed."""
        return self._read(answers, stays=stays)

    def close(self) -> None:
        self._program.kill()
        self._program.wait()
        os.close(self._screen)

    def _more(self) -> bytes:
        try:
            return os.read(self._screen, 65536)
        except OSError:  # nobody has the terminal any more
            self._gone = True
            return b""

    def _end(self, said: str) -> str | None:
        if not self._gone:
            return None
        code = self._program.wait()
        self.ended = code if code >= 0 else 128 - code  # as a shell says it
        return said


def _terminal() -> tuple[int, int]:
    """Both ends of a new one, ours first."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return screen, terminal
