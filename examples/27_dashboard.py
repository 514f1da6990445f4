"""A desk at a glance: what is going on and how far it is, what waits, and what happened lately.

Runs by itself, in a database of its own; the reviewer is played by the program. `sayso top` shows
the same, live, with keys to approve, edit and reject.
"""

import json
import subprocess
import sys
import tempfile

import sayso


def board(desk: sayso.Desk) -> None:
    """Print what `sayso top` shows, as it stands now."""
    command = [sys.executable, "-m", "sayso", "top", "--once", "--json", "--desk", desk.url]
    shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print("Current tasks")
    for run in sorted(shown["runs"], key=lambda run: run["workflow"]):
        done = f", {run['progress']:.0%}" if run["progress"] is not None else ""
        print(f"  {run['workflow']}: {run['status']}{done}")
    for ask in shown["asks"]:
        print(f"  {ask['tool']} {ask['args']} waits: {', '.join(ask['allow'])}")
    print("Recent actions")
    for event in shown["recent"]:
        print(f"  {event['kind']}: {event['said']}")


def main(desk: sayso.Desk) -> None:
    @desk.gate(risk="high", affects="customers", allow=["approve", "edit", "reject"])
    def send(to: str) -> str:
        return f"sent to {to}"

    def compute(data: str) -> str:
        board(desk)  # somebody looks, while this is at work
        return f"{data} are up"

    @desk.workflow
    def analysis(run: sayso.Running, data: str) -> str:
        run.progress(0.6, "the tables are read")
        said = run.step(compute, data)
        run.progress(1, said)
        return said

    @desk.workflow
    def mailing(run: sayso.Running, to: str) -> str:
        return str(run.call(send, to))

    run = desk.run(mailing, "all customers", wait=False)
    desk.run(analysis, "the sales")
    desk.edit(run.state.pending[0], {"to": "testers"})
    desk.resume(run)
    print("and a moment later")
    board(desk)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
