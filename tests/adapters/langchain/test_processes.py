"""The agent and its people in processes of their own, some of which are killed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Ask, Desk
from tests.adapters.langchain.clerk import asks, consistent, lines
from tests.adapters.langchain.visitors import Door, clerk_at, open_door
from tests.places import Place, place_at
from tests.runs.people import ask_of


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door() as door:
        yield door


@pytest.fixture
def desk(place: Place) -> Iterator[Desk]:
    with Desk(place.url, account="sam@till") as desk:
        yield desk


def test_every_pause_in_a_process_of_its_own(door: Door, place: Place, desk: Desk, tmp_path: Path):
    run = desk.get_run(door.visit(place.url, tmp_path))
    open_ = asks(run)
    desk.reject(open_["cleo"], "not her")
    door.visit(place.url, tmp_path, run.id)
    desk.edit(open_["ben"], {"to": "bea"})
    desk.approve(open_["anna"])
    door.visit(place.url, tmp_path, run.id)
    assert sorted(lines(tmp_path / "did")) == ["anna", "bea"]
    desk.approve(ask_of(run))
    door.visit(place.url, tmp_path, run.id)
    assert (run.status, sorted(lines(tmp_path / "did"))) == ("done", ["anna", "bea", "dora"])
    prompts = lines(tmp_path / "prompts")
    assert len(prompts) == 3, "one for each reply, however many processes there were"
    assert '"ben"' not in str(prompts[1:])
    with clerk_at(place.url, tmp_path, verifies=False) as clerk:
        assert consistent(clerk.history(run))


def killed(
    door: Door, place: Place, desk: Desk, folder: Path, *, dies: str = "ben", verifies: bool = False
) -> str:
    """Begin a run whose process is killed at an approved call; its id, when another went on."""
    run = desk.get_run(door.visit(place.url, folder, verifies=verifies))
    for name, ask in asks(run).items():
        desk.approve(ask) if name == "ben" else desk.reject(ask)
    door.visit(place.url, folder, run.id, dies=dies, verifies=verifies)
    assert lines(folder / "did") == ["ben"]
    place.lapse(run.id)
    door.visit(place.url, folder, run.id, verifies=verifies)
    return run.id


def test_a_call_whose_process_was_killed_in_it_is_in_doubt_and_never_made_again_in_silence(
    door: Door, place: Place, desk: Desk, tmp_path: Path
):
    run = desk.get_run(killed(door, place, desk, tmp_path))
    doubt = ask_of(run)
    assert (doubt.kind, doubt.tool, run.status) == ("doubt", "send", "waiting")
    desk.respond(doubt, "it went out")
    door.visit(place.url, tmp_path, run.id)
    assert lines(tmp_path / "did") == ["ben"]
    assert "it went out" in str(lines(tmp_path / "prompts")[1])
    assert ask_of(run).args == {"to": "dora"}, "the agent goes on"


def test_a_call_that_was_recorded_before_its_process_was_killed_is_not_made_again(
    door: Door, place: Place, desk: Desk, tmp_path: Path
):
    run = desk.get_run(killed(door, place, desk, tmp_path, dies="after ben"))
    assert lines(tmp_path / "did") == ["ben"]
    assert "sent to ben" in str(lines(tmp_path / "prompts")[1])
    assert ask_of(run).args == {"to": "dora"}, "nobody had to be asked about it"


def test_a_tool_that_can_tell_whether_it_happened_asks_nobody(
    door: Door, place: Place, desk: Desk, tmp_path: Path
):
    run = desk.get_run(killed(door, place, desk, tmp_path, verifies=True))
    assert lines(tmp_path / "did") == ["ben"]
    assert "ben has it" in str(lines(tmp_path / "prompts")[1])
    assert ask_of(run).args == {"to": "dora"}


def truthfully(desk: Desk, ask: Ask, did: list[str]) -> None:
    """Approve a call; say of one that is in doubt what the book says of it."""
    if ask.kind == "doubt" and ask.args["to"] in did:
        desk.respond(ask, "it is in the book")
    else:
        desk.approve(ask)


def lived_through(door: Door, desk: Desk, url: str, folder: Path, deaths: Iterator[int]) -> int:
    """Let one after the other come by until the run is over; how many of them died."""
    run, died = desk.get_run(door.visit(url, folder)), 0
    while run.status != "done":
        assert run.status in ("waiting", "ready", "running"), (run.status, run.error)
        for ask in run.asks:
            if ask.open:
                truthfully(desk, ask, lines(folder / "did"))
        place_at(url).lapse(run.id)
        at = next(deaths, None)
        died += not door.visit(url, folder, run.id, dies=f"at {at}" if at else "")
    return died


@pytest.mark.soak
def test_killed_anywhere_over_and_over_each_call_happens_once(
    door: Door, place: Place, desk: Desk, tmp_path: Path
):
    chance, died = random.Random(9), 0
    for trial in range(15):
        folder = tmp_path / str(trial)
        folder.mkdir()
        deaths = (int(10 ** chance.uniform(3, 5.2)) for _ in range(6))
        died += lived_through(door, desk, place.url, folder, deaths)
        assert sorted(lines(folder / "did")) == ["anna", "ben", "cleo", "dora"]
    assert died > 30
