"""The bell: whoever waits hears of a change, and a database that is away is not hammered."""

from __future__ import annotations

import threading

from sayso.errors import StoreUnavailable
from sayso.store.bell import Bell


def test_a_database_that_is_away_is_looked_for_twice_a_second_and_no_more() -> None:
    looks: list[int] = []
    thrice = threading.Event()

    def away(ring: object, wanted: object) -> None:
        looks.append(1)
        if len(looks) == 3:
            thrice.set()
        raise StoreUnavailable("It is away.")

    heard = threading.Event()
    bell = Bell(away)
    with bell.listening(heard.set):
        assert not thrice.wait(0.8)
        assert heard.is_set(), "whoever waits looks for themselves meanwhile"
        assert thrice.wait(10)
    bell.close()
