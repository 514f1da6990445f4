"""How rulings join: to the strictest, whatever the order."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.model.requirement import Factor, Requirement
from sayso.policy.ruling import STRICTNESS, Ruling, Rung, joined, together

ROLES = ("reviewer", "junior", "senior", "security")
TIERS = ("low", "medium", "high", "critical")

factors = st.builds(Factor, st.integers(1, 3), st.sampled_from(ROLES))
requirements = st.builds(
    Requirement, st.lists(factors, min_size=1, max_size=3).map(tuple), st.integers(1, 3)
)
spans = st.sampled_from([60.0, 3600.0, 86400.0])
ladders = st.lists(st.builds(Rung, spans, requirements), max_size=2, unique_by=lambda r: r.after)
rulings = st.builds(
    Ruling,
    effect=st.sampled_from(STRICTNESS),
    sentence=st.sampled_from(["", "A.", "B.", "C."]),
    rules=st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple),
    tier=st.none() | st.sampled_from([*TIERS, "own"]),
    needs=requirements,
    within=st.none() | spans,
    on_timeout=st.sampled_from(["reject", "approve"]),
    cool_off=st.sampled_from([0.0, 8.0, 60.0]),
    execute_within=st.none() | spans,
    remind=st.sampled_from([(), (0.5,), (0.5, 0.9)]),
    ladder=ladders.map(lambda rungs: tuple(sorted(rungs, key=lambda rung: rung.after))),
    requester=st.booleans(),
)
people = st.dictionaries(
    st.sampled_from("abcdefgh"), st.frozensets(st.sampled_from(ROLES[1:])), max_size=8
)


def enough(ruling: Ruling, agreed: dict[str, frozenset[str]], at: float) -> bool:
    """Whether these people could let a call pass at this time, as the ruling stands."""
    ways = [ruling.needs, *(rung.needs for rung in ruling.ladder if rung.after <= at)]
    return any(way.met_by(agreed) for way in ways)


def unordered(ruling: Ruling) -> Ruling:
    """The ruling without what is told in the order of the rules."""
    words = " ".join(sorted(ruling.sentence.split()))
    return replace(ruling, sentence=words, rules=tuple(sorted(ruling.rules)))


@settings(deadline=None)
@given(st.lists(rulings, min_size=1, max_size=4), people, st.sampled_from([0.0, 60.0, 4000.0, 9e4]))
def test_whoever_is_enough_for_all_of_them_together_is_enough_for_each(
    said: list[Ruling], agreed: dict[str, frozenset[str]], at: float
) -> None:
    whole = joined(said, TIERS)

    assert all(STRICTNESS.index(whole.effect) >= STRICTNESS.index(r.effect) for r in said)
    if whole.effect == "ask" and enough(whole, agreed, at):
        assert all(enough(ruling, agreed, at) for ruling in said if ruling.effect == "ask")


@settings(deadline=None)
@given(st.lists(rulings, min_size=1, max_size=4))
def test_no_part_is_stricter_than_the_whole(said: list[Ruling]) -> None:
    whole = joined(said, TIERS)
    heard = [ruling for ruling in said if ruling.effect == whole.effect]

    assert not any(ruling.stricter_than(whole) for ruling in said)
    assert all(whole.needs.deny <= ruling.needs.deny for ruling in heard)
    assert whole.within == min((r.within for r in heard if r.within), default=None)
    assert whole.execute_within == min(
        (r.execute_within for r in heard if r.execute_within), default=None
    )
    assert all(whole.cool_off >= ruling.cool_off for ruling in heard)
    assert whole.requester == all(ruling.requester for ruling in heard)
    assert (whole.on_timeout == "approve") == all(r.on_timeout == "approve" for r in heard)
    assert set(whole.rules) == {name for ruling in heard for name in ruling.rules}


@settings(deadline=None)
@given(st.lists(rulings, min_size=1, max_size=3))
def test_the_order_does_not_matter(said: list[Ruling]) -> None:
    whole = unordered(joined(said, TIERS))

    for other in permutations(said):
        assert unordered(joined(other, TIERS)) == whole


@settings(deadline=None)
@given(st.lists(rulings, min_size=2, max_size=4))
def test_joining_in_steps_is_joining_at_once(said: list[Ruling]) -> None:
    first, *rest = said
    in_steps = joined([first, joined(rest, TIERS)], TIERS)

    assert replace(in_steps, sentence="", rules=()) == replace(
        joined(said, TIERS), sentence="", rules=()
    )


@settings(deadline=None)
@given(st.lists(rulings, min_size=1, max_size=3))
def test_saying_everything_twice_changes_nothing(said: list[Ruling]) -> None:
    assert joined([*said, *said], TIERS) == joined([*said, *said, *said], TIERS)
    once = joined(said, TIERS)
    assert not joined([once, once], TIERS).stricter_than(once)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (["1 senior"], ["1 security"], ["1 security", "1 senior"]),
        (["1 senior"], ["2 senior"], ["2 senior"]),
        (["1 reviewer"], ["1 senior"], ["1 senior"]),
        (["2 reviewer"], ["1 senior"], ["1 reviewer", "1 senior"]),
        (["3 reviewer"], ["1 senior", "1 security"], ["1 reviewer", "1 security", "1 senior"]),
        # Written twice, it is two people; and reviewers beside a senior are others than the senior.
        (["1 senior", "1 senior"], ["1 reviewer"], ["2 senior"]),
        (["1 senior", "2 reviewer"], ["1 senior", "2 reviewer"], ["2 reviewer", "1 senior"]),
        (["1 senior", "1 reviewer"], ["2 security"], ["2 security", "1 senior"]),
    ],
)
def test_requirements_join_to_every_role_with_its_higher_count(
    one: list[str], other: list[str], both: list[str]
) -> None:
    expected = Requirement.parse(both)
    for pair in ((one, other), (other, one)):
        found = together(*(Requirement.parse(needs) for needs in pair))
        assert found == expected


def test_a_no_from_the_policy_silences_the_rest() -> None:
    said = joined(
        [
            Ruling(effect="ask", sentence="Ask.", rules=("a",)),
            Ruling(effect="deny", sentence="Never.", rules=("b",)),
            Ruling(effect="allow", sentence="Fine.", rules=("c",)),
        ]
    )

    assert (said.effect, said.sentence, said.rules) == ("deny", "Never.", ("b",))


def test_a_sentence_that_several_rules_say_is_said_once() -> None:
    said = [Ruling(effect="ask", sentence=text, rules=(text,)) for text in ("A.", "B.", "A.", "C.")]

    assert joined(said).sentence == "A. B. C."
    assert joined(said).rules == ("A.", "B.", "C.")


def test_the_rung_of_one_rule_does_not_do_without_the_people_of_another() -> None:
    refunds = Ruling(
        effect="ask",
        sentence="",
        needs=Requirement.parse("1 senior"),
        ladder=(Rung(3600.0, Requirement.parse("1 lead")),),
    )
    secrets = Ruling(effect="ask", sentence="", needs=Requirement.parse("1 security"))

    both = joined([refunds, secrets])

    assert both.needs == Requirement.parse(["1 security", "1 senior"])
    assert both.ladder == (Rung(3600.0, Requirement.parse(["1 lead", "1 security"])),)


def test_it_is_stricter_to_leave_out_whoever_requested_it() -> None:
    with_requester = Ruling(effect="ask", sentence="", requester=True)
    without = replace(with_requester, requester=False)

    assert without.stricter_than(with_requester)
    assert not with_requester.stricter_than(without)


def test_what_is_frozen_on_an_ask_leaves_out_what_was_not_said() -> None:
    bare = Ruling(effect="ask", sentence="Because.", rules=("a",), version="1f")
    full = replace(
        bare,
        tier="high",
        on_timeout="approve",
        cool_off=8.0,
        execute_within=60.0,
        remind=(0.5,),
        ladder=(Rung(5.0, Requirement.parse(["1 lead", "2 reviewer"])),),
        requester=True,
    )

    assert bare.json == {"rules": ["a"], "version": "1f"}
    assert full.json == {
        "rules": ["a"],
        "tier": "high",
        "version": "1f",
        "on_timeout": "approve",
        "cool_off": 8.0,
        "execute_within": 60.0,
        "remind": [0.5],
        "ladder": [[5.0, ["1 lead", "2 reviewer"]]],
        "requester": True,
    }
