"""Debian's chromium, driven by playwright. It reaches this machine and nothing else."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.browser.panes import Panes

ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A name or an address elsewhere is not found, whatever a page asks for.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
# For hundreds of pages that are looked at for a second each, one after the other.
BRIEF = (
    # A page of ours after an empty one stays in the process that is there.
    "--process-per-site",
    "--renderer-process-limit=1",
    # To make a script faster takes longer than it runs; what was compiled is used again.
    "--js-flags=--no-opt --no-maglev --no-flush-bytecode",
)
# The same browser without its windows takes about half the work for a page.
BROWSERS = ("chromium-headless-shell", "chromium")
MISSING = (
    "The pages are tested in a real browser, and there is none: {} is no program. Install it: "
    "sudo apt-get install chromium-headless-shell fonts-dejavu-core fonts-noto-color-emoji "
    "(`make test` does so for root), or name another one: SAYSO_CHROMIUM=/path/to/chromium."
)


def chromium() -> str:
    """Return the path of the browser; fail with how to install it if there is none."""
    named = os.environ.get("SAYSO_CHROMIUM")
    wanted = BROWSERS if named is None else (named,)
    found = next(filter(None, map(shutil.which, wanted)), None)
    if found is None:
        raise RuntimeError(MISSING.format(" or ".join(map(repr, wanted))))
    return found


def launched(playwright: Playwright, *more: str) -> Browser:
    return playwright.chromium.launch(executable_path=chromium(), args=[*ARGS, *more])


class Chrome:
    """The one browser of a test run: started by the first who needs it."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._panes: Panes | None = None

    def panes(self) -> Panes:
        if self._panes is None:
            chromium()
            self._playwright = sync_playwright().start()
            self._browser = launched(self._playwright, *BRIEF)
            self._panes = Panes(self._browser)
        return self._panes

    def quit(self) -> None:
        if self._browser is not None:
            self._browser.close()
        if self._playwright is not None:
            self._playwright.stop()
        self._browser = self._playwright = self._panes = None
