"""The same agents with a new process after every pause, and one that is killed in a call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk, Run
from tests.adapters.smolagents.office import DIES, FOLDER, process
from tests.crash.shop import noted
from tests.places import Place, place_at


class Office:
    """People at a desk, and processes that come and go."""

    def __init__(self, url: str, folder: Path) -> None:
        self.desk = Desk(url, account="sam@till")
        self.folder = folder
        self._url = url

    def begin(self, agent: str, dies: str = "") -> Run:
        ended = process(self._url, agent, **{FOLDER: str(self.folder), DIES: dies})
        assert ended == (-9 if dies else 0)
        return self.desk.runs()[0]

    def work(self, dies: str = "") -> None:
        ended = process(self._url, **{FOLDER: str(self.folder), DIES: dies})
        assert ended == (-9 if dies else 0)

    def noted(self, name: str) -> list[str]:
        return noted(self.folder, name)


@pytest.fixture
def office(place: Place, tmp_path: Path) -> Iterator[Office]:
    office = Office(place.url, tmp_path)
    yield office
    office.desk.close()


@pytest.mark.parametrize("agent", ["caller", "coder"])
def test_every_pause_is_gone_on_with_by_a_process_that_knows_nothing_of_the_one_before(
    office: Office, agent: str
) -> None:
    desk, run = office.desk, office.begin(agent)

    (plan,) = run.state.pending
    assert plan.args["steps"] == ["Look tea up", "Write to anna and ben", "Answer"]
    assert (office.noted("looked"), office.noted("thought")) == ([], ["0"])
    desk.edit(plan, {"steps": ["Look tea up", "Write to both", "Answer"]})
    office.work()

    first = ["anna", "ben"] if agent == "caller" else ["anna"]
    assert sorted(str(ask.args["to"]) for ask in run.state.pending) == first
    anna = next(ask for ask in run.state.pending if ask.args["to"] == "anna")
    desk.edit(anna, {"text": "Hello"})
    office.work()
    assert office.noted("sent") == ["anna: Hello"]
    (ben,) = run.state.pending
    desk.reject(ben, "He left")
    office.work()
    lucky = ""
    if agent == "coder":
        (carl,) = run.state.pending
        desk.approve(carl)
        office.work()
        lucky = carl.args["text"].rpartition(" ")[2]
    (question,) = run.state.pending
    assert question.title == "Good enough?"
    desk.respond(question, "very")
    office.work()

    assert run.status == "done", run.error
    assert "very" in run.output
    assert len(office.noted("thought")) == 5, "a plan and four turns, each thought of once"
    if agent == "caller":
        assert office.noted("sent") == ["anna: Hello"]
        assert office.noted("looked") == ["tea"]
        assert "He left" in run.output
    else:
        assert [line.partition(":")[0] for line in office.noted("sent")] == ["anna", "carl"]
        assert office.noted("looked") == ["tea", *(f"finally {w}" for w in ("anna", "ben", "carl"))]
        assert run.output.endswith(lucky), "what chance said first stands"
    assert desk.verify()


def test_a_worker_killed_between_two_tools_of_a_block_makes_no_call_twice(office: Office) -> None:
    desk, run = office.desk, office.begin("coder")
    desk.approve(run.state.pending[0])
    office.work()
    desk.approve(run.state.pending[0])
    office.work(dies="between")
    assert (len(office.noted("sent")), office.noted("looked")) == (1, ["tea"])
    place_at(desk.store.url).lapse(run.id)
    office.work()
    for doubt in [ask for ask in run.state.pending if ask.kind == "doubt"]:
        desk.respond(doubt, "sent to anna")  # it died before the result was written
        office.work()
    assert (len(office.noted("sent")), office.noted("looked")) == (1, ["tea", "finally anna"])
    (ben,) = run.state.pending
    assert (ben.kind, ben.args["to"]) == ("action", "ben")
