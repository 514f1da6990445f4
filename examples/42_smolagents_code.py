"""A CodeAgent of smolagents whose tool asks first, in the middle of a block of its code.

Runs by itself, in a database of its own; the reviewer is played by the program. Each `desk.work`
could be another process: the code runs again from the start, and what was done is not done again.
"""

import tempfile
from typing import Any

from smolagents import ChatMessage, CodeAgent, Model, tool

import sayso
from sayso.adapters.smolagents import Smol, UserInput

CODE = """
total = 0
for guest, amount in {"anna": 500, "ben": 20}.items():
    try:
        total += refund(guest, amount)
    except Exception as error:
        print(error)
day = user_input("When do they get it?")
final_answer(f"{total} EUR on {day}")
"""


@tool
def refund(guest: str, amount: int) -> int:
    """Pay money back, and return how much.

    Args:
        guest: Who gets it.
        amount: How much, in EUR.
    """
    print(f"  paying {amount} EUR to {guest}")
    return amount


class Thinks(Model):
    """Stands in for a model: it writes its code at once."""

    def generate(self, messages: list[Any], **_: object) -> ChatMessage:
        """Reply."""
        print("  thinking")
        return ChatMessage(role="assistant", content=f"Pay.\n<code>{CODE}</code>")


@Smol.agent("cashier", confirm=["refund"])
def cashier() -> CodeAgent:
    return CodeAgent(model=Thinks(), tools=[refund, UserInput()], verbosity_level=0)


def main(desk: sayso.Desk) -> None:
    run = desk.run(cashier, "Pay the guests back", wait=False)
    while run.status == "waiting":
        ask = run.state.pending[0]
        print(f"{ask.title} {dict(ask.args) or ''}".rstrip())
        if ask.kind == "question":
            desk.respond(ask, "Friday")
        elif ask.args["guest"] == "anna":
            desk.edit(ask, {"amount": 300})
        else:
            desk.reject(ask, "Ben has it already")
        desk.work(until="idle")
    print(run.output)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
