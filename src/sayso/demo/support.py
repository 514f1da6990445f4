"""Support: labels, several calls of one turn, a letter sent back, mail, and help from people."""

from __future__ import annotations

import sayso
from sayso.agent import ToolCall, call
from sayso.demo.jobs import Department, Job, Said
from sayso.demo.reading import Messages, task_of, told

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


@sayso.tool(
    risk="low",
    reversible=True,
    unseen=True,
    agent="support",
    why="Nobody wrote for a week.",
    confidence=0.96,
)
def close(ticket: int, because: str) -> str:
    """Close a ticket; alone, if people have approved a case like it."""
    return f"Ticket {ticket} is closed: {because}."


def close_ticket(run: sayso.Running, ticket: int, because: str) -> str:
    """Close one ticket."""
    try:
        return run.call(close, ticket=ticket, because=because)
    except (sayso.Rejected, sayso.Answered) as no:
        return f"Left open: {no}"


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


_SHORTEST = """\
Dear customers,

**Exports failed on Monday morning.** We are sorry; no data was lost, and it will not happen again."""


def write_apology(run: sayso.Running) -> str:
    """Write to customers; whoever reviews it may send it back."""

    def write(guidance: str | None) -> str:
        if guidance is None:
            return _LONG
        if "different" in guidance:  # what a colleague asked for before
            return _SHORT
        return _SHORTEST if "short" in guidance.lower() else f"{_SHORT}\n\nP.S. {guidance}"

    sent = run.draft(write, title="Apology for Monday's exports", agent="support", why=_WHY)
    return f"Sent: {sent[:40]}..." if sent else "Not sent."


_WHY = "214 customers tried to export while it was down."


MAIL = {
    "from": "Data Protection Office <dpo@example.org>",
    "subject": "A request for information under Article 15",
    "answer by": "3 June",
}


def write_email(to: str, subject: str, body: str) -> str:
    """Send a mail."""
    return f"Wrote {subject!r} to {to}."


def schedule_meeting(guest: str, day: str, start: str, minutes: int) -> str:
    """Put a meeting into the calendar."""
    return f"{minutes} minutes with {guest}, {day} {start}."


def answer_mail(messages: Messages) -> list[ToolCall] | str:
    """Stand in for a model: an answer and a meeting; what people say instead is heeded."""
    wrote, met = told(messages, "write_email"), told(messages, "schedule_meeting")
    if wrote and "says: " in wrote[-1]:
        return [_mail(wrote[-1].partition("says: ")[2])]
    if wrote:
        return " ".join([wrote[-1], *met])
    wish = task_of(messages).partition("They said: ")[2]
    meet = {"guest": "dpo@example.org", "day": "Tuesday", "start": "10:00", "minutes": 45}
    return [_mail(wish or "You will have everything by 2 June."), call("schedule_meeting", **meet)]


def _mail(body: str) -> ToolCall:
    return call("write_email", to="dpo@example.org", subject=f"Re: {MAIL['subject']}", body=body)


assistant = sayso.Agent(
    "assistant",
    sayso.ScriptedModel(answer_mail),
    [write_email, schedule_meeting],
    confirm=["write_email", "schedule_meeting"],
    learn=True,
)


def read_mail(run: sayso.Running) -> str:
    """Tell people of a mail; if they want it answered after all, the assistant proposes how."""
    said = run.notice(MAIL["subject"], MAIL, why="It asks for no answer today.", agent="support")
    if said == "ignore":
        return "Ignored."
    return str(run.agent(assistant, f"Answer the mail. They said: {said.text or ''}"))


@sayso.tool(asks=True)
def human_assistance(query: str) -> str:
    """Ask a person who knows more."""
    return sayso.question(query, why="Nothing in the handbook fits.") or "Nobody knows."


def _passes_on(tool: str, name: str) -> sayso.ScriptedModel:
    """Stand in for a model that hands its task on, and passes back what came of it."""

    def think(messages: Messages) -> ToolCall | str:
        came = told(messages, tool)
        return came[-1] if came else call(tool, **{name: task_of(messages)})

    return sayso.ScriptedModel(think)


expert = sayso.Agent("expert", _passes_on("human_assistance", "query"), [human_assistance])
front = sayso.Agent(
    "front-desk", _passes_on("expert", "task"), [expert.as_tool("Knows about servers")]
)


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
        Job("ticket 5504", close_ticket, (5504, "solved by a restart of the printer"), (Said(),)),
        Job("ticket 5504", close_ticket, (5504, "solved by a restart of the printer"), nth=2),
        Job("ticket 5541", close_ticket, (5541, "asked for a signed photo of the founder")),
        Job("ticket 5530", agent, ("Settle ticket 5530: the export of Mia Kovač failed.",)),
        Job("apology for Monday", write_apology, (), (back,)),
        Job("request under Article 15", read_mail),
        Job("a slow shop", front, ("A customer asks why the shop is so slow since noon.",)),
    )
    return Department((label_ticket, close_ticket, write_apology, read_mail), jobs)
