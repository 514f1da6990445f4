"""A window of somebody's browser, which notes everything that pages do wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
)

from tests.browser.axe.run import Violation, violations_of
from tests.browser.panes import Pane, Panes

Theme = Literal["light", "dark"]
DESKTOP = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)
# Milliseconds until whatever a test waits for is given up; machines are slow at times.
PATIENCE = 45_000
GUARDED = 2_000  # for which an ask takes no decision after it has appeared, at most

# The browser's own word on a status; what it means is judged by the response itself.
_STATUS = re.compile(r"Failed to load resource: the server responded with a status of 4\d\d")
_PARTS = frozenset(("script", "stylesheet", "font", "image"))  # of a page: none may be missing

expect.set_options(timeout=PATIENCE)


class Window:
    """One page in a context of its own. What it complained about fails the test at its end."""

    def __init__(
        self,
        panes: Panes,
        url: str,
        *,
        cookies: Sequence[Any] = (),
        js: bool = True,
        size: ViewportSize = DESKTOP,
        theme: Theme = "light",
        bypass_csp: bool = False,
        touch: bool = False,
        own: bool = False,
        **given: Any,
    ) -> None:
        self.url = url
        self.js = js
        self.complaints: list[str] = []
        self._forgiven: list[str] = []
        self._stands = False  # its clock moves only as far as a test says
        self._own = own  # changed in ways that stay: nobody gets it afterwards
        options = {"base_url": url, "java_script_enabled": js, "bypass_csp": bypass_csp}
        self._panes = panes
        self._pane = panes.take({**options, "has_touch": touch, **given}, PATIENCE)
        self._pane.tell = self._told
        self.page: Page = self._pane.page
        self.page.set_viewport_size(size)
        self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        if cookies:
            self._pane.context.add_cookies([*cookies])

    @property
    def context(self) -> BrowserContext:
        """All of the browser that is this window's. Whoever asks for it changes it for good."""
        self._own = True
        return self._pane.context

    @property
    def pane(self) -> Pane:
        """The pane itself. Whoever asks for it changes it for good."""
        self._own = True
        return self._pane

    # --- what went wrong ---

    def _told(self, what: ConsoleMessage | Error | Request | Response) -> None:
        if isinstance(what, ConsoleMessage):
            self._heard(what)
        elif isinstance(what, Request):
            self._asked(what)
        elif isinstance(what, Response):
            self._answered(what)
        else:
            self.complaints.append(f"error: {what}")

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _STATUS.match(message.text):
            self.complaints.append(f"console: {message.text} ({message.location.get('url')})")

    def _asked(self, request: Request) -> None:
        where = urlsplit(request.url)
        if where.scheme in ("http", "https") and where.hostname != "127.0.0.1":
            self.complaints.append(f"asked another host: {request.url}")

    def _answered(self, response: Response) -> None:
        missing = response.status >= 400 and response.request.resource_type in _PARTS
        if missing or response.status >= 500:
            self.complaints.append(f"{response.status}: {response.url}")

    def forgive(self, *parts: str) -> None:
        """Let complaints with these words pass: the test brings them about."""
        self._forgiven += parts

    def close(self, *, again: bool = True) -> list[str]:
        """Close it, and return what it complained about; `again` if others may have its context."""
        self._pane.settle()
        if again and not self._own and not self.page.is_closed():
            self._panes.give(self._pane)
        else:
            self._pane.context.close()
        return [
            said for said in self.complaints if not any(part in said for part in self._forgiven)
        ]

    def picture(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=file, full_page=False)

    # --- going about ---

    def visit(self, path: str) -> Window:
        """Go to a page of ours, and wait until its scripts run and what is pressed counts."""
        self.page.goto(path, wait_until="domcontentloaded")
        return self.ready()

    def stands(self) -> Window:
        """Stop the page's clock, which from now on moves with `passes` alone. Nobody gets it back."""
        self._own = self._stands = True
        self.page.clock.pause_at(self.page.evaluate("Date.now()") / 1000 + 1)
        return self

    def goes_on(self) -> Window:
        """Let the page's clock go on by itself."""
        self._stands = False
        self.page.clock.resume()
        return self

    def painted(self, ask_id: str) -> Window:
        """Move the page's clock, which stands, on until an ask is seen that takes no decision yet."""
        seen = self(f'html[data-arming=counting]:has(article.ask[data-ask="{ask_id}"])')
        ends = monotonic() + PATIENCE / 1000
        while monotonic() < ends:
            if seen.count():
                return self
            self.passes(1)
        raise AssertionError(f"{ask_id} never appeared")

    def ready(self) -> Window:
        """Wait until the scripts of the page run; without JavaScript there is nothing to wait for."""
        if self.js:
            expect(self.page.locator("html[data-ready]")).to_be_attached()
        return self.armed()

    def armed(self) -> Window:
        """Let the time pass for which what has just appeared takes no decision."""
        if self.js:
            expect(self.page.locator("html:not([data-arming=coming])")).to_be_attached()
            if self.page.locator("html[data-arming]").count():
                self.page.clock.fast_forward(GUARDED)
            expect(self.page.locator("html:not([data-arming])")).to_be_attached()
        return self

    def idle(self) -> Window:
        """Wait until nothing that was asked of the server is on its way."""
        if self.js:
            expect(self.page.locator(".htmx-request")).to_have_count(0)
        return self

    def passes(self, milliseconds: int) -> Window:
        """Let so much time pass for the page: for what it does by its own clock."""
        if self._stands:
            self.page.clock.run_for(milliseconds)
            return self
        ends = self.page.evaluate("() => performance.now()") + milliseconds
        self.page.wait_for_function("(ends) => performance.now() >= ends", arg=ends)
        return self

    # --- what is on the page ---

    def __call__(self, selector: str, **given: Any) -> Locator:
        return self.page.locator(selector, **given)

    @property
    def ask(self) -> str | None:
        """The ask on screen."""
        return self("article.ask").get_attribute("data-ask")

    @property
    def rows(self) -> list[str]:
        """The asks of the list, in order."""
        return self("#queue .row").evaluate_all("rows => rows.map((row) => row.dataset.ask)")  # type: ignore[no-any-return]

    def shows(self, ask_id: str) -> Window:
        """Wait until this ask is the one on screen, and can be decided."""
        expect(self(f'article.ask[data-ask="{ask_id}"]')).to_be_attached()
        return self

    def verdict(self, verdict: str) -> Locator:
        """The button that gives a verdict on the ask on screen."""
        return self(f'main#detail button[name=verdict][value="{verdict}"]').first

    def note(self, ask_id: str) -> Locator:
        """The note to the agent, unfolded."""
        note = self(f"#note-{ask_id}")
        fold = self("details", has=note).last
        if fold.count() and fold.get_attribute("open") is None:
            fold.locator("summary").first.click()
        return note

    def pick(self, selector: str) -> None:
        """Tick a box or a radio button as people do: on its label."""
        self(selector).locator("xpath=ancestor::label[1]").click()

    # --- for everybody ---

    def violations(self, rules: Sequence[str] | None = None) -> list[Violation]:
        """Return what axe finds wrong with the page, by all rules or by a few."""
        return violations_of(self.page, rules)

    def too_wide(self) -> list[str]:
        """Return what makes the page scroll sideways, widest first."""
        return self.page.evaluate(_TOO_WIDE)  # type: ignore[no-any-return]

    def too_small(self) -> list[str]:
        """Return the targets that are smaller than 24 by 24 pixels."""
        return self.page.evaluate(_TOO_SMALL)  # type: ignore[no-any-return]

    def covered(self, place: str = ".bar") -> list[str]:
        """Return the targets in there that a finger or a mouse would miss: cut off, or under others."""
        return self.page.evaluate(_COVERED, place)  # type: ignore[no-any-return]

    def scripted(self) -> bool:
        """Whether text of an agent has run as a script."""
        return bool(self.page.evaluate("Boolean(window.pwned)"))


_TOO_WIDE = """
() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  return [...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > wide + 1)
    .map((one) => `${one.tagName}.${one.className} ${one.getBoundingClientRect().right}`)
    .slice(0, 10);
}
"""
# WCAG 2.5.8: links inside a sentence are as high as the sentence.
_TOO_SMALL = """
() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
  .filter((one) => one.checkVisibility({visibilityProperty: true, opacityProperty: true}))
  .filter((one) => !(one.tagName === 'A' && getComputedStyle(one).display === 'inline'))
  .filter((one) => one.type !== 'hidden')
  .map((one) => [one.closest('label') ?? one, one])
  .map(([area, one]) => [area.getBoundingClientRect(), one])
  .filter(([box]) => box.width > 0 && (box.width < 24 || box.height < 24))
  .map(([box, one]) => `${one.outerHTML.slice(0, 120)} ${box.width}x${box.height}`)
"""
# Its middle and both its ends: what is cut off at one side can still be hit in the middle.
_COVERED = """
(place) => document.querySelector('dialog[open]') ? [] : [...document.querySelectorAll(place)]
  .flatMap((one) => [...one.querySelectorAll('a[href], button, input, textarea, summary')])
  .filter((one) => one.type !== 'hidden' && one.checkVisibility())
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, box]) => [box.left + 4, (box.left + box.right) / 2, box.right - 4].some((x) => {
    const hit = document.elementFromPoint(x, (box.top + box.bottom) / 2);
    return !hit || !(one.contains(hit) || hit.contains(one) && hit.matches('label'));
  }))
  .map(([one, box]) => `${one.outerHTML.slice(0, 120)} ${box.left},${box.top} ${box.width}x${box.height}`)
"""
