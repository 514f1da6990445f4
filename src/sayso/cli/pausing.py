"""Ctrl-C while a run is carried on here: the first pauses it, the second leaves at once.

A model that thinks, or a step, can be left at any moment: it is only asked, or
taken, again. A call that is being carried out should come to its end, or nobody
would know whether it happened, and a person would have to say.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from sayso.asks.carrying import CURRENT
from sayso.cli.telling import Telling
from sayso.runs.here import inside_effect
from sayso.runs.worker import Shift

_ONE_WISH = 0.5  # a key that is held down sends the signal again and means it once
_WORD = b"\nPausing when what it does now is done. Ctrl-C again leaves at once.\n"


def _in_a_step() -> bool:
    """Whether the code that the signal came upon is a step: part of a run, and no effect."""
    return inside_effect() is not None and CURRENT.get(None) is None


@contextmanager
def pausing(telling: Telling) -> Iterator[Shift]:
    """Let Ctrl-C end the shift in which a run is carried on."""
    shift, first = Shift(), 0.0

    def come(_: int, __: FrameType | None) -> None:
        nonlocal first
        if not shift.stopping():
            first = time.monotonic()
            shift.over.set()
            telling.pausing = True
            if telling.thinks or _in_a_step():
                raise KeyboardInterrupt
            if not telling.moves:  # else the moving line says so
                os.write(2, _WORD)  # not `print`: a signal may come in the middle of one
        elif time.monotonic() - first > _ONE_WISH:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # and a third one ends the process
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield shift
        return
    before = signal.signal(signal.SIGINT, come)
    try:
        yield shift
    finally:
        signal.signal(signal.SIGINT, before)
        telling.pausing = False
