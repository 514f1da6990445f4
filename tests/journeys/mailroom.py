"""What visitors do about the email assistant of `examples/28_email_assistant`: come, act, be gone.

Each is a process of its own (see `tests.crash.visitors`), in the folder that has the mail.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from sayso import Desk
from tests.journeys.library import folder

PROGRAM = Path(__file__).resolve().parents[2] / "examples/28_email_assistant"


def _program(desk: Desk) -> Any:
    """Import the assistant, as a worker in this folder would."""
    os.chdir(folder())
    os.environ["SAYSO_URL"] = desk.url
    sys.path.insert(0, str(PROGRAM))
    return import_module("assistant")


def arrive(desk: Desk, head: dict[str, str], body: str) -> str:
    """Be the mail that comes: it is put into the inbox, and dealt with until somebody is needed."""
    program = _program(desk)
    mail = program.office.put(program.office.inbox(), head, body)
    return str(program.desk.run(program.assist, mail, wait=False).id)


def go_on(desk: Desk, run_id: str) -> str:
    """Be a worker: carry the run on until it waits or is over."""
    program = _program(desk)
    program.desk.work(until="idle", only=run_id)
    return str(desk.get_run(run_id).status)


def decide(desk: Desk, ask_id: str, verdict: str, given: dict[str, Any]) -> str:
    """Be the person, who needs neither the program nor its folder."""
    return str(getattr(desk, verdict)(desk.get(ask_id), **given).status)
