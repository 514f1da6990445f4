"""Files for the account that runs a program alone: a desk holds whatever people are shown."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

BESIDE = ("-wal", "-shm")  # what SQLite keeps beside a file; created with the rights of that
_MAKING = threading.Lock()


def private(path: str, flags: int) -> int:
    """Open a file, as `opener` of `open`: a new one is for its owner alone."""
    return os.open(path, flags, 0o600)


def make_private(file: Path) -> None:
    """Create an empty file for its owner alone, if there is none; a folder that refuses says so later.

    One thread at a time: closing a file lets go of all locks that the process has on it, so nobody
    may have connected before the one who made it has closed it.
    """
    with _MAKING, suppress(OSError):
        if not file.exists():
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR
            os.close(private(os.path.realpath(file), flags))
