"""What sayso gives to the tests of others: a steered clock, a scripted reviewer, a fixture."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sayso import Answered, Desk, Feedback, Rejected, Running
from sayso.errors import BadValue, Misuse
from sayso.testing import FakeClock, ScriptedReviewer, scripted

# --- FakeClock ---


def test_a_fake_clock_stands_still_until_it_is_moved_and_tells_whoever_watches() -> None:
    start = datetime(2030, 5, 1, tzinfo=UTC)
    clock = FakeClock(start)
    moves: list[datetime] = []
    clock.watch(lambda: moves.append(clock.now()))

    assert clock.now() == clock.now() == start
    assert clock.advance("15m") == start + timedelta(minutes=15)
    assert clock.advance(30) == clock.now() == start + timedelta(minutes=15, seconds=30)
    assert clock.advance(timedelta(days=1)).tzinfo is UTC
    assert len(moves) == 3
    assert moves[-1] == clock.now()


@pytest.mark.parametrize("by", [0, -1, "later", timedelta(0)])
def test_time_does_not_go_backwards(by: float) -> None:
    with pytest.raises(BadValue):
        FakeClock().advance(by)


# --- the fixture ---


def test_a_gate_is_answered_by_rule(reviewer: ScriptedReviewer) -> None:
    reviewer.approve("refund")

    @Desk().gate
    def refund(order: int) -> str:
        return f"refunded {order}"

    assert refund(7) == "refunded 7"
    (ask,) = reviewer.seen
    assert (ask.tool, ask.args) == ("refund", {"order": 7})


def test_every_verdict_can_be_scripted(reviewer: ScriptedReviewer) -> None:
    desk = Desk()

    @desk.gate
    def pay(amount: int) -> int:
        return amount

    reviewer.edit("pay", {"amount": 1})
    assert pay(40) == 1
    reviewer.reject("pay", "too much", kind="harmful")
    with pytest.raises(Rejected, match="too much"):
        pay(40)
    reviewer.respond("pay", "ask anna")
    with pytest.raises(Answered, match="ask anna"):
        pay(40)


def test_a_script_can_end_a_run(reviewer: ScriptedReviewer) -> None:
    reviewer.reject("question", "Enough", end=True)
    desk = Desk()

    @desk.workflow
    def flow(run: Running) -> str:
        return f"went on with {run.question('Which?')}"

    run = desk.run(flow)

    assert run.status == "cancelled"
    assert "Enough" in str(run.error)


def test_the_verbs_are_answered_too(reviewer: ScriptedReviewer) -> None:
    desk = Desk()
    reviewer.approve("Go on?").approve("Which?", option="b").respond("How many?", 7)
    reviewer.reject("notice").edit("draft", "Dear Ben").approve("feedback")

    assert desk.confirm("Go on?")
    assert desk.choose("Which?", ["a", "b"]) == "b"
    assert desk.question("How many?", type=int) == 7
    assert desk.notice("It rains") == "ignore"
    assert desk.draft("Dear Anna") == "Dear Ben"
    assert desk.feedback({"n": 1}) == Feedback("good")


def test_the_rule_added_last_counts_first(reviewer: ScriptedReviewer) -> None:
    desk = Desk()
    reviewer.approve("*")
    reviewer.reject(lambda ask: ask.risk == "high")

    assert desk.confirm("Go on?")
    assert not desk.confirm("Go on?", risk="high")


def test_an_ask_without_a_rule_fails_the_test_and_says_which_rule_to_add(
    reviewer: ScriptedReviewer,
) -> None:
    reviewer.approve("refund")

    @Desk().gate
    def wire(amount: int) -> None:
        raise AssertionError("nobody approved this")

    with pytest.raises(Misuse, match=r"reviewer\.approve\('wire'\)"):
        wire(1_000_000)


def test_a_later_ask_is_answered_when_it_opens(reviewer: ScriptedReviewer) -> None:
    reviewer.respond("How many?", 7)

    assert Desk().later.question("How many?", type=int).result(timeout=5) == 7


def test_nothing_is_left_behind(
    reviewer: ScriptedReviewer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reviewer.approve()

    assert Desk().confirm("Go on?")

    assert list(tmp_path.iterdir()) == []


def test_a_desk_made_before_the_test_is_answered_as_well(tmp_path: Path) -> None:
    desk = Desk(f"sqlite:///{tmp_path}/real.db")

    with scripted() as script:
        script.approve()
        assert desk.confirm("Go on?")
    assert not (tmp_path / "real.db").exists()

    ask = desk.open("refund", {"n": 1})
    assert desk.get(ask.id).open, "after the block the real desk is back, and nobody answers"
    assert len(script.seen) == 1
    desk.close()


def test_a_script_goes_by_the_clock_it_is_given() -> None:
    clock = FakeClock()
    with scripted(clock=clock) as script:
        script.approve()
        clock.advance("1h")

        decision = Desk().confirm("Go on?")

    assert decision.at == clock.now()


def test_a_reviewer_can_sign_as_somebody() -> None:
    with scripted(ScriptedReviewer(by="anna")) as script:
        desk = Desk()
        desk.people.add("anna")
        script.approve()

        decision = desk.confirm("Go on?")

    assert decision.by.id == "anna"


CONFTEST = """
    from sayso.testing import FakeClock

    pytest_plugins = ["sayso.testing"]
"""
MODULE = """
    import sayso

    desk = sayso.Desk()

    @desk.gate
    def refund(order: int) -> str:
        return "paid"

    def test_paid(reviewer):
        reviewer.approve("refund")
        assert refund(7) == "paid"

    def test_forgotten(reviewer):
        refund(7)
"""


def test_the_fixture_works_in_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(textwrap.dedent(CONFTEST))
    (tmp_path / "test_shop.py").write_text(textwrap.dedent(MODULE))

    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-W", "error", "."),
            *("-p", "no:randomly", "-p", "no:asyncio"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "Add a rule" in done.stdout
