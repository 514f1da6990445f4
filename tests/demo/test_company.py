"""The company of the demo: whatever people say to it, its runs come to an end."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk
from sayso.demo.company import open_desk, open_work
from sayso.demo.picture import bars
from sayso.model.file import image_type
from tests.demo.conftest import Copy


@pytest.fixture
def company(copied: Copy, tmp_path: Path) -> Iterator[Desk]:
    """A copy of it, served by this process."""
    with open_desk(f"sqlite:///{copied(tmp_path / 'company')}/demo.db") as desk:
        yield desk


def statuses(desk: Desk) -> set[str]:
    return {run.status for run in desk.runs(limit=100)}


def test_everything_is_there_and_opening_again_changes_nothing(company: Desk) -> None:
    before = company.store.total()

    open_work(company)

    assert company.store.total() == before
    assert statuses(company) == {"waiting", "done"}
    assert company.verify().problems == ()


def test_a_no_to_everything_ends_every_run(company: Desk) -> None:
    for ask in company.inbox(limit=100):
        company.reject(ask, "No")
    company.work(until="idle")

    assert statuses(company) == {"done", "cancelled"}
    assert [run.thread for run in company.runs(status="cancelled")] == ["renewals, monthly"]
    sent = [run for run in company.runs(limit=100) if run.thread == "renewals, annual"]
    assert "said no: No." in sent[0].output


def test_a_word_instead_of_a_verdict_goes_to_the_agent(company: Desk) -> None:
    for ask in company.inbox(limit=100):
        if ask.kind in ("action", "draft", "plan", "notice", "feedback"):
            company.respond(ask, "Ask me again in June")
    company.work(until="idle")

    again = {ask.kind: ask for ask in company.inbox(limit=100) if ask.kind in ("draft", "plan")}
    assert "Ask me again in June" in again["draft"].args["text"], "written again"
    assert again["plan"].content.about is not None, "planned again"
    assert not [ask for ask in company.inbox(limit=100) if ask.kind in ("action", "notice")]
    assert statuses(company) == {"waiting", "done"}


def test_the_chart_is_a_png_that_can_be_drawn() -> None:
    data = bars((3, 9, 5), doubtful=1)

    assert image_type(data) == "image/png"
    size = int.from_bytes(data[data.index(b"IDAT") - 4 :][:4], "big")
    raw = zlib.decompress(data[data.index(b"IDAT") + 4 :][:size])
    assert len(raw) == 160 * (1 + 3 * (14 + 3 * 42))
