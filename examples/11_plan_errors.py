"""What can go wrong with a plan: a bad edit, a failed resume, a cancellation. Nothing is lost by it.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import subprocess
import sys
import tempfile

import sayso
from sayso.agent import Message, ToolCall, call
from sayso.errors import InvalidEdit

BAD: dict[str, list[object]] = {
    "no step": [],
    "a tool that it does not have": [{"title": "Guess the password", "tool": "hack"}],
    "too many": [f"Step {number}" for number in range(1000)],
}


def search(topic: str) -> str:
    """Search the web."""
    print(f"  searching: {topic}")
    return f"three pages on {topic}"


def think(messages: tuple[Message, ...], tools: tuple[str, ...]) -> list[str] | ToolCall | str:
    """Stand in for a model: it plans, searches for what the plan says, and answers."""
    if tools == ("plan",):
        return ["robots", "Write it up"]
    plan = next(message.text for message in reversed(messages) if "Follow it:" in message.text)
    last = messages[-1]
    return last.text if last.role == "tool" else call("search", topic=plan.splitlines()[1][3:])


agent = sayso.Agent("researcher", sayso.ScriptedModel(think), [search], plan_every=5)


def elsewhere(desk: sayso.Desk, run: sayso.Run) -> str:
    """Try to go on in a process that does not have the agent, and return what it says."""
    program = f"import sayso; sayso.Desk({desk.url!r}).resume({run.id!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    return done.stderr.splitlines()[-1]


def main(desk: sayso.Desk) -> None:
    run = desk.run(agent, "What is new?", wait=False)
    (plan,) = run.state.pending
    for what, steps in BAD.items():
        try:
            desk.edit(plan, steps)
        except InvalidEdit as error:
            print(f"{what}: {error}")
    print(
        f"the run is {run.status}, and its plan is the one it was: {run.state.pending == (plan,)}"
    )

    desk.edit(plan, ["tea", "Write it up"])
    print(elsewhere(desk, run))
    print(f"the run is {run.status}, and goes on where its code is:")
    print(desk.resume(run).result())

    run = desk.run(agent, "What is new?", wait=False)
    desk.reject(run.state.pending[0], "Not this week")
    print(f"the next one is {desk.resume(run).status}: {run.error}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
