"""A program is killed in the middle of an approved call. Nobody knows whether it happened: ask.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import subprocess
import sys
import tempfile
import time

import sayso

PROGRAM = """
import os, signal, sys, sayso

desk = sayso.Desk(sys.argv[1], lease=1)      # silent for a second: taken to be gone

@desk.gate
def wire(to: str, amount: int) -> str:
    print("child: the money is on its way", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)     # the power fails before the bank answers

wire("Acme", 4000)
"""


def main(url: str) -> None:
    with sayso.Desk(url) as desk:
        desk.inbox()  # makes the file
        child = subprocess.Popen([sys.executable, "-c", PROGRAM, url], stderr=subprocess.DEVNULL)
        opened = next(event for event in desk.events(follow=True) if event.kind == "ask.opened")
        wire = desk.approve(desk.get(opened.stream))
        child.wait()

        # Its lease runs out. Whoever sweeps next opens the doubt; here that is us.
        doubts: tuple[str, ...] = ()
        while not doubts:
            time.sleep(0.1)
            doubts = desk.sweep().doubts
        doubt = desk.get(doubts[0])
        print(doubt.title)
        print("offered:", ", ".join(doubt.allow))

        # A person looks at the bank's statement: it did happen.
        desk.respond(doubt, "reference 8841", note="Seen on the statement")
        effect = desk.get(wire.id).effect
        if effect:
            print(f"the effect is {effect.status}: {effect.result}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(f"sqlite:///{folder}/desk.db")
