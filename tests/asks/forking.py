"""A program that forks while it holds a desk; `test_sharing` runs it.

Usage: python -m tests.asks.forking URL BUSY
"""

from __future__ import annotations

import os
import sys
import traceback
from itertools import islice

from sayso import Desk
from tests.asks.test_sharing import FORKED, busy_for_a_while
from tests.together import in_thread, until


def main(url: str, what: str, busy: bool) -> None:
    with Desk(url, account="sam@till") as desk:
        desk.on("webhook.disabled", print)
        ask, other = desk.open("parent", {"n": 1}), desk.open("parent", {"n": 2})
        waiting = None
        if busy:
            waiting = in_thread(lambda: desk.wait(other, timeout=60))
            until(lambda: desk.store.bell._listeners)

        child = os.fork()
        if child == 0:
            in_the_child(desk, what, ask.id)
        busy_for_a_while(desk)
        _, status = os.waitpid(child, 0)
        assert status == 0, f"the child ended with {status}"

        after = list(islice(desk.events(), 1000))
        assert after
        desk.approve(desk.open("parent", {"n": 3}))
        if waiting is not None:
            desk.approve(other)
            assert waiting.result(30)
    print(f"{what}: parent done", flush=True)


def in_the_child(desk: Desk, what: str, ask_id: str) -> None:
    try:
        FORKED[what](desk, ask_id)
        print(f"{what}: child done", flush=True)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    for each in FORKED:
        main(sys.argv[1], each, sys.argv[2] == "1")
