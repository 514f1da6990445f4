"""The page decides what the person meant: by click, tap and key, with and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from sayso import Ask
from tests.browser.office import Office
from tests.browser.window import DESKTOP, PHONE, Window


def press(here: Window, way: str, verdict: str = "approve") -> None:
    """Press a button where it is, whether or not it can be pressed."""
    if way == "key":
        here.page.keyboard.press({"approve": "a", "reject": "r"}[verdict])
        return
    box = here.verdict(verdict).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    if way == "tap":
        here.page.touchscreen.tap(x, y)
    else:
        here.page.mouse.click(x, y)


def looking(office: Office, ask: Ask, way: str = "click") -> Window:
    """A window at an ask that takes decisions already, and whose clock stands."""
    size = PHONE if way == "tap" else DESKTOP
    here = office.window(size=size, touch=way == "tap").visit(office.path(ask))
    return here.stands()


# --- one guard for click, tap and key (E62) ----------------------------------------------------


@pytest.mark.parametrize(
    ("way", "risk", "seconds"),
    [
        ("click", "low", 1),
        ("tap", "low", 1),
        ("key", "low", 1),
        ("tap", "high", 2),
        ("key", "high", 2),
    ],
)
def test_two_presses_in_a_row_decide_one_ask_e62(
    solo: Office, way: str, risk: str, seconds: int
) -> None:
    """E62: two clicks 350 ms apart approved a payout and a mass mail, two taps two refunds."""
    first, second = (solo.open(risk=risk, why=f"The {n}.") for n in ("first", "second"))
    here = looking(solo, first, way)

    press(here, way)
    here.painted(second.id)
    for milliseconds in (1, 350, seconds * 1000 - 370):
        here.passes(milliseconds)
        press(here, way)
        expect(here("#toast")).to_contain_text("only just appeared")

    assert solo.now(first).settling
    assert solo.now(second).open
    here.passes(20)
    press(here, way)
    here.goes_on()
    expect(here(f'#held li[data-ask="{second.id}"]')).to_be_visible()
    assert solo.decided(second).verdict == "approve"


def test_a_button_says_that_it_cannot_be_pressed_yet_e62(solo: Office) -> None:
    first, second = solo.several(2, risk="low")
    here = looking(solo, first)
    expect(here.verdict("approve")).not_to_have_attribute("aria-disabled", "true")

    press(here, "click")
    here.painted(second.id)
    for verdict in ("approve", "reject", "respond"):
        expect(here.verdict(verdict)).to_have_attribute("aria-disabled", "true")
        expect(here.verdict(verdict)).to_have_accessible_description(
            re.compile("press in a moment")
        )

    here.passes(1000)
    expect(here.verdict("approve")).not_to_have_attribute("aria-disabled", "true")
    expect(here.verdict("approve")).not_to_have_accessible_description(re.compile("moment"))


def _by_key(office: Office, here: Window, ask: Ask) -> None:
    here.page.keyboard.press("j")


def _by_click(office: Office, here: Window, ask: Ask) -> None:
    here(f'#queue .row[data-ask="{ask.id}"] a.row-link').click()


def _by_address(office: Office, here: Window, ask: Ask) -> None:
    here.page.goto(office.path(ask), wait_until="domcontentloaded")


@pytest.mark.parametrize("comes", [_by_key, _by_click, _by_address])
def test_however_an_ask_appears_it_takes_no_decision_at_once_e62(
    solo: Office, comes: Callable[[Office, Window, Ask], None]
) -> None:
    solo.several(2, risk="medium")
    here = solo.window().visit(solo.queue)
    first, second = here.rows
    here.stands()

    comes(solo, here, solo.now(second))
    here.painted(second)
    for verdict in ("approve", "reject"):
        press(here, "click", verdict)
        press(here, "key", verdict)

    assert solo.now(first).open
    assert solo.now(second).open
    here.passes(1000)
    press(here, "key", "reject")
    here.goes_on()
    expect(here(f'#held li[data-ask="{second}"]')).to_be_visible()


def test_buttons_that_come_back_while_one_looks_take_no_decision_at_once_e62(solo: Office) -> None:
    ask = solo.open(risk="low")
    here = solo.window().visit(solo.path(ask))
    solo.desk.approve(ask, hold=8)
    expect(here.verdict("approve")).to_have_count(0)

    here.armed().stands()  # what is painted next has only just appeared
    solo.desk.take_back(ask)
    here.painted(ask.id)
    press(here, "click")

    expect(here("#toast")).to_contain_text("only just appeared")
    assert solo.now(ask).open


def test_several_that_are_confirmed_together_are_guarded_too_e62(solo: Office) -> None:
    asks = solo.several(2, risk="low")
    here = solo.window().visit(solo.queue).stands()
    for ask in asks:
        here(f'#queue input.pick[value^="{ask.id} "]').check(force=True)

    here('.bulk-bar button[value="approve"]').click()
    sure = here("button[name=sure]")
    expect(sure).to_have_attribute("aria-disabled", "true")
    sure.click(force=True)
    assert [solo.now(ask).status for ask in asks] == ["open", "open"]

    here.goes_on().armed()
    sure.click()
    expect(here("main h1")).to_contain_text("2 approved")
    expect(here("#held form.undo")).to_have_count(2)
    assert here("kbd:visible", has_text="Z").count() == 1, "one key, one button"
    here.page.keyboard.press("z")
    expect(here("main h1")).to_contain_text("2 open again")


def test_without_scripts_nothing_is_decided_at_once_either_e62(solo: Office) -> None:
    """A page that has just come takes no press: what was meant for the page before falls through."""
    low, high = solo.open(risk="low"), solo.open(risk="high")
    here = solo.window(js=False)
    here.pane.hurry(0)
    for ask in (low, high):
        here.visit(solo.path(ask))
        press(here, "click")
        assert solo.now(ask).open

    here.pane.hurry(100)
    for ask in (low, high):
        here.visit(solo.path(ask))
        here.verdict("approve").click()
        assert solo.now(ask).settling


# --- the selection wins (E63) ------------------------------------------------------------------


@pytest.mark.parametrize(("key", "word"), [("a", "Approve"), ("r", "Reject")])
def test_keys_are_for_what_is_selected_and_never_for_the_open_ask_e63(
    solo: Office, key: str, word: str
) -> None:
    """E63: four asks were ticked, and A approved the open one."""
    opened, *ticked = solo.several(5, risk="low")
    here = solo.window().visit(solo.path(opened))
    for ask in ticked:
        here(f'#queue input.pick[value^="{ask.id} "]').check(force=True)
    expect(here(".bulk-bar")).to_contain_text("4 selected")
    expect(here(".bulk-bar kbd")).to_have_text(["A", "R"])
    expect(here("main#detail .bar kbd").first).to_be_hidden()

    for other in ("c", "1"):
        here.page.keyboard.press(other)
        expect(here("#toast")).to_contain_text("4 selected")
    here.page.keyboard.press(key)

    expect(here("main h1")).to_contain_text(f"{word} 4 asks?")
    assert {solo.now(ask).status for ask in (opened, *ticked)} == {"open"}
    here.armed()("button[name=sure]").click()
    expect(here("main h1")).to_contain_text("4 ")
    assert solo.now(opened).open
    assert all(solo.now(ask).settling for ask in ticked)


def test_the_palette_is_for_what_is_selected_as_well_e63(solo: Office) -> None:
    """Two asks were ticked, and Approve of the palette, with its key A, approved the open one."""
    opened, *ticked = solo.several(3, risk="low")
    here = solo.window().visit(solo.path(opened))
    for ask in ticked:
        here(f'#queue input.pick[value^="{ask.id} "]').check(force=True)

    here.page.keyboard.press("Control+k")
    here.page.keyboard.type("Approve")
    expect(here("#palette [role=option]").first).to_have_text(re.compile("Approve 2 selected"))
    here.page.keyboard.press("Enter")

    expect(here("main h1")).to_contain_text("Approve 2 asks?")
    assert {solo.now(ask).status for ask in (opened, *ticked)} == {"open"}


def test_once_the_selection_is_gone_a_key_is_for_the_open_ask_again_e63(solo: Office) -> None:
    opened, ticked = solo.several(2, risk="low")
    here = solo.window().visit(solo.path(opened))
    here(f'#queue input.pick[value^="{ticked.id} "]').check(force=True)

    here.page.keyboard.press("Escape")
    here("main#detail").focus()
    here.page.keyboard.press("a")

    expect(here(f'#held li[data-ask="{opened.id}"]')).to_be_visible()
    assert solo.now(ticked).open


# --- no letter decides while a name is wanted (E64) --------------------------------------------


def _critical(office: Office) -> Ask:
    return office.open("run_sql", {"query": "drop table events"}, risk="critical")


def test_an_early_a_leads_into_the_field_for_the_name_e64(solo: Office) -> None:
    """E64: an early A left the field without focus, and typing `run_sql` rejected at its "r"."""
    first, critical = solo.open(risk="high"), _critical(solo)
    here = solo.window().visit(solo.path(first)).stands()
    here(f'#queue .row[data-ask="{critical.id}"] a.row-link').click()
    here.painted(critical.id)

    here.page.keyboard.press("a")
    expect(here("[name=confirm]")).to_be_focused()
    here.page.keyboard.type("run_sql")

    expect(here("[name=confirm]")).to_have_value("run_sql")
    assert solo.now(critical).open
    here.passes(2000).goes_on()
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()
    assert solo.decided(critical).verdict == "approve"


@pytest.mark.parametrize("letters", ["run_sql", "cancel_all", "123"])
def test_letters_decide_nothing_while_a_name_is_wanted_e64(solo: Office, letters: str) -> None:
    ask = _critical(solo)
    solo.open(risk="high")
    here = solo.window().visit(solo.path(ask))

    here.page.keyboard.type(letters)

    expect(here("[name=confirm]")).to_be_focused()
    assert here.ask == ask.id
    assert solo.now(ask).open
    here.page.keyboard.press("Escape")
    here.page.keyboard.press("r")
    expect(here("[name=confirm]")).to_be_focused()
    assert solo.now(ask).open
    here.verdict("reject").click()  # a button says what it does
    expect(here("#held form.undo")).to_be_visible()


# --- every held decision (E65) -----------------------------------------------------------------


def held(here: Window) -> list[str]:
    """The decisions in the tray, the newest first."""
    return here("#held li").evaluate_all("lines => lines.map((line) => line.dataset.ask)")  # type: ignore[no-any-return]


def test_every_held_decision_is_in_sight_with_an_undo_of_its_own_e65(solo: Office) -> None:
    """E65: undo reached the last decision only; one still held was listed nowhere."""
    solo.several(4, risk="low")
    here = solo.window().visit(solo.queue)
    order = here.rows
    for ask_id in order[:3]:
        here.shows(ask_id).armed().verdict("approve").click()
        expect(here(f'#held li[data-ask="{ask_id}"]')).to_be_visible()
        solo.later(1)

    assert held(here) == order[2::-1]
    left = here("#held .held-left").all_inner_texts()
    assert all(re.fullmatch(r"[1-8] s", words) for words in left), left
    here(f'#held form.undo[action^="/inbox/{order[0]}/"] button').click()

    here.shows(order[0])
    assert [solo.now(ask_id).status for ask_id in order] == ["open", "settling", "settling", "open"]
    expect(here("#held li")).to_have_count(2)


def test_the_key_z_takes_the_newest_and_then_the_one_before_e65(solo: Office) -> None:
    solo.several(3, risk="low")
    here = solo.window().visit(solo.queue)
    order = here.rows
    for ask_id in order[:2]:
        here.shows(ask_id).armed().page.keyboard.press("a")
        expect(here(f'#held li[data-ask="{ask_id}"]')).to_be_visible()
        solo.later(1)

    here.page.keyboard.press("z")
    here.shows(order[1]).idle()
    assert [solo.now(ask_id).status for ask_id in order] == ["settling", "open", "open"]
    here.page.keyboard.press("z")
    here.shows(order[0]).idle()
    assert [solo.now(ask_id).status for ask_id in order] == ["open", "open", "open"]
    expect(here("#held")).to_be_hidden()
    here.page.keyboard.press("z")
    expect(here("#toast")).to_contain_text("nothing to undo")


def test_what_can_no_longer_be_undone_leaves_the_tray_e65(solo: Office) -> None:
    first, second = solo.several(2, risk="low")
    here = looking(solo, first)
    press(here, "click")
    here.painted(second.id)
    expect(here("#held .held-left")).to_have_text(re.compile("[78] s"))
    here.passes(3000)
    expect(here("#held .held-left")).to_have_text(re.compile("[456] s"))
    here.passes(6000)
    expect(here("#held")).to_be_hidden()


def test_a_decision_made_elsewhere_comes_into_the_tray_by_itself_e65(team: Office) -> None:
    ask, other = team.several(2, risk="low")
    here = team.window("anna").visit(team.path(other))

    team.desk.approve(ask, by="anna", hold=8)
    expect(here(f'#held li[data-ask="{ask.id}"]')).to_be_visible()
    team.desk.take_back(ask, by="anna")
    expect(here("#held")).to_be_hidden()


def test_undo_of_another_ask_leaves_what_is_typed_where_it_is_e65(solo: Office) -> None:
    first, second = solo.several(2, risk="low")
    here = solo.window().visit(solo.path(first))
    here.verdict("approve").click()
    here.shows(second.id).armed()
    here.note(second.id).fill("I am in the middle of it")

    here(f'#held form.undo[action^="/inbox/{first.id}/"] button').click()

    expect(here("#toast")).to_contain_text("waits in the list")
    assert solo.now(first).open
    assert here.ask == second.id
    expect(here.note(second.id)).to_have_value("I am in the middle of it")


_OVER = """
() => {
  const tray = document.querySelector('#held').getBoundingClientRect();
  const page = document.scrollingElement;
  const over = (one) => {
    const box = one.getBoundingClientRect();
    return box.width > 1 && box.top < tray.bottom && box.bottom > tray.top && box.left < tray.right && box.right > tray.left;
  };
  const wanted = '#detail h1, #detail a[href], #detail button, #detail :is(input, textarea, select):not([type=hidden]), #queue a, #queue button';
  return [...document.querySelectorAll(wanted)].filter((one) => one.checkVisibility() && !one.disabled)
    .filter((one) => { one.scrollIntoView({ block: 'nearest' }); return over(one); })
    .map((one) => one.outerHTML.slice(0, 120));
}
"""


@pytest.mark.parametrize("size", [DESKTOP, PHONE, {"width": 1000, "height": 700}])
def test_the_tray_lies_over_no_title_field_or_link_e65(solo: Office, size: Any) -> None:
    solo.several(4, risk="low", why="Because.\n" * 30)
    here = solo.window(size=size).visit(solo.queue)
    order = here.rows
    if size is PHONE:
        here.visit(solo.path(order[0]))
    for ask_id in order[:2]:
        here.shows(ask_id).armed().verdict("approve").click()
        expect(here(f'#held li[data-ask="{ask_id}"]')).to_be_visible()
    here.shows(order[2]).armed()

    assert here("#held").bounding_box() is not None
    assert here.page.evaluate(_OVER) == []
    assert here.too_wide() == []
    assert here.too_small() == []
    assert here.covered("#held") == []
    assert here.violations() == []


# --- what is drawn is the call (E67) -----------------------------------------------------------

_OUT_OF_SIGHT = """
() => [...document.querySelectorAll('.table-scroll')].flatMap((place) =>
  [...place.querySelectorAll('th, td')].filter((cell) =>
    cell.getBoundingClientRect().right > place.getBoundingClientRect().right + 1)
  .map((cell) => cell.textContent))
"""


def test_whom_each_payment_goes_to_is_seen_without_scrolling_sideways_e67(solo: Office) -> None:
    rows = [
        {"to": f"{name} <{name}@example.org>", "iban": iban, "amount": amount, "currency": currency}
        for name, iban, amount, currency in [
            ("The Data Office", "DE89370400440532013000", 1250.5, "EUR"),
            ("bob", "FR7630006000011234567890189", 90, "EUR"),
            ("eve", "GB33BUKB20201555555555", 77, "USD"),
        ]
    ]
    ask = solo.open("pay_all", {"payments": rows}, risk="medium")
    here = solo.window().visit(solo.path(ask))

    expect(here(".table-scroll tbody tr")).to_have_count(3)
    for wide in (1440, 1280, PHONE["width"]):
        here.page.set_viewport_size({"width": wide, "height": 800})
        assert here.page.evaluate(_OUT_OF_SIGHT) == []
