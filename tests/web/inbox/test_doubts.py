"""A doubt on its page: what is known, three equal choices, and no yes by habit."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sayso import Desk
from sayso.model.ask import Ask
from sayso.store.contract import Lease
from tests.web.inbox.browser import Tab, filled


def in_doubt(desk: Desk, *, idempotent: bool = False, **terms: Any) -> Ask:
    asked = desk.open("pay", {"amount": 40}, risk="low", needs="1 reviewer", **terms)
    approved = desk.approve(asked, by="anna")
    lease = Lease("till", timedelta(minutes=1))
    call = desk.docket.begin(approved.id, lease, idempotent=idempotent)
    found = desk.docket.doubt(approved.id, "It fell silent.", attempt=call.attempt, lease=lease)
    assert found is not None
    return found


def test_e50_a_doubt_has_no_primary_button_and_no_key(anna: Tab, desk: Desk) -> None:
    anna.go(f"/inbox/{in_doubt(desk).id}")

    assert anna.buttons == [], "the bar has none"
    buttons = anna.page.one("section", class_="doubt").all("button", name="verdict")
    assert [one.attrs["value"] for one in buttons] == ["respond", "run-again", "reject"]
    assert not any("primary" in one.attrs["class"].split() for one in buttons)
    assert not any(one.attrs.get("data-key") for one in buttons)


def test_e50_what_is_known_stands_before_everything_else(anna: Tab, desk: Desk) -> None:
    doubt = in_doubt(desk)
    effect = desk.get(str(doubt.content.about)).effect
    assert effect is not None

    anna.go(f"/inbox/{doubt.id}")

    text = anna.answer.text
    begun = f"begun at {effect.begun_at:%Y-%m-%d %H:%M:%S %Z} by the program of"
    assert begun in text
    assert f"Idempotency key: {effect.key}." in text
    assert text.index(begun) < text.index('<dl class="why">')


def test_e50_running_it_again_is_asked_once_more(anna: Tab, desk: Desk) -> None:
    doubt = in_doubt(desk)

    anna.go(f"/inbox/{doubt.id}")
    assert [
        one.attrs["value"] for one in anna.page.one("details", class_="again").all("button")
    ] == ["run-again"], "the button that runs it again stands behind the question"
    form = anna.form(doubt.id)
    anna.sent = [*filled(anna.page, form), ("verdict", "approve")]
    anna.action = form.attrs["action"]
    anna.send()
    assert anna.status == 422
    assert "may happen twice" in anna.answer.text
    assert desk.get(doubt.id).open
    assert "open" in anna.page.one("details", class_="again").attrs

    anna.verdict("run-again")
    assert anna.status == 303
    judged = desk.get(doubt.id).judged
    assert judged is not None
    assert judged.verdict == "approve"


def test_e50_an_idempotent_call_is_run_again_at_once(anna: Tab, desk: Desk) -> None:
    doubt = in_doubt(desk, idempotent=True)

    anna.go(f"/inbox/{doubt.id}").verdict("approve")

    assert anna.status == 303


def test_e50_no_selection_approves_a_doubt(anna: Tab, desk: Desk) -> None:
    doubt = in_doubt(desk)

    anna.go("/inbox")
    assert f"{doubt.id} {doubt.digest}" not in anna.answer.text, "no box to tick"
    picked = [("pick", f"{doubt.id} {doubt.digest}"), ("verdict", "approve"), ("sure", "1")]
    anna.sent, anna.action = picked, "/inbox/bulk"
    anna.send()

    assert "A doubt is decided by itself" in anna.answer.text
    assert desk.get(doubt.id).open
