"""The user's program: it asks and ends. Started again, it prints how things stand, and the answer.

python user.py THREAD [QUESTION]
"""

import sys

from support import agent, show

import sayso
from sayso.errors import ThreadBusy


def main(thread: str, question: str) -> None:
    with sayso.Desk() as desk:
        before = desk.runs(thread=thread, limit=1)
        if before and not question:
            show(desk.resume(before[0], wait=False))  # goes on, if somebody has answered by now
            return
        try:
            task = question or input("Your question: ")
            show(desk.run(agent, task, thread=thread, wait=False))
        except ThreadBusy as busy:
            print(busy)


if __name__ == "__main__":
    main(sys.argv[1], " ".join(sys.argv[2:])) if len(sys.argv) > 1 else sys.exit(__doc__)
