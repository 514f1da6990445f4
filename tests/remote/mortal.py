"""A server that dies at a word: after the commit of a request, before a byte of its answer.

    python -m tests.remote.mortal URL PORT FOLDER [WORD ...]

For each of the words it dies once (SIGKILL), when the first POST whose address ends in it is
about to be answered; a file in the folder remembers that.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from sayso import Desk
from sayso.web.app import make_app
from tests.served import QUICK

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Mortal:
    """Passes everything on, but for some answers."""

    def __init__(self, app: ASGIApp, folder: Path, words: list[str]) -> None:
        self._app = app
        self._folder = folder
        self._words = words

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start" and scope["method"] == "POST":
                self._die(scope["path"].rsplit("/", 1)[-1])
            await send(message)

        await self._app(scope, receive, answered if scope["type"] == "http" else send)

    def _die(self, word: str) -> None:
        if word not in self._words:
            return
        try:
            (self._folder / word).touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    url, port, folder, *words = sys.argv[1:]
    with Desk(url, agent="server", account="sam@till") as desk:
        app = Mortal(make_app(desk, QUICK), Path(folder), words)
        uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error", lifespan="on")


if __name__ == "__main__":
    main()
