"""How people come in with a browser, where they end up, and how the pages look for them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from sayso.access.sessions import make_link
from tests.browser.office import Office
from tests.browser.window import PHONE
from tests.web.house import PASSWORD


def test_the_one_time_link_ends_in_the_inbox_and_leaves_the_address(solo: Office) -> None:
    here = solo.comes_by_link(solo.stranger())

    expect(here.page).to_have_url(f"{solo.house.url}/inbox")
    assert not any("t=" in entry for entry in here.page.evaluate(_ADDRESSES))


_ADDRESSES = "() => performance.getEntriesByType('navigation').map((one) => one.name)"


def test_a_link_that_was_used_says_how_to_get_another(solo: Office) -> None:
    link = f"/?t={make_link(solo.desk.store)}"
    solo.stranger().page.goto(link)

    here = solo.stranger()
    here.page.goto(link)

    expect(here("main")).to_contain_text("sayso serve --url")


def test_a_deep_link_signed_out_comes_back_to_the_ask_after_signing_in(team: Office) -> None:
    ask = team.open()

    here = team.comes_by_password(team.stranger(), "anna", team.path(ask))

    expect(here.page).to_have_url(re.compile(rf"/inbox/{ask.id}\?agent={team.agent}$"))
    here.shows(ask.id)


def test_a_deep_link_at_a_machine_of_ones_own_says_where_the_link_is(solo: Office) -> None:
    ask = solo.open(title="Nobody else's business")
    here = solo.stranger()
    here.page.goto(solo.path(ask))

    expect(here("main")).to_contain_text("sayso serve --url")
    assert "business" not in here.page.content()


def test_a_wrong_password_is_said_and_the_name_and_the_way_back_are_kept(team: Office) -> None:
    ask = team.open()
    here = team.stranger()
    here.page.goto(team.path(ask))
    here.page.get_by_label("Name").fill("anna")
    here.page.get_by_label("Password").fill("wrong")
    here.page.get_by_role("button", name="Sign in", exact=True).click()

    expect(here("[role=alert]")).to_be_visible()
    expect(here.page.get_by_label("Name")).to_have_value("anna")
    here.page.get_by_label("Password").fill(PASSWORD)
    here.page.get_by_role("button", name="Sign in", exact=True).click()

    here.ready().shows(ask.id)


def test_a_browser_without_cookies_is_told_so(team: Office) -> None:
    here = team.stranger(js=False)

    def without_cookies(route: Route) -> None:
        answer = route.fetch(max_redirects=0)
        headers = {
            name: value for name, value in answer.headers.items() if name.lower() != "set-cookie"
        }
        here.context.clear_cookies()  # the browser's own jar has it by now
        route.fulfill(response=answer, headers=headers)

    here.context.route("**/*", without_cookies)
    here.page.goto("/sign-in")
    here.page.get_by_label("Name").fill("anna")
    here.page.get_by_label("Password").fill(PASSWORD)
    here.page.get_by_role("button", name="Sign in", exact=True).click()

    expect(here("body")).to_contain_text("cookie")
    here.context.unroute_all(behavior="wait")  # or what is on its way fails in the next test


def test_an_ask_that_is_not_there_is_a_page_that_says_so(solo: Office) -> None:
    here = solo.window()
    here.page.goto("/inbox/a-nothere")

    expect(here("main")).to_contain_text("no such ask")
    expect(here("main a").first).to_be_visible()


def test_an_ask_of_another_team_does_not_exist(team: Office) -> None:
    ask = team.open(title="Secret of billing", team="billing")
    here = team.window("ben")
    here.page.goto(team.path(ask))

    assert "Secret of billing" not in here.page.content()
    here.visit(team.queue)
    expect(here("#queue .row")).to_have_count(0)


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


@pytest.mark.parametrize("js", [True, False], ids=["js", "plain"])
def test_a_theme_that_was_chosen_is_kept(solo: Office, js: bool) -> None:
    solo.open()
    here = solo.window(js=js, theme="light").visit(solo.queue)

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
