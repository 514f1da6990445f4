"""Whether the votes so far decide."""

from __future__ import annotations

import pytest

from sayso.model.actor import Roster
from sayso.model.ask import Ask
from sayso.model.folding import fold
from sayso.model.tally import decides, missing
from sayso.model.verdicts import Kind
from tests.journals import Journal, content

TEAM = Roster(
    {
        "anna": frozenset({"senior"}),
        "ada": frozenset({"senior", "security"}),
        "sec": frozenset({"security"}),
        "ben": frozenset(),
    }
)
BOTH = ["1 senior", "1 security"]


def voted(*votes: str, needs: list[str] | None = None, deny: int = 1, kind: Kind = "action") -> Ask:
    """Return an ask after votes such as `anna:approve` or `ben:respond:42`."""
    journal = Journal(content(kind, needs=needs, deny=deny))
    for vote in votes:
        name, verdict, *answer = vote.split(":")
        journal.vote(name, verdict, **({"answer": answer[0]} if answer else {}))
    return fold(journal.events)


def settled(ask: Ask, roster: Roster = TEAM) -> bool:
    return decides(ask, ask.votes, roster)


@pytest.mark.parametrize(
    ("needs", "votes", "decided"),
    [
        (None, ["ben:approve"], True),
        (BOTH, ["anna:approve"], False),
        (BOTH, ["anna:approve", "sec:approve"], True),
        (BOTH, ["ada:approve"], False),
        (BOTH, ["ada:approve", "ada:approve"], False),
        (BOTH, ["ada:approve", "sec:approve"], True),
        (BOTH, ["anna:approve", "ada:approve"], True),
        (["2 reviewer"], ["ben:approve", "ben:approve"], False),
        (["2 reviewer"], ["ben:approve", "anna:approve"], True),
        (["2 senior"], ["anna:approve", "sec:approve"], False),
    ],
)
def test_people_decide_when_they_fill_every_place(
    needs: list[str] | None, votes: list[str], decided: bool
) -> None:
    assert settled(voted(*votes, needs=needs)) is decided


@pytest.mark.parametrize(
    ("deny", "votes", "decided"),
    [
        (1, ["anna:reject"], True),
        (2, ["anna:reject"], False),
        (2, ["anna:reject", "anna:reject"], False),
        (2, ["anna:reject", "sec:reject"], True),
        (2, ["anna:reject", "sec:respond:no"], True),
        (2, ["anna:reject", "anna:approve", "sec:reject"], False),
    ],
)
def test_refusals_end_it_when_there_are_enough(deny: int, votes: list[str], decided: bool) -> None:
    assert settled(voted(*votes, needs=["2 reviewer"], deny=deny)) is decided


def test_refusals_and_other_answers_do_not_help_those_who_agree() -> None:
    assert not settled(voted("anna:reject", "sec:approve", needs=BOTH, deny=2))

    two = ["2 reviewer"]

    assert not settled(voted("anna:respond:6", "ben:respond:7", needs=two, kind="question"))
    assert settled(voted("anna:respond:7", "ben:respond:7", needs=two, kind="question"))
    assert not settled(voted("anna:approve:a", "ben:respond:a", needs=two, kind="choice"))

    journal = Journal(content(needs=BOTH)).edit("anna", amount=30).vote("sec")

    assert settled(fold(journal.events))


def test_whoever_left_or_lost_the_role_counts_for_nothing() -> None:
    ask = voted("anna:approve", "sec:approve", needs=BOTH)
    without_anna = Roster({name: roles for name, roles in TEAM.people.items() if name != "anna"})

    assert settled(ask)
    assert not settled(ask, without_anna)

    ask = voted("anna:approve", "sec:approve", needs=BOTH)

    assert not settled(ask, Roster({**TEAM.people, "anna": frozenset()}))


def test_alone_at_the_desk_one_word_decides() -> None:
    assert settled(voted("sam:approve", needs=BOTH), Roster({}))
    assert settled(voted("sam:reject", needs=BOTH, deny=3), Roster({}))


def test_votes_on_an_older_version_are_gone() -> None:
    journal = Journal(content(needs=BOTH)).vote("anna").edit("sec", amount=30)
    ask = fold(journal.events)

    assert not settled(ask)
    assert [str(factor) for factor in missing(ask, TEAM)] == ["1 senior"]


def test_what_is_still_missing_is_said() -> None:
    assert [str(f) for f in missing(voted(needs=BOTH), TEAM)] == ["1 senior", "1 security"]
    assert [str(f) for f in missing(voted("anna:approve", needs=BOTH), TEAM)] == ["1 security"]
    assert missing(voted("anna:approve", "sec:approve", needs=BOTH), TEAM) == ()
