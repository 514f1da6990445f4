"""How people come in with a browser, where they end up, and how the pages look for them."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.office import Office
from tests.browser.window import PHONE


def test_the_one_time_link_ends_in_the_inbox_and_leaves_the_address(solo: Office) -> None:
    here = solo.comes_by_link(solo.stranger())

    expect(here.page).to_have_url(f"{solo.house.url}/inbox")
    assert not any("t=" in entry for entry in here.page.evaluate(_ADDRESSES))


_ADDRESSES = "() => performance.getEntriesByType('navigation').map((one) => one.name)"


def test_a_deep_link_signed_out_comes_back_to_the_ask_after_signing_in(team: Office) -> None:
    ask = team.open()

    here = team.comes_by_password(team.stranger(), "anna", team.path(ask))

    expect(here.page).to_have_url(re.compile(rf"/inbox/{ask.id}\?agent={team.agent}$"))
    here.shows(ask.id)


def test_signing_out_ends_in_the_form_and_back_shows_nothing(team: Office) -> None:
    ask = team.open(title="Only for those inside")
    here = team.window("anna").visit(team.path(ask))
    here('form[action="/sign-out"] button').dispatch_event("click")
    expect(here.page).to_have_url(re.compile("/sign-in"))

    here.page.go_back()

    expect(here.page).to_have_url(re.compile("/sign-in"))
    assert "Only for those inside" not in here.page.content()


# --- light and dark ----------------------------------------------------------------------------

_PAPER = "() => getComputedStyle(document.body).backgroundColor"


def lightness(colour: str) -> float:
    """Return how bright a colour is, from 0 to 1, whichever way the browser writes it."""
    if colour.startswith("oklch("):
        return float(colour.removeprefix("oklch(").split()[0])
    numbers = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
    return sum(numbers) / (3 * (255 if colour.startswith("rgb") else 1))


def test_pages_follow_the_system_into_the_dark(solo: Office) -> None:
    for theme, dark in (("light", False), ("dark", True)):
        here = solo.window(theme=theme).visit(solo.queue)
        assert (lightness(here.page.evaluate(_PAPER)) < 0.5) is dark


def test_a_theme_that_was_chosen_is_kept(solo: Office) -> None:
    solo.open()
    here = solo.window(theme="light").visit(solo.queue)

    here('form[action="/settings"] button[name=theme][value=dark]').first.evaluate(
        "(one) => { const menu = one.closest('details'); if (menu) menu.open = true; }"
    )
    here('form[action="/settings"] button[name=theme][value=dark]').first.click()
    expect(here("html")).to_have_attribute("data-theme", "dark")
    here.visit(solo.queue)

    expect(here("html")).to_have_attribute("data-theme", "dark")
    assert lightness(here.page.evaluate(_PAPER)) < 0.5


def test_on_a_phone_one_thing_is_on_screen_at_a_time_and_back_leads_to_the_list(
    solo: Office,
) -> None:
    ask, _ = solo.several(2)
    here = solo.window(size=PHONE, touch=True).visit(solo.queue)
    expect(here("#queue")).to_be_visible()
    expect(here("main#detail")).to_be_hidden()

    here(f'#queue .row[data-ask="{ask.id}"] a.row-link').tap()
    here.shows(ask.id)
    expect(here("main#detail")).to_be_visible()
    expect(here("#queue")).to_be_hidden()
    here.page.go_back()

    expect(here("#queue")).to_be_visible()
    expect(here("main#detail")).to_be_hidden()
