"""`sayso demo`: a real process that people come to, that ends when it is told to, and goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.demo.conftest import Copy
from tests.demo.served import Answer, Demo, demo, started
from tests.together import until

KINDS = {"action", "plan", "draft", "question", "choice", "notice", "feedback", "doubt"}


@pytest.fixture(scope="module")
def open_(copied: Copy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """One that is only looked at."""
    folder = tmp_path_factory.mktemp("looked-at")
    copied(folder / "company")
    with demo(folder, "--keep", "company") as running:
        yield running
        running.end()


def test_something_of_every_kind_is_open_when_the_link_is_printed(open_: Demo) -> None:
    asks = open_.asks()

    assert {ask["kind"] for ask in asks} == KINDS
    assert {ask["content"].get("risk") for ask in asks if ask["kind"] == "action"} == {
        *("low", "medium", "high", "critical"),
        None,
    }
    labels = [ask for ask in asks if ask["title"] == "label"]
    assert len(labels) >= 3
    assert {ask["content"]["risk"] for ask in labels} == {"low"}
    assert len([ask for ask in asks if ask["content"]["thread"] == "ticket 5530"]) == 3
    agents = {ask["content"]["agent"] for ask in asks}
    assert agents >= {"billing", "support", "growth", "research", "travel", "data"}


def test_each_of_the_promised_things_is_among_them(open_: Demo) -> None:
    renewal = open_.ask("renewals, annual")
    assert ["recipients", 2451] in renewal["content"]["preview"]
    (payments,) = (
        value
        for value in open_.ask("supplier payments of May")["content"]["proposal"]["args"].values()
        if isinstance(value, list)
    )
    assert len(payments) == 5
    flights = open_.ask("Noor to Lisbon")
    assert len(flights["content"]["options"]) == 3
    assert flights["content"]["due_at"] > flights["opened_at"]
    assert "DROP TABLE" in open_.ask("full disk")["content"]["proposal"]["args"]["statement"]
    letter = open_.ask("apology for Monday")
    earlier = open_.client.get(f"/api/v1/asks/{letter['id']}/versions").json()["versions"]
    assert len(earlier) == 2
    doubt = next(ask for ask in open_.asks() if ask["kind"] == "doubt")
    lost = open_.client.get(f"/api/v1/asks/{doubt['content']['about']}").json()
    assert lost["effect"]["status"] == "unknown"


def test_the_image_beside_a_question_is_one(open_: Demo) -> None:
    ask = open_.ask("revenue chart")
    image = open_.client.get(f"/api/v1/asks/{ask['id']}/files/1")

    assert image.headers["content-type"] == "image/png"
    assert image.content.endswith(b"IEND\xaeB`\x82")


def test_a_colleague_has_decided_before_and_workers_carried_it_out(open_: Demo) -> None:
    runs = open_.client.get("/api/v1/runs", params={"limit": 100}).json()["runs"]
    done = {run["thread"] for run in runs if run["status"] == "done"}

    assert {"order 1101", "order 1109", "order 1123", "ticket 5502", "slow report"} <= done
    told = open_.client.get("/api/v1/events", params={"follow": "false", "after": "0"}).text
    assert "person:robin" in told


ANSWERS: dict[str, Any] = {
    "market report: audience": "the board",
    "market report: interviews": 12,
    "market report: region": "Asia",
    "market report: deadline": "2030-06-04",
    "market report: sources": ["The one of 2019"],
    "revenue chart": "counted twice",
    "a slow shop": "The cache is off",
}


def said_to(ask: Answer) -> dict[str, Any]:
    """What a person says to an ask, whatever its kind."""
    match ask["kind"]:
        case "question":
            return {"verdict": "respond", "answer": ANSWERS[ask["content"]["thread"]]}
        case "notice":
            return {"verdict": "respond", "answer": "I answer them myself"}
        case "choice":
            return {"option": ask["content"]["options"][1][0]}
        case "plan" if ask["content"]["thread"] == "renewals, monthly":
            return {"verdict": "edit", "args": {"steps": ["Count them and send nothing"]}}
        case "action" if ask["content"].get("thread") == "order 1182":
            return {"verdict": "edit", "args": {"amount": 1000.0}}
    return {}


def test_what_people_decide_is_carried_on_to_its_end(copied: Copy, tmp_path: Path) -> None:
    copied(tmp_path / "company")
    with demo(tmp_path, "--keep", "company") as running:
        runs = until(lambda: _decided(running), within=90)
        assert running.asks() == []
        running.end()

    output = {run["thread"]: run["output"] for run in runs}
    assert "EUR 1,000.00 paid back to Ada Lindqvist" in output["order 1182"]
    assert output["Noor to Lisbon"] == "Booked: IB 8723, via Madrid."
    assert output["revenue chart"] == "The sixth month is counted twice."
    assert "were sent" in output["renewals, annual"]
    assert output["renewals, monthly"] == "Nothing was sent: the plan does not say so."
    assert "sent to Nordlicht Studio" in output["the bank transfer to Nordlicht Studio"]
    assert output["supplier payments of May"].startswith("5 payments made")
    assert "month" in output["ticket 5530"]
    assert output["contacts from the fair"] == "1,200 contacts imported."
    assert output["two days in Lucerne"].count("booked") == 2


def _decided(running: Demo) -> list[Answer]:
    """Decide whatever waits, also what comes then; returns all runs once they are over."""
    for ask in running.asks():
        running.decide(ask, **said_to(ask))
    return _over(running)


def _over(running: Demo) -> list[Answer]:
    listed = running.client.get("/api/v1/runs", params={"limit": 100}).json()["runs"]
    if any(run["status"] != "done" for run in listed):
        return []
    return [running.client.get(f"/api/v1/runs/{run['id']}").json() for run in listed]


def test_it_opens_serves_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with demo(tmp_path, "--no-open") as running:
        assert "35 open" in running.said
        assert "sayso top --desk " in running.said
        assert {ask["kind"] for ask in running.asks()} == KINDS
        assert [path.name[:11] for path in tmp_path.iterdir()] == ["sayso-demo-"]
        assert running.end() == 0
    assert list(tmp_path.iterdir()) == []


# --- kept, killed, begun anew ---


def test_killed_it_goes_on_where_it_was(copied: Copy, tmp_path: Path) -> None:
    copied(tmp_path / "company")
    with demo(tmp_path, "--keep", "company") as first:
        before = {ask["id"]: _gist(ask) for ask in first.asks()}
        first.kill()
    with demo(tmp_path, "--keep", "company") as second:
        assert {ask["id"]: _gist(ask) for ask in second.asks()} == before
        ask = second.ask("order 1190")
        second.decide(ask, verdict="reject", note="Not now")
        run = until(lambda: (r := second.run(ask))["status"] == "done" and r, within=30)
        assert "Not now" in run["output"]
        second.end()


def test_begun_anew_it_is_the_same_company(open_: Demo, copied: Copy, tmp_path: Path) -> None:
    copied(tmp_path / "company")
    with demo(tmp_path, "--keep", "company", "--reset") as again:
        mine, others = again.asks(), open_.asks()
        again.end()

    assert {ask["id"] for ask in mine} & {ask["id"] for ask in others} == set()
    assert sorted(map(_gist, mine)) == sorted(map(_gist, others))
    assert [path.name for path in tmp_path.iterdir()] == ["company"]


def _gist(ask: Answer) -> str:
    content = ask["content"]
    return f"{content['thread']} {ask['kind']} {ask['title']} {content['proposal']['args']}"


def test_killed_while_it_opens_it_opens_once(tmp_path: Path) -> None:
    with started(tmp_path, "--keep", "company") as process:
        assert process.stdout is not None
        assert "opens" in process.stdout.readline()
        until(lambda: (tmp_path / "company" / "demo.db").exists())
        process.kill()
        process.wait(timeout=60)
    with demo(tmp_path, "--keep", "company") as running:
        threads = [ask["content"]["thread"] for ask in running.asks()]
        assert {ask["kind"] for ask in running.asks()} == KINDS
        assert len(threads) == 35
        assert len(set(threads)) == 32  # three calls of one turn, two vouchers
        running.end()


def test_told_to_stop_while_it_opens_it_leaves_nothing(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert process.stdout is not None
        assert "opens" in process.stdout.readline()
        until(lambda: list(tmp_path.glob("sayso-demo-*/demo.db")))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    assert list(tmp_path.iterdir()) == []
