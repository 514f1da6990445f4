"""The document's own trust score, which ours replaces: what is wrong with it, shown."""

from __future__ import annotations

import pytest

from benchmarks._document import DocumentTrust


def trusted(approvals: int = 0, rejections: int = 0) -> DocumentTrust:
    score = DocumentTrust()
    for _ in range(approvals):
        score.decided(approved=True)
    for _ in range(rejections):
        score.decided(approved=False)
    return score


def test_its_score_frees_everything_the_rejected_too_and_divides_by_nothing() -> None:
    assert trusted(approvals=9).asks(1.0)
    assert not trusted(approvals=11).asks(1.0)

    assert trusted(rejections=4).asks(1.0)
    assert not trusted(rejections=6).asks(1.0)

    with pytest.raises(ZeroDivisionError):
        trusted(rejections=5).asks(0.1)
