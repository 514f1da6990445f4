"""PostgreSQL stops or crashes under load and comes back: nothing is lost, and everybody goes on by themselves."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import httpx2
import pytest

from sayso import Desk
from sayso.access.tokens import make_token
from sayso.errors import StoreError
from tests import forked
from tests.crash.fleet import answer_doubts, book, decide_all, fleet, working
from tests.crew import hired
from tests.forked import SAYSO
from tests.places import Place
from tests.server import Mode, Server, serving
from tests.service import Service
from tests.together import until

T = TypeVar("T")
RUNS = 12
LONG = 120.0
OUTAGES: dict[int, Mode] = {4: "fast", 8: "immediate"}  # before so many are started


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


class Follower(threading.Thread):
    """Somebody who follows what happens over HTTP, from the first moment on."""

    def __init__(self, url: str, token: str, after: str) -> None:
        super().__init__(daemon=True)
        self._desk = Desk(url, token=token)
        self._after = after
        self._over = threading.Event()
        self.heard: list[tuple[str, int]] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up: a thread that follows on would be in the way when the interpreter ends."""
        self._over.set()
        self._desk.docket.wake()
        self.join(timeout=LONG)
        self._desk.close()
        assert not self.is_alive(), "it does not hang up"

    def run(self) -> None:
        for event in self._desk.docket.follow(self._after, self._over):
            if event.stream.startswith(("a-", "r-")):
                self.heard.append((event.stream, event.seq))


def through(work: Callable[[], T]) -> T:
    """Do something that may be cut off, until it is done: what people do, too."""
    ends = time.monotonic() + LONG
    while True:
        try:
            return work()
        except StoreError:
            assert time.monotonic() < ends, "it never came back"
            time.sleep(0.1)


def paid(folder: Path, count: int) -> bool:
    return book(folder).total() >= count


def check_words(url: str, service: Service, token: str, folder: Path) -> None:
    """Look at what people see while the database is away."""
    shown = {"authorization": f"Bearer {token}"}
    answer = httpx2.get(f"{service.url}/api/v1/asks", headers=shown, timeout=LONG)
    assert answer.status_code == 503, answer.text
    assert answer.json()["code"] == "store-unavailable", answer.text
    said = forked.run([SAYSO, "inbox", "--desk", url], cwd=folder, env=dict(os.environ))
    assert said.returncode != 0
    assert "is not reachable" in said.stderr
    assert "Traceback" not in said.stderr + said.stdout


def test_a_server_that_goes_away_under_load_takes_nothing_with_it(
    server: Server, tmp_path: Path
) -> None:
    url = server.address()
    place = Place("postgres", url)
    with (
        Desk(url, agent="shop", account="sam@till") as desk,
        Service(url) as service,
        hired(1) as deciders,
        working(url, tmp_path) as workers,
        ExitStack() as ending,
    ):
        settle = fleet(desk, str(tmp_path)).flows["settle"].fn
        after = desk.store.tip()
        desk.people.add("sam", roles=["senior"])
        _, token = make_token(
            desk.store, name="sam", kind="person", expires=None, origin=desk.origin
        )
        follower = ending.enter_context(Follower(service.url, token, after))
        deciding = deciders.start(0, decide_all, url, after, RUNS, LONG, False)
        started = []
        for number in range(RUNS):
            if number in OUTAGES:
                until(partial(paid, tmp_path, number - 3), within=LONG)
                server.stop(OUTAGES[number])
                check_words(url, service, token, tmp_path)
                server.start()
            started.append(through(partial(desk.start, settle, number)))

        def done() -> bool:
            through(lambda: answer_doubts(desk, tmp_path))
            return bool(
                through(lambda: place.one("select count(*) from runs where status = 'done'"))
                == RUNS
            )

        until(done, within=LONG)
        came = deciding()
        said = workers.end()
        assert [run.result(0) for run in started] == [f"paid {number}" for number in range(RUNS)]
        assert book(tmp_path) == Counter(f"paid {number}" for number in range(RUNS))
        assert len(came.won) == RUNS
        assert desk.verify()
        written = [
            (event.stream, event.seq)
            for event in desk.events(after=after)
            if event.stream.startswith(("a-", "r-"))  # of tokens nobody is told
        ]
        until(lambda: len(follower.heard) >= len(written), within=LONG)
        assert follower.heard == written, "in order, nothing missed, nothing twice"
        assert not [line for text in said for line in text.splitlines() if "Traceback" in line], (
            said
        )
