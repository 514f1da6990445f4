"""A process that dies in the middle of a transfer, so that somebody has to be asked what happened.

    python -m sayso.demo.lost URL

Nothing here is played: the approval is spent, the intent is in the journal, and the process is gone.
"""

from __future__ import annotations

import subprocess
import sys

from sayso.demo.billing import TRANSFER, power_cut, settle_invoice
from sayso.demo.jobs import Job, Said
from sayso.desk import Desk

REVIEWER = "robin@office"
_LEASE = 1.0  # how long the others wait for whoever has gone


def lose_one(url: str) -> None:
    """Begin a transfer in another process, and lose that process."""
    subprocess.run(
        [sys.executable, "-m", "sayso.demo.lost", url],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main(url: str) -> None:
    """Ask for the transfer, have it approved, and die while it is carried out."""
    with Desk(url, agent="billing", account=REVIEWER, lease=_LEASE) as desk:
        desk.workflow(settle_invoice)
        run = Job(TRANSFER, settle_invoice).run(desk)
        desk.work(until="idle", only=run.id)
        Said(note="Due today").to(run.state.pending[0], desk)
        power_cut.set()
        desk.work(until="idle", only=run.id)


if __name__ == "__main__":
    main(sys.argv[1])
