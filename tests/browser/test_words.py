"""Drafts and choices: words that people read, change and choose from."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from sayso import Ask, Option
from tests.browser.office import Office
from tests.browser.window import Window

TEXT = "# Dear Ada\n\nWe charged you **twice**, and pay 40 EUR back.\n\nBilling\n"


def sent(here: Window, button: str) -> None:
    here.armed()
    here(f"main#detail {button}").first.click()
    expect(here("#held form.undo")).to_be_visible()


# --- drafts ------------------------------------------------------------------------------------


def tab(here: Window, name: str) -> None:
    """Turn to one of the three views of a draft."""
    here("main#detail [role=tablist]").get_by_role("tab", name=name).click()


def test_a_draft_is_shown_rendered_as_source_and_with_its_changes(solo: Office) -> None:
    ask = solo.put("draft", TEXT, title="Reply")
    here = solo.window().visit(solo.path(ask))

    expect(here("main#detail .prose strong").first).to_have_text("twice")
    tab(here, "Source")
    source = here("main#detail textarea[name=text]")
    expect(source).to_have_value(TEXT)
    source.fill(TEXT.replace("40", "30"))
    tab(here, "Changes")
    expect(here("main#detail del").first).to_contain_text("40")
    expect(here("main#detail ins").first).to_contain_text("30")
    here.page.keyboard.press("ArrowRight")  # round to the first
    expect(here("main#detail [role=tab]").first).to_be_focused()
    expect(here("main#detail .prose").first).to_be_visible()
    expect(here("[data-approve-label]").first).to_contain_text("edit")
    sent(here, "button[name=verdict][value=approve]")

    decision = solo.decided(ask)
    assert decision.verdict == "edit"
    assert decision.args == {"text": TEXT.replace("40", "30")}


def test_a_draft_written_again_shows_what_was_said_and_what_changed_since(solo: Office) -> None:
    form = solo.desk.forms.draft(
        lambda guidance: TEXT if guidance is None else TEXT.replace("40", "25"),
        title="Reply",
        agent=solo.agent,
    )
    first = solo.desk.put(form.content)
    here = solo.window().visit(solo.path(first))
    here.note(first.id).fill("Pay back 25 only.")
    sent(here, "button[name=verdict][value=respond]")
    assert solo.decided(first).answer == "Pay back 25 only."

    second = solo.desk.put(form.outcome(solo.now(first)).content)  # type: ignore[union-attr]
    here.visit(solo.path(second))

    detail = here("main#detail")
    expect(detail).to_contain_text("Pay back 25 only.")
    tab(here, "Changes")
    expect(here("main#detail del").first).to_contain_text("40")
    expect(here("main#detail ins").first).to_contain_text("25")


# --- choices -----------------------------------------------------------------------------------

FLIGHTS = [Option(f"Flight {number}", number, f"Leaves at {number}:00") for number in range(1, 11)]


def chosen(office: Office, **terms: Any) -> Ask:
    return office.put("choose", "Which flight?", FLIGHTS, **terms)


@pytest.mark.parametrize("number", [1, 9])
def test_a_digit_chooses_that_option(solo: Office, number: int) -> None:
    ask = chosen(solo)
    here = solo.window().visit(solo.path(ask)).armed()
    expect(here("main#detail button[name=option]")).to_have_count(10)

    here.page.keyboard.press(str(number))
    expect(here("#held form.undo")).to_be_visible()

    assert solo.decided(ask).answer["option"] == f"Flight {number}"


def test_the_tenth_option_has_a_button_and_no_key(solo: Office) -> None:
    ask = chosen(solo)
    here = solo.window().visit(solo.path(ask))
    button = here("main#detail button[name=option]").nth(9)
    assert button.get_attribute("data-key") is None

    sent(here, "button[name=option][value='Flight 10']")

    assert solo.decided(ask).answer["option"] == "Flight 10"


def own_value(here: Window) -> Locator:
    """The field for something that is not among the options, unfolded."""
    fold = here("main#detail details.own")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    return here('main#detail [name="="]').first


def test_a_digit_typed_into_a_field_chooses_nothing(solo: Office) -> None:
    ask = chosen(solo, own=True)
    here = solo.window().visit(solo.path(ask)).armed()

    own_value(here).focus()
    here.page.keyboard.type("3a1")

    expect(own_value(here)).to_have_value("3a1")
    assert solo.now(ask).status == "open"
