"""Places that a host names: found again by name, on any thread, in any order, however often."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import Desk, Running
from sayso.errors import Misuse, StepFailed
from tests.places import Place
from tests.runs.people import RAN, answered, ask_of, begun, carried_on, pay, rejected, titles


def test_a_part_that_runs_again_in_another_order_does_nothing_twice(desk: Desk):
    order = [["a", "b"], ["b", "a"], ["b", "a"]]

    def flow(run: Running) -> Any:
        seats = run.seats()
        came = {}
        for name in order.pop(0):
            with seats.at(f"node {name}"):
                came[name] = [sayso.effect(pay, ord(name)), sayso.question(f"Is {name} well?")]
        return came

    run = begun(desk, flow)
    answered(desk, run, "yes a")
    carried_on(desk, run)
    answered(desk, run, "yes b")
    carried_on(desk, run)
    assert RAN == [97, 98]
    assert run.output == {"a": ["paid 97", "yes a"], "b": ["paid 98", "yes b"]}


def test_parts_ask_side_by_side_on_threads_of_the_host(desk: Desk):
    def flow(run: Running) -> Any:
        seats = run.seats()

        def part(name: str) -> str:
            with seats.at(name):
                return f"{name}: {sayso.question(f'{name}?')}"

        with ThreadPoolExecutor(3) as pool:
            parts = [pool.submit(part, name) for name in ("x", "y", "z")]
        return [part.result() for part in parts]

    run = begun(desk, flow)
    assert sorted(titles(run)) == ["x?", "y?", "z?"]
    for ask in run.asks:
        desk.respond(ask, ask.title.upper())
    carried_on(desk, run)
    assert run.output == ["x: X?", "y: Y?", "z: Z?"]


def test_a_host_that_swallows_the_pause_goes_no_further(desk: Desk):
    def flow(run: Running) -> Any:
        seats = run.seats()
        for name in ("first", "second"):
            with contextlib.suppress(BaseException), seats.at(name):
                sayso.effect(pay, 1 if sayso.question(f"{name}?") else 0)
        seats.check_paused()
        RAN.append("unapproved")
        return "finished"

    run = begun(desk, flow)
    assert run.status == "waiting"
    assert RAN == []
    for ask in run.asks:
        desk.respond(ask, "yes")
    carried_on(desk, run)
    assert (run.output, RAN) == ("finished", [1, 1, "unapproved"])


def test_a_part_that_is_gone_is_not_missed_but_a_question_nobody_answered_is(desk: Desk):
    parts = [["old", "asks"], ["asks"], ["asks"]]

    def flow(run: Running) -> Any:
        seats = run.seats()
        for name in parts.pop(0):
            with seats.at(name):
                sayso.effect(pay, 7)
                if name == "asks":
                    sayso.question("One?") and sayso.question("Two?")
        return "done"

    run = begun(desk, flow)
    answered(desk, run, "1")
    carried_on(desk, run)
    assert (sorted(titles(run)), run.status) == (["One?", "Two?"], "waiting")
    desk.respond(next(ask for ask in run.asks if ask.title == "Two?"), "2")
    parts[:] = [[]]
    carried_on(desk, run)
    assert run.status == "done", "both were answered, and whoever no longer asks need not"


def test_a_finished_run_with_an_open_question_in_a_part_is_parked(desk: Desk):
    parts = [["one", "two"], ["one"]]

    def flow(run: Running) -> Any:
        seats = run.seats()
        for name in parts.pop(0):
            with contextlib.suppress(BaseException), seats.at(name):
                sayso.question(f"{name}?")
        return "done"

    run = begun(desk, flow)
    first = next(ask for ask in run.asks if ask.title == "one?")
    desk.respond(first, "yes")
    carried_on(desk, run)
    assert run.status == "parked"


def test_one_place_cannot_be_taken_twice_at_a_time(desk: Desk):
    def flow(run: Running) -> Any:
        seats, taken, done = run.seats(), threading.Event(), threading.Event()

        def hold() -> None:
            with seats.at("node"):
                taken.set()
                done.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        taken.wait(30)
        try:
            with pytest.raises(Misuse, match="same time"), seats.at("node"):
                RAN.append("in")
        finally:
            done.set()
            thread.join()
        with seats.at("node"):
            return "free again"

    assert begun(desk, flow).output == "free again"
    assert RAN == []


def test_names_that_look_alike_are_different_places(desk: Desk):
    def flow(run: Running) -> Any:
        seats = run.seats()
        came: list[Any] = []
        for name in ("a.b", "a b", "a?b", "", "x" * 500, "x" * 501, "ä"):
            with seats.at(name):
                came.append(sayso.effect(pay, len(came)))
        return came

    assert begun(desk, flow).output == [f"paid {number}" for number in range(7)]


def test_a_proposal_comes_back_as_it_was_decided(desk: Desk):
    def flow(run: Running) -> Any:
        first = run.later.propose("mail", {"to": "anna"}, why="She asked")
        second = run.propose("mail", {"to": "ben"}, without=("respond",), hears_end=True)
        return [
            (ask.decision.verdict, ask.args, ask.decision.end) for ask in (first.result(), second)
        ]

    run = begun(desk, flow)
    one, two = sorted(run.asks, key=lambda ask: str(ask.args["to"]))
    assert "respond" in one.content.allow
    assert "respond" not in two.content.allow
    desk.edit(one, {"to": "anna@corp.com"})
    desk.reject(two, "no", end=True)
    carried_on(desk, run)
    assert run.output == [["edit", {"to": "anna@corp.com"}, False], ["reject", {"to": "ben"}, True]]


def test_a_proposal_rejected_for_good_ends_the_run_unless_its_host_wants_to_hear_it(desk: Desk):
    def flow(run: Running) -> Any:
        run.propose("mail", {"to": "ben"})
        RAN.append("went on")
        return "sent"

    run = begun(desk, flow)
    rejected(desk, run, end=True)
    assert (run.status, RAN) == ("cancelled", [])


def test_a_part_is_found_by_where_its_verb_is_used_and_begins_anew_when_it_runs_again(desk: Desk):
    def flow(run: Running) -> Any:
        seats, at = run.seats(), {"place": ("a", 1)}
        came = []
        with seats.by(lambda: at["place"]):
            for place in (("a", 1), ("b", 1), ("a", 2)):
                at["place"] = place
                came.append(sayso.effect(pay, ord(place[0])))
            at["place"] = ("a", 2)
            came.append(sayso.question("And?"))
        return came

    run = begun(desk, flow)
    answered(desk, run, "so")
    assert (run.output, RAN) == (["paid 97", "paid 98", "paid 97", "so"], [97, 98])


def test_a_pause_is_known_by_the_part_that_it_is_in(desk: Desk):
    def flow(run: Running) -> Any:
        seats = run.seats()
        with contextlib.suppress(BaseException), seats.by(lambda: ("asks", 1)):
            sayso.question("And?")
        seats.check_paused(lambda name: name != "asks")
        RAN.append("not there")
        seats.check_paused(lambda name: name == "asks")
        return "done"

    run = begun(desk, flow)
    assert (run.status, RAN) == ("waiting", ["not there"])


def test_a_run_waits_for_what_its_parts_asked_though_none_of_them_runs_now(desk: Desk):
    parts = [True, False, False]

    def flow(run: Running) -> Any:
        seats = run.seats()
        if parts.pop(0):
            for name in ("one", "two"):
                with contextlib.suppress(BaseException), seats.at(name):
                    sayso.question(f"{name}?")
        run.step(seats.check_answered)
        return "done"

    run = begun(desk, flow)
    for title in ("two?", "one?"):
        assert run.status == "waiting"
        answered(desk, run, "yes", title)
    assert run.output == "done"


def test_a_proposal_that_the_policy_denies_is_refused_whatever_the_policy_says_later(
    place: Place, tmp_path: Path
):
    file = tmp_path / "policy.toml"
    file.write_text('[[rules]]\nname = "no mail"\ntool = "mail"\neffect = "deny"\n')
    with Desk(place.url, agent="shop", account="sam@till", policy=file) as desk:

        @desk.workflow
        def flow(run: Running) -> Any:
            came = []
            for propose in (run.propose, lambda *call: run.later.propose(*call).result()):
                try:
                    came.append(propose("mail", {"to": "ben"}))
                except StepFailed as failure:
                    came.append(failure.kind)
            came.append(run.question("And?", facts={"so": "far"}))
            return came

        run = begun(desk, flow)
        assert ask_of(run).content.facts == '[["so","far"]]'
        file.write_text("")
        answered(desk, run, "well")
        assert run.output == ["Denied", "Denied", "well"]
