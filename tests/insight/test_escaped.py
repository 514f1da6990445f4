"""What ran alone is counted with its harm, from the books of keys as they are really written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk
from sayso.asks.lawbook import default_policy
from sayso.insight.reader import rebuild
from sayso.policy.reading import read as read_policy
from sayso.testing import FakeClock
from tests.asks.test_trust import LAW, PEOPLE, call, flag, grant, harmful, judged
from tests.places import Place
from tests.trusted import written


@pytest.fixture
def alone(place: Place, clock: FakeClock) -> Iterator[Desk]:
    """A desk on which agents earn, and nobody is."""
    policy = read_policy(LAW, source="law.toml", default=default_policy())
    with Desk(place.url, policy=policy, agent="shop", account="sam@till", clock=clock) as desk:
        desk.law.coin = lambda: 0.999  # nothing is picked, unless a test says so
        yield desk


@pytest.fixture
def team(alone: Desk) -> Desk:
    for name, roles in PEOPLE.items():
        alone.people.add(name, roles=roles)
    return alone


def audited(desk: Desk, by: str | None = None) -> None:
    """Let the coin send a call to a person, who finds it fine."""
    desk.law.coin = lambda: 0.0
    judged(desk, by=by)
    desk.law.coin = lambda: 0.999


def test_what_ran_under_a_grant_stands_beside_what_audits_found(alone: Desk) -> None:
    rho = grant(alone).terms.audit
    for _ in range(3):
        assert call(alone).decision
    audited(alone)
    audited(alone)
    harmful(alone)  # alone on the desk it counts at once

    found = alone.metrics(by="tool")
    assert (found["granted"], found["alone"], found["autonomous_rate"]) == (3, 3, 3 / 7)
    assert (found["audited"], found["audited_bad"]) == (3, 1)
    assert found["unapproved_bad_rate"] == pytest.approx(1 / 3)
    assert 0 < found["unapproved_bad_low"] < 1 / 3 < found["unapproved_bad_high"] < 1
    assert rho < 1
    assert found["by"]["refund"]["unapproved_bad_rate"] == pytest.approx(1 / 3)
    assert found["by"]["refund"]["granted"] == 3


def test_calls_that_were_reviewed_anyway_are_no_audits(alone: Desk) -> None:
    judged(alone)
    judged(alone)

    found = alone.metrics()
    assert (found["audited"], found["unapproved_bad_rate"]) == (0, None)


def test_whether_a_key_may_run_alone_is_no_proposal_of_an_agent(alone: Desk) -> None:
    grant(alone)

    found = alone.metrics()
    assert (found["asked"], found["reviewed"], found["proposed"]) == (2, 1, 1)
    assert [line["tool"] for line in alone.decisions()] == ["refund"]


def test_in_a_team_a_flag_is_bad_once_somebody_else_agreed(team: Desk) -> None:
    book = grant(team, by="ann")
    harmful(team, by="jun")
    assert team.metrics()["audited"] == 0

    team.approve(flag(team, book), by="ann")

    found = team.metrics()
    assert (found["audited"], found["audited_bad"]) == (1, 1)


def test_a_flag_that_is_overturned_was_a_fine_audit(team: Desk) -> None:
    book = grant(team, by="ann")
    harmful(team, by="jun")
    team.reject(flag(team, book), "That customer was right", by="ann")

    found = team.metrics()
    assert (found["audited"], found["audited_bad"], found["unapproved_bad_rate"]) == (1, 0, 0)


def test_incidents_are_counted_where_they_happened_also_of_what_is_never_earned(
    alone: Desk,
) -> None:
    grant(alone)
    ran = call(alone)
    alone.finish(alone.begin(ran), result="paid")
    alone.incident(ran, "Paid the wrong customer")

    found = alone.metrics(by="tier")
    assert found["incidents"] == 1
    assert found["by"]["medium"]["incidents"] == 1

    ran = alone.approve(alone.open("drop", {"table": "orders"}, risk="critical"))
    assert ran.stake is None
    alone.finish(alone.begin(ran), result="dropped")
    alone.incident(ran, "It was the wrong table")

    assert alone.metrics(by="tool")["by"]["drop"]["incidents"] == 1


def test_harm_that_ends_two_grants_happened_once(alone: Desk) -> None:
    grant(alone)
    written(alone, "granted", agent="shop")  # of the same tool, in another tier
    ran = call(alone)
    alone.finish(alone.begin(ran), result="paid")
    alone.incident(ran, "Paid the wrong customer")

    assert alone.metrics()["incidents"] == 1
    assert alone.metrics()["keys"]["granted"] == 0


def test_books_counted_again_tell_the_same(team: Desk) -> None:
    grant(team, by="ann")
    call(team)
    audited(team, by="jun")
    harmful(team, by="jun")
    before = team.metrics(by="agent") | {"until": ""}
    rebuild(team.store)

    assert before["audited"] == 1
    assert team.metrics(by="agent") | {"until": ""} == before
