"""The verbs that ask: each blocks until a person has answered, and returns a plain value.

At a terminal you answer. Without one, a scripted reviewer plays the person.
"""

import sys

import sayso
from sayso.testing import scripted

desk = sayso.Desk()


def letter(guidance: str | None) -> str:
    return "Dear customer, ..." if guidance is None else f"Dear customer, ... ({guidance})"


def main() -> None:
    # Put early, needed late: the program goes on meanwhile.
    budget = desk.later.question("How much may we spend on the apology?", type=int)

    if desk.confirm("Write to the customer at all?", facts={"orders": 3}):
        tone = desk.choose("Which tone?", ["formal", "warm"], own=True)
        steps = desk.plan(["look up the order", "write the letter"])
        text = desk.draft(letter, title="Letter to the customer")
        print(f"{tone}; {len(steps)} steps; {text}")

    print("budget:", budget.result())
    print("mail from the tax office:", desk.notice("Mail from the tax office"))
    print("rating:", desk.feedback({"letters": 1}, within="1h"))


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            reviewer.respond("question", 25).approve("action")
            reviewer.respond("Which tone?", "brief")
            reviewer.edit("plan", ["look up the order", "call", "write the letter"])
            reviewer.approve(lambda ask: ask.kind == "draft" and "sorry" in ask.args["text"])
            reviewer.respond(
                lambda ask: ask.kind == "draft" and "sorry" not in ask.args["text"], "say sorry"
            )
            reviewer.reject("notice").approve("feedback")
            main()
