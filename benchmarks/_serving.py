"""A process that serves waiting runs and imports nothing else; `benchmarks.waiting` starts it.

python -m benchmarks._serving URL
"""

from __future__ import annotations

import resource
import sys

from benchmarks._hurry import IN_A_HURRY
from sayso import Desk, Running

MEGABYTE = 1 << (20 if sys.platform == "darwin" else 10)  # in what getrusage counts in


def served(url: str) -> Desk:
    """Return a desk with the workflow that everybody here waits in."""
    desk = Desk(url, agent="benchmark", policy=IN_A_HURRY)

    @desk.workflow(name="waiting")
    def waiting(run: Running) -> object:
        return run.question("May it go on?", why="The customer was charged twice.")

    return desk


def main() -> None:
    """Work until told to end, then say the most memory it held."""
    desk = served(sys.argv[1])
    desk.crew.start(1)
    sys.stdin.readline()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE, flush=True)
    desk.close()


if __name__ == "__main__":
    main()
