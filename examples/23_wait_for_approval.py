"""Synchronous approval: the program blocks until somebody has decided, or until its time is up.

Runs by itself, in a database of its own; the reviewer is played by a thread of the program, and
leaves one step to the clock.
"""

import tempfile

import sayso

PLAN = ["copy the data", "switch over", "delete the old data", "tell everybody"]


def main(desk: sayso.Desk) -> None:
    @desk.gate(risk="high")
    def execute(step: str) -> str:
        return f"done: {step}"

    @desk.gate(risk="high", reversible=False, within="1s")  # nobody in time: that is a no
    def delete(step: str) -> str:
        return f"done: {step}"

    def review(event: sayso.Event) -> None:
        ask = desk.get(event.stream)
        if ask.tool == "execute":
            desk.approve(ask)

    def run_with_approval(plan: list[str]) -> str:
        for step in plan:
            try:
                print(delete(step) if step.startswith("delete") else execute(step))  # blocks here
            except sayso.Rejected as no:
                return f"cancelled at {step!r}: the {no.by} said no: {no.note}"
        return "all of it is done"

    desk.on("ask.opened", review)
    print(run_with_approval(PLAN))

    # Patience of one's own: giving up decides nothing, and the ask stays in the inbox.
    ask = desk.open("publish", {"page": "news"}, risk="high")
    try:
        desk.wait(ask, timeout=0.1)
    except sayso.StillOpen:
        print(f"not waiting any longer; the ask is {desk.get(ask.id).status}")
    desk.reject(ask, "Not today")
    decision = desk.wait(ask)
    print(f"later: {decision.verdict}, {decision.note}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
