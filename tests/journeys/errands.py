"""An agent that runs errands: what costs money waits in the queue, and it tidies up meanwhile.

Its model goes on with other work only if it is told so, and puts away only what it was shown to be
bought. What was done to the world is lines in the files of a folder, as in `library`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sayso
from sayso.agent import Message, call
from tests.crash.shop import note, reached
from tests.journeys.library import did, folder

TASK = "Run the errands"
TOLD = "go on with other work"


@sayso.tool(affects="the purse", later=True)
def buy(subject: str) -> str:
    """Buy something."""
    return did("buy", subject)


def tidy(subject: str) -> str:
    """Tidy something up."""
    return did("tidy", subject)


def news(messages: Sequence[Message]) -> list[Message]:
    """What the model was told later of its calls."""
    return [message for message in messages if message.role == "user" and message.call]


def think(messages: Sequence[Message]) -> Any:
    """Reply. Each time somebody asks is one line in `thoughts`."""
    note(folder(), "thoughts", "act")
    reached("thinking")
    reply = _act(messages)
    reached("thought")
    return reply


def _act(messages: Sequence[Message]) -> Any:
    made = [(one.tool, one.args["subject"]) for message in messages for one in message.calls]
    if not made:
        return [call("buy", subject="milk"), call("buy", subject="bread")]
    told = [m for m in messages if m.role == "tool" and TOLD in m.text]
    heard = news(messages)
    for message in heard:
        subject = f"the {found(message)}"
        if not message.failed and ("tidy", subject) not in made:
            return call("tidy", subject=subject)
    if told and ("tidy", "kitchen") not in made:
        return call("tidy", subject="kitchen")
    if told and ("tidy", "hall") not in made:
        return [call("tidy", subject="hall"), call("buy", subject="stamps")]
    if len(heard) < len(told):
        return "There is nothing else to do."
    return "Answer: " + ", ".join(found(m) if not m.failed else "nothing" for m in heard)


def found(message: Message) -> str:
    """What was bought, by the last line of the news."""
    return message.text.rpartition("| ")[2].removesuffix(": found")


agent = sayso.Agent("errands", sayso.ScriptedModel(think), [buy, tidy])
