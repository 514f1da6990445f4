"""Versions: whatever was proposed is kept, with who made it and what they were told."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Agent, Desk, ScriptedModel
from sayso.agent import Message
from sayso.errors import StillOpen, UnknownAsk
from sayso.runs.running import Running
from sayso.testing import FakeClock
from tests.hostile import ALL, LABELS, raw_in
from tests.runs.people import answered, ask_of, begun


def letter(guidance: str | None) -> str:
    return "Dear Anna,\nyour order is late.\nThe shop" + (f"\nPS: {guidance}" if guidance else "")


def told(desk: Desk, ask: str) -> list[tuple[int, str, str | None]]:
    return [(one.number, one.by.id, one.guidance) for one in desk.versions(ask)]


def test_every_version_of_a_draft_is_kept_with_who_made_it_and_why(desk: Desk) -> None:
    later = desk.later.draft(letter)
    desk.respond(later.ask, "say sorry")
    with pytest.raises(StillOpen):
        later.result(timeout=0)
    desk.edit(later.ask, "Dear Anna,\nsorry!\nThe shop")

    first, second, third = desk.versions(later.ask)
    assert [one.text for one in (first, second, third)] == [
        letter(None),
        letter("say sorry"),
        later.result(timeout=0),
    ]
    assert told(desk, later.id) == [(1, "shop", None), (2, "shop", "say sorry"), (3, "sam", None)]
    assert first.ask != second.ask == third.ask
    assert [one.by.kind for one in (second, third)] == ["agent", "person"]


def test_the_difference_between_two_versions_can_be_printed(desk: Desk) -> None:
    ask = desk.later.draft(letter(None)).ask
    desk.edit(ask, "Dear Anna,\nsorry, your order is late.\nThe shop")
    first, second = desk.versions(ask)

    assert second.diff(first).splitlines() == [
        "--- version 1, shop",
        "+++ version 2, sam",
        "@@ -1,3 +1,3 @@",
        " Dear Anna,",
        "-your order is late.",
        "+sorry, your order is late.",
        " The shop",
    ]
    assert second.diff(second) == ""


def test_in_a_run_the_last_ask_leads_back_to_every_version(desk: Desk) -> None:
    @desk.workflow
    def flow(run: Running) -> Any:
        return run.draft(letter)

    run = begun(desk, flow)
    for guidance in ("shorter", ""):
        answered(desk, run, guidance)
    last = ask_of(run)

    assert told(desk, last.id) == [(1, "shop", None), (2, "shop", "shorter"), (3, "shop", "")]
    assert desk.versions(last)[1].text == letter("shorter")
    first = desk.versions(last)[0]
    assert desk.versions(first.ask) == [first], "up to that ask"


def test_the_plan_of_an_agent_has_versions_too(desk: Desk) -> None:
    def think(messages: tuple[Message, ...]) -> list[str]:
        wanted = "sources" in messages[-1].text
        return ["Search", "Check the sources"] if wanted else ["Search"]

    agent = Agent("researcher", ScriptedModel(think), [], plan_every=5)
    run = desk.run(agent, "tea", wait=False)
    answered(desk, run, "Mind the sources")

    first, second = desk.versions(ask_of(run))
    assert (first.text, second.text) == ("Search", "Search\nCheck the sources")
    assert second.guidance == "Mind the sources"


def test_an_edited_call_is_a_version_and_a_stricter_ruling_is_none(team: Desk) -> None:
    ask = team.open("drop", {"name": "users"}, needs=["1 senior", "1 security"])
    team.edit(ask, {"name": "users_2019"}, by="anna")
    team.approve(team.get(ask.id), by="sec")

    first, second = team.versions(ask.id)
    assert (first.args, second.args) == ({"name": "users"}, {"name": "users_2019"})
    assert '"users_2019"' in second.diff(first)


def test_a_doubt_is_no_version_of_the_call_it_is_about(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("pay", {"amount": 1})
    desk.approve(ask)
    desk.begin(ask, limit=1)
    clock.advance("1m")
    (doubt,) = desk.sweep().doubts

    assert [one.ask for one in desk.versions(doubt)] == [doubt]


def test_what_a_diff_shows_is_safe_and_an_erased_draft_says_nothing(desk: Desk) -> None:
    ask = desk.later.draft(f"a\n{ALL}").ask
    desk.edit(ask, "a\nb")
    first, second = desk.versions(ask)

    assert first.text == f"a\n{ALL}", "kept as it was"
    assert raw_in(second.diff(first)) == []
    assert all(label in second.diff(first) for label in LABELS)

    ask = desk.later.draft("secret").ask
    desk.edit(ask, "also secret")
    desk.erase(ask, "Anna asked for it")

    assert all("secret" not in one.text for one in desk.versions(ask))


def test_versions_of_an_ask_that_nobody_knows_are_an_error(desk: Desk) -> None:
    with pytest.raises(UnknownAsk):
        desk.versions("a-none")
    with pytest.raises(UnknownAsk):
        desk.versions(5)  # type: ignore[arg-type]
