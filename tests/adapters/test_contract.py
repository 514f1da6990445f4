"""What every adapter must hold to, told once and played on every host, and on our own agent.

Each pause ends a process; the next one knows nothing but what is on disk. An adapter takes part by a
line in `STAGES` and a module in `tests/adapters/stages` (docs/howto/adapters.md says how).
"""

from __future__ import annotations

import fcntl
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sayso import Ask, Desk, Run
from sayso.errors import InvalidEdit
from tests.adapters.contract import STAGES, Stage, Theatre, pending, text_of
from tests.adapters.story import (
    AMOUNT,
    ANSWER,
    DAY,
    NEW,
    OLD,
    PLAN,
    QUESTION,
    REFUSAL,
    WISH,
)
from tests.crash.shop import noted
from tests.crash.visitors import Door, open_door
from tests.places import Place
from tests.together import until

PAYMENT = {"tool": "pay", "to": NEW, "amount": AMOUNT}
DOOR = "tests.adapters.contract"


@pytest.fixture(scope="module")
def doors() -> Iterator[tuple[Door, Door]]:
    with open_door(DOOR) as one, open_door(DOOR) as other:
        yield one, other


@pytest.fixture(params=STAGES, ids=lambda stage: stage.name)
def theatre(
    request: pytest.FixtureRequest, doors: tuple[Door, Door], sqlite: Place, tmp_path: Path
) -> Iterator[Theatre]:
    stage: Stage = request.param
    with Desk(sqlite.url, agent="shop", account="sam@till") as desk:
        yield Theatre(doors[0], desk, sqlite.url, tmp_path, stage)


def asked(run: Run, what: str) -> Ask:
    """Return the one ask about this tool, or of this kind."""
    (found,) = [ask for ask in run.asks if what in (ask.tool, ask.kind)]
    return found


def test_the_story_is_told_with_a_new_process_after_every_pause(theatre: Theatre) -> None:
    run = theatre.through(theatre.begin())

    assert run.status == "done", (run.status, run.error)
    assert ANSWER in str(run.output)
    check_journal(theatre, run)
    assert theatre.done == [PAYMENT], "once, as the person wanted it, and nothing else"
    check_prompts(theatre)


def check_journal(theatre: Theatre, run: Run) -> None:
    """What the desk knows of it afterwards: who was asked what, and what they said."""
    kinds = [event.kind for event in run.events]
    assert (kinds[0], kinds[-1], kinds.count("run.done")) == ("run.started", "run.done", 1)
    assert theatre.desk.verify()
    plan = [("plan", "edit")] * theatre.stage.plans
    said = [*plan, ("pay", "edit"), ("send", "reject"), ("question", "respond")]
    assert sorted(map(decided, run.asks)) == sorted(said), "nothing is asked twice"
    if theatre.stage.plans:
        steps = asked(run, "plan").args["steps"]
        assert [step if isinstance(step, str) else step["title"] for step in steps] == [*PLAN, WISH]
    payment = asked(run, "pay")
    assert payment.args == {"to": NEW, "amount": AMOUNT}
    assert payment.original == {"to": OLD, "amount": AMOUNT}, "what was replaced is kept"
    letter = asked(run, "send").decision
    assert letter is not None
    assert (letter.note, str(letter.by)) == (REFUSAL, "person:sam")
    assert asked(run, "question").title == QUESTION


def decided(ask: Ask) -> tuple[str, str]:
    """Return what an ask was about, and the verdict."""
    assert ask.decision is not None
    return (ask.tool or "") if ask.kind == "action" else ask.kind, ask.decision.verdict


def check_prompts(theatre: Theatre) -> None:
    """What the model was shown, turn by turn."""
    first, *_, last = [text_of(prompt) for prompt in theatre.prompts]
    turns = 4 if theatre.stage.plans else 3
    assert len(theatre.prompts) == turns, "no reply was asked for twice"
    assert WISH in last
    assert REFUSAL in last
    assert (DAY in last, DAY in first) == (True, False)
    assert NEW in last
    if theatre.stage.rewrites:
        assert OLD not in last, "no trace of what the person replaced"
    else:
        assert "sam changed this call of pay" in last, "what they replaced is said to be replaced"


def test_calls_of_one_turn_are_asked_about_together_where_the_host_can(theatre: Theatre) -> None:
    run = theatre.about_to_pay()

    waiting = [ask.tool for ask in pending(run)]

    assert waiting == (["pay", "send"] if theatre.stage.side_by_side else ["pay"])
    assert theatre.done == []


def test_an_edit_that_does_not_fit_is_refused_to_the_person_and_changes_nothing(
    theatre: Theatre,
) -> None:
    run = theatre.about_to_pay()
    payment, shown = pending(run)[0], len(theatre.prompts)

    for bad in ({"amount": "all of it"}, {"tool": "delete_everything"}, {"sudo": True}):
        with pytest.raises(InvalidEdit):
            theatre.desk.edit(payment, bad)
    theatre.go_on(run)

    assert (run.status, theatre.done, len(theatre.prompts)) == ("waiting", [], shown)
    assert theatre.through(run).status == "done"
    assert theatre.done == [PAYMENT]


def test_a_no_that_ends_it_is_followed_by_no_action_and_no_thought(theatre: Theatre) -> None:
    run = theatre.about_to_pay()
    shown = len(theatre.prompts)

    for ask in pending(run):
        theatre.desk.reject(ask, "Stop", end=True)
    theatre.go_on(run)

    assert run.status in ("cancelled", "done"), run.error
    assert (theatre.done, len(theatre.prompts)) == ([], shown)


def test_killed_right_after_the_action_it_asks_whether_it_happened_and_acts_no_second_time(
    theatre: Theatre,
) -> None:
    run = theatre.begin()
    killed = False
    while not killed:
        assert run.status == "waiting", "it got past the action alive"
        for ask in pending(run):
            theatre.decide(ask)
        killed = theatre.go_on(run, dies=(1, "after the effect")).killed
    assert theatre.done == [PAYMENT]

    theatre.go_on(run)
    assert [ask.kind for ask in pending(run)][:1] == ["doubt"]
    theatre.through(run)

    assert run.status == "done", (run.status, run.error)
    assert theatre.done == [PAYMENT], "E2: once"
    assert {ask.tool for ask in run.asks if ask.kind == "action"} == {"pay", "send"}
    assert len([ask for ask in run.asks if ask.kind == "action"]) == 2, "nor is it asked again"


def test_two_processes_that_go_on_at_once_act_once(
    theatre: Theatre, doors: tuple[Door, Door]
) -> None:
    run = theatre.about_to_pay()
    for ask in pending(run):
        theatre.decide(ask)

    gate = theatre.folder / "gate"
    with gate.open("w") as held, ThreadPoolExecutor(2) as pool:
        fcntl.flock(held, fcntl.LOCK_EX)
        given = (theatre.url, theatre.folder, "go on together", theatre.stage.name, run.id)
        visits = [pool.submit(door.visit, *given) for door in doors]
        until(lambda: len(noted(theatre.folder, "there")) == 2)
        fcntl.flock(held, fcntl.LOCK_UN)
        for visit in visits:
            visit.result(60)
    theatre.through(run)

    assert run.status == "done", (run.status, run.error)
    assert theatre.done == [PAYMENT], "E1: once"
    check_prompts(theatre)


def test_whoever_goes_on_with_what_is_over_changes_nothing(theatre: Theatre) -> None:
    run = theatre.through(theatre.begin())
    before = (len(run.events), theatre.done, theatre.prompts)

    theatre.go_on(run)

    assert (len(run.events), theatre.done, theatre.prompts) == before


@pytest.mark.soak
def test_whoever_dies_and_wherever_it_is_paid_once_in_the_end(theatre: Theatre) -> None:
    seed = random.SystemRandom().randrange(10**6)
    chance = random.Random(seed)
    for number in range(10):
        deaths = {
            visit: (chance.randint(1, 70), chance.choice(["before", "after"]))
            for visit in chance.sample(range(5), 2)
        }
        folder = theatre.folder / str(number)
        folder.mkdir()
        one = replace(theatre, folder=folder)

        run = one.through(one.begin(), deaths)

        told = f"seed {seed}: {deaths}, {run.status}, {run.error}"
        assert (run.status, one.done) == ("done", [PAYMENT]), told
        assert len([ask for ask in run.asks if ask.kind == "action"]) == 2, told
    assert theatre.desk.verify()
