"""An agent asks when it is unsure, when sources disagree, and when nothing like it was approved.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import tempfile

import sayso
from sayso.agent import Message, ToolCall, call


@sayso.tool(risk="low", unseen=True)
def refund(reason: str, amount: int) -> str:
    """Pay money back."""
    return f"paid back {amount} EUR"


def think(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for a model: it says how sure it is, and listens to suggestions."""
    task = next(message.text for message in messages if message.role == "user")
    came = [message.text for message in messages if message.role == "tool"]
    if not came and "twice" in task:
        conflicts = ["The bank says once", "The customer says twice"]
        return call("refund", reason=task, amount=80, _confidence=0.5, _conflicts=conflicts)
    if came and "says: " in came[-1]:
        return call("refund", reason=came[-1].partition("says: ")[2], amount=40, _confidence=0.9)
    if not came:
        return call("refund", reason=task, amount=40, _confidence=0.9)
    return came[-1]


agent = sayso.Agent("support", sayso.ScriptedModel(think), [refund], explain=True)


def main(desk: sayso.Desk) -> None:
    def go(task: str, suggestion: str | None = None) -> None:
        print(task)
        run = desk.run(agent, task, wait=False)
        while run.status == "waiting":
            ask = run.state.pending[0]
            print(f"  asks, {ask.content.confidence:.0%} sure: {ask.content.sentence}")
            for conflict in ask.content.conflicts:
                print(f"    but: {conflict}")
            desk.respond(ask, suggestion) if suggestion else desk.approve(ask)
            suggestion = None
            desk.resume(run, wait=False)
        print(f"  {run.result()}")

    go("The parcel came late and the box was crushed")
    go("The parcel came late and was crushed")  # like one that was approved: runs alone
    go("Charged twice for one order", suggestion="The bank is right, the order came late")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
