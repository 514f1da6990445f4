"""Each figure on a small journal whose result can be worked out by hand."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.autonomy.bounds import lower, upper
from sayso.autonomy.weighted import between, estimate
from sayso.errors import BadValue
from sayso.insight.agreement import agreement
from sayso.insight.changed import changed
from sayso.insight.facts import facts_of_trust
from sayso.insight.forecast import Forecast, expected
from sayso.insight.reader import rebuild
from sayso.model.actor import Actor
from sayso.model.event import GENESIS, Event, link, micros, moment
from sayso.store.contract import Append
from sayso.store.tallies import TallyFilter
from sayso.testing import FakeClock
from tests.places import Place

NOTHING = (
    *("approval_rate", "edit_rate", "override_rate", "edit_distance", "autonomous_rate"),
    *("unapproved_bad_rate", "unapproved_bad_low", "unapproved_bad_high"),
    *("avg_queue_time", "p50_queue_time", "avg_thinking_time", "p99_thinking_time"),
    *("split_share", "sla_rate", "help_rate", "useful_rate", "minutes_per_1000"),
    *("agreement", "kappa", "pabak", "ac1", "oldest_open"),
)


def test_an_empty_desk_has_no_figures_and_no_forecast(desk: Desk) -> None:
    found = desk.metrics(by="reviewer")

    assert {name: found[name] for name in NOTHING} == dict.fromkeys(NOTHING)
    assert (found["incidents"], found["audited"], found["open"], found["by"]) == (0, 0, 0, {})
    assert desk.staffing() == Forecast().to_json()


# --- how long people take ---


def test_time_is_split_where_somebody_said_that_they_look(desk: Desk, clock: FakeClock) -> None:
    claimed = desk.open("pay", {"n": 1})
    clock.advance("30s")
    desk.claim(claimed)
    clock.advance("10s")
    desk.approve(claimed)
    silent = desk.open("pay", {"n": 2})
    clock.advance("100s")
    desk.approve(silent)

    found = desk.metrics()
    assert found["avg_approval_time"] == 70
    assert (found["avg_queue_time"], found["avg_thinking_time"]) == (30, 10)
    assert found["split_share"] == 0.5
    assert isclose(found["p50_thinking_time"], 10, rel_tol=0.1)


def test_the_first_of_two_voters_took_it_up(desk: Desk, clock: FakeClock) -> None:
    for name in ("anna", "ben"):
        desk.people.add(name)
    ask = desk.open("pay", needs="2 reviewer")
    clock.advance("1m")
    desk.approve(ask, by="anna")
    clock.advance("3m")
    desk.approve(ask, by="ben")

    found = desk.metrics()
    assert (found["avg_queue_time"], found["avg_thinking_time"]) == (60, 180)


def test_to_be_given_an_ask_is_no_look_at_it(desk: Desk, clock: FakeClock) -> None:
    for name in ("anna", "ben"):
        desk.people.add(name)
    ask = desk.open("pay")
    desk.assign(ask, "ben", by="anna")
    clock.advance("1h")
    desk.approve(ask, by="ben")

    assert desk.metrics()["split_share"] == 0


def test_a_look_that_nobody_timed_costs_ten_minutes_at_most(desk: Desk, clock: FakeClock) -> None:
    timed, untimed = desk.open("pay", {"n": 1}), desk.open("pay", {"n": 2})
    clock.advance("1h")
    desk.claim(timed)
    clock.advance("2m")
    desk.approve(timed)
    desk.approve(untimed)
    brief = desk.open("pay", {"n": 3})
    clock.advance("60s")
    desk.reject(brief)

    # 2 minutes, 10 at most, and 1, for three calls.
    assert desk.metrics()["minutes_per_1000"] == pytest.approx(13 / 3 * 1000)


# --- what people changed ---


def test_override_edits_and_how_much_they_changed(desk: Desk) -> None:
    for number in range(8):
        ask = desk.open("mail", {"to": "ada", "text": "we are very sorry", "n": number})
        if number == 0:
            desk.edit(ask, {"text": "we are so sorry"})  # 2 of 8 words, of one of three arguments
        elif number == 1:
            desk.edit(ask, {"n": 7})  # all of one of three
        elif number == 2:
            desk.reject(ask)
        else:
            desk.approve(ask)

    found = desk.metrics()
    assert found["override_rate"] == 3 / 8
    assert found["edit_distance"] == pytest.approx((0.25 / 3 + 1 / 3) / 2, abs=1e-6)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ({}, {}, 0),
        ({"a": 1}, {"a": 1}, 0),
        ({"a": 1}, {"a": 2}, 1),
        ({"a": 1, "b": 2}, {"a": 1}, 0.5),
        ({"text": "one two three four"}, {"text": "one two three five"}, 0.25),
        ({"text": "one  two"}, {"text": "one two"}, 0),
        ({"text": ""}, {"text": "one"}, 1),
        ({"steps": ["look", "leap"]}, {"steps": ["leap", "look"]}, 1),
        ({"steps": ["look", "leap"]}, {"steps": ["look"]}, 1 / 3),
        ({"to": {"name": "ada", "at": "home"}}, {"to": {"name": "ben", "at": "home"}}, 0.5),
        ({"a": []}, {"a": {}}, 0),
    ],
)
def test_how_much_an_edit_changed(before: Any, after: Any, share: float) -> None:
    assert changed(before, after) == pytest.approx(share)
    assert changed(after, before) == pytest.approx(share)


def test_asks_for_help_and_how_many_of_all_asks_were_worth_it(desk: Desk) -> None:
    desk.respond(desk.later.question("Which?").ask, "This")
    desk.reject(desk.later.question("Which one?").ask)  # no answer: nothing was learned
    desk.approve(desk.later.choose("Which?", ["a", "b"]).ask, option="a")
    desk.approve(desk.later.draft("Dear Ada", confidence=0.4).ask)  # unsure of it
    desk.approve(desk.later.draft("Dear Ben").ask)
    desk.approve(desk.open("pay", {"n": 1}))
    desk.edit(desk.open("pay", {"n": 2}), {"n": 3})
    desk.respond(desk.open("pay", {"n": 4}), "Ask again")

    found = desk.metrics()
    assert found["help_rate"] == 4 / 8
    assert found["useful_rate"] == 4 / 8
    assert found["sent_back"] == 1


def test_a_deadline_is_kept_or_not(desk: Desk, clock: FakeClock) -> None:
    desk.approve(desk.open("pay", {"n": 1}))  # it has none
    asks = [desk.open("pay", {"n": number}, within="1h") for number in range(2, 6)]
    for ask in asks[:3]:
        desk.approve(ask)
    clock.advance("2h")
    desk.sweep()

    found = desk.metrics()
    assert (found["sla_rate"], found["expired"]) == (0.75, 1)


def test_the_oldest_that_is_open_is_told(desk: Desk, clock: FakeClock) -> None:
    desk.open("pay", {"n": 1})
    clock.advance("1h")
    desk.open("pay", {"n": 2})

    found = desk.metrics()
    assert (found["open"], found["oldest_open"], found["open_more"]) == (2, 3600, False)


# --- two who look at the same ---


def _both(desk: Desk, number: int, first: str, second: str) -> Ask:
    ask = desk.open("pay", {"n": number}, needs="2 reviewer", deny=2)
    for name, verdict in (("anna", first), ("ben", second)):
        getattr(desk, verdict)(ask, by=name)
        ask = desk.get(ask.id)
    return ask


def test_agreement_of_two_is_counted_beyond_chance(desk: Desk) -> None:
    for name in ("anna", "ben", "carl"):
        desk.people.add(name)
    said = [("approve", "approve")] * 6 + [("approve", "reject")] * 2 + [("reject", "reject")]
    said.append(("reject", "approve"))
    for number, (first, second) in enumerate(said):
        ask = _both(desk, number, first, second)
        if ask.open:  # a third decides; the first two are compared
            desk.approve(ask, by="carl")

    found = desk.metrics()
    assert (found["double_reviewed"], found["agreement"]) == (10, 0.7)
    # First yes 8 of 10, second 7 of 10: by chance they agree on .56 + .06.
    assert found["kappa"] == pytest.approx((0.7 - 0.62) / 0.38)
    assert found["pabak"] == pytest.approx(0.4)
    assert found["ac1"] == pytest.approx((0.7 - 0.375) / 0.625)


def test_kappa_collapses_where_nearly_all_is_approved_and_the_others_do_not() -> None:
    found = agreement(95, 2, 2, 1)

    assert found.kappa == pytest.approx(0.3127, abs=1e-4)
    assert found.pabak == pytest.approx(0.92)
    assert found.ac1 == pytest.approx(0.9575, abs=1e-4)

    found = agreement(5, 0, 0, 0)

    assert (found.share, found.kappa, found.pabak, found.ac1) == (1, None, 1, 1)
    assert agreement(0, 0, 0, 0).share is None


# --- by reviewer ---


def test_what_each_person_decided(desk: Desk, clock: FakeClock) -> None:
    for name in ("anna", "ben"):
        desk.people.add(name)
    for number, (by, verdict) in enumerate(
        [("anna", "approve"), ("anna", "approve"), ("anna", "reject"), ("ben", "reject")]
    ):
        ask = desk.open("pay", {"n": number})
        clock.advance("20s")
        getattr(desk, verdict)(ask, by=by)

    by = desk.metrics(by="reviewer")["by"]
    assert set(by) == {"anna", "ben"}
    assert (by["anna"]["decisions"], by["anna"]["approval_rate"]) == (3, pytest.approx(2 / 3))
    assert (by["ben"]["decisions"], by["ben"]["rejected"], by["ben"]["approval_rate"]) == (1, 1, 0)
    assert isclose(by["anna"]["p50_approval_time"], 20, rel_tol=0.1)
    assert by["anna"]["p50_thinking_time"] is None
    assert by["anna"]["minutes"] == pytest.approx(1)


def test_what_each_person_decided_ends_at_the_wall(
    place: Place, clock: FakeClock, desk: Desk
) -> None:
    desk.people.add("anna", teams=["ops"])
    desk.people.add("ben", teams=["billing"])
    desk.approve(desk.open("pay", {"n": 1}, team="ops"), by="anna")
    desk.approve(desk.open("pay", {"n": 2}, team="billing"), by="ben")

    with Desk(place.url, clock=clock, team="ops") as theirs:
        assert set(theirs.metrics(by="reviewer")["by"]) == {"anna"}

    with pytest.raises(BadValue, match="by='mood'"):
        desk.metrics(by="mood")  # type: ignore[arg-type]


# --- what nobody approved ---


def _told(kind: str, **said: Any) -> Event:
    return link(
        "k-1",
        2,
        kind,
        at=moment(1_700_000_000_000_000),
        actor=Actor("person", "anna"),
        payload=said,
        salt=b"",
        previous=GENESIS,
    )


KEY = {"agent": "shop", "tool": "pay", "tier": "low", "team": "ops", "version": "1", "bucket": ""}


@pytest.mark.parametrize(
    ("kind", "said", "things"),
    [
        ("trust.fine", {"ask": "a-1"}, []),  # reviewed anyway: no audit
        ("trust.confirmed", {"ask": "a-1", "rho": 0.1}, ["audited:bad", "audited:square"]),
        ("trust.confirmed", {"ask": "a-1"}, []),
        ("trust.overturned", {"ask": "a-1", "rho": 0.1}, ["audited:fine", "audited:square"]),
        ("trust.flagged", {"ask": "a-1", "rho": 0.1}, []),  # somebody else has to look
        ("trust.incident", {"ask": "a-1"}, []),  # the ask has it, once
        ("trust.fine", {"rho": "much"}, []),
        ("trust.fine", {"rho": 0}, []),
    ],
)
def test_which_words_on_a_key_are_counted(kind: str, said: Any, things: list[str]) -> None:
    assert [fact.what for fact in facts_of_trust(_told(kind, **said), KEY)] == things


def _append(desk: Desk, events: list[tuple[str, dict[str, Any]]]) -> None:
    """Write the journal of a key by hand."""
    head = GENESIS
    for seq, (kind, said) in enumerate(events, 1):
        event = link(
            "k-1",
            seq,
            kind,
            at=desk.store.now(),
            actor=Actor("person", "anna"),
            payload=said,
            salt=b"salt",
            previous=head,
        )
        assert desk.store.commit(Append(event=event, ask=None))
        head = event.hash


def test_the_rate_of_bad_calls_that_nobody_approved_is_estimated_from_audits(desk: Desk) -> None:
    audits = [("trust.fine", {"ask": "a-1", "rho": 0.05})] * 30
    audits += [("trust.fine", {"ask": "a-2", "rho": 0.5})] * 10
    audits += [("trust.confirmed", {"ask": "a-3", "rho": 0.05})]
    _append(desk, [("trust.begun", KEY), *audits])

    found = desk.metrics()
    assert (found["audited"], found["audited_bad"]) == (41, 1)
    assert found["unapproved_bad_rate"] == pytest.approx(20 / 640)
    worth = 640**2 / (31 * 400 + 10 * 4)
    low, high = between(worth * 20 / 640, worth)
    assert (found["unapproved_bad_low"], found["unapproved_bad_high"]) == (
        pytest.approx(low),
        pytest.approx(high),
    )
    by = desk.metrics(by="tool")["by"]["pay"]
    assert by["unapproved_bad_rate"] == pytest.approx(20 / 640)
    before = found | {"until": ""}
    rebuild(desk.store)
    assert desk.metrics() | {"until": ""} == before


def test_bounds_of_equal_audits_are_exact_and_uneven_ones_are_worth_less() -> None:
    for hits, tries in ((0, 14), (1, 20), (7, 50), (50, 50)):
        low, high = between(hits, tries)
        assert low == pytest.approx(lower(hits, tries, 0.025), abs=1e-9)
        assert high == pytest.approx(upper(hits, tries, 0.025), abs=1e-9)
    # With one chance for all, the weights drop out.
    found = estimate(20.0, 20.0 * 40, 400.0 * 40)
    assert found is not None
    assert found.share == pytest.approx(1 / 40)
    assert (found.low, found.high) == pytest.approx(between(1, 40))

    equal, uneven = estimate(0, 100, 100), estimate(0, 100, 1000)

    assert equal is not None
    assert uneven is not None
    assert uneven.high > equal.high
    assert estimate(0, 0, 0) is None


# --- whether people keep up ---


def test_the_busiest_hour_is_that_of_days_on_which_anything_came(
    desk: Desk, clock: FakeClock
) -> None:
    for day in range(3):  # then nothing for a day
        for number in range(4 if day else 10):
            desk.approve(desk.open("pay", {"day": day, "n": number}))
        clock.advance("1h")
        desk.open("pay", {"day": day, "late": True})
        clock.advance("23h")
    clock.advance("1d")

    found = desk.staffing()
    assert found["per_hour"] == 6
    assert found["hour"] == desk.store.now().hour
    assert (found["people"], found["warning"]) == (1, None)


def test_people_are_warned_before_and_while_the_queue_grows() -> None:
    found = expected(Forecast(hour=9, per_hour=400, service_time=45, people=6), within=60)

    assert found.waits == pytest.approx(0.5875, abs=1e-4)
    assert found.wait == pytest.approx(26.4, abs=0.1)
    assert found.warning == (
        "In the busiest hour (09:00 UTC) 400 asks come, which keeps 6 people busy 83% of the time: "
        "an ask waits 26 s. 6 would be enough for a wait of 1 min."
    )
    assert expected(Forecast(hour=9, per_hour=60, service_time=45, people=2), 60).warning is None

    seen = Forecast(hour=14, per_hour=150, service_time=45, people=1)
    found = expected(seen, within=60)

    assert found.load == pytest.approx(1.875)
    assert (found.wait, found.enough) == (None, 3)
    assert found.warning == (
        "In the busiest hour (14:00 UTC) 150 asks come, and 1 person can decide 80: the queue grows. "
        "3 would be enough for a wait of 1 min."
    )


def test_that_nobody_decides_is_said(desk: Desk) -> None:
    desk.open("pay")

    found = desk.staffing()
    assert (found["people"], found["load"]) == (0, None)
    assert found["warning"] == (
        f"In the busiest hour ({found['hour']:02d}:00 UTC) 1 ask comes, and nobody decided lately."
    )


def test_more_people_than_decided_lately_can_be_tried(desk: Desk, clock: FakeClock) -> None:
    for number in range(10):
        ask = desk.open("pay", {"n": number})
        clock.advance("5m")
        desk.approve(ask)

    alone, together = desk.staffing(), desk.staffing(people=4)
    assert alone["service_time"] == 300
    assert (alone["people"], together["people"]) == (1, 4)
    assert alone["load"] == pytest.approx(4 * together["load"])
    assert (alone["warning"] is None, together["warning"]) == (False, None)


@pytest.mark.parametrize(
    "given", [{"within": 0}, {"within": True}, {"people": 0}, {"people": 1.5}, {"days": 0}]
)
def test_a_forecast_of_nonsense_is_refused(desk: Desk, given: Any) -> None:
    with pytest.raises(BadValue, match=next(iter(given))):
        desk.staffing(**given)


# --- counts for ever ---


def test_what_was_ever_counted_is_one_row_for_each_thing(desk: Desk, clock: FakeClock) -> None:
    for number in range(5):
        desk.approve(desk.open("pay", {"n": number}, agent=f"agent{number}", team=None))
        clock.advance("2d")
    desk.metrics()

    ever = desk.store.tallied(TallyFilter("ever", 0), 1)
    assert sorted((one.what, one.n) for one in ever) == [
        ("approved", 5),
        ("asked", 5),
        ("bounded", 5),
    ]
    assert micros(desk.store.now()) > 0
