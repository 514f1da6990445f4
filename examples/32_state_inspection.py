"""Look at a run that waits, from anywhere: its messages, what is pending, what comes next.

Runs by itself, in a database of its own; the admin is played by the program. Whoever looks needs
the database and nothing else: no code of the run is started for it.
"""

import json
import subprocess
import sys
import tempfile

import sayso
from sayso.agent import Message, ToolCall, call, transcript


@sayso.tool(asks=True)
def human_assistance(query: str) -> str:
    """Ask a person who knows more."""
    return sayso.question(query) or "Nobody knows."


def think(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for a model: it hands the question on, and the answer back."""
    last = messages[-1]
    if last.role == "tool":
        return f"Our expert says: {last.text}"
    return call("human_assistance", query=last.text)


agent = sayso.Agent("support", sayso.ScriptedModel(think), [human_assistance])


def inspect(desk: sayso.Desk, thread: str) -> sayso.Ask | None:
    """Print the state of the last run of a thread, and return what it waits for."""
    (run,) = desk.runs(thread=thread, limit=1)
    print(f"thread {run.thread}: {run.status}")
    for message in transcript(run):
        print(f"  {message.role}: {message.text or message.calls[0].args}")
    print(f"  steps: {', '.join(type(step).__name__ for step in run.memory)}")
    if not run.state.next:
        return None
    print("  interrupted; next:", *run.state.next)
    return run.state.pending[0]


def stored(desk: sayso.Desk, thread: str) -> None:
    """Print what is kept of it, as a person or a script reads it from the shell."""
    (run,) = desk.runs(thread=thread, limit=1)
    command = [sys.executable, "-m", "sayso", "runs", "show", run.id, "--json", "--desk", desk.url]
    done = subprocess.run(command, check=True, capture_output=True)
    for event in json.loads(done.stdout)["events"]:
        print(f"  stored: {event['seq']} {event['kind']} by {event['actor']}")


def main(desk: sayso.Desk) -> None:
    desk.run(agent, "How do I configure SSL?", thread="12", wait=False)
    ask = inspect(desk, "12")
    stored(desk, "12")
    if ask:
        desk.respond(ask, "certbot --nginx")
    desk.work(until="idle")
    inspect(desk, "12")
    stored(desk, "12")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
