"""Versions of the policy over HTTP: listed, put in force, put in force again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.places import Place
from tests.served import Served

HIGH = '[tools]\nrefund = "high"\n'
LOW = '[tools]\nrefund = "low"\n[groups]\nclerks = ["ben"]\n'
VERSIONS = "/api/v1/policy/versions"


@pytest.fixture
def bank(place: Place, clock: FakeClock) -> Iterator[Served]:
    with Desk(place.url, clock=clock, agent="shop", account="sam@till") as desk:
        desk.people.add("anna", roles=["admin", "senior"])
        desk.people.add("ben", roles=["junior"])
        with Served(desk) as served:
            yield served


def test_there_are_no_versions_before_the_first(bank: Served) -> None:
    ben = bank.signed_in("ben")

    assert ben.get(VERSIONS).json() == {"versions": []}
    assert ben.get(f"{VERSIONS}/1").status_code == 422


def test_an_administrator_puts_a_policy_in_force_and_hears_what_it_changes(bank: Served) -> None:
    anna = bank.signed_in("anna")

    first = anna.post(VERSIONS, json={"text": HIGH, "note": "careful"})
    assert first.status_code == 201, first.text
    second = anna.post(VERSIONS, json={"text": LOW, "over": 1})

    assert first.json()["version"] == 1
    (rule, group) = second.json()["changes"]
    assert (rule["sort"], rule["what"]) == ("changed", "the rule 'tools.refund'")
    assert group["sentence"] == "New: the group clerks. In it: ben."
    listed = anna.get(VERSIONS).json()["versions"]
    assert [(one["version"], one["in_force"], one["by"], one["note"]) for one in listed] == [
        (2, True, "person:anna", None),
        (1, False, "person:anna", "careful"),
    ]
    assert listed[0]["text"] == LOW
    assert bank.desk.open("refund", {}).decision, "it runs alone by now"


def test_others_see_the_versions_without_their_text(bank: Served) -> None:
    bank.desk.policies.publish(LOW, by="anna")
    ben = bank.signed_in("ben")

    found = ben.get(f"{VERSIONS}/1").json()
    assert (found["digest"], found["text"], found["source"]) == (
        bank.desk.policies.show().digest,
        None,
        None,
    )
    assert ben.get(f"{VERSIONS}/{found['digest'][:6]}").json() == found
    assert ben.post(VERSIONS, json={"text": HIGH}).status_code == 403
    assert ben.post(f"{VERSIONS}/1/rollback", json={}).status_code == 403
    assert len(bank.desk.policies.log()) == 1


@pytest.mark.parametrize(
    ("text", "word"),
    [("[rulez]\n", "Did you mean rules"), ('[tiers.own]\nneeds = ["3 king"]\n', "king")],
)
def test_what_cannot_be_in_force_is_refused_in_words(bank: Served, text: str, word: str) -> None:
    anna = bank.signed_in("anna")

    refused = anna.post(VERSIONS, json={"text": text})

    assert refused.status_code == 409
    assert word in refused.json()["detail"]
    assert bank.desk.policies.log() == []


def test_an_administrator_goes_back_to_a_version(bank: Served) -> None:
    anna = bank.signed_in("anna")
    anna.post(VERSIONS, json={"text": HIGH})
    anna.post(VERSIONS, json={"text": '[[rules]]\nname = "stop"\neffect = "deny"\n'})

    again = anna.post(f"{VERSIONS}/1/rollback", json={"note": "too much"})

    assert (again.status_code, again.json()["restores"]) == (201, 1)
    assert [one["sort"] for one in again.json()["changes"]] == ["new", "gone"]
    assert bank.desk.open("refund", {}).open
    assert anna.post(f"{VERSIONS}/9/rollback", json={}).status_code == 422
    assert anna.post(f"{VERSIONS}/0/rollback", json={}).json()["kind"] == "default"
