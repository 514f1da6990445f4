"""A real shell at a real terminal of 80 columns, in which the lines of a page are typed.

One shell does for a page, so that `cd`, `export` and `activate` last as they do for a reader. What
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
from collections.abc import Mapping
from pathlib import Path

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
        self._screen, terminal = pty.openpty()
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
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

    def _read(self, answers: list[str], *, stays: bool = False) -> str:
        """Read until the shell is back, or a server is there; answer whenever something is awaited."""
        raw, said, answered = b"", "", 0
        waiting = list(answers)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            said = _ESCAPE.sub("", raw.decode(errors="replace"))
            if back := _READY.search(said):
                self.ended = int(back[1])
                return said[: back.start()]
            if stays and said.endswith(_SERVES):
                return said
            if select.select([self._screen], [], [], 0.2)[0]:
                raw += os.read(self._screen, 65536)
            elif _AWAITING.search(said[answered:]):
                answered = len(said)
                answer = waiting.pop(0) if waiting else "^C"
                os.write(self._screen, b"\x03" if answer == "^C" else f"{answer}\n".encode())
        raise AssertionError(f"still running after {_PATIENCE:g} s:\n{said}")
