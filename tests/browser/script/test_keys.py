"""One hand on the keyboard gets everywhere, and never where somebody types."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.script.conftest import Look
from tests.browser.script.paper import Paper, Sheet


def test_j_and_k_go_through_the_list_and_the_focus_goes_along(paper: Paper, look: Look) -> None:
    window = look()
    keys = window.page.keyboard
    keys.press("j")
    window.shows("a-2")
    expect(window("#detail")).to_be_focused()
    expect(window("#detail")).to_have_accessible_name("Second")
    expect(window('.row[data-ask="a-2"] a')).to_have_attribute("aria-current", "true")
    expect(window(".row-link[aria-current]")).to_have_count(1)
    expect(window.page).to_have_url(f"{window.url}/inbox/a-2")
    keys.press("j")
    window.shows("a-3")
    keys.press("j")
    expect(window("#toast")).to_contain_text("the last one")
    keys.press("k")
    window.shows("a-2")
    keys.press("Escape")
    expect(window('.row[data-ask="a-2"] a')).to_be_focused()
    keys.press("ArrowDown")
    window.shows("a-3")
    expect(window('.row[data-ask="a-3"] a')).to_be_focused()
    keys.press("Enter")
    expect(window("#detail")).to_be_focused()


def test_g_and_a_do_not_approve(paper: Paper, look: Look) -> None:
    window = look()
    window.page.keyboard.press("g")
    window.page.keyboard.press("a")
    window.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert paper.posted == []
    window.page.evaluate("() => { document.documentElement.dataset.before = ''; }")
    window.page.keyboard.press("g")
    window.page.keyboard.press("i")
    expect(window("html[data-ready]:not([data-before])")).to_be_attached()  # the page came anew
    expect(window.page).to_have_url(f"{window.url}/inbox")


def test_the_palette_shows_what_can_be_done_with_its_key_and_does_it(
    paper: Paper, look: Look
) -> None:
    window = look()
    window.page.keyboard.press("Control+k")
    options = window("#palette [role=option]")
    expect(options.first).to_have_text("ApproveA")
    expect(window("#palette input")).to_have_attribute("aria-activedescendant", "palette-0")
    window.page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    window.page.keyboard.press("Enter")
    expect(window("#detail")).to_contain_text("Decided.")
    assert paper.verdicts() == [("a-1", "reject")]


def test_the_palette_finds_asks_and_draws_their_titles_as_text(paper: Paper, look: Look) -> None:
    paper.answers["/inbox/find"] = lambda _: (
        200,
        '<li role="option"><a href="/inbox/a-3">&lt;img src=x&gt; third</a></li>',
    )
    window = look()
    window.page.keyboard.press("Control+k")
    window.page.keyboard.type("third")
    option = window("#palette [role=option]")
    expect(option).to_have_count(1)
    expect(option).to_have_text("<img src=x> third")
    window.page.keyboard.press("Enter")
    window.shows("a-3")


def test_the_palette_searches_once_somebody_has_stopped_typing(paper: Paper, look: Look) -> None:
    paper.answers["/inbox/find"] = lambda _: (200, '<li><a href="/inbox/a-3">found it</a></li>')
    window = look(own=True)
    window.page.clock.install()
    window.page.clock.pause_at("2030-01-01")
    window.page.keyboard.press("Control+k")
    window.page.keyboard.type("third")
    window.page.clock.run_for(1_000)

    expect(window("#palette [role=option]", has_text="found it")).to_be_visible()
    assert [path for path in paper.asked if "/find" in path] == ["/inbox/find?q=third"]


def test_only_asks_of_one_kind_and_of_low_risk_are_selected(paper: Paper, look: Look) -> None:
    paper.sheets[1] = Sheet("a-2", "Second", kind="plan")
    paper.sheets[2] = Sheet("a-3", "Third", shape="high")
    window = look()
    keys = window.page.keyboard
    keys.press("x")
    expect(window("[data-picked]")).to_have_text("1")
    keys.press("j")
    window.shows("a-2")
    keys.press("x")
    expect(window("#toast")).to_contain_text("Only asks of one kind")
    keys.press("j")
    window.shows("a-3")
    keys.press("x")
    expect(window("#toast")).to_contain_text("high risk are decided one by one")
    expect(window("input.pick:checked")).to_have_count(1)
    keys.press("Escape")
    expect(window("input.pick:checked")).to_have_count(0)


def test_what_was_typed_is_left_only_on_the_second_try(paper: Paper, look: Look) -> None:
    window = look()
    window("summary").click()
    window("#note-a-1").fill("mine")
    window.page.keyboard.press("Escape")
    window.page.keyboard.press("j")
    expect(window("#toast")).to_contain_text("was not sent")
    assert window.ask == "a-1"
    expect(window("#note-a-1")).to_have_value("mine")
    window.page.keyboard.press("j")
    window.shows("a-2")
