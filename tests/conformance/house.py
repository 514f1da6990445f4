"""One desk with people, an agent that asks and seats for those who decide: local, or over HTTP."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sayso import Ask, Desk
from sayso.testing import FakeClock

_BY = ("decide", "approve", "edit", "reject", "respond", "take_back", "claim", "assign")


class Seat:
    """The desk as one person uses it: who they are is said by `by=`, or by their token."""

    def __init__(self, desk: Desk, by: str | None) -> None:
        self.desk = desk
        self._by = by

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.desk, name)
        if name in _BY and self._by is not None:
            return functools.partial(found, by=self._by)
        return found


@dataclass
class House:
    """`asker` is the desk of the agent `bot`; `seat(name)` that of a person."""

    local: Desk
    clock: FakeClock
    asker: Desk
    sit: Callable[[str], Seat]
    remote: bool
    _seats: dict[str, Seat] = field(default_factory=dict)

    def seat(self, name: str) -> Seat:
        if name not in self._seats:
            self._seats[name] = self.sit(name)
        return self._seats[name]

    @property
    def anna(self) -> Seat:
        return self.seat("anna")

    @contextmanager
    def answering(self, *acts: Callable[[Ask], object]) -> Iterator[list[Ask]]:
        """Do these, one after the other, to the asks that open within the block."""
        asked: list[Ask] = []
        failed: list[BaseException] = []
        after, stop = self.local.docket.tip(), threading.Event()

        def answer() -> None:
            left = list(acts)
            for event in self.local.docket.follow(after, stop):
                if event.kind == "ask.opened":
                    asked.append(self.local.get(event.stream))
                    try:
                        left.pop(0)(asked[-1])
                    except BaseException as error:
                        failed.append(error)
                        return
                if not left:
                    return

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield asked
        finally:
            stop.set()
            self.local.docket.wake()
            thread.join(20)
        assert not failed, failed
        assert not thread.is_alive()
