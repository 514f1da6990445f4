"""Several calls in one turn: what needs nobody runs, the others are decided one by one or together.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import tempfile

import sayso
from sayso.agent import Message, ToolCall, call


def look_up(order: int) -> str:
    """Look up an order."""
    print(f"  look_up({order}) runs")
    return "paid twice"


@sayso.tool(risk="high", reversible=False)
def refund(order: int, amount: int) -> str:
    """Pay money back."""
    print(f"  refund({order}, {amount}) runs")
    return f"{amount} EUR paid back"


def think(messages: tuple[Message, ...]) -> list[ToolCall] | str:
    """Stand in for a model. What it reads at the end is what was done, not what it wanted."""
    made = [c.args for message in messages for c in message.calls if c.tool == "refund"]
    if made:
        said = [message.text for message in messages if message.tool == "refund"]
        return "\n".join(f"{args}: {text}" for args, text in zip(made, said, strict=True))
    orders = (7, 8)
    return [call("look_up", order=7), *(call("refund", order=n, amount=40) for n in orders)]


one_by_one = sayso.Agent("clerk", sayso.ScriptedModel(think), [look_up, refund])
together = sayso.Agent("auditor", sayso.ScriptedModel(think), [look_up, refund], together=True)


def main(desk: sayso.Desk) -> None:
    for agent in (one_by_one, together):
        print(agent.name)
        run = desk.run(agent, "Settle the double charges", wait=False)
        first, second = run.state.pending  # both are open
        desk.edit(second, {"amount": 30})
        print(f"  order {second.args['order']} is decided")
        desk.resume(run, wait=False)
        desk.reject(first, "Not paid twice.")
        print(f"  order {first.args['order']} is decided")
        print(desk.resume(run).result())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
