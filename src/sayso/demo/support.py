"""Support: labels of no great risk, several calls of one turn, a letter that was sent back."""

from __future__ import annotations

import sayso
from sayso.agent import ToolCall, call
from sayso.demo.jobs import Department, Job, Said
from sayso.demo.reading import Messages, told

_TICKETS = {5521: "billing", 5522: "bug", 5527: "feature"}


@sayso.tool(
    risk="low",
    reversible=True,
    affects="a ticket",
    agent="support",
    why="The words of the ticket are those of others with this label.",
    confidence=0.95,
)
def label(ticket: int, label: str) -> str:
    """Put a label on a ticket."""
    return f"Ticket {ticket} is labelled {label}."


@sayso.tool(risk="medium", reversible=False, affects="one customer")
def reply(ticket: int, to: str, subject: str, body: str) -> str:
    """Answer a customer by mail."""
    return f"Answered ticket {ticket}: {subject!r} to {to}."


@sayso.tool(risk="medium", affects="one customer")
def credit(customer: str, months: int) -> str:
    """Give a customer months for nothing."""
    return f"{customer} has {months} months for nothing."


def think(messages: Messages) -> list[ToolCall] | str:
    """Stand in for a model: everything for one ticket in one turn, then what came of it."""
    done = [text for tool in ("label", "reply", "credit") for text in told(messages, tool)]
    if done:
        return " ".join(done)
    body = "Dear Mia,\n\nthe export failed because of us. It works again; here is a month for it.\n"
    why = "Mia wrote three times, and status says that the export was down on Monday."
    return [
        call("label", ticket=5530, label="bug", _why=why, _confidence=0.97),
        call(
            "reply",
            ticket=5530,
            to="mia.kovac@example.com",
            subject="Your export",
            body=body,
            _why=why,
            _confidence=0.84,
        ),
        call("credit", customer="Mia Kovač", months=1, _why=why, _confidence=0.66),
    ]


agent = sayso.Agent("support", sayso.ScriptedModel(think), [label, reply, credit], explain=True)


def label_ticket(run: sayso.Running, ticket: int, name: str) -> str:
    """Label one ticket."""
    try:
        return run.call(label, ticket=ticket, label=name)
    except (sayso.Rejected, sayso.Answered) as no:
        return f"Not labelled: {no}"


_LONG = """\
Dear customers,

On Monday between 09:10 and 11:45 UTC exports failed. We are sorry. A certificate had run out, our
monitoring looked at another one, and it took us until ten to notice. Nobody lost data. We would
like to assure you that we take such things very seriously and will do everything we can.

The support team"""
_SHORT = """\
Dear customers,

**Exports failed on Monday from 09:10 to 11:45 UTC.** We are sorry.

- A certificate had run out. No data was lost.
- From this week on, all certificates renew by themselves.

The support team"""


def write_apology(run: sayso.Running) -> str:
    """Write to customers; whoever reviews it may send it back."""

    def write(guidance: str | None) -> str:
        if guidance is None:
            return _LONG
        return _SHORT if "shorter" in guidance.lower() else f"{_SHORT}\n\nP.S. {guidance}"

    sent = run.draft(write, title="Apology for Monday's exports", agent="support", why=_WHY)
    return f"Sent: {sent[:40]}..." if sent else "Not sent."


_WHY = "214 customers tried to export while it was down."


def tell(run: sayso.Running) -> str:
    """Tell people of something they may want to act on."""
    facts = {"from": "Data Protection Office", "received": "today, 08:12", "answer by": "3 June"}
    said = run.notice("A request for information under Article 15", facts=facts, agent="support")
    return f"{said}: {said.text}" if said.text else str(said)


def department() -> Department:
    """Return what support is at."""
    past = tuple(
        Job(f"ticket {number}", label_ticket, (number, name), (Said(),))
        for number, name in ((5502, "bug"), (5507, "billing"))
    )
    labels = tuple(Job(f"ticket {n}", label_ticket, (n, name)) for n, name in _TICKETS.items())
    back = Said(verdict="respond", answer="Shorter, and say what will be different.")
    jobs = (
        *past,
        *labels,
        Job("ticket 5530", agent, ("Settle ticket 5530: the export of Mia Kovač failed.",)),
        Job("apology for Monday", write_apology, (), (back,)),
        Job("request under Article 15", tell),
    )
    return Department((label_ticket, write_apology, tell), jobs)
