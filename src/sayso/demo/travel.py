"""Travel: three flights to choose from, and little time."""

from __future__ import annotations

import sayso
from sayso import Option
from sayso.demo.jobs import Department, Job

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


def department() -> Department:
    """Return what travel is at."""
    return Department((book_flight,), (Job("Noor to Lisbon", book_flight),))
