"""Pages for everybody: axe finds nothing, nothing scrolls sideways, everything can be hit.

What a page does against its own content security policy fails these tests as all others.

Every page and state is in `tests/web/gallery.py`; what appears while one works is looked at as well.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from playwright.sync_api import ViewportSize, expect

from tests.browser.office import Office
from tests.browser.window import DESKTOP, PHONE, Theme, Window
from tests.together import until
from tests.web.gallery import make_app, pages

LAPTOP = ViewportSize(width=1280, height=800)
NARROW = ViewportSize(width=320, height=640)


@pytest.fixture
def gallery(window: Callable[..., Window]) -> Iterator[Window]:
    """A window at every page in every state, with the headers and static files of the service."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        server = uvicorn.Server(uvicorn.Config(make_app(), log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        until(lambda: server.started)
        here = window(f"http://127.0.0.1:{listening.getsockname()[1]}")
        # Nobody streams events here, and files are elsewhere; what breaks the policy is not forgiven.
        here.forgive("EventSource", "/files/")
        yield here
        server.should_exit = True
        thread.join(20)


COLOURS = ("color-contrast", "link-in-text-block")  # all that a theme can break
# Everything once, and the colours of the other theme on the other screen.
LOOKS: tuple[tuple[ViewportSize, Theme, tuple[str, ...] | None], ...] = (
    (DESKTOP, "light", None),
    (PHONE, "dark", COLOURS),
)


def looked_at(here: Window) -> list[str]:
    """Return what is wrong with the page on screen: light and dark, wide and narrow."""
    wrong: list[str] = []
    for size, theme, rules in LOOKS:
        here.page.set_viewport_size(size)
        here.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        where = f"{size['width']} {theme}"
        wrong += [f"{where}: {one}" for one in here.violations(rules)]
        wrong += [f"{size['width']}: below 24 pixels: {one}" for one in here.too_small()]
        wrong += [f"{size['width']}: too wide: {one}" for one in here.too_wide()]
        wrong += [f"{size['width']}: covered: {one}" for one in here.covered()]
    here.page.set_viewport_size(NARROW)
    wrong += [f"320: too wide: {one}" for one in here.too_wide()]
    return wrong


# What looks like another state, but for its words.
ALIKE = {
    *("failed", "unknown", "withdrawn", "expired", "gone", "barred", "json", "audit-narrowed"),
    *("hostile-question", "hostile-notice", "hostile-feedback", "hostile-draft", "missing"),
    *("leave-nowhere", "wrong-address", "tool-undeclared", "trust-locked", "trust-proposed"),
    *("turn", "bulk-confirm", "conflict"),
}


def test_every_page_and_state_is_for_everybody(gallery: Window) -> None:
    wrong = {}
    for name in pages().keys() - ALIKE:
        gallery.page.goto(f"/{name}", wait_until="load")
        if found := looked_at(gallery):
            wrong[name] = found

    assert wrong == {}


def test_what_appears_while_one_works_is_for_everybody(solo: Office) -> None:
    asks = solo.several(3, risk="low")
    here = solo.window().visit(solo.queue).armed()

    here.page.keyboard.press("Control+k")
    expect(here("dialog#palette [role=option]").first).to_be_visible()
    assert looked_at(here) == [], "the palette"
    here.page.keyboard.press("Escape")
    here.page.set_viewport_size(DESKTOP)
    here.page.keyboard.press("?")
    expect(here("dialog#help")).to_be_visible()
    assert looked_at(here) == [], "the sheet of keys"
    here.page.keyboard.press("Escape")
    here.page.set_viewport_size(DESKTOP)
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()
    solo.several(1)
    expect(here("#new")).to_be_visible()
    assert looked_at(here) == [], "the toast, and new asks"
    here.page.set_viewport_size(DESKTOP)
    on_screen = next(ask for ask in asks if ask.id == here.ask)
    solo.desk.reject(on_screen)
    expect(here(f"#banner-{on_screen.id}")).to_be_visible()
    assert looked_at(here) == [], "the banner"


def test_the_bar_never_covers_what_has_the_focus(solo: Office) -> None:
    ask = solo.open("many", {f"field_{number}": "text" for number in range(30)})
    here = solo.window().visit(solo.path(ask))

    here("main#detail .field input, main#detail .field textarea").first.focus()
    for _ in range(40):
        here.page.keyboard.press("Tab")
        covered = here.page.evaluate(
            """(bar) => {
              const focus = document.activeElement.getBoundingClientRect();
              const over = document.getElementById(bar);
              if (!focus.height || over.contains(document.activeElement)) return false;
              return focus.top >= over.getBoundingClientRect().top;
            }""",
            f"bar-{ask.id}",
        )
        assert not covered


def test_what_says_write_it_does_not_lie_over_where_to_write(solo: Office) -> None:
    ask = solo.open(why="Charged twice", risk="medium")
    here = solo.window().visit(solo.path(ask)).armed()

    here.verdict("respond").click()

    expect(here("#toast")).to_contain_text("Write it")
    expect(here(f"#note-{ask.id}")).to_be_focused()
    for size in (DESKTOP, LAPTOP, PHONE):
        here.page.set_viewport_size(size)
        assert here.covered() == []


def test_the_keyboard_reaches_everything_and_the_focus_is_seen(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.path(ask))
    reached: set[str] = set()

    for _ in range(60):
        here.page.keyboard.press("Tab")
        found = here.page.evaluate(
            """() => {
              const one = document.activeElement;
              if (one === document.body) return null;
              const style = getComputedStyle(one);
              const near = getComputedStyle(one.closest('label, .row, .field') ?? one);
              const seen = [style, near].some((look) =>
                (look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 2)
                || look.boxShadow !== 'none');
              return [one.name ? `${one.name} ${one.value ?? ''}` : one.textContent.trim().slice(0, 40), seen];
            }"""
        )
        if found is None:
            continue
        name, seen = found
        assert seen, f"{name} has the focus, and nobody can see it"
        reached.add(name)

    assert {"verdict approve", "verdict reject", "Note"} <= reached
