"""A card explains a call before it happens: why, how sure, who, what, and the risk.

At a terminal you are shown the card, and approve, edit or cancel. Without one, the card is printed
as `sayso inbox show` draws it, and the reviewer is played by the program, in a database of its own.
"""

import subprocess
import sys
import tempfile

import sayso
from sayso.agent import Message, ToolCall, call

TEAM = [f"person{number}@company.example" for number in range(1, 13)]
TASK = "Notify the team about the meeting"


@sayso.tool(
    risk="low",
    affects="the team",
    reversible=False,
    preview=lambda to, text: {"To": f"{to} ({len(TEAM)} people)", "Text": text},
    allow=["approve", "edit", "reject"],
)
def send(to: str, text: str) -> str:
    """Send a mail."""
    return f"sent to {len(TEAM)} people: {text}"


def think(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for a model: it says why it wants to do something."""
    last = messages[-1]
    if last.role == "tool":
        return last.text
    return call(
        "send",
        to="team@company.example",
        text="Meeting tomorrow at 2pm in Conference Room A",
        _why=f"You asked me: {last.text}",
        _confidence=0.9,
    )


agent = sayso.Agent("assistant", sayso.ScriptedModel(think), [send], explain=True)


def show(desk: sayso.Desk, ask: sayso.Ask) -> None:
    command = [sys.executable, "-m", "sayso", "inbox", "show", ask.id, "--desk", desk.url]
    card = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(card.partition("\n\n")[0])


def main(desk: sayso.Desk) -> None:
    run = desk.run(agent, TASK, wait=False)
    (ask,) = run.state.pending
    show(desk, ask)
    print("offered:", ", ".join(ask.allow))
    desk.edit(ask, {"text": "Meeting tomorrow at 3pm in Conference Room B"})
    print(desk.resume(run).result())


if __name__ == "__main__":
    if sys.stdin.isatty():
        print(sayso.Desk().run(agent, TASK).output)
    else:
        with (
            tempfile.TemporaryDirectory() as folder,
            sayso.Desk(f"sqlite:///{folder}/desk.db") as desk,
        ):
            main(desk)
