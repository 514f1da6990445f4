"""What a stated confidence is worth: read from decisions, shown on the ask, heard by the policy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sayso
from sayso import Ask, Desk
from sayso.asks.law import NO_LAW
from sayso.asks.lawbook import InForce, default_policy
from sayso.asks.ruling import rule
from sayso.insight import calibrating
from sayso.insight.calibrating import forget, worth_by
from sayso.insight.labelling import label_of
from sayso.insight.reader import catch_up, rebuild
from sayso.model.content import Content, Proposal
from sayso.model.requirement import Requirement
from sayso.model.worth import FEWEST, Worth, worth_of
from sayso.policy.reading import read as read_policy
from sayso.policy.rules import Policy, Rule
from sayso.policy.tiers import Terms
from sayso.store.readers import Entries
from sayso.testing import FakeClock
from tests.asks.test_trust import LAW, grant
from tests.places import Place
from tests.policy.comparing import stricter_than
from tests.runs.people import begun

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def decided(desk: Desk, count: int, good: int, *, stated: float = 0.97, **more: Any) -> list[Ask]:
    """Let people decide on so many calls of an agent that is sure, and leave so many as they were."""
    asks = []
    for number in range(count):
        ask = desk.open("pay", {"amount": number}, confidence=stated, **more)
        asks.append(desk.approve(ask) if number < good else desk.reject(ask))
    forget(desk.store)
    return asks


def worth(ask: Ask) -> Worth:
    found = worth_of(ask.content.worth)
    assert found is not None
    return found


def test_before_fifty_decisions_there_is_no_record(desk: Desk) -> None:
    decided(desk, FEWEST - 1, FEWEST - 1)

    found = worth(desk.open("pay", confidence=0.97))
    assert (found.value, found.light, found.labels) == (None, "red", FEWEST - 1)
    assert found.words == (
        "What that is worth is not known yet: it takes 50 decisions, and there are 49."
    )

    decided(desk, 1, 1)
    found = worth(desk.open("pay", {"amount": 7}, confidence=0.97))
    assert found.value is not None
    assert (found.light, found.good, found.near) == ("green", 50, 50)


def test_the_light_is_that_of_the_record_with_the_count(desk: Desk) -> None:
    decided(desk, 60, 48)

    ask = desk.open("pay", confidence=0.97)

    found = worth(ask)
    assert found.value == pytest.approx(0.8, abs=0.01)
    assert found.light == "amber"
    said = "approved unchanged 48 of 60 times when it was about as sure."
    assert found.words.endswith(said)


def test_what_is_not_known_is_said_and_nothing_is_looked_up_without_a_word(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(desk, 50, 45)

    found = worth(desk.open("pay", confidence=0.4))

    assert (found.good, found.near, found.labels) == (0, 0, 50)
    assert found.words.endswith("of 50 decisions, none of them when it was about as sure.")

    monkeypatch.setattr(calibrating, "weighed", None)

    assert desk.open("pay").content.worth is None


def test_it_is_part_of_what_is_shown_and_so_of_the_digest(desk: Desk) -> None:
    decided(desk, 50, 25)
    ask = desk.open("pay", confidence=0.97)

    again = desk.get(ask.id)

    assert worth(again) == worth(ask)
    assert again.digest == ask.digest
    assert ask.content.to_json()["worth"]["labels"] == 50


def test_the_same_question_is_the_same_whatever_was_decided_meanwhile(desk: Desk) -> None:
    first = desk.open("pay", {"to": "ada"}, confidence=0.97, key="once")
    like = desk.open("mail", {"to": "ada"}, confidence=0.97)
    decided(desk, 50, 25)

    assert desk.open("pay", {"to": "ada"}, confidence=0.97, key="once").id == first.id
    assert desk.open("mail", {"to": "ada"}, confidence=0.97).id == like.id


@pytest.mark.parametrize("verdict", ["edit", "reject", "respond"])
def test_only_what_was_approved_as_it_was_is_right(desk: Desk, verdict: str) -> None:
    ask = desk.open("pay", {"amount": 7}, confidence=0.9)
    match verdict:
        case "edit":
            ask = desk.edit(ask, {"amount": 6})
        case "reject":
            ask = desk.reject(ask, kind="not-now")
        case _:
            ask = desk.respond(ask, "Ask Carl")

    label = label_of(ask)

    assert label is not None
    assert (label.right, label.stated) == (False, 900)


def test_what_nobody_decided_or_proposed_labels_nothing(desk: Desk) -> None:
    @desk.gate(risk="low", confidence=0.99)
    def look(at: int) -> int:
        return at

    look(1)
    desk.withdraw(desk.open("pay", confidence=0.9))
    question = desk.later.question("Where?", confidence=0.9).ask
    desk.respond(question, "Here")
    desk.approve(desk.open("mail"))

    assert desk.calibration() == []


def test_an_agent_and_a_tool_have_a_record_of_their_own(desk: Desk) -> None:
    decided(desk, 50, 50)

    other_tool = desk.open("mail", confidence=0.97)
    other_agent = desk.open("pay", confidence=0.97, agent="clerk")

    assert worth(other_tool).labels == worth(other_agent).labels == 0


def test_a_namesake_in_another_team_is_another_agent(desk: Desk) -> None:
    for name, team in (("anna", "north"), ("ben", "south")):
        desk.people.add(name, teams=[team])
    for number in range(50):
        ask = desk.open("pay", {"amount": number}, confidence=0.97, team="north")
        desk.approve(ask, by="anna")
    forget(desk.store)

    assert worth(desk.open("pay", confidence=0.97, team="south")).labels == 0
    assert worth(desk.open("pay", {"n": 1}, confidence=0.97)).labels == 0
    assert worth(desk.open("pay", {"n": 2}, confidence=0.97, team="north")).labels == 50


def test_a_team_sees_the_table_of_its_own(desk: Desk, place: Place) -> None:
    for name, team in (("anna", "north"), ("ben", "south")):
        desk.people.add(name, teams=[team])
        desk.approve(desk.open("pay", confidence=0.97, team=team), by=name)

    with Desk(place.url, team="south") as south:
        assert [one["team"] for one in south.calibration()] == ["south"]
    assert sorted(one["team"] for one in desk.calibration()) == ["north", "south"]


def test_labels_are_counted_once_and_made_again_from_the_journal(desk: Desk) -> None:
    decided(desk, 20, 15)
    before = desk.calibration()

    rebuild(desk.store)

    assert desk.calibration() == before
    assert (before[0]["labels"], before[0]["good"]) == (20, 15)


def test_the_rows_do_not_grow_with_what_is_decided(desk: Desk, place: Place) -> None:
    decided(desk, 30, 20, stated=0.9)
    decided(desk, 30, 20, stated=0.9001)

    assert place.sql("select count(*) from labels") == [(1,)]


def test_a_record_is_read_once_a_second_whatever_is_opened(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(desk, 1, 1)
    looks: list[Any] = []
    asked = desk.store.labels_of

    def look(*of: str) -> Any:
        looks.append(of)
        return asked(*of)

    monkeypatch.setattr(desk.store, "labels_of", look)
    monkeypatch.setattr("sayso.insight.calibrating.time.monotonic", lambda: 1000.0)
    forget(desk.store)

    for number in range(5):
        desk.open("pay", {"n": number}, confidence=0.9)
    monkeypatch.setattr("sayso.insight.calibrating.time.monotonic", lambda: 1001.0)
    desk.open("pay", confidence=0.9)

    assert len(looks) == 2


def test_the_table_says_how_far_it_can_be_relied_upon(desk: Desk) -> None:
    decided(desk, 40, 20, stated=0.95)
    decided(desk, 20, 5, stated=0.55)

    (table,) = desk.calibration(agent="shop", tool="pay")

    assert [(one["labels"], one["right"]) for one in table["bins"]] == [(20, 0.25), (40, 0.5)]
    assert table["ece"] == pytest.approx((40 * 0.45 + 20 * 0.30) / 60)
    assert table["record"] is True
    assert [one["light"] for one in table["worth"]] == ["red", "red"]
    assert [one["worth"] for one in table["worth"]] == pytest.approx([0.25, 0.5], abs=0.02)
    assert desk.calibration(tool="mail") == []


# --- harm that shows later, and audits ---------------------------------------------------------


def summed(desk: Desk, tool: str = "pay") -> tuple[int, int, float, float]:
    """Return how many decided and good ones there are, and what they weigh."""
    catch_up(desk.store)
    (row,) = desk.store.labelled(agent="shop", tool=tool, teams=None)
    return row.n, row.good, round(row.weight, 6), round(row.good_weight, 6)


@pytest.mark.parametrize("between", [True, False], ids=["read between", "read at once"])
def test_what_did_harm_afterwards_was_not_right(desk: Desk, between: bool) -> None:
    ask, other = (desk.open("pay", {"n": n}, confidence=0.97) for n in range(2))
    desk.approve(ask)
    desk.approve(other)
    desk.finish(desk.begin(ask), "paid")
    if between:
        assert summed(desk) == (2, 2, 2, 2)

    desk.incident(ask, "It went to the wrong account")

    assert summed(desk) == (2, 1, 2, 1)
    rebuild(desk.store)
    assert summed(desk) == (2, 1, 2, 1)


def test_of_two_who_read_the_same_decisions_one_counts_them(desk: Desk) -> None:
    store, before = desk.store, desk.store.reached()
    decided(desk, 3, 2)
    assert summed(desk) == (3, 2, 3, 2)

    rows = store.labelled(agent=None, tool=None, teams=None)
    assert store.take_in(Entries(labels=rows), before=before, after=store.reached()) is False

    assert summed(desk) == (3, 2, 3, 2)


def test_harm_of_what_was_not_right_anyway_takes_nothing_more(desk: Desk) -> None:
    ask = desk.edit(desk.open("pay", {"n": 1}, confidence=0.97), {"n": 2})
    desk.finish(desk.begin(ask), "paid")
    desk.incident(ask, "It went to the wrong account")

    assert summed(desk) == (1, 0, 1, 0)


def test_an_audit_stands_for_all_that_ran_alone(place: Place, clock: FakeClock) -> None:
    policy = read_policy(LAW, source="law.toml", default=default_policy())
    with Desk(place.url, policy=policy, agent="shop", account="sam@till", clock=clock) as desk:
        desk.law.coin = lambda: 0.999
        rate = grant(desk).terms.audit
        assert desk.open("refund", {"order": "A"}, confidence=0.9).decision, (
            "it runs alone: no label"
        )
        desk.law.coin = lambda: 0.0
        asks = [desk.open("refund", {"order": f"B{n}"}, confidence=0.9) for n in range(2)]
        desk.approve(asks[0])
        desk.finish(desk.begin(asks[0]), "paid")
        desk.reject(asks[1])
        desk.approve(
            desk.open("refund", {"order": "C"}, confidence=0.6)
        )  # a rule asked, not the coin

        catch_up(desk.store)
        high = desk.store.labels_of("", "shop", "refund", "action")[-1]
        assert (high.n, high.good) == (2, 1)
        assert high.weight == pytest.approx(1 / rate + 1), "a no of no kind says nothing of the key"
        assert high.good_weight == pytest.approx(1 / rate)

        desk.incident(asks[0], "It went to the wrong account")
        catch_up(desk.store)
        high = desk.store.labels_of("", "shop", "refund", "action")[-1]
        assert (high.n, high.good) == (2, 0)
        assert high.good_weight == pytest.approx(0)


# --- the policy --------------------------------------------------------------------------------


def test_an_agent_that_is_too_sure_is_asked_about_after_all(desk: Desk) -> None:
    done = []

    @sayso.tool(risk="low", confidence=0.97)
    def pay(amount: int) -> None:
        done.append(amount)

    @desk.workflow(name="settle")
    def settle(run, amount):
        run.call(pay, amount)

    assert begun(desk, settle, 1).status == "done"
    decided(desk, 60, 20)

    run = begun(desk, settle, 2)

    assert run.status == "waiting"
    said = run.state.pending[0].content.sentence
    assert said.startswith("The agent is not sure of it. By its record 97% is worth 33")
    assert done == [1]


def test_what_is_asked_anyway_is_said_once_beside_the_record(desk: Desk) -> None:
    decided(desk, 60, 20)

    said = desk.open("pay", {"n": 1}, risk="high", confidence=0.97).content.sentence

    assert said.count("Calls of high risk need 1 senior.") == 1
    assert "By its record 97% is worth 33" in said


def test_a_key_that_runs_alone_is_asked_for_once_its_confidence_is_worth_little(
    place: Place, clock: FakeClock
) -> None:
    policy = read_policy(LAW, source="law.toml", default=default_policy())
    with Desk(place.url, policy=policy, agent="shop", account="sam@till", clock=clock) as desk:
        desk.law.coin = lambda: 0.0
        for number in range(60):
            ask = desk.open("refund", {"order": f"D{number}"}, confidence=0.97)
            desk.approve(ask) if number % 3 else desk.reject(ask, kind="taste")
        forget(desk.store)
        desk.law.coin = lambda: 0.999
        grant(desk)

        assert desk.open("refund", {"order": "E"}).decision, "nothing was stated"
        assert desk.open("refund", {"order": "E"}, confidence=0.97).open


def test_an_agent_that_is_better_than_it_says_gains_nothing(desk: Desk) -> None:
    decided(desk, 60, 60, stated=0.5)

    ask = desk.docket.open(
        desk.forms.action("pay", {"amount": 7}, risk="low", confidence=0.5), declared=True
    )

    assert worth(ask).light == "green"
    assert ask.content.ruled.rules == ("unsure",)


def test_where_the_index_is_broken_the_stated_number_stands(desk: Desk, place: Place) -> None:
    @desk.gate(risk="low")
    def pay(amount: int) -> None: ...

    decided(desk, 60, 20)
    forget(desk.store)
    place.sql("alter table labels rename to gone")
    try:
        ask = desk.docket.open(
            desk.forms.action("pay", {"amount": 7}, risk="low", confidence=0.97), declared=True
        )
    finally:
        place.sql("alter table gone rename to labels")

    assert worth(ask) == Worth()
    assert worth(ask).light == "red"
    assert ask.decision is not None, "0.97 is sure enough for a low risk"


shares = st.integers(0, 1000)
sums = st.lists(
    st.tuples(shares, st.integers(1, 400), st.floats(0, 1), st.sampled_from([1.0, 4.2, 20.0])),
    max_size=12,
    unique_by=lambda row: row[0],
)
bounds = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9, 0.95])
conditions = st.one_of(
    st.none(),
    st.builds("confidence {} {}".format, st.sampled_from(["<", "<=", ">", ">="]), bounds),
    st.builds("has(confidence) && confidence > {}".format, bounds),
)
needs = st.sampled_from([None, ["1 senior"], ["2 reviewer"], ["1 senior", "1 security"]])


def _terms(needs: Sequence[str] | None, cool_off: float) -> Terms:
    return Terms(needs=None if needs is None else Requirement.parse(needs), cool_off=cool_off)


effects = st.one_of(
    st.builds(lambda effect: {"effect": effect}, st.sampled_from(["allow", "deny"])),
    st.builds(
        lambda needs, cool: {"effect": "ask", "terms": _terms(needs, cool)},
        needs,
        st.sampled_from([0.0, 8.0]),
    ),
    st.builds(lambda tier: {"tier": tier}, st.sampled_from(["low", "medium", "high", "critical"])),
)
rules = st.lists(st.tuples(conditions, effects), max_size=4)


@settings(max_examples=300, deadline=None)
@given(sums, rules, st.integers(0, 1000), st.sampled_from([None, "low", "medium", "high"]))
def test_a_record_never_makes_a_ruling_less_strict(
    rows: list[tuple[int, int, float, float]], said: list[Any], stated: int, risk: Any
) -> None:
    found = tuple(
        (at, n, good := round(share * n), n * weight, good * weight)
        for at, n, share, weight in sorted(rows)
    )
    policy = Policy(
        rules=tuple(
            Rule(name=f"rule {number}", when=when, **effect)
            for number, (when, effect) in enumerate(said)
        )
    )
    law = InForce(policy, b"", NO_LAW)
    content = Content(
        kind="action",
        title="pay",
        agent="shop",
        proposal=Proposal.of("pay", {}),
        allow=("approve",),
        confidence=stated / 1000,
        risk=risk,
    )
    recalibrated = content.changed(worth=worth_by(found, stated / 1000).text)

    without, with_ = rule(law, content, NOON), rule(law, recalibrated, NOON)

    assert not stricter_than(without, with_)
    assert with_.cool_off >= without.cool_off or with_.effect != without.effect
    if without.asks and with_.asks:
        assert without.earnable or not with_.earnable, "no grant is earned by a record"
