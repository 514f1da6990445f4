"""How sure the agent is: high, medium or low, with its number, and what that rests on.

Runs by itself, in a database of its own; the reviewer is played by the program. Being unsure adds a
question, and being sure never spares one.
"""

import json
import subprocess
import sys
import tempfile
from typing import Any

import sayso
from sayso.agent import Message, ToolCall, call

SURE = {"apples": 0.97, "pears": 0.8, "plums": 0.4}  # nothing is known of quinces


@sayso.tool(risk="medium")
def order(fruit: str, boxes: int) -> str:
    """Order fruit."""
    return f"{boxes} boxes of {fruit} are ordered"


def think(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for a model: it says how sure it is, unless it has nothing to say about that."""
    last = messages[-1]
    if last.role == "tool":
        return last.text
    fruit = last.text.rpartition(" ")[2]
    stated = {"_confidence": SURE[fruit]} if fruit in SURE else {}
    return call("order", fruit=fruit, boxes=12, **stated)


agent = sayso.Agent("buyer", sayso.ScriptedModel(think), [order], explain=True)


def sureness(desk: sayso.Desk, ask: sayso.Ask) -> dict[str, Any]:
    """Return what `sayso inbox show` says of how sure the agent is, as data."""
    command = [sys.executable, "-m", "sayso", "inbox", "show", ask.id, "--desk", desk.url, "--json"]
    shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return dict(shown["sure"])


def main(desk: sayso.Desk) -> None:
    for fruit in (*SURE, "quinces"):
        run = desk.run(agent, f"Order {fruit}", wait=False)
        (ask,) = run.state.pending
        sure = sureness(desk, ask)
        number = f"{sure['confidence']:.0%}, " if sure["confidence"] is not None else ""
        print(f"{fruit}: {sure['words']} ({number}{sure['rests_on']})")
        print(f"  asks because: {ask.content.sentence}")
        desk.approve(ask)
        print(f"  {desk.resume(run).result()}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
