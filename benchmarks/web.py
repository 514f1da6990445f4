"""How much the inbox sends, and how long people wait for it, in Debian's chromium.

    load      bytes on the wire of the first page, with nothing in the browser's cache
    decide    milliseconds from a click on Approve to the decision on screen, and to the next ask
    move      milliseconds from a press of j or k to the other ask
    inbox     the first page of a desk with many open asks beside one with few, without a browser

Times of the browser are taken inside the page: from the time stamp of the click or key to the end
of the frame that shows the result. Both sides of `inbox` take turns, and the ratio is the result.
Everything is written to a temporary folder, and nothing leaves 127.0.0.1.

    python -m benchmarks.web [--quick] [--only load|decide|move|inbox]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import httpx2
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.http import served
from benchmarks.store import Database, Result, databases, filled
from sayso.access.sessions import open_session
from sayso.desk import Desk
from sayso.insight.reader import catch_up
from tests.browser.chrome import launched

WHO = "person-0"
SIZE = {"width": 1440, "height": 900}
# Resolves with the milliseconds from the next event of a kind to the frame that shows the selector.
STOPWATCH = """
window.stopwatch = (kind, selector) => {
  let begun, took;
  addEventListener(kind, (event) => { begun = event.timeStamp; }, { capture: true, once: true });
  const look = () => {
    if (begun === undefined || !document.querySelector(selector)) requestAnimationFrame(look);
    else setTimeout(() => { took = performance.now() - begun; });
  };
  requestAnimationFrame(look);
  return () => took;
};
"""


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    decisions: int
    moves: int
    few: int
    many: int
    looks: int


FULL = Sizes(decisions=40, moves=60, few=1_000, many=100_000, looks=60)
QUICK = Sizes(decisions=3, moves=4, few=60, many=200, looks=4)


@dataclass(frozen=True)
class Site:
    """A service, and the session of somebody who is signed in to it."""

    url: str
    cookie: tuple[str, str]

    @contextmanager
    def page(self, browser: Browser) -> Iterator[Page]:
        """Open a window in which nothing is cached."""
        context = browser.new_context(base_url=self.url, viewport=SIZE)  # type: ignore[arg-type]
        name, value = self.cookie
        context.add_cookies([{"name": name, "value": value, "url": self.url}])
        context.add_init_script(STOPWATCH)
        try:
            yield context.new_page()
        finally:
            context.close()


@contextmanager
def site(database: Database, name: str) -> Iterator[Site]:
    """Serve a database in a process of its own."""
    with served(database, name, 1) as server, database.desk(name) as desk:
        _, secret = open_session(
            desk.store, WHO, how="password", address="127.0.0.1", agent_string="benchmark"
        )
        yield Site(f"http://127.0.0.1:{server.port}", (f"sayso_{server.port}", secret))


def work(desk: Desk, number: int) -> None:
    """Ask for as many ordinary calls, each another one."""
    for order in range(number):
        desk.open(
            "refund",
            {"order": order, "amount": 40.5, "currency": "EUR", "to": "ada@example.com"},
            risk="medium",
            why="The customer was charged twice.",
            confidence=0.9,
        )


def settled(page: Page) -> None:
    """Wait until the page is there, and takes decisions."""
    page.wait_for_selector("html[data-ready]:not([data-arming])", state="attached")


# --- load -------------------------------------------------------------------------------------


def measure_load(browser: Browser, database: Database, sizes: Sizes) -> Iterator[Result]:
    with database.desk("load") as desk:
        work(desk, 20)
    with site(database, "load") as here, here.page(browser) as page:
        wire = page.context.new_cdp_session(page)
        wire.send("Network.enable")
        kinds: dict[str, str] = {}
        took: dict[str, float] = {}

        def answered(said: dict[str, object]) -> None:
            kinds[str(said["requestId"])] = str(said["type"])

        def finished(said: dict[str, float]) -> None:
            took[str(said["requestId"])] = float(said["encodedDataLength"])

        wire.on("Network.responseReceived", answered)
        wire.on("Network.loadingFinished", finished)
        page.goto("/inbox", wait_until="load")
        settled(page)
        page.wait_for_function("() => document.fonts.status === 'loaded'")
        page.evaluate("() => new Promise((done) => requestIdleCallback(done, {timeout: 2000}))")
    for kind in sorted(set(kinds.values())):
        sizes_of = [took[one] for one in took if kinds.get(one) == kind]
        print(f"  {kind}: {len(sizes_of)} answers, {sum(sizes_of) / 1024:.1f} KB")
    yield Result("first load on the wire", sum(took.values()) / 1024, "KB", 120)


# --- decide and move --------------------------------------------------------------------------


def timed(page: Page, kind: str, act: Callable[[], object], *selectors: str) -> list[float]:
    """Do something, and return the milliseconds until each of these was on screen."""
    page.evaluate(
        "([kind, wanted]) => { window.watches = wanted.map((one) => stopwatch(kind, one)); }",
        [kind, list(selectors)],
    )
    act()
    page.wait_for_function("() => window.watches.every((watch) => watch() !== undefined)")
    found: list[float] = page.evaluate("() => window.watches.map((watch) => watch())")
    return found


def on_screen(page: Page) -> str:
    return page.locator("article.ask").get_attribute("data-ask") or ""


def measure_decide(browser: Browser, database: Database, sizes: Sizes) -> Iterator[Result]:
    shown: list[float] = []
    following: list[float] = []
    with database.desk("decide") as desk:
        work(desk, sizes.decisions + 12)
    with site(database, "decide") as here, here.page(browser) as page:
        page.goto("/inbox")
        for number in range(-2, sizes.decisions):  # the first two warm up
            settled(page)
            ask = on_screen(page)
            approve = page.locator("#detail button[name=verdict][value=approve]").first
            decided, came = timed(
                page,
                "click",
                approve.click,
                f'#toast form.undo[action*="{ask}"]',
                f'article.ask:not([data-ask="{ask}"])',
            )
            if number >= 0:
                shown.append(decided)
                following.append(came)
    print(f"  decision on screen, ms: {spread(shown)}")
    print(f"  next ask on screen, ms: {spread(following)}")
    yield Result("click to visible decision", median(shown), "ms", 100)
    yield Result("click to the next ask", median(following), "ms", 150)


def measure_move(browser: Browser, database: Database, sizes: Sizes) -> Iterator[Result]:
    took: list[float] = []
    with database.desk("move") as desk:
        work(desk, 20)
    with site(database, "move") as here, here.page(browser) as page:
        page.goto("/inbox")
        for number in range(-4, sizes.moves):
            settled(page)
            ask = on_screen(page)
            key = "j" if (number + 4) % 8 < 4 else "k"
            other = f'article.ask:not([data-ask="{ask}"])'
            [moved] = timed(page, "keydown", lambda: page.keyboard.press(key), other)  # noqa: B023
            if number >= 0:
                took.append(moved)
    print(f"  other ask on screen, ms: {spread(took)}")
    yield Result("j or k to the other ask", median(took), "ms", 100)


def spread(found: list[float]) -> str:
    ordered = sorted(found)
    middle = f"least {ordered[0]:.0f}, median {median(ordered):.0f}, most {ordered[-1]:.0f}"
    return f"{middle} of {len(ordered)}"


# --- inbox ------------------------------------------------------------------------------------


def measure_inbox(_browser: Browser, database: Database, sizes: Sizes) -> Iterator[Result]:
    for name, waiting in (("few", sizes.few), ("many", sizes.many)):
        with filled(database, name, waiting, 0) as desk:
            # The indexes read the journal in the background; that is not what is measured.
            catch_up(desk.store)
    with site(database, "few") as small, site(database, "many") as large:
        clients = [
            httpx2.Client(base_url=one.url, cookies=dict([one.cookie]), timeout=60)
            for one in (small, large)
        ]
        for _ in range(max(2, sizes.looks // 4)):
            for client in clients:
                look(client)
        pairs = [tuple(look(client) for client in clients) for _ in range(sizes.looks)]
        for client in clients:
            client.close()
    few, many = (median(side) for side in zip(*pairs, strict=True))
    print(f"  {sizes.few:,} open: {few:.1f} ms; {sizes.many:,} open: {many:.1f} ms")
    ratio = median(large / small for small, large in pairs)
    yield Result(f"{database.name}: inbox, many open by few", ratio, "", 2)


def look(client: httpx2.Client) -> float:
    """Return how many milliseconds the page takes the server."""
    start = time.perf_counter()
    answer = client.get("/inbox", headers={"Accept": "text/html"})
    took = time.perf_counter() - start
    if answer.status_code != 200 or 'class="row' not in answer.text:
        raise RuntimeError(f"{answer.url} answered {answer.status_code} without a list")
    return took * 1000


# ----------------------------------------------------------------------------------------------

# The browser is the same whatever the desk is kept in; only the list differs.
PARTS: tuple[tuple[str, Callable[[Browser, Database, Sizes], Iterator[Result]], int], ...] = (
    ("load", measure_load, 1),
    ("decide", measure_decide, 1),
    ("move", measure_move, 1),
    ("inbox", measure_inbox, 2),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="How much the inbox sends, and how fast it is.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=[part for part, *_ in PARTS])
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    results: list[Result] = []
    with databases() as both, sync_playwright() as playwright:
        browser = launched(playwright)
        for part, measure, kinds in PARTS:
            if given.only not in (None, part):
                continue
            for database in both[:kinds]:
                print(f"{part}, {database.name}")
                results += measure(browser, database, sizes)
        browser.close()
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
