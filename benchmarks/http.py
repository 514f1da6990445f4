"""What HTTP costs beside the store behind it.

    decide    asks opened and decided per second by 32 clients of a server in a process of its own,
              each with a connection that is kept and with tokens of an agent, who asks, and of
              a person, who decides; beside 32 threads that do the same with the store. And how
              long the slowest of a hundred decisions takes
    follow    memory of the server for each client that follows the events and hears nothing

Both sides of `decide` take turns, round by round, and the ratio is the result: machines differ,
and one machine differs from minute to minute. A round ends after so many asks or so many seconds,
whichever comes first. Everything is written to a temporary folder, and nothing leaves 127.0.0.1.

    python -m benchmarks.http [--quick] [--only decide|follow]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple

from benchmarks.store import Database, Result, databases
from sayso import Desk
from sayso.access.tokens import make_token

CLIENTS = 32
EACH = 40  # streams with one token, of the 50 that it may have


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    rounds: int
    cycles: int  # of each client in a round
    seconds: float  # after which a round ends, whatever was done
    few: int
    many: int


FULL = Sizes(rounds=5, cycles=20, seconds=3.0, few=200, many=1_000)
QUICK = Sizes(rounds=1, cycles=2, seconds=3.0, few=40, many=60)


@dataclass
class Round:
    """What one side did in a round: seconds of each cycle, and of the decision in it."""

    cycles: list[float] = field(default_factory=list)
    decisions: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, start: float, opened: float, decided: float) -> None:
        self.cycles.append(decided - start)
        self.decisions.append(decided - opened)

    @property
    def rate(self) -> float:
        """Decisions a second, each with the opening before it."""
        return len(self.decisions) / self.seconds


def slowest(seconds: list[float]) -> float:
    """Return what 99 of 100 take less than, in milliseconds."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1000


# --- the server -------------------------------------------------------------------------------


class Tokens(NamedTuple):
    """What a client shows: that of the agent who asks, that of the person who decides."""

    agent: str
    person: str


@dataclass(frozen=True)
class Server:
    """`sayso serve`, and whoever has a token for it."""

    process: subprocess.Popen[str]
    port: int
    tokens: list[Tokens]

    @property
    def megabytes(self) -> float:
        """What the process holds in memory."""
        command = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return int(said) / 1024


@contextmanager
def served(database: Database, name: str, people: int) -> Iterator[Server]:
    """Serve a database with so many people on it."""
    with peopled(database, name, people) as desk:
        tokens = [
            Tokens(token(desk, "agent", f"agent-of-{each.name}"), token(desk, "person", each.name))
            for each in desk.people
        ]
    command = [str(Path(sys.executable).with_name("sayso")), "serve", "--no-open", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--desk", database.address(name)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield Server(process, _port(process), tokens)
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _port(process: subprocess.Popen[str]) -> int:
    """Return where it listens, once it does."""
    said = ""
    for line in process.stdout or ():
        said += line
        if "Ctrl-C" in line:
            return int(said.partition("http://127.0.0.1:")[2].partition("/")[0])
    raise RuntimeError(f"the server did not start: {said}")


def peopled(database: Database, name: str, people: int) -> Desk:
    desk = database.desk(name)
    for number in range(people):
        desk.people.add(f"person-{number}", roles=["senior"])
    return desk


def token(desk: Desk, kind: Literal["agent", "person"], name: str) -> str:
    made = make_token(desk.store, name=name, kind=kind, expires=None, origin=desk.origin)
    return made[1]


# --- clients ----------------------------------------------------------------------------------


class Client:
    """The least that speaks HTTP: what a client of more comfort costs is not the server's."""

    def __init__(
        self, line: tuple[asyncio.StreamReader, asyncio.StreamWriter], tokens: Tokens
    ) -> None:
        self._reader, self.writer = line
        self._host = "{}:{}".format(*self.writer.get_extra_info("peername"))
        self.tokens = tokens

    async def post(self, path: str, body: dict[str, Any], token: str) -> dict[str, Any]:
        """Send JSON, and return the JSON of the answer."""
        said = json.dumps(body).encode()
        key = os.urandom(8).hex()
        more = f"Content-Type: application/json\r\nIdempotency-Key: {key}\r\n"
        self._send("POST", path, token, f"{more}Content-Length: {len(said)}\r\n", said)
        head = await self._head()
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
        answer: dict[str, Any] = json.loads(await self._reader.readexactly(int(length)))
        if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
            raise RuntimeError(f"{path}: {answer}")
        return answer

    async def follow(self) -> None:
        """Follow the events, and return when the first bytes have come."""
        self._send("GET", "/api/v1/events", self.tokens.person)
        head = await self._head()
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"following was refused: {head.decode()}")
        await self._reader.readuntil(b"\n\n")

    def _send(self, method: str, path: str, token: str, more: str = "", body: bytes = b"") -> None:
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\n{more}"
        self.writer.write(f"{head}Authorization: Bearer {token}\r\n\r\n".encode() + body)

    async def _head(self) -> bytes:
        return await self._reader.readuntil(b"\r\n\r\n")


@asynccontextmanager
async def connected(port: int, tokens: list[Tokens]) -> AsyncIterator[list[Client]]:
    """Connect a client for each pair of tokens."""
    clients: list[Client] = []
    try:
        for pair in tokens:
            line = await asyncio.open_connection("127.0.0.1", port)
            clients.append(Client(line, pair))
        yield clients
    finally:
        for client in clients:
            client.writer.close()


# --- decide -----------------------------------------------------------------------------------

_numbers = count(1)


def asked() -> dict[str, Any]:
    """Return the arguments of a call of ordinary size, of which there is no other."""
    return {"order": next(_numbers), "amount": 40.5, "currency": "EUR", "to": "anna@example.com"}


WHY = "The customer was charged twice."


async def over_http(clients: list[Client], sizes: Sizes) -> Round:
    """Let every client open and decide, one ask after the other."""
    done, begun = Round(), time.perf_counter()

    async def go_on(client: Client) -> None:
        for _ in range(sizes.cycles):
            start = time.perf_counter()
            if start - begun > sizes.seconds:
                return
            body = {"tool": "refund", "args": asked(), "risk": "high", "why": WHY}
            ask = await client.post("/api/v1/asks", body, client.tokens.agent)
            opened = time.perf_counter()
            verdict = {"verdict": "approve", "seen": ask["digest"]}
            path = f"/api/v1/asks/{ask['id']}/decision"
            await client.post(path, verdict, client.tokens.person)
            done.add(start, opened, time.perf_counter())

    await asyncio.gather(*map(go_on, clients))
    done.seconds = time.perf_counter() - begun
    return done


def at_the_store(desk: Desk, people: list[str], sizes: Sizes) -> Round:
    """Let as many threads do the same without HTTP."""
    done, begun = Round(), time.perf_counter()

    def go_on(name: str) -> None:
        for _ in range(sizes.cycles):
            start = time.perf_counter()
            if start - begun > sizes.seconds:
                return
            ask = desk.open("refund", asked(), risk="high", why=WHY)
            opened = time.perf_counter()
            desk.approve(ask, by=name)
            done.add(start, opened, time.perf_counter())

    with ThreadPoolExecutor(len(people)) as pool:
        list(pool.map(go_on, people))
    done.seconds = time.perf_counter() - begun
    return done


async def rounds(server: Server, desk: Desk, sizes: Sizes) -> list[tuple[Round, Round]]:
    """Let both sides take turns."""
    people = [each.name for each in desk.people]
    took: list[tuple[Round, Round]] = []
    async with connected(server.port, server.tokens) as clients:
        for number in range(-1, sizes.rounds):  # the first warms up
            bare = await asyncio.to_thread(at_the_store, desk, people, sizes)
            http = await over_http(clients, sizes)
            if number < 0:
                continue
            took.append((http, bare))
            print(
                f"  round {number + 1}: {http.rate:5.0f} decisions/s over HTTP,"
                f" {bare.rate:5.0f}/s at the store, ratio {http.rate / bare.rate:.2f};"
                f" p99 {slowest(http.decisions):.0f} ms and {slowest(bare.decisions):.0f} ms"
            )
    return took


def measure_decide(database: Database, sizes: Sizes) -> Iterator[Result]:
    with served(database, "http", CLIENTS) as server, peopled(database, "bare", CLIENTS) as desk:
        took = asyncio.run(rounds(server, desk, sizes))
    tails = [slowest([s for pair in took for s in pair[side].decisions]) for side in (0, 1)]
    print(f"  p99 of a decision: {tails[0]:.1f} ms over HTTP, {tails[1]:.1f} ms at the store")
    ratio = median(http.rate / bare.rate for http, bare in took)
    yield Result(f"{database.name}: decisions/s over HTTP by store", ratio, "")
    yield Result(f"{database.name}: p99 over HTTP by store", tails[0] / tails[1], "")


# --- follow -----------------------------------------------------------------------------------


async def memories(server: Server, sizes: Sizes) -> dict[int, float]:
    """Return the megabytes of the server by how many follow."""
    tokens = [pair for pair in server.tokens for _ in range(EACH)]
    found = {0: server.megabytes}
    async with AsyncExitStack() as stack:
        for first in range(0, sizes.many, EACH):  # whoever connects and says nothing is cut off
            here = tokens[first : min(first + EACH, sizes.many)]
            clients = await stack.enter_async_context(connected(server.port, here))
            await asyncio.gather(*(one.follow() for one in clients))
            found[first + len(here)] = server.megabytes
    return found


def measure_follow(database: Database, sizes: Sizes) -> Iterator[Result]:
    with served(database, "follow", -(-sizes.many // EACH)) as server:
        found = asyncio.run(memories(server, sizes))
    for clients in (0, sizes.few, sizes.many):
        print(f"  {clients:5,} follow: {found[clients]:.1f} MB of memory")
    each = (found[sizes.many] - found[0]) * 1024 / sizes.many
    yield Result(f"{database.name}: memory of one who follows", each, "KB")


# ----------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description="What HTTP costs beside the store behind it.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=("decide", "follow"))
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    results: list[Result] = []
    with databases() as both:
        for part, measure in (("decide", measure_decide), ("follow", measure_follow)):
            if given.only not in (None, part):
                continue
            for database in both:
                print(f"{part}, {database.name}")
                results += measure(database, sizes)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
