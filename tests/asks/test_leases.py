"""A program that waits holds a lease; once it has lapsed, a yes would have no effect."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sayso import Ask, Desk
from sayso.asks.opening import open_ask
from sayso.asks.spending import begin
from sayso.asks.stuck import unused
from sayso.errors import CallerGone, NotApproved
from sayso.runs.running import Running
from sayso.store.contract import Lease
from sayso.testing import FakeClock
from tests.asks.test_deadlines import Sudden, sudden
from tests.places import Place
from tests.together import in_thread, until

__all__ = ["sudden"]  # the fixture

ME = Lease("me", timedelta(seconds=30))
OTHER = Lease("other", timedelta(seconds=30))


@pytest.fixture
def held(desk: Desk) -> Ask:
    """An ask whose program waits for the answer, and is silent from now on."""
    content = desk.forms.action("pay", {"amount": 40})
    return open_ask(desk.store, content, origin=desk.origin, lease=ME)


def test_while_the_program_lives_its_ask_can_be_approved(
    desk: Desk, clock: FakeClock, held: Ask
) -> None:
    clock.advance("29s")
    desk.store.renew("me", timedelta(seconds=30))
    clock.advance("29s")

    assert not desk.get(held.id).gone
    assert desk.approve(held).decision
    assert begin(desk.store, held.id, origin=desk.origin, lease=ME).args == {"amount": 40}


def test_once_the_program_has_gone_its_ask_can_only_be_closed(
    desk: Desk, place: Place, clock: FakeClock, held: Ask
) -> None:
    clock.advance("30s")
    gone = desk.get(held.id)
    assert (gone.gone, gone.allow) == (True, ("reject",))

    for say in (
        lambda: desk.approve(held),
        lambda: desk.edit(held, {"amount": 1}),
        lambda: desk.respond(held, "no"),
    ):
        with pytest.raises(CallerGone, match="has gone"):
            say()

    assert place.count() == 1
    assert not desk.reject(held).open


def test_the_lease_is_checked_by_the_statement_that_writes(
    sudden: tuple[Desk, Sudden], place: Place
) -> None:
    desk, clock = sudden
    content = desk.forms.action("pay", {"amount": 40})
    ask = open_ask(desk.store, content, origin=desk.origin, lease=ME)
    clock.reads = 1

    with pytest.raises(CallerGone):
        desk.approve(ask)

    assert place.count() == 1


def test_what_a_program_waits_for_nobody_else_carries_out(
    desk: Desk, clock: FakeClock, held: Ask
) -> None:
    desk.approve(held)

    with pytest.raises(NotApproved, match="itself"):
        desk.begin(held)
    with pytest.raises(NotApproved):
        begin(desk.store, held.id, origin=desk.origin, lease=OTHER)
    clock.advance("1m")
    with pytest.raises(CallerGone):
        desk.begin(held)


def test_a_program_that_was_suspended_may_still_act_on_its_own_yes(
    desk: Desk, clock: FakeClock, held: Ask
) -> None:
    """The approval is unspent, and nobody else can spend it."""
    desk.approve(held)
    clock.advance("1m")

    with pytest.raises(CallerGone):
        desk.begin(held)
    assert begin(desk.store, held.id, origin=desk.origin, lease=ME).attempt == 1


def test_a_doubt_about_a_gone_program_does_not_offer_to_run_it_again(
    desk: Desk, clock: FakeClock, held: Ask
) -> None:
    desk.approve(held)
    begin(desk.store, held.id, origin=desk.origin, lease=ME)
    clock.advance("30s")

    (doubt_id,) = desk.sweep().doubts

    assert set(desk.get(doubt_id).allow) == {"respond", "reject"}


def test_a_blocking_call_keeps_its_lease_alive(place: Place) -> None:
    with Desk(place.url, account="sam@till", lease=1.5) as desk:
        waiting = in_thread(lambda: desk.confirm("Go on?"))
        (ask,) = until(lambda: desk.inbox().asks)
        first = lease_until(place, ask)
        until(lambda: lease_until(place, ask) > first)

        assert not desk.get(ask.id).gone
        desk.approve(ask)
        assert waiting.result(30)


def lease_until(place: Place, ask: Ask) -> int:
    return int(place.one("select lease_until from asks where id = ?", ask.id))


def test_an_interrupted_blocking_call_takes_its_question_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> Ask:
        raise KeyboardInterrupt

    monkeypatch.setattr(desk, "settle", interrupted)

    with pytest.raises(KeyboardInterrupt):
        desk.confirm("Go on?")

    opened = next(iter(desk.events())).stream
    assert desk.get(opened).status == "withdrawn"


def test_approvals_that_nobody_can_use_any_more_are_found_with_the_reason_e60(
    desk: Desk, clock: FakeClock, held: Ask
) -> None:
    def pay(run: Running, amount: int) -> object:
        return run.propose("pay", {"amount": amount})

    desk.workflow(pay)
    run = desk.run(pay, 40, wait=False)
    of_run = desk.approve(run.state.pending[0])
    desk.approve(held)
    desk.approve(desk.open("pay", {"amount": 1}))  # it waits for whoever comes to carry it out
    assert [ask.id for ask, _ in unused(desk.store)] == [of_run.id]

    clock.advance("31s")

    assert {ask.id: why for ask, why in unused(desk.store)} == {
        of_run.id: f"its run {run.id} has no worker",
        held.id: "its program has gone",
    }
