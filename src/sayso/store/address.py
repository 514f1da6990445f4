"""The address of a desk: a plain path taken for the file it is, and an address as it may be shown."""

from __future__ import annotations

import os
import re
from pathlib import PurePath

from sayso.errors import BadValue

_LOGIN = re.compile(r"(?:(?<=/)|^)([^/?#:@]*):[^/?#]*@")
_QUERY = re.compile(r"([?&](?:ssl)?password=)[^&#]*", re.IGNORECASE)
# Whatever else looks like a mistyped address must not become a file of that name.
_PATH = re.compile(r"(?!.*//)[^:?#\0]*[^:?#\0/]\.(?:db|sqlite3?)", re.IGNORECASE)


def url_of(given: str | os.PathLike[str]) -> str:
    """Return the URL of a desk that was named by its URL or by the path of its file.

    Raises:
        BadValue: it is neither a text nor a path.
    """
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(text, str):
        raise BadValue(f"A desk is named by a text or a path, not by {type(given).__name__}.")
    return f"sqlite:///{PurePath(text)}" if _PATH.fullmatch(text) else text


def without_password(url: str) -> str:
    """Return the address fit for messages and logs, whatever its scheme."""
    return _QUERY.sub(r"\1...", _LOGIN.sub(r"\1@", url))
