"""The tour of a demo in a browser: it follows along, moves while runs move, and can be put away."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

import sayso
from sayso import Desk
from sayso.web.stops import Chapter, Stop, Tour
from tests.browser.office import Office
from tests.browser.test_everybody import looked_at
from tests.browser.window import Window
from tests.web.house import House, serving

TOUR = Tour(
    "A place to see",
    "It is small.",
    (
        Stop("first", "Say yes", "It is only a yes."),
        Stop("second", "Say it again", "And watch what comes of it."),
    ),
    (Chapter("More", (Stop("third", "Another", "As good."),)),),
    (("sayso top --desk demo.db", "Live."),),
)


@pytest.fixture
def going() -> threading.Semaphore:
    """What the work waits for: one for each step."""
    return threading.Semaphore(0)


@pytest.fixture
def house(tmp_path: Path, going: threading.Semaphore, solo_port: socket.socket) -> Iterator[House]:
    """A desk with three runs that wait, and a worker."""
    with Desk(f"sqlite:///{tmp_path}/desk.db", account="sam@till") as desk:

        def one_step(number: int) -> int:
            going.acquire(timeout=30)
            return number

        @desk.workflow
        def work(run: sayso.Running) -> str:
            if not run.confirm("May I?"):
                return "Nothing was done."
            for number in range(4):
                run.progress(number / 4, f"{number} of 4")
                run.step(one_step, number)
            return "All of it was done."

        for thread in ("first", "second", "third"):
            desk.start(work, thread=thread)
        desk.work(until="idle")
        desk.crew.start(1)
        try:
            with serving(desk, solo_port, tour=TOUR) as house:
                yield house
        finally:
            going.release(20)
            desk.crew.stop(20)


@pytest.fixture
def here(house: House, window: Callable[..., Window]) -> Window:
    return Office(house, None, window).window()


def approve(desk: Desk, thread: str) -> str:
    (ask,) = (ask for ask in desk.inbox() if ask.content.thread == thread)
    desk.approve(ask)
    return ask.id


def test_the_page_of_stops_moves_while_a_run_does(
    house: House, here: Window, going: threading.Semaphore
) -> None:
    here.visit("/tour")
    stop = here('[data-stop="1"]')
    expect(stop).to_contain_text("Waits for you")
    link = stop.locator("a")
    link.focus()

    approve(house.desk, "first")
    expect(stop.locator("progress")).to_be_visible()
    going.release(2)
    expect(stop).to_contain_text("50%")
    expect(here('[data-stop="1"] a')).to_be_focused()
    going.release(2)
    expect(stop).to_contain_text("All of it was done.")
    expect(here(".tour-seen")).to_contain_text("1 of 2 stops seen")


def test_what_stands_beside_an_ask_moves_with_its_run(
    house: House, here: Window, going: threading.Semaphore
) -> None:
    ask = approve(house.desk, "second")
    here.visit(f"/inbox/{ask}")
    run = here("#context .ctx-run")

    going.release(1)
    expect(run).to_contain_text("25%")
    going.release(3)
    expect(run).to_contain_text("Finished")
    expect(here("#context .ctx-run[data-moving]")).to_have_count(0)


def test_the_line_alone_leads_from_a_decision_to_the_next_stop(house: House, here: Window) -> None:
    here.visit("/inbox")
    here("#tour a").click()
    here.armed().verdict("approve").click()  # the page goes on to the next ask of the queue
    expect(here("#held form.undo")).to_be_visible()
    expect(here("#tour")).to_contain_text("And watch what comes of it.")
    (third,) = (ask for ask in house.desk.inbox() if ask.content.thread == "third")
    here(f'#queue .row[data-ask="{third.id}"] a.row-link').click()
    expect(here("#tour")).to_contain_text("Next on the tour: Say it again")
    here("#tour a").click()

    expect(here("#tour")).to_contain_text("And watch what comes of it.")


def test_times_beside_a_run_that_moves_are_in_the_zone_of_whoever_reads(
    house: House, going: threading.Semaphore, window: Callable[..., Window]
) -> None:
    ask = approve(house.desk, "second")
    here = Office(house, None, window).window(timezone_id="Asia/Tokyo")
    here.visit(f"/inbox/{ask}")
    going.release(1)
    expect(here("#context .ctx-run")).to_contain_text("25%")

    shown = here("#context .tl-at time").evaluate_all(
        """times => times.map((time) => [time.textContent, time.dateTime])"""
    )
    assert shown
    for text, moment in shown:
        there = datetime.fromisoformat(moment).astimezone(ZoneInfo("Asia/Tokyo"))
        assert text == there.strftime("%H:%M")


def test_the_tour_is_for_everybody(house: House, window: Callable[..., Window]) -> None:
    here = Office(house, None, window).window()
    wrong = {}
    for path in ("/tour", "/tour/1"):
        here.visit(path)
        wrong[path] = looked_at(here)

    assert wrong == {"/tour": [], "/tour/1": []}


def test_g_and_t_lead_to_the_tour(here: Window) -> None:
    here.visit("/inbox")
    here.page.keyboard.press("g")
    here.page.keyboard.press("t")

    expect(here('[data-stop="1"]')).to_be_visible()
    here.page.keyboard.press("g")
    here.page.keyboard.press("k")
    expect(here("main dl.keys")).to_be_visible()
