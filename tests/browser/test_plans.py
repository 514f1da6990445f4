"""A plan is edited in place: rewritten, moved, dropped, put back, added to."""

from __future__ import annotations

from playwright.sync_api import expect

from sayso import Ask
from tests.browser.office import Office
from tests.browser.window import DESKTOP, PHONE, Window

STEPS = ["Read the ticket", "Look up the invoice", "Pay it back", "Write to Ada"]


def planned(office: Office) -> Ask:
    return office.put("plan", STEPS, title="Settle ticket 9921")


def steps(here: Window) -> list[str]:
    """The steps as they stand on screen."""
    fields = here("main#detail ol.plan > li.step textarea[name=step]")
    return fields.evaluate_all("(all) => all.map((one) => one.value)")  # type: ignore[no-any-return]


def has(here: Window, *wanted: str) -> None:
    """Wait until these are the steps."""
    fields = here("main#detail ol.plan > li.step textarea[name=step]")
    expect(fields).to_have_count(len(wanted))
    for place, text in enumerate(wanted):
        expect(fields.nth(place)).to_have_value(text)


def press(here: Window, place: int, what: str) -> None:
    """Press the button of a step."""
    here("main#detail ol.plan > li.step").nth(place).locator(f"[data-do={what}]").click()


def approved(office: Office, here: Window, ask: Ask) -> list[object]:
    here.armed().verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()
    decision = office.decided(ask)
    return list((decision.args or {})["steps"])


def test_steps_are_moved_dropped_put_back_rewritten_and_added(solo: Office) -> None:
    ask = planned(solo)
    here = solo.window().visit(solo.path(ask))

    press(here, 3, "up")
    has(here, STEPS[0], STEPS[1], STEPS[3], STEPS[2])
    press(here, 0, "down")
    has(here, STEPS[1], STEPS[0], STEPS[3], STEPS[2])
    press(here, 1, "drop")
    has(here, STEPS[1], STEPS[3], STEPS[2])
    expect(here("main#detail .dropped").first).to_contain_text(STEPS[0])
    here('main#detail .dropped [name=do][value^="put-back:"]').first.click()
    expect(here("main#detail ol.plan > li.step")).to_have_count(4)
    places = steps(here)
    press(here, places.index(STEPS[0]), "drop")
    has(here, STEPS[1], STEPS[3], STEPS[2])
    here("main#detail button[data-do=add]").click()
    expect(here("main#detail ol.plan textarea[name=step]")).to_have_count(4)
    here("main#detail ol.plan textarea[name=step]").last.fill("Close the ticket")
    here("main#detail ol.plan textarea[name=step]").first.fill("Look the invoice up twice")

    assert approved(solo, here, ask) == [
        "Look the invoice up twice",
        STEPS[3],
        STEPS[2],
        "Close the ticket",
    ]
    assert solo.now(ask).decision.verdict == "edit"  # type: ignore[union-attr]


def test_a_step_is_dragged_to_its_place(solo: Office) -> None:
    ask = planned(solo)
    here = solo.window().visit(solo.path(ask))
    lines = here("main#detail ol.plan > li.step")

    lines.nth(3).locator(".step-number").hover()
    here.page.mouse.down()
    top = lines.nth(0).bounding_box()
    assert top is not None
    here.page.mouse.move(top["x"] + 20, top["y"] + 4, steps=8)
    here.page.mouse.up()

    has(here, STEPS[3], *STEPS[:3])
    assert approved(solo, here, ask) == [STEPS[3], *STEPS[:3]]


def test_focus_stays_with_the_step_that_is_moved_by_keyboard(solo: Office) -> None:
    ask = planned(solo)
    here = solo.window().visit(solo.path(ask))

    here("main#detail ol.plan > li.step").nth(2).locator("[data-do=up]").focus()
    here.page.keyboard.press("Enter")
    has(here, STEPS[0], STEPS[2], STEPS[1], STEPS[3])
    here.page.keyboard.press("Enter")

    has(here, STEPS[2], STEPS[0], STEPS[1], STEPS[3])


def test_a_step_that_never_breaks_leaves_the_page_as_wide_as_it_is_and_buttons_on_one_line(
    solo: Office,
) -> None:
    long = {"title": "Pay", "detail": "x" * 10_000, "account": "y" * 10_000}
    ask = solo.put("plan", [long, "z" * 10_000], title="t" * 10_000)
    here = solo.window().visit(solo.path(ask)).armed()

    for size in (DESKTOP, PHONE):
        here.page.set_viewport_size(size)
        assert here.too_wide() == []
        here("main#detail .bar").evaluate("(bar) => bar.scrollIntoView()")
        high = here("main#detail .bar-row > .btn").evaluate_all(
            "(all) => all.map((one) => [one.offsetHeight, one.scrollWidth - one.clientWidth])"
        )
        assert all(tall <= 50 and over <= 0 for tall, over in high), high


def test_every_button_below_an_edited_plan_can_be_hit_however_wide_the_window_is(
    solo: Office,
) -> None:
    solo.desk.reject(planned(solo))  # which stands beside the next one, and takes its room
    solo.later()
    ask = solo.put("plan", lambda guidance: STEPS, title="Settle ticket 9921")
    here = solo.window().visit(solo.path(ask))
    expect(here.verdict("respond")).to_be_visible()
    expect(here("#context")).to_contain_text("Decided before")

    press(here, 1, "drop")
    expect(here("[data-approve-label]")).to_have_text("Approve plan with 1 edit")

    for wide in (1024, 1280, 1440):
        here.page.set_viewport_size({"width": wide, "height": 800})
        assert here.covered() == []
        assert here("main#detail .bar-row").evaluate("(row) => row.offsetHeight") < 60, "one line"
