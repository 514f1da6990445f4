"""kill -9 and freezing of whoever carries a run on: nothing is lost, nothing repeats in silence.

A worker dies or freezes at a named moment (see `tests.crash.runs_mortal`); then
this process, which is another one, works on, and answers what it is asked.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest

from sayso import Ask, Desk, Run
from sayso.errors import AskClosed, RunCancelled, RunOver, RunParked
from sayso.model.ask import Effect
from sayso.model.verdicts import Verdict
from sayso.runs.worker import ATTEMPTS
from sayso.store.contract import RunRow
from tests.crash.runs_mortal import Act, Child, Nursery, nursing
from tests.crash.shop import fragile, noted, order, order_billed, order_early, payments, shop, wrap
from tests.places import Place
from tests.together import until

KINDS = ["plain", "idempotent", "verify"]
TRIALS = pytest.mark.parametrize(
    "trials", [pytest.param(1, id="once"), pytest.param(15, id="many", marks=pytest.mark.soak)]
)


@pytest.fixture(scope="session")
def _nursery() -> Iterator[Nursery]:
    with nursing() as nursery:
        yield nursery


@pytest.fixture
def nursery(_nursery: Nursery) -> Iterator[Nursery]:
    yield _nursery
    _nursery.clear()


@pytest.fixture(scope="session")
def desk_in_cluster(cluster: str) -> Iterator[Desk]:
    """One for all tests: closing it takes longer than most of them."""
    with Desk(cluster, agent="shop", account="sam@till") as desk:
        yield shop(desk)


@pytest.fixture
def desk(place: Place, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """The desk of this process, which also has the code of the shop."""
    if place.dialect == "postgres":
        yield request.getfixturevalue("desk_in_cluster")
        return
    with Desk(place.url, agent="shop", account="sam@till") as desk:
        yield shop(desk)


class Shop:
    """Starts orders: each a run with a number and payments of its own."""

    def __init__(self, desk: Desk, place: Place, nursery: Nursery, folder: Path) -> None:
        self.desk, self.place, self.nursery, self.folder = desk, place, nursery, folder
        self._count = count(1)

    def begin(self, workflow: Any, kind: str | None = None) -> Order:
        """Start the next order; no worker has touched it yet."""
        number = next(self._count)
        args = (str(self.folder), number, *([] if kind is None else [kind]))
        return Order(self, self.desk.start(workflow, *args), number, kind)

    def approved(self, workflow: Any = order, kind: str = "plain") -> Order:
        """Start an order, carry it on until it asks for the payment, and approve that."""
        begun = self.begin(workflow, kind)
        self.desk.work(until="idle", only=begun.run.id)
        self.desk.approve(begun.ask(), note=f"yes {begun.number}")
        return begun


@dataclass(frozen=True)
class Order:
    """One order, its worker's misfortune, and what came of it."""

    shop: Shop
    run: Run
    number: int
    kind: str | None

    @property
    def desk(self) -> Desk:
        return self.shop.desk

    @property
    def effect(self) -> Effect:
        """What is known of the payment."""
        effect = self.ask().effect
        assert effect is not None
        return effect

    def ask(self, kind: str = "action") -> Ask:
        (found,) = [ask for ask in self.run.asks if ask.kind == kind]
        return found

    def paid(self) -> list[str]:
        return payments(self.shop.folder, self.number)

    def steps(self) -> list[str]:
        lines = [line.split() for line in noted(self.shop.folder, "steps")]
        return [name for number, name in lines if number == str(self.number)]

    def worker(self, moments: dict[str, Act], **more: Any) -> Child:
        """Start a worker for this order only. One that will freeze or be held has time to come that far."""
        if not {"die", "linger"}.issuperset(moments.values()):
            more.setdefault("lease", 1.5)
        url, folder = self.shop.place.url, self.shop.folder
        return self.shop.nursery.start(url, folder, moments, run=self.run.id, **more)

    def kill_at(self, moment: str) -> None:
        """Let a worker carry the order on until it dies, and its lease run out."""
        dying = self.worker({moment: "die"}, lease=30)  # a busy machine must not take it for silent
        assert dying.wait() == signal.SIGKILL, "it never came by"
        self.shop.place.lapse(self.run.id)

    def freeze_at(self, moment: str) -> Child:
        """Let a worker carry the order on until it freezes, and its lease run out.

        By its own clock it has time left: only the journal tells it that it came too late.
        """
        frozen = self.worker({moment: "freeze"}, lease=30)
        frozen.wait_frozen()
        self.shop.place.lapse(self.run.id)
        return frozen

    def take_over(self) -> str:
        """Carry the order on here, once nobody else does."""
        until(lambda: self.run.status != "running" or self.run.row.lapsed)
        self.desk.work(until="idle", only=self.run.id)
        return self.run.status

    def answer(self) -> list[Ask]:
        """Answer everything as somebody would who can see what happened; returns the doubts."""
        doubts = []
        for ask in self.run.state.pending:
            if ask.kind != "doubt":
                self.desk.approve(ask, note=f"yes {self.number}")
            elif self.paid():
                doubts.append(self.desk.respond(ask, f"paid {self.number}"))
            else:
                doubts.append(self.desk.approve(ask))
        return doubts

    def carry_through(self) -> list[Ask]:
        """Take over and answer until the order is over; returns the doubts there were."""
        doubts: list[Ask] = []
        for _ in range(5):
            if self.take_over() != "waiting":
                return doubts
            doubts += self.answer()
        raise AssertionError(f"it never came to an end: {self.run.state}")

    def check(self, *, again: Sequence[str] = ()) -> None:
        """Check what must hold however anybody died; only the steps `again` were begun twice."""
        paid = f"paid {self.number}"
        assert self.run.result(timeout=0) == ["pack", paid, "ship"]
        asked = self.ask()
        assert asked.decision is not None
        assert asked.decision.note == f"yes {self.number}", "the decision is the one that was made"
        assert (self.effect.status, self.effect.result) == ("done", paid)
        steps = self.steps()
        assert sorted(steps) == sorted([*set(steps), *again]), "a finished step ran again"
        assert len(set(self.paid())) == 1, "every try has the same key"


@pytest.fixture
def orders(desk: Desk, place: Place, nursery: Nursery, tmp_path: Path) -> Iterator[Shop]:
    """Whatever becomes of them, the journal is whole in the end."""
    yield Shop(desk, place, nursery, tmp_path)
    assert desk.verify()


def woken(frozen: Child) -> None:
    """Let a worker that froze go on to its end."""
    frozen.thaw()
    assert frozen.wait() == 0


def let_go(worker: Child, moment: str, *, told: bool = False) -> None:
    """Let a worker that is held go on to its end, perhaps told to come to one."""
    if told:
        worker.signal(signal.SIGTERM)
    worker.go_on(moment)
    assert worker.wait() == 0


# --- kill -9 ---

# Where the worker dies: whether the intent is durable then, and whether the payment happened.
AROUND_THE_EFFECT = {
    "after the claim": (False, False),
    "before effect.intended": (False, False),
    "after effect.intended": (True, False),
    "in the tool": (True, False),
    "after the effect": (True, True),
    "before the result is noted": (True, True),
    "before effect.done": (True, True),
}


NESTED = ("after effect.intended", "after the effect", "before effect.done")


@TRIALS
@pytest.mark.parametrize(
    ("workflow", "moment"),
    [*product([order], AROUND_THE_EFFECT), *product([order_billed], NESTED)],
)
def test_a_death_around_the_effect_is_never_a_second_payment_in_silence(
    orders: Shop, workflow: Any, moment: str, trials: int
) -> None:
    begun, happened = AROUND_THE_EFFECT[moment]
    begins = [orders.approved(workflow, kind) for kind in KINDS * trials]
    for one in begins:
        one.kill_at(moment)
        assert len(one.paid()) == happened

    for one in begins:
        doubts = one.carry_through()

        one.check()
        assert len(doubts) == (begun and one.kind == "plain"), "a person is asked if nobody knows"
        assert len(one.paid()) == (2 if one.kind == "idempotent" and happened else 1)
        assert all("is dead" in doubt.content.sentence for doubt in doubts)


@TRIALS
@pytest.mark.parametrize(
    ("workflow", "moment", "again"),
    [
        (order, "after effect.done", None),
        (order, "in ship", "ship"),
        (order, "before run.done", "ship"),
        (order, "after run.done", None),
        (order_billed, "after effect.done", None),
        (order_billed, "in book", "book"),
        (order_billed, "in ship", "ship"),
    ],
)
def test_a_death_after_the_result_was_written_repeats_nothing_that_was_finished(
    orders: Shop, workflow: Any, moment: str, again: str | None, trials: int
) -> None:
    begins = [orders.approved(workflow, kind) for kind in KINDS * trials]
    for one in begins:
        one.kill_at(moment)

    for one in begins:
        doubts = one.carry_through()

        # A step is finished once it is written, which may have been before the end was.
        twice = one.steps().count(again or "") == 2
        assert twice or not moment.startswith("in ")
        one.check(again=[again] if again and twice else [])
        assert (doubts, len(one.paid())) == ([], 1)


@TRIALS
@pytest.mark.parametrize("moment", ["in pack", "before ask.opened", "after ask.opened"])
def test_a_death_around_the_question_asks_it_once(orders: Shop, moment: str, trials: int) -> None:
    begins = [orders.begin(order, kind) for kind in KINDS * trials]
    for one in begins:
        one.kill_at(moment)

    for one in begins:
        doubts = one.carry_through()

        twice = one.steps().count("pack") == 2
        assert twice is (moment == "in pack") or moment == "before ask.opened"
        one.check(again=["pack"] if twice else [])
        assert (len(one.run.asks), doubts, len(one.paid())) == (1, [], 1)


FEWEST = 20  # statements that it takes at least


@pytest.mark.parametrize(
    "stride", [pytest.param(10, id="some"), pytest.param(1, id="every", marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_death_at_any_statement_is_never_a_second_payment_in_silence(
    orders: Shop, kind: str, when: str, stride: int
) -> None:
    """Not only where we think it matters: from the claim to the end, whatever is sent."""
    deaths, number, through = 0, 1, False
    while not through or number < FEWEST:
        assert number < 200, "it never got through"
        one = orders.approved(order_billed, kind)
        worker = one.worker({}, statement=(number, when), lease=30)
        # Threads share the count, so a death may be missed: that it got through counts later on.
        through = worker.wait() == 0
        orders.place.lapse(one.run.id)
        deaths += not through
        happened = len(one.paid())

        doubts = one.carry_through()

        one.check(again=[name for name in ("ship", "book") if one.steps().count(name) == 2])
        assert len(doubts) <= (kind == "plain")
        assert len(one.paid()) == 1 or (kind == "idempotent" and happened)
        number += stride
    assert deaths >= FEWEST / stride / 2, "the statements are not counted"


def test_a_second_death_in_the_second_try_is_a_second_question(orders: Shop) -> None:
    one = orders.approved()
    one.kill_at("in the tool")
    assert one.take_over() == "waiting"
    (first,) = one.answer()  # it did not happen: run it again

    one.kill_at("after the effect")
    assert one.take_over() == "waiting"
    (second,) = one.answer()
    assert one.take_over() == "done"

    assert first.id != second.id
    assert second.decision is not None
    assert second.decision.verdict == "respond"
    effect = one.effect
    assert (effect.attempt, len(one.paid())) == (2, 1)


def test_a_death_while_the_doubt_is_opened_asks_it_once(orders: Shop) -> None:
    one = orders.approved()
    one.kill_at("in the tool")
    one.kill_at("before effect.unknown")
    one.kill_at("after effect.unknown")

    assert one.take_over() == "waiting"

    assert [ask.kind for ask in one.run.asks] == ["action", "doubt"]
    one.answer()
    assert one.take_over() == "done"
    assert len(one.paid()) == 1


def test_a_call_whose_worker_died_can_be_left_undone(orders: Shop) -> None:
    one = orders.approved()
    one.kill_at("in the tool")
    assert one.take_over() == "waiting"

    orders.desk.reject(one.ask("doubt"), "leave it")

    assert one.take_over() == "failed"
    assert "Skipped" in (one.run.error or "")
    assert one.paid() == []


# --- frozen past the lease ---


@pytest.mark.parametrize("verdict", ["respond", "approve", None])
def test_a_worker_that_wakes_after_its_lease_writes_nothing_but_evidence(
    orders: Shop, verdict: Verdict | None
) -> None:
    """What remains is said openly: after "run it again" the frozen worker may still act."""
    one = orders.approved()
    frozen = one.freeze_at("in the tool")
    assert one.take_over() == "waiting"
    doubt = one.ask("doubt")
    assert "whether it still runs is not known" in doubt.content.sentence
    if verdict is not None:
        answer = f"paid {one.number}" if verdict == "respond" else None
        orders.desk.decide(doubt, verdict, answer=answer)
        assert one.take_over() == "done"
    before = [event.hash for event in one.run.events]

    woken(frozen)

    assert [event.hash for event in one.run.events] == before, "the run's own journal is fenced"
    late = f"paid {one.number}"
    assert [said["result"] for said in orders.desk.get(doubt.id).evidence] == [late]
    kinds = [event.kind for event in orders.desk.history(one.ask())]
    assert kinds.count("effect.late") == 1
    assert len(one.paid()) == (2 if verdict == "approve" else 1)
    if verdict is None:  # the person who looks now sees what came in, and says so
        one.answer()
        assert one.take_over() == "done"
        assert len(one.paid()) == 1
    assert one.run.result(timeout=0) == ["pack", late, "ship"]
    assert one.steps() == ["pack", "ship"]


def test_a_worker_frozen_before_the_tool_does_not_run_it_past_its_lease(orders: Shop) -> None:
    one = orders.approved()
    frozen = one.worker({"after effect.intended": "freeze"})
    frozen.wait_frozen()
    assert one.take_over() == "waiting"
    orders.desk.reject(one.ask("doubt"), "leave it")

    woken(frozen)

    assert one.paid() == [], "a person said to leave it"
    assert one.take_over() == "failed"


def test_a_worker_frozen_before_the_intent_cannot_spend_the_approval(orders: Shop) -> None:
    one = orders.approved()
    frozen = one.freeze_at("before effect.intended")
    assert one.take_over() == "done"

    woken(frozen)

    one.check()
    assert len(one.paid()) == 1


def test_a_worker_that_wakes_after_its_lease_cannot_put_the_run_to_sleep(orders: Shop) -> None:
    """It had nothing more to write than that the run waits: only the fence stops it."""
    one = orders.begin(wrap)
    assert one.take_over() == "waiting"
    orders.desk.respond(one.run.asks[0], "red")  # woken by this, it will wait for the other
    frozen = one.freeze_at("before the pause")
    row = claimed_elsewhere(one)

    woken(frozen)

    now = one.run.row
    assert (now.status, now.token, now.attempt) == ("running", row.token, row.attempt)


def claimed_elsewhere(one: Order) -> RunRow:
    """Let another worker claim the run, which has not looked at it yet."""
    store, span = one.desk.store, timedelta(seconds=0.5)
    serves = (one.run.workflow, f"{one.run.workflow}|={one.run.row.code}")
    row = store.claim(serves, "other", "elsewhere:1", span, one.run.id)
    assert row is not None
    return row


def test_a_late_result_settles_the_effect_if_nobody_was_asked_yet(orders: Shop) -> None:
    one = orders.approved()
    frozen = one.freeze_at("in the tool")
    claimed_elsewhere(one)

    woken(frozen)

    effect = one.effect
    assert (effect.status, effect.result) == ("done", f"paid {one.number}")
    assert one.take_over() == "done"
    one.check()
    assert len(one.paid()) == 1


def test_a_late_result_during_the_second_try_does_not_stop_it(orders: Shop) -> None:
    one = orders.approved()
    frozen = one.freeze_at("in the tool")
    assert one.take_over() == "waiting"
    orders.desk.approve(one.ask("doubt"))
    second = one.worker({"after the effect": "hold"}, lease=30)
    second.wait_at("after the effect")

    woken(frozen)
    let_go(second, "after the effect")

    assert one.run.status == "done"
    effect = one.effect
    assert (effect.status, effect.attempt, len(effect.late)) == ("done", 2, 1)
    assert one.run.output == ["pack", f"paid {one.number}", "ship"]
    assert len(one.ask("doubt").evidence) == 1


@pytest.mark.parametrize("kind", ["plain", "idempotent"])
def test_a_late_result_just_before_the_second_try_makes_it_needless(
    orders: Shop, kind: str
) -> None:
    one = orders.approved(order, kind)
    frozen = one.freeze_at("after the effect")
    if kind == "plain":
        assert one.take_over() == "waiting"
        orders.desk.approve(one.ask("doubt"))
    second = one.worker({"before effect.intended": "hold"}, lease=30)
    second.wait_at("before effect.intended")

    woken(frozen)
    let_go(second, "before effect.intended")

    one.check()
    assert len(one.paid()) == 1


# --- poison, cancel, and being told to go ---


@pytest.mark.parametrize("moment", ["between verbs", "in pack"])
def test_a_run_that_kills_every_worker_is_parked_with_a_reason(orders: Shop, moment: str) -> None:
    one = orders.begin(fragile)
    for _ in range(ATTEMPTS):
        one.kill_at(moment)

    assert one.take_over() == "parked"

    with pytest.raises(RunParked, match=f"begun {ATTEMPTS} times") as parked:
        one.run.result(timeout=0)
    assert moment == "between verbs" or "before the first step" not in str(parked.value)
    assert one.steps().count("began") == ATTEMPTS
    orders.desk.retry(one.run)  # somebody has looked at it, and cured it
    assert one.take_over() == "done"


def test_a_run_that_is_let_go_again_and_again_is_no_poison(orders: Shop) -> None:
    one = orders.begin(order, "plain")
    for _ in range(ATTEMPTS + 2):
        worker = one.worker({"after the claim": "hold"}, lease=30, until=None)
        worker.wait_at("after the claim")
        let_go(worker, "after the claim", told=True)
        for file in orders.folder.glob("after the claim*"):
            file.unlink()

    one.carry_through()

    one.check()


def test_cancelling_during_a_step_stops_before_the_next_effect(orders: Shop) -> None:
    one = orders.begin(order_early, "plain")
    worker = one.worker({"in pack": "hold"})
    worker.wait_at("in pack")
    orders.desk.approve(one.ask(), note="yes")
    (question,) = [ask for ask in one.run.asks if ask.kind == "question"]

    orders.desk.cancel(one.run, "not needed")
    let_go(worker, "in pack")

    assert one.paid() == []
    with pytest.raises(RunCancelled, match="not needed"):
        one.run.result(timeout=0)
    assert one.run.events[-1].kind == "run.cancelled"
    assert orders.desk.get(question.id).status == "withdrawn"
    assert len(orders.desk.inbox()) == 0
    with pytest.raises(AskClosed, match="withdrawn"):
        orders.desk.respond(question, "blue")
    with pytest.raises(RunOver):
        orders.desk.cancel(one.run)
    assert one.take_over() == "cancelled"
    assert one.paid() == []


def test_an_effect_that_is_under_way_when_its_run_is_cancelled_is_still_recorded(
    orders: Shop,
) -> None:
    one = orders.approved()
    worker = one.worker({"after the effect": "hold"})
    worker.wait_at("after the effect")

    orders.desk.cancel(one.run)
    let_go(worker, "after the effect")

    effect = one.effect
    assert (effect.status, effect.result) == ("done", f"paid {one.number}")
    assert one.steps() == ["pack"]
    assert one.run.status == "cancelled"


def test_an_effect_cut_off_in_a_run_that_is_then_cancelled_becomes_a_doubt(orders: Shop) -> None:
    one = orders.approved()
    one.kill_at("in the tool")

    orders.desk.cancel(one.run)
    orders.desk.sweep(orders.desk.store.now() + timedelta(minutes=1))

    (doubt,) = orders.desk.inbox(kind="doubt")
    assert doubt.id == one.effect.doubt
    assert "approve" not in doubt.allow, "nobody would run it again"
    orders.desk.respond(doubt, f"paid {one.number}")
    effect = one.effect
    assert effect.status == "done"


def test_a_worker_told_to_end_lets_go_at_the_next_verb_and_another_goes_on_at_once(
    orders: Shop,
) -> None:
    one = orders.begin(order, "plain")
    worker = one.worker({"in pack": "hold"}, lease=3600, until=None)
    worker.wait_at("in pack")

    let_go(worker, "in pack", told=True)

    assert one.run.row.status == "ready", "no lease has to run out"
    assert one.take_over() == "waiting"
    assert one.steps() == ["pack"]


def test_a_worker_told_to_end_in_the_middle_of_a_call_records_it_first(orders: Shop) -> None:
    one = orders.approved()
    worker = one.worker({"after the effect": "hold"}, lease=3600, until=None)
    worker.wait_at("after the effect")

    let_go(worker, "after the effect", told=True)

    assert one.run.row.status == "ready"
    assert one.take_over() == "done"
    one.check()
    assert len(one.paid()) == 1


def test_a_worker_that_forks_shares_nothing_with_its_child(orders: Shop) -> None:
    """The child of a fork carries on runs of its own, under its own name; the parent its own."""
    one = orders.begin(order, "plain")

    assert one.worker({"in pack": "hold"}, lease=3600, forks=True).wait() == 0

    assert one.run.status == "waiting"
    assert one.steps() == ["pack"]
    (other,) = orders.desk.runs(workflow="wrap")
    assert other.status == "waiting"
    assert other.row.worker != one.run.row.worker
