"""A person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

from sayso.model.actor import Roster
from sayso.model.ask import Ask, Ballot


class Console:
    """Stub."""

    def interactive(self) -> bool:
        return False

    def announce(self, ask: Ask, roster: Roster) -> None:
        print(f"sayso: {ask.id} waits for a decision: {ask.label}", file=sys.stderr)

    def prompt(self, ask: Ask, *, still_open: Callable[[str], bool]) -> Ballot | None:
        return None

    def decided_elsewhere(self, ask: Ask) -> None: ...
    def paused(self, ask: Ask) -> None: ...
    def complain(self, text: str) -> None: ...
    def done(self, ask: Ask) -> None: ...
