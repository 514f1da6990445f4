"""Who is told of what, what a message says, and what is kept of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.channels.webhooks import KINDS, Webhook
from sayso.errors import BadValue, Misuse, UnknownPerson, UnknownWebhook
from sayso.model.event import fingerprint
from sayso.testing import FakeClock
from tests.channels.receivers import Receiver
from tests.hostile import ALL, FAKED, raw_in
from tests.places import Place


@pytest.fixture
def desk(everywhere: Desk) -> Desk:
    return everywhere


def hooked(desk: Desk, receiver: Receiver, *kinds: str, **given: Any) -> Webhook:
    return desk.webhooks.add(receiver.url, kinds or KINDS, allow_private=True, **given)


def test_an_ask_is_told_with_who_asks_and_no_arguments(desk: Desk, receiver: Receiver) -> None:
    hook = hooked(desk, receiver)
    ask = desk.open("refund", {"card": "4111-1111"}, risk="high", why="Charged twice", within="2h")

    assert desk.deliver() == 1

    [one] = receiver.got
    assert one.signed_with(hook.secret)
    assert one.headers["content-type"] == "application/json"
    assert one.json["type"] == "ask.opened"
    assert one.json["timestamp"] == ask.opened_at.isoformat()
    assert one.json["data"] == {
        "id": ask.id,
        "event": 1,
        "by": "agent:shop",
        "kind": "action",
        "status": "open",
        "title": "refund",
        "agent": "shop",
        "risk": "high",
        "team": None,
        "run": None,
        "due_at": ask.due_at.isoformat() if ask.due_at else None,
        "verdict": None,
    }
    assert b"4111" not in one.body
    assert b"twice" not in one.body


def test_with_full_a_message_says_everything(desk: Desk, receiver: Receiver) -> None:
    hooked(desk, receiver, full=True)
    ask = desk.open("refund", {"order": 7})
    desk.reject(ask, "wrong order")

    desk.deliver()

    opened, decided = (one.json["data"] for one in receiver.got)
    assert opened["ask"]["args"] == {"order": 7}
    assert opened["said"]["content"]["proposal"]["args"] == {"order": 7}
    assert decided["ask"]["decision"]["note"] == "wrong order"
    assert (decided["verdict"], decided["status"]) == ("reject", "decided")


def test_each_message_says_how_it_stood_at_that_event(desk: Desk, receiver: Receiver) -> None:
    """However late it is sent: the decision is not told before its time."""
    hooked(desk, receiver)
    ask = desk.open("refund", {"order": 7})
    desk.approve(ask)

    desk.deliver()

    stood = [(one.json["type"], one.json["data"]["status"]) for one in receiver.got]
    assert stood == [("ask.opened", "open"), ("ask.decided", "decided")]


LADDER = """
[tiers.high]
within = "10h"
escalate = [{ after = "2h", to = "lead" }]
"""


def test_reminders_and_escalations_are_told_too(
    place: Place, clock: FakeClock, receiver: Receiver, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(LADDER)
    with Desk(place.url, clock=clock, agent="shop", account="sam@till", policy=policy) as desk:
        desk.people.add("anna", roles=["senior"])
        desk.people.add("lea", roles=["lead"])
        hooked(desk, receiver)
        ask = desk.open("refund", {"order": 7}, risk="high")
        clock.advance("2h1m")
        desk.sweep()
        clock.advance("3h")
        desk.sweep()
        desk.deliver()

    assert receiver.kinds() == ["ask.opened", "ask.escalated", "ask.reminded"]
    assert set(receiver.about()) == {ask.id}


def test_runs_are_told_of_by_their_name(desk: Desk, receiver: Receiver) -> None:
    @desk.workflow
    def settle(run: Any, order: int) -> int:
        return int(run.step(abs, order))

    hooked(desk, receiver, "run.*", "step.*")
    run = desk.start(settle, 9)
    desk.work(until="idle")

    desk.deliver()

    assert receiver.kinds() == ["run.started", "step.done", "run.done"]
    assert receiver.got[-1].json["data"] == {
        "id": run.id,
        "event": 3,
        "by": "agent:shop",
        "workflow": "settle",
        "team": None,
    }


def test_what_the_policy_allows_by_itself_is_told_to_nobody(desk: Desk, receiver: Receiver) -> None:
    @desk.gate(risk="low")
    def look(order: int) -> int:
        return order

    hooked(desk, receiver, "ask.*", "effect.*")
    assert look(7) == 7

    desk.deliver()

    assert receiver.kinds() == ["effect.intended", "effect.done"]


def test_only_kinds_that_were_chosen_are_told(
    desk: Desk, receiver: Receiver, other: Receiver
) -> None:
    hooked(desk, receiver, "ask.decided")
    hooked(desk, other, "*")
    desk.approve(desk.open("refund", {"order": 7}))

    desk.deliver()

    assert receiver.kinds() == ["ask.decided"]
    assert other.kinds() == ["webhook.added", "ask.opened", "ask.decided"]


def test_nothing_from_before_it_was_added_is_told(desk: Desk, receiver: Receiver) -> None:
    desk.open("refund", {"order": 6})
    hooked(desk, receiver)
    later = desk.open("refund", {"order": 7})

    desk.deliver()

    assert receiver.about() == [later.id]


def test_a_webhook_of_a_team_hears_of_nobody_else(
    desk: Desk, receiver: Receiver, other: Receiver
) -> None:
    @desk.workflow
    def settle(run: Any) -> None:
        pass

    desk.people.add("anna", teams=["billing"])
    desk.people.add("lea", teams=["legal"])
    hooked(desk, receiver, "ask.opened", "run.started", team="billing")
    hooked(desk, other, "ask.opened", "run.started")
    asks = [desk.open("refund", {}, team=team) for team in ("billing", "legal", None)]
    runs = [desk.start(settle, team=team) for team in ("billing", "legal", None)]

    desk.deliver()

    assert receiver.about() == [asks[0].id, runs[0].id]
    assert {one.json["data"]["team"] for one in receiver.got} == {"billing"}
    assert other.about() == [*(ask.id for ask in asks), *(run.id for run in runs)]


def test_a_webhook_of_a_team_hears_of_no_accounts_even_if_the_first_one_was_its_own(
    desk: Desk, receiver: Receiver
) -> None:
    desk.people.add("anna", teams=["billing"])
    desk.tokens.make("bot", team="billing")
    hooked(desk, receiver, "*", team="billing")
    desk.tokens.make("spy", team="legal")
    ask = desk.open("refund", {}, team="billing")

    desk.deliver()

    assert receiver.about() == [ask.id]


def test_what_was_erased_meanwhile_is_not_sent(desk: Desk, receiver: Receiver) -> None:
    hooked(desk, receiver, full=True)
    ask = desk.open("refund", {"name": "Erika Mustermann"}, title="Refund Erika")
    desk.reject(ask, "no, Erika")
    desk.erase(ask, "she asked for it")

    desk.deliver()

    assert set(receiver.about()) == {ask.id}
    assert all(b"Erika" not in one.body for one in receiver.got)


@pytest.mark.parametrize("text", [ALL, FAKED, "\U0001f4a5" * 150])
def test_hostile_titles_arrive_visible_and_in_ascii(
    desk: Desk, receiver: Receiver, text: str
) -> None:
    hooked(desk, receiver)
    desk.open("refund", {}, title=text)
    desk.deliver()

    [one] = receiver.got
    assert one.body.isascii()
    assert raw_in(one.json["data"]["title"]) == []
    assert len(one.json["data"]["title"]) <= 200


def test_a_journal_that_makes_no_sense_stops_nobody_else(
    desk: Desk, place: Place, receiver: Receiver
) -> None:
    hooked(desk, receiver)
    bad, good = desk.open("refund", {"order": 1}), desk.open("refund", {"order": 2})
    place.sql("update events set payload = ? where stream = ?", '{"content": 7}', bad.id)

    desk.deliver()

    assert receiver.about() == [good.id]
    [dead] = desk.webhooks.deliveries("dead")
    assert dead.about == bad.id
    assert "sayso audit verify" in str(dead.error)


# --- adding, removing, looking ---


def test_the_secret_is_shown_once_and_is_nowhere_in_the_journal(
    desk: Desk, place: Place, receiver: Receiver
) -> None:
    hook = hooked(desk, receiver)
    assert hook.secret is not None

    assert [one.secret for one in desk.webhooks] == [None]
    assert desk.webhooks.get(hook.id).secret is None
    assert hook.secret not in repr(hook)
    said = " ".join(str(row[0]) for row in place.sql("select payload from events"))
    assert hook.secret not in said
    assert "/hook" not in said  # the path of a URL is often as good as a password


def test_adding_and_removing_are_in_the_journal_and_the_chain_holds(
    team: Desk, receiver: Receiver
) -> None:
    hook = hooked(team, receiver, "ask.opened", by="anna")
    team.webhooks.remove(hook)

    added, removed = team.store.stream("webhooks")
    assert (added.kind, str(added.actor)) == ("webhook.added", "person:anna")
    assert (removed.kind, str(removed.actor)) == ("webhook.removed", "person:sam")
    assert added.payload is not None
    assert added.payload["where"] == f"http://127.0.0.1:{receiver.port}"
    assert added.payload["kinds"] == ["ask.opened"]
    assert team.verify()
    assert list(team.webhooks) == []


@pytest.mark.parametrize(
    "change",
    [
        "insert into webhooks select 'w-9999', url, secret, kinds, team, whole, private, active,"
        " cursor, made_at, served_at, failures, holder, lease_until from webhooks",
        "update webhooks set url = 'https://evil.example/hook'",
        "update webhooks set url = url || '/other'",
        "update webhooks set secret = 'whsec_bWluZQ=='",
        "update webhooks set kinds = '|*|'",
        "update webhooks set whole = 1",
        "update webhooks set private = 0",
        "update webhooks set team = 'legal'",
        "update webhooks set active = 0",
        "delete from webhooks",
    ],
)
def test_a_webhook_that_somebody_slipped_in_is_found(
    desk: Desk, place: Place, receiver: Receiver, change: str
) -> None:
    hooked(desk, receiver)
    assert desk.verify()

    place.sql(change)

    [problem] = desk.verify().problems
    assert (problem.what, problem.stream) == ("index", "webhooks")


@pytest.mark.parametrize(
    ("change", "what"),
    [("url = url || '/other'", "address"), ("secret = 'whsec_bWluZQ=='", "secret")],
)
def test_what_differs_of_a_webhook_is_said_and_nothing_of_it_e44(
    desk: Desk, place: Place, receiver: Receiver, change: str, what: str
) -> None:
    hook = hooked(desk, receiver)
    place.sql(f"update webhooks set {change}")

    [problem] = desk.verify().problems

    to = f"http://127.0.0.1:{receiver.port}"
    said = f"webhook {hook.id} to {to}: its {what} differs from what the journal recorded"
    assert problem.detail == said


def test_a_webhook_made_before_there_were_fingerprints_is_named_with_what_to_do(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.channels.webhooks.fingerprint", lambda *_: None)
    hooked(desk, receiver)

    [problem] = desk.verify().problems

    assert problem.detail.endswith("the journal has no fingerprint of it. Make it anew")


def test_an_address_cannot_be_guessed_from_the_journal(desk: Desk, receiver: Receiver) -> None:
    """A short path would be found at once if its hash had no secret in it."""
    hook = hooked(desk, receiver)
    [event] = desk.store.stream("webhooks")
    assert event.salt is not None
    assert event.payload is not None

    url = desk.webhooks.get(hook.id).url.encode()

    assert event.payload["address"] != fingerprint(event.salt, url)
    assert event.payload["address"] == fingerprint(event.salt, str(hook.secret).encode(), url)


def test_who_is_not_on_the_desk_adds_nothing(team: Desk, receiver: Receiver) -> None:
    with pytest.raises(UnknownPerson):
        hooked(team, receiver, by="mallory")
    assert len(team.webhooks) == 0


def test_a_removed_webhook_is_told_nothing_more_and_leaves_nothing(
    desk: Desk, place: Place, receiver: Receiver
) -> None:
    hook = hooked(desk, receiver)
    receiver.answer = lambda _: 500
    desk.open("refund", {"order": 7})
    desk.deliver()
    desk.webhooks.remove(hook.id)
    desk.open("refund", {"order": 8})
    desk.deliver()

    assert len(receiver.got) == 1
    assert place.count("deliveries") == place.count("webhooks") == 0
    with pytest.raises(UnknownWebhook):
        desk.webhooks.remove(hook)


@pytest.mark.parametrize(
    "kinds", [(), "", "opened", "Ask.opened", "ask.", "ask|x", "*.*", [7], "ask.openedd", "asks.*"]
)
def test_what_is_no_kind_of_event_is_refused(desk: Desk, kinds: Any) -> None:
    with pytest.raises(BadValue):
        desk.webhooks.add("https://example.com/hook", kinds, allow_private=True)
    assert len(desk.webhooks) == 0


def test_an_address_of_this_network_needs_a_word(desk: Desk, receiver: Receiver) -> None:
    with pytest.raises(BadValue, match=r"allow.private"):
        desk.webhooks.add(receiver.url)
    assert desk.store.stream("webhooks") == []


@pytest.mark.parametrize("team", ["", "a b", "x" * 65, "\u202e"])
def test_a_team_is_a_plain_name(desk: Desk, receiver: Receiver, team: str) -> None:
    with pytest.raises(BadValue):
        hooked(desk, receiver, team=team)


def test_there_are_at_most_a_hundred(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.channels.webhooks.MOST", 2)
    hooked(desk, receiver)
    hooked(desk, receiver)
    with pytest.raises(Misuse, match="2 webhooks"):
        hooked(desk, receiver)


def test_a_ping_is_sent_at_once_and_says_what_came_of_it(desk: Desk, receiver: Receiver) -> None:
    hook = hooked(desk, receiver)

    assert desk.webhooks.test(hook).code == 200
    receiver.answer = lambda _: 401
    assert desk.webhooks.test(hook.id).error == "The receiver answered 401."

    assert receiver.kinds() == ["ping"] * 2
    assert all(one.signed_with(hook.secret) for one in receiver.got)
    assert desk.webhooks.deliveries() == []
    with pytest.raises(UnknownWebhook):
        desk.webhooks.test("w-0000")


@pytest.mark.parametrize("given", [{"status": "lost"}, {"limit": 0}, {"limit": 5000}])
def test_deliveries_are_asked_for_in_words_that_exist(desk: Desk, given: Any) -> None:
    with pytest.raises(BadValue):
        desk.webhooks.deliveries(**given)


@pytest.mark.parametrize("delivery", ["d-0000", "", "a-7f3k", None])
def test_a_delivery_that_is_none_is_not_sent_again(desk: Desk, delivery: Any) -> None:
    with pytest.raises(UnknownWebhook):
        desk.webhooks.redeliver(delivery)


def test_deliver_knows_one_end(desk: Desk) -> None:
    assert desk.deliver(until="idle") == 0
    with pytest.raises(BadValue):
        desk.deliver(until="doomsday")  # type: ignore[arg-type]
