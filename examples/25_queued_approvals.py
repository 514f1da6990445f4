"""Queued approvals: what needs a yes waits in the inbox, and the agent goes on with other work.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import tempfile

import sayso
from sayso.agent import Message, ToolCall, call

ORDERS = (7, 8, 9)


@sayso.tool(risk="high", reversible=False, later=True)
def refund(order: int, amount: int) -> str:
    """Pay money back."""
    print(f"  refund({order}, {amount}) runs")
    return f"{amount} EUR paid back for order {order}"


def write_report(subject: str) -> str:
    """Write a report."""
    print(f"  write_report({subject!r}) runs")
    return "written"


def think(messages: tuple[Message, ...]) -> list[ToolCall] | ToolCall | str:
    """Stand in for a model: it goes on because it is told so, and reports what it is told later."""
    made = [c.tool for message in messages for c in message.calls]
    told = [message.text for message in messages if message.role == "user" and message.call]
    if not made:
        return [call("refund", order=order, amount=40) for order in ORDERS]
    if "go on with other work" in messages[-1].text and "write_report" not in made:
        return call("write_report", subject="Complaints in May")
    if len(told) < len(ORDERS):
        return "The report is written; the refunds wait."
    return "\n".join(text.splitlines()[-1] for text in told)


agent = sayso.Agent("clerk", sayso.ScriptedModel(think), [refund, write_report])


def main(desk: sayso.Desk) -> None:
    run = desk.run(agent, "Settle the complaints, and report on them", wait=False)
    asks = {ask.args["order"]: ask for ask in run.state.pending}
    print(f"{run.status}: {len(asks)} refunds are in the inbox, and no process waits for them")
    desk.edit(asks[9], {"amount": 30})  # in any order, whenever somebody has the time
    print(f"{desk.resume(run, wait=False).status}: order 9 is decided")
    desk.reject(asks[7], "Paid back in March")
    desk.approve(asks[8])
    print(f"{desk.resume(run, wait=False).status}: orders 7 and 8 are decided")
    print(run.output)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
