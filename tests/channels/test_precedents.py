"""What a card shows of conflicts and of past cases, also where the text is hostile."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import sayso
from sayso import Ask, Desk
from sayso.channels.card import Card
from tests.hostile import ALL, FAKED, LABELS, raw_in
from tests.runs.people import ask_of, begun


def drawn(desk: Desk, ask: Ask, width: int = 80) -> str:
    out = io.StringIO()
    card = Card(ask=ask, roster=desk.store.roster(), now=desk.store.now())
    Console(file=out, width=width).print(card)
    return out.getvalue()


def test_conflicts_stand_behind_a_bar_whoever_states_them(desk: Desk) -> None:
    @sayso.tool(risk="low", conflicts=["The site says 9", "The sign says 10"])
    def publish(hours: str) -> str:
        return hours

    @desk.workflow
    def publishes(run):
        return run.call(publish, "9 to 5")

    asks = [
        ask_of(begun(desk, publishes)),
        desk.open("publish", {"hours": "9"}, conflicts=["The site says 9", "The sign says 10"]),
        desk.later.question("When?", conflicts=["The site says 9", "The sign says 10"]).ask,
    ]

    for ask in asks:
        card = drawn(desk, ask)
        assert "it names a conflict:" in card
        assert "│ The site says 9" in card
        assert "│ The sign says 10" in card
    assert "contradicts itself" in asks[0].content.sentence


def test_without_conflicts_and_without_looking_there_is_no_such_row(desk: Desk) -> None:
    card = drawn(desk, desk.open("refund", {"amount": 40}))

    assert "Conflicts" not in card
    assert "Cases" not in card


@pytest.mark.parametrize("width", [40, 80])
def test_hostile_cases_and_conflicts_are_made_visible(desk: Desk, width: int) -> None:
    @sayso.tool(risk="low", unseen=1.0, conflicts=[ALL, FAKED])
    def note(text: str) -> str:
        return text

    @desk.workflow
    def notes(run, text):
        return run.call(note, text)

    desk.edit(desk.open("note", {"text": f"{ALL} one"}), {"text": FAKED}, note=ALL)

    card = drawn(desk, ask_of(begun(desk, notes, f"{ALL} two")), width)

    assert raw_in(card) == []
    assert not [line for line in card.splitlines() if line.startswith("Decision")]
    assert max(map(len, card.splitlines())) <= width
    if width == 80:
        assert LABELS[0] in " ".join(card.split())


def test_the_record_for_scripts_says_the_same(desk: Desk) -> None:
    from sayso.channels.record import ask_record

    @sayso.tool(risk="low", unseen=True)
    def note(text: str) -> str:
        return text

    @desk.workflow
    def notes(run):
        return run.call(note, "anything")

    record = ask_record(ask_of(begun(desk, notes)))

    assert record["unseen"] == {"bound": 0.35, "of": 0, "unseen": True, "nearest": []}
    assert record["conflicts"] == []
