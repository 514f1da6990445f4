"""An agent on another machine: the same gate, with an address and a token.

The agent knows the server and its own token, and no database. It asks, waits and carries out,
and cannot decide. Runs by itself: the server runs in a thread (yours: `sayso serve`), and the
reviewer, with a token of her own, is played by the program.
"""

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

import sayso
from sayso.errors import Forbidden
from sayso.web.app import make_app


def agent(desk: sayso.Desk, said: list[str]) -> None:
    @desk.gate(risk="high", affects="customers")
    def refund(order: int, amount: int) -> str:
        return f"paid back {amount} EUR for order {order}"

    said.append(refund(7, 40))  # waits here, through restarts of the server too


def review(desk: sayso.Desk) -> None:
    opened = next(event for event in desk.events(after="", follow=True) if event.seq == 1)
    ask = desk.get(opened.stream)
    print(f"{ask.content.agent} asks: {ask.tool} {ask.args}")
    desk.edit(ask, {"amount": 30})


def main(url: str, agents: str, annas: str) -> None:
    said: list[str] = []
    with sayso.Desk(url, token=agents) as there, sayso.Desk(url, token=annas) as here:
        working = threading.Thread(target=agent, args=(there, said))
        working.start()
        review(here)
        working.join()
        print(said[0])

        ask = there.open("refund", {"order": 8, "amount": 9000})
        try:
            there.approve(ask)
        except Forbidden:
            print("an agent cannot decide")


@contextmanager
def serving(desk: sayso.Desk) -> Iterator[str]:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(make_app(desk), log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        thread.start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/d.db") as desk:
        desk.people.add("anna", roles=["senior"])
        _, agents = desk.tokens.make("shop")
        _, annas = desk.tokens.make("anna", "person")
        with serving(desk) as url:
            main(url, agents, annas)
