"""The address of a desk, as it may be shown."""

from __future__ import annotations

import re

_LOGIN = re.compile(r"(?<=://)([^/?#:@]*):[^/?#]*@")
_QUERY = re.compile(r"([?&](?:ssl)?password=)[^&#]*", re.IGNORECASE)


def without_password(url: str) -> str:
    """Return the address fit for messages and logs, whatever its scheme."""
    return _QUERY.sub(r"\1...", _LOGIN.sub(r"\1@", url))
