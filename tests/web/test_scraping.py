"""`/metrics`, read as Prometheus reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from sayso import Desk
from sayso.asks.spending import doubt
from sayso.errors import BadValue
from sayso.model.actor import Origin
from sayso.runs.fleet import Standing
from sayso.store.fleet import Backlog, Worker
from sayso.web.gauge import exposed, measured
from tests.places import Place
from tests.runs.floor import floor
from tests.served import QUICK, Served
from tests.trusted import written

Read = dict[tuple[str, tuple[tuple[str, str], ...]], float]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def read(text: str) -> Read:
    """Read metrics as the library of Prometheus does."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(client: httpx2.Client) -> Read:
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return read(answer.text)


@pytest.fixture
def prometheus(server: Served) -> httpx2.Client:
    """A monitor with a token that can do nothing else."""
    return server.agent("prometheus", scopes=["metrics:read"])


@pytest.fixture
def fresh(server: Served) -> Iterator[None]:
    """Nothing kept from the last look."""
    server.service.gauge._until = 0.0
    yield
    server.service.gauge._until = 0.0


@pytest.mark.usefixtures("fresh")
def test_the_metrics_say_how_the_fleet_stands(
    server: Served, prometheus: httpx2.Client, shared_place: Place, tmp_path: Any
) -> None:
    desk = floor(server.desk, str(tmp_path))
    desk.open("refund", risk="high")
    ask = desk.open("wire", risk="medium")
    desk.approve(ask, by="anna")
    desk.begin(ask, limit="1m")
    assert doubt(desk.store, ask.id, "nobody knows", origin=Origin("python", "sam")) is not None
    desk.start(desk.flows["settle"].fn, 7)
    shared_place.sql("update runs set changed_at = changed_at - 60000000")

    found = scraped(prometheus)

    assert found["sayso_asks_open", (("kind", "action"), ("tier", "high"))] == 1
    assert found["sayso_asks_open", (("kind", "plan"), ("tier", "low"))] == 0
    assert found["sayso_effects_in_doubt", ()] == 1
    assert found["sayso_runs", (("status", "ready"),)] == 1
    assert found["sayso_runs", (("status", "parked"),)] == 0
    assert found["sayso_runs_unserved", (("workflow", "settle"),)] == 1
    assert 60 <= found["sayso_runs_ready_oldest_seconds", ()] < 600
    assert ("sayso_asks_open_oldest_seconds", ()) in found
    assert found["sayso_webhook_deliveries", (("status", "dead"),)] == 0
    assert found["sayso_journal_events_total", ()] >= 5
    assert found["sayso_asks_total", (("kind", "action"),)] == 2
    assert found["sayso_decisions_total", (("verdict", "approved"),)] == 1
    assert found["sayso_decisions_total", (("verdict", "rejected"),)] == 0
    assert found["sayso_decision_seconds_total", ()] > 0
    assert found["sayso_calls_alone_total", (("by", "grant"),)] == 0
    assert found["sayso_audits_total", (("found", "bad"),)] == 0
    assert found["sayso_incidents_total", ()] == 0


@pytest.mark.usefixtures("fresh")
def test_the_metrics_say_what_grants_may_still_let_through(
    server: Served, prometheus: httpx2.Client
) -> None:
    written(server.desk, "granted")

    found, said = scraped(prometheus), server.desk.metrics(tier="low")

    assert found["sayso_keys", (("standing", "granted"),)] == said["keys"]["granted"] == 1
    assert found["sayso_keys", (("standing", "proposed"),)] == 0
    left = found["sayso_exposure_left", (("tier", "low"),)]
    assert round(left, 4) == said["exposure_left"] > 0
    assert found["sayso_exposure_left", (("tier", "high"),)] == 0


@pytest.mark.usefixtures("fresh")
def test_one_look_serves_everybody_for_a_second(
    server: Served, prometheus: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = prometheus.get("/metrics").text

    def nobody(*_: object) -> None:
        raise AssertionError("it looked again")

    monkeypatch.setattr(server.desk.store, "open_counts", nobody)
    assert prometheus.get("/metrics").text == first


def test_only_a_credential_for_it_reads_the_metrics(
    server: Served, stranger: httpx2.Client, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    assert stranger.get("/metrics").status_code == 401
    assert bot.get("/metrics").status_code == 403  # what all teams have is not for every agent
    assert anna.get("/metrics").status_code == 403
    root = server.client(server.token("root", kind="person", scopes=["metrics:read"]))
    assert root.get("/metrics").status_code == 200


def test_a_token_for_metrics_reads_nothing_else(prometheus: httpx2.Client) -> None:
    for path in ("/api/v1/asks", "/api/v1/runs", "/api/v1/audit/verify", "/api/v1/people"):
        assert prometheus.get(path).status_code == 403


def test_a_person_who_is_no_admin_gets_no_such_token(server: Served) -> None:
    with pytest.raises(BadValue, match="needs the role admin"):
        server.desk.tokens.make("anna", "person", scopes=["metrics:read"])


def test_left_open_it_is_open_to_this_machine_alone(local: Desk) -> None:
    with Served(local, replace(QUICK, open_metrics=True)) as server:
        client = server.client()
        assert client.get("/metrics").status_code == 200
        for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):  # somebody else's, by a proxy
            assert client.get("/metrics", headers={header: "203.0.113.7"}).status_code == 401
        assert client.get("/api/v1/asks").status_code == 401


def standing(**more: Any) -> Standing:
    return replace(Standing(NOW, (), (), {}, (), {}, {"todo": 2}), **more)


def test_workers_are_counted_by_version_and_the_rest_by_what_is_bounded() -> None:
    workers = tuple(
        Worker(str(n), f"till:{n}", ("pay",), NOW, "1.0", "threads", 4, 1, timedelta(seconds=n))
        for n in range(3)
    )
    found = read(exposed(measured(standing(workers=workers), 7, 0.5)))

    assert found["sayso_workers", (("engine", "threads"), ("version", "1.0"))] == 3
    assert found["sayso_worker_threads", ()] == 12
    assert found["sayso_worker_threads_busy", ()] == 3
    assert found["sayso_claim_lag_seconds", ()] == 2
    assert found["sayso_wakeups", (("status", "todo"),)] == 2
    assert not [key for key in found if "till" in str(key)]


def test_there_are_never_more_labels_than_a_few_and_none_breaks_a_line() -> None:
    evil = 'x"} 1\nsayso_runs{status="parked"} 9\x1b[2J\\'
    many = tuple(Backlog(f"{evil}{n}", "app:x", 1, NOW) for n in range(100))
    text = exposed(measured(standing(backlog=many), 0, 0))
    found = read(text)

    unserved = {key: value for key, value in found.items() if key[0] == "sayso_runs_unserved"}
    assert len(unserved) == 21
    assert sum(unserved.values()) == 100
    assert unserved["sayso_runs_unserved", (("workflow", ""),)] == 80
    assert ("sayso_runs", (("status", "parked"),)) not in found
    assert "\x1b" not in text
