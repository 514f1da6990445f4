"""Lines typed at a terminal, with an eye on the world while nobody types.

`input()` blocks until somebody presses Enter, so a question that was answered
elsewhere would stay on the screen for ever. Here the wait is cut into short
looks: at the keys, and at whether the question still stands.
"""

from __future__ import annotations

import os
import select
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TextIO

LOOK_EVERY = 0.5
_LINE = 64 * 1024


class Keys(Protocol):
    """Where lines come from: a terminal, or a script that plays somebody at one."""

    def present(self) -> bool:
        """Whether somebody could type here."""
        ...

    def forget(self) -> None:
        """Drop what was typed before the question was shown."""
        ...

    def line(self, going_on: Callable[[], bool]) -> str | None:
        """Return the next line; `None` when the input ends, or nothing is going on any more."""
        ...


class Keyboard:
    """The keys of a terminal. Nothing is read beyond the line that is asked for."""

    def __init__(self, stdin: TextIO | None = None) -> None:
        self._given = stdin

    @property
    def _fd(self) -> int | None:
        stream = self._given or sys.stdin  # looked up late: a test or a program may replace it
        try:
            return stream.fileno()
        except (AttributeError, OSError, ValueError):
            return None

    def present(self) -> bool:
        """Whether there is a terminal, this program is in front of it, and it is no robot's."""
        fd = self._fd
        if fd is None or not os.isatty(fd) or os.environ.get("CI", "").lower() in ("true", "1"):
            return False
        try:
            # Reading from behind (`program &`) would stop the whole program.
            return os.tcgetpgrp(fd) == os.getpgrp()
        except OSError:  # not the terminal this program belongs to: nobody stops us
            return True

    def forget(self) -> None:
        """Drop what was typed before the question was shown: it was meant for another (E31)."""
        fd = self._fd
        if fd is not None:
            with suppress(termios.error):
                termios.tcflush(fd, termios.TCIFLUSH)

    def line(self, going_on: Callable[[], bool]) -> str | None:
        """Return the next line without its end; `None` when the input ends or nothing goes on."""
        fd = self._fd
        if fd is None:
            return None
        while not select.select([fd], [], [], LOOK_EVERY)[0]:
            if not going_on():
                return None
        try:
            # A terminal hands over one line at a time, so this takes nothing from the program.
            typed = os.read(fd, _LINE)
        except OSError:  # the terminal was closed
            return None
        return typed.decode(errors="replace").rstrip("\r\n") if typed else None
