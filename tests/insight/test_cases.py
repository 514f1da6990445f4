"""Past cases: found by what they were about, on both databases, with the same scores."""

from __future__ import annotations

from functools import partial

import pytest

from sayso import Ask, Case, Desk
from sayso.errors import BadValue
from sayso.insight.bounds import NEAR
from sayso.insight.case import row_of
from sayso.insight.reader import catch_up, rebuild
from sayso.store import open_store
from sayso.store.readers import Entries
from sayso.testing import FakeClock
from tests.hostile import ALL, ANSI, BIDI, FAKED, MARKUP, ZERO_WIDTH
from tests.places import Place
from tests.together import at_once

LATE = "The parcel came three weeks late and the box was crushed"
TWICE = "The card was charged twice for one order"
KEYS = "The customer lost the keys of the bicycle lock"


def paid(desk: Desk, reason: str, amount: int = 40) -> Ask:
    return desk.open("refund", {"reason": reason, "amount": amount})


@pytest.fixture
def decided(desk: Desk, clock: FakeClock) -> list[Ask]:
    """Three refunds: one approved, one edited, one rejected."""
    asks = [paid(desk, LATE), paid(desk, TWICE, 80), paid(desk, KEYS)]
    desk.approve(asks[0], note="As always with this carrier")
    clock.advance(60)
    desk.edit(asks[1], {"amount": 40}, note="Only one of the two")
    clock.advance(60)
    desk.reject(asks[2], "We sell no locks")
    return asks


def ids(cases: list[Case]) -> list[str]:
    return [case.id for case in cases]


# --- finding ---


def test_the_case_most_like_a_text_comes_first(desk: Desk, decided: list[Ask]) -> None:
    found = desk.cases("charged twice on the card for the order")

    assert found[0].id == decided[1].id
    assert found[0].score >= NEAR
    assert [case.score for case in found] == sorted((c.score for c in found), reverse=True)


def test_a_case_says_what_was_proposed_what_people_did_and_what_came_of_it(
    desk: Desk, decided: list[Ask]
) -> None:
    call = desk.begin(decided[1])
    desk.finish(call, result="sent to the bank")

    (case,) = desk.cases(TWICE, least=0.9)

    assert (case.tool, case.kind, case.verdict, case.by) == ("refund", "action", "edit", "sam")
    assert case.edits == ("amount 80 -> 40",)
    assert case.note == "Only one of the two"
    assert case.outcome == "done: sent to the bank"
    assert '"amount":80' in case.about
    assert not case.good, "people did not agree to it as it was proposed"


def test_what_nobody_decided_is_no_case(desk: Desk, clock: FakeClock) -> None:
    paid(desk, LATE)
    desk.withdraw(paid(desk, LATE))
    desk.open("refund", {"reason": LATE}, within="1m")
    clock.advance(120)
    desk.sweep()

    assert desk.cases(LATE, least=0) == []


def test_plurals_case_accents_and_tools_are_told_as_people_do(
    desk: Desk, decided: list[Ask]
) -> None:
    ask = desk.open("order", {"what": "Two cafés crèmes for the Ladies"})
    desk.approve(ask)

    assert ids(desk.cases("CAFE creme", least=0)) == [ask.id]

    mail = desk.open("write_mail", {"text": LATE})
    desk.approve(mail)

    assert ids(desk.cases(LATE, tool="write_mail", least=0)) == [mail.id]
    assert mail.id not in ids(desk.cases(LATE, tool="refund", least=0))


@pytest.mark.parametrize("text", ["заказ опоздал", "注文が遅れた", "تأخر الطلب", "הזמנה מאחרת"])
def test_texts_in_other_scripts_are_found(desk: Desk, text: str) -> None:
    ask = desk.open("note", {"text": text})
    desk.approve(ask)

    (case,) = desk.cases(text)

    assert (case.id, case.score) == (ask.id, 1.0)


def test_of_equal_cases_the_newest_comes_first(desk: Desk, clock: FakeClock) -> None:
    asks = []
    for _ in range(3):
        asks.append(paid(desk, LATE))
        desk.approve(asks[-1])
        clock.advance(1)

    assert ids(desk.cases(LATE)) == [ask.id for ask in reversed(asks)]
    assert ids(desk.cases(LATE, limit=1)) == [asks[2].id]


# --- the score ---


def test_a_text_reaches_one_against_itself_and_the_bound_cuts(desk: Desk) -> None:
    ask = desk.open("note", {"text": LATE})
    desk.approve(ask)

    assert [case.score for case in desk.cases(LATE, least=1.0)] == [1.0]
    half = desk.cases("parcel crushed and then something else entirely different", least=0)
    assert 0 < half[0].score < NEAR
    assert desk.cases("parcel crushed and then something else entirely different") == []


def test_scores_are_the_same_numbers_on_every_database(desk: Desk, decided: list[Ask]) -> None:
    """One bound means the same everywhere: the numbers below are not a database's.

    Two of the four words, each as rare as the others, in cases of eight and of six words:
    0.5 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 8 / 4)), and the same with 6.
    """
    found = {case.id: case.score for case in desk.cases("late parcel, order twice", least=0)}

    assert found == {decided[0].id: 0.3548, decided[1].id: 0.4151}


def test_a_case_with_all_words_in_the_world_is_like_nothing(desk: Desk) -> None:
    flood = " ".join(f"word{n}" for n in range(900)) + f" {LATE}"
    desk.approve(paid(desk, flood))

    (case,) = desk.cases(LATE, least=0)

    assert case.score < 0.1


def test_common_words_count_less_than_rare_ones(desk: Desk) -> None:
    for number in range(20):
        desk.approve(desk.open("note", {"text": f"quarterly report {number}x"}))
    rare = desk.open("note", {"text": "zebra report"})
    desk.approve(rare)

    found = desk.cases("quarterly zebra", least=0)

    assert found[0].id == rare.id
    assert found[0].score > 2 * found[1].score


# --- hostile and senseless input ---

TRICKS = [BIDI, ANSI, ZERO_WIDTH, MARKUP, FAKED, ALL]
SYNTAX = [
    '"',
    "'",
    "'; drop table cases; --",
    "a OR b) NOT (",
    "NEAR(a b, 5)",
    "about: parcel",
    "^parcel*",
    "a & b | !c <-> d:*",
    "\\",
    "$1 :name ?1 {now}",
    "\0",
    "parcel\0",
    "\ud800".encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
    "%_",
    "()[]{}<>",
    "...!!!???",
    "   \n\t ",
    "",
]


@pytest.mark.parametrize("text", [*SYNTAX, *TRICKS])
def test_hostile_text_finds_what_it_says_and_never_everything(
    desk: Desk, decided: list[Ask], text: str
) -> None:
    assert len(desk.cases(text, least=0)) < len(decided)


def test_hostile_cases_are_kept_and_found(desk: Desk) -> None:
    for text in [*SYNTAX, *TRICKS]:
        if "\0" not in text:
            desk.reject(desk.open("note", {"text": f"{text} marker"}), note=text or None)

    found = desk.cases("marker", least=0, limit=50)

    assert len(found) >= len(SYNTAX) - 2


def test_a_search_of_megabytes_ends(desk: Desk, decided: list[Ask]) -> None:
    huge = "x" * 1_000_000 + " " + " ".join(str(n) for n in range(200_000))

    assert desk.cases(huge) == []
    assert desk.cases(LATE + " " + huge, least=0)


def test_a_huge_proposal_is_a_case_like_any_other(desk: Desk) -> None:
    ask = desk.open("note", {"text": LATE + " y" * 400_000})
    desk.approve(ask)

    assert ids(desk.cases(LATE, least=0)) == [ask.id]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"limit": 0}, "limit=0"),
        ({"limit": 51}, "limit=51"),
        ({"limit": "5"}, "limit='5'"),
        ({"least": 7}, "least=7"),
        ({"least": -1}, "least=-1"),
        ({"least": "high"}, "least='high'"),
        ({"least": True}, "least=True"),
        ({"least": float("nan")}, "least=nan"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(desk: Desk, given: dict, word: str) -> None:
    with pytest.raises(BadValue, match=word):
        desk.cases("refund", **given)
    with pytest.raises(BadValue, match="not by int"):
        desk.cases(7)  # type: ignore[arg-type]


# --- the index ---


def test_a_decision_writes_nothing_into_the_index_and_the_sweep_or_a_look_does(
    desk: Desk, place: Place
) -> None:
    desk.approve(paid(desk, LATE))

    assert place.count("cases") == 0
    assert len(desk.cases(LATE)) == 1
    assert place.count("cases") == 1

    desk.approve(paid(desk, LATE))
    desk.cases(LATE)
    before = place.sql("select cursor from readers")

    desk.cases(LATE)

    assert place.sql("select cursor from readers") == before


def test_the_sweep_reads_on(desk: Desk, place: Place) -> None:
    desk.approve(paid(desk, LATE))

    desk.sweep()

    assert place.count("cases") == 1


def test_the_index_can_be_dropped_and_is_made_again(
    desk: Desk, place: Place, decided: list[Ask]
) -> None:
    before = desk.cases(LATE, least=0)

    rebuild(desk.store)
    assert desk.cases(LATE, least=0) == before

    place.sql("delete from cases")
    place.sql("delete from readers")
    assert desk.cases(LATE, least=0) == before


def test_what_comes_of_a_case_later_is_taken_in(desk: Desk, decided: list[Ask]) -> None:
    assert desk.cases("bank holiday", least=0) == []
    call = desk.begin(decided[0])
    desk.finish(call, error="refused: bank holiday")

    assert ids(desk.cases("bank holiday", least=0)) == [decided[0].id]
    assert ids(desk.cases("carrier", least=0)) == [decided[0].id], "what people said, too"


def test_a_journal_that_makes_no_sense_hides_no_other_case(
    desk: Desk, place: Place, decided: list[Ask]
) -> None:
    place.sql("update events set payload = '{}' where stream = ? and seq = 1", decided[0].id)

    assert ids(desk.cases("order parcel", least=0)) == [decided[1].id]


def test_of_many_readers_at_once_none_loses_a_case(place: Place, desk: Desk) -> None:
    asks = [paid(desk, f"{LATE} {n}") for n in range(30)]
    stores = [open_store(place.url) for _ in range(4)]

    def read(n: int) -> None:
        for ask in asks[n::4]:
            desk.approve(ask)
            catch_up(stores[n])

    assert at_once([partial(read, n) for n in range(4)]) == [None] * 4
    for store in stores:
        store.close()

    assert len(desk.cases(LATE, least=0, limit=50)) == 30
    assert place.count("cases") == 30


def test_an_index_from_before_a_restore_is_made_again(postgres: Place) -> None:
    """A dump that was loaded into another server: the cursor is from the old one."""
    with Desk(postgres.url, account="sam@till") as desk:
        desk.approve(paid(desk, LATE))
        desk.cases(LATE)
        postgres.sql("update readers set cursor = '999999999999.1'")
        desk.approve(paid(desk, TWICE))

        assert len(desk.cases(TWICE)) == 1
        assert len(desk.cases(LATE)) == 1


def test_putting_a_restored_journal_right_starts_the_index_anew(postgres: Place) -> None:
    with Desk(postgres.url, account="sam@till") as desk:
        desk.approve(paid(desk, LATE))
        desk.cases(LATE)
        postgres.sql("update events set xid = '999999999999'")
        postgres.sql("update readers set cursor = '999999999999.9'")
        with desk.store.putting_right():
            pass
        desk.approve(paid(desk, TWICE))

        assert len(desk.cases(LATE)) == 1
        assert len(desk.cases(TWICE)) == 1


# --- erasing ---


def test_an_erased_ask_is_gone_from_the_index(desk: Desk, place: Place, decided: list[Ask]) -> None:
    assert len(desk.cases(LATE, least=0)) == 1

    desk.erase(decided[0], note="The customer wants it")

    assert place.sql("select id from cases where id = ?", decided[0].id) == []
    assert desk.cases(LATE, least=0) == []
    rebuild(desk.store)
    assert desk.cases(LATE, least=0) == []


def test_words_of_an_erased_ask_are_no_longer_in_the_file(sqlite: Place) -> None:
    with Desk(sqlite.url, account="sam@till") as desk:
        ask = paid(desk, "xylophonist zzyzx")
        desk.approve(ask, note="quetzalcoatl")
        desk.approve(paid(desk, LATE))
        assert desk.cases("xylophonist", least=0)

        desk.erase(ask, note="Asked for")

        files = sqlite.file.parent.glob("desk.db*")
        left = b"".join(file.read_bytes() for file in files)
        for word in (b"xylophonist", b"zzyzx", b"quetzalcoatl"):
            assert word not in left


def test_a_reader_that_read_before_an_erasure_puts_nothing_back(
    desk: Desk, place: Place, decided: list[Ask]
) -> None:
    """It read, the ask was erased, and only then it writes."""
    read = row_of(desk.get(decided[0].id))
    before = desk.store.reached()

    desk.erase(decided[0], note="Asked for")
    assert desk.store.take_in(Entries(cases=[read]), before=before, after=desk.store.tip())

    assert place.sql("select id from cases where id = ?", decided[0].id) == []


def test_of_two_readers_from_one_place_the_second_writes_nothing(
    desk: Desk, place: Place, decided: list[Ask]
) -> None:
    rows = [row_of(desk.get(ask.id)) for ask in decided]
    before, tip = desk.store.reached(), desk.store.tip()

    assert desk.store.take_in(Entries(cases=rows[:1]), before=before, after=tip)
    assert not desk.store.take_in(Entries(cases=rows[1:]), before=before, after=tip)

    assert place.sql("select id from cases") == [(decided[0].id,)]
