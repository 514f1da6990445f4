"""The story that every adapter is told: who takes part in it, whatever the host is.

A shop settles an order. It pays anna and writes to ben in one turn, both of which a person has to
approve: the payment goes elsewhere, the letter is not sent. Then it asks which day suits. Where
the host has plans, that question is in the plan only because a person put it there.

The model decides by nothing but the messages that it is shown, in a form that all hosts' messages
can be brought into. What was done to the world, and what the model was shown, is lines in files of
a folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sayso import Ask, Desk
from tests.crash.shop import note, reached

FOLDER = "SAYSO_TEST_FOLDER"
OLD, NEW = "anna@old.example", "anna@new.example"
AMOUNT = 40
REFUSAL = "Ben left last week"
WISH = "Find out which day suits"
QUESTION = "Which day suits you?"
DAY = "Thursday"
PLAN = ("Pay anna", "Write to ben")
ANSWER = f"Settled, and delivered on {DAY}."
PAID = f"paid {AMOUNT} to "


def task(*, plans: bool) -> str:
    """Return what the agent is told to do: the question, only where no plan will say it."""
    return "Settle the order." if plans else f"Settle the order. {WISH}."


def folder() -> str:
    """Where the world is."""
    return os.environ[FOLDER]


def _did(tool: str, **args: Any) -> None:
    reached("in the tool")
    note(folder(), "done", json.dumps({"tool": tool, **args}))
    reached("after the effect")


def pay(to: str, amount: int) -> str:
    """Pay somebody.

    Args:
        to: Who is paid.
        amount: How much.
    """
    _did("pay", to=to, amount=amount)
    return f"{PAID}{to}"


def send(to: str, text: str) -> str:
    """Write to somebody.

    Args:
        to: Who is written to.
        text: What is written.
    """
    _did("send", to=to, text=text)
    return f"sent to {to}"


@dataclass(frozen=True)
class Wanted:
    """A call that the model wants made."""

    tool: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Said:
    """One message, as a model of any host is shown it."""

    role: str
    text: str
    calls: Sequence[Wanted] = field(default_factory=tuple)


Line = str | list[str] | list[Wanted]  # an answer, a plan, the calls of a turn


def think(shown: Sequence[Said], *, planning: bool = False) -> Line:
    """Be the model."""
    note(folder(), "prompts", json.dumps([asdict(message) for message in shown]))
    read = "\n".join(message.text for message in shown if message.role != "system")
    if planning:
        return list(PLAN)
    if PAID not in read:
        letter = Wanted("send", {"to": "ben", "text": "It is on its way."})
        return [Wanted("pay", {"to": OLD, "amount": AMOUNT}), letter]
    if WISH in read and DAY not in read:
        return [Wanted("ask", {"question": QUESTION})]
    return ANSWER


def decide(desk: Desk, ask: Ask, *, paid: bool = False) -> None:
    """Be the person: say what they say to an ask of this kind; in doubt, whether they see it paid."""
    match ask.kind, ask.tool:
        case "plan", _:
            desk.edit(ask, {"steps": [*ask.args["steps"], {"title": WISH}]})
        case "action", "pay":
            desk.edit(ask, {"to": NEW})
        case "action", "send":
            desk.reject(ask, REFUSAL)
        case "question", _:
            desk.respond(ask, DAY)
        case "doubt", _ if paid:
            desk.respond(ask, f"{PAID}{NEW}")
        case "doubt", _:
            desk.approve(ask)  # not done: do it
        case _:
            raise AssertionError(f"Nobody was told what to say to {ask.title!r} ({ask.kind}).")
