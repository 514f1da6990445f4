"""Who must agree: different people in different places."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import BadValue, UnknownRole, Unsatisfiable
from sayso.model.actor import Roster
from sayso.model.requirement import ONE_REVIEWER, Factor, Requirement

People = dict[str, frozenset[str]]


def people(**roles: str) -> People:
    return {name: frozenset(held.split()) for name, held in roles.items()}


ANNA = people(anna="senior")
TEAM = people(anna="senior", ada="senior security", sec="security", ben="")


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("1 senior", Factor(1, "senior")),
        ("senior", Factor(1, "senior")),
        ("2 reviewer", Factor(2, "reviewer")),
        ("  3   legal.eu ", Factor(3, "legal.eu")),
    ],
)
def test_a_factor_is_a_count_and_a_role(text: str, factor: Factor) -> None:
    assert Factor.parse(text) == factor
    assert Factor.parse(str(factor)) == factor


@pytest.mark.parametrize(
    "text", ["", "0 senior", "-1 senior", "1 senior or legal", "two senior", "1 |x|", 5, None]
)
def test_what_is_no_factor_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadValue, match=r"no requirement|name of a role"):
        Factor.parse(text)


def test_nothing_said_means_one_reviewer_and_nobody_is_refused() -> None:
    assert Requirement.parse(None) == ONE_REVIEWER == Requirement((Factor(1, "reviewer"),))
    assert not ONE_REVIEWER.several

    assert Requirement.parse("2 senior") == Requirement((Factor(2, "senior"),))
    assert Requirement.parse("2 senior").several

    with pytest.raises(BadValue, match="nobody"):
        Requirement.parse([])

    assert str(Requirement.parse(["1 senior", "2 security"])) == "1 senior and 2 security"


@pytest.mark.parametrize("needs", [None, "1 senior", ["1 senior", "1 security"]])
@pytest.mark.parametrize("deny", [0, -1])
def test_a_refusal_must_be_able_to_count(needs: list[str] | str | None, deny: int) -> None:
    with pytest.raises(BadValue, match="deny"):
        Requirement.parse(needs, deny=deny)


@pytest.mark.parametrize(
    ("needs", "agreed", "missing"),
    [
        ("1 reviewer", people(ben=""), ""),
        ("1 senior", people(ben=""), "1 senior"),
        ("2 senior", ANNA, "1 senior"),
        ("1 senior, 1 security", people(anna="senior", sec="security"), ""),
        ("1 senior, 1 security", people(ada="senior security"), "1 security"),
        ("1 senior, 1 security", people(ada="senior security", sec="security"), ""),
        ("1 senior, 1 security", people(ada="senior security", anna="senior"), ""),
        ("1 senior, 1 reviewer", ANNA, "1 reviewer"),
        ("1 reviewer, 1 senior", people(anna="senior", ben=""), ""),
        ("1 senior, 1 senior", ANNA, "1 senior"),
        ("2 reviewer", {}, "2 reviewer"),
    ],
)
def test_different_people_fill_different_places(needs: str, agreed: People, missing: str) -> None:
    requirement = Requirement.parse(needs.split(", "))

    short = requirement.missing(agreed)

    assert ", ".join(map(str, short)) == missing
    assert requirement.met_by(agreed) is (not missing)


ROLES = ["senior", "security", "legal"]
ROSTERS = st.dictionaries(
    st.sampled_from(["anna", "ben", "cleo", "dan", "eve"]),
    st.frozensets(st.sampled_from(ROLES)),
    max_size=5,
)
NEEDS = st.lists(
    st.builds(Factor, st.integers(1, 2), st.sampled_from([*ROLES, "reviewer"])),
    min_size=1,
    max_size=3,
).map(lambda factors: Requirement(tuple(factors)))


def seats_by_trying(needs: Requirement, agreed: People) -> int:
    """Return the most places these people can fill, by trying every order of them."""
    places = [factor for factor in needs.factors for _ in range(factor.count)]
    best = 0
    for order in permutations(range(len(places)), min(len(places), len(agreed))):
        for names in permutations(agreed, len(order)):
            filled = sum(
                places[n].takes(agreed[name]) for n, name in zip(order, names, strict=True)
            )
            best = max(best, filled)
    return best


@given(NEEDS.filter(lambda n: sum(f.count for f in n.factors) <= 4), ROSTERS)
def test_what_is_missing_is_what_no_seating_could_fill(needs: Requirement, agreed: People) -> None:
    places = sum(factor.count for factor in needs.factors)

    short = sum(factor.count for factor in needs.missing(agreed))

    assert short == places - seats_by_trying(needs, agreed)


@given(NEEDS, ROSTERS, st.sampled_from(["anna", "ben", "cleo"]))
def test_one_more_person_never_makes_it_harder(
    needs: Requirement, agreed: People, name: str
) -> None:
    fewer = {other: roles for other, roles in agreed.items() if other != name}

    assert needs.met_by(agreed) or not needs.met_by(fewer)


def test_a_role_nobody_holds_is_named_with_those_that_are_held() -> None:
    with pytest.raises(UnknownRole) as refused:
        Requirement.parse("1 wizard").check(Roster(TEAM))

    assert refused.value.role == "wizard"
    assert refused.value.known == ("security", "senior")


@pytest.mark.parametrize(
    "needs", [["3 senior"], ["2 senior", "2 security"], ["5 reviewer"], ["1 senior", "4 reviewer"]]
)
def test_more_places_than_people_can_fill_are_refused(needs: list[str]) -> None:
    with pytest.raises(Unsatisfiable, match="missing"):
        Requirement.parse(needs).check(Roster(TEAM))


def test_a_deny_threshold_beyond_the_voters_is_refused_unless_one_is_alone() -> None:
    with pytest.raises(Unsatisfiable, match="deny=3"):
        Requirement.parse("1 senior", deny=3).check(Roster(TEAM))

    Requirement.parse("1 senior", deny=2).check(Roster(TEAM))

    Requirement.parse(["2 senior", "1 security"], deny=3).check(Roster({}))


@given(NEEDS, ROSTERS.filter(bool))
def test_what_passes_the_check_can_be_met_by_everybody_together(
    needs: Requirement, roster: People
) -> None:
    try:
        needs.check(Roster(roster))
    except (Unsatisfiable, UnknownRole):
        assert not needs.met_by(roster)
    else:
        assert needs.met_by(roster)


@pytest.mark.parametrize("needs", [["100 a", "1 b"], [f"1 r{number}" for number in range(21)]])
def test_more_than_anybody_could_gather_is_refused_before_anybody_is_counted(
    needs: list[str],
) -> None:
    with pytest.raises(BadValue, match="needs="):
        Requirement.parse(needs)


def test_of_thousands_of_people_only_the_first_who_fit_are_looked_at() -> None:
    looked: list[str] = []

    class Noted(dict[str, frozenset[str]]):
        def __getitem__(self, name: str) -> frozenset[str]:
            looked.append(name)
            return super().__getitem__(name)

    crowd = Noted({f"p{number:04}": frozenset(("senior",)) for number in range(2_000)})

    assert Requirement.parse("3 senior").met_by(crowd)
    assert looked == ["p0000", "p0001", "p0002"]


def test_somebody_who_comes_last_is_found_among_thousands() -> None:
    crowd = {f"p{number:04}": frozenset(("senior",)) for number in range(2_000)}
    needs = Requirement.parse(["1 senior", "1 security"])

    assert needs.missing(crowd) == (Factor(1, "security"),)
    assert not needs.missing(crowd | {"zoe": frozenset(("security",))})
    with pytest.raises(UnknownRole):
        needs.check(Roster(crowd))
    needs.check(Roster(crowd | {"zoe": frozenset(("security",))}))
