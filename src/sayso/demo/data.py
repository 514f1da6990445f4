"""Data: a statement that cannot be taken back, a tool that asks while it runs, work to be watched."""

from __future__ import annotations

import time

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


def back_up(name: str) -> dict[str, object]:
    """Copy a database, and say what is in the copy."""
    return {"backup": f"{name}-2026-05-28.dump", "rows": 48_210, "restored in a test": True}


def drop(name: str) -> str:
    """Delete a database."""
    return f"The database {name} is deleted; its backup is kept for a year."


@sayso.tool(asks=True)
def delete_database(name: str) -> str:
    """Delete a database: a backup first, then a person's yes, then it is gone."""
    saved = sayso.effect(back_up, name)  # once, however long the answer takes
    yes = sayso.confirm(f"Delete the database {name}?", saved, risk="critical")
    if not yes:
        return f"The database {name} stays: {yes.note or yes.text or 'somebody said no'}"
    return str(sayso.effect(drop, name))


def clean(messages: Messages) -> ToolCall | str:
    """Stand in for a model: delete what the task names, then say what came of it."""
    if told(messages, "delete_database"):
        return told(messages, "delete_database")[-1]
    return call("delete_database", name=task_of(messages).split()[-1].strip("."))


janitor = sayso.Agent("janitor", sayso.ScriptedModel(clean), [delete_database])

_BATCHES = 12
_PACE = 0.7  # seconds a batch, so that somebody can watch


def import_batch(number: int) -> int:
    """Read some contacts; a real one would write them, too."""
    time.sleep(_PACE)
    return 100


def import_contacts(run: sayso.Running) -> str:
    """Ask once, and then work through a file that takes a while."""
    facts = {"file": "contacts-june.csv", "contacts": _BATCHES * 100, "duplicates": 31}
    why = "Sales signed them at the fair; all of them agreed to be written to."
    if not run.confirm("Import 1,200 contacts?", facts, why=why, confidence=0.88, agent="data"):
        return "Nothing was imported."
    done = 0
    for number in range(_BATCHES):
        run.progress(number / _BATCHES, f"{done:,} of {_BATCHES * 100:,} contacts")
        done += run.step(import_batch, number)
    run.progress(1.0, f"{done:,} contacts")
    return f"{done:,} contacts imported."


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
        Job("customers of 2019", janitor, ("Delete the database customers_2019.",)),
        Job("contacts from the fair", import_contacts),
    )
    return Department((rotate_keys, import_contacts), jobs)
