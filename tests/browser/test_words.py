"""Drafts, questions and choices: words that people read, change and answer with."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, expect

from sayso import Ask, Option
from tests.browser.office import Office
from tests.browser.window import Window

WAYS = pytest.mark.parametrize("js", [True, False], ids=["js", "plain"])
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
    expect(here("[data-approve-label]").first).to_contain_text("edit")
    sent(here, "button[name=verdict][value=approve]")

    decision = solo.decided(ask)
    assert decision.verdict == "edit"
    assert decision.args == {"text": TEXT.replace("40", "30")}


def test_a_draft_is_edited_without_javascript_and_line_ends_stay_as_they_were(solo: Office) -> None:
    ask = solo.put("draft", TEXT, title="Reply")
    here = solo.window(js=False).visit(solo.path(ask))

    sent(here, "button[name=verdict][value=approve]")
    assert solo.decided(ask).verdict == "approve"  # no line end was taken for an edit

    other = solo.put("draft", TEXT, title="Another reply")
    here.visit(solo.path(other))
    here("main#detail textarea[name=text]").fill("Dear Ada,\n\nsorry.\n")
    sent(here, "button[name=verdict][value=approve]")
    decision = solo.decided(other)
    assert (decision.verdict, decision.args) == ("edit", {"text": "Dear Ada,\n\nsorry.\n"})


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


# --- questions ---------------------------------------------------------------------------------

# What is asked for, whether the page has its script, what is typed or chosen, and the answer that is
# recorded: each control once. That each type is read as what it is, is proven in `tests/web/forms`.
ANSWERS: dict[str, tuple[Any, bool, Any, Any]] = {
    "text": (str, False, "Ask Ada\nfirst", "Ask Ada\nfirst"),
    "integer": (int, True, "25", 25),
    "yes or no": (bool, False, False, False),
    "one of a few": (Literal["EU", "US"], True, "US", "US"),
    "date": (date, True, "2026-03-04", "2026-03-04"),
}


def answer(here: Window, given: Any) -> None:
    """Answer with whatever control the page offers for it."""
    fields = here('main#detail [name="="]:not([type=hidden])')
    first = fields.first
    tag = first.evaluate("(one) => one.tagName + ':' + one.type")
    if tag.startswith("SELECT"):
        first.select_option(label=given if isinstance(given, str) else ("Yes" if given else "No"))
    elif tag == "INPUT:radio":
        wanted = given if isinstance(given, str) else ("Yes" if given else "No")
        here("main#detail").get_by_label(wanted, exact=True).first.check(force=True)
    elif tag == "INPUT:checkbox":
        first.set_checked(given)
    else:
        first.fill(given)


@pytest.mark.parametrize("of", ANSWERS)
def test_an_answer_has_the_type_that_was_asked_for(solo: Office, of: str) -> None:
    type_, js, given, recorded = ANSWERS[of]
    ask = solo.put("question", f"What about {of}?", type_)
    here = solo.window(js=js).visit(solo.path(ask))

    answer(here, given)
    sent(here, "button[name=verdict][value=respond]")

    decision = solo.decided(ask)
    assert decision.verdict == "respond"
    assert decision.answer == recorded
    assert type(decision.answer) is type(recorded)


def test_an_answer_that_does_not_fit_is_said_on_its_field(solo: Office) -> None:
    ask = solo.put("question", "How many?", int)
    here = solo.window(js=False).visit(solo.path(ask))

    here('main#detail [name="="]').first.evaluate(
        "(one) => { one.type = 'text'; one.form.noValidate = true; one.value = 'many'; }"
    )
    here.verdict("respond").click()

    expect(here("main#detail .error").first).to_be_visible()
    expect(here('main#detail [name="="]').first).to_have_attribute("aria-invalid", "true")
    assert solo.now(ask).status == "open"


def test_no_answer_is_an_answer_too(solo: Office) -> None:
    ask = solo.put("question", "How many?", int)
    here = solo.window(js=False).visit(solo.path(ask))

    sent(here, "button[name=verdict][value=reject]")

    assert solo.decided(ask).verdict == "reject"


# --- choices -----------------------------------------------------------------------------------

FLIGHTS = [Option(f"Flight {number}", number, f"Leaves at {number}:00") for number in range(1, 11)]


def chosen(office: Office, **terms: Any) -> Ask:
    return office.put("choose", "Which flight?", FLIGHTS, **terms)


@pytest.mark.parametrize("number", [1, 5, 9])
def test_a_digit_chooses_that_option(solo: Office, number: int) -> None:
    ask = chosen(solo)
    here = solo.window().visit(solo.path(ask)).armed()
    expect(here("main#detail button[name=option]")).to_have_count(10)

    here.page.keyboard.press(str(number))
    expect(here("#held form.undo")).to_be_visible()

    assert solo.decided(ask).answer["option"] == f"Flight {number}"


@WAYS
def test_the_tenth_option_has_a_button_and_no_key(solo: Office, js: bool) -> None:
    ask = chosen(solo)
    here = solo.window(js=js).visit(solo.path(ask))
    button = here("main#detail button[name=option]").nth(9)
    assert button.get_attribute("data-key") is None

    sent(here, "button[name=option][value='Flight 10']")

    assert solo.decided(ask).answer["option"] == "Flight 10"


@WAYS
def test_none_of_these_is_always_there(solo: Office, js: bool) -> None:
    ask = chosen(solo)
    here = solo.window(js=js).visit(solo.path(ask))

    sent(here, "button[name=verdict][value=reject]")

    assert solo.decided(ask).verdict == "reject"


def own_value(here: Window) -> Locator:
    """The field for something that is not among the options, unfolded."""
    fold = here("main#detail details.own")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    return here('main#detail [name="="]').first


@WAYS
def test_a_value_of_ones_own_is_given_where_it_may_be(solo: Office, js: bool) -> None:
    ask = chosen(solo, own=True)
    here = solo.window(js=js).visit(solo.path(ask))

    own_value(here).fill("By train")
    sent(here, "button[name=verdict][value=respond]")

    decision = solo.decided(ask)
    assert (decision.verdict, decision.answer) == ("respond", "By train")


def test_where_no_own_value_may_be_given_none_is_offered(solo: Office) -> None:
    ask = chosen(solo)
    here = solo.window().visit(solo.path(ask))

    expect(here("main#detail button[name=option]").first).to_be_visible()
    expect(here('main#detail [name="="]')).to_have_count(0)


def test_a_digit_typed_into_a_field_chooses_nothing(solo: Office) -> None:
    ask = chosen(solo, own=True)
    here = solo.window().visit(solo.path(ask)).armed()

    own_value(here).focus()
    here.page.keyboard.type("3a1")

    expect(own_value(here)).to_have_value("3a1")
    assert solo.now(ask).status == "open"


# --- notices and feedback ----------------------------------------------------------------------


@WAYS
def test_a_notice_is_answered_with_words(solo: Office, js: bool) -> None:
    ask = solo.put("notice", "The site is slow", {"seconds": 9})
    here = solo.window(js=js).visit(solo.path(ask))

    here.note(ask.id).fill("Look at the database.")
    sent(here, "button[name=verdict][value=respond]")

    decision = solo.decided(ask)
    assert (decision.verdict, decision.answer) == ("respond", "Look at the database.")


@WAYS
def test_feedback_takes_words_along_with_a_thumb_down(solo: Office, js: bool) -> None:
    ask = solo.put("feedback", "A summary", task="Summarise")
    here = solo.window(js=js).visit(solo.path(ask))

    here.note(ask.id).fill("Too long.")
    sent(here, "button[name=verdict][value=reject]")

    decision = solo.decided(ask)
    assert (decision.verdict, decision.note) == ("reject", "Too long.")
