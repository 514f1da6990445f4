"""An agent asks another agent, which asks a person: the answer comes back all the way.

Runs by itself, in a database of its own. Every time the run goes on it is in another process.
"""

import os
import subprocess
import sys
import tempfile

import sayso
from sayso.agent import Message, ToolCall, call


@sayso.tool(asks=True)
def human_assistance(query: str) -> str:
    """Ask a person who knows more."""
    return sayso.question(query) or "Nobody knows."


def handing_to(tool: str, **more: str) -> sayso.ScriptedModel:
    """Stand in for a model: it hands its task on, and passes back what came of it."""

    def think(messages: tuple[Message, ...]) -> ToolCall | str:
        last = messages[-1]
        if last.role == "tool":
            return f"{last.tool} says: {last.text}"
        return call(tool, **{more.get("takes", "task"): last.text})

    return sayso.ScriptedModel(think)


expert = sayso.Agent("expert", handing_to("human_assistance", takes="query"), [human_assistance])
front = sayso.Agent("front", handing_to("expert"), [expert.as_tool("Knows about servers")])


def process(url: str, *command: str) -> None:
    env = {**os.environ, "SAYSO_URL": url}
    subprocess.run([sys.executable, __file__, *command], env=env, check=True)


def main(desk: sayso.Desk) -> None:
    process(desk.url, "ask", "Why is the shop so slow?")
    (run,) = desk.runs()
    ask = run.state.pending[0]
    print(f"{run.status}: {ask.content.agent} asks (for {ask.content.chain}): {ask.title}")
    desk.respond(ask, "The cache is off")
    process(desk.url, "go on")
    print(f"{run.status}: {run.result()}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        sayso.Desk().run(front, sys.argv[2], wait=False)
    elif sys.argv[1:2] == ["go on"]:
        sayso.Desk().work(until="idle")
    else:
        with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/d.db") as it:
            main(it)
