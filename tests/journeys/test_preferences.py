"""Preferences, end to end (S3.11): learned from an edit and an answer, kept across threads.

Every pause ends the process, and a new one goes on. The secretary knows only what its prompt says.
"""

from __future__ import annotations

from tests.crash.shop import noted
from tests.journeys.processes import SAYSO, Newsroom, journal


def test_s3_11_an_edit_in_one_thread_is_known_in_the_next(newsroom: Newsroom) -> None:
    # it proposes half an hour; a person makes it a quarter
    first = newsroom.begin("meet", "Meet Ada", "one")
    assert first.state.pending[0].args["duration"] == 30
    edited = newsroom.decide(first, "edit", "--set", "duration=15")
    assert first.output == "Scheduled: Meet Ada, 15 minutes"
    assert journal(first) == [
        "run.started",
        ("step.done", "recall"),
        ("step.done", "model"),
        ("step.done", "model"),
        "run.done",
    ]

    # another thread: it was told, and proposes a quarter by itself; people are asked all the same
    second = newsroom.begin("meet", "Meet Bob", "two")
    assert "| schedule_meeting: duration 30 -> 15" in newsroom.prompts[-1][0]
    assert second.state.pending[0].args["duration"] == 15
    newsroom.decide(second, "approve")
    assert noted(newsroom.folder, "calendar") == ["Meet Ada, 15 minutes", "Meet Bob, 15 minutes"]

    # shown, rewritten, removed: each from a terminal of its own
    shown = newsroom.process(SAYSO, "preferences", "list", "--agent", "secretary")
    assert f"{edited.id}" in shown
    assert "duration 30 -> 15" in shown
    newsroom.process(
        SAYSO, "preferences", "edit", edited.id, "schedule_meeting: duration 30 -> 20, for all"
    )
    third = newsroom.begin("meet", "Meet Cleo", "three")
    assert third.state.pending[0].args["duration"] == 20
    newsroom.decide(third, "approve")
    newsroom.process(SAYSO, "preferences", "remove", edited.id)
    fourth = newsroom.begin("meet", "Meet Dan", "four")
    assert newsroom.prompts[-1][-1] == "Meet Dan"
    assert not any("30 ->" in text for text in newsroom.prompts[-1])
    assert fourth.state.pending[0].args["duration"] == 30


def test_an_answer_in_words_refines_the_call_and_is_remembered(newsroom: Newsroom) -> None:
    run = newsroom.begin("meet", "Meet Ada", "one")
    newsroom.decide(run, "respond", "Make it 45 minutes")
    assert run.state.pending[0].args["duration"] == 45
    newsroom.decide(run, "approve")

    newsroom.begin("meet", "Meet Bob", "two")

    assert "| schedule_meeting: Make it 45 minutes" in newsroom.prompts[-1][0]
    assert noted(newsroom.folder, "calendar") == ["Meet Ada, 45 minutes"]
