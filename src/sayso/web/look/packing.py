"""What goes over the wire smaller: gzip, for whoever says that it reads it."""

from __future__ import annotations

import gzip

from starlette.datastructures import Headers
from starlette.types import Scope

LEAST = 500  # bytes; less than this does not get smaller


def packed(body: bytes, level: int = 6) -> bytes:
    """Return the same, packed; the same bytes each time."""
    return gzip.compress(body, level, mtime=0)


def unpacks(scope: Scope) -> bool:
    """Say whether whoever asks reads gzip; `gzip;q=0` is a no."""
    for offer in Headers(scope=scope).get("accept-encoding", "").split(","):
        name, _, weight = offer.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
