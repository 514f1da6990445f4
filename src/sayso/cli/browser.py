"""Opens a page in the browser of whoever sits here, without showing its secret to others."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path

_HOP = '<!doctype html><meta http-equiv="refresh" content="0;url={url}"><title>sayso</title>\n'


@contextmanager
def shown_in_browser(url: str) -> Iterator[None]:
    """Open an address, if somebody sits at a screen here.

    What a program is started with can be read by everybody on the machine. So the browser is
    given a file that only this account can read, and the file has the address.
    """
    if not _somebody_here():
        yield
        return
    with tempfile.NamedTemporaryFile("w", prefix="sayso-", suffix=".html") as hop:  # mode 0600
        hop.write(_HOP.format(url=escape(url, quote=True)))
        hop.flush()
        with suppress(webbrowser.Error):  # the link was printed, too
            webbrowser.open(Path(hop.name).as_uri())
        yield


def _somebody_here() -> bool:
    """Whether there is a screen: a browser in the terminal would cover what we print."""
    if not sys.stdout.isatty() or os.environ.get("CI") in {"true", "1"}:
        return False
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
