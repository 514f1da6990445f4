"""How far several samples of one answer agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sayso
from sayso.errors import BadValue


def test_the_most_frequent_answer_counts_and_its_share_is_the_confidence() -> None:
    found = sayso.agreement(["refund", "refund", "reject", "refund", "ask"])

    assert (found.answer, found.confidence, found.answers, found.of) == ("refund", 0.6, 3, 5)

    assert sayso.agreement(["b", "a", "a", "b"]).answer == "b"

    calls = sayso.agreement([{"order": 7, "amount": 40}, {"amount": 40, "order": 7}])
    assert (calls.answer, calls.confidence) == ({"order": 7, "amount": 40}, 1.0)


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=9))
def test_it_is_a_confidence_and_no_answer_has_more(samples: list[str]) -> None:
    found = sayso.agreement(samples)

    assert 0 < found.confidence <= 1
    assert samples.count(found.answer) == max(map(samples.count, samples))


@pytest.mark.parametrize("samples", [[], ["once"], [object(), object()]])
def test_what_cannot_be_compared_is_refused(samples: list[object]) -> None:
    with pytest.raises(BadValue, match=r"two samples|cannot be stored"):
        sayso.agreement(samples)


def test_it_goes_with_a_call_as_any_other_confidence(local: sayso.Desk) -> None:
    found = sayso.agreement([{"amount": 40}, {"amount": 40}, {"amount": 80}])

    ask = local.open("refund", found.answer, confidence=found.confidence)

    assert ask.args == {"amount": 40}
    assert ask.content.confidence == pytest.approx(2 / 3)
