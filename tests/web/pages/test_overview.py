"""The overview: the figures on it are those of Python and of the API."""

from __future__ import annotations

from sayso import Desk
from sayso.insight.metrics import measure
from sayso.testing import FakeClock
from sayso.web.pages.overview import figures_of


def test_each_figure_says_what_python_says(desk: Desk, clock: FakeClock) -> None:
    for number in range(4):
        ask = desk.open("pay", {"n": number})
        clock.advance("90s")
        desk.edit(ask, {"n": 9}) if number == 0 else desk.approve(ask)
    desk.reject(desk.open("pay"))

    found = desk.metrics(days=7)
    shown = {one.label: one.value for one in figures_of(measure(desk.store, days=7), "7 days")}
    assert shown["Approved"] == f"{found['approval_rate']:.0%}" == "80%"
    assert shown["Edited first"] == f"{found['edit_rate']:.0%}" == "25%"
    assert shown["Average time to decide"] == "1 min 12 s"
    assert shown["Ran without asking"] == f"{found['autonomous_rate']:.0%}" == "0%"


def test_figures_without_anything_to_measure_say_so(desk: Desk) -> None:
    for figure in figures_of(measure(desk.store, days=7), "7 days"):
        assert (figure.value, figure.change) == ("-", "")
        assert "nothing to measure" in figure.more


def test_a_change_is_against_the_time_before(desk: Desk, clock: FakeClock) -> None:
    desk.reject(desk.open("pay"))
    desk.approve(desk.open("pay"))
    clock.advance("7d")
    desk.approve(desk.open("pay"))

    first = figures_of(measure(desk.store, days=7), "7 days")[0]
    assert (first.value, first.change) == ("100%", "+50.0 pts")
