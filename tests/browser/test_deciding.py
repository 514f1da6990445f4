"""Each kind of ask, decided in each of the ways people have: in two of the four, in the soak in all."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.kinds import CASES, half, verdict
from tests.browser.office import Office
from tests.browser.window import DESKTOP, PHONE, Window


def decided_as(office: Office, here: Window, ask_id: str, kind: str) -> None:
    """The decision is on screen at once, holds for 8 seconds, and then counts."""
    case = CASES[kind]
    expect(here(f'#held form.undo[action^="/inbox/{ask_id}/take-back"]')).to_be_visible()
    held = office.now(ask_id)
    assert held.status == "settling"
    assert held.decision is None
    decision = office.decided(ask_id)
    assert (decision.verdict, decision.answer) == (case.verdict, case.answer)
    assert decision.origin.via == "web"


@pytest.mark.parametrize("kind", half(CASES, 0))
def test_each_kind_is_decided_with_the_mouse(solo: Office, kind: str) -> None:
    ask = CASES[kind].open(solo)
    here = solo.window().visit(solo.path(ask)).armed()
    assert here.ask == ask.id
    assert here("article.ask").get_attribute("data-kind") == kind

    CASES[kind].fill(here)
    here(f"main#detail {CASES[kind].button}").first.click()

    decided_as(solo, here, ask.id, kind)


@pytest.mark.parametrize("kind", half([kind for kind in CASES if kind != "doubt"], 1))
def test_each_kind_is_decided_with_the_keyboard_alone(solo: Office, kind: str) -> None:
    ask = CASES[kind].open(solo)
    solo.put("notice", "Something to read first", risk="critical")
    here = solo.window().visit(solo.queue).armed()
    for _ in range(here.rows.index(ask.id) - here.rows.index(here.ask or "")):
        here.page.keyboard.press("j")
    here.shows(ask.id).armed()

    for name, text in CASES[kind].typed.items():
        here(f'main#detail [name="{name}"]').first.focus()
        here.page.keyboard.press("Control+A")
        here.page.keyboard.type(text)
        here.page.keyboard.press("Escape")
    here.page.keyboard.press(CASES[kind].key(here))

    decided_as(solo, here, ask.id, kind)


@pytest.mark.parametrize("kind", half(CASES, 1))
def test_each_kind_is_decided_on_a_phone(solo: Office, kind: str) -> None:
    ask = CASES[kind].open(solo)
    here = solo.window(size=PHONE, touch=True).visit(solo.queue)
    expect(here("main#detail")).to_be_hidden()

    here(f'#queue .row[data-ask="{ask.id}"] a.row-link').tap()
    expect(here("main#detail")).to_be_visible()
    here.shows(ask.id).armed()
    assert here.too_wide() == []
    button = here(f"main#detail {CASES[kind].button}").first
    box = button.bounding_box()
    assert box is not None
    assert box["height"] >= 44, "too low for a finger"
    CASES[kind].fill(here)
    button.tap()

    decided_as(solo, here, ask.id, kind)


@pytest.mark.parametrize("kind", half(CASES, 0))
def test_each_kind_is_decided_without_javascript(solo: Office, kind: str) -> None:
    ask = CASES[kind].open(solo)
    here = solo.window(js=False).visit(solo.queue)
    here(f'#queue .row[data-ask="{ask.id}"] a.row-link').click()
    assert here.ask == ask.id

    CASES[kind].fill(here)
    here(f"main#detail {CASES[kind].button}").first.click()

    expect(here.page).to_have_url(re.compile(rf"done={ask.id}"))
    decided_as(solo, here, ask.id, kind)


# --- what comes after, and what goes along -----------------------------------------------------


def test_the_next_ask_follows_a_decision_and_the_last_one_leaves_a_clear_desk(solo: Office) -> None:
    solo.several(3)
    here = solo.window().visit(solo.queue)
    rows = here.rows
    assert len(rows) == 3

    for place, ask_id in enumerate(rows):
        here.shows(ask_id).armed()
        here.verdict("approve").click()
        if place < 2:
            here.shows(rows[place + 1])
            expect(here.page).to_have_url(re.compile(rows[place + 1]))

    expect(here("article.ask")).to_have_count(0)
    expect(here("#count")).to_contain_text("0")
    assert [solo.decided(ask_id).verdict for ask_id in rows] == ["approve"] * 3


@pytest.mark.parametrize("js", [True, False])
def test_a_rejection_takes_a_note_and_a_kind_along(solo: Office, js: bool) -> None:
    ask = solo.open()
    here = solo.window(js=js).visit(solo.path(ask)).armed()

    here.note(ask.id).fill("Not before Monday.")
    here(f"#more-{ask.id} > summary").click()
    here.pick(f"#more-{ask.id} [name=kind][value=not-now]")
    here(f"#more-{ask.id} button[value=reject-with]").click()
    expect(here("#held form.undo")).to_be_visible()

    decision = solo.decided(ask)
    assert (decision.verdict, decision.note) == ("reject", "Not before Monday.")
    assert decision.kind == "not-now"


@pytest.mark.parametrize("js", [True, False])
def test_words_for_the_agent_reach_it_whatever_they_say(solo: Office, js: bool) -> None:
    ask = solo.open()
    words = "Ask finance first.\n<b>Really</b> & 'truly' \u202e"
    here = solo.window(js=js).visit(solo.path(ask)).armed()

    here.note(ask.id).fill(words)
    here.verdict("respond").click()
    expect(here("#held form.undo")).to_be_visible()

    decision = solo.decided(ask)
    assert (decision.verdict, decision.answer) == ("respond", words)


def test_what_needs_words_says_so_and_gives_nothing_away(solo: Office) -> None:
    ask = solo.open()
    here = solo.window(js=False).visit(solo.path(ask))

    here.verdict("respond").click()

    expect(here(".summary, [role=alert]").first).to_be_visible()
    assert solo.now(ask).status == "open"


def test_only_what_the_ask_allows_is_offered(solo: Office) -> None:
    ask = solo.open(allow=["approve", "reject"])
    here = solo.window().visit(solo.path(ask))

    expect(here.verdict("approve")).to_be_visible()
    expect(here.verdict("reject")).to_be_visible()
    expect(here(f"main#detail {verdict('respond')}")).to_have_count(0)
    expect(here("main#detail .field input:not([disabled]):not([readonly])")).to_have_count(0)


def test_what_is_critical_waits_for_its_name_also_at_the_server(solo: Office) -> None:
    ask = solo.open("drop_table", {"table": "events"}, risk="critical")
    here = solo.window(js=False).visit(solo.path(ask))

    here("main#detail [name=confirm]").fill("drop_tables")
    here.verdict("approve").click()
    expect(here("article.ask")).to_have_attribute("data-ask", ask.id)
    assert solo.now(ask).status == "open"
    here("main#detail [name=confirm]").fill("drop_table")
    here.verdict("approve").click()

    expect(here("#held form.undo")).to_be_visible()
    assert solo.decided(ask).verdict == "approve"


def test_pressing_twice_or_sending_twice_decides_once(solo: Office) -> None:
    first, second = solo.several(2)
    here = solo.window().visit(solo.path(first)).armed()

    here.verdict("approve").dblclick(delay=0)

    expect(here(f'#held form.undo[action^="/inbox/{first.id}/"]')).to_be_visible()
    kinds = [event.kind for event in solo.desk.history(first)]
    assert kinds.count("ask.settling") == 1
    assert solo.now(second).status == "open"


def test_going_back_in_the_browser_shows_the_ask_as_it_stands(solo: Office) -> None:
    first, second = solo.several(2)
    here = solo.window().visit(solo.path(first)).armed()
    here.verdict("approve").click()
    here.shows(second.id)

    here.page.go_back()

    here.shows(first.id)
    expect(here(f"#banner-{first.id}")).to_be_visible()
    expect(here.verdict("approve")).to_have_count(0)


def test_the_time_to_undo_the_last_one_is_not_longer_for_a_page_that_stood(solo: Office) -> None:
    ask = solo.open(risk="low")
    here = solo.window().visit(solo.path(ask)).armed()
    here.passes(2500)  # the clock of the server stands still meanwhile: what is left is less
    here.verdict("approve").click()

    expect(here("#held .held-left")).to_be_visible()
    left = here("#held .held-left").inner_text()
    assert int(left.removesuffix(" s")) <= 6


_SCROLLED = """
() => [document.scrollingElement, document.querySelector('#detail')]
  .forEach((one) => { one.scrollTop = 600; })
"""


@pytest.mark.parametrize("size", [PHONE, None], ids=["phone", "desktop"])
def test_the_next_ask_is_read_from_its_top(solo: Office, size: ViewportSize | None) -> None:
    first, second = (solo.open(risk="low", args={"text": "line\n" * 200, "n": n}) for n in (1, 2))
    here = solo.window(size=size or DESKTOP).visit(solo.path(first)).armed()
    here.page.evaluate(_SCROLLED)
    here.verdict("approve").click()

    here.shows(second.id)
    here.page.wait_for_function(
        "() => window.scrollY === 0 && document.querySelector('#detail').scrollTop === 0"
    )


def test_a_click_that_needs_words_asks_for_them_as_the_key_does(solo: Office) -> None:
    ask = solo.open(risk="low")
    here = solo.window().visit(solo.path(ask)).armed()
    here.verdict("respond").click()

    expect(here(f"#note-{ask.id}")).to_be_focused()
    assert solo.now(ask).open
    here.page.keyboard.type("Ask again in June")
    here.verdict("respond").click()
    expect(here("#held form.undo")).to_be_visible()
    assert solo.decided(ask).answer == "Ask again in June"
