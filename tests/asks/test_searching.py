"""Finding asks by the words on them: open and closed ones, behind the same walls."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, cast

import pytest

from sayso import Ask, Desk
from sayso.asks.inbox import Inbox, decided, listing
from sayso.errors import BadValue
from sayso.insight.case import text_of
from sayso.insight.reader import catch_up, rebuild
from sayso.insight.searching import sought
from sayso.remote.desk import RemoteDesk
from sayso.store.contract import InboxQuery
from sayso.store.readers import Entries
from sayso.testing import FakeClock
from tests.places import Place
from tests.served import Served
from tests.together import in_thread, until


def ids(asks: Any) -> list[str]:
    return [ask.id for ask in asks]


def found(desk: Desk, text: str, **wanted: Any) -> set[str]:
    """Return what a search finds; page and count must agree."""
    page = desk.inbox(text=text, **wanted)
    assert page.count == len(page)
    return {ask.id for ask in page}


@pytest.fixture
def refund(desk: Desk) -> Ask:
    return desk.open(
        "send_refund",
        {"to": "Zoë Lindqvist", "lines": [{"sku": "QX-17"}], "amount": 40},
        title="Pay back order 1182",
        why="The customer was charged twice.",
        agent="support_bot",
    )


BY_ALL = [
    *("order", "1182", "ORDER 1182", "send_refund", "refund send", "refunds", "support_bot"),
    *("zoe", "ZOË lindqvist", "qx 17", "QX-17", "40", "charged twice", "the customer"),
    *("lind", "charged twi", "order ref", "1182 c", "  order\n1182\t"),
]


def test_an_ask_is_found_by_all_of_its_words(desk: Desk, refund: Ask) -> None:
    other = desk.open("archive", {"mail": 7}, title="Put away")

    for text in BY_ALL:
        assert found(desk, text) == {refund.id}, text
    desk.reject(refund, note="Not a double charge")
    for text in BY_ALL:
        assert found(desk, text) == set()
        assert ids(desk.decided(text=text)) == [refund.id], text
    assert found(desk, other.id) == {other.id}, "by its id too"


def test_only_whole_words_are_found_and_a_plural_in_s_is_the_same(desk: Desk, refund: Ask) -> None:
    for text in ("order 1183", "rder", "lindqvist archive", "ord 1182", "wize"):
        assert found(desk, text) == set(), text

    ask = desk.open("pay", {"to": "two companies and their invoices"})

    assert found(desk, "invoice company") == set()
    assert found(desk, "invoice companies") == found(desk, "invoices compan") == {ask.id}


def test_what_one_of_two_people_said_is_found_before_it_is_decided(team: Desk) -> None:
    ask = team.open("pay", {"to": "quimby"}, needs=["2 senior"])
    assert found(team, "quimby") == {ask.id}  # the index has been read once
    team.approve(ask, by="anna", note="Fine by springfield")

    assert found(team, "springfield") == {ask.id}


def test_what_people_said_is_found_however_much_an_agent_wrote(team: Desk) -> None:
    long = " ".join(f"word{n}" for n in range(1_200))
    ask = team.open("pay", {"text": long}, title="Pay", needs=["2 senior"])
    team.approve(ask, by="anna", note="Fine by springfield")
    assert found(team, "springfield") == found(team, "word7") == {ask.id}
    team.reject(ask, by="ada", note="Not by shelbyville")

    assert ids(team.decided(text="shelbyville")) == [ask.id]


def test_why_a_question_was_withdrawn_is_found(desk: Desk, refund: Ask) -> None:
    desk.withdraw(refund, note="Superseded by monorail")
    assert ids(desk.decided(text="monorail")) == [refund.id]

    desk.erase(refund, note="Asked for")
    rebuild(desk.store)
    assert ids(desk.decided(text="monorail")) == []


IDLE = {
    "sqlite": "(with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)"
    " select i from n)",
    "postgres": "(select i from generate_series(1, 5000) i)",
}


@pytest.fixture
def long(desk: Desk, place: Place) -> list[str]:
    """Two asks with a long journal of other things between them, which nobody has read yet."""
    first = desk.open("pay", {"to": "barney", "n": 1})
    columns = "kind, at, actor, payload, salt, digest, hash"
    place.sql(
        f"insert into events (stream, seq, {columns}) select 'x-' || n.i, 1, {columns}"
        f" from events, {IDLE[place.dialect]} n where stream = ?",
        first.id,
    )
    return [first.id, desk.open("pay", {"to": "barney", "n": 2}).id]


def test_a_server_reads_so_much_for_a_search_and_says_that_there_is_more(
    desk: Desk, long: list[str]
) -> None:
    def look() -> Inbox:
        return listing(desk.store, InboxQuery(text="barney"), role=None, person=None)

    first = look()
    assert (ids(first), first.reading, first.counted) == (long[:1], True, "1+")
    assert look().reading
    last = look()
    assert ({*ids(last)}, last.reading, last.counted) == ({*long}, False, "2")
    assert not listing(desk.store, InboxQuery(), role=None, person=None).reading


def test_a_program_on_the_database_reads_to_the_end(desk: Desk, long: list[str]) -> None:
    page = desk.inbox(text="barney")

    assert ({*ids(page)}, page.reading) == ({*long}, False)


def test_what_was_decided_is_searched_as_far_as_the_journal_was_read(
    desk: Desk, long: list[str]
) -> None:
    desk.reject(desk.get(long[0]))

    assert decided(desk.store, InboxQuery(text="barney"), person=None).reading
    catch_up(desk.store)
    page = decided(desk.store, InboxQuery(text="barney"), person=None)
    assert (ids(page), page.reading) == (long[:1], False)
    assert not decided(desk.store, InboxQuery(), person=None).reading


def test_the_answer_of_a_server_says_that_the_search_is_still_reading(
    desk: Desk, long: list[str]
) -> None:
    with Served(desk) as server:
        token = server.token("shop", kind="agent")
        with RemoteDesk(server.url, token=token) as remote:
            first = remote.inbox(text="barney")
            assert (ids(first), first.reading, first.counted) == (long[:1], True, "1+")
            remote.inbox(text="barney")
            assert not remote.inbox(text="barney").reading


def test_what_was_edited_is_found_by_what_it_was_and_by_what_it_is(team: Desk) -> None:
    ask = team.open("pay", {"to": "quimby"}, needs=["2 senior"])
    team.edit(ask, {"to": "wiggum"}, by="anna")

    assert found(team, "wiggum") == found(team, "quimby") == {ask.id}


def test_what_was_opened_a_moment_ago_in_another_process_is_found(place: Place, live: Desk) -> None:
    live.open("pay", {"to": "barney"})
    assert len(live.inbox(text="barney")) == 1  # the index has been read once
    code = f"import sayso; print(sayso.Desk({place.url!r}).open('pay', {{'to': 'barney'}}).id)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    opened = done.stdout.split()[-1]
    assert opened in found(live, "barney")


HOSTILE = [
    *('"', "'", "*", "^order", "order*", "NEAR(order 1182)", "order AND", "OR order", "NOT x"),
    *("state : open", "words : order", "{words} : x", "-order", "a:*", "order:*", "!order"),
    *("order & ", "(((", "order | x", "<->", "\\", "%_", "';drop table texts;--", "\x00"),
    *("order\x001182", "=open", "'=open'", "\u202eorder", "\ud800", "🎉", "$1", ":match", "?"),
    *("{now}", "x" * 10_000, "order " * 2_000, "\u0301" * 50, "\x1b[2J"),
    " ".join(f"w{n}" for n in range(1_700)),
]


def test_no_text_is_more_than_words(desk: Desk, refund: Ask) -> None:
    for text in HOSTILE:
        for page in (desk.inbox(text=text), desk.decided(text=text)):
            assert page.count == len(page) <= 1, text
        assert found(desk, f"{text[:100]} order 1182") in (set(), {refund.id})
        assert found(desk, "order 1182") == {refund.id}, "and nothing was harmed"


def test_a_blank_search_lists_everything_and_one_without_words_nothing(
    desk: Desk, refund: Ask
) -> None:
    assert found(desk, "") == found(desk, " \n\t") == {refund.id}
    assert found(desk, "***") == found(desk, "🎉") == set()
    assert ids(desk.decided(text="?!")) == []
    assert sought("the in") == ("in",), "somebody who types `in` may mean `invoice`"
    assert sought("refund in") == ("refund",)


@pytest.mark.parametrize("text", [7, b"order", ["order"]])
def test_what_is_no_text_is_refused(desk: Desk, text: Any) -> None:
    with pytest.raises(BadValue, match="text"):
        desk.inbox(text=text)
    with pytest.raises(BadValue, match="text"):
        desk.decided(text=text)


def test_hidden_arguments_are_not_among_the_words(desk: Desk) -> None:
    @desk.gate(secret=["pin"])
    def unlock(door: str, pin: str) -> None: ...

    opened = in_thread(lambda: unlock("cellar", "hunter2"))
    ask = until(lambda: next(iter(desk.inbox()), None))
    assert ask is not None

    assert found(desk, "cellar unlock") == {ask.id}
    assert found(desk, "hunter2") == found(desk, "hidden") == set()
    desk.approve(ask)
    assert opened.result(30) is None
    assert ids(desk.decided(text="hunter2")) == []


def test_an_erased_ask_is_not_found_and_its_words_are_gone(
    desk: Desk, place: Place, refund: Ask
) -> None:
    desk.reject(refund, note="As a favour to flanders")
    other = desk.open("pay", {"to": "moe"})
    assert ids(desk.decided(text="flanders lindqvist")) == [refund.id]

    desk.erase(refund, note="Asked for")

    assert place.sql("select id from texts where id = ?", refund.id) == []
    for text in ("flanders", "lindqvist", "send_refund", "1182"):
        assert ids(desk.decided(text=text)) == []
    rebuild(desk.store)
    assert ids(desk.decided(text="flanders")) == []
    assert place.one("select tool from asks where id = ?", refund.id) is None
    assert found(desk, "moe") == {other.id}


def test_a_reader_that_read_before_an_erasure_puts_no_words_back(
    desk: Desk, place: Place, refund: Ask
) -> None:
    desk.reject(refund)
    read, before = text_of(desk.get(refund.id)), desk.store.reached()

    desk.erase(refund, note="Asked for")
    assert desk.store.take_in(Entries(texts=[read]), before=before, after=desk.store.tip())

    assert place.count("texts") == 0


def test_the_index_costs_a_decision_nothing(desk: Desk, place: Place, refund: Ask) -> None:
    desk.reject(refund)

    assert place.count("texts") == 0, "whoever searches reads the journal, nobody else"
    assert ids(desk.decided(text="order")) == [refund.id]
    assert place.count("texts") == 1


# --- walls, on every filter ---

FILTERS: list[dict[str, Any]] = [
    *({}, {"text": "order"}, {"agent": "bot"}, {"tool": "pay"}, {"least": "high"}),
    *({"kind": "action"}, {"risk": "high"}, {"run": "r"}, {"thread": "t"}),
    {"text": "order", "agent": "bot", "tool": "pay", "least": "high", "kind": "action"},
]


@pytest.fixture
def walled(desk: Desk) -> Desk:
    desk.people.add("anna", roles=["senior"], teams=["billing"])
    desk.people.add("bea", roles=["senior"], teams=["ops"])
    desk.people.add("cy", roles=["senior"])
    for number, team in enumerate(("billing", "ops", None)):
        for closed in (False, True):
            ask = desk.open(
                "pay",
                {"order": f"order {number}", "closed": closed},
                risk="high",
                agent="bot",
                run="r",
                thread="t",
                team=team,
            )
            if closed:
                desk.reject(ask, by="bea" if team == "ops" else "anna")
    return desk


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_the_walls_of_teams_hold_on_every_filter(walled: Desk, wanted: dict[str, Any]) -> None:
    def teams(page: Any) -> list[str]:
        assert page.count == len(page)
        return sorted(ask.content.team or "" for ask in page)

    for person, own in (("anna", ["", "billing"]), ("bea", ["", "ops"]), ("cy", [""])):
        assert teams(walled.inbox(person=person, **wanted)) == own
        assert teams(walled.decided(person=person, **wanted)) == own
        assert teams(walled.inbox(person=person, teams=["billing", "ops"], **wanted)) == own
        assert teams(walled.decided(person=person, teams=["billing", "ops"], **wanted)) == own
    assert (
        teams(walled.inbox(**wanted)) == teams(walled.decided(**wanted)) == ["", "billing", "ops"]
    )


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_whoever_voted_and_whoever_may_not_decide_is_spared_on_every_filter(
    team: Desk, wanted: dict[str, Any]
) -> None:
    terms: dict[str, Any] = {"risk": "high", "agent": "bot", "run": "r", "thread": "t"}
    ask = team.open("pay", {"order": "order"}, needs=["2 senior"], **terms)
    team.approve(ask, by="anna")

    assert ids(team.inbox(person="anna", **wanted)) == []
    assert ids(team.inbox(person="ben", **wanted)) == []
    assert ids(team.inbox(role="security", **wanted)) == []
    assert ids(team.inbox(person="ada", **wanted)) == [ask.id]


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        ({"agent": "bot"}, {"a", "b"}),
        ({"agent": "shop"}, {"thrush"}),
        ({"agent": "bo"}, set()),
        ({"tool": "pay"}, {"a"}),
        ({"tool": "pa"}, set()),
        ({"tool": "mail", "agent": "bot"}, {"b"}),
        ({"tool": "mail", "text": "thrush"}, {"thrush"}),
        ({"least": "high"}, {"a", "b"}),
        ({"least": "critical", "tool": "mail"}, {"b"}),
        ({"least": "critical", "text": "bot"}, {"b"}),
    ],
    ids=str,
)
def test_lists_are_narrowed_by_agent_tool_and_least_risk(
    desk: Desk, wanted: dict[str, Any], titles: set[str]
) -> None:
    desk.open("pay", title="a", agent="bot", risk="high")
    desk.open("mail", title="b", agent="bot", risk="critical")
    desk.open("mail", title="thrush", risk="low")

    page = desk.inbox(**wanted)
    assert ({ask.title for ask in page}, page.count) == (titles, len(titles))
    for ask in desk.inbox():
        desk.reject(ask)
    page = desk.decided(**wanted)
    assert ({ask.title for ask in page}, page.count) == (titles, len(titles))


@pytest.mark.parametrize(
    "wanted",
    [{"least": "huge"}, {"agent": ""}, {"agent": 7}, {"tool": "x" * 201}, {"tool": "\x00"}],
)
def test_filters_that_nothing_could_match_are_refused(desk: Desk, wanted: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match=r"least|agent|tool"):
        desk.inbox(**wanted)
    with pytest.raises(BadValue, match=r"least|agent|tool"):
        desk.decided(**wanted)


# --- what was decided ---


def test_what_was_decided_comes_newest_first_page_by_page(desk: Desk, clock: FakeClock) -> None:
    asks = [desk.open("pay", {"n": n}, team="ops" if n % 2 else None) for n in range(7)]
    for number, ask in enumerate(reversed(asks)):
        if number % 2:
            clock.advance("1s")
        desk.withdraw(ask) if number % 3 == 0 else desk.reject(ask)
    closed = [desk.get(ask.id) for ask in asks]
    expected = sorted(closed, key=lambda ask: (ask.closed_at, ask.id), reverse=True)

    for wanted, mine in (
        ({}, expected),
        ({"text": "pay"}, expected),
        ({"teams": "billing"}, [ask for ask in expected if ask.content.team is None]),
        ({"teams": ["ops", "billing"]}, expected),
    ):
        seen, cursor = [], None
        while True:
            page = desk.decided(limit=2, after=cursor, **wanted)
            assert page.count == len(mine)
            seen += list(page)
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == mine


def test_what_closes_while_somebody_reads_on_hides_nothing(desk: Desk, clock: FakeClock) -> None:
    asks = [desk.open("pay", {"n": n}) for n in range(6)]
    for ask in asks[:5]:
        clock.advance("1s")
        desk.reject(ask)
    first = desk.decided(limit=2)
    desk.reject(asks[5])

    rest = desk.decided(after=first.cursor)

    assert ids(first) + ids(rest) == [ask.id for ask in reversed(asks[:5])]


def test_what_nobody_was_asked_and_what_waits_is_not_among_what_was_decided(
    desk: Desk, clock: FakeClock
) -> None:
    desk.open("pay", title="waits")
    late = desk.open("pay", title="late", within="1h")
    clock.advance("2h")
    desk.sweep()

    assert ids(desk.decided()) == [late.id]


@pytest.mark.parametrize(
    "after",
    ["x", "[1]", "null", '[1, "a-1", 2]', '["a", "b"]', '[true, "a-1234"]', '[1, "\\u0000"]']
    + [f'[{soon}, 0, 0, 0, "a-7f3k"]' for soon in (253402300800000000, 2**62, -1)],
)
def test_a_cursor_that_is_none_is_refused(desk: Desk, after: str) -> None:
    with pytest.raises(BadValue, match="no place in this list"):
        desk.decided(after=after)
    with pytest.raises(BadValue, match="no place in this list"):
        desk.inbox(after=after)


def test_a_list_may_be_reckoned_from_the_last_moment_there_is(desk: Desk) -> None:
    assert desk.inbox(after='[253402300799999999, 0, 0, 0, "a-7f3k"]').count == 0


@pytest.mark.parametrize("name", ["words", "roles", "asker", "not_voted", "colour"])
def test_a_list_takes_no_filter_that_is_none(desk: Desk, name: str) -> None:
    with pytest.raises(TypeError, match=name):
        desk.inbox(**cast("Any", {name: ("a",)}))
    with pytest.raises(TypeError, match=name):
        desk.decided(**cast("Any", {name: ("a",)}))


def test_an_erasure_leaves_others_their_turn_while_its_words_go(sqlite: Place) -> None:
    """The index is merged in short steps after the commit; when it returns, no word is left."""
    with Desk(sqlite.url, account="sam") as desk:
        ask = desk.reject(desk.open("pay", {"to": "xylophonist"}), note="quetzalcoatl")
        assert ids(desk.decided(text="xylophonist")) == [ask.id]
        sqlite.sql(
            "insert into texts (id, state, words) with recursive n(i) as"
            " (select 1 union all select i + 1 from n where i < 20000)"
            " select 'a-xxxxxxx' || i, 'open', 'w' || i || ' v' || (i * 7919) || ' u' || (i * 104729)"
            " from n"
        )
        said: list[str] = []
        store: Any = desk.store
        with store._lent() as connection:
            connection.set_trace_callback(said.append)

        desk.erase(ask, note="Asked for")

        with store._lent() as connection:
            connection.set_trace_callback(None)
        merged = [n for n, one in enumerate(said) if "'merge'" in one and "text_words" in one]
        ends = [n for n, one in enumerate(said) if one.lower() == "commit"]
        begins = [n for n, one in enumerate(said) if one.lower().startswith("begin")]
        assert len(merged) > 2
        assert begins[-1] < ends[-1] < merged[0], "in no transaction but their own"
        left = b"".join(file.read_bytes() for file in sqlite.file.parent.glob("desk.db*"))
        assert b"xylophonist" not in left
        assert b"quetzalcoatl" not in left
        assert len(desk.inbox(text="w19999")) == 0, "rows alone, without a journal"
        sqlite.sql("insert into text_words (text_words) values ('integrity-check')")
