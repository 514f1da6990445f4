"""Several people judge calls of one key at the same moment: every word counts once."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sayso import Desk
from sayso.asks.books import list_again
from sayso.asks.lawbook import default_policy
from sayso.policy.reading import read
from tests.crew import Crew, Span, desk_at, overlap
from tests.places import Place

LAW = read('[tools]\nrefund = "medium"\n', default=default_policy())


def judge(url: str, asks: Sequence[tuple[str, str]], verdict: str) -> Span:
    """Decide these asks, one after the other."""
    desk, begun = desk_at(url), time.monotonic()
    for ask_id, seen in asks:
        kind = "harmful" if verdict == "reject" else None
        desk.decide(ask_id, verdict, seen=seen, kind=kind)  # type: ignore[arg-type]
    return begun, time.monotonic()


def test_four_processes_judge_calls_of_one_key_and_no_word_is_lost(
    place: Place, crew: Crew
) -> None:
    with Desk(place.url, policy=LAW, agent="shop", account="sam@till") as desk:
        asks = [desk.open("refund", {"order": number}) for number in range(24)]
        seen = [(ask.id, ask.digest) for ask in asks]
        parts = [(place.url, seen[n::4], "reject" if n == 3 else "approve") for n in range(4)]

        spans = crew.each(judge, parts)

        (row,) = desk.trust
        book = desk.trust.key(row.id)
        assert overlap(spans), "the racers never met: this proves nothing"
        assert (book.fine, book.harms) == (18, 6)
        assert sorted(book.marks) == ["+"] * 18 + ["x"] * 6
        assert {
            event.payload["ask"]
            for event in desk.trust.history(row.id)
            if event.payload and "ask" in event.payload
        } == {ask.id for ask in asks}
        assert desk.verify()

        list_again(desk.store)

        assert list(desk.trust) == [row]
