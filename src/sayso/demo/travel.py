"""Travel: three flights to choose from, and a plan whose steps each need a yes."""

from __future__ import annotations

from typing import Any

import sayso
from sayso import Option
from sayso.agent import ToolCall, call
from sayso.demo.jobs import Department, Job
from sayso.demo.reading import Messages, plan_of, told

FLIGHTS = (
    Option("LH 1152, direct", "LH1152/Y/318", "EUR 318. Leaves 07:05, arrives 09:50."),
    Option("IB 8723, via Madrid", "IB8723/Q/204", "EUR 204. Leaves 10:40, arrives 16:00."),
    Option("TP 571, the evening before", "TP571/K/241", "EUR 241 and a night in a hotel."),
)


def book_flight(run: sayso.Running) -> str:
    """Let a person choose, and book what they chose."""
    chosen = run.choose(
        "Which flight to Lisbon shall I book for Noor?",
        FLIGHTS,
        own=str,
        within="50m",
        why="The fares are held until then. Noor speaks at 15:00.",
        confidence=0.6,
        agent="travel",
    )
    if chosen is None:
        return "Nothing was booked."
    return f"Booked: {chosen.label if isinstance(chosen, Option) else chosen}."


def book_train(to: str, seats: int) -> str:
    """Book seats on a train."""
    return f"{seats} seats to {to} are booked."


def book_rooms(hotel: str, rooms: int) -> str:
    """Book rooms in a hotel."""
    return f"{rooms} rooms in the {hotel} are booked."


def invite(team: str, subject: str) -> str:
    """Invite a team."""
    return f"The {team} team is invited: {subject}."


# The step of a plan begins with this word: what is then called.
_STEPS: dict[str, ToolCall] = {
    "Book the train": call("book_train", to="Lucerne", seats=9),
    "Book the hotel": call("book_rooms", hotel="Seeblick", rooms=9),
    "Invite the team": call("invite", team="data", subject="Two days in Lucerne"),
}


def think(messages: Messages, tools: tuple[str, ...]) -> list[Any] | ToolCall | str:
    """Stand in for a model: one call for each step of the plan it is shown, in that order."""
    if tools == ("plan",):
        return [{"title": title, "tool": made.tool} for title, made in _STEPS.items()]
    for step in plan_of(messages):
        made = next((one for title, one in _STEPS.items() if step.startswith(title)), None)
        if made is not None and not told(messages, made.tool):
            return call(made.tool, **made.args)
    tools_used = [made.tool for made in _STEPS.values()]
    return " ".join(text for tool in tools_used for text in told(messages, tool)) or "Nothing."


agent = sayso.Agent(
    "travel",
    sayso.ScriptedModel(think),
    [book_train, book_rooms, invite],
    confirm=["book_train", "book_rooms", "invite"],
    plan_every=10,
)


def department() -> Department:
    """Return what travel is at."""
    jobs = (
        Job("Noor to Lisbon", book_flight),
        Job("two days in Lucerne", agent, ("Take the data team to Lucerne for two days.",)),
    )
    return Department((book_flight,), jobs)
