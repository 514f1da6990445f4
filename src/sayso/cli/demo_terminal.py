"""`sayso demo --terminal`: a small story. An agent wants to pay money back, and you have the last word."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from rich.text import Text

from sayso.channels.console import Console
from sayso.channels.fence import Row, paragraph
from sayso.cli.printing import say, screen, show
from sayso.cli.timeline import timeline
from sayso.desk import Desk
from sayso.errors import Answered, Rejected
from sayso.model.text import one_line

_PAID = {1182: 40, 1183: 400}
_TRY = (
    ("sayso inbox", "what waits on the desk of this folder"),
    ("sayso inbox approve ID", "look, then say yes, from any terminal"),
    ("sayso people add anna --role senior", "the end of deciding alone"),
    ("sayso audit verify", "check the journal of your own desk"),
)
_GATE = """\
@desk.gate(risk=lambda amount, **_: "high" if amount > 100 else "low")
def refund(order: int, amount: int) -> str: ...
"""


class Script:
    """Somebody who types what was written down beforehand, and lets the screen show it."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    def present(self) -> bool:
        """Say that somebody sits here."""
        return True

    def forget(self) -> None:
        """Keep everything: a script never types too early."""

    def line(self, going_on: Callable[[], bool]) -> str | None:
        """Type the next line."""
        typed = next(self._lines, None)
        if typed is not None:
            click.echo(typed)
        return typed


def play(*, auto: bool) -> None:
    """Play a small story: a gated function, your decision, the journal.

    It runs in a temporary folder and leaves nothing behind. Without a terminal a scripted
    reviewer decides, so that it runs by itself.
    """
    with tempfile.TemporaryDirectory(prefix="sayso-demo-") as folder:
        url = f"sqlite:///{Path(folder) / 'demo.db'}"
        with Desk(url, agent="support-agent", via="terminal") as desk:
            alone = auto or not desk.console.interactive()
            if alone:
                desk.console = Console(keys=Script(_LINES), screen=sys.stdout)
            _story(desk, alone=alone)


# What the scripted reviewer types: an edit of the first ask, a rejection of the second.
_LINES = ("2", "amount=40", "", "3", "Order 1183 was charged once, as it should be")


def _story(desk: Desk, *, alone: bool) -> None:
    paid: list[str] = []
    refund = _gated(desk, paid)
    _heading("An agent wants to pay money back")
    show(paragraph("The agent may call one function, and it stands behind a gate:"), "")
    show(Text("\n".join(f"    {line}" for line in _GATE.splitlines()), style="cyan"), "")
    who = "A scripted reviewer decides" if alone else "You decide"
    show(paragraph(f"It wants to refund 400 EUR for order 1182. {who}; nothing runs before that."))
    if _tried(lambda: refund(order=1182, amount=400)) == "answered":
        show(paragraph("The agent proposes 40 EUR instead."))
        _tried(lambda: refund(order=1182, amount=40))
    _heading("It tries another one")
    show(paragraph("The agent goes on, and now wants 400 EUR for order 1183."))
    _tried(lambda: refund(order=1183, amount=400))
    _journal(desk)
    left = "; ".join(paid) if paid else "nothing"
    say(f"What left the house: {left}.", "bold")
    _what_next()


def _gated(desk: Desk, paid: list[str]) -> Callable[..., str]:
    @desk.gate(
        risk=lambda amount, **_: "high" if amount > 100 else "low",
        reversible=False,
        affects="one customer",
        impact=lambda order, amount: f"{amount} EUR leave the account; paid was {_PAID[order]} EUR",
        why="The customer writes that the order was charged twice.",
    )
    def refund(order: int, amount: int) -> str:
        paid.append(f"{amount} EUR for order {order}")
        return f"{amount} EUR paid back for order {order}"

    return refund


def _tried(call: Callable[[], str]) -> str:
    """Let the agent call the function, and tell what came of it."""
    try:
        say(f"\nIt ran, with exactly what was approved: {call()}", "green")
    except Answered as answer:
        say(f"\nNot run. The agent is told: {one_line(answer.text, 200)}", "yellow")
        return "answered"
    except Rejected as no:
        say(f"\nNot run. The agent is told: {one_line(no.note or 'no reason given', 200)}", "red")
        return "rejected"
    return "ran"


def _journal(desk: Desk) -> None:
    _heading("What the journal says")
    show(paragraph("Each line was written in the same commit as the change it tells of."), "")
    show(*timeline(desk.events()))
    report = desk.verify()
    whole = "whole: no line was changed, moved or removed" if report else "NOT WHOLE"
    say(f"\nVerified: {report.events} events, the chain is {whole}.", "green")


def _what_next() -> None:
    _heading("Try next")
    for command, text in _TRY:
        show(Row(command, Text(text, style="dim"), 38))


def _heading(text: str) -> None:
    width = min(screen().width, 72)
    show("", Text(f"{text} {'-' * max(width - len(text) - 1, 0)}", style="bold"), "")
