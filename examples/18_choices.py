"""Suggested choices: one key books a flight, or none of these, or one of your own.

At a terminal you choose. Without one, a scripted reviewer plays three people.
"""

import sys

import sayso
from sayso.testing import scripted

desk = sayso.Desk()
FLIGHTS = [  # the label is the button; the value comes back to the program; the detail helps
    sayso.Option("Air France", {"flight": "AF7", "price": 450}, "$450, direct, 8am-10pm"),
    sayso.Option("United", {"flight": "UA57", "price": 420}, "$420, 1 stop, 6am-11pm"),
    sayso.Option("Budget Air", {"flight": "BB1", "price": 380}, "$380, 2 stops, 3am-11pm"),
]
BOOKED: list[str] = []


@desk.gate(
    risk="medium",
    impact=lambda flight, price: f"${price} are charged",
    on_reject="not booked",
    allow=["approve", "edit", "reject"],
)
def book(flight: str, price: int) -> str:
    BOOKED.append(flight)
    return f"{flight} is booked for ${price}"


@desk.workflow
def travel(run: sayso.Running, who: str) -> str:
    chosen = run.choose(
        f"I found {len(FLIGHTS)} cheap flights to Paris for {who}.",
        FLIGHTS,
        own=str,  # "let me choose": a flight that is not on the list
        why=f"{who} wants to be in Paris on Friday",
    )
    if not chosen:
        return "none of these; nothing is booked"
    if isinstance(chosen, str):
        price = run.question(f"What does {chosen} cost?", type=int)
        return str(run.call(book, chosen, price)) if price else "no price, no booking"
    return str(run.call(book, **chosen.value))


def main() -> None:
    for who in ("anna", "ben", "cleo"):
        run = desk.run(travel, who)
        print(f"{who}: {run.result()}")
        print(f"   asked: {', '.join(ask.kind for ask in run.asks)}")
    print(f"booked: {', '.join(BOOKED) or 'nothing'}")


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            reviewer.approve("book")
            reviewer.approve("choice", option="United")
            reviewer.reject(lambda ask: "for ben" in ask.title, "He takes the train")
            reviewer.respond(lambda ask: "for cleo" in ask.title, "LH1026")
            reviewer.respond("question", 405)
            main()
