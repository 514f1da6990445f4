"""The tools of a desk over HTTP."""

from __future__ import annotations

import httpx2

from sayso import Desk
from tests.served import Served

API = "/api/v1"


def test_tools_are_listed_with_what_declares_them_and_how_they_were_called(
    server: Served, anna: httpx2.Client, bot: httpx2.Client
) -> None:
    desk: Desk = server.desk

    @desk.gate(risk="low", reversible=True)
    def look(what: str) -> str:
        return what

    look("up")
    asked = bot.post(f"{API}/asks", json={"tool": "zip", "args": {"path": "a"}})
    assert asked.status_code == 201

    listed = anna.get(f"{API}/tools").json()["tools"]
    found = anna.get(f"{API}/tools/LOOK").json()

    assert [one["name"] for one in listed].index("zip") < [one["name"] for one in listed].index(
        "look"
    )
    assert found["arguments"] == ["what"]
    assert (found["risk"], found["reversible"]) == ("low", True)
    assert found["declared"][0]["source"].startswith("web/test_tools.py:"), "not where it lies"
    assert found["calls"] == {"called": 1, "alone": 1, "granted": 0, "asked": 0}
    zipped = next(one for one in listed if one["name"] == "zip")
    assert (zipped["declared"], zipped["calls"]["asked"]) == ([], 1)


def test_a_tool_that_is_not_known_is_no_tool(anna: httpx2.Client) -> None:
    answer = anna.get(f"{API}/tools/never")

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-tool")


def test_an_agent_does_not_read_what_the_desk_knows(bot: httpx2.Client) -> None:
    assert bot.get(f"{API}/tools").status_code == 403
