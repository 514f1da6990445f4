"""`sayso webhooks`, and what `sayso doctor` says of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk
from tests.channels.receivers import Receiver, receiving
from tests.cli.conftest import Sayso


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def added(sayso: Sayso, receiver: Receiver, *more: str) -> str:
    done = sayso("webhooks", "add", receiver.url, "--allow-private", "--json", *more)
    assert done.code == 0, done.err
    return str(done.json["id"])


def test_a_webhook_is_added_tested_listed_and_removed(
    sayso: Sayso, desk: Desk, receiver: Receiver
) -> None:
    said = sayso("webhooks", "add", receiver.url, "--allow-private", "--kind", "ask.*")
    hook = next(iter(desk.webhooks))

    assert f"{hook.id} is told of ask.*." in said.out
    assert "whsec_" in said.out
    assert f"{hook.id} answered 200" in sayso("webhooks", "test", hook.id).out
    listed = sayso("webhooks", "list").out
    assert "1 webhook" in listed
    assert hook.id in listed
    assert "whsec_" not in listed
    assert sayso("webhooks", "remove", hook.id).code == 0
    assert "Nobody is told of events" in sayso("webhooks", "list").out


def test_scripts_get_json(sayso: Sayso, receiver: Receiver) -> None:
    done = sayso("webhooks", "add", receiver.url, "--allow-private", "--full", "--json")
    hook = done.json
    assert hook["secret"].startswith("whsec_")

    [listed] = sayso("webhooks", "list", "--json").json["webhooks"]
    assert listed == {name: value for name, value in hook.items() if name != "secret"}
    assert (listed["full"], listed["active"]) == (True, True)
    tested = sayso("webhooks", "test", hook["id"], "--json").json
    assert (tested["ok"], tested["code"]) == (True, 200)
    assert sayso("webhooks", "remove", hook["id"], "--json").json == {"id": hook["id"]}
    assert sayso("webhooks", "list", "--json").json["webhooks"] == []


def test_a_ping_that_fails_ends_with_one(sayso: Sayso, receiver: Receiver) -> None:
    hook = added(sayso, receiver)
    receiver.answer = lambda _: 500

    done = sayso("webhooks", "test", hook)

    assert done.code == 1
    assert "The receiver answered 500." in done.out


def test_dead_letters_are_listed_named_by_doctor_and_sent_again(
    sayso: Sayso, desk: Desk, receiver: Receiver
) -> None:
    hook, gone = added(sayso, receiver), added(sayso, receiver)
    desk.open("refund", {"order": 7})
    receiver.answer = lambda one: 200 if one.id.startswith("x") else 410
    desk.deliver()
    receiver.answer = lambda _: 200

    dead = sayso("webhooks", "deliveries", "--status", "dead", "--json").json["deliveries"]
    assert {one["webhook"] for one in dead} == {hook, gone}
    shown = sayso("webhooks", "deliveries", "--webhook", hook).out
    assert "dead" in shown
    refused = sayso("webhooks", "redeliver", dead[0]["id"])
    assert (refused.code, "410" in refused.err) == (1, True)
    doctor = {check["name"]: check for check in sayso("doctor", "--json").json["checks"]}
    assert doctor["webhooks"]["level"] == doctor["dead letters"]["level"] == "fail"
    assert dead[0]["id"] in doctor["dead letters"]["text"]
    assert hook in doctor["webhooks"]["text"]


def test_a_message_is_sent_again(sayso: Sayso, desk: Desk, receiver: Receiver) -> None:
    added(sayso, receiver)
    desk.open("refund", {"order": 7})
    desk.deliver()
    [delivery] = desk.webhooks.deliveries()

    assert f"{delivery.id} is due again" in sayso("webhooks", "redeliver", delivery.id).out
    assert sayso("webhooks", "redeliver", delivery.id, "--json").json["status"] == "waiting"
    desk.deliver()

    assert [one.id for one in receiver.got] == [delivery.id] * 2


def test_a_healthy_desk_says_so(sayso: Sayso, desk: Desk) -> None:
    desk.open("refund", {"order": 7})
    doctor = {check["name"]: check for check in sayso("doctor", "--json").json["checks"]}
    assert doctor["webhooks"] == {
        "level": "ok",
        "name": "webhooks",
        "text": "0, none disabled",
        "asks": [],
    }
    assert doctor["dead letters"]["text"] == "none"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("add", "ftp://example.com/"), 1),
        (("add", "http://127.0.0.1/"), 1),
        (("add", "https://example.com/", "--kind", "nonsense"), 1),
        (("add",), 2),
        (("remove", "w-0000"), 1),
        (("test", "w-0000"), 1),
        (("redeliver", "d-0000"), 1),
        (("deliveries", "--status", "lost"), 2),
        (("deliveries", "--limit", "0"), 2),
    ],
)
def test_mistakes_are_told_in_one_line(
    sayso: Sayso, desk: Desk, args: tuple[str, ...], code: int
) -> None:
    desk.inbox()
    done = sayso("webhooks", *args, "--json")
    assert done.code == code
    assert done.error["message"]


def test_looking_creates_no_desk(sayso: Sayso) -> None:
    assert sayso("webhooks", "list", "--json").json["webhooks"] == []
    assert sayso("webhooks", "deliveries").code == 1
