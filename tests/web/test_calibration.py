"""`GET /api/v1/calibration`: what Python says, as far as the walls of teams."""

from __future__ import annotations

import httpx2

from tests.served import Served


def test_a_table_is_seen_within_its_team(
    server: Served, anna: httpx2.Client, ben: httpx2.Client
) -> None:
    desk = server.desk
    for number in range(3):
        ask = desk.open("ship", {"n": number}, confidence=0.9, team="billing")
        desk.approve(ask, by="anna") if number else desk.reject(ask, by="anna")

    said = anna.get("/api/v1/calibration", params={"agent": "shop", "tool": "ship"}).json()

    assert said == {"calibrations": desk.calibration(agent="shop", tool="ship")}
    (table,) = said["calibrations"]
    assert (table["team"], table["labels"], table["good"]) == ("billing", 3, 2)
    assert ben.get("/api/v1/calibration", params={"tool": "ship"}).json() == {"calibrations": []}


def test_a_program_states_a_confidence_and_not_what_it_is_worth(
    server: Served, bot: httpx2.Client
) -> None:
    body = {"kind": "action", "tool": "ship", "args": {"n": 9}, "confidence": 0.9}
    opened = bot.post("/api/v1/asks", json=body)
    forged = bot.post("/api/v1/asks", json={**body, "worth": {"labels": 99, "value": 1.0}})

    assert opened.status_code == 201
    record = opened.json()["content"]["worth"]
    assert (record["labels"], record["light"]) == (0, "red")
    assert forged.status_code == 422
