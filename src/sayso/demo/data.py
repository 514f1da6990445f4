"""Data: one statement that cannot be taken back, and a plain yes or no."""

from __future__ import annotations

import sayso
from sayso.agent import ToolCall, call
from sayso.demo.jobs import Department, Job, Said
from sayso.demo.reading import Messages, task_of, told

_STATEMENTS = {
    "tidy": "DROP TABLE events_2023;\nDROP TABLE events_2024;",
    "index": "CREATE INDEX CONCURRENTLY orders_by_day ON orders (day);",
}


@sayso.tool(
    risk=lambda statement, **_: "critical" if "DROP" in statement.upper() else "medium",
    affects="everybody who reads reports",
)
def run_sql(database: str, statement: str) -> str:
    """Run a statement on a database."""
    return f"Ran on {database}: {statement.splitlines()[0]}"


def think(messages: Messages) -> ToolCall | str:
    """Stand in for a model: one statement for the task, then what came of it."""
    if told(messages, "run_sql"):
        return told(messages, "run_sql")[-1]
    which = next(word for word in _STATEMENTS if word in task_of(messages))
    return call(
        "run_sql",
        database="warehouse",
        statement=_STATEMENTS[which],
        _why="The disk is 94 % full, and nobody has read these tables since January."
        if which == "tidy"
        else "The daily report takes four minutes without it.",
        _confidence=0.71 if which == "tidy" else 0.95,
    )


agent = sayso.Agent("data", sayso.ScriptedModel(think), [run_sql], explain=True)


def rotate_keys(run: sayso.Running) -> str:
    """Ask for a plain yes."""
    facts = {"keys": 4, "oldest": "412 days", "downtime": "none expected"}
    yes = run.confirm("Rotate the keys of the warehouse tonight?", facts=facts, agent="data")
    return "The keys are rotated." if yes else "The keys stay."


def department() -> Department:
    """Return what data is at."""
    jobs = (
        Job("slow report", agent, ("Add the index that the report needs.",), (Said(),)),
        Job("full disk", agent, ("The disk is full: tidy up.",)),
        Job("keys of the warehouse", rotate_keys),
    )
    return Department((rotate_keys,), jobs)
