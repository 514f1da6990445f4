"""Carry out an approval yourself: `begin` spends it, `finish` records what came of it.

Whoever gets a call from `begin` is the only one, on every machine that shares the database.
Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import tempfile
import threading

import sayso
from sayso.errors import AlreadySpent


def worker(name: str, desk: sayso.Desk, ask: sayso.Ask, said: list[str]) -> None:
    desk.wait(ask)  # informs, authorises nothing
    try:
        call = desk.begin(ask, limit="5m")
    except AlreadySpent:
        said.append("one worker came too late")
        return
    # From here on a crash becomes a question to people: did it happen?
    done = desk.finish(call, result={"version": call.args["version"], "attempt": call.attempt})
    if done.effect:
        said.append(f"one worker deployed {done.effect.result}")


def main(desk: sayso.Desk) -> None:
    ask = desk.open("deploy", {"version": "2.1"}, risk="medium", key="release-2.1")
    again = desk.open("deploy", {"version": "2.1"}, risk="medium", key="release-2.1")
    print("the same key returned the same ask:", ask.id == again.id)

    said: list[str] = []
    workers = [
        threading.Thread(target=worker, args=(name, desk, ask, said)) for name in ("east", "west")
    ]
    for thread in workers:
        thread.start()
    desk.approve(ask)
    for thread in workers:
        thread.join()
    print("\n".join(sorted(said)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
