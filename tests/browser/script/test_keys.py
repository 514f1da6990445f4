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


def test_back_shows_the_ask_before(paper: Paper, look: Look) -> None:
    window = look("/inbox/a-1")
    window.page.keyboard.press("j")
    window.shows("a-2")
    window.page.go_back()
    window.shows("a-1").armed()
    window.page.keyboard.press("r")
    expect(window("#detail")).to_contain_text("Decided.")
    assert paper.verdicts() == [("a-1", "reject")]


def test_keys_are_letters_where_somebody_types(paper: Paper, look: Look) -> None:
    window = look()
    window.page.keyboard.press("/")
    expect(window("input[type=search]")).to_be_focused()
    window.page.keyboard.type("jaxrz?")
    expect(window("input[type=search]")).to_have_value("jaxrz?")
    window.page.keyboard.press("Escape")
    expect(window("input[type=search]")).not_to_be_focused()
    assert paper.posted == []
    assert window.ask == "a-1"


def test_single_keys_can_be_switched_off(paper: Paper, look: Look) -> None:
    paper.keys = "off"
    window = look()
    for key in "ajx?":
        window.page.keyboard.press(key)
    assert window.ask == "a-1"
    assert paper.posted == []
    expect(window("dialog#help")).to_be_hidden()
    window.page.keyboard.press("Control+k")
    expect(window("dialog#palette")).to_be_visible()


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


def test_the_number_of_an_option_chooses_it(paper: Paper, look: Look) -> None:
    cards = "".join(
        f'<button name="option" value="{city}" data-key="{number}" data-arms>{city}</button>'
        for number, city in enumerate(("Paris", "Rome"), start=1)
    )
    paper.sheets[0] = Sheet("a-1", "Where?", kind="choice", editor=cards)
    window = look()
    window.page.keyboard.press("2")
    expect(window("#detail")).to_contain_text("Decided.")
    assert paper.verdicts() == [("a-1", "Rome")]


def test_e_goes_to_the_first_field(paper: Paper, look: Look) -> None:
    field = '<div class="field" data-pointer="/x" data-was="1"><input name="/x" value="1"></div>'
    paper.sheets[0] = Sheet("a-1", "First", editor=field)
    window = look()
    window.page.keyboard.press("e")
    expect(window("[name='/x']")).to_be_focused()
    window.page.keyboard.press("Escape")
    expect(window("#detail")).to_be_focused()


def test_the_help_sheet_opens_and_closes(look: Look) -> None:
    window = look()
    window.page.keyboard.press("?")
    expect(window("dialog#help")).to_be_visible()
    window.page.keyboard.press("a")
    window.page.keyboard.press("Escape")
    expect(window("dialog#help")).to_be_hidden()


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


def test_the_theme_changes_at_once_and_is_kept(paper: Paper, look: Look) -> None:
    window = look()
    with window.page.expect_response("**/settings"):
        window("[name=theme]").click()
    expect(window("html")).to_have_attribute("data-theme", "dark")
    assert paper.posted == [("/settings", {"theme": ["dark"]})]
    assert window.ask == "a-1"


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


def test_z_presses_the_button_that_undoes(paper: Paper, look: Look) -> None:
    window = look()
    window.page.keyboard.press("z")
    expect(window("#toast")).to_contain_text("nothing to undo")
    paper.answers["/inbox/a-1/decision"] = lambda _: (
        200,
        paper.sheet("a-2").article + '<section id="held" hx-swap-oob="true"><ul><li data-ask="a-1" '
        'data-until="2026-11-02T14:03:08+00:00"><p>Approved</p><form class="undo" method="post" '
        'action="/inbox/a-1/take-back" hx-post="/inbox/a-1/take-back" hx-target="#detail">'
        '<span class="held-left"></span><button data-key="z">Undo</button></form></li></ul></section>',
    )
    window.page.keyboard.press("a")
    window.shows("a-2")
    expect(window(".held-left")).to_have_text("8 s")
    window.page.keyboard.press("z")
    expect(window("#detail")).to_contain_text("Decided.")
    assert paper.posted[-1][0] == "/inbox/a-1/take-back"
