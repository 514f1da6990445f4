"""The admin's program: it shows how things stand, asks at this terminal, and goes on with the run.

python admin.py THREAD
"""

import sys

from support import show

import sayso


def main(thread: str) -> None:
    with sayso.Desk() as desk:
        found = desk.runs(thread=thread, limit=1)
        if not found:
            print(f"Nobody has asked anything in thread {thread} yet.")
            return
        show(found[0])
        # At a terminal it asks, and goes on until the run is over; elsewhere it does what it can.
        show(desk.resume(found[0], wait=sys.stdin.isatty()))


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
