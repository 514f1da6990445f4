"""Each journey is made on both databases once; what turns off its road, on SQLite alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk
from tests.crash.visitors import Door, open_door
from tests.journeys.processes import Newsroom
from tests.places import Place, on_sqlite_alone

BOTH = (
    "test_async_review",
    "test_plan_over_http",
    "test_rolling_upgrade",
    "test_a_mail_that_is_approved_is_sent_as_shown",
    "test_s1_4_and_s1_5_every_step_is_kept_with_its_content_whichever_process_took_it",
    "test_s2_10_one_key_books_a_suggested_flight",
    "test_s2_1_a_mail_to_thousands_waits_for_a_yes_and_its_outcome_comes_back",
    "test_s2_2_a_draft_is_sent_back_edited_and_every_version_is_kept",
    "test_s2_4_what_was_called_bad_is_kept_for_the_next_task_like_it",
    "test_s2_8_the_agent_goes_on_while_people_decide_and_every_pause_ends_a_process",
    "test_s3_11_an_edit_in_one_thread_is_known_in_the_next",
    "test_s4_10_an_agent_asks_an_agent_that_asks_a_person_and_the_answer_comes_back",
    "test_s4_3_the_document_user_and_admin_in_two_terminals_one_after_the_other",
)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_sqlite_alone(metafunc, but=BOTH)


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    """Where those come from who are gone before the next one comes."""
    with open_door() as door:
        yield door


@pytest.fixture
def newsroom(live: Desk, place: Place, tmp_path: Path) -> Newsroom:
    return Newsroom(live, place.url, tmp_path)
