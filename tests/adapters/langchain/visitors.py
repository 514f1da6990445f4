"""Processes that carry a LangChain agent on, one after the other, each with nothing but files.

`python -m tests.adapters.langchain.visitors` forks one for each order it reads: importing
LangChain takes seconds, forking nothing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.tools import BaseTool, tool

from sayso import Desk, DidNotHappen, Happened
from tests.adapters.langchain.clerk import Clerk, call, lines, noted, turns

CALLS = turns(
    [call("send", "a", to="anna"), call("send", "b", to="ben"), call("send", "c", to="cleo")],
    [call("send", "d", to="dora")],
    "Done.",
)
_DIES = "SAYSO_TEST_DIES"


def mortal(folder: Path) -> BaseTool:
    @tool
    def send(to: str) -> str:
        """Send a message, and be killed right after that if the test says so."""
        noted(folder / "did", to)
        if os.environ.get(_DIES) == to:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"sent to {to}"

    return send


class Dies(AgentMiddleware[Any, Any, Any]):
    """Is killed when a call has come to its end, if the test says so."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        result = handler(request)
        if os.environ.get(_DIES) == f"after {request.tool_call['args']['to']}":
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def verified(folder: Path) -> dict[str, Any]:
    """A tool that can tell by its book whether it did something."""

    def verify(to: str) -> Happened | DidNotHappen:
        did = lines(folder / "did")
        return Happened(f"{to} has it") if to in did else DidNotHappen()

    return {"tools": {"send": {"verify": verify}}}


def clerk_at(url: str, folder: Path, *, verifies: bool) -> Clerk:
    def desks(law: Path) -> Desk:
        return Desk(url, account="sam@till", policy=law)

    options = verified(folder) if verifies else {}
    return Clerk(folder, CALLS, desks, tools=[mortal(folder)], before=[Dies()], options=options)


def die_at(call: int) -> None:
    """Be killed at the n-th call of any function, on whatever thread; or not, if there are fewer."""
    counted = count(1)

    def look(*_: object) -> None:
        if next(counted) == call:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(look)
    sys.setprofile(look)


def carry_on(url: str, folder: str, run_id: str, dies: str, *, verifies: bool) -> str:
    """Begin a run, or go on with it, as far as that goes."""
    os.environ[_DIES] = dies
    if dies.startswith("at "):
        die_at(int(dies.removeprefix("at ")))
    with clerk_at(url, Path(folder), verifies=verifies) as clerk:
        return (clerk.go_on(clerk.desk.get_run(run_id)) if run_id else clerk.begin()).id


def serve() -> None:
    """Fork a visitor for each order."""
    for line in sys.stdin:
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(theirs, carry_on(**json.loads(line)).encode())
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours) as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), said]), flush=True)


class Door:
    """Lets visitors in, one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def visit(
        self, url: str, folder: Path, run: str = "", *, dies: str = "", verifies: bool = False
    ) -> str:
        """Let one carry the run on, and return its id; if it dies, nothing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"url": url, "folder": str(folder), "run_id": run, "dies": dies}
        print(json.dumps({**order, "verifies": verifies}), file=self._process.stdin, flush=True)
        code, said = json.loads(self._process.stdout.readline())
        lives = dies.startswith("at ") and code == 0
        assert lives or code == (-signal.SIGKILL if dies else 0), code
        return str(said)


@contextmanager
def open_door() -> Iterator[Door]:
    """Let visitors in for a block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.adapters.langchain.visitors"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Door(process)
        assert process.stdin is not None
        process.stdin.close()


if __name__ == "__main__":
    serve()
