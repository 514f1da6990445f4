"""What people edit before they approve is a preference: the agent is told before its next task.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import re
import tempfile

import sayso
from sayso.agent import Message, ToolCall, call


def schedule_meeting(subject: str, duration: int) -> str:
    """Put a meeting into the calendar."""
    return f"{subject}, {duration} minutes"


def think(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for a model: half an hour, unless it is told what people prefer."""
    came = [message.text for message in messages if message.role == "tool"]
    if came:
        return came[-1]
    shown = "\n".join(message.text for message in messages)
    known = re.findall(r"\| schedule_meeting: duration \d+ -> (\d+)", shown)
    task = messages[-1].text
    return call("schedule_meeting", subject=task, duration=int(known[-1]) if known else 30)


agent = sayso.Agent(
    "assistant",
    sayso.ScriptedModel(think),
    [schedule_meeting],
    confirm=["schedule_meeting"],
    learn=True,
)


def main(desk: sayso.Desk) -> None:
    def go(task: str, thread: str, duration: int | None = None) -> None:
        run = desk.run(agent, task, thread=thread, wait=False)
        ask = run.state.pending[0]
        print("proposed:", ask.args)
        desk.edit(ask, {"duration": duration}) if duration else desk.approve(ask)
        print("done:    ", desk.resume(run).result())

    go("Tea with Ada", "monday", duration=15)
    go("Tea with Bob", "tuesday")  # another thread: it knows

    (preference,) = desk.preferences
    print(f"{preference.agent} is told: {preference.text}")
    desk.preferences.remove(preference)  # for good
    go("Tea with Cleo", "wednesday")
    print("left:", list(desk.preferences))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
