"""The feedback loop, end to end (S2.4): rated, tried again with the guidance, remembered.

Every pause ends the process, and a new one goes on. The writer heeds only what its prompt
quotes (`tests.journeys.newsroom`).
"""

from __future__ import annotations

from tests.journeys.processes import SAYSO, Newsroom, journal

TASK = "Write a summary of the sales figures of March"
LIKE_IT = "Write a summary of the sales figures of April"
UNRELATED = "Write an invitation to dinner in Rome"  # shares a word, no more
GUIDANCE = "Name the region"


def test_s2_4_what_was_called_bad_is_kept_for_the_next_task_like_it(newsroom: Newsroom) -> None:
    # a first try, that nobody likes
    run = newsroom.begin("report", TASK)
    assert newsroom.prompts == [[TASK]], "there was nothing to recall"
    bad = newsroom.decide(run, "reject", GUIDANCE)
    assert bad.content.facts == f'[["task","{TASK}"],["result","Done: {TASK}"]]'

    # the next try has the guidance, and is good
    assert len(newsroom.prompts) == 2
    assert f"| {GUIDANCE}" in newsroom.prompts[1][-1]
    newsroom.decide(run, "approve")
    assert (run.status, run.output) == ("done", f"Done: {TASK}; {GUIDANCE}")
    assert journal(run) == [
        "run.started",
        ("step.done", "recall"),
        ("step.done", "model"),
        ("step.done", "workflow"),
        ("step.done", "recall"),
        ("step.done", "model"),
        ("step.done", "workflow"),
        "run.done",
    ]

    # a task like it: the kept example and the guidance are in the prompt, and heeded at once
    again = newsroom.begin("report", LIKE_IT)
    recalled, task = newsroom.prompts[2]
    assert task == LIKE_IT
    assert f"Past feedback ({bad.id})" in recalled
    assert f"| Done: {TASK}\n" in recalled
    assert f"| {GUIDANCE}" in recalled
    newsroom.decide(again, "approve")
    assert again.output == f"Done: {LIKE_IT}; {GUIDANCE}"

    # another task: nothing of it
    other = newsroom.begin("report", UNRELATED)
    assert newsroom.prompts[3] == [UNRELATED]
    newsroom.decide(other, "approve")
    assert other.output == f"Done: {UNRELATED}"

    assert len(newsroom.prompts) == 4, "no reply was asked for twice"
    assert newsroom.desk.verify()


def test_what_people_said_is_found_in_the_terminal_and_erased_for_good(newsroom: Newsroom) -> None:
    run = newsroom.begin("report", TASK)
    bad = newsroom.decide(run, "reject", GUIDANCE)
    newsroom.decide(run, "approve")

    found = newsroom.process(SAYSO, "cases", "search", "sales summary")
    assert f"{bad.id}  feedback, called bad by" in found
    assert GUIDANCE in found

    newsroom.desk.erase(bad, note="Asked for")
    newsroom.begin("report", LIKE_IT)

    assert newsroom.prompts[-1] == [LIKE_IT]
