"""An interrupt as data: what is asked, what may be answered, and what the model reads afterwards.

Runs by itself, in a database of its own; the person is played by the program. Request and responses
are in the words of Agent Inbox, which `request` and `answer` translate: accept is approve here,
response is respond, ignore is reject and end. Our own inbox decides by the same four verbs.
"""

import re
import tempfile
from collections.abc import Callable
from typing import Any

import sayso
from sayso.agent import Message, ToolCall, call, transcript

RESPONSES: list[dict[str, Any]] = [
    {"type": "accept"},
    {"type": "edit", "args": {"minutes": 30}},
    {"type": "response", "args": "Bob has 15 minutes"},
    {"type": "ignore"},
]


def schedule_meeting(guest: str, minutes: int) -> str:
    """Put a meeting into the calendar."""
    return f"{minutes} minutes with {guest} are booked"


def think(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for a model: it goes by the last word that it reads."""
    last = messages[-1]
    if last.role == "tool" and "says: " not in last.text:
        return f"I see: {last.text}"
    minutes = re.search(r"(\d+) minutes", last.text)
    return call("schedule_meeting", guest="bob", minutes=int(minutes[1]) if minutes else 45)


agent = sayso.Agent(
    "assistant", sayso.ScriptedModel(think), [schedule_meeting], confirm=["schedule_meeting"]
)


def request(ask: sayso.Ask) -> dict[str, Any]:
    shown = {"action": ask.tool, "args": ask.args, "config": list(ask.allow)}
    return {**shown, "description": ask.content.sentence}


def answer(desk: sayso.Desk, ask: sayso.Ask, response: dict[str, Any]) -> None:
    verbs: dict[str, Callable[[], object]] = {
        "accept": lambda: desk.approve(ask),
        "edit": lambda: desk.edit(ask, response["args"]),
        "response": lambda: desk.respond(ask, response["args"]),
        "ignore": lambda: desk.reject(ask, end=True),
    }
    verbs[response["type"]]()


def main(desk: sayso.Desk) -> None:
    for number, response in enumerate(RESPONSES):
        run = desk.run(agent, "Meet Bob", wait=False)
        if number == 0:
            print(request(run.state.pending[0]))
        answer(desk, run.state.pending[0], response)
        while desk.resume(run, wait=False).status == "waiting":  # the model asks again, otherwise
            answer(desk, run.state.pending[0], {"type": "accept"})
        print(f"{response}: {run.status}")
        for message in transcript(run)[1:]:
            for made in message.calls:
                print(f"  {message.role} calls {made.tool} {made.args}")
            if message.text:
                print(f"  {message.role}: {message.text}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
