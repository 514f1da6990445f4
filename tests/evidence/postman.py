"""An agent that writes two mails in one message, and whoever comes by until both are sent.

Each of these is done by a process of its own (see `tests.crash.visitors`), which may be killed on
its way. What was sent is lines in a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sayso
from sayso import Desk
from sayso.agent import Message, call
from tests.crash.shop import note, noted, reached
from tests.journeys.library import folder

PEOPLE = ("anna", "ben")


@sayso.tool(reversible=False)
def write_email(to: str) -> str:
    """Send a mail."""
    reached("in the tool")
    note(folder(), "sent", to)
    reached("after the effect")
    return f"sent to {to}"


def think(messages: Sequence[Message]) -> Any:
    """Write both mails in one message, and report what came of each."""
    read = [message.text for message in messages if message.role == "tool"]
    return "; ".join(read) if read else [call("write_email", to=one) for one in PEOPLE]


postman = sayso.Agent("postman", sayso.ScriptedModel(think), [write_email])


def begin(desk: Desk) -> str:
    """Let it write, until it waits for people."""
    return desk.run(postman, "Write to both", wait=False).id


def approve(desk: Desk, run_id: str, to: str) -> str:
    """Be the person: say yes to one of the mails."""
    pending = desk.get_run(run_id).state.pending
    return desk.approve(next(ask for ask in pending if ask.args["to"] == to)).status


def look(desk: Desk, run_id: str, folder: Path) -> list[str]:
    """Be the person who is asked whether a mail was sent: look, and say what there is."""
    doubts = [ask for ask in desk.get_run(run_id).state.pending if ask.kind == "doubt"]
    for doubt in doubts:
        to = doubt.args["to"]
        if to in noted(folder, "sent"):
            desk.respond(doubt, f"sent to {to}")
        else:
            desk.approve(doubt)
    return [doubt.args["to"] for doubt in doubts]


def go_on(desk: Desk, run_id: str) -> str:
    """Be a worker."""
    desk.work(until="idle", only=run_id)
    return desk.get_run(run_id).status
