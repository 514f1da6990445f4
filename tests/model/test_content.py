"""What is shown is frozen, and its digest covers all of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import BadValue
from sayso.model.actor import Origin
from sayso.model.asked import write
from sayso.model.content import (
    LIMIT,
    Content,
    Option,
    Proposal,
    check_options,
    check_title,
    shown,
)
from sayso.model.file import note_file
from sayso.model.requirement import Requirement

FULL = Content(
    kind="action",
    title="Refund order 7",
    agent="shop",
    proposal=Proposal.of("refund", {"amount": 40}, {"type": "object"}),
    allow=("approve", "reject"),
    needs=Requirement.parse(["1 senior", "2 reviewer"], deny=2),
    sentence="Every refund needs a yes.",
    why="Charged twice",
    confidence=0.5,
    risk="high",
    reversible=False,
    affects="customers",
    impact="40 EUR leave the account",
    preview='{"To":"anna"}',
    facts='{"order":7}',
    options=(Option("a", 1, "the first"), Option("b", None)),
    answer='{"type":"string"}',
    returns='{"type":"integer"}',
    hidden=("token",),
    due_at=datetime(2026, 1, 2, tzinfo=UTC),
    about="a-0000",
    run="r-1",
    thread="sale",
)
BARE = Content(
    kind="question",
    title="Which?",
    agent="shop",
    proposal=Proposal(None, "{}", "{}"),
    allow=("respond",),
)


@pytest.mark.parametrize("content", [FULL, BARE], ids=["full", "bare"])
def test_content_survives_the_journal(content: Content) -> None:
    assert Content.from_json(content.to_json()) == content


def test_what_is_not_stated_is_not_written() -> None:
    assert "confidence" not in BARE.to_json()
    assert "due_at" not in BARE.to_json()


CHANGES: list[dict[str, Any]] = [
    {"optional": True},
    {"unseen": '{"bound":0.35,"nearest":[],"of":0,"unseen":true}'},
    {"stakes": '{"bucket":"small","version":"2"}'},
    {"worth": '{"good":41,"labels":60,"light":"amber","near":46,"value":0.83}'},
    {"kind": "draft"},
    {"title": "Refund order 8"},
    {"agent": "other"},
    {"proposal": Proposal.of("refund", {"amount": 41}, {"type": "object"})},
    {"proposal": Proposal.of("pay", {"amount": 40}, {"type": "object"})},
    {"proposal": Proposal.of("refund", {"amount": 40}, {})},
    {"allow": ("approve",)},
    {"needs": Requirement.parse(["1 senior", "2 reviewer"], deny=1)},
    {"needs": Requirement.parse(["1 senior"], deny=2)},
    {"sentence": ""},
    {"why": None},
    {"confidence": 0.6},
    {"risk": "low"},
    {"reversible": None},
    {"affects": "nobody"},
    {"impact": None},
    {"preview": "{}"},
    {"facts": None},
    {"options": ()},
    {"answer": None},
    {"returns": None},
    {"hidden": ()},
    {"due_at": None},
    {"about": None},
    {"run": None},
    {"thread": "other"},
    {"chain": "growth > researcher"},
    {"ruling": '{"tier":"high"}'},
    {"tags": ("money",)},
    {"conflicts": ("two prices",)},
    {"requester": "anna"},
    {"owner": "ben"},
    {"team": "billing"},
    {"idempotent": True},
    {"ignores": True},
    {"elsewhere": True},
    {"declared": True},
    {"posted": True},
    {"files": (note_file("note.txt", b"charged twice"),)},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_the_digest_covers_everything_that_is_shown(change: dict[str, Any]) -> None:
    changed = replace(FULL, **change)

    assert shown("a-1", 1, changed.to_json()) != shown("a-1", 1, FULL.to_json())


def test_every_field_of_content_is_tried_above() -> None:
    assert {name for change in CHANGES for name in change} == set(Content.__dataclass_fields__)


def test_a_digest_belongs_to_one_version_of_one_ask() -> None:
    content = FULL.to_json()

    assert len({shown("a-1", 1, content), shown("a-2", 1, content), shown("a-1", 2, content)}) == 3


def test_nothing_done_to_the_callers_dict_changes_the_proposal() -> None:
    given_ = {"to": ["anna"]}
    proposal = Proposal.of("mail", given_, {})

    given_["to"].append("everybody")
    proposal.args["to"].append("everybody else")

    assert proposal.args == {"to": ["anna"]}


@given(st.integers(-LIMIT, LIMIT))
def test_an_edit_changes_the_arguments_and_nothing_else(amount: int) -> None:
    edited = FULL.with_args({"amount": amount})

    assert edited.proposal.args == {"amount": amount}
    assert replace(edited, proposal=FULL.proposal) == FULL


def test_more_than_a_person_can_review_is_refused() -> None:
    Proposal.of("store", {"text": "x" * (LIMIT - 20)}, {})
    with pytest.raises(BadValue, match="bytes"):
        Proposal.of("store", {"text": "x" * LIMIT}, {})


@pytest.mark.parametrize("args", [[1], "x", 5, None])
def test_arguments_have_names(args: Any) -> None:
    with pytest.raises(BadValue, match="mapping"):
        Proposal.of("refund", args, {})


@pytest.mark.parametrize("title", ["", "  \n ", None, 5])
def test_a_title_says_something(title: Any) -> None:
    with pytest.raises(BadValue, match="empty"):
        check_title(title, "The title")


@pytest.mark.parametrize(
    ("items", "because"),
    [
        ([], "1 to 100"),
        (list(range(101)), "1 to 100"),
        (["a", "a"], "'a'"),
        ([1, "1"], "'1'"),
        ([""], "empty"),
        ([{1, 2}], "set"),
    ],
)
def test_options_that_nobody_could_choose_from_are_refused(items: list[Any], because: str) -> None:
    with pytest.raises(BadValue, match=because):
        check_options(items)


def test_a_plain_value_is_its_own_option() -> None:
    assert check_options(["Berlin", 7, Option("None", detail="neither")]) == (
        Option("Berlin", "Berlin"),
        Option("7", 7),
        Option("None", "None", "neither"),
    )


def test_what_belongs_to_no_team_has_the_digests_it_had_before_there_were_teams() -> None:
    """Whoever saw an ask before an upgrade may decide it after; what repeats it is still counted."""
    saw = "010926537ae8cb2c07c58bb07c2e31d88877e658d2a7635cc7c3cf38e2ae2e06"
    _, asked = write("a-1", BARE, origin=Origin("python", "sam@till"), key=None, held=False)

    assert shown("a-1", 1, BARE.to_json()) == saw
    assert asked.digest == "775e88d8aca27a81d9696fb08909bef903b9577de0742e6bd9e6218574220d5c"
    assert BARE.likeness == "7078e315ac4dbee6a0372b3d12a22163"
    assert replace(BARE, team="billing").likeness != BARE.likeness
