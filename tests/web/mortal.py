"""A server that dies the moment a change of one kind is committed, before anybody is answered.

    python -m tests.web.mortal URL KIND

It prints its port, and serves until then.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

import uvicorn

from sayso import Desk
from sayso.store import Store
from sayso.web.app import make_app


def dying(store: Store, kind: str) -> None:
    """Let the process die right after such an event is durable."""
    commit = store.commit

    def last(*appends: Any, **given: Any) -> bool:
        done = commit(*appends, **given)
        if done and any(append.event.kind == kind for append in appends):
            os._exit(9)
        return done

    store.commit = last  # type: ignore[method-assign]


def main() -> None:
    url, kind = sys.argv[1:]
    with Desk(url, agent="shop", account="sam@till") as desk:
        dying(desk.store, kind)
        line = socket.socket()
        line.bind(("127.0.0.1", 0))
        line.listen()
        print(line.getsockname()[1], flush=True)
        server = uvicorn.Server(uvicorn.Config(make_app(desk), log_level="critical"))
        server.run(sockets=[line])


if __name__ == "__main__":
    main()
