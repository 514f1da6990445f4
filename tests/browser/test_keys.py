"""The keyboard: moving, the palette, the sheet of keys, and switching single keys off."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.office import Office


def test_j_and_k_and_in_the_list_the_arrows_move_and_the_address_follows(solo: Office) -> None:
    solo.several(3)
    here = solo.window().visit(solo.queue)
    rows = here.rows

    for key, place in (("j", 1), ("j", 2), ("k", 1), ("ArrowUp", 0), ("ArrowDown", 1)):
        if key.startswith("Arrow"):  # elsewhere they scroll
            here(f'#queue .row[data-ask="{here.ask}"] a.row-link').focus()
        here.armed().page.keyboard.press(key)
        here.shows(rows[place])
        expect(here.page).to_have_url(re.compile(rows[place]))
        current = here("#queue .row:has([aria-current=true]), #queue .row[aria-current=true]")
        expect(current).to_have_count(1)
        expect(current).to_have_attribute("data-ask", rows[place])


def test_keys_pressed_while_typing_are_text_and_nothing_else(solo: Office) -> None:
    ask, other = solo.several(2)
    here = solo.window().visit(solo.path(ask)).armed()

    here.note(ask.id).focus()
    here.page.keyboard.type("jar czxe? 19/")

    expect(here.note(ask.id)).to_have_value("jar czxe? 19/")
    assert here.ask == ask.id
    assert {solo.now(one).status for one in (ask, other)} == {"open"}
    here.page.keyboard.press("Escape")
    expect(here(f"#note-{ask.id}")).not_to_be_focused()


def test_keys_with_a_modifier_belong_to_the_browser(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.path(ask)).armed()

    for key in ("Control+a", "Alt+a", "Meta+a"):
        here.page.keyboard.press(key)

    assert solo.now(ask).status == "open"


def test_e_leads_into_the_first_field_and_c_to_the_note(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.path(ask)).armed()

    here.page.keyboard.press("e")
    expect(here("main#detail .field :focus")).to_have_count(1)
    here.page.keyboard.press("Escape")
    here.page.keyboard.press("c")
    expect(here.note(ask.id)).to_be_focused()
    assert solo.now(ask).status == "open"


def test_the_palette_finds_asks_and_actions_and_each_shows_its_key(solo: Office) -> None:
    first = solo.put("question", "Refund the blue bicycle?", str)
    solo.open(title="Close the ticket")
    here = solo.window().visit(solo.queue)

    here.page.keyboard.press("Control+k")
    palette = here("dialog#palette")
    expect(palette).to_be_visible()
    expect(palette.locator("[role=option]").first).to_be_visible()
    expect(palette.locator("kbd").first).to_be_visible()
    said = palette.locator("[role=option] > span:first-child").first.inner_text()
    assert said[: len(said) // 2] != said[len(said) // 2 :], "a verdict is said once"
    audit = palette.locator("[role=option]", has_text="Go to Audit")
    expect(audit.locator("kbd")).to_have_text(["G", "A"])  # A alone approves
    here.page.keyboard.type("bicycle")
    expect(palette.locator("[role=option]", has_text="blue bicycle")).to_be_visible()
    here.page.keyboard.press("ArrowDown")
    expect(palette.locator("[role=option][aria-selected=true]")).to_have_count(1)
    palette.locator("[role=option]", has_text="blue bicycle").first.click()

    expect(palette).to_be_hidden()
    here.shows(first.id)


def test_escape_leaves_the_palette_and_the_focus_where_it_was(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.path(ask))
    here.note(ask.id).focus()

    here.page.keyboard.press("Control+k")
    expect(here("dialog#palette")).to_be_visible()
    here.page.keyboard.press("Escape")

    expect(here("dialog#palette")).to_be_hidden()
    expect(here.note(ask.id)).to_be_focused()


def test_the_question_mark_shows_all_keys_and_so_does_a_page(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.queue).armed()

    here.page.keyboard.press("?")
    expect(here("dialog#help")).to_be_visible()
    expect(here("dialog#help kbd").first).to_be_visible()
    here.page.keyboard.press("a")
    assert solo.now(ask).open
    here.page.keyboard.press("Escape")
    expect(here("dialog#help")).to_be_hidden()

    plain = solo.window(js=False).visit("/help")
    expect(plain("main kbd").first).to_be_visible()


def test_single_keys_can_be_switched_off_and_stay_off(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit("/help")
    with here.page.expect_response("**/settings"):
        here('form[action="/settings"] [name=keys]').last.click()
    here.visit(solo.path(ask)).armed()
    expect(here("body")).to_have_attribute("data-keys", "off")

    here.page.keyboard.press("a")
    here.page.keyboard.press("r")

    assert solo.now(ask).status == "open"
    here.page.keyboard.press("Control+k")  # has a modifier, and stays
    expect(here("dialog#palette")).to_be_visible()


def test_the_slash_leads_to_the_search_and_the_search_is_in_the_address(solo: Office) -> None:
    solo.open(title="Refund the blue bicycle")
    solo.open(title="Close the ticket")
    here = solo.window().visit(solo.queue)

    here.page.keyboard.press("/")
    expect(here("#search")).to_be_focused()
    here.page.keyboard.type("bicycle")
    here.page.keyboard.press("Enter")

    expect(here.page).to_have_url(re.compile("q=bicycle"))
    expect(here("#queue .row")).to_have_count(1)
    expect(here("#count")).to_contain_text("1")
