"""What happened, told on a line: for `sayso top`, `sayso runs show` and the overview."""

from __future__ import annotations

import pytest

from sayso import Desk
from sayso.channels.story import told


@pytest.mark.parametrize(("good", "said"), [(True, "called it good"), (False, "called it bad")])
def test_a_rating_is_told_as_one(desk: Desk, good: bool, said: str) -> None:
    ask = desk.later.feedback("March was fine").ask
    decided = desk.approve(ask) if good else desk.reject(ask, "Too short")
    last = desk.history(decided)[-1]

    note = "" if good else ', "Too short"'
    assert told(last, decided).plain.startswith(f"sam {said} ({ask.id}){note}")
    assert told(last, decided, called="How good?").plain.startswith(f"sam {said} (How good?){note}")
