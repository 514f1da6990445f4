"""A decision goes to the ask that the person has seen, once, or nowhere."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.script.conftest import Look
from tests.browser.script.paper import Paper, Sheet
from tests.browser.window import Window


def decided(window: Window, paper: Paper, *verdicts: tuple[str, str]) -> None:
    expect(window("#detail")).to_contain_text("Decided.")
    assert paper.verdicts() == [*verdicts]


def test_a_key_that_comes_before_the_next_ask_does_not_decide_the_one_before(
    paper: Paper, look: Look
) -> None:
    window = look()
    answer = paper.hold("/inbox/a-2")
    window.page.keyboard.press("j")
    window.page.keyboard.press("a")
    expect(window("#toast")).to_contain_text("nothing was decided")
    answer.set()
    window.shows("a-2").armed()
    assert paper.verdicts() == []
    window.page.keyboard.press("a")
    decided(window, paper, ("a-2", "approve"))


def test_answers_that_overtake_each_other_leave_the_last_ask_on_screen(
    paper: Paper, look: Look
) -> None:
    window = look()
    second = paper.hold("/inbox/a-2")
    window.page.keyboard.press("j")
    window.page.keyboard.press("j")
    window.shows("a-3").armed()
    with window.page.expect_response("**/inbox/a-2"):
        second.set()
    window.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert window.ask == "a-3"
    window.page.keyboard.press("a")
    decided(window, paper, ("a-3", "approve"))


@pytest.mark.parametrize(
    "spoil",
    [
        "form.setAttribute('action', '/inbox/a-2/decision')",
        "form.setAttribute('hx-post', '/inbox/a-2/decision')",
        "form.id = 'decide-a-2'",
        "form.elements.seen.value = 'd2'",
        "document.querySelector('article').dataset.ask = 'a-2'",
    ],
)
def test_a_form_that_is_not_the_one_of_the_ask_on_screen_is_not_sent(
    paper: Paper, look: Look, spoil: str
) -> None:
    window = look()
    window.page.evaluate(
        f"() => {{ const form = document.querySelector('form[id^=decide]'); {spoil} }}"
    )
    window("[id^=bar] [value=approve]").click()
    expect(window("#toast")).to_contain_text("not the one of the ask on screen")
    assert paper.posted == []


def test_a_second_press_while_the_first_is_on_its_way_is_stopped(paper: Paper, look: Look) -> None:
    window = look()
    answer = paper.hold("/inbox/a-1/decision")
    window.page.keyboard.press("a")
    window("[id^=bar] [value=reject]").click(force=True)
    expect(window("#toast")).to_contain_text("on its way")
    answer.set()
    decided(window, paper, ("a-1", "approve"))


def test_a_key_that_is_held_down_decides_once(paper: Paper, look: Look) -> None:
    paper.answers["/inbox/a-1/decision"] = lambda _: (200, paper.sheet("a-2").article)
    window = look()
    window.page.keyboard.down("a")
    window.shows("a-2").armed()
    window.page.keyboard.down("a")
    window.page.keyboard.down("a")
    window.page.keyboard.up("a")
    window.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert paper.verdicts() == [("a-1", "approve")]


def test_enter_in_a_field_decides_nothing(paper: Paper, look: Look) -> None:
    field = '<div class="field" data-pointer="/x" data-was="1"><input name="/x" value="1"></div>'
    paper.sheets[0] = Sheet("a-1", "First", editor=field)
    window = look()
    window("[name='/x']").press("Enter")
    window.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert paper.posted == []


def test_what_asks_for_words_waits_for_them(paper: Paper, look: Look) -> None:
    window = look()
    window.page.keyboard.press("c")
    expect(window("#note-a-1")).to_be_focused()
    assert paper.posted == []
    window.page.keyboard.type("jar it")  # letters are letters here
    window.page.keyboard.press("Control+Enter")
    decided(window, paper, ("a-1", "respond"))
    assert paper.posted[0][1]["note"] == ["jar it"]


def test_a_failed_decision_is_said_and_what_was_typed_stays(paper: Paper, look: Look) -> None:
    window = look()
    window.forgive("ERR_", "htmx: htmx:error", "500")
    paper.answers["/inbox/a-1/decision"] = lambda _: (
        500,
        "<!doctype html><html><body><h1>The service failed</h1></body></html>",
    )
    window("summary").click()
    window("#note-a-1").fill("mine")
    window("[id^=bar] [value=reject]").click()
    expect(window("#toast")).to_contain_text("The service failed")
    expect(window("#note-a-1")).to_have_value("mine")
    paper.up = False
    window.armed()("[id^=bar] [value=reject]").click()
    expect(window("#toast")).to_contain_text("counts only once")


def test_whoever_was_signed_out_is_told_and_keeps_what_they_typed(paper: Paper, look: Look) -> None:
    window = look()
    paper.answers["/inbox/a-1/decision"] = lambda _: (
        401,
        "<!doctype html><html><body><h1>Sign in</h1></body></html>",
    )
    window("summary").click()
    window("#note-a-1").fill("mine")
    window("[id^=bar] [value=reject]").click()
    expect(window("#toast")).to_contain_text("no longer signed in")
    expect(window("#note-a-1")).to_have_value("mine")
