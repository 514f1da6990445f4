"""The agent of the support desk, and how things stand in one of its threads.

Both programs, `user.py` and `admin.py`, import it, so each of them can go on with a run.
"""

import re

from database import backup, drop

import sayso
from sayso.agent import Message, Reply, call, transcript


@sayso.tool(asks=True)
def human_assistance(query: str) -> str:
    """Ask a person who knows more."""
    answer = sayso.question(query)  # the program may end here; another one goes on
    return answer or "Nobody here knows."


@sayso.tool(asks=True)
def delete_database(name: str) -> str:
    """Delete a database, if a person agrees."""
    saved = sayso.effect(backup, name)  # one backup, however many programs it takes
    decision = sayso.confirm(f"Delete the database {name}?", saved, risk="critical")
    if not decision:
        return f"Not deleted: {decision.note or decision.text}"
    return str(sayso.effect(drop, name))


def think(messages: tuple[Message, ...]) -> Reply | str:
    """Stand in for a model: it passes on what it cannot answer, and what a tool came to."""
    last = messages[-1]
    if last.role == "tool":
        known = last.tool == "human_assistance" and last.text != "Nobody here knows."
        return f"From our expert: {last.text}" if known else last.text
    wanted = re.search(r"delete the database (\S+)", last.text, re.IGNORECASE)
    if wanted:
        return Reply(text="That needs a yes.", calls=(call("delete_database", name=wanted[1]),))
    return Reply(text="An expert knows.", calls=(call("human_assistance", query=last.text),))


agent = sayso.Agent("support", sayso.ScriptedModel(think), [human_assistance, delete_database])


def show(run: sayso.Run) -> None:
    """Print how a run stands: its messages, what is pending, what comes next."""
    print(f"thread {run.thread} is {run.status}")
    for message in transcript(run):
        print(f"  {message.role}: {message.text}")
        for made in message.calls:
            print(f"    calls {made.tool}({', '.join(map(str, made.args.values()))})")
    for ask in run.state.pending:
        print(f"  pending: {ask.kind} {ask.id}")
    for line in run.state.next:
        print(f"  next: {line}")
    if run.error:
        print(f"  ended: {run.error}")
