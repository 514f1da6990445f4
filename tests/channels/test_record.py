"""Asks and events as data, for scripts."""

from __future__ import annotations

import hashlib
import json

from sayso import Desk, Option
from sayso.channels.record import ask_record, event_record
from sayso.model.event import GENESIS
from tests import hostile


def test_an_ask_as_data_holds_all_that_the_card_shows(desk: Desk) -> None:
    ask = desk.open(
        "refund", {"amount": 40}, risk="high", why="Charged twice", facts={"a": 1}, within="1h"
    )
    desk.edit(ask, {"amount": 30}, note="less")
    desk.finish(desk.begin(ask), "paid")

    record = ask_record(desk.get(ask.id))

    assert record["id"] == ask.id
    assert (record["kind"], record["status"], record["version"]) == ("action", "decided", 2)
    assert (record["tool"], record["args"], record["original"]) == (
        "refund",
        {"amount": 30},
        {"amount": 40},
    )
    assert (record["why"], record["risk"], record["needs"]) == (
        "Charged twice",
        "high",
        ["1 senior"],
    )
    assert record["facts"] == {"a": 1}
    assert record["allow"] == []
    assert record["due_at"].endswith("+00:00")
    decision = record["decision"]
    assert (decision["verdict"], decision["by"], decision["note"]) == ("edit", "sam", "less")
    assert (decision["via"], decision["account"]) == ("python", "sam@till")
    assert (record["effect"]["status"], record["effect"]["result"]) == ("done", "paid")


def test_the_explanation_is_data_too(desk: Desk) -> None:
    ask = desk.open(
        "send",
        {"to": ["a@x.example", "b@x.example"], "files": [1, 2, 3], "text": "p\u0430y"},
        confidence=0.8,
        risk="high",
        requester="carl",
        owner="ben",
        tags=["mail"],
        conflicts=["40 or 41"],
    )

    record = json.loads(json.dumps(ask_record(ask)))

    assert record["sure"] == {
        "level": "medium",
        "words": "Medium confidence: please review",
        "confidence": 0.8,
        "rests_on": "stated by the agent",
        "record": {
            "labels": 0,
            "good": 0,
            "near": 0,
            "light": "red",
            "words": "What that is worth is not known yet: it takes 50 decisions, and there are 0.",
        },
    }
    assert record["touches"] == [
        {"argument": "to", "count": 2, "somebody": True, "hidden": False},
        {"argument": "files", "count": 3, "somebody": False, "hidden": False},
    ]
    assert record["ruling"]["tier"] == "high"
    assert record["ruling"]["rules"] == ["conflict"]
    assert (record["requester"], record["owner"], record["tags"]) == ("carl", "ben", ["mail"])
    assert record["conflicts"] == ["40 or 41"]
    assert record["look_alikes"] == ["p\u0430y"]


def test_an_open_ask_says_what_is_offered_and_who_is_missing(desk: Desk) -> None:
    desk.people.add("anna", ["senior"])
    desk.people.add("sec", ["security"])
    ask = desk.open("f", needs=["1 senior", "1 security"])
    desk.approve(ask, by="anna")

    record = ask_record(desk.get(ask.id), desk.store.roster())

    assert record["allow"] == ["approve", "edit", "reject", "respond"]
    assert record["missing"] == ["1 security"]
    assert [(vote["by"], vote["verdict"]) for vote in record["votes"]] == [("anna", "approve")]
    assert record["decision"] is None


def test_texts_are_kept_as_they_were_and_ascii_json_lets_nothing_hide(desk: Desk) -> None:
    ask = desk.later.choose(hostile.ALL, [Option("a", 1, hostile.ALL)]).ask

    written = json.dumps(ask_record(ask))

    assert not hostile.raw_in(written)
    assert json.loads(written)["title"] == hostile.ALL
    assert json.loads(written)["options"] == [{"label": "a", "value": 1, "detail": hostile.ALL}]


def test_an_exported_event_holds_what_is_needed_to_check_the_chain(desk: Desk) -> None:
    ask = desk.open("f", {"a": "ü"})
    event = desk.history(ask)[0]

    record = json.loads(json.dumps(event_record(event)))

    written = json.dumps(
        record["payload"], sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    covered = hashlib.sha256(bytes.fromhex(record["salt"]) + written.encode()).digest()
    assert covered.hex() == record["digest"]
    stream, kind = record["stream"], record["kind"]
    head = (
        f"{len(stream)},{len(kind)},{record['seq']},{event.micros},{stream}{kind}{record['actor']}"
    )
    assert hashlib.sha256(GENESIS + covered + head.encode()).hexdigest() == record["hash"]
