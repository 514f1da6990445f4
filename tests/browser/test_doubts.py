"""A doubt in a browser: no key decides it, and its second question stands in the page."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.kinds import CASES
from tests.browser.office import Office


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
