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
