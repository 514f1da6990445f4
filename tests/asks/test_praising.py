"""A good word for a key that is reviewed anyway follows the decision, and is the only thing that may be lost."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.asks import praising
from sayso.asks.books import book_of
from sayso.asks.lawbook import default_policy
from sayso.autonomy.book import Book
from sayso.errors import StoreUnavailable
from sayso.policy.reading import read
from sayso.store import Store
from tests.fine import fine
from tests.places import Place
from tests.together import at_once, until

LAW = read(
    '[tools]\nrefund = "low"\n[tiers.low]\nneeds = ["1 reviewer"]\n', default=default_policy()
)
NEEDED = 98  # good words, before a key of this tier is proposed


@pytest.fixture
def desk(place: Place) -> Iterator[Desk]:
    with Desk(place.url, policy=LAW, agent="shop", account="sam@till") as desk:
        desk.law.coin = lambda: 0.999  # nothing is picked
        yield desk


def opened(desk: Desk, many: int) -> list[Ask]:
    return [desk.open("refund", {"order": f"R-{number}"}) for number in range(many)]


def book(desk: Desk) -> Book | None:
    rows = list(desk.trust)
    return book_of(desk.store, rows[0].id) if rows else None


def praised(desk: Desk, times: int) -> None:
    """Write good words straight into the book, as if people had looked at so many calls."""
    fine(desk, desk.open("refund", {"order": "first"}), times)


def grant(desk: Desk) -> None:
    praised(desk, NEEDED - 1)
    desk.approve(desk.open("refund", {"order": "first"}))
    (asked,) = desk.inbox().asks
    desk.approve(asked)


def commits(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, list[str]]]:
    """Note what is written from now on: whether it was synced, and the kinds of its events."""
    noted, commit = list[tuple[bool, list[str]]](), type(desk.store).commit

    def noting(store: Any, *appends: Any, synced: bool = True, **more: Any) -> bool:
        written = commit(store, *appends, synced=synced, **more)
        if written:
            noted.append((synced, [append.event.kind for append in appends]))
        return written

    monkeypatch.setattr(type(desk.store), "commit", noting)
    return noted


def test_what_is_said_of_a_key_at_the_same_moment_is_written_together(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = opened(desk, 16)
    noted, write = commits(desk, monkeypatch), praising._write

    def slow(store: Store, together: list[praising.Praise]) -> None:
        """Let the first one who writes wait for all others."""
        saying = praising._saying(store, together[0].stake.key)
        if book(desk) is None:
            until(lambda: len(saying.waiting) == 15)
        write(store, together)

    monkeypatch.setattr(praising, "_write", slow)

    came = at_once([partial(desk.approve, ask) for ask in asks])

    assert all(one.decision for one in came)
    found = book(desk)
    assert found is not None
    assert found.fine == 16
    lines = [kinds for synced, kinds in noted if not synced]
    assert lines == [["trust.begun", "trust.fine"], ["trust.fine"] * 15]
    assert desk.verify()


def test_a_good_word_costs_no_sync_and_everything_else_is_in_the_commit_of_the_decision(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = opened(desk, 2)
    noted = commits(desk, monkeypatch)

    desk.approve(good)
    desk.reject(bad, kind="harmful")

    assert noted == [
        (True, ["ask.decided"]),
        (False, ["trust.begun", "trust.fine"]),
        (True, ["ask.decided", "trust.flagged"]),
    ]


def test_an_audit_counts_in_the_commit_of_its_decision(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant(desk)
    desk.law.coin = lambda: 0.0  # picked
    (picked,) = opened(desk, 1)
    assert picked.status == "open"
    noted = commits(desk, monkeypatch)

    desk.approve(picked)

    assert noted == [(True, ["ask.decided", "trust.fine"])]


def test_words_that_reach_the_bar_together_ask_for_one_grant(desk: Desk) -> None:
    praised(desk, NEEDED - 3)
    desk.withdraw(desk.open("refund", {"order": "first"}))
    asks = opened(desk, 8)

    at_once([partial(desk.approve, ask) for ask in asks])

    (asked,) = desk.inbox().asks
    assert asked.title == "Let shop run refund alone?"
    found = book(desk)
    assert found is not None
    assert found.grant_ask == asked.id
    assert found.fine == NEEDED - 3 + 8
    assert desk.verify()


def test_who_is_killed_after_a_decision_loses_a_good_word_and_no_decision(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, other = opened(desk, 2)
    monkeypatch.setattr(
        "sayso.asks.deciding.speak", lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    )
    child = os.fork()
    if child == 0:
        desk.approve(ask)
        os._exit(0)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    monkeypatch.undo()
    assert desk.get(ask.id).decision
    assert book(desk) is None
    assert desk.verify()

    desk.approve(other)

    found = book(desk)
    assert found is not None
    assert found.fine == 1


def test_a_database_that_goes_away_after_a_decision_is_no_error_of_whoever_made_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(*_: object) -> None:
        raise StoreUnavailable("The database is away.")

    (ask,) = opened(desk, 1)
    monkeypatch.setattr(praising, "_write", gone)

    with caplog.at_level(logging.WARNING, "sayso.trust"):
        assert desk.approve(ask).decision

    assert f"{ask.id}: found to be fine, and it does not count" in caplog.text
