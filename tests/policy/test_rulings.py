"""How rulings join: to the strictest, whatever the order."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.model.requirement import Factor, Requirement
from sayso.model.ruled import NOTHING, ruled
from sayso.policy.ruling import STRICTNESS, Ruling, Rung, joined, together
from tests.policy.comparing import stricter_than

ROLES = ("reviewer", "junior", "senior", "security")
TIERS = ("low", "medium", "high", "critical")

factors = st.builds(Factor, st.integers(1, 3), st.sampled_from(ROLES))
requirements = st.builds(
    Requirement, st.lists(factors, min_size=1, max_size=3).map(tuple), st.integers(1, 3)
)
spans = st.sampled_from([60.0, 3600.0, 86400.0])
above = st.lists(st.sampled_from(["lead", "boss", *ROLES[1:]]), min_size=1, max_size=2, unique=True)
ladders = st.lists(st.builds(Rung, spans, above.map(tuple)), max_size=3)
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
    ladder=ladders.map(tuple),
    requester=st.booleans(),
)
people = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.frozensets(st.sampled_from([*ROLES[1:], "lead", "boss"])),
    max_size=8,
)
moments = st.sampled_from([0.0, 59.0, 60.0, 4000.0, 9e4])


def enough(ruling: Ruling, agreed: dict[str, frozenset[str]], at: float) -> bool:
    """Whether these people could let a call pass at this time, as the ruling stands."""
    later = {role for rung in ruling.ladder if rung.after <= at for role in rung.roles}
    every = frozenset(ruling.needs.roles)
    counted = {name: held | every if held & later else held for name, held in agreed.items()}
    return ruling.needs.met_by(counted)


def unordered(ruling: Ruling) -> Ruling:
    """The ruling without what is told in the order of the rules."""
    words = " ".join(sorted(ruling.sentence.split()))
    return replace(ruling, sentence=words, rules=tuple(sorted(ruling.rules)))


@settings(deadline=None)
@given(st.lists(rulings, min_size=1, max_size=4), people, moments)
def test_whoever_is_enough_for_all_of_them_together_is_enough_for_each(
    said: list[Ruling], agreed: dict[str, frozenset[str]], at: float
) -> None:
    whole = joined(said)

    assert all(STRICTNESS.index(whole.effect) >= STRICTNESS.index(r.effect) for r in said)
    if whole.effect == "ask" and enough(whole, agreed, at):
        assert all(enough(ruling, agreed, at) for ruling in said if ruling.effect == "ask")


@settings(deadline=None)
@given(st.lists(rulings, min_size=1, max_size=4))
def test_what_is_critical_to_one_of_them_is_critical_whatever_the_highest_is_called(
    said: list[Ruling],
) -> None:
    whole = joined(said)

    assert whole.critical == any(ruling.tier == "critical" for ruling in said)
    frozen = ruled(whole.text) if whole.text else NOTHING
    assert frozen.critical == whole.critical
    assert ("critical" in whole.json) == (whole.critical and whole.tier != "critical")


@settings(deadline=None)
@given(st.lists(rulings, min_size=1, max_size=4))
def test_no_part_is_stricter_than_the_whole(said: list[Ruling]) -> None:
    whole = joined(said)
    heard = [ruling for ruling in said if ruling.effect == whole.effect]

    assert not any(stricter_than(ruling, whole) for ruling in said)
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
    whole = unordered(joined(said))

    for other in permutations(said):
        assert unordered(joined(other)) == whole


@settings(deadline=None)
@given(st.lists(rulings, min_size=2, max_size=4))
def test_joining_in_steps_is_joining_at_once(said: list[Ruling]) -> None:
    first, *rest = said
    in_steps = joined([first, joined(rest)])

    assert replace(in_steps, sentence="", rules=()) == replace(joined(said), sentence="", rules=())


@settings(deadline=None)
@given(st.lists(rulings, min_size=1, max_size=3))
def test_saying_everything_twice_changes_nothing(said: list[Ruling]) -> None:
    assert joined([*said, *said]) == joined([*said, *said, *said])
    once = joined(said)
    assert not stricter_than(joined([once, once]), once)
    assert joined([once, once]).ladder == once.ladder


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


def test_a_no_silences_the_rest_and_a_sentence_is_said_once() -> None:
    said = joined(
        [
            Ruling(effect="ask", sentence="Ask.", rules=("a",)),
            Ruling(effect="deny", sentence="Never.", rules=("b",)),
            Ruling(effect="allow", sentence="Fine.", rules=("c",)),
        ]
    )

    assert (said.effect, said.sentence, said.rules) == ("deny", "Never.", ("b",))

    whole = joined(Ruling(effect="ask", sentence=text, rules=(text,)) for text in "ABAC")
    assert (whole.sentence, whole.rules) == ("A B C", ("A", "B", "C"))


# --- who stands in ---


def asking(*needs: str, **ladder: list[str]) -> Ruling:
    """A ruling with rungs such as `h1=["lead"]`, after one hour."""
    rungs = tuple(Rung(3600.0 * int(at[1:]), tuple(to)) for at, to in ladder.items())
    return Ruling(effect="ask", sentence="", needs=Requirement.parse(needs), ladder=rungs)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        # whom only one of them lets stand in, does not
        (asking("1 senior", h1=["lead"]), asking("1 security"), []),
        (asking("1 senior", h1=["lead"]), asking("1 security", h2=["boss"]), []),
        # whom both let stand in, does from the later time on
        (
            asking("1 senior", h1=["lead"]),
            asking("1 security", h2=["lead"]),
            [[7200.0, ["lead"]]],
        ),
        (
            asking("1 senior", h1=["lead", "cto"], h4=["boss"]),
            asking("1 security", h2=["boss", "lead"], h3=["cto"]),
            [[7200.0, ["lead"]], [10800.0, ["cto", "lead"]], [14400.0, ["boss", "cto", "lead"]]],
        ),
        # where anybody is enough, nobody is kept from standing in
        (asking("1 senior", h1=["lead"]), asking("1 reviewer"), [[3600.0, ["lead"]]]),
        (asking("1 senior", h1=["lead"]), asking("3 reviewer"), [[3600.0, ["lead"]]]),
        (asking("1 senior", h1=["lead"]), asking("1 reviewer", "1 security"), []),
    ],
)
def test_at_every_time_those_stand_in_whom_both_let(
    one: Ruling, other: Ruling, both: list[object]
) -> None:
    for pair in ((one, other), (other, one)):
        assert joined(pair).json.get("ladder", []) == both


def test_a_higher_rung_has_those_below_it_and_where_anybody_is_enough_there_is_none() -> None:
    said = asking("1 senior", h2=["boss"], h1=["lead"], h3=["lead"])

    assert said.ladder == (Rung(3600.0, ("lead",)), Rung(7200.0, ("boss", "lead")))

    assert asking("2 reviewer", h1=["lead"]).ladder == ()

    refunds, secrets = asking("1 senior", h1=["lead"]), asking("1 security")

    both = joined([refunds, secrets])

    assert both.needs == Requirement.parse(["1 security", "1 senior"])
    assert not enough(both, {"lea": frozenset({"lead"}), "zoe": frozenset({"security"})}, 9e4)


def test_as_many_different_people_are_needed_on_a_rung_as_before() -> None:
    critical = asking("1 senior", "1 security", h1=["lead"])
    lea, leo = {"lea": frozenset({"lead"})}, {"leo": frozenset({"lead"})}

    assert not enough(critical, lea, 3600.0)
    assert not enough(critical, lea | leo, 3599.0)
    assert enough(critical, lea | leo, 3600.0)


@settings(deadline=None)
@given(rulings, people, moments)
def test_nobody_stands_in_for_two(
    said: Ruling, agreed: dict[str, frozenset[str]], at: float
) -> None:
    if enough(said, agreed, at):
        assert len(agreed) >= sum(factor.count for factor in said.needs.factors)


def test_it_is_stricter_if_somebody_may_not_stand_in_or_decide_any_more() -> None:
    with_lead, without = asking("1 senior", h1=["lead"]), asking("1 senior")

    assert stricter_than(without, with_lead)
    assert stricter_than(asking("1 senior", h2=["lead"]), with_lead)
    assert not stricter_than(with_lead, without)
    assert not stricter_than(asking("1 reviewer"), with_lead)

    with_requester = Ruling(effect="ask", sentence="", requester=True)
    without = replace(with_requester, requester=False)

    assert stricter_than(without, with_requester)
    assert not stricter_than(with_requester, without)


def test_what_is_frozen_on_an_ask_leaves_out_what_was_not_said() -> None:
    bare = Ruling(effect="ask", sentence="Because.", rules=("a",), version="1f")
    full = replace(
        bare,
        tier="high",
        on_timeout="approve",
        cool_off=8.0,
        execute_within=60.0,
        remind=(0.5,),
        needs=Requirement.parse("1 senior"),
        ladder=(Rung(5.0, ("lead", "boss")),),
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
        "ladder": [[5.0, ["boss", "lead"]]],
        "requester": True,
    }
