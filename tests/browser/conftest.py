"""One browser for all tests of this folder, one server for each module, windows for each test."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.browser.chrome import Chrome
from tests.browser.office import Office
from tests.browser.panes import Panes
from tests.browser.window import Window
from tests.quick import quick
from tests.web.house import House, serving

__all__ = ["quick"]

HERE = Path(__file__).parent
PICTURES = HERE.parents[1] / "build" / "browser"
_chrome = Chrome()
_failed = pytest.StashKey[bool]()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Quit before a test of another folder: playwright's loop would be in the way of its own."""
    if nextitem is None or HERE not in nextitem.path.parents:
        _chrome.quit()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Remember whether a test failed, so that its windows are photographed."""
    report = yield
    item.stash[_failed] = item.stash.get(_failed, False) or report.failed
    return report


@pytest.fixture
def panes() -> Panes:
    return _chrome.panes()


Opener = Callable[..., Window]


@pytest.fixture
def window(request: pytest.FixtureRequest, panes: Panes) -> Iterator[Opener]:
    """Open windows at an address. None of them may complain; if the test fails, see build/browser."""
    windows: list[Window] = []

    def opened(url: str, **given: Any) -> Window:
        windows.append(Window(panes, url, **given))
        return windows[-1]

    yield opened
    failed = request.node.stash.get(_failed, False)
    for number, one in enumerate(windows):
        if failed and not one.page.is_closed():
            name = request.node.name.replace(os.sep, "-")[:120]
            one.picture(PICTURES / f"{name}-{number}.png")
    complaints = [said for one in windows for said in one.close(again=not failed)]
    assert not complaints, complaints


# --- servers -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clock() -> FakeClock:
    """The time of the desk, which stands still until a test moves it on."""
    return FakeClock()


def _held() -> socket.socket:
    # As TCP, so that the event loop sends an answer at once and does not wait for more of it.
    held = socket.socket(proto=socket.IPPROTO_TCP)
    held.bind(("127.0.0.1", 0))
    held.listen(64)
    return held


@pytest.fixture(scope="session")
def solo_port() -> Iterator[socket.socket]:
    """One address for the servers of all modules: what a window has loaded from it stays good."""
    with _held() as held:
        yield held


@pytest.fixture(scope="session")
def team_port() -> Iterator[socket.socket]:
    """Another one, for desks with people."""
    with _held() as held:
        yield held


@pytest.fixture(scope="module")
def solo_house(
    tmp_path_factory: pytest.TempPathFactory, clock: FakeClock, solo_port: socket.socket
) -> Iterator[House]:
    """A desk of whoever sits at this machine."""
    file = tmp_path_factory.mktemp("solo") / "desk.db"
    with (
        Desk(f"sqlite:///{file}", clock=clock, account="sam@till") as desk,
        serving(desk, solo_port) as house,
    ):
        yield house


@pytest.fixture(scope="module")
def team_house(
    tmp_path_factory: pytest.TempPathFactory, clock: FakeClock, team_port: socket.socket
) -> Iterator[House]:
    """A desk with people: anna and ada are senior, ada is in billing, ben is neither."""
    file = tmp_path_factory.mktemp("team") / "desk.db"
    with Desk(f"sqlite:///{file}", clock=clock, account="sam@till") as desk:
        desk.people.add("root", roles=["admin"])
        with serving(desk, team_port) as house:
            house.person("anna", "senior")
            house.person("ada", "senior", teams=["billing"])
            house.person("ben")
            yield house


@pytest.fixture
def solo(solo_house: House, clock: FakeClock, window: Opener) -> Office:
    """The desk of one person, with an agent that only this test has."""
    return _settled(Office(solo_house, clock, window))


@pytest.fixture
def team(team_house: House, clock: FakeClock, window: Opener) -> Office:
    """The desk with people, with an agent that only this test has."""
    return _settled(Office(team_house, clock, window))


def _settled(office: Office) -> Office:
    """What other tests decided counts by now, so that nobody can take it back here."""
    office.later()
    return office
