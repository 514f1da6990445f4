"""The journal proves what happened: edit a row behind its back, and it is named.

Runs by itself, in a database of its own.
"""

import sqlite3
import tempfile

import sayso


def main(file: str) -> None:
    with sayso.Desk(f"sqlite:///{file}") as desk:
        ask = desk.open("refund", {"order": 7, "amount": 40}, why="Charged twice")
        desk.approve(ask, note="Checked the statement")
        desk.finish(desk.begin(ask), result="paid")

        for event in desk.history(ask):
            print(f"{event.seq}  {event.kind:<16} by {event.actor.kind}")

        line = str(desk.seal())  # keep this line elsewhere
        print("a seal looks like", line[:13] + "...")
        report = desk.verify(seal=line)
        print("whole:", bool(report), f"({report.events} events)")

        # What a customer asked to forget can be erased; the chain still holds.
        desk.erase(ask, "Request of the customer")
        report = desk.verify(seal=line)
        print("whole after erasing:", bool(report), f"({report.erased} payloads erased)")

    # Somebody with access to the file makes a rejection out of an approval, and removes a line.
    with sqlite3.connect(file) as rows:
        rows.execute("update events set kind = 'ask.withdrawn' where seq = 2")
        rows.execute("delete from events where stream = 'seals'")
    rows.close()

    with sayso.Desk(f"sqlite:///{file}") as desk:
        for problem in desk.verify(seal=line).problems:
            print(f"{problem.what}: event {problem.seq}: {problem.detail}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(f"{folder}/desk.db")
