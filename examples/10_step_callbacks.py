"""Callbacks by type of step: they look on, and may ask for a review by returning a sentence.

Each is called once, after its step is in the journal, however often the run is resumed. Runs by
itself, in a database of its own; the reviewer is played by the program.
"""

import tempfile

import sayso
from sayso.agent import Message, ToolCall, call


def show(step: sayso.PlanStep) -> None:
    print("  plan:", " / ".join(item["title"] for item in step.plan))


def check(step: sayso.ActionStep) -> str | None:
    print(f"  {step.name}({step.args}): {step.result}")
    if step.name == "quote" and step.result > 1000:
        return f"{step.result} EUR is a lot. Go on with this offer?"
    return None  # nothing to say: the run goes on


def quote(supplier: str) -> int:
    """Ask a supplier for an offer."""
    return {"Acme": 1900, "Globex": 800}[supplier]


def think(messages: tuple[Message, ...], tools: tuple[str, ...]) -> list[str] | ToolCall | str:
    """Stand in for a model: it asks Acme, unless a person names somebody else."""
    if tools == ("plan",):
        return ["Get an offer", "Recommend it"]
    last = messages[-1]
    if last.role == "tool":
        return f"Take the offer of {last.text} EUR."
    return call("quote", supplier="Globex" if "Globex" in last.text else "Acme")


agent = sayso.Agent(
    "buyer",
    sayso.ScriptedModel(think),
    [quote],
    plan_every=5,
    on_step={sayso.PlanStep: show, sayso.ActionStep: check},
)


def main(desk: sayso.Desk) -> None:
    run = desk.run(agent, "Buy a printer", wait=False)
    desk.approve(run.state.pending[0])  # the plan
    review = desk.resume(run, wait=False).state.pending[0]
    print("asked:", review.title)
    desk.respond(review, "Try Globex first")  # a rejection would end the run
    print("answer:", desk.resume(run).result())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
