"""Each kind of ask, decided in each of the ways people have: in two of the four, in the soak in all."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.kinds import CASES, half
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
