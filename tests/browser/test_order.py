"""Answers that come late, fail or overtake each other, and keys at the wrong moment: nothing unmeant."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Request, Route, expect

from sayso import Ask
from tests.browser.office import Office
from tests.browser.window import Window

GATHERED = 400  # milliseconds after which a page has looked at what it heard of, if it wanted to


class Held:
    """The answers at an address, each as it was when it was asked for: they come when let go."""

    def __init__(self, here: Window, path: str) -> None:
        self._page, self._gone = here.page, False
        self.answers: list[tuple[Route, Any]] = []
        self._page.route(re.compile(path), self._hold)

    def _hold(self, route: Route) -> None:
        if self._gone:
            return route.continue_()
        return self.answers.append((route, route.fetch()))

    def has(self, number: int) -> None:
        """Wait until so many are held."""
        while len(self.answers) < number:
            self._page.wait_for_timeout(5)

    def let_go(self) -> None:
        self._gone = True
        for route, answer in self.answers:
            route.fulfill(response=answer)


def looking(office: Office, ask: Ask | str) -> Window:
    return office.window(own=True).visit(office.path(ask))


def drawn(here: Window) -> None:
    here.page.evaluate("() => new Promise(requestAnimationFrame)")


def refused(here: Window, status: int, title: str) -> None:
    """Let the service answer a decision with a page that says so."""
    body = f"<!doctype html><html><body><h1>{title}</h1></body></html>"
    here.forgive("ERR_", "htmx: htmx:error", f"{status}")
    here.page.route(
        "**/decision",
        lambda route: route.fulfill(status=status, body=body, content_type="text/html"),
    )


# --- deciding ----------------------------------------------------------------------------------


def test_answers_that_overtake_each_other_leave_the_last_ask_on_screen(solo: Office) -> None:
    solo.several(3)
    here = solo.window(own=True).visit(solo.queue)
    _, second, third = here.rows
    held = Held(here, rf"/inbox/{second}\?")
    here.page.keyboard.press("j")
    held.has(1)
    here.page.keyboard.press("j")
    here.shows(third).armed()
    held.let_go()
    drawn(here)

    assert here.ask == third
    here.page.keyboard.press("a")
    expect(here(f'#held li[data-ask="{third}"]')).to_be_visible()
    assert solo.now(second).open


def test_a_form_that_is_not_the_one_of_the_ask_on_screen_is_not_sent(solo: Office) -> None:
    ask, other = solo.several(2)
    for spoil in (
        f"form.setAttribute('action', '/inbox/{other.id}/decision')",
        f"form.setAttribute('hx-post', '/inbox/{other.id}/decision')",
        f"form.id = 'decide-{other.id}'",
        "form.elements.seen.value = 'd2'",
        f"document.querySelector('article').dataset.ask = '{other.id}'",
    ):
        here = looking(solo, ask)
        here.page.evaluate(
            f"() => {{ const form = document.querySelector('form[id^=decide]'); {spoil} }}"
        )
        here.verdict("approve").click()
        expect(here("#toast")).to_contain_text("not the one of the ask on screen")
        assert {solo.now(one).status for one in (ask, other)} == {"open"}


def test_a_second_press_while_the_first_is_on_its_way_is_stopped(solo: Office) -> None:
    ask = solo.open()
    here = looking(solo, ask)
    held = Held(here, "/decision")
    here.page.keyboard.press("a")
    here.verdict("reject").click(force=True)

    expect(here("#toast")).to_contain_text("on its way")
    held.let_go()
    expect(here("#held form.undo")).to_be_visible()
    assert solo.decided(ask).verdict == "approve"


def test_a_key_that_is_held_down_decides_once(solo: Office) -> None:
    solo.several(2)
    here = solo.window().visit(solo.queue)
    first, second = here.rows
    here.page.keyboard.down("a")
    here.shows(second).armed()
    here.page.keyboard.down("a")
    here.page.keyboard.down("a")
    here.page.keyboard.up("a")
    drawn(here)

    assert (solo.now(first).settling, solo.now(second).open) == (True, True)


def test_what_asks_for_words_waits_for_them_and_enter_alone_sends_nothing(solo: Office) -> None:
    ask = solo.open()
    here = looking(solo, ask)
    here('main#detail [name="/amount"]').press("Enter")
    here.idle().armed().page.keyboard.press("Escape")
    here.page.keyboard.press("c")
    expect(here.note(ask.id)).to_be_focused()
    assert solo.now(ask).open
    here.page.keyboard.type("jar it")  # letters are letters here
    here.page.keyboard.press("Control+Enter")

    expect(here("#held form.undo")).to_be_visible()
    assert solo.decided(ask).answer == "jar it"


def test_a_failed_decision_is_said_and_what_was_typed_stays(solo: Office) -> None:
    ask = solo.open()
    for status, title, said in (
        (500, "The service failed", "The service failed"),
        (401, "Sign in", "no longer signed in"),
    ):
        here = looking(solo, ask)
        refused(here, status, title)
        here.note(ask.id).fill("mine")
        here.verdict("reject").click()
        expect(here("#toast")).to_contain_text(said)
        expect(here.note(ask.id)).to_have_value("mine")


# --- editing -----------------------------------------------------------------------------------


def test_words_are_compared_and_hostile_text_stays_text(solo: Office) -> None:
    was = "It can take five days.\n<img src=x onerror=window.pwned=1>"
    ask = solo.open("write", {"message": was})
    here = looking(solo, ask)
    here("textarea[name='/message']").fill(was.replace("five", "three") + "\u202eevil\u200b")

    edits = here(f"#edits-{ask.id}")
    expect(edits.locator("del")).to_have_text("five")
    expect(edits.locator("ins").first).to_have_text("three")
    expect(edits.locator(".cp")).to_have_text(["U+202E", "U+200B"])
    expect(edits.locator("dd")).to_contain_text("<img src=x onerror=window.pwned=1>")
    assert not here.scripted()


def test_a_long_text_is_compared_by_lines_and_quickly(solo: Office) -> None:
    was = "".join(f"line {number} of many words\n" for number in range(500))
    ask = solo.open("write", {"log": was})
    here = looking(solo, ask)
    typed = "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', {bubbles: true})); }"
    here("[name='/log']").evaluate(typed, was.replace("line 250 of", "line 250 in"))
    expect(here(f"#edits-{ask.id} del")).to_have_text("line 250 of many words\n")
    here("[name='/log']").evaluate(typed, "x " * 100_000)
    expect(here(f"#edits-{ask.id} ins")).to_have_count(1)


# --- keys --------------------------------------------------------------------------------------


def test_g_and_a_lead_to_the_audit_and_approve_nothing(solo: Office) -> None:
    ask = solo.open()
    here = looking(solo, ask)
    here.page.keyboard.press("g")
    here.page.keyboard.press("a")

    expect(here.page).to_have_url(re.compile("/audit$"))
    assert solo.now(ask).open


def test_the_palette_does_what_it_shows_and_searches_once_nobody_types(solo: Office) -> None:
    ask = solo.open(title="zebra")
    here = looking(solo, ask)
    here.page.keyboard.press("Control+k")
    options = here("#palette [role=option]")
    expect(options.first).to_contain_text("Approve")
    expect(here("#palette input")).to_have_attribute("aria-activedescendant", "palette-0")
    here.page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    here.page.keyboard.press("Enter")
    expect(here("#held form.undo")).to_be_visible()
    assert solo.decided(ask).verdict == "reject"

    asked: list[str] = []
    other = solo.open("refund", {"to": "zebra"})
    here = looking(solo, other).stands()
    here.page.on("request", lambda request: asked.append(request.url))
    here.page.keyboard.press("Control+k")
    here.page.keyboard.type("zebra")
    here.passes(1_000)
    expect(here("#palette [role=option]", has_text="zebra").first).to_be_visible()
    assert len([url for url in asked if "/find" in url]) == 1


def test_only_asks_of_one_kind_and_of_low_risk_are_selected(solo: Office) -> None:
    low, high = solo.open(risk="low"), solo.open(risk="high")
    notice = solo.put("notice", "Tea is back")
    here = looking(solo, low)
    here.page.keyboard.press("x")
    expect(here("[data-picked]")).to_have_text("1")
    for ask, said in ((notice, "Only asks of one kind"), (high, "decided one by one")):
        here(f'#queue .row[data-ask="{ask.id}"] a.row-link').click()
        here.shows(ask.id).page.keyboard.press("x")
        expect(here("#toast")).to_contain_text(said)
    expect(here("input.pick:checked")).to_have_count(1)
    here.page.keyboard.press("Escape")
    expect(here("input.pick:checked")).to_have_count(0)


def test_what_was_typed_is_left_only_on_the_second_try(solo: Office) -> None:
    solo.several(2)
    here = solo.window(own=True).visit(solo.queue)
    first, second = here.rows
    here.note(first).fill("mine")
    here.page.keyboard.press("Escape")
    here.page.keyboard.press("j")
    expect(here("#toast")).to_contain_text("was not sent")
    assert here.ask == first
    here.page.keyboard.press("j")
    here.shows(second)


def test_letters_stay_letters_when_the_field_goes_away_under_somebody_who_types(
    solo: Office,
) -> None:
    ask = solo.open()
    here = looking(solo, ask)
    here.note(ask.id).press("j")
    here(f"#note-{ask.id}").evaluate("note => note.remove()")
    here.page.keyboard.type("ar")
    drawn(here)
    assert solo.now(ask).open
    here.page.keyboard.press("Escape")
    here.page.keyboard.press("r")
    expect(here("#held form.undo")).to_be_visible()


# --- what happens meanwhile --------------------------------------------------------------------


def test_keys_pass_by_what_has_left(solo: Office) -> None:
    solo.several(3)
    here = solo.window().visit(solo.queue)
    _, second, third = here.rows
    here(f'.row[data-ask="{third}"]').hover()
    solo.desk.reject(solo.now(second))
    expect(here(f'.row[data-ask="{second}"]')).to_have_attribute("data-left", "")
    here.page.keyboard.press("j")
    here.shows(third)


def test_an_emptied_list_shows_what_comes_at_once(solo: Office) -> None:
    here = solo.window().visit(solo.queue)
    solo.open()
    expect(here("#queue .row")).to_have_count(1)
    expect(here("#new")).to_be_hidden()


def test_one_look_at_a_time_and_one_more_if_something_came_meanwhile(solo: Office) -> None:
    here = looking(solo, solo.open())
    expect(here("body[data-seen]")).to_be_attached()
    asked: list[Request] = []
    here.page.on("request", lambda one: asked.append(one) if "/inbox/queue" in one.url else None)
    held = Held(here, "/inbox/queue")
    solo.open()
    held.has(1)
    for _ in range(2):
        solo.open()
        here.passes(GATHERED)
    assert len(asked) == 1, "the answer to the first has not come"

    held.let_go()
    expect(here("#new")).to_have_text("3 new")
    here.passes(GATHERED)
    assert len(asked) == 2


def test_an_old_list_does_not_take_the_place_of_one_that_came_with_an_answer(solo: Office) -> None:
    ask, _ = solo.several(2)
    here = looking(solo, ask)
    expect(here("body[data-seen]")).to_be_attached()
    held = Held(here, "/inbox/queue")
    solo.open()
    held.has(1)
    here.page.keyboard.press("a")
    expect(here("#count")).to_contain_text("2")
    with here.page.expect_response(re.compile("/inbox/queue")):
        held.let_go()
    here.passes(GATHERED)

    expect(here("#count")).to_contain_text("2")
    expect(here(f'#queue .row[data-ask="{ask.id}"]')).to_have_count(0)


def test_a_page_says_which_version_it_shows_when_it_asks_how_an_ask_stands(solo: Office) -> None:
    ask = solo.open()
    here = looking(solo, ask)
    expect(here("body[data-seen]")).to_be_attached()
    with here.page.expect_request(re.compile(f"/inbox/{ask.id}/state")) as looked:
        solo.desk.claim(ask)

    query = parse_qs(urlsplit(looked.value.url).query)
    assert (query["seen"], query["agent"]) == ([ask.digest], [solo.agent])
