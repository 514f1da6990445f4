"""What can still be undone has not happened yet."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.office import Office


def test_nobody_carries_out_what_can_still_be_undone(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.path(ask)).armed()
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()

    with pytest.raises(Exception, match=ask.id):
        solo.desk.begin(ask)
    solo.later()
    assert solo.desk.begin(ask).args == ask.args
