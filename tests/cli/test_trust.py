"""`sayso trust`, `sayso incident`, and what deciding asks for the sake of trust."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from sayso import Ask, Desk
from tests.cli.conftest import AtTerminal, Sayso
from tests.fine import fine
from tests.trusted import LAW, earned, granted, written

ORDERS = count(1)


@pytest.fixture
def desk(here: Path) -> Iterator[Desk]:
    """A desk whose policy places tools in tiers, and where chance picks nothing."""
    (here / "sayso.toml").write_text(LAW)
    with Desk("sqlite:///sayso.db", agent="shop") as desk:
        desk.law.coin = lambda: 0.999
        yield desk


def call(desk: Desk) -> Ask:
    return desk.open("refund", {"order": f"R-{next(ORDERS)}", "memo": "thanks"})


def carried(desk: Desk) -> Ask:
    return desk.finish(desk.begin(call(desk)), result=1)


# --- list and show -----------------------------------------------------------------------------


def test_a_desk_without_keys_says_what_begins_one(sayso: Sayso, here: Path) -> None:
    done = sayso("trust")

    assert done.out.startswith("desk: ./sayso.db, 0 keys\n")
    assert "None yet" in done.out
    assert list(here.iterdir()) == []


def test_those_that_want_somebody_come_first(sayso: Sayso, desk: Desk) -> None:
    alone = written(desk, "granted")
    proposed = earned(desk, lambda: call(desk))

    out = sayso("trust").out

    assert out.startswith("desk: ./sayso.db, 2 keys: 1 proposed, 1 granted\n")
    assert out.index(proposed.id) < out.index(alone.id)
    assert f"{proposed.id}  proposed  refund by shop (low)" in out
    assert "98 fine, 0 harms, 0 audits, score 20.4 of 20  ++++" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_list_can_be_narrowed_and_read_by_scripts(sayso: Sayso, desk: Desk) -> None:
    alone, locked = written(desk, "granted"), written(desk, "locked")

    said = sayso("trust", "list", "--standing", "locked", "--json").json

    assert [one["id"] for one in said["keys"]] == [locked.id]
    assert said["counts"] == {"granted": 1, "locked": 1}
    assert said["keys"][0]["bar"] == 160
    assert alone.id in sayso("trust", "--agent", alone.key.agent).out
    assert "None of these." in sayso("trust", "list", "--agent", "nobody").out


def test_a_key_says_how_far_it_is_from_a_grant(sayso: Sayso, desk: Desk) -> None:
    ask = desk.approve(call(desk))
    assert ask.stake is not None

    out = " ".join(sayso("trust", "show", ask.stake.key).out.split())

    assert "reviewed: people are asked for every call" in out
    assert "97 more calls found to be fine: score 1.0, and 20 is needed" in out
    assert "chance picks 5.0% of its calls" in out
    assert "2 confirmed harms, or one incident" in out
    assert f"found {ask.id} fine" in out
    assert "Reaches nothing yet" in out


def test_a_key_says_how_far_its_grant_reaches_and_what_it_takes_besides(
    sayso: Sayso, desk: Desk
) -> None:
    ask = call(desk)
    book = fine(desk, ask, 40)
    assert ask.stake is not None

    out = " ".join(sayso("trust", "show", book.id).out.split())
    record = json.loads(sayso("trust", "show", book.id, "--json").out)

    assert "Reaches memo: text; order: text" in out
    assert record["reach"] == {
        "numbers": {},
        "names": ["memo: text", "order: text"],
        "people": 2,
        "days": 2,
    }
    assert record["least"] == {"days": 1, "people": 1}


def test_a_proposal_comes_with_the_command_that_decides_it(sayso: Sayso, desk: Desk) -> None:
    book = earned(desk, lambda: call(desk))
    assert book.grant_ask is not None
    ask = desk.get(book.grant_ask)

    out = sayso("trust", "show", book.id).out

    assert f"May it run alone? It waits for 1 reviewer: sayso inbox show {ask.id}" in out
    command = f"sayso inbox approve {ask.id} --seen {ask.digest[:12]}"
    assert f"Decide it: {command}" in out
    assert sayso(*command.split()[1:]).code == 0
    shown = " ".join(sayso("trust", "show", book.id.upper()).out.split())
    assert "granted: it runs alone, but for what chance picks" in shown
    assert "47.5 bad calls may get through" in shown


def test_a_flag_comes_with_the_command_that_settles_it(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("ann", roles=["senior"])
    desk.people.add("ben", roles=["senior"])
    ask = desk.reject(call(desk), kind="harmful", by="ann")
    assert ask.stake is not None

    out = " ".join(sayso("trust", "show", ask.stake.key).out.split())

    assert "suspended: a call was flagged as harmful" in out
    assert "Was it harmful?" in out


def test_all_about_a_key_for_scripts(sayso: Sayso, desk: Desk) -> None:
    book = written(desk, "granted")

    said = sayso("trust", "show", book.id, "--json").json

    assert (said["id"], said["alone"], said["standing"]) == (book.id, True, "granted")
    assert said["history"][0]["kind"] == "trust.begun"
    missing = sayso("trust", "show", "k-0000000000", "--json")
    assert (missing.code, missing.error["error"]) == (1, "unknown-key")


def test_what_others_wrote_is_shown_as_it_is(sayso: Sayso, desk: Desk) -> None:
    book = written(desk, "granted")
    desk.trust.revoke(book.id, "New\u202e supplier\x1b[31m")

    out = sayso("trust", "show", book.id).out

    assert "RIGHT-TO-LEFT OVERRIDE" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


# --- revoke, reopen, incident ------------------------------------------------------------------


def test_a_grant_is_not_ended_without_a_word(sayso: Sayso, desk: Desk) -> None:
    book = granted(desk, lambda: call(desk))

    refused = sayso("trust", "revoke", book.id)

    assert refused.code == 1
    assert "Ask people again for every call of refund by shop?" in refused.err
    assert desk.trust.alone(book.id)
    done = sayso("trust", "revoke", book.id, "New supplier", "--yes")
    assert f"{book.id}: people are asked again." in done.out
    assert call(desk).open
    again = sayso("trust", "revoke", book.id, "--yes")
    assert again.code == 1
    assert "this key is reviewed" in again.err


def test_somebody_at_a_terminal_is_asked(at_terminal: AtTerminal, desk: Desk) -> None:
    book = granted(desk, lambda: call(desk))

    with at_terminal("trust", "revoke", book.id) as program:
        program.answer("Ask people again for every call of refund by shop? [y/N]", "y")

    assert not desk.trust.alone(book.id)


def test_a_locked_key_is_reopened_by_name(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("ann", roles=["senior"])
    desk.people.add("jo")
    book = written(desk, "locked")

    refused = sayso("trust", "reopen", book.id, "--as", "jo", "--yes")
    done = sayso("trust", "reopen", book.id, "Mended", "--as", "ann", "--yes", "--json")

    assert "needs 1 senior" in refused.err
    assert (done.json["standing"], done.json["bar"]) == ("reviewed", 160)


def test_an_incident_says_what_it_ended(sayso: Sayso, desk: Desk) -> None:
    book = granted(desk, lambda: call(desk))
    ask = carried(desk)

    done = sayso("incident", ask.id, "The customer was paid twice")

    assert "the harm is in the journal" in done.out
    assert f"{book.id} (refund by shop) is reviewed: people are asked for every call." in done.out
    assert desk.trust.key(book.id).ledger.ends == 1
    twice = sayso("incident", ask.id, "Again", "--json")
    assert (twice.code, twice.error["error"]) == (1, "already-reported")
    assert call(desk).open


def test_an_incident_of_what_earns_nothing_says_so(sayso: Sayso, desk: Desk) -> None:
    ask = desk.approve(desk.open("drop", {}))
    desk.finish(desk.begin(ask), result=1)

    said = sayso("incident", ask.id, "It was the wrong table", "--json")

    assert said.json["harm"]["what"] == "It was the wrong table"
    assert said.json["trust"] is None


# --- whether it would have done harm -----------------------------------------------------------


@pytest.mark.parametrize(("word", "marks"), [("--harmful", ["x"]), ("--harmless", ["+"])])
def test_a_script_says_whether_an_edit_prevented_harm(
    sayso: Sayso, desk: Desk, word: str, marks: list[str]
) -> None:
    ask = call(desk)

    done = sayso("inbox", "edit", ask.id, "--set", "order=0", word, "--seen", ask.digest)

    assert done.code == 0
    assert [row.marks for row in desk.trust] == marks


# --- the policy in words -----------------------------------------------------------------------


def test_a_policy_says_what_can_be_earned(sayso: Sayso, desk: Desk, here: Path) -> None:
    assert "What agents can earn to run alone" in sayso("policy", "check").out
    assert "below critical" in sayso("policy", "check").out
    assert sayso("policy", "check", "--json").json["policy"]["autonomy"]["enabled"] is True

    (here / "sayso.toml").write_text(f"{LAW}\n[autonomy]\nenabled = false\n")
    assert "nothing: people are asked whenever" in sayso("policy", "check").out
    (here / "sayso.toml").write_text(f"{LAW}\n[autonomy]\ndetection = 0.9\n")
    assert "notice 90% of bad calls" in " ".join(sayso("policy", "check").out.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("refund", "--agent", "shop"), "can be, by shop in each version"),
        (("refund", "--irreversible"), "cannot be: it cannot be undone"),
        (("refund", "--confidence", "0.1"), "cannot be: people are not asked because of its tier"),
        (("drop",), "cannot be: nothing of the tier critical is"),
        (("refund", "--kind", "plan"), "cannot be: only calls of tools are"),
    ],
)
def test_a_call_that_is_tried_says_whether_it_could_be_earned(
    sayso: Sayso, desk: Desk, words: tuple[str, ...], says: str
) -> None:
    out = " ".join(sayso("policy", "simulate", *words).out.split())

    assert f"Earned {says}" in out
    said = sayso("policy", "simulate", *words, "--json").json
    assert said["earnable"] is says.startswith("can be")


def test_an_ask_says_which_trust_it_counts_for(sayso: Sayso, desk: Desk) -> None:
    ask = call(desk)
    assert ask.stake is not None

    out = " ".join(sayso("policy", "explain", ask.id).out.split())

    assert f"for the trust in shop to call refund: {ask.stake.key}" in out
    assert sayso("policy", "explain", ask.id, "--json").json["trust"]["key"] == ask.stake.key
    assert sayso("inbox", "show", ask.id, "--json").json["trust"]["key"] == ask.stake.key
