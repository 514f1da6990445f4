"""What comes between somebody and their decision: said on the page, with everything typed kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sayso import Desk
from sayso.asks.standing import standing
from sayso.errors import BadPolicy
from sayso.model.ask import Ask
from sayso.store.contract import Lease
from sayso.web.inbox.answering import entry_for
from sayso.web.inbox.filters import Filters
from sayso.web.problems import UNUSABLE
from tests.places import Place
from tests.served import Served
from tests.web.inbox.browser import FORM, Tab, encoded

_numbers = count(1)


def call(desk: Desk, **terms: Any) -> Ask:
    args = {"order": next(_numbers), "amount": 40, "note": "please"}
    return desk.open("refund", args, **{"risk": None if "needs" in terms else "medium", **terms})


# --- somebody was faster -----------------------------------------------------------------------


def test_e37_the_slower_one_sees_who_was_faster_and_keeps_what_was_typed(
    anna: Tab, ada: Tab, desk: Desk
) -> None:
    ask = call(desk)
    ada.go(f"/inbox/{ask.id}")
    anna.go(f"/inbox/{ask.id}").verdict("reject", hold="0", note="no")

    ada.verdict("approve", **{"/amount": "30", "note": "half of it"})

    assert ada.status == 409
    assert "Rejected by anna" in ada.banner.text
    assert desk.get(ask.id).decision.verdict == "reject"  # type: ignore[union-attr]
    typed = next(node for node in ada.page.walk() if node.attrs.get("data-pointer") == "/amount")
    assert "30" in [node.attrs.get("value") for node in typed.all("input")]
    assert not ada.buttons, "the form is no longer live"
    assert all("disabled" in node.attrs for node in ada.page.all("fieldset", class_="editor"))


def test_a_second_word_while_it_settles_is_refused_and_says_until_when(
    anna: Tab, ada: Tab, desk: Desk
) -> None:
    ask = call(desk)
    ada.go(f"/inbox/{ask.id}")
    anna.go(f"/inbox/{ask.id}").verdict("approve", hold="600")

    ada.verdict("reject")

    assert ada.status == 409
    assert ada.state == "settling"
    assert not ada.banner.all("button"), "only whoever said it can take it back"
    anna.go(f"/inbox/{ask.id}")
    assert "Undo" in anna.banner.text


def test_the_state_of_a_decided_ask_is_read_only_at_once(anna: Tab, desk: Desk) -> None:
    ask = call(desk)
    assert anna.go(f"/inbox/{ask.id}/state").buttons

    desk.approve(ask, by="ada", note="fine")

    state = anna.go(f"/inbox/{ask.id}/state").page
    assert not anna.buttons
    assert "Approved by ada" in state.one("div", id=f"banner-{ask.id}").text
    assert not state.all("article")


# --- it has changed ----------------------------------------------------------------------------


def test_what_changed_is_shown_and_the_edits_are_kept_and_checked_again(
    anna: Tab, ada: Tab, desk: Desk
) -> None:
    ask = call(desk, needs=["2 senior"])
    anna.go(f"/inbox/{ask.id}")
    ada.go(f"/inbox/{ask.id}").verdict("approve", **{"/amount": "20"})
    assert desk.get(ask.id).version == 2

    anna.verdict("approve", **{"/note": "with pleasure"})

    assert anna.status == 409
    assert anna.state == "superseded"
    changed = anna.page.one("section", aria_label="What has changed")
    assert {"40", "20"} <= set(changed.text.split())
    assert desk.get(ask.id).votes[-1].by.id == "ada", "nothing was decided"
    values = {n.attrs.get("name"): n for n in anna.page.all("input") + anna.page.all("textarea")}
    note = values["/note"]
    assert (note.attrs.get("value") or note.raw) == "with pleasure"

    anna.verdict("approve")

    assert anna.status == 303, anna.summary
    assert desk.get(ask.id).args == {**ask.args, "amount": 20, "note": "with pleasure"}


def test_the_state_tells_a_page_that_shows_an_older_version(anna: Tab, desk: Desk) -> None:
    ask = call(desk, needs=["2 senior"])
    desk.edit(ask, {"amount": 1}, by="ada")

    old = anna.go(f"/inbox/{ask.id}/state?seen={ask.digest}").page
    new = anna.go(f"/inbox/{ask.id}/state?seen={desk.get(ask.id).digest}").page

    assert old.all("div", data_state="superseded")
    assert not new.all("div", data_state="superseded")


@pytest.mark.parametrize("seen", ["", "0" * 64, "nonsense"])
def test_e31_a_digest_that_was_not_shown_decides_nothing(anna: Tab, desk: Desk, seen: str) -> None:
    ask = call(desk)

    anna.go(f"/inbox/{ask.id}").verdict("approve", seen=seen)

    assert anna.status == 409
    assert desk.get(ask.id).open


# --- it is over --------------------------------------------------------------------------------


def test_what_expired_says_what_the_policy_made_of_it(anna: Tab, desk: Desk) -> None:
    ask = call(desk, within="1m")
    anna.go(f"/inbox/{ask.id}")
    desk.sweep(now=desk.store.now() + timedelta(minutes=2))

    anna.verdict("approve")

    assert anna.status == 409
    banner = anna.banner.one("div", data_state="expired")
    assert "rejected by the clock" in banner.text
    assert "Nobody decided within 1 min" in banner.text


def test_what_was_withdrawn_says_so(anna: Tab, desk: Desk) -> None:
    ask = call(desk)
    desk.withdraw(ask, note="Approved by ada.")

    anna.go(f"/inbox/{ask.id}")

    assert anna.state == "withdrawn"
    assert not anna.buttons
    assert "It was withdrawn. The agent says: Approved by ada." in anna.banner.text


def test_what_nobody_waits_for_any_more_can_only_be_closed(anna: Tab, desk: Desk) -> None:
    lease = Lease("till", timedelta(microseconds=1))
    content = desk.forms.action("pay", {"n": next(_numbers)})
    ask = desk.put(content, lease=lease)

    anna.go(f"/inbox/{ask.id}")

    assert anna.state == "gone"
    assert {b.attrs["value"] for b in anna.buttons} == {"reject"}


def test_what_was_erased_says_so(anna: Tab, desk: Desk) -> None:
    ask = desk.reject(call(desk, why="a secret"), by="ada")
    desk.erase(ask, "asked for")

    anna.go(f"/inbox/{ask.id}")

    assert anna.answer.status_code == 200
    assert anna.state == "erased"
    assert "a secret" not in anna.answer.text


@contextmanager
def full(place: Place) -> Iterator[None]:
    """Let the journal take no more events."""
    if place.dialect != "sqlite":
        pytest.skip("its triggers are written otherwise")
    place.sql("create trigger full before insert on events begin select raise(abort, 'full'); end")
    try:
        yield
    finally:
        place.sql("drop trigger full")


@pytest.mark.parametrize("deed", ["decide", "harm"])
def test_what_is_wrong_with_the_desk_is_a_page_of_its_own(
    anna: Tab, desk: Desk, shared_place: Place, deed: str
) -> None:
    ask = call(desk)
    if deed == "harm":
        ask = desk.finish(desk.begin(desk.approve(ask, by="ada")), "paid")
    anna.go(f"/inbox/{ask.id}")
    typed: Any = {"harm": "It paid twice"} if deed == "harm" else {"verdict": "reject", "hold": "0"}

    with full(shared_place):
        anna.press(form=f"{deed}-{ask.id}", **typed)

    assert anna.status == 503
    assert not anna.page.all("article"), "the ask is not to blame"


def test_a_policy_that_cannot_be_read_is_said_without_where_it_lies(desk: Desk) -> None:
    ask = call(desk)
    broken = BadPolicy("It makes no sense.", line=3, column=1, file="/srv/secret/law.toml")

    entry = entry_for(broken, standing(desk.store, ask.id), {}, Filters())

    assert entry.wrong == (("", UNUSABLE),)
    assert "secret" not in UNUSABLE


# --- again -------------------------------------------------------------------------------------


def test_the_same_form_sent_twice_decides_once_and_says_the_same(anna: Tab, desk: Desk) -> None:
    ask = call(desk)
    anna.go(f"/inbox/{ask.id}").verdict("approve", **{"/amount": "30", "hold": "0"})
    before, first = len(desk.history(ask)), anna.direct

    again = anna.send().direct

    assert (first.status_code, again.status_code) == (303, 303)
    assert f"done={ask.id}" in again.headers["location"]
    assert len(desk.history(ask)) == before


def test_undo_opens_it_again_and_twice_is_no_more_than_once(anna: Tab, desk: Desk) -> None:
    ask = call(desk)
    anna.go(f"/inbox/{ask.id}").verdict("approve")
    assert desk.get(ask.id).settling
    assert "Approved: " in anna.page.one("div", id="toast").text

    anna.press(anna.held(ask.id).one("button", data_key="z"))

    assert (anna.status, anna.ask, desk.get(ask.id).status) == (303, ask.id, "open")
    assert anna.buttons
    assert anna.send().status == 303


def test_what_still_settles_says_until_when_as_every_moment_is_said(
    anna: Tab, ada: Tab, desk: Desk
) -> None:
    ask = call(desk)
    anna.go(f"/inbox/{ask.id}").verdict("approve")

    ada.go(f"/inbox/{ask.id}")

    assert ada.state == "settling"
    assert "may still be taken back" in ada.banner.text
    assert ada.banner.one("time").attrs["data-form"] == "left"
    assert " UTC" not in ada.banner.text
    assert " UTC" not in ada.go("/inbox?view=decided").page.text


def test_undo_comes_too_late_once_it_counts(anna: Tab, desk: Desk) -> None:
    ask = call(desk)
    anna.go(f"/inbox/{ask.id}").verdict("approve")
    button = anna.held(ask.id).one("button", data_key="z")
    desk.sweep(now=desk.store.now() + timedelta(seconds=9))

    anna.press(button)

    assert anna.status == 409
    assert "Approved by anna" in anna.banner.text


def test_it_can_be_undone_for_eight_seconds_or_until_it_expires(anna: Tab, desk: Desk) -> None:
    plain, brief = call(desk), call(desk, within="5s")
    for ask in (plain, brief):
        anna.go(f"/inbox/{ask.id}").verdict("approve", hold=None)

    held = {
        ask.id: (found.settles_at - found.pending.at).total_seconds()
        for ask in (plain, brief)
        if (found := desk.get(ask.id)).settles_at and found.pending
    }

    assert held[plain.id] == 8
    assert 0 < held[brief.id] <= 5


# --- who may -----------------------------------------------------------------------------------


def test_whoever_may_not_decide_sees_who_may(anna: Tab, server: Served, desk: Desk) -> None:
    ask = call(desk, needs=["1 security"])

    anna.go(f"/inbox/{ask.id}")

    buttons = anna.buttons
    assert [b.attrs["value"] for b in buttons if "disabled" not in b.attrs] == ["reject"]
    assert len(buttons) > 1
    assert "needs 1 security" in anna.page.one("p", id=f"barred-{ask.id}").text
    fields = [("seen", ask.digest), ("verdict", "approve")]
    answer = anna.client.post(f"/inbox/{ask.id}/decision", content=encoded(fields), headers=FORM)
    assert answer.status_code == 403
    assert desk.get(ask.id).open


def test_a_requester_says_no_on_a_page_and_not_yes_e43(anna: Tab, desk: Desk) -> None:
    ask = call(desk, requester="anna")

    anna.go(f"/inbox/{ask.id}")

    why = anna.page.one("p", id=f"barred-{ask.id}").text
    assert "anna asked for it" in why
    assert "You can still say no." in why
    fields = [("seen", ask.digest), ("verdict", "approve")]
    answer = anna.client.post(f"/inbox/{ask.id}/decision", content=encoded(fields), headers=FORM)
    assert answer.status_code == 403
    assert desk.get(ask.id).open
    anna.verdict("reject")
    assert desk.get(ask.id).judged is not None


def test_two_must_agree_and_the_page_says_who_is_missing(anna: Tab, ada: Tab, desk: Desk) -> None:
    ask = call(desk, needs=["1 senior", "1 security"])

    anna.go(f"/inbox/{ask.id}").verdict("approve", note="from me")
    assert "still needs 1 security" in anna.page.one("div", id="toast").text
    anna.go(f"/inbox/{ask.id}")
    assert anna.state == "voted"
    ada.go(f"/inbox/{ask.id}")
    assert "anna said approve" in ada.page.text
    ada.verdict("approve", hold="0")

    assert desk.get(ask.id).decision


def test_what_is_critical_wants_its_name_typed(anna: Tab, desk: Desk) -> None:
    ask = call(desk, risk="critical")
    anna.go(f"/inbox/{ask.id}").verdict("approve")
    assert (anna.status, desk.get(ask.id).open) == (422, True)
    assert "type refund" in anna.summary

    anna.verdict("approve", confirm="Refund")
    assert anna.status == 422
    anna.verdict("approve", confirm=" refund ")

    assert anna.status == 303, anna.summary


def test_a_refusal_of_what_is_critical_needs_no_more_than_a_click(anna: Tab, desk: Desk) -> None:
    ask = call(desk, risk="critical")

    anna.go(f"/inbox/{ask.id}").verdict("reject")

    assert anna.status == 303


def test_whoever_has_not_just_signed_in_is_led_there_and_back(server: Served, desk: Desk) -> None:
    ask = call(desk, risk="critical")
    client = server.client(server.token("anna", kind="person"))
    anna = Tab(client).go(f"/inbox/{ask.id}")

    anna.verdict("approve", confirm="refund", note="sure")

    assert (anna.status, desk.get(ask.id).open) == (403, True)
    link = next(a for a in anna.page.all("a") if a.attrs["href"].startswith("/sign-in"))
    assert parse_qs(urlsplit(link.attrs["href"]).query)["next"] == [f"/inbox/{ask.id}"]
    assert anna.page.one("textarea", id=f"note-{ask.id}").raw == "sure"


def test_a_claim_tells_the_others(anna: Tab, ada: Tab, desk: Desk) -> None:
    ask = call(desk)

    anna.go(f"/inbox/{ask.id}").press(form=f"claim-{ask.id}")

    assert (anna.status, desk.get(ask.id).assignee) == (303, "anna")
    assert "anna is on it" in ada.go(f"/inbox/{ask.id}").page.text
    assert ada.client.post(f"/inbox/{ask.id}/claim").status_code == 409


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [("verdict", "")],
        [("verdict", "maybe")],
        [("verdict", "reject"), ("kind", "spite")],
        [("verdict", "approve"), ("tab", "json")],
        [("verdict", "approve"), ("hold", "nan")],
    ],
)
def test_a_form_that_makes_no_sense_is_answered_with_a_page(
    anna: Tab, desk: Desk, fields: list[tuple[str, str]]
) -> None:
    ask = call(desk)

    answer = anna.client.post(
        f"/inbox/{ask.id}/decision",
        content=encoded([("seen", ask.digest), *fields]),
        headers=FORM,
    )

    assert answer.status_code in (303, 422)
    assert answer.status_code == 303 or ask.id in answer.text


def test_a_form_with_too_many_fields_or_of_another_kind_is_refused(anna: Tab, desk: Desk) -> None:
    ask = call(desk)
    path = f"/inbox/{ask.id}/decision"

    many = anna.client.post(path, content=b"a=&" * 30_000, headers=FORM)
    other = anna.client.post(path, json={"verdict": "approve", "seen": ask.digest})
    broken = anna.client.post(path, content=b"note=%ff%fe", headers=FORM)

    assert [one.status_code for one in (many, other, broken)] == [413, 415, 400]
    assert desk.get(ask.id).open


def test_everything_that_is_held_stands_in_the_tray_e65(anna: Tab, desk: Desk) -> None:
    """E65: undo reached the last decision only; one still held was listed nowhere."""
    asks = [call(desk) for _ in range(3)]
    other = call(desk)
    for ask in asks:
        decide = desk.reject if ask is asks[1] else desk.approve
        decide(ask, by="anna", hold=80)
    desk.approve(other, by="ada", hold=80)

    for page in ("/inbox", f"/inbox/{asks[0].id}", "/overview", "/runs", "/help"):
        anna.go(page)
        tray = anna.page.one("section", id="held")
        ids = [line.attrs["data-ask"] for line in tray.all("li")]
        assert set(ids) >= {ask.id for ask in asks}
        assert other.id not in ids
        for ask in asks:
            left = anna.held(ask.id).one("span", class_="held-left").text
            assert re.fullmatch(r"[1-8]?[0-9] s", left), left
    assert anna.held(asks[1].id).one("a").text.startswith("Rejected: ")

    anna.press(anna.held(asks[0].id).one("button"))
    assert [desk.get(ask.id).open for ask in asks] == [True, False, False]
    assert asks[0].id not in str(anna.page.one("section", id="held").raw)
    desk.sweep(now=desk.store.now() + timedelta(seconds=81))
    assert not anna.go("/inbox").page.one("section", id="held").all("li", data_ask=asks[1].id)
