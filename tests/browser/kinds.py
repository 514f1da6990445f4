"""One ask of every kind, and what somebody does with it: the table that tests go through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from sayso import Ask, Option
from tests.browser.office import Office
from tests.browser.window import Window


@dataclass(frozen=True)
class Case:
    """How an ask is opened, what is typed into it, which button decides it, and what is recorded."""

    open: Callable[[Office], Ask]
    button: str
    verdict: str
    typed: Mapping[str, str] = field(default_factory=dict)
    answer: Any = None

    def fill(self, here: Window) -> None:
        """Type what goes along with the verdict."""
        for name, text in self.typed.items():
            here(f'main#detail [name="{name}"]').first.fill(text)

    def key(self, here: Window) -> str:
        """Return the key that the button says it has."""
        key = here(f"main#detail {self.button}").first.get_attribute("data-key")
        assert key, f"{self.button} has no key"
        return key


def verdict(value: str) -> str:
    return f'button[name=verdict][value="{value}"]'


def _action(office: Office) -> Ask:
    return office.open(why="Charged twice", risk="medium", confidence=0.96)


def _plan(office: Office) -> Ask:
    steps = ["Read the ticket", "Pay the customer back", "Write to the customer"]
    return office.put("plan", steps, title="How to settle ticket 9921")


def _draft(office: Office) -> Ask:
    text = (
        "# Sorry\n\nWe charged you **twice**, and pay you back.\n\n- 40 EUR\n- within three days\n"
    )
    return office.put("draft", text, title="Reply to Ada")


def _question(office: Office) -> Ask:
    return office.put("question", "Pay back how much of 40 EUR?", int)


def _choice(office: Office) -> Ask:
    flights = [Option("07:15 via Lyon", 120), Option("09:40 direct", 210), Option("Train", 95)]
    return office.put("choose", "Which way to Paris?", flights, own=True)


def _notice(office: Office) -> Ask:
    return office.put("notice", "A newspaper wrote about us", {"paper": "The Daily"})


def _feedback(office: Office) -> Ask:
    return office.put("feedback", "The board met in October.", task="Summarise the minutes")


def _doubt(office: Office) -> Ask:
    ask = office.open()
    office.desk.approve(ask, by=office.somebody)
    office.desk.begin(ask, limit="1s")
    office.later(2)
    effect = office.now(ask).effect
    assert effect is not None
    assert effect.doubt is not None, effect
    return office.now(effect.doubt)


CASES: Mapping[str, Case] = {
    "action": Case(_action, verdict("approve"), "approve"),
    "plan": Case(_plan, verdict("approve"), "approve"),
    "draft": Case(_draft, verdict("approve"), "approve"),
    "question": Case(_question, verdict("respond"), "respond", {"=": "25"}, 25),
    "choice": Case(
        _choice,
        "button[name=option][data-key='2']",
        "approve",
        {},
        {"option": "09:40 direct", "value": 210},
    ),
    "notice": Case(_notice, verdict("reject"), "reject"),
    "feedback": Case(_feedback, verdict("approve"), "approve"),
    "doubt": Case(_doubt, verdict("reject"), "reject"),
}


def half(of: Iterable[str], first: int) -> list[Any]:
    """Every second one, from the first (0) or the second (1) on; the others are for the soak."""
    return [
        one if place % 2 == first else pytest.param(one, marks=pytest.mark.soak)
        for place, one in enumerate(of)
    ]
