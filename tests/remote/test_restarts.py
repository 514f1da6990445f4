"""A server that dies and comes back: nothing is done twice, and nobody who waits is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sayso
from sayso import Desk
from tests.places import Place
from tests.remote.kept import Kept, kept


@contextmanager
def office(place: Place) -> Iterator[Desk]:
    with Desk(place.url, agent="bot", account="sam@till") as desk:
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ben")
        yield desk


@pytest.fixture
def local(sqlite: Place) -> Iterator[Desk]:
    """Who commits what is tested on both databases elsewhere; here servers die, which takes time."""
    with office(sqlite) as desk:
        yield desk


def decided_by(server: Kept, anna: Desk) -> threading.Thread:
    """Approve the next ask that opens, over HTTP."""
    after = server.local.docket.tip()

    def decide() -> None:
        # On PostgreSQL a tip may lie before what was just written: the oldest transaction says where.
        following = server.local.events(after=after, follow=True)
        opened = next(event for event in following if event.kind == "ask.opened")
        anna.approve(server.local.get(opened.stream))

    thread = threading.Thread(target=decide, daemon=True)
    thread.start()
    return thread


def kinds(desk: Desk, ask_id: str) -> list[str]:
    return [event.kind for event in desk.history(ask_id)]


def test_a_server_killed_between_commit_and_answer_does_nothing_twice(
    place: Place, tmp_path: Path
) -> None:
    ran: list[str] = []
    with (
        office(place) as local,
        kept(local, tmp_path, "asks", "decision", "begin", "finish") as server,
    ):
        bot, anna = server.desk("bot", "agent"), server.desk("anna", "person")

        @bot.gate(risk="high")
        def pay(amount: int) -> str:
            ran.append(sayso.current_call().ask.id)  # type: ignore[union-attr]
            return f"paid {amount}"

        deciding = decided_by(server, anna)
        assert pay(40) == "paid 40"
        deciding.join(30)

        assert server.deaths == 4
        assert len(ran) == 1
        assert [ask.id for ask in local.inbox()] == []
        expected = ["ask.opened", "ask.decided", "effect.intended", "effect.done"]
        assert kinds(local, ran[0]) == expected
        assert local.verify()


def test_every_other_change_is_found_again_too(local: Desk, tmp_path: Path) -> None:
    words = ("asks", "claim", "assign", "take-back", "withdraw", "doubt")
    with kept(local, tmp_path, *words) as server:
        bot, anna = server.desk("bot", "agent"), server.desk("anna", "person")
        ask = bot.open("refund", {"order": 7})
        assert [(found.id, found.repeats) for found in local.inbox()] == [(ask.id, 1)]
        assert anna.claim(ask).assignee == "anna"
        assert anna.assign(ask, "ben").assignee == "ben"
        anna.approve(ask, hold=3600)
        assert anna.take_back(ask).open
        assert bot.withdraw(ask).status == "withdrawn"
        expected = [
            "opened",
            "repeated",
            "assigned",
            "assigned",
            "settling",
            "taken_back",
            "withdrawn",
        ]
        assert kinds(local, ask.id) == [f"ask.{word}" for word in expected]

        @bot.gate(risk="high", unknown=TimeoutError)
        def send() -> str:
            raise TimeoutError

        answers = [anna.approve, lambda doubt: anna.respond(doubt, "sent")]
        after = local.docket.tip()

        def answer() -> None:
            for event in local.events(after=after, follow=True):
                if event.kind == "ask.opened":
                    answers.pop(0)(local.get(event.stream))
                if not answers:
                    return

        answering = threading.Thread(target=answer, daemon=True)
        answering.start()
        assert send() == "sent"
        answering.join(30)
        assert server.deaths == len(words)
        assert local.verify()


async def test_whoever_waits_does_so_through_restarts(local: Desk, tmp_path: Path) -> None:
    with kept(local, tmp_path) as server:
        bot = server.desk("bot", "agent")
        first, second = bot.open("refund", {"order": 1}), bot.open("refund", {"order": 2})
        found: list[object] = []
        waiting = threading.Thread(target=lambda: found.append(bot.wait(first)))
        waiting.start()
        server.kill()
        decided = local.approve(first, by="anna")
        waiting.join(60)
        assert found == [decided.decision]

        server.kill()
        local.reject(second, by="anna")
        assert (await bot.wait_async(second)).verdict == "reject"


def test_whoever_follows_misses_nothing_and_hears_nothing_twice(
    local: Desk, tmp_path: Path
) -> None:
    with kept(local, tmp_path) as server:
        bot = server.desk("bot", "agent")
        after = local.docket.tip()
        opened = [local.open("refund", {"order": n}).id for n in range(3)]
        following = bot.events(after=after, follow=True)
        heard = [next(following).stream for _ in range(2)]
        for round_ in range(2):
            server.kill()
            opened += [local.open("refund", {"order": 10 * round_ + n + 5}).id for n in range(3)]
            heard += [next(following).stream for _ in range(3)]
        heard.append(next(following).stream)
        assert heard == opened
        assert [event.stream for event in bot.events(after=after)] == opened
