"""A durable workflow: a step, a question, a guarded call. It may wait for weeks in between.

At a terminal you are asked right there. Without one, a scripted reviewer plays the person.
"""

import sys

import sayso
from sayso.testing import scripted

desk = sayso.Desk()


def look_up(order: int) -> dict[str, int]:
    print(f"  looking up order {order}")
    return {"order": order, "paid": 40}


@desk.gate(risk="high", reversible=False, impact=lambda order, amount: f"{amount} EUR leave us")
def refund(order: int, amount: int) -> str:
    return f"paid back {amount} EUR for order {order}"


@desk.workflow
def settle(run: sayso.Running, order: int) -> str:
    found = run.step(look_up, order)  # done once, whatever happens afterwards
    print(f"  the customer paid {found['paid']} EUR")  # between verbs: after every pause again
    amount = run.question(f"The customer paid {found['paid']} EUR. Pay back how much?", type=int)
    if not amount:
        return "nothing to pay back"
    try:
        return run.call(refund, order, amount)  # its own yes; carried out once
    except sayso.Rejected as no:
        return f"{no.by} said no: {no.note}"


def main() -> None:
    for order in (7, 8):
        run = desk.run(settle, order)
        print(f"{run.status}: {run.output}")
        print("  it remembers:", ", ".join(type(step).__name__ for step in run.memory.steps))


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            reviewer.respond("question", 30).approve("refund")
            reviewer.reject(lambda ask: ask.args.get("order") == 8, "Paid back in March")
            main()
