"""Tasks of one thread share their memory; `fresh=True` begins anew, and the old journal stays.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import tempfile

import sayso
from sayso.agent import Message, ToolCall, call

PRICES = {"Rome": 310, "Oslo": 450}


def price(city: str) -> int:
    """Say what a trip costs."""
    print(f"  looking up {city}")
    return PRICES[city]


def think(messages: tuple[Message, ...], tools: tuple[str, ...]) -> list[str] | ToolCall | str:
    """Stand in for a model: it looks up what nobody has told it yet in this conversation."""
    if tools == ("plan",):
        return ["Look up the prices", "Compare them"]
    known = {c.args["city"]: c.id for message in messages for c in message.calls}
    told = {message.call: message.text for message in messages if message.role == "tool"}
    task = next(m.text for m in reversed(messages) if m.role == "user" and "trip" in m.text)
    for city in PRICES:
        if city in task and city not in known:
            return call("price", city=city)
    return ", ".join(f"{city} {told[id_]} EUR" for city, id_ in known.items())


agent = sayso.Agent("travel", sayso.ScriptedModel(think), [price], plan_every=5)


def go(desk: sayso.Desk, task: str, *, fresh: bool = False) -> None:
    run = desk.run(agent, task, thread="holiday", fresh=fresh, wait=False)
    desk.approve(run.state.pending[0])  # the plan
    print(f"{task} {desk.resume(run).result()}")


def main(desk: sayso.Desk) -> None:
    go(desk, "A trip to Rome?")
    go(desk, "And a trip to Oslo?")  # remembers Rome
    print("  the thread has", len(desk.thread("holiday")), "steps")
    go(desk, "A trip to Oslo?", fresh=True)
    print("  the thread has", len(desk.thread("holiday")), "steps")
    for run in reversed(desk.runs(thread="holiday")):  # nothing of it is gone
        print("kept:", ", ".join(type(step).__name__ for step in run.memory))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
