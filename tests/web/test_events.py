"""The event stream: nothing missed, nothing twice, and only what one may see."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from sayso import Desk
from sayso.access.tokens import list_tokens, revoke_token
from sayso.testing import FakeClock
from tests.places import Place
from tests.served import QUICK, Served

CALL = {"tool": "refund", "args": {"order": 7}}


def opened(client: httpx2.Client, **said: Any) -> str:
    body = {**CALL, "args": {"order": time.monotonic_ns()}, **said}
    answer = client.post("/api/v1/asks", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


class Follower:
    """Somebody who follows, on a thread of their own; `seen` are (cursor, stream, kind)."""

    def __init__(self, client: httpx2.Client, query: str = "", last: str | None = None) -> None:
        self._client = httpx2.Client(
            base_url=client.base_url, headers=client.headers, timeout=60, verify=False
        )
        self._query = query
        self._last = last
        self.seen: list[tuple[str, str, str]] = []
        self.cursor = last
        self.connected = threading.Event()
        self.ended = threading.Event()
        self._heard = threading.Condition()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()
        assert self.connected.wait(60)

    def _follow(self) -> None:
        headers = {} if self._last is None else {"Last-Event-ID": self._last}
        try:
            with self._client.stream(
                "GET", f"/api/v1/events{self._query}", headers=headers
            ) as answer:
                assert answer.status_code == 200, answer.read()
                self._line = answer.extensions["network_stream"].get_extra_info("socket")
                for sent in httpx2.EventSource(answer):
                    self.cursor = sent.id or self.cursor
                    self.connected.set()
                    if not sent.data:
                        continue
                    event = json.loads(sent.data)
                    assert event["cursor"] == sent.id
                    with self._heard:
                        self.seen.append((sent.id, event["stream"], event["kind"]))
                        self._heard.notify_all()
        except httpx2.HTTPError:
            pass
        finally:
            self._client.close()
            self.connected.set()
            self.ended.set()

    def until(self, *streams: str) -> None:
        """Wait until an event of each of these streams has come."""
        with self._heard:
            wanted = set(streams)
            assert self._heard.wait_for(
                lambda: wanted <= {stream for _, stream, _ in self.seen}, timeout=20
            ), self.seen

    def streams(self) -> list[str]:
        return [stream for _, stream, _ in self.seen]

    def leave(self) -> None:
        with suppress(OSError):  # it may have ended by itself
            self._line.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=20)
        self._client.close()


@contextmanager
def following(*clients: httpx2.Client, query: str = "") -> Iterator[list[Follower]]:
    followers = [Follower(client, query) for client in clients]
    try:
        yield followers
    finally:
        for follower in followers:
            follower.leave()


@contextmanager
def limited(place: Place, clock: FakeClock | None = None, **limits: float) -> Iterator[Served]:
    """A server with limits of its own."""
    with (
        Desk(place.url, agent="shop", account="sam@till", clock=clock) as desk,
        Served(desk, replace(QUICK, **limits)) as server,  # type: ignore[arg-type]
    ):
        yield server


# --- who sees what ---


def test_each_follower_sees_what_they_may_and_nothing_else(
    server: Served,
    bot: httpx2.Client,
    rival: httpx2.Client,
    anna: httpx2.Client,
    ben: httpx2.Client,
) -> None:
    helper = server.agent("helper", team="support")
    common = server.agent("common")
    with following(bot, rival, anna, ben) as (own, other, person, elsewhere):
        billing, support, everybodys = opened(bot), opened(helper), opened(common)
        person.until(billing, everybodys)
        elsewhere.until(support, everybodys)
        own.until(billing)
        last = opened(rival)
        other.until(last)
        person.until(last)

    assert own.streams() == [billing]
    assert other.streams() == [last]
    assert set(person.streams()) == {billing, everybodys, last}
    assert set(elsewhere.streams()) == {support, everybodys}


def test_nobody_is_told_of_accounts_and_people(server: Served, anna: httpx2.Client) -> None:
    with following(anna) as (person,):
        server.desk.people.add("new")
        server.token("new", kind="person")
        ask = opened(server.agent("common"))
        person.until(ask)
        server.desk.people.remove("new")

    assert person.streams() == [ask]


def test_a_person_who_changes_teams_sees_other_things_from_then_on(server: Served) -> None:
    server.desk.people.add("mover", teams=["billing"])
    mover = server.person("mover")
    bot, helper = server.agent("b2", team="billing"), server.agent("h2", team="support")
    with following(mover) as (person,):
        before = opened(bot)
        person.until(before)
        server.desk.people.add("mover", teams=["support"])
        unseen, seen = opened(bot), opened(helper)
        person.until(seen)

    assert person.streams() == [before, seen]
    assert unseen not in person.streams()


def test_events_can_be_had_by_kind(bot: httpx2.Client, anna: httpx2.Client) -> None:
    with following(anna, query="?kind=ask.decided&kind=ask.withdrawn") as (person,):
        ask, other = opened(bot), opened(bot)
        bot.post(f"/api/v1/asks/{ask}/withdraw")
        bot.post(f"/api/v1/asks/{other}/withdraw")
        person.until(ask, other)

    assert {kind for _, _, kind in person.seen} == {"ask.withdrawn"}


def test_a_kind_that_there_is_not_is_refused_before_anything_is_sent(anna: httpx2.Client) -> None:
    answer = anna.get("/api/v1/events?kind=ask.decided&kind=ask.openedd&follow=false")

    assert (answer.status_code, answer.json()["code"]) == (422, "bad-value")
    assert "Did you mean ask.opened?" in answer.json()["detail"]


# --- nothing missed, nothing twice ---


def test_whoever_comes_back_goes_on_where_they_were(bot: httpx2.Client) -> None:
    with following(bot) as (first,):
        seen = opened(bot)
        first.until(seen)
    missed = [opened(bot) for _ in range(3)]

    by_header = Follower(bot, last=first.cursor)
    by_query = Follower(bot, query=f"?after={first.cursor}")
    for follower in (by_header, by_query):
        follower.until(*missed)
        live = opened(bot)
        follower.until(live)
        missed.append(live)
    by_header.until(*missed)
    for follower in (by_header, by_query):
        follower.leave()
        assert follower.streams() == missed


def test_whoever_is_behind_the_ring_reads_from_the_database(shared_place: Place) -> None:
    with limited(shared_place, stream_ring=5) as server:
        bot = server.agent("ringer", team="billing")
        start = Follower(bot)
        start.leave()
        asked = [opened(bot) for _ in range(30)]
        late = Follower(bot, last=start.cursor)
        late.until(*asked)
        asked += [opened(bot) for _ in range(30)]
        late.until(*asked)
        late.leave()

    assert late.streams() == asked


@pytest.mark.parametrize("many", [8, pytest.param(200, marks=pytest.mark.soak)])
def test_a_stream_goes_on_across_restarts_while_others_write(
    shared_place: Place, many: int
) -> None:
    """Many followers, two restarts, a writer that goes on through both: each event once, in order."""
    turns = threading.Semaphore(0)
    written: list[str] = []

    def write() -> None:
        with Desk(shared_place.url, agent="writer", account="sam@till", team="billing") as desk:
            while len(written) < 60:
                turns.acquire()
                written.append(desk.open("refund", {"order": time.monotonic_ns()}).id)

    settings = replace(QUICK, streams_each=many)
    seen: dict[int, list[str]] = {number: [] for number in range(many)}
    with Desk(shared_place.url, agent="shop", account="sam@till") as desk:
        with Served(desk, settings) as server:
            token = server.token("writer", kind="agent", team="billing")
            first = Follower(server.client(token))
            first.leave()
        cursors: dict[int, str | None] = dict.fromkeys(seen, first.cursor)
        writer = threading.Thread(target=write)
        writer.start()
        for life in range(3):
            with Served(desk, settings) as server:
                turns.release(5)  # while they connect
                followers = {
                    number: Follower(server.client(token), last=cursors[number]) for number in seen
                }
                turns.release(15)  # while they follow, and while the server stops
                while len(written) < 20 * life + 12:
                    time.sleep(0.005)
                if life == 2:
                    writer.join()
                    for number, follower in followers.items():
                        follower.until(*(one for one in written if one not in seen[number]))
            for number, follower in followers.items():
                follower.leave()
                seen[number] += follower.streams()
                cursors[number] = follower.cursor

    assert len(written) == 60
    for streams in seen.values():
        assert streams == written


# --- ends ---


def test_a_token_that_is_revoked_ends_its_streams(server: Served) -> None:
    spy = server.agent("spy", team="billing")
    follower = Follower(spy)
    token = next(one for one in list_tokens(server.desk.store) if one.name == "spy")

    revoke_token(server.desk.store, token.id, origin=server.desk.origin)

    assert follower.ended.wait(60)
    follower.leave()
    assert spy.get("/api/v1/events").status_code == 401


def test_a_token_that_expires_ends_its_streams_however_much_happens(
    shared_place: Place, clock: FakeClock
) -> None:
    """Events that come all the time keep the stream alive, and the credential not."""
    with limited(shared_place, clock=clock, keep_alive=0.3) as server:
        bot = server.agent("busy", team="billing")
        short = server.agent("busy", team="billing", expires=timedelta(hours=1))
        follower = Follower(short)
        follower.until(opened(bot))
        clock.advance("2h")
        for _ in range(400):
            if follower.ended.is_set():
                break
            opened(bot)

        assert follower.ended.is_set()
        follower.leave()


def test_a_person_who_leaves_sees_nothing_more(server: Served, bot: httpx2.Client) -> None:
    server.desk.people.add("leaver", teams=["billing"])
    follower = Follower(server.signed_in("leaver"))

    server.desk.people.remove("leaver")
    opened(bot)

    assert follower.ended.wait(60)
    follower.leave()
    assert follower.seen == []


def test_streams_end_when_the_server_stops(shared_place: Place) -> None:
    with Desk(shared_place.url, agent="shop", account="sam@till") as desk:
        with Served(desk) as server:
            bot = server.agent("ender", team="billing")
            ask = opened(bot)
            follower = Follower(bot)
            found: list[str] = []
            waiter = threading.Thread(
                target=lambda: found.append(bot.get(f"/api/v1/asks/{ask}?wait=60").json()["status"])
            )
            waiter.start()
            while server.service.waits.taken == 0:
                time.sleep(0.005)
            server.service.stop()
            waiter.join(timeout=60)
            assert follower.ended.wait(60)
        follower.leave()

    assert found == ["open"]


def test_a_stream_says_that_it_is_alive(shared_place: Place) -> None:
    with limited(shared_place, keep_alive=0.05) as server:
        bot = server.agent("quiet", team="billing")
        with bot.stream("GET", "/api/v1/events") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            assert next(line for line in lines if line.startswith(":")) == ": alive"


# --- limits ---


def test_clients_over_the_limit_are_refused(shared_place: Place) -> None:
    with limited(shared_place, streams=3, streams_each=2) as server:
        one, two = server.agent("one", team="billing"), server.agent("two", team="billing")
        with following(one, one, two):
            each, all_of_them = one.get("/api/v1/events"), two.get("/api/v1/events")
        while server.service.streams.taken:
            time.sleep(0.005)
        Follower(one).leave()

    assert (each.status_code, each.json()["code"]) == (429, "too-many-requests")
    assert (all_of_them.status_code, all_of_them.json()["code"]) == (503, "server-busy")


def test_a_client_that_does_not_read_is_dropped_and_holds_up_nobody(shared_place: Place) -> None:
    with limited(shared_place, stream_seconds=0.2) as server:
        token = server.token("flood", kind="agent", team="billing")
        flood = server.client(token)
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", server.port))
        deaf.sendall(
            f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        while server.service.streams.taken == 0:
            time.sleep(0.005)
        reader = Follower(flood)
        asked: list[str] = []
        while server.service.streams.taken > 1:
            assert len(asked) < 60, "the deaf client is still there"
            asked.append(opened(flood, facts={"text": "x" * 500_000}))
            reader.until(asked[-1])
        deaf.close()
        reader.leave()

    assert reader.streams() == asked


@pytest.mark.parametrize("cursor", ["nonsense", "1.2.3", "-1", "9" * 90, "x\ty"])
def test_a_cursor_that_is_none_is_refused(bot: httpx2.Client, cursor: str) -> None:
    answer = bot.get("/api/v1/events", params={"after": cursor, "follow": "false"})

    assert answer.status_code in (422, 409), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
