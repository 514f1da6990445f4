"""The small patterns as a program that never waits: confirmation, draft review, choices.

    python -m tests.journeys.patterns campaign      start that workflow, and end when it waits

What was done to the world, and how often the maker was called, is lines in files of a folder.
"""

from __future__ import annotations

import os
import sys

import sayso
from tests.crash.shop import note

FOLDER = "SAYSO_TEST_FOLDER"
ALL = "all_customers@company.example"
LISTS = {ALL: 2451}
SUBJECT = "New Year Sale - 50% Off"
FLIGHTS = [
    sayso.Option("Air France", {"flight": "AF7", "price": 450}, "direct, 8am-10pm"),
    sayso.Option("United", {"flight": "UA57", "price": 420}, "1 stop, 6am-11pm"),
    sayso.Option("Budget Air", {"flight": "BB1", "price": 380}, "2 stops, 3am-11pm"),
]
desk = sayso.Desk(agent="patterns")


def did(what: str, line: str) -> None:
    note(os.environ[FOLDER], what, line)


def count(to: str) -> int:
    did("counted", to)
    return LISTS[to]


@sayso.tool(
    risk="high",
    reversible=False,
    affects="customers",
    impact=lambda to, subject: f"{LISTS[to]:,} people get it",
    preview=lambda to, subject: {"To": f"{to} ({LISTS[to]:,} recipients)", "Subject": subject},
)
def send(to: str, subject: str) -> str:
    did("sent", f"{to}: {subject}")
    return f"sent to {LISTS[to]:,} recipients"


@desk.workflow
def campaign(run: sayso.Running) -> str:
    found = run.step(count, ALL)
    decision = run.confirm(f"Write to {found:,} people?", facts={"list": ALL})
    if not decision:
        return f"not written: {decision.note}"
    return str(run.call(send, ALL, SUBJECT))


def write(guidance: str | None) -> str:
    did("made", str(guidance))
    return "Dear customer,\nwe regret it." + (f"\n({guidance})" if guidance else "")


@desk.workflow
def letter(run: sayso.Running) -> list[str | None]:
    return [run.draft(write, title="Letter"), run.question("Who signs it?")]


@sayso.tool(risk="medium")
def book(flight: str, price: int) -> str:
    did("booked", flight)
    return f"{flight} for ${price}"


@desk.workflow
def travel(run: sayso.Running) -> str:
    chosen = run.choose("Three flights to Paris.", FLIGHTS, own=str)
    if chosen is None:
        return "nothing"
    if isinstance(chosen, str):
        return str(run.call(book, chosen, run.question(f"What does {chosen} cost?", type=int)))
    return str(run.call(book, **chosen.value))


if __name__ == "__main__":
    with desk:
        started = {"campaign": campaign, "letter": letter, "travel": travel}[sys.argv[1]]
        print(desk.run(started, wait=False).id)
