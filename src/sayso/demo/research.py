"""Research: questions of every type, an answer that is not sure of itself, a result to be rated."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Literal

import sayso
from sayso.demo.jobs import Department, Job
from sayso.demo.picture import bars
from sayso.demo.reading import Messages

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


def size_market(run: sayso.Running) -> str:
    """Answer; and because two sources disagree, ask first."""

    def refine(guidance: str | None) -> str:
        return f"{_MARKET} Corrected by a reader: {guidance}" if guidance else _MARKET

    answer = run.escalate(
        _MARKET,
        confidence=0.55,
        conflicts=["The trade register counts 1,900 shops", "The association counts 2,600"],
        refine=refine,
        title="How large is the market for tea shops?",
        why="The sources count differently, and I cannot tell which is right.",
        agent="research",
    )
    return str(answer or "Left open.")


_MARKET = "About 2,300 tea shops, of which a third sells online."


def write_note(run: sayso.Running) -> str:
    """Write to the team; whoever wants to looks at it first."""
    text = "This week: five interviews, one chart in doubt, and the report is on its way."
    sent = run.draft(text, title="Note to the team", agent="research", optional=True, within="1h")
    return f"Sent: {sent}" if sent else "Not sent."


def write(messages: Messages) -> str:
    """Stand in for a model: sum it up, and heed what its prompt quotes people with."""
    wishes = re.findall(r"said:\n\| (.+)", "\n".join(message.text for message in messages))
    summary = "Three of five competitors raised prices in spring; none of them lost customers."
    return " ".join([summary, *(f"({wish})" for wish in dict.fromkeys(wishes))])


writer = sayso.Agent("research", sayso.ScriptedModel(write), learn=True)


def sum_up(run: sayso.Running, month: str) -> str:
    """Sum something up, ask how good it is, and make it again while people call it bad."""
    found = run.improve(writer, f"Sum up what competitors did in {month}")
    return str(found or "Nobody liked it, so it was not sent.")


def department() -> Department:
    """Return what research is at."""
    asked = tuple(Job(f"market report: {about}", ask, (about,)) for about in QUESTIONS)
    jobs = (
        *asked,
        Job("revenue chart", look_at_chart),
        Job("size of the market", size_market),
        Job("summary of May", sum_up, ("May",)),
        Job("note to the team", write_note),
    )
    return Department((ask, look_at_chart, size_market, sum_up, write_note), jobs)
