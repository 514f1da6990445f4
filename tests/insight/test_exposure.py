"""What grants may still let through: the figures add up what each key has left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk
from sayso.autonomy.terms import terms_of
from sayso.insight.exposure import trusted
from sayso.testing import FakeClock
from tests.keyed import earning, granted, law, locked, said
from tests.places import Place
from tests.published import put_in_force


@pytest.fixture
def desk(place: Place, clock: FakeClock) -> Iterator[Desk]:
    with Desk(place.url, agent="shop", account="sam@till", clock=clock, policy=law()) as desk:
        yield desk


def test_a_desk_without_grants_is_exposed_to_nothing(desk: Desk) -> None:
    found = desk.metrics(by="tier")

    assert (found["exposure_left"], found["exposure_most"], found["bad_limit"]) == (0, None, None)
    assert set(found["keys"].values()) == {0}
    assert found["by"] == {}


def test_what_is_left_is_the_sum_of_what_each_grant_has_left(desk: Desk) -> None:
    books = [granted(desk, "refund"), granted(desk, "note"), granted(desk, "wire")]
    said(desk, books[0].id, "flagged", by="ada", solo=True)  # a strike: half of it is left
    earning(desk, "note", agent="clerk")

    each = {book.key.tool: desk.trust.key(book.id).exposure for book in books}
    found = desk.metrics(by="tool")

    assert found["keys"]["granted"] == 3
    assert found["keys"]["reviewed"] == 1
    assert found["exposure_left"] == pytest.approx(sum(filter(None, each.values())), abs=1e-3)
    assert found["exposure_most"] == pytest.approx(max(filter(None, each.values())), abs=1e-3)
    by_tool = {tool: one["exposure_left"] for tool, one in found["by"].items() if tool}
    assert by_tool == pytest.approx(each, abs=1e-3)
    medium = terms_of("medium")
    assert medium is not None
    assert each["refund"] == pytest.approx(medium.exposure / 2)


def test_what_is_left_can_be_asked_of_one_agent_tool_or_tier(desk: Desk) -> None:
    book = granted(desk, "refund")
    granted(desk, "note", agent="clerk")

    of_shop = desk.metrics(agent="shop")
    assert of_shop["keys"]["granted"] == 1
    assert of_shop["exposure_left"] == pytest.approx(book.exposure, abs=1e-3)
    assert desk.metrics(tool="note")["keys"]["granted"] == 1
    assert desk.metrics(tier="high")["keys"]["granted"] == 0
    assert desk.metrics(by="agent")["by"]["clerk"]["keys"]["granted"] == 1


def test_a_tier_says_how_many_bad_calls_are_just_too_many(desk: Desk) -> None:
    granted(desk, "wire")

    assert desk.metrics(tier="low")["bad_limit"] == 0.05
    assert desk.metrics(tier="critical")["bad_limit"] is None
    assert desk.metrics(by="tier")["by"]["high"]["bad_limit"] == 0.01
    assert desk.metrics(by="tool")["by"]["wire"]["bad_limit"] is None


def test_a_grant_whose_agent_is_silent_is_still_told(desk: Desk, clock: FakeClock) -> None:
    granted(desk, "refund")
    clock.advance("90d")

    one = desk.metrics(days=7, by="agent")["by"]["shop"]
    assert (one["proposed"], one["approval_rate"], one["keys"]["granted"]) == (0, None, 1)
    assert one["exposure_left"] > 0


def test_a_grant_that_ended_exposes_nobody(desk: Desk) -> None:
    desk.trust.revoke(granted(desk, "refund").id)
    locked(desk, "note")

    found = desk.metrics()
    assert (found["exposure_left"], found["exposure_most"]) == (0, None)
    assert (found["keys"]["reviewed"], found["keys"]["locked"]) == (1, 1)


def test_reviewers_who_notice_less_let_more_through(desk: Desk) -> None:
    granted(desk, "refund")
    low = terms_of("medium", 0.4)
    assert low is not None

    assert trusted(desk.store, detection=0.4).exposure_left == pytest.approx(low.exposure)
    put_in_force(desk, "[autonomy]\ndetection = 0.4\n")
    assert desk.metrics()["exposure_left"] == pytest.approx(low.exposure, abs=1e-3)


def test_a_team_is_a_wall_before_what_is_left(desk: Desk) -> None:
    granted(desk, "refund", team="billing")

    assert trusted(desk.store, teams=("support",)).exposure_left == 0
    assert trusted(desk.store, teams=("billing",)).keys["granted"] == 1
