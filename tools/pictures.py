"""Draw every view of the inbox into docs/images/, from `sayso demo`, in the browser of the tests.

    python -m tools.pictures [NAME ...]     all of them, or a few by name

Each view is drawn wide and narrow, light and dark: docs/images/NAME-{desktop,phone}-{light,dark}.png
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.browser.chrome import launched
from tools.palette import reduced

IMAGES = Path(__file__).parent.parent / "docs/images"
SIZES = {
    "desktop": ViewportSize(width=1440, height=900),
    "phone": ViewportSize(width=390, height=844),
}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
COLOURS = 96  # about 4 MB for all of them
# The machine that draws has a name, and nobody wants to know it.
_ELSEWHERE = """import os
_here = os.uname()
os.uname = lambda: os.uname_result((_here.sysname, "laptop", *_here[2:]))
"""
_LINK = re.compile(r"http://127\.0\.0\.1:\d+/\?t=\S+")


@contextmanager
def demo() -> Iterator[str]:
    """Start the demo, and give its one-time address."""
    command = [str(Path(sys.executable).with_name("sayso")), "demo", "--no-open", "--port", "0"]
    with TemporaryDirectory() as first:
        Path(first, "sitecustomize.py").write_text(_ELSEWHERE)
        path = os.pathsep.join(filter(None, (first, os.environ.get("PYTHONPATH"))))
        somebody = {**os.environ, "LOGNAME": "anna", "PYTHONPATH": path}  # and not whoever draws
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=somebody
        )
        try:
            for line in process.stdout or ():
                if found := _LINK.search(line):
                    yield found[0]
                    return
            raise RuntimeError("the demo did not start")
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


# --- the views --------------------------------------------------------------------------------


def ready(page: Page) -> None:
    """Wait until a page is there, with its fonts."""
    page.wait_for_selector("html[data-ready]:not([data-arming])", state="attached")
    page.wait_for_function("() => document.fonts.status === 'loaded'")


def go(page: Page, path: str) -> None:
    """Go to a page."""
    page.goto(path, wait_until="load")
    ready(page)


def row(page: Page, words: str) -> None:
    """Open the first ask of the list that fits: `[data-kind=plan]`, or words of its title."""
    go(page, "/inbox?view=team")
    link = page.locator(f"#queue .row{words} a.row-link").first
    go(page, link.get_attribute("href") or "")


def of_kind(kind: str) -> Callable[[Page], None]:
    """Show the first ask of a kind."""
    return lambda page: row(page, f'[data-kind="{kind}"]')


def centred(page: Page, place: str) -> None:
    """Scroll something to the middle: at the end the bar would lie over it."""
    page.locator(place).first.evaluate("(one) => one.scrollIntoView({ block: 'center' })")


def edited(page: Page) -> None:
    """Show an ask with something typed into it."""
    of_kind("action")(page)
    page.locator("main#detail .field textarea").first.fill("Something else.")
    centred(page, "main#detail section.edits")


def undo(page: Page) -> None:
    """Show a decision that can be undone."""
    row(page, "[data-bulk]")
    page.locator("main#detail .bar button[data-arms]").first.click()
    page.wait_for_selector("#toast form.undo")


def undone(page: Page) -> None:
    """Undo it, unless the machine was so slow that it counts already."""
    if page.locator("#toast form.undo button").count():
        page.locator("#toast form.undo button").click()
        page.wait_for_selector("#toast form.undo", state="detached")


def first_sight(page: Page) -> None:
    """Show what somebody sees who has just come in."""
    go(page, "/inbox")


def moving(page: Page) -> None:
    """Show the stops while a run is being carried on, or after it."""
    go(page, "/tour/7")
    if page.locator("main#detail .bar button[data-arms]").count():
        page.locator("main#detail .bar button[data-arms]").first.click()
        page.wait_for_selector("#toast form.undo")
    go(page, "/tour")
    stop = page.locator('[data-stop="7"]')
    stop.locator("progress, .over").first.wait_for(timeout=60_000)
    stop.scroll_into_view_if_needed()


def bulk(page: Page) -> None:
    """Show the list of several asks that are about to be decided."""
    go(page, "/inbox?view=team")
    kind = page.locator("#queue .row[data-bulk]").first.get_attribute("data-kind")
    picks = page.locator(f'#queue .row[data-bulk][data-kind="{kind}"] input.pick')
    for place in range(min(3, picks.count())):
        picks.nth(place).evaluate("(one) => one.click()")  # a toast may lie over it
    page.locator(".bulk-bar button[value=approve]").click()
    page.wait_for_selector("button[name=sure]")


def turn(page: Page) -> None:
    """Show the calls of one turn."""
    go(page, "/inbox?view=team")
    for href in page.locator("#queue .row[data-kind=action] a.row-link").evaluate_all(
        "(links) => links.map((one) => one.getAttribute('href'))"
    ):
        go(page, href)
        together = page.locator('main#detail a[href$="/turn"]')
        if together.count():
            go(page, together.first.get_attribute("href") or "")
            return
    raise RuntimeError("no turn of several calls is open")


def palette(page: Page) -> None:
    """Show the palette."""
    go(page, "/inbox?view=team")
    page.keyboard.press("Control+k")
    page.wait_for_selector("dialog#palette [role=option]")


def keys(page: Page) -> None:
    """Show the sheet of keys."""
    go(page, "/inbox?view=team")
    page.keyboard.press("?")
    page.wait_for_selector("dialog#help[open]")


def json_tab(page: Page) -> None:
    """Show the arguments as JSON."""
    of_kind("action")(page)
    page.locator("main#detail [name=tab][value=json]").check(force=True)
    page.wait_for_selector("main#detail textarea[name=json]")
    centred(page, "main#detail textarea[name=json]")


def proof(page: Page) -> None:
    """Show the journal once it was verified."""
    go(page, "/audit")
    page.locator("form[action='/audit/verification'] button").click()
    page.wait_for_selector("#proof .finding")
    ready(page)


def record(page: Page) -> None:
    """Show the full record of the ask that came last."""
    go(page, "/audit?kind=ask.opened&tool=refund")
    go(page, page.locator("#events .about a").first.get_attribute("href") or "")


def one_run(page: Page) -> None:
    """Show a run that followed a plan."""
    go(page, "/runs?workflow=growth&status=done")
    go(page, page.locator(".run-line .line-title a").first.get_attribute("href") or "")


def one_key(page: Page) -> None:
    """Show everything that is known of a key that runs alone."""
    go(page, "/trust?standing=granted")
    go(page, page.locator(".key-name").first.get_attribute("href") or "")


def spot(page: Page) -> None:
    """Show an ask that is decided beside its run."""
    go(page, "/overview")
    page.locator("details.spot > summary").first.click()
    page.locator("details.spot").first.scroll_into_view_if_needed()


View = Callable[[Page], None]
VIEWS: dict[str, View] = {
    "queue": lambda page: go(page, "/inbox"),
    **{kind: of_kind(kind) for kind in ("action", "plan", "draft", "question", "choice")},
    **{kind: of_kind(kind) for kind in ("notice", "feedback", "doubt")},
    "edited": edited,
    "json": json_tab,
    "turn": turn,
    "bulk": bulk,
    "palette": palette,
    "keys": keys,
    "decided": lambda page: go(page, "/inbox?view=decided"),
    "empty": lambda page: go(page, "/inbox?q=nothing-is-called-so"),
    "policies": lambda page: go(page, "/policies?tool=refund&risk=critical&reversible=no"),
    "people": lambda page: go(page, "/people"),
    "tokens": lambda page: go(page, "/people/tokens"),
    "undo": undo,
    "first": first_sight,
    "stop": lambda page: go(page, "/tour/2"),
    "tour": lambda page: go(page, "/tour"),
    "moving": moving,
    "audit": lambda page: go(page, "/audit?kind=ask.*&since=7d"),
    "proof": proof,
    "record": record,
    "overview": lambda page: go(page, "/overview"),
    "spot": spot,
    "runs": lambda page: go(page, "/runs"),
    "trust": lambda page: go(page, "/trust"),
    "key": one_key,
    "insights": lambda page: go(page, "/insights"),
    "run": one_run,
}
GUIDED = ("first", "stop", "tour", "moving")  # everywhere else the line of the tour is put away
AFTER: dict[str, View] = {"undo": undone}  # so that the next picture finds the desk as it was


def draw(browser: Browser, link: str, names: list[str]) -> None:
    """Draw these views."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    url = link.partition("/?")[0]
    first = browser.new_context()
    counting = first.new_page()
    counting.goto(link)
    cookies: Any = first.cookies()
    tour = f"{cookies[0]['name']}_tour"
    for size, box in SIZES.items():
        for theme in THEMES:
            context = browser.new_context(
                base_url=url,
                viewport=box,
                color_scheme=theme,
                reduced_motion="reduce",
                storage_state={"cookies": cookies},
            )
            page = context.new_page()
            for name in names:
                shown = "on" if name in GUIDED else "off"
                context.add_cookies([{"name": tour, "value": shown, "url": url}])
                VIEWS[name](page)
                file = IMAGES / f"{name}-{size}-{theme}.png"
                drawn = page.screenshot()
                if name in AFTER:  # at once: what is undone must not count meanwhile
                    AFTER[name](page)
                file.write_bytes(reduced(counting, drawn, COLOURS))
            context.close()
    first.close()


def main() -> None:
    """Draw what was asked for, and say how much it is."""
    names = sys.argv[1:] or [*VIEWS]
    with demo() as link, sync_playwright() as playwright:
        browser = launched(playwright)
        draw(browser, link, names)
        browser.close()
    files = [*IMAGES.glob("*.png")]
    print(f"{len(files)} pictures, {sum(f.stat().st_size for f in files) / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
