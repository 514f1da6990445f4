"""A policy and the people of a desk: whom it asks for must be there (E21), by role, group or name."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sayso import Desk
from sayso.asks.lawbook import Lawbook, default_policy
from sayso.errors import (
    BadPolicy,
    Forbidden,
    SchemaMismatch,
    StoreUnavailable,
    UnknownRole,
    Unsatisfiable,
)
from sayso.policy.reading import read
from sayso.policy.rules import Policy, Rule
from sayso.policy.tiers import Terms
from sayso.testing import FakeClock
from tests.places import Place

LEAD = '[[rules]]\nname = "leads"\ntool = "refund"\neffect = "ask"\nneeds = ["1 lead"]\n'
ANYBODY = '[[rules]]\nname = "all"\ntool = "refund"\neffect = "ask"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "law.toml"


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "sayso.policy")
    return caplog


def law(text: str) -> Policy:
    return read(text, source="law.toml", default=default_policy())


def eager(desk: Desk, file: Path) -> Lawbook:
    """The lawbook of a desk, which does not wait for its file to stand still."""
    return Lawbook(file, settle=0, try_again=0, people=desk.store.register)


# --- when it is loaded ---


def test_a_policy_that_nobody_here_could_do_is_refused_until_somebody_can(
    place: Place, clock: FakeClock, file: Path
) -> None:
    file.write_text(LEAD)
    with Desk(place.url, clock=clock, policy=file) as desk:
        desk.people.add("anna", roles=["senior"])
        with pytest.raises(BadPolicy):
            desk.open("refund", {"amount": 1})
        with pytest.raises(BadPolicy, match="Nobody holds the role 'lead'") as refused:
            desk.open("refund", {"amount": 1})
        assert str(refused.value).startswith(f"{file}:1: The people of this desk could never")
        assert "rule 'leads'" in str(refused.value)
        assert "sayso people add NAME --role lead" in str(refused.value)
        assert place.count("asks") == 0

        desk.people.add("lea", roles=["lead"])

        assert desk.open("refund", {"amount": 1}).open


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (LEAD.replace("1 lead", "3 reviewer"), "3 reviewer can never be met"),
        ('[tiers.own]\nneeds = ["2 senior"]\n', "tier own: 2 senior can never be met"),
        ('[groups]\nghosts = ["gone"]\n', "group ghosts: Nobody in it is on this desk"),
        ("[tiers.high]\nescalate = [{ after = '1h', to = ['boss'] }]\n", "the role 'boss'"),
        ('[[rules]]\nname = "by name"\neffect = "ask"\nneeds = ["1 carl"]\n', "the role 'carl'"),
        (f"{LEAD}[tiers.own]\nneeds = ['1 king']\n", "And 1 more: sayso policy check"),
    ],
)
def test_whatever_could_never_be_met_is_named(desk: Desk, text: str, word: str) -> None:
    desk.people.add("anna", roles=["senior"])
    desk.people.add("ben")

    with pytest.raises(BadPolicy, match=word):
        _ = Lawbook(law(text), people=desk.store.register).policy


def test_a_policy_made_in_python_is_held_against_the_people_too(
    place: Place, clock: FakeClock
) -> None:
    terms = Terms(needs=law(LEAD).rules[-1].terms.needs)
    own = Policy(rules=(Rule(name="leads", effect="ask", terms=terms),))
    with Desk(place.url, clock=clock, policy=own) as desk:
        desk.people.add("anna")

        with pytest.raises(BadPolicy, match=r"^The people of this desk .* rule 'leads'"):
            desk.open("refund")


def test_alone_at_a_desk_a_policy_is_held_against_nobody(
    place: Place, clock: FakeClock, file: Path
) -> None:
    file.write_text(LEAD)
    with Desk(place.url, clock=clock, policy=file) as desk:
        assert desk.open("refund", {"amount": 1}).open


def test_the_usual_tiers_that_nobody_can_fill_are_no_mistake(desk: Desk) -> None:
    desk.people.add("anna")

    assert Lawbook(law(ANYBODY), people=desk.store.register).policy.rules


# --- when it changes ---


def test_a_change_that_does_not_fit_the_people_waits_for_them_and_says_so_once(
    desk: Desk, file: Path, log: pytest.LogCaptureFixture
) -> None:
    desk.people.add("anna")
    file.write_text(ANYBODY)
    book = eager(desk, file)
    before = book.policy

    file.write_text(LEAD)

    assert [book.policy for _ in range(5)] == [before] * 5
    (record,) = log.records
    assert record.levelno == logging.ERROR
    assert "the one before stays" in record.getMessage()
    assert "Nobody holds the role 'lead'" in record.getMessage()
    desk.people.add("lea", roles=["lead"])
    assert book.policy.rules[-1].name == "leads"


def test_a_change_that_does_not_fit_can_be_taken_back(
    desk: Desk, file: Path, log: pytest.LogCaptureFixture
) -> None:
    desk.people.add("anna")
    file.write_text(ANYBODY)
    book = eager(desk, file)
    before = book.policy
    file.write_text(LEAD)
    assert [book.policy for _ in range(3)] == [before] * 3

    file.write_text(ANYBODY)

    assert [book.policy.version for _ in range(3)] == [before.version] * 3
    assert len(log.records) == 1


# --- where there is no desk to hold it against ---


def test_a_desk_that_cannot_be_reached_is_no_fault_of_the_policy(file: Path) -> None:
    file.write_text(LEAD)
    with Desk("postgresql://nobody@127.0.0.1:1/none", policy=file) as desk:
        with pytest.raises(StoreUnavailable):
            _ = desk.policy
        with pytest.raises(StoreUnavailable):
            desk.open("refund", {"amount": 1})


@pytest.fixture
def bare(cluster: str) -> Iterator[str]:
    """A database of PostgreSQL without tables."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("create database unmigrated")
        yield cluster.replace("/postgres?", "/unmigrated?")
        connection.execute("drop database unmigrated with (force)")


def test_a_desk_without_tables_is_no_fault_of_the_policy(bare: str, file: Path) -> None:
    file.write_text(LEAD)
    with Desk(bare, policy=file) as desk:
        with pytest.raises(SchemaMismatch):
            desk.open("refund", {"amount": 1})
        desk.store.migrate()
        desk.people.add("anna")

        with pytest.raises(BadPolicy, match="Nobody holds the role 'lead'"):
            _ = desk.policy


def test_a_change_waits_until_the_desk_can_be_reached(
    desk: Desk, file: Path, log: pytest.LogCaptureFixture
) -> None:
    file.write_text(ANYBODY)
    away = Desk("postgresql://nobody@127.0.0.1:1/none")
    stores = [desk.store]
    book = Lawbook(file, settle=0, try_again=0, people=lambda: stores[-1].register())
    before = book.policy
    stores.append(away.store)
    file.write_text(LEAD)

    assert [book.policy for _ in range(4)] == [before] * 4
    assert log.records == []
    stores.pop()
    assert book.policy.rules[-1].name == "leads"


# --- a role, a group, a person ---

NEEDS = {"1 senior": "anna", "1 security": "zoe", "1 carl": "carl"}


@pytest.fixture
def staffed(place: Place, clock: FakeClock) -> Iterator[Desk]:
    """A desk with a senior, somebody in a group, and two without a role."""
    own = law('[groups]\nsecurity = ["zoe"]\n')
    with Desk(place.url, clock=clock, agent="shop", policy=own) as desk:
        for name, roles in {"anna": ["senior"], "zoe": [], "carl": [], "dora": []}.items():
            desk.people.add(name, roles=roles)
        yield desk


@pytest.mark.parametrize(("needs", "who"), NEEDS.items())
def test_an_ask_is_for_a_role_a_group_or_a_person(staffed: Desk, needs: str, who: str) -> None:
    ask = staffed.open("wipe", needs=[needs])

    for other in {"anna", "zoe", "carl", "dora"} - {who}:
        assert list(staffed.inbox(person=other)) == []
        with pytest.raises(Forbidden, match="would not count"):
            staffed.approve(ask, by=other)
    assert [each.id for each in staffed.inbox(person=who)] == [ask.id]
    assert [each.id for each in staffed.inbox(role=needs.split()[1])] == [ask.id]
    assert staffed.approve(ask, by=who).decision


def test_a_person_beside_a_role_is_another_person(staffed: Desk) -> None:
    staffed.people.add("sue", roles=["senior"])
    ask = staffed.open("wipe", needs=["1 anna", "1 senior"])

    assert staffed.approve(ask, by="anna").open
    assert staffed.approve(ask, by="sue").decision


def test_a_person_by_name_is_one_and_stays_that_one(staffed: Desk) -> None:
    with pytest.raises(UnknownRole):
        staffed.open("wipe", needs=["1 nobody"])
    with pytest.raises(Unsatisfiable, match="2 carl can never be met"):
        staffed.open("wipe", needs=["2 carl"])

    ask = staffed.open("wipe", needs=["1 carl"])
    staffed.people.remove("carl")
    staffed.people.add("carla")

    with pytest.raises(Forbidden):
        staffed.approve(ask, by="carla")
    assert staffed.get(ask.id).open


def test_a_vote_that_does_not_count_names_roles_and_not_the_name(staffed: Desk) -> None:
    ask = staffed.open("wipe", needs=["1 anna"])

    with pytest.raises(Forbidden, match=r"needs 1 anna; dora holds no role, so this vote"):
        staffed.approve(ask, by="dora")
    assert {person.name: person.roles for person in staffed.people}["dora"] == frozenset()
