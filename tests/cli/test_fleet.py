"""`sayso doctor` on a fleet: who is alive, what nobody takes, what was given up."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sayso import Desk
from sayso.asks.spending import doubt
from sayso.cli.fleet import fleet_checks
from sayso.model.actor import Origin
from sayso.runs.fleet import Standing, connections, look
from sayso.store.fleet import ALIVE, Backlog, Worker
from tests.cli.conftest import Sayso, Started
from tests.forked import Forked
from tests.places import Place
from tests.runs.floor import PROGRAM, floor
from tests.together import until

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "engined"])
def office(request: pytest.FixtureRequest) -> Place:
    """A file, and a PostgreSQL with Procrastinate."""
    place: Place = request.getfixturevalue(request.param)
    return place


@pytest.fixture
def desk(office: Place, here: Path) -> Iterator[Desk]:
    with Desk(office.url) as desk:
        yield floor(desk, str(here))


@pytest.fixture
def worker(office: Place, here: Path, started: Started) -> Forked:
    """A worker at work there, in a process of its own."""
    (here / "app.py").write_text(PROGRAM.format(lease=30, folder=str(here), more=""))
    return started("worker", "app", "--threads", "3", SAYSO_URL=office.url)


def doctor(sayso: Sayso, place: Place) -> tuple[dict[str, dict[str, Any]], Any]:
    done = sayso("doctor", "--json", "--desk", place.url).json
    return {check["name"]: check for check in done["checks"]}, done["fleet"]


def test_a_live_worker_is_named_with_all_that_is_known_of_it(
    office: Place, desk: Desk, worker: Forked, sayso: Sayso
) -> None:
    # Each thread signs on as it comes; the last one knows how many there are.
    until(lambda: [each.threads for each in desk.store.workers(ALIVE)] == [3])
    checks, fleet = doctor(sayso, office)

    (found,) = fleet["workers"]
    assert found["name"] == f"{platform.node()}:{worker.pid}"
    assert (found["host"], found["pid"]) == (platform.node(), worker.pid)
    assert found["version"] == version("sayso")
    assert found["engine"] == ("threads" if office.dialect == "sqlite" else "procrastinate")
    assert (found["threads"], found["busy"]) == (3, 0)
    assert "settle" in found["serves"]
    assert found["seen_seconds_ago"] < 15
    assert found["name"] in checks["worker"]["text"]
    wanted = {"unserved", "lag", "parked", "doubts"}
    if office.dialect == "postgres":
        wanted |= {"engine schema", "wake-ups", "connections", "clock"}
    assert {checks[name]["level"] for name in wanted} == {"ok"}

    run = desk.start(desk.flows["settle"].fn, 7)
    until(lambda: run.status == "waiting")
    until(lambda: look(desk.store).lag is not None)  # it says so every five seconds
    assert doctor(sayso, office)[1]["lag_seconds"] < 10


@pytest.mark.parametrize(
    "so",
    [
        "changed_at = changed_at - 60000000",
        "status = 'running', lease_until = changed_at - 60000000",
    ],
)
def test_a_run_that_nobody_serves_or_whose_worker_died_is_named_with_what_starts_one(
    office: Place, desk: Desk, sayso: Sayso, so: str
) -> None:
    desk.start(desk.flows["settle"].fn, 7)
    office.sql(f"update runs set {so}")

    done = sayso("doctor", "--desk", office.url)

    assert done.code == 1
    said = " ".join(done.out.split())
    assert "1 run of settle without a worker, the oldest for 1 min" in said
    assert "none that is alive serves it. Start one: sayso worker tests.runs.floor" in said
    (unserved,) = doctor(sayso, office)[1]["unserved"]
    assert unserved["workflow"] == "settle"


def test_what_was_given_up_needs_a_person(office: Place, desk: Desk, sayso: Sayso) -> None:
    run = desk.start(desk.flows["note"].fn, "x")
    office.sql("update runs set status = 'parked'")
    ask = desk.open("pay", {"order": 1})
    desk.approve(ask)
    desk.begin(ask, limit="1m")
    assert doubt(desk.store, ask.id, "nobody knows", origin=Origin("python", "sam")) is not None

    checks, fleet = doctor(sayso, office)

    assert checks["parked"]["level"] == checks["doubts"]["level"] == "fail"
    assert run.id in checks["parked"]["text"]
    assert "sayso runs retry ID" in checks["parked"]["text"]
    asked = "1 call was begun, and nobody knows whether it happened. "
    assert checks["doubts"]["text"].startswith(asked)
    assert "sayso inbox list --kind doubt" in checks["doubts"]["text"]
    assert (fleet["doubts"], fleet["runs"]["parked"]) == (1, 1)


def test_a_transaction_that_somebody_left_open_is_named(
    engined: Place, sayso: Sayso, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.cli.fleet._IDLE", timedelta(0))
    with psycopg.connect(engined.named("forgetful")) as other:
        other.execute("select 1")
        process = other.info.backend_pid
        found = doctor(sayso, engined)[0]["idle in transaction"]

    assert found["level"] == "fail"
    assert f"forgetful (process {process} of the server)" in found["text"]


def test_tables_of_the_engine_that_the_library_does_not_know_fail(
    engined: Place, sayso: Sayso
) -> None:
    before = engined.one("select version from sayso_engine.sayso_engine_schema")
    engined.sql("update sayso_engine.sayso_engine_schema set version = '00.00.00_01'")
    try:
        found = doctor(sayso, engined)[0]["engine schema"]
    finally:
        engined.sql("update sayso_engine.sayso_engine_schema set version = ?", before)

    assert found["level"] == "fail"
    assert "sayso db migrate" in found["text"]


# --- what is rare, told of values ---------------------------------------------------------------


def standing(**more: Any) -> Standing:
    nothing: dict[str, Any] = {
        "now": NOW,
        "workers": (),
        "asks": (),
        "runs": {},
        "backlog": (),
        "deliveries": {},
        "wakeups": None,
    }
    return Standing(**(nothing | more))


def man(name: str, **more: Any) -> Worker:
    return Worker(name, f"{name}:1", ("pay",), NOW, **more)


def test_two_versions_side_by_side_are_worth_knowing(local: Desk) -> None:
    at = standing(workers=(man("a", version="1.0"), man("b", version="2.0")))
    found = {check.name: check for check in fleet_checks(local, at)}

    assert found["worker versions"].level == "warn"
    assert "1.0 (1), 2.0 (1)" in found["worker versions"].text


def test_a_run_that_is_ready_for_long_although_it_is_served_needs_a_person(local: Desk) -> None:
    late = Backlog("pay", "app:pay", 3, NOW - timedelta(minutes=2))
    at = standing(workers=(man("a", threads=4),), runs={"ready": 3}, backlog=(late,))
    (lag,) = [check for check in fleet_checks(local, at) if check.name == "lag"]

    assert lag.level == "fail"
    assert "ready for 2 min" in lag.text
    assert "--threads" in lag.text


def test_names_of_others_reach_the_terminal_as_they_are_not(local: Desk) -> None:
    at = standing(backlog=(Backlog("\x1b[2Jx", "app:x\x1b", 1, NOW),))
    text = " ".join(check.text for check in fleet_checks(local, at))

    assert "\x1b" not in text


def test_a_fleet_that_needs_more_connections_than_there_are_is_told_in_time(
    engined: Place,
) -> None:
    crowd = tuple(man(f"w{n}", threads=100, engine="procrastinate") for n in range(5))
    assert sum(connections(each) for each in crowd) == 5 * 107
    with Desk(engined.url) as desk:
        found = {check.name: check for check in fleet_checks(desk, standing(workers=crowd))}

    assert found["connections"].level == "fail"
    assert "may need 535" in found["connections"].text
