"""What a call says, drawn by us: each kind of value, what is odd about it, and that nothing is lost."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso import Desk
from sayso.channels.facts import FULL, Fact, facts_from, facts_of
from sayso.channels.sql import Reading, read_sql
from tests import hostile

BLOB = base64.b64encode(random.Random(3).randbytes(2048)).decode()


def fact(value: Any, name: str = "it", **beside: Any) -> Fact:
    return facts_from({name: value, **beside})[0]


# --- money -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "text", "note"),
    [
        ({"amount": 1240, "currency": "EUR"}, "1,240 EUR", None),
        ({"amount": 1240.5, "currency": "EUR"}, "1,240.50 EUR", None),
        ({"amount": "1240.00", "currency": "EUR"}, "1,240.00 EUR", "as a text"),
        ({"amount": -3, "currency": "€"}, "-3 €", None),
        ({"amount": 40}, "40", "No currency given."),
        ({"price_usd": 5, "currency": "EUR"}, "5 USD", None),
        ({"fee_currency": "CHF", "fee": 1}, "1 CHF", None),
        ({"amount_cents": 124000, "currency": "EUR"}, "124,000 cents EUR", None),
        ({"totalPrice": 7, "currencyCode": "SEK"}, "7 SEK", None),
        ({"refund": {"amount": "3.10", "currency": "USD"}}, "3.10 USD", "as a text"),
        ({"total": 3, "currency": "EUR"}, "3 EUR", None),
    ],
)
def test_money_has_the_currency_that_is_given_and_every_decimal(
    args: dict[str, Any], text: str, note: str | None
) -> None:
    (money,) = [found for found in facts_from(args) if found.kind == "money"]

    assert money.text == text
    assert (note or "None") in str(money.note)


@pytest.mark.parametrize(
    "args",
    [{"total": 3}, {"amount": "all of it"}, {"amount": True}, {"limit": 10}, {"max_tokens": 10}],
)
def test_what_is_no_money_is_not_called_so(args: dict[str, Any]) -> None:
    assert [found.kind for found in facts_from(args)] != ["money"]


def test_a_currency_that_only_looks_like_one_is_noted() -> None:
    assert "not spelt as it looks" in str(fact(5, "amount", currency="\u0415UR").note)


# --- types stay visible ------------------------------------------------------------------------


def test_a_text_that_reads_as_something_else_says_that_it_is_a_text() -> None:
    assert (fact(40).kind, fact(40).text, fact(40).note) == ("number", "40", None)
    assert (fact("40").kind, fact("40").note) == ("text", "A text, not a number.")
    assert fact("true").note == 'A text, exactly 4 characters: "true".'
    assert fact(" x").note == 'A text, exactly 2 characters: " x".'
    assert fact("x ").note == 'A text, exactly 2 characters: "x ".'
    assert fact("true\n").note == 'A text, exactly 5 characters: "true\\n".'
    assert fact("\n").note == 'A text, exactly 1 characters: "\\n".'
    assert [fact(value).text for value in (True, False)] == ["yes", "no"]
    assert fact([1, "1", "x", None, "", True]).items == ("1", '"1"', "x", "null", '""', "true")


def test_a_text_that_ends_with_its_last_line_is_not_spelt_out() -> None:
    assert fact("Dear Ada,\nit works.\n").note == "It ends with a line break."
    assert fact("Dear Ada\n\n\n").note == "It ends with 3 line breaks."


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "nothing (null)"), ("", "an empty text"), ([], "an empty list"), ({}, "nothing in it")],
)
def test_nothing_is_said_to_be_nothing(value: Any, words: str) -> None:
    assert (fact(value).kind, fact(value).text) == ("empty", words)


# --- people and mail ---------------------------------------------------------------------------


def test_people_stand_with_their_domains_apart() -> None:
    people = fact(["ada@example.com", "Bob <bob@other.example>"], "attendees")

    assert people.kind == "people"
    assert people.rows == (("ada", "example.com", ""), ("Bob <bob", "other.example", ">"))
    assert people.note == "2 people at example.com (1), other.example (1)."


def test_many_people_are_counted() -> None:
    people = fact([f"p{number}@example.com" for number in range(400)], "to")

    assert len(people.items) == 100
    assert str(people.note).startswith("400 people at example.com (400)")


def test_a_domain_that_looks_like_another_is_noted() -> None:
    assert str(fact("ada@p\u0430ypal.com", "user").note).count("U+0430") == 1
    assert "punycode" in str(fact("ada@xn--pypal-4ve.com", "user").note)


def test_the_parts_of_a_mail_are_one_fact_and_nothing_is_lost() -> None:
    found = facts_from(
        {
            "dry_run": False,
            "to": "ada@example.com; bob@example.com",
            "bcc": ["boss@evil.example"],
            "subject": "Hi",
            "body": "Dear\nAda",
        }
    )

    assert [one.kind for one in found] == ["flag", "mail"]
    assert found[1].rows == (
        ("To", "ada@example.com; bob@example.com"),
        ("Bcc", "boss@evil.example"),
        ("Subject", "Hi"),
        ("Body", "Dear\nAda"),
    )
    assert "1 in blind copy" in str(found[1].note)
    assert "evil.example (1)" in str(found[1].note)


@pytest.mark.parametrize(
    "args",
    [
        {"to": "/srv/x", "body": "x"},
        {"to": ["ada@example.com", 7], "subject": "x"},
        {"to": "ada@example.com", "subject": 7},
        {"to": "ada@example.com"},
        {"subject": "x", "body": "y"},
    ],
)
def test_what_only_looks_like_a_mail_is_shown_argument_by_argument(args: dict[str, Any]) -> None:
    assert [one.name for one in facts_from(args)] == list(args)


# --- paths, addresses, SQL, diffs, times -------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "note"),
    [
        ("report.pdf", None),
        ("/etc/passwd", "Absolute"),
        ("~/.ssh/id_rsa", "home folder"),
        ("docs/../../secret", "goes up"),
        ("C:\\Windows", "Absolute"),
        ("\\\\host\\share", "another machine"),
        ("*.txt/x", "several files"),
        ("$HOME/x", "filled in"),
    ],
)
def test_paths_say_what_they_reach(path: str, note: str | None) -> None:
    found = fact(path, "path")

    assert found.kind == "path"
    assert (note or "None") in str(found.note)


def test_the_host_of_an_address_stands_apart() -> None:
    found = fact("https://bank.example@evil.example:8443/login?x=1")

    assert found.kind == "url"
    assert found.items == ("https", "evil.example:8443", "/login?x=1")
    assert "It is not bank.example." in str(found.note)
    assert fact("javascript:alert(1)").kind == "url"


@pytest.mark.parametrize(
    ("sql", "does"),
    [
        ("DROP TABLE staging.events_2023", "DROP TABLE staging.events_2023"),
        ("drop table if exists a, b cascade", "DROP TABLE a, b, with everything"),
        ("delete from users", "DELETE FROM users: EVERY ROW, there is no WHERE"),
        ("DELETE FROM users WHERE id = 7", "DELETE FROM users with a WHERE"),
        ("update t set a = 1 where 1=1", "UPDATE t: EVERY ROW, its WHERE is always true"),
        ("update t set a = (select 1 where 2)", "UPDATE t: EVERY ROW, there is no WHERE"),
        ("update t set a = ' where '", "UPDATE t: EVERY ROW, there is no WHERE"),
        ("update t set a = 1 -- where b", "UPDATE t: EVERY ROW, there is no WHERE"),
        ("select * from a join b.c on true", "SELECT FROM a, b.c"),
        ("with x as (delete from t) select 1", "WITH …: DELETE FROM t: EVERY ROW"),
        ("explain analyze delete from t", "EXPLAIN …: DELETE FROM t: EVERY ROW"),
        ("insert into t values (1)", "INSERT INTO t"),
        ("TRUNCATE t", "TRUNCATE t"),
        ("ALTER TABLE t DROP COLUMN c", "ALTER TABLE t, and DROP something in it"),
        ("GRANT ALL ON t TO bob", "GRANT ALL on t to bob"),
        ("CALL wipe()", "CALL wipe: what that does cannot be read here"),
        ("DROP/**/TABLE/* x */y", "DROP TABLE y"),
    ],
)
def test_sql_is_said_in_our_words(sql: str, does: str) -> None:
    found = fact(sql, "query")

    assert found.kind == "sql"
    assert found.items[0].startswith(does)


def test_statements_are_counted_and_none_hides_behind_another() -> None:
    found = fact("select (1; drop table x; select 'a;b'; drop table y", "sql")

    assert found.items == ("SELECT", "DROP TABLE x", "SELECT", "DROP TABLE y")
    assert str(found.note).startswith("4 statements.")


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 # ; drop table x",
        "select '\\'; drop table x; --'",
        "select 'unfinished",
        "select 1 /* unfinished",
        "select /*!50000 1 */",
        "select /* /* */ 1 */",
    ],
)
def test_what_databases_read_in_different_ways_is_said_to_be_uncertain(sql: str) -> None:
    assert read_sql(sql).warnings


def test_words_of_a_search_are_no_sql() -> None:
    assert fact("select shoes under 40 EUR please", "words").kind == "text"
    assert fact("shoes", "query").kind == "text"


def test_diffs_and_times() -> None:
    diff = fact("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+more\n")
    assert (diff.kind, diff.note) == ("diff", "Lines added: 2, removed: 1.")
    assert (fact("2026-11-16").kind, fact("2026-11-16").note) == ("when", "A Monday.")
    assert fact("2026-11-16T10:00:00").note == "A Monday. No time zone given."
    assert fact("2026-11-16T10:00:00Z").note == "A Monday."
    assert fact("2026-02-30").note == "There is no such day or time."


# --- lists, tables, what cannot be read --------------------------------------------------------


def test_a_list_of_flat_objects_is_a_table() -> None:
    table = fact([{"name": "Ada", "n": 1}, {"n": "1"}])

    assert (table.kind, table.columns) == ("table", ("name", "n"))
    assert table.rows == (("Ada", "1"), ("", '"1"'))
    assert fact([{"a": {"b": 1}}]).kind == "json"
    assert len(fact([{"a": 1}] * 400).rows) == 100
    assert fact([{"a": n} for n in range(400)]).note == "The first 100 of 400 rows are shown."


def test_bytes_are_said_to_be_unreadable() -> None:
    blob = fact(BLOB)

    assert (blob.kind, blob.text) == ("opaque", "2,048 bytes that cannot be read")
    assert fact({"a": {"b": [BLOB]}}).note == "What stands at /a/b/0 cannot be read."
    assert "bytes in it cannot be read" in str(fact(f"echo {BLOB} | sh").note)
    hidden = base64.b64encode(b"rm -rf / # everything on this machine, at once; " * 4).decode()
    assert 'Decoded it begins: "rm -rf /' in str(fact(hidden).note)


def test_facts_of_an_ask_are_in_the_order_of_the_function_and_say_what_is_hidden(
    desk: Desk,
) -> None:
    schema = {
        "type": "object",
        "properties": {
            "zone": {"type": "string"},
            "query": {"type": "string", "format": "sql"},
            "fee": {"anyOf": [{"$ref": "#/$defs/Fee"}, {"type": "null"}]},
        },
        "$defs": {"Fee": {"type": "number", "x-currency": "NOK"}},
        "required": ["zone", "query", "fee"],
    }
    args = {"fee": 3, "query": "VACUUM", "zone": "x"}
    ask = desk.open("clean", args, schema=schema)

    found = facts_of(ask)

    assert [(one.name, one.kind) for one in found] == [
        ("zone", "text"),
        ("query", "sql"),
        ("fee", "money"),
    ]
    assert found[2].text == "3 NOK"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.text() | st.sampled_from(["to", "cc", "subject", "body", "amount", "sql", "path", "url"])


@settings(deadline=None)
@given(st.dictionaries(NAMES, ANYTHING, max_size=6))
def test_every_argument_appears_whatever_it_is(args: dict[str, Any]) -> None:
    found = facts_from(args)

    mails = [name for one in found if one.kind == "mail" for name in one.value]
    alone = [one.name for one in found if one.kind != "mail"]
    assert sorted([*mails, *alone]) == sorted(args)
    assert all(one.text or one.rows or one.items for one in found)


@pytest.mark.parametrize(
    "bit", ["a", "a b ", "a@b.co,", "@@ @@\n+", "select ", "\u202e", "ä", "/", "(", "'", "[]", "1"]
)
def test_a_megabyte_of_anything_is_read(bit: str) -> None:
    text = (bit * 1_000_000)[:1_000_000]

    assert len(facts_from({"amount": text, "sql": text, "path": text})) == 3


def test_facts_keep_texts_as_they_came() -> None:
    assert fact(hostile.ALL).text == hostile.ALL


# --- how much is read --------------------------------------------------------------------------


def test_more_arguments_than_anybody_reads_are_counted() -> None:
    found = facts_from({f"k{number}": number for number in range(60_000)})

    assert len(found) == FULL.arguments + 1
    assert found[-1].text == "59,700 arguments more are not shown"
    assert "The JSON has all of them" in str(found[-1].note)


def test_what_is_too_long_is_shown_from_its_start_and_said_to_be_unread() -> None:
    args = {"sql": "select 1 " * FULL.each, "rows": [[1]] * FULL.each, "last": "select 1"}
    text, rows, last = facts_from(args)

    assert (text.kind, rows.kind) == ("text", "json")
    assert (text.text, rows.text) == (args["sql"][:1_200], ("[1], " * 240).join(("[", ""))[:1_200])
    for one in (text, rows):
        assert "not read" in str(one.note)
        assert "first 1,200 characters" in str(one.note)
    assert (last.text, last.note) == ("select 1", None)


def test_all_arguments_together_are_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them is short enough; the sum is what would cost."""
    read: list[int] = []

    def counted(text: str) -> Reading:
        read.append(len(text))
        return read_sql(text)

    monkeypatch.setattr("sayso.channels.facts.read_sql", counted)
    found = facts_from({f"q{n}_sql": "select 1 " + "/* a" * 4_990 for n in range(50)})

    assert len(found) == 50
    assert 0 < sum(read) <= FULL.all
    assert sum("not read" in str(one.note) for one in found) == 50 - len(read)


def test_a_mail_may_be_long_and_its_people_many_but_not_without_end() -> None:
    mail = {"to": "ada@example.com", "subject": "Sale", "body": "word " * FULL.each}
    (whole,) = facts_from(mail)
    assert (whole.kind, whole.value) == ("mail", mail)

    many = facts_from({**mail, "to": "ada@example.com," * FULL.each})
    assert [one.kind for one in many] == ["text", "text", "text"]


def test_a_long_row_of_blanks_is_read_in_one_way_only() -> None:
    """With two ways to take a blank, a hundred thousand of them take ten thousand million steps."""
    assert fact(f"ada@example.com{' ' * 100_000}x").kind == "text"


def test_an_amount_in_a_table_is_money_once_its_row_names_the_currency() -> None:
    rows = [{"amount": 1240.5, "currency": "EUR"}, {"amount": 1240.5}, {"amount": "40"}]

    assert [row[0] for row in fact(rows).rows] == ["1,240.50 EUR", "1240.5", '"40"']


@pytest.mark.parametrize("by_reference", [False, True])
def test_the_columns_of_a_table_stand_in_the_order_in_which_they_were_declared(
    desk: Desk, by_reference: bool
) -> None:
    row = {"required": ["to", "amount"], "type": "object"}
    items = {"$ref": "#/$defs/Row"} if by_reference else row
    schema = {
        "$defs": {"Row": row},
        "properties": {"payments": {"items": items, "type": "array"}},
        "type": "object",
    }
    payments = [{"amount": 40, "note": "tea", "to": "Ada"}, {"amount": 7, "to": "Ben"}]
    (fact,) = facts_of(desk.open("pay", {"payments": payments}, schema=schema))

    assert fact.columns == ("to", "amount", "note")
    assert fact.rows[0] == ("Ada", "40", "tea")


# --- E67: what is drawn from the frozen call is the call ------------------------------------------


@pytest.mark.parametrize(
    "person",
    [
        "Data Office <dpo@example.org>",
        "<dpo@example.org>",
        "dpo@example.org",
        "Data Office <dpo@example.org",
        " dpo@example.org> ",
    ],
)
def test_e67_an_address_is_drawn_to_its_last_character(person: str) -> None:
    (row,) = fact([person], "attendees").rows

    name, domain, rest = row
    assert f"{name}@{domain}{rest}" == person
    assert domain == "example.org"


def test_e67_rows_of_payments_have_a_total_and_equal_rows_are_named() -> None:
    paid = fact(
        [
            {"to": "Ada", "iban": "DE02", "amount": 1200.10, "currency": "EUR"},
            {"to": "Ben", "iban": "DE07", "amount": 2600.20, "currency": "EUR"},
            {"iban": "DE02", "to": "Ada", "currency": "EUR", "amount": 1200.10},
        ],
        "payments",
    )

    assert paid.columns == ("to", "iban", "amount", "currency")
    assert paid.totals == ("", "", "5,000.40 EUR", "")
    assert paid.text == "3 rows; amount in all: 5,000.40 EUR"
    assert paid.same == {0, 2}
    assert paid.note == "2 equal rows: 1, 3."


@pytest.mark.parametrize(
    ("rows", "total"),
    [
        ([{"amount": 5}, {"amount": 7}], "12"),
        ([{"amount": "5.50"}, {"amount": 0.1}], "5.60"),
        ([{"amount": 5, "currency": "EUR"}, {"amount": 7, "currency": "USD"}], "5 EUR + 7 USD"),
        ([{"amount": 5, "currency": "EUR"}, {"currency": "EUR"}], "5 EUR"),
        ([{"amount_cents": 500}, {"amount_cents": -20}], "480 cents"),
        ([{"amount": 5}, {"amount": "all of it"}], None),
        ([{"amount": 5}, {"amount": True}], None),
        ([{"amount": 1e300}, {"amount": 1}], None),
        ([{"order": 5}, {"order": 7}], None),
    ],
)
def test_e67_only_money_is_added_up_and_each_currency_by_itself(
    rows: list[dict[str, Any]], total: str | None
) -> None:
    totals = [said for said in fact(rows, "payments").totals if said]

    assert totals == ([] if total is None else [total])


def test_e67_all_rows_count_also_those_that_are_not_shown() -> None:
    paid = fact([{"to": f"p{n}", "amount": 10} for n in range(150)], "payments")

    assert paid.totals == ("", "1,500")
    assert "The first 100 of 150 rows are shown" in str(paid.note)
