"""Who is asked by default: always, when something is odd, if they like to, or nobody at all.

Each call says of itself what it is. The policy that is there without any policy does the rest. Runs
by itself, in a database of its own.
"""

import tempfile
from collections.abc import Callable
from typing import Any

import sayso


def tool(name: str, risk: str = "low", **terms: Any) -> Callable[[str], str]:  # noqa: ANN401
    def work(what: str) -> str:
        return f"{name} {what}"

    return sayso.tool(name=name, risk=risk, **terms)(work)


CLASSES = {
    "Always ask": [
        tool("delete_file", reversible=False),
        tool("notify", affects="customers"),
        tool("sign_contract", risk="high"),
    ],
    "Ask when something is odd": [
        tool("classify", confidence=0.6),
        tool("classify", conflicts=["The form says 12", "The mail says 21"]),
        tool("refund", unseen=True),
    ],
    "Nobody is needed": [tool("search"), tool("calculate", reversible=True, confidence=0.8)],
    "To be sure is not enough": [tool("delete_file", reversible=False, confidence=1.0)],
}


def main(desk: sayso.Desk) -> None:
    @desk.workflow
    def use(run: sayso.Running, name: str, number: int) -> str:
        return str(run.call(CLASSES[name][number], "report.txt"))

    for name, tools in CLASSES.items():
        print(name)
        for number in range(len(tools)):
            run = desk.run(use, name, number, wait=False)
            for ask in run.state.pending:
                print(f"  {ask.tool} waits for {ask.content.needs}: {ask.content.sentence}")
            if run.status == "done":
                print(f"  runs alone: {run.output}")

    print("Look at it if you like to")
    text = desk.draft("Your parcel is on its way.", title="A letter", optional=True)
    (review,) = desk.inbox(kind="draft")
    print(f"  {text!r} went out; until tomorrow {review.title!r} is in the inbox")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
