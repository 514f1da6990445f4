"""A critical action needs two people: one senior and one from security, never the same person.

Runs by itself, in a database of its own; the people here are played by the program.
"""

import tempfile

import sayso
from sayso.errors import Forbidden


def main(desk: sayso.Desk) -> None:
    desk.people.add("anna", roles=["senior", "security"])
    desk.people.add("ben", roles=["security"])
    desk.people.add("cleo")

    ask = desk.open(
        "drop_table",
        {"name": "users", "backup": False},
        risk="critical",
        why="The table is no longer used",
        needs=["1 senior", "1 security"],
    )
    try:
        desk.approve(ask, by="cleo")
    except Forbidden as error:
        print(error)

    # Anna holds both roles, and fills one place.
    after_anna = desk.approve(ask, by="anna")
    print("after anna:", after_anna.status)

    # Ben edits: that makes version 2, which only Ben has agreed to.
    version_2 = desk.edit(after_anna, {"backup": True}, by="ben")
    print("after ben's edit:", version_2.status, "with", len(version_2.votes), "vote")

    try:
        desk.approve(ask, by="anna")  # the card she saw is out of date
    except sayso.AskChanged as changed:
        decided = desk.approve(desk.get(changed.ask.id), by="anna")
        print("after anna looked again:", decided.status)
        if decided.decision:
            names = " and ".join(sorted(vote.by.id for vote in decided.decision.votes))
            print(f"{names} agreed to {decided.args}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
