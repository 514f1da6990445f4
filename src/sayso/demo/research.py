"""Research: questions of every type, one of them with a picture, and a result to be rated."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

import sayso
from sayso.demo.jobs import Department, Job
from sayso.demo.picture import bars

_REVENUE = (41, 44, 43, 47, 52, 96, 55, 58)
QUESTIONS: dict[str, tuple[str, Any, str]] = {
    "audience": ("For whom is the market report?", str, "The style depends on it."),
    "interviews": ("How many interviews are enough?", int, "Each of them costs EUR 180."),
    "region": (
        "Which region comes first?",
        Literal["Europe", "Asia", "Americas"],
        "All have data.",
    ),
    "deadline": ("By which day do you need it?", date, "The board meets on a Tuesday."),
    "sources": ("Which sources shall I leave out?", list[str], "Two of them contradict the rest."),
}


def ask(run: sayso.Running, about: str) -> str:
    """Ask one question."""
    text, type_, why = QUESTIONS[about]
    answer = run.question(text, type_, why=why, agent="research")
    return f"{about}: {'nobody answered' if answer is None else answer}"


def look_at_chart(run: sayso.Running) -> str:
    """Ask about something that has to be seen."""
    chart = sayso.File("Revenue by month.png", bars(_REVENUE, doubtful=5))
    right = run.question(
        "Is the sixth month right, or counted twice?",
        Literal["right", "counted twice"],
        files=[chart, sayso.File("Revenue.csv", _csv())],
        why="It is nearly twice the month before, and no campaign was running.",
        confidence=0.4,
        agent="research",
    )
    return f"The sixth month is {right or 'still in doubt'}."


def _csv() -> bytes:
    rows = [f"{month},{value}" for month, value in enumerate(_REVENUE, start=1)]
    return "\n".join(["month,revenue", *rows, ""]).encode()


def rate_summary(run: sayso.Running) -> str:
    """Ask how good a result is."""
    summary = "Three of five competitors raised prices in spring; none of them lost customers."
    said = run.feedback(summary, task="Sum up what competitors did", agent="research")
    return f"The summary was found {said.rating or 'worth a word'}." if said else "Nobody said."


def department() -> Department:
    """Return what research is at."""
    asked = tuple(Job(f"market report: {about}", ask, (about,)) for about in QUESTIONS)
    jobs = (*asked, Job("revenue chart", look_at_chart), Job("summary of May", rate_summary))
    return Department((ask, look_at_chart, rate_summary), jobs)
