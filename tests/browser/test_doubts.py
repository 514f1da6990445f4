"""A doubt in a browser: no key decides it, and its second question stands in the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.kinds import CASES
from tests.browser.office import Office
from tests.browser.window import DESKTOP, PHONE


def test_e50_no_key_runs_a_doubtful_call_again(solo: Office) -> None:
    doubt = CASES["doubt"].open(solo)
    here = solo.window().visit(solo.path(doubt)).armed()

    for key in ("a", "r", "c", "1", "2", "3"):
        here.page.keyboard.press(key)
    expect(
        here(".toast, [role=status]").filter(has_text="That is not possible here.")
    ).to_be_visible()
    assert solo.now(doubt).open
    again = here("button[value='run-again']")
    expect(again).to_be_hidden()
    here("details.again summary").click()
    expect(again).to_be_visible()
    assert solo.now(doubt).open


@pytest.mark.parametrize(
    ("size", "js"),
    [(DESKTOP, True), (PHONE, True), ({"width": 1000, "height": 700}, True), (DESKTOP, False)],
)
def test_e50_a_double_click_does_not_answer_the_second_question(
    solo: Office, size: ViewportSize, js: bool
) -> None:
    """The yes came up under the pointer, and a second press within 400 ms ran the call again."""
    doubt = CASES["doubt"].open(solo)
    here = solo.window(js=js, size=size).visit(solo.path(doubt))
    if js:
        here.stands()
    else:
        here.pane.hurry(0)
    here("details.again summary").click()
    again = here("button[value='run-again']")
    box = again.bounding_box()
    assert box is not None
    here.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    if js:
        expect(here("#toast")).to_contain_text("only just appeared")
    assert solo.now(doubt).open
    if js:
        here.goes_on().armed()
    else:
        here.pane.hurry(100)
    again.click()
    expect(here("#held form.undo")).to_be_visible()
