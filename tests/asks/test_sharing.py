"""One desk in many threads, across a fork, and let go of at the end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sayso import Desk
from tests.places import Place
from tests.together import in_thread, until

ROOT = Path(__file__).resolve().parents[2]


def ours() -> list[str]:
    """Return the names of the threads that desks have in this process."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("sayso-") and name != "sayso-models"]


def connections(place: Place) -> int:
    """Return how many connections this process has to the database."""
    if place.dialect == "postgres":
        return len(place.sessions("counted"))
    return sum(_opened(name) == str(place.file) for name in os.listdir("/proc/self/fd"))


def _opened(name: str) -> str | None:
    """Return what a descriptor is open on. Another thread may close it at this moment."""
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except FileNotFoundError:
        return None


def test_a_desk_opens_nothing_before_it_is_used(place: Place) -> None:
    if place.dialect == "sqlite":
        place.file.unlink()
    desk = Desk(place.named("counted"))

    assert connections(place) == 0
    assert place.dialect == "postgres" or not place.file.exists()
    desk.close()


def test_with_lets_go_of_connections_and_threads(place: Place) -> None:
    with Desk(place.named("counted"), account="sam@till") as desk:
        desk.on("*", lambda event: None)
        ask = desk.open("refund", {"n": 1})
        waiting = in_thread(lambda: desk.wait(ask, timeout=30))
        desk.approve(ask)
        waiting.result(30)
        assert connections(place) > 0
        assert ours()

    until(lambda: not ours())
    until(lambda: connections(place) == 0)


def test_a_closed_desk_opens_again_when_it_is_used(place: Place) -> None:
    with Desk(place.named("counted"), account="sam@till") as desk:
        ask = desk.open("refund", {"n": 1})
    with desk:
        assert desk.approve(ask).decision
    until(lambda: connections(place) == 0)


FORKED: dict[str, Callable[[Desk, str], object]] = {
    "opens": lambda desk, ask_id: desk.open("child", {"n": 1}),
    "decides": lambda desk, ask_id: desk.approve(desk.get(ask_id)),
    "waits": lambda desk, ask_id: desk.wait(desk.approve(desk.get(ask_id)), timeout=30),
    "listens": lambda desk, ask_id: _listened(desk),
    "works beside its parent": lambda desk, ask_id: busy_for_a_while(desk),
    "closes": lambda desk, ask_id: desk.close(),
}


def busy_for_a_while(desk: Desk) -> None:
    """What parent and child do at the same time; on one shared connection they would collide."""
    for n in range(40):
        ask = desk.open("busy", {"n": n, "process": os.getpid()})
        assert desk.approve(ask).decision
        assert desk.get(ask.id).args["n"] == n


def _listened(desk: Desk) -> None:
    heard = threading.Event()
    desk.on("ask.opened", lambda event: heard.set())
    desk.open("child", {"n": 1})
    assert heard.wait(10), "the child's handler was never called"


@pytest.mark.parametrize(
    "busy",
    [pytest.param(False, id="idle", marks=pytest.mark.soak), pytest.param(True, id="busy")],
)
def test_a_forked_child_uses_the_desk_and_the_parent_goes_on(place: Place, busy: bool) -> None:
    """In a program of its own: the test's process has threads that a fork would carry along."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.asks.forking", place.url, str(int(busy))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    said = [f"{what}: {who} done" for what in FORKED for who in ("child", "parent")]
    assert done.stdout.splitlines() == said
    with Desk(place.url) as desk:
        assert desk.verify()
