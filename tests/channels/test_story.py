"""What happened, told on a line: for `sayso top`, `sayso runs show` and the overview."""

from __future__ import annotations

import pytest

from sayso import Desk
from sayso.channels.changes import in_brief
from sayso.channels.story import told
from tests import hostile


@pytest.mark.parametrize(("good", "said"), [(True, "called it good"), (False, "called it bad")])
def test_a_rating_is_told_as_one(desk: Desk, good: bool, said: str) -> None:
    ask = desk.later.feedback("March was fine").ask
    decided = desk.approve(ask) if good else desk.reject(ask, "Too short")
    last = desk.history(decided)[-1]

    note = "" if good else ', "Too short"'
    assert told(last, decided).plain.startswith(f"sam {said} ({ask.id}){note}")
    assert told(last, decided, called="How good?").plain.startswith(f"sam {said} (How good?){note}")


def test_an_edit_is_told_by_what_it_changed(desk: Desk) -> None:
    ask = desk.open("label", {"ticket": 3, "label": "bug"})
    edited = desk.history(desk.edit(ask, {"label": "feature"}))[1]

    assert told(edited, ask).plain == f'sam edited {ask.id}: label "bug" -> "feature"'
    assert told(edited, ask, called="Label · bug").plain == (
        'sam edited Label · bug: label "bug" -> "feature"'
    )


def test_of_long_texts_an_edit_shows_where_they_begin_to_differ(desk: Desk) -> None:
    ask = desk.open("mail", {"text": f"{'Dear Ada, ' * 50}I owe you 40 euros.", "to": "ada"})

    said = in_brief(ask, {"text": f"{'Dear Ada, ' * 50}I owe you 30 euros."}, 160)

    assert said == 'text "…I owe you 40 euros." -> "…I owe you 30 euros.", to "ada" -> (not given)'


def test_what_an_edit_changed_hides_nothing_and_stays_on_its_line(desk: Desk) -> None:
    ask = desk.open("label", {"label": hostile.ALL, "n": 1})

    said = in_brief(ask, {"label": f"{hostile.FAKED} {hostile.ALL}", "n": 2}, 160)

    assert not hostile.raw_in(said)
    assert said.isprintable()
    assert len(said) <= 160
    faked = in_brief(ask, {"label": hostile.ALL, "n": '1" -> "2'}, 160)
    assert faked == r'n 1 -> "1\" -> \"2"'
