"""A few of the same over HTTP with PostgreSQL behind it."""

from __future__ import annotations

import pytest

from tests.conformance import test_asks as asks
from tests.conformance import test_gates as gates

pytestmark = pytest.mark.parametrize("kind", ["remote-postgres"], indirect=True)

test_the_key = asks.test_a_key_finds_the_same_ask_again
test_the_second_reviewer = asks.test_whoever_comes_second_learns_who_was_faster
test_a_quorum = asks.test_several_people_must_agree
test_settling = asks.test_a_decision_that_settles_can_be_taken_back
test_the_journal = asks.test_the_journal_tells_what_happened
test_listening = asks.test_whoever_listens_hears_each_event_once
test_spending = gates.test_an_approval_is_spent_once
test_a_late_result = gates.test_a_result_that_comes_too_late_is_evidence
test_a_gate = gates.test_a_gate_runs_what_was_edited
test_ctrl_c = gates.test_ctrl_c_while_waiting_takes_the_question_back
