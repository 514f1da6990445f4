"""Tiers: low risk runs alone, medium needs a junior, high a senior, critical a senior and security.

These are the tiers of a desk without a policy. Runs by itself, in a database of its own; the people
here are played by the program.
"""

import tempfile
from typing import Literal

import sayso
from sayso.errors import Forbidden

PEOPLE = {"jo": ["junior"], "sam": ["senior"], "zoe": ["security"], "max": ["senior", "security"]}
# How much, and who is asked for a yes, one after the other.
PAYMENTS = {40: [], 400: ["zoe", "jo"], 4_000: ["jo", "sam"], 40_000: ["max", "max", "sam"]}


def assess(amount: int) -> Literal["low", "medium", "high", "critical"]:
    if amount < 100:
        return "low"
    if amount < 1_000:
        return "medium"
    return "high" if amount < 10_000 else "critical"


@sayso.tool(risk=assess)
def pay(amount: int) -> str:
    """Pay a supplier."""
    return f"paid {amount:,}"


def main(desk: sayso.Desk) -> None:
    for name, roles in PEOPLE.items():
        desk.people.add(name, roles=roles)

    @desk.workflow
    def invoice(run: sayso.Running, amount: int) -> str:
        return str(run.call(pay, amount))

    for amount, voters in PAYMENTS.items():
        run = desk.run(invoice, amount, wait=False)
        needs = [str(ask.content.needs) for ask in run.state.pending]
        print(f"{amount:,}, {assess(amount)} risk: {needs[0] if needs else 'nobody is asked'}")
        for name in voters:
            try:
                voted = desk.approve(run.state.pending[0], by=name)
                print(f"  {name} agrees: {voted.status}")
            except Forbidden as error:
                print(f"  {name} does not count: {error}")
        print(f"  {desk.resume(run).result()}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
