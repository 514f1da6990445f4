"""Put a function behind a gate: it runs only after a person said yes to exactly this call.

At a terminal you are asked right there. Without one, a scripted reviewer plays the person.
"""

import sys

import sayso
from sayso.testing import scripted

desk = sayso.Desk()


@desk.gate(risk="high", reversible=False, impact=lambda order, amount: f"{amount} EUR leave us")
def refund(order: int, amount: int) -> str:
    # The key stays the same if this call is ever tried again, so the bank pays once.
    return transfer(order, amount, key=sayso.current_call().key)


def transfer(order: int, amount: int, *, key: str) -> str:
    return f"paid back {amount} EUR for order {order}" if key else "refused by the bank"


def main() -> None:
    for order, amount in [(7, 40), (8, 40), (9, 4000)]:
        try:
            print(refund(order, amount))
        except sayso.Rejected as no:
            print(f"order {order}: {no.by} said no: {no.note}")
        except sayso.Answered as instead:
            print(f"order {order}: {instead.by} said: {instead.text}")


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            reviewer.approve("refund")
            reviewer.edit(lambda ask: ask.args.get("order") == 8, {"amount": 30})
            reviewer.reject(lambda ask: ask.args.get("amount") == 4000, "Two zeros too many")
            main()
