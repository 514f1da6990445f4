"""The faults of the list of evidence that concern policies, one test each.

As in `test_evidence.py`: each test is the story of a fault measured elsewhere, told of a desk under
a policy. E20 to E22 are there too, told of asks that bring their own requirements; the finer points
are in `tests/asks` (`test_tiers`, `test_law`, `test_timekeeping`, `test_floods`).
"""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta

import pytest

from sayso.errors import (
    AskClosed,
    BadPolicy,
    Denied,
    Forbidden,
    InvalidEdit,
    NotApproved,
    TooManyAsks,
    UnknownPerson,
)
from sayso.model.actor import CLOCK
from sayso.testing import FakeClock
from tests.asks.test_law import BY_AMOUNT, Office, approved, office, refund
from tests.places import Place

__all__ = ["office"]  # the fixture

WIPE = '[tools]\ndelete_db = "critical"\nread_db = "medium"\n'


def test_e12_an_edit_cannot_switch_the_tool(office: Office, place: Place) -> None:
    """LangChain's middleware: delete_db ran though it was never reviewed."""
    desk = office(WIPE)
    ask = desk.open("read_db", {"name": "users"})
    before = place.count()

    with pytest.raises(InvalidEdit, match="cannot make it 'delete_db'"):
        desk.decide(ask, "edit", args={"name": "all"}, tool="delete_db", by="jun")

    assert place.count() == before
    approved(desk, ask, "jun")
    assert (desk.begin(ask).tool, desk.get(ask.id).tool) == ("read_db", "read_db")


def test_e13_an_edit_from_10_to_999_999_meets_the_rules_for_999_999(office: Office) -> None:
    """holdpoint: it passed a rule that rejects such amounts."""
    desk = office(BY_AMOUNT.replace("2 reviewer", "1 junior"))
    ask = refund(desk, 10)

    with pytest.raises(Denied, match="Nobody refunds a million"):
        desk.edit(ask, {"amount": 1_000_001}, by="jun")
    edited = desk.edit(ask, {"amount": 999_999}, by="jun")

    assert edited.open, "whoever may approve 10 has not approved 999,999"
    with pytest.raises(NotApproved):
        desk.begin(edited)
    approved(desk, edited, "anna", "sec")
    assert desk.begin(edited).args == {"amount": 999_999}


def test_e17_a_rule_that_flips_while_a_call_waits_lets_nothing_through(office: Office) -> None:
    """LangChain's `when`: the reject vanished with the condition, and the tool ran."""
    asks, lets = office('[tools]\nrefund = "high"'), office('[tools]\nrefund = "low"')
    waits, refused = refund(asks, 1), asks.reject(refund(asks, 2), by="anna")
    let_through = refund(lets, 3)

    for ask in (waits, refused):
        with pytest.raises(NotApproved):
            lets.begin(ask)
    with pytest.raises(Forbidden):
        lets.approve(waits, by="jun")
    with pytest.raises(NotApproved, match="wants more by now"):
        asks.begin(let_through)


def test_e19_nobody_approves_their_own_request(office: Office, place: Place) -> None:
    """GitHub environments and most others: allowed unless somebody thinks of it."""
    desk = office()
    ask = refund(desk, risk="high", requester="anna")
    before = place.count()

    with pytest.raises(Forbidden, match="anna asked for it"):
        desk.approve(ask, by="anna")

    assert place.count() == before
    approved(desk, ask, "ada")


def test_e20_one_person_with_both_roles_is_one_person(office: Office) -> None:
    """Preloop, agent-os-kernel: one person counted twice, and "anonymous" filled the quorum."""
    desk = office()
    ask = refund(desk, risk="critical")

    for _ in range(2):
        assert desk.approve(ask, by="ada").open
    for nobody in (None, "anonymous", "ada "):
        with pytest.raises(UnknownPerson):
            desk.approve(ask, by=nobody)

    with pytest.raises(NotApproved):
        desk.begin(ask)
    approved(desk, ask, "sec")


def test_e21_a_rule_that_wants_3_of_a_group_of_2_is_refused_when_it_is_put_in_force(
    office: Office, place: Place
) -> None:
    """All but NetApp: accepted, and then it blocks for ever."""
    desk, before = office(), place.count()

    with pytest.raises(BadPolicy, match="3 board can never be met"):
        desk.policies.publish(
            '[groups]\nboard = ["anna", "ada"]\n[tiers.board]\nneeds = ["3 board"]\n'
            '[tools]\nrefund = "board"\n'
        )

    assert place.count() == before


def test_e22_a_timeout_never_approves_what_is_high_or_critical(
    office: Office, clock: FakeClock
) -> None:
    """Airflow's default option, holdpoint's option: it did."""
    with pytest.raises(BadPolicy, match="never approved by the clock"):
        office('[tiers.critical]\nwithin = "1h"\non_timeout = "approve"\n')
    desk = office(
        '[tiers.quick]\nneeds = ["1 reviewer"]\nwithin = "1h"\non_timeout = "approve"\n'
        '[tools]\nrefund = "quick"\n'
    )
    asks = [refund(desk, n, risk=risk) for n, risk in enumerate(["high", "critical"])]
    clock.advance(timedelta(hours=1))

    for ask in asks:
        with pytest.raises(AskClosed) as closed:
            desk.approve(ask, by="anna")
        assert closed.value.decision is not None
        assert (closed.value.decision.by, closed.value.decision.verdict) == (CLOCK, "reject")
        with pytest.raises(NotApproved):
            desk.begin(ask)


def test_e23_a_request_cannot_choose_its_reviewers_or_approve_itself(
    office: Office, clock: FakeClock
) -> None:
    """gotoHuman, HumanLayer, awaithumans: it names who decides, or says auto-approve."""
    desk = office(
        '[tiers.pair]\nneeds = ["1 senior", "1 security"]\n[tools]\nrefund = "pair"\n'
        '[tiers.quick]\nneeds = ["1 reviewer"]\nwithin = "1h"\non_timeout = "approve"\n'
        '[[rules]]\nname = "small"\ntool = "tip"\ntier = "quick"\n'
    )

    chosen = refund(desk, risk="low", needs=["1 ben"], confidence=1.0)
    assert desk.approve(chosen, by="ben").open, "ben as well, and nobody instead"
    approved(desk, chosen, "anna", "sec")

    hurried = desk.open("tip", {"amount": 5}, within="1s")
    clock.advance("1s")
    desk.sweep()
    with pytest.raises(NotApproved, match="clock said reject"):
        desk.begin(hurried)


def test_e34_a_flood_from_one_agent_does_not_bury_the_ask_that_matters(office: Office) -> None:
    """Nearly all: the list shows whatever came first, or last."""
    desk = office('[agents.crawler]\nasks = "5 per hour"\n')
    wipe = desk.open("wipe", {"disk": 1}, risk="critical")
    for _ in range(50):
        refund(desk, 1, risk="medium")
    for amount in range(50):
        with nullcontext() if amount < 5 else pytest.raises(TooManyAsks):
            refund(desk, amount, risk="medium", agent="crawler")

    page = desk.inbox(limit=3)

    assert next(iter(page)).id == wipe.id
    assert page.count == 1 + 1 + 5, "the same question is one line, and the crawler has five"
