"""Policies that cannot be in force: each is refused with file, line and what to do."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from sayso import Desk
from sayso.errors import BadPolicy, Denied
from sayso.testing import FakeClock
from tests.places import Place

GOOD = '[[rules]]\nname = "refunds"\ntool = "refund"\neffect = "ask"\nneeds = ["1 senior"]\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "law.toml"


def refused(file: Path, text: str) -> str:
    """What a desk says that is opened under this policy; it does nothing under it."""
    file.write_text(text)
    place = Place("sqlite", f"sqlite:///{file.parent}/desk.db")
    with Desk(place.url, policy=file) as desk:
        desk.people.add("anna", roles=["senior", "lead"])
        with pytest.raises(BadPolicy) as error:
            desk.open("refund", {"amount": 1})
    assert place.count("asks") == 0
    assert error.value.file == str(file)
    return str(error.value).removeprefix(f"{file}:")


@pytest.mark.parametrize(
    ("more", "place", "word"),
    [
        ('why = "unfinished\n', "6:18: ", ""),
        ("\n[groups]\nsecurity = [\n  'anna',\n", "9:9: ", "something before is not closed"),
        ('when = "args.amount >"\n', "6:22: ", "The condition ends too early."),
        ("[groups]\nsecurity = []\n", "7:12: ", "Nobody is in the group security."),
        ("[groups]\nsecurity = ['zoe', 'yan']\n", "", "group security: Nobody in it is on this"),
        ("escalate = [{ after = '1h', to = ['senior'] }]\n", "6:34: ", "goes round in a circle."),
        ("within = 0\n", "6:10: ", '"15m"'),
        ("within = 2020-01-01T00:00:00Z\n", "6:10: ", "not a span of time"),
    ],
)
def test_under_a_policy_that_is_wrong_a_desk_does_nothing(
    file: Path, more: str, place: str, word: str
) -> None:
    said = refused(file, GOOD + more)

    assert said.startswith(place)
    assert word in said


@pytest.mark.parametrize(
    "broken",
    [
        "[[rules]\n",
        GOOD + 'when = "amount > 1"\n',
        GOOD + "[groups]\nsecurity = []\n",
        GOOD + "escalate = [{ after = '1h', to = ['senior'] }]\n",
        GOOD + "within = 0\n",
        "\ufeff\0",
    ],
)
def test_a_policy_that_breaks_while_asks_are_open_leaves_the_one_before_in_force(
    place: Place,
    clock: FakeClock,
    file: Path,
    caplog: pytest.LogCaptureFixture,
    broken: str,
) -> None:
    file.write_text(GOOD + '[[rules]]\nname = "no"\ntool = "wipe"\neffect = "deny"\n')
    with Desk(place.url, clock=clock, policy=file) as desk:
        desk.law.own._settle = 0
        ask = desk.open("refund", {"amount": 1})
        before = desk.policies.in_force

        file.write_text(broken)

        with pytest.raises(Denied):
            desk.open("wipe", {})
        assert desk.policies.in_force == before
        assert desk.policy.rules[-1].name == "no"
        *_, record = [each for each in caplog.records if each.name == "sayso.policy"]
        assert record.levelno == logging.ERROR
        assert str(file) in record.getMessage()
        assert desk.approve(ask).decision
        assert desk.begin(ask).args == {"amount": 1}


def test_a_team_does_not_go_by_what_its_file_has_become(
    place: Place, clock: FakeClock, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file.write_text(GOOD + '[[rules]]\nname = "no"\ntool = "wipe"\neffect = "deny"\n')
    with Desk(place.url, clock=clock, policy=file) as desk:
        desk.people.add("anna", roles=["senior"])
        ask = desk.open("refund", {"amount": 1})
        caplog.clear()

        for text in (GOOD.replace("1 senior", "7 senior"), "[[rules]\n", GOOD):
            file.write_text(text)
            with pytest.raises(Denied):
                desk.open("wipe", {})
        assert desk.approve(ask, by="anna").decision
        assert caplog.records == []
