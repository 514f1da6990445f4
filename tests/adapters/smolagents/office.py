"""Agents for tests with real processes: what they did to the world is lines in files of a folder.

Whoever takes part is a process that is gone before the next one comes. They are forked from a
server that has imported smolagents and done nothing else: importing it takes seconds.
"""

from __future__ import annotations

import os
import signal
from typing import Any, ClassVar

from smolagents import Tool

from sayso import Desk
from sayso.adapters.smolagents import Smol, UserInput
from tests.adapters.smolagents.cast import Thinks, caller, code, coder, final, steps_taken
from tests.crash.shop import note
from tests.forked import SERVER

FOLDER = "SMOL_FOLDER"
DIES = "SMOL_DIES"  # what a process does last: of what name its note is


def done(name: str, line: str) -> None:
    note(os.environ[FOLDER], name, line)
    if os.environ.get(DIES) == name:
        os.kill(os.getpid(), signal.SIGKILL)


class Send(Tool):
    name = "send"
    description = "Send a mail."
    inputs: ClassVar[dict[str, Any]] = {
        "to": {"type": "string", "description": "Who"},
        "text": {"type": "string", "description": "What"},
    }
    output_type = "string"

    def forward(self, to: str, text: str) -> str:
        done("sent", f"{to}: {text}")
        return f"sent to {to}"


class LookUp(Tool):
    name = "look_up"
    description = "Look something up."
    inputs: ClassVar[dict[str, Any]] = {"what": {"type": "string", "description": "What"}}
    output_type = "string"

    def forward(self, what: str) -> str:
        done("looked", what)
        return what.upper()


PLAN = """## 1. Facts survey
- The task is short.

## 2. Plan
1. Look tea up
2. Write to anna and ben
3. Answer
"""


def calls(texts: list[str]) -> Any:
    done("thought", str(steps_taken(texts)))
    if "your plan" in texts[-1] or "your new plan" in texts[-1]:
        return PLAN
    taken = steps_taken(texts)
    if taken == 0:
        return [("look_up", {"what": "tea"})]
    if taken == 1:
        return [("send", {"to": who, "text": "TEA"}) for who in ("anna", "ben")]
    if taken == 2:
        return [("user_input", {"question": "Good enough?"})]
    return final(" | ".join(texts[-4:]))


def writes(texts: list[str]) -> Any:
    done("thought", str(steps_taken(texts)))
    if "your plan" in texts[-1] or "your new plan" in texts[-1]:
        return PLAN
    taken = steps_taken(texts)
    if taken == 0:
        return code(
            "import random\n"
            "lucky = random.random()\n"
            "def polite(name):\n    return f'Dear {name}'\n"
            "found = look_up('tea')"
        )
    if taken == 1:
        return code(
            "kept = []\n"
            "for who in ('anna', 'ben', 'carl'):\n"
            "    try:\n"
            "        kept.append(send(who, f'{polite(who)}, {found} {lucky}'))\n"
            "        between(who)\n"
            "    except Exception as error:\n"
            "        print(who, 'got nothing:', error)\n"
            "    except:\n"
            "        print('swallowed')\n"
            "    finally:\n"
            "        look_up('finally ' + who)\n"
            "print(kept)"
        )
    if taken == 2:
        return code("good = user_input('Good enough?')\nprint('They say', good)")
    return code("final_answer(f'{kept} {good} {lucky}')")


caller_ = Smol(
    "caller",
    lambda: caller(Thinks(calls), Send(), LookUp(), UserInput(), planning_interval=9),
    confirm=["send"],
    review=("plan",),
)
coder_ = Smol(
    "coder",
    lambda: coder(
        Thinks(writes),
        *(Send(), LookUp(), UserInput()),
        planning_interval=9,
        executor_kwargs={"additional_functions": {"between": lambda who: done("between", who)}},
    ),
    confirm=["send"],
    review=("plan",),
)

AGENTS = {"caller": caller_, "coder": coder_}


def act(url: str, env: dict[str, str], agent: str | None) -> None:
    """Start a run of an agent and carry it on until it waits; or carry on what there is."""
    os.environ.update(env)
    with Desk(url, account="sam@till") as desk:
        if agent is not None:
            desk.run(AGENTS[agent], "Write to them about tea", wait=False)
        else:
            desk.work(until="idle")


def process(url: str, agent: str | None = None, **env: str) -> int | None:
    """Let a process do it, and return how it ended."""
    child = SERVER.Process(target=act, args=(url, env, agent))
    child.start()
    child.join()
    return child.exitcode
