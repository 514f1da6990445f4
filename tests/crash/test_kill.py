"""kill -9 at every statement: afterwards the whole is there, or nothing of it.

A process dies before the first statement it sends to the database, and for
n = 1, 2, ... one dies right after the n-th, until the operation gets through.
Before the next statement everything is as it was after the last one, and so it
is after one that only looks; the soak makes sure of that. After each death a
fresh desk looks at what is left.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.errors import AlreadySpent, NotApproved
from sayso.policy.reading import read
from tests.places import Place

ROOT = Path(__file__).resolve().parents[2]
MOST = 120  # statements; no operation takes nearly as many


class Mortal:
    """Sends orders to the process whose children die."""

    def __init__(self, moments: Sequence[str]) -> None:
        self.moments = moments  # at which they die: before a statement, or after it
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.mortal"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def everywhere(self) -> bool:
        """Whether they also die where nothing can have changed."""
        return len(self.moments) > 1

    def order(self, **order: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**order, "all": self.everywhere}) + "\n")
        self._process.stdin.flush()
        ending: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert ending["killed"] or ending["status"] == 0, "the child failed in another way"
        return ending

    def dismiss(self) -> None:
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(["after"], id="after"),
        pytest.param(["before", "after"], id="around", marks=pytest.mark.soak),
    ],
)
def mortal(request: pytest.FixtureRequest) -> Iterator[Mortal]:
    mortal = Mortal(request.param)
    yield mortal
    mortal.dismiss()


@dataclass(frozen=True)
class Death:
    """What is known after one child ended: how far it was to get, and what it reported."""

    number: int
    when: str
    killed: bool
    reported: Any


Prepare = Callable[[int], dict[str, Any]]
Check = Callable[[dict[str, Any], Death], bool]


def die_everywhere(mortal: Mortal, place: Place, work: str, prepare: Prepare, check: Check) -> None:
    """Kill at every place. `check` says whether the change is there, and that it is whole."""
    there: list[bool] = []
    through = False
    number = 0
    while not through:
        number += 1
        assert number < MOST, f"{work} never got through"
        for when in ("before", "after") if number == 1 else mortal.moments:
            order = {"work": work, "url": place.url, "number": number, "when": when}
            order |= prepare(number)
            ending = mortal.order(**order)
            death = Death(number, when, ending["killed"], ending["reported"])
            written = check(order, death)
            assert written or ending["reported"] is None, f"reported and lost: {death}"
            there.append(written)
            through = not ending["killed"]
            with Desk(place.url) as fresh:
                report = fresh.verify()
                assert report.problems == (), (death, report.problems)
    assert number > 1, "nothing was ever killed: the statements are not counted"
    assert there == sorted(there), "once written, a later death cannot undo it"
    assert there[0] is False
    assert there[-1] is True


def test_open_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    live.inbox()

    def check(order: dict[str, Any], death: Death) -> bool:
        found = live.store.find_key(order["key"])
        assert death.reported in (None, found)
        again = live.open("pay", {"amount": 40}, key=order["key"])
        assert found in (None, again.id)
        assert [event.kind for event in live.history(again)] == ["ask.opened"]
        return found is not None

    counter = iter(range(1000))
    die_everywhere(mortal, place, "open", lambda _: {"key": f"k{next(counter)}"}, check)


def test_an_ask_and_its_files_are_there_or_neither(
    live: Desk, place: Place, mortal: Mortal
) -> None:
    live.inbox()

    def check(order: dict[str, Any], _death: Death) -> bool:
        found = live.store.find_key(order["key"])
        kept = {row[0] for row in place.sql("select ask from ask_files")}
        if found is None:
            assert place.count("ask_files") == place.count("files") == live.inbox().count
            return False
        assert found in kept
        assert live.file(found, 1) == order["key"].encode()
        return True

    counter = iter(range(1000))
    prepare = lambda _: {"key": f"k{next(counter)}"}  # noqa: E731
    die_everywhere(mortal, place, "open with files", prepare, check)


def on_an_ask(state: Callable[[], Ask]) -> Prepare:
    return lambda _: {"ask": state().id}


def test_a_decision_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    def check(order: dict[str, Any], death: Death) -> bool:
        ask = live.get(order["ask"])
        assert (ask.status, len(ask.votes)) in (("open", 0), ("decided", 1))
        if ask.open:
            live.approve(ask, note="yes")
            return False
        assert ask.decision
        assert ask.decision.note == "yes"
        return True

    prepare = on_an_ask(lambda: live.open("pay", {"amount": 40}))
    die_everywhere(mortal, place, "approve", prepare, check)


def test_an_edit_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    """The new version and the decision on it are one commit."""

    def check(order: dict[str, Any], death: Death) -> bool:
        ask = live.get(order["ask"])
        assert (ask.status, ask.version, ask.args["amount"]) in (
            ("open", 1, 40),
            ("decided", 2, 30),
        )
        return not ask.open

    prepare = on_an_ask(lambda: live.open("pay", {"amount": 40}))
    die_everywhere(mortal, place, "edit", prepare, check)


def test_a_decision_that_settles_is_whole_or_not_there(
    live: Desk, place: Place, mortal: Mortal
) -> None:
    def check(order: dict[str, Any], death: Death) -> bool:
        ask = live.get(order["ask"])
        told = (ask.status, len(ask.votes), ask.pending is None, ask.settles_at is None)
        assert told in (("open", 0, True, True), ("settling", 1, False, False))
        with pytest.raises(NotApproved):
            live.begin(ask)
        return ask.settling

    counter = iter(range(1, 1000))
    prepare = on_an_ask(lambda: live.open("pay", {"amount": next(counter)}))
    die_everywhere(mortal, place, "hold", prepare, check)


def test_taking_back_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    def check(order: dict[str, Any], death: Death) -> bool:
        ask = live.get(order["ask"])
        assert (ask.status, len(ask.votes)) in (("settling", 1), ("open", 0))
        if ask.open:
            assert live.sweep(live.store.now() + timedelta(hours=2)).settled == ()
        return ask.open

    def prepare(_: int) -> dict[str, Any]:
        live.sweep(live.store.now() + timedelta(hours=2))  # whatever an earlier child left
        return {"ask": live.approve(live.open("pay", {"amount": 40}), hold="1h").id}

    die_everywhere(mortal, place, "take back", prepare, check)


def test_claiming_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    def check(order: dict[str, Any], death: Death) -> bool:
        ask = live.get(order["ask"])
        assert ask.assignee in (None, "sam")
        return ask.assignee is not None

    counter = iter(range(1000))
    prepare = on_an_ask(lambda: live.open("pay", {"amount": next(counter)}))
    die_everywhere(mortal, place, "claim", prepare, check)


def test_a_repeated_question_is_counted_once_or_not_at_all(
    live: Desk, place: Place, mortal: Mortal
) -> None:
    counter = iter(range(1000))

    def prepare(_: int) -> dict[str, Any]:
        amount = next(counter)
        return {"amount": amount, "ask": live.open("pay", {"amount": amount}).id}

    def check(order: dict[str, Any], death: Death) -> bool:
        ask = live.get(order["ask"])
        assert live.inbox().count == order["amount"] + 1, "it is one line in the list"
        assert death.reported in (None, ask.repeats)
        return ask.repeats == 1

    die_everywhere(mortal, place, "repeat", prepare, check)


TIMED = """
[tiers.high]
within = "10h"
remind = [0.5]

[tiers.critical]
needs = ["1 senior", "1 security"]
escalate = [{ after = "1h", to = "lead" }]
"""
DEEDS: dict[str, tuple[Any, timedelta, str]] = {
    "reminded": ("high", timedelta(hours=6), "ask.reminded"),
    "escalated": ("critical", timedelta(hours=2), "ask.escalated"),
    "settled": (None, timedelta(hours=2), "ask.decided"),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_the_clock_does_is_whole_or_not_there(
    live: Desk, place: Place, mortal: Mortal, deed: str
) -> None:
    """Whoever sweeps next does what is left, and does nothing twice."""
    risk, later, kind = DEEDS[deed]
    watch = Desk(place.url, agent="shop", account="sam@till", policy=read(TIMED, source="law.toml"))
    counter = iter(range(1000))

    def prepare(_: int) -> dict[str, Any]:
        ask = watch.open("pay", {"amount": next(counter)}, risk=risk)
        if deed == "settled":
            watch.approve(ask, hold="1h")
        return {"ask": ask.id, "now": (live.store.now() + later).isoformat(), "deed": deed}

    def check(order: dict[str, Any], death: Death) -> bool:
        before = [event.kind for event in live.history(order["ask"])].count(kind)
        live.sweep(live.store.now() + later)
        after = [event.kind for event in live.history(order["ask"])].count(kind)
        assert (before, after) in ((0, 1), (1, 1))
        return before == 1

    with watch:
        die_everywhere(mortal, place, "clock", prepare, check)


def test_withdrawing_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    prepare = on_an_ask(lambda: live.open("pay", {"amount": 40}))

    die_everywhere(
        mortal, place, "withdraw", prepare, lambda order, _: not live.get(order["ask"]).open
    )


def test_a_spent_approval_is_never_spent_again(live: Desk, place: Place, mortal: Mortal) -> None:
    def check(order: dict[str, Any], death: Death) -> bool:
        effect = live.get(order["ask"]).effect
        if effect is None:
            assert live.begin(order["ask"]).attempt == 1
            return False
        assert (effect.status, effect.attempt) == ("intended", 1)
        assert death.reported in (None, effect.key)
        with pytest.raises(AlreadySpent):
            live.begin(order["ask"])
        return True

    prepare = on_an_ask(lambda: live.approve(live.open("pay", {"amount": 40})))
    die_everywhere(mortal, place, "begin", prepare, check)


def begun(live: Desk, limit: str = "10m") -> dict[str, Any]:
    ask = live.approve(live.open("pay", {"amount": 40}))
    call = live.begin(ask, limit=limit)
    names = ("tool", "args", "key", "attempt", "holder")
    return {"ask": ask.id, "call": {name: getattr(call, name) for name in names}}


def test_a_result_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    def check(order: dict[str, Any], death: Death) -> bool:
        effect = live.get(order["ask"]).effect
        assert effect is not None
        assert (effect.status, effect.result) in (("intended", None), ("done", "paid"))
        with pytest.raises(AlreadySpent):
            live.begin(order["ask"])
        return effect.status == "done"

    die_everywhere(mortal, place, "finish", lambda _: begun(live), check)


def test_a_doubt_and_the_unknown_effect_are_one(live: Desk, place: Place, mortal: Mortal) -> None:
    def prepare(_: int) -> dict[str, Any]:
        ask = begun(live, limit="1h")
        return {"ask": ask["ask"], "now": (live.store.now() + timedelta(hours=2)).isoformat()}

    def check(order: dict[str, Any], death: Death) -> bool:
        effect = live.get(order["ask"]).effect
        assert effect is not None
        doubts = [
            ask for ask in live.inbox(kind="doubt", limit=500) if ask.content.about == order["ask"]
        ]
        assert [doubt.id for doubt in doubts] == ([effect.doubt] if effect.doubt else [])
        assert (effect.status == "unknown") is bool(doubts)
        live.sweep(live.store.now() + timedelta(hours=2))  # so that the next child finds one only
        return bool(doubts)

    die_everywhere(mortal, place, "doubt", prepare, check)


def test_erasing_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    def check(order: dict[str, Any], death: Death) -> bool:
        events = live.history(order["ask"])
        blank = [event.text is None for event in events]
        assert blank in ([False, False], [True, True, False])
        return len(events) == 3

    prepare = on_an_ask(lambda: live.reject(live.open("pay", {"amount": 40})))
    die_everywhere(mortal, place, "erase", prepare, check)


def test_people_are_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    counter = iter(range(1000))

    def check(order: dict[str, Any], death: Death) -> bool:
        return order["name"] in live.store.roster().people

    live.inbox()
    die_everywhere(mortal, place, "people", lambda _: {"name": f"p{next(counter)}"}, check)


def test_a_seal_is_whole_or_not_there(live: Desk, place: Place, mortal: Mortal) -> None:
    counter = iter(range(1, 1000))

    def prepare(_: int) -> dict[str, Any]:
        live.open("pay", {"amount": next(counter)})
        return {"heads": live.store.head("seals").seq}

    def check(order: dict[str, Any], death: Death) -> bool:
        if death.reported is not None:
            assert live.verify(seal=death.reported)
        return bool(live.store.head("seals").seq == order["heads"] + 1)

    die_everywhere(mortal, place, "seal", prepare, check)


STATEMENTS = 300  # of all migrations together, and more to come


def test_a_new_file_is_usable_wherever_its_maker_died(tmp_path: Path, mortal: Mortal) -> None:
    through = False
    number = 0
    while not through and number < STATEMENTS:
        number += 1 if mortal.everywhere or not number else 9
        # Before a statement the file is as it was after the last one.
        url = f"sqlite:///{tmp_path}/{number}.db"
        order = {"work": "open", "url": url, "number": number, "when": "after", "key": "k"}
        ending = mortal.order(**order)
        through = not ending["killed"]

        with Desk(url) as desk:
            found = desk.store.find_key("k")
            assert ending["reported"] in (None, found)
            assert desk.open("pay", {"amount": 40}).open
            assert desk.verify()
    assert 5 < number < STATEMENTS
