"""A page that stays true while others work, and never gets in the way of whoever types."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from sayso import Ask, Desk
from tests.browser.office import Office
from tests.browser.window import Window
from tests.service import Service
from tests.web.house import House

AGAIN = 20_000  # milliseconds for a browser to come back: it waits two seconds by itself


def test_new_asks_wait_behind_a_button_and_move_nothing(solo: Office) -> None:
    solo.several(3, risk="low")
    here = solo.window().visit(solo.queue)
    before, shown = here.rows, here.ask

    urgent = solo.open(risk="critical")  # which would be the first in the list
    expect(here("#new")).to_be_visible()
    expect(here("#new")).to_contain_text("1 new")
    assert (here.rows, here.ask) == (before, shown)
    expect(here("#count")).to_contain_text("4")
    here("#new").click()

    expect(here(f'#queue .row[data-ask="{urgent.id}"]')).to_be_visible()
    assert here.rows[0] == urgent.id
    assert here.ask == shown
    expect(here("#new")).to_be_hidden()


def test_what_others_decided_is_marked_and_the_order_stays(solo: Office) -> None:
    asks = solo.several(4)
    here = solo.window().visit(solo.queue)
    order = here.rows
    here("#queue").hover()  # the pointer rests on the list

    gone = next(ask for ask in asks if ask.id == order[2])
    solo.desk.approve(gone)

    row = here(f'#queue .row[data-ask="{gone.id}"]')
    expect(row).to_have_attribute("data-left", "")
    assert here.rows == order
    expect(here("#count")).to_contain_text("3")
    here("#detail h1").first.hover()
    expect(row).to_have_count(0)


def test_focus_and_typed_text_are_never_touched_while_things_happen(solo: Office) -> None:
    ask, other = solo.several(2)
    here = solo.window().visit(solo.path(ask))
    note = here.note(ask.id)
    note.focus()
    here.page.keyboard.type("I am in the mid")
    note.evaluate("(one) => one.setSelectionRange(5, 7)")
    scrolled = here.page.evaluate("() => [scrollY, document.querySelector('#detail').scrollTop]")

    solo.several(2)
    solo.desk.reject(other)
    expect(here("#new")).to_be_visible()
    solo.desk.claim(ask)  # something about the ask on screen itself
    expect(here(f'#queue .row[data-ask="{other.id}"]:not([data-left])')).to_have_count(0)

    expect(note).to_be_focused()
    expect(note).to_have_value("I am in the mid")
    assert note.evaluate("(one) => [one.selectionStart, one.selectionEnd]") == [5, 7]
    now = here.page.evaluate("() => [scrollY, document.querySelector('#detail').scrollTop]")
    assert now == scrolled
    here.page.keyboard.press("End")
    here.page.keyboard.type("dle of a word")
    expect(note).to_have_value("I am in the middle of a word")


def test_the_ask_on_screen_becomes_read_only_the_moment_somebody_else_decides(
    solo: Office,
) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.path(ask)).armed()
    here('main#detail [name="/amount"]').first.fill("12")

    solo.desk.reject(ask, "No.")

    expect(here(f"#banner-{ask.id}")).to_contain_text(re.compile("rejected", re.IGNORECASE))
    expect(here("main#detail [data-arms]")).to_have_count(0)
    field = here('main#detail [name="/amount"]').first
    expect(field).to_have_value("12")
    expect(field).not_to_be_editable()


def test_whoever_looks_at_an_ask_is_told_that_somebody_else_edited_it(team: Office) -> None:
    ask = team.open(needs=["2 senior"])
    here = team.window("anna").visit(team.path(ask)).armed()

    team.desk.edit(ask, {"amount": 12}, by="ada")

    expect(here(f"#banner-{ask.id} [data-state=superseded]")).to_contain_text("ada edited it")
    expect(here('main#detail [name="/amount"]').first).to_have_value("40")
    here.verdict("approve").click()
    expect(here("main#detail")).to_contain_text("12")
    assert team.now(ask).status == "open"
    assert len(team.now(ask).votes) == 1, "anna has said nothing yet to what she had not seen"


def test_without_a_connection_nothing_is_decided_and_that_is_said(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.path(ask)).armed()
    here.forgive("ERR_INTERNET_DISCONNECTED")
    here.note(ask.id).fill("kept")

    here.context.set_offline(True)
    here.verdict("approve").click()
    expect(
        here("#toast, #offline").filter(has_text=re.compile("not connected", re.IGNORECASE)).first
    ).to_be_visible()
    assert solo.now(ask).status == "open"
    here.context.set_offline(False)
    here.page.wait_for_function("() => navigator.onLine")
    here.verdict("approve").click()

    expect(here("#held form.undo")).to_be_visible()
    decision = solo.decided(ask)
    assert decision.verdict == "approve"


# --- a service that dies -----------------------------------------------------------------------


@pytest.fixture
def mortal(tmp_path: Path, window: Callable[..., Window]) -> Iterator[tuple[Office, Service]]:
    """`sayso serve` in a process of its own, that can be killed and comes back at the same port."""
    url = f"sqlite:///{tmp_path}/desk.db"
    with Desk(url, account="sam@till") as desk, Service(url) as service:
        house = House(service.url, desk, f"sayso_{service.port}")
        yield Office(house, None, window), service


def test_after_the_server_was_killed_and_came_back_nothing_is_missed(
    mortal: tuple[Office, Service],
) -> None:
    office, service = mortal
    first, second = office.several(2)
    here = office.window().visit(office.path(first)).armed()
    here.forgive("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_CONNECTION_RESET")
    here.forgive("ERR_EMPTY_RESPONSE", "ERR_CONTENT_LENGTH_MISMATCH", "Failed to fetch")
    here.note(first.id).fill("written before")
    expect(here("#queue .row")).to_have_count(2)

    with here.page.expect_event("requestfailed", lambda one: "events" in one.url):
        service.end(signal.SIGKILL)
    here.page.clock.run_for(10_500)
    expect(here("#offline")).to_be_visible()
    missed = office.open()
    office.desk.approve(second)
    service.start()

    expect(here("#new")).to_be_visible(timeout=AGAIN)
    here("#new").click()
    expect(here(f'#queue .row[data-ask="{missed.id}"]')).to_be_visible()
    expect(here(f'#queue .row[data-ask="{second.id}"]:not([data-left])')).to_have_count(0)
    expect(here.note(first.id)).to_have_value("written before")

    after = office.open()  # and the stream itself is there again
    expect(here("#new")).to_be_visible(timeout=AGAIN)
    here("#new").click()
    expect(here(f'#queue .row[data-ask="{after.id}"]')).to_be_visible()
    here.armed().verdict("reject").click()
    expect(here("#held form.undo")).to_be_visible()
    assert office.now(first).status == "settling"


def test_a_decision_sent_while_the_server_is_away_is_not_lost_silently(
    mortal: tuple[Office, Service],
) -> None:
    office, service = mortal
    ask: Ask = office.open()
    here = office.window().visit(office.path(ask)).armed()
    here.forgive("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_CONNECTION_RESET")
    here.forgive("ERR_EMPTY_RESPONSE", "ERR_CONTENT_LENGTH_MISMATCH", "Failed to fetch")
    here('main#detail [name="/amount"]').first.fill("12")

    service.end(signal.SIGKILL)
    here.verdict("approve").click()
    expect(
        here("#toast, #offline")
        .filter(has_text=re.compile("not (connected|reached|sent)|no answer", re.IGNORECASE))
        .first
    ).to_be_visible()
    expect(here('main#detail [name="/amount"]').first).to_have_value("12")
    service.start()
    assert office.now(ask).status == "open"

    here.page.wait_for_function("() => fetch('/health').then((one) => one.ok, () => false)")
    expect(here("#offline")).to_be_hidden(timeout=AGAIN)
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()
    assert office.now(ask).pending.args == {**ask.args, "amount": 12}  # type: ignore[union-attr]
