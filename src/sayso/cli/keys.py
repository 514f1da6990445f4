"""Single keys of a terminal, as they are pressed, and a wake-up for whoever waits for one."""

from __future__ import annotations

import os
import re
import select
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

_NAMED = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[H": "home",
    "\x1b[F": "end",
    "\r": "enter",
    "\n": "enter",
    "\x04": "q",  # Ctrl-D: the input ends
}
# An arrow arrives as three characters at once; a lone Escape is a key by itself.
_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)


class Wake:
    """Lets a signal, or another thread, end the wait for a key."""

    def __init__(self) -> None:
        self._heard, self._ring = os.pipe()
        os.set_blocking(self._ring, False)
        os.set_blocking(self._heard, False)

    def ring(self, *_: object) -> None:
        """End the wait; returns at once."""
        with suppress(BlockingIOError, OSError):  # full: somebody rang already
            os.write(self._ring, b"!")

    def fileno(self) -> int:
        """Return what to wait on."""
        return self._heard

    def clear(self) -> None:
        """Forget the rings so far."""
        with suppress(BlockingIOError):
            while os.read(self._heard, 4096):
                pass

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self._ring)
        os.close(self._heard)


def pressed(stdin: TextIO, wake: Wake, patience: float) -> list[str]:
    """Return the keys pressed by now, having waited for one, a ring, or until it took too long."""
    keyboard = stdin.fileno()
    ready, _, _ = select.select([keyboard, wake.fileno()], [], [], patience)
    wake.clear()
    if keyboard not in ready:
        return []
    try:
        typed = os.read(keyboard, 1024)
    except OSError:  # the terminal was closed
        typed = b""
    return keys_of(typed.decode(errors="replace")) if typed else ["q"]


def keys_of(typed: str) -> list[str]:
    """Return the names of keys: a letter as itself, the others as words."""
    return [_NAMED.get(key, key) for key in _KEY.findall(typed)]


@contextmanager
def single(stdin: TextIO) -> Iterator[None]:
    """Hand over each key as it is pressed, without showing it; lines again afterwards."""
    before = termios.tcgetattr(stdin)
    try:
        tty.setcbreak(stdin.fileno(), termios.TCSANOW)
        yield
    finally:
        with suppress(termios.error):  # the terminal may have gone
            termios.tcsetattr(stdin, termios.TCSANOW, before)
