"""A newsroom: a writer that learns from what people call bad, and a secretary that learns from edits.

The models do as the prompt says, and nothing else: what they were never shown they cannot heed.
Every prompt is kept in a folder, so that tests can read what was shown.

    python -m tests.journeys.newsroom report TASK            start a report, and end when it waits
    python -m tests.journeys.newsroom meet TASK THREAD       give the secretary a task
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import sayso
from sayso.agent import Message, call
from tests.crash.shop import note

FOLDER = "SAYSO_TEST_FOLDER"
_SAID = re.compile(r"(?:said|What they said):\n\| (.+)")
_PREFERS = re.compile(r"^\| schedule_meeting: .*duration \d+ -> (\d+)", re.MULTILINE)

desk = sayso.Desk(agent="newsroom")


def keep(messages: Sequence[Message]) -> None:
    """Keep a prompt, one line of JSON each."""
    shown = [message.text for message in messages[1:]]
    note(os.environ[FOLDER], "prompts", json.dumps(shown))


def write(messages: Sequence[Message]) -> str:
    """Write what the task says, and heed whatever people are quoted with."""
    keep(messages)
    task = messages[-1].text.partition("\n")[0]
    wishes = dict.fromkeys(_SAID.findall("\n".join(message.text for message in messages)))
    return "; ".join([f"Done: {task}", *wishes])


writer = sayso.Agent("writer", sayso.ScriptedModel(write), learn=True)


@desk.workflow
def report(run: Any, task: str) -> Any:
    """Write until nobody calls it bad."""
    return run.improve(writer, task, within="7d")


def schedule_meeting(subject: str, duration: int) -> str:
    """Put a meeting into the calendar."""
    note(os.environ[FOLDER], "calendar", f"{subject}, {duration} minutes")
    return f"{subject}, {duration} minutes"


def plan_day(messages: Sequence[Message]) -> Any:
    """Schedule half an hour, unless people are known to prefer otherwise."""
    keep(messages)
    came = [message.text for message in messages if message.role == "tool"]
    if came and "says:" not in came[-1]:
        return f"Scheduled: {came[-1]}"
    known = _PREFERS.findall("\n".join(message.text for message in messages))
    told = re.search(r"says: .*?(\d+) minutes", came[-1]) if came else None
    duration = told[1] if told else known[-1] if known else "30"
    tasks = [m.text for m in messages if m.role == "user" and m.text.startswith("Meet ")]
    return call("schedule_meeting", subject=tasks[-1], duration=int(duration))


secretary = sayso.Agent(
    "secretary",
    sayso.ScriptedModel(plan_day),
    [schedule_meeting],
    confirm=["schedule_meeting"],
    learn=True,
)


def main(what: str, task: str, thread: str | None = None) -> None:
    with desk:
        work: Any = report if what == "report" else secretary
        print(desk.run(work, task, thread=thread, wait=False).id)


if __name__ == "__main__":
    main(*sys.argv[1:])
