"""In tests a script answers, and no server hears of it."""

from __future__ import annotations

import pytest

import sayso
from sayso import Desk
from sayso.testing import ScriptedReviewer


def test_the_script_stands_in_for_a_server_too(reviewer: ScriptedReviewer) -> None:
    desk = Desk("https://desk.invalid", token="sayso_x")

    @desk.gate(risk="high")
    def refund(order: int, amount: int) -> str:
        return f"paid {amount} for {order}"

    reviewer.edit("refund", {"amount": 30}).respond("question", 7).reject("notice")
    assert refund(1, 40) == "paid 30 for 1"
    assert desk.question("How many?", int) == 7
    assert desk.notice("Look") == "ignore"
    assert [ask.kind for ask in reviewer.seen] == ["action", "question", "notice"]
    with pytest.raises(sayso.SaysoError, match="no answer"):
        desk.confirm("Go on?")
    desk.close()
