"""Browser contexts that are used again, each with its page: a new one takes three times the work.

Whoever takes one finds it like new: no cookies, nothing stored, an empty page. Whoever changed one
in ways that stay does not give it back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Response,
)

MOST = 6  # that nobody uses: those of servers that are gone make room

# Every violation is an event of the document as well as a line in the console.
_WATCH = """
addEventListener('securitypolicyviolation', (event) => console.error(
  `CSP: ${event.violatedDirective} blocked ${event.blockedURI} in ${event.sourceFile}`));
"""
# What the page had stored goes, and whatever is on its way to us arrives before the answer.
_FORGET = "location.protocol === 'http:' && (localStorage.clear(), sessionStorage.clear())"

Options = dict[str, Any]
Tell = Callable[[ConsoleMessage | Error | Request | Response], None]


class Pane:
    """A context with its page. What happens in it is told to whoever looks through it."""

    def __init__(self, browser: Browser, options: Options, patience: int) -> None:
        self.options = options
        self.tell: Tell | None = None
        self.context: BrowserContext = browser.new_context(reduced_motion="reduce", **options)
        self.context.set_default_timeout(patience)
        if options["java_script_enabled"]:
            self.context.clock.install()  # it goes on by itself, and tests may move it on
        if not options["bypass_csp"]:
            self.context.add_init_script(_WATCH)
        self.context.on("console", self._happened)
        self.context.on("weberror", lambda error: self._happened(error.error))
        self.context.on("request", self._happened)
        self.context.on("response", self._happened)
        self.page: Page = self.context.new_page()
        if not options["java_script_enabled"]:
            self.hurry(100)

    def hurry(self, times: float) -> None:
        """Let the page's animations go faster: without scripts they are what makes people wait."""
        wire = self.context.new_cdp_session(self.page)
        wire.send("Animation.enable")
        wire.send("Animation.setPlaybackRate", {"playbackRate": times})

    def _happened(self, what: ConsoleMessage | Error | Request | Response) -> None:
        if self.tell is not None:
            self.tell(what)

    def settle(self) -> None:
        """Let everything be told that has happened."""
        if not self.page.is_closed():
            self.page.evaluate(_FORGET)

    def clean(self) -> None:
        """Leave nothing of what was done here."""
        self.tell = None
        self.page.goto("about:blank")
        self.context.clear_cookies()


class Panes:
    """Those of one browser: `take` one and `give` it back."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: list[Pane] = []

    def take(self, options: Options, patience: int) -> Pane:
        """Return one with these options: used before, or new."""
        for pane in self._idle:
            if pane.options == options:
                self._idle.remove(pane)
                return pane
        return Pane(self._browser, options, patience)

    def give(self, pane: Pane) -> None:
        """Keep one for the next; the one that nobody took for longest goes, if there are many."""
        pane.clean()
        self._idle.append(pane)
        while len(self._idle) > MOST:
            self._idle.pop(0).context.close()
