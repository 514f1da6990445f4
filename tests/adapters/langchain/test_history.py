"""Whatever people decide, in whatever order: each call is answered once, and only a yes acts."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sayso import Ask, Desk
from sayso.testing import FakeClock
from tests.adapters.langchain.clerk import Clerk, asks, call, consistent, turns

WORDS = ["approve", "edit", "reject", "respond"]
NAMES = ["anna", "ben", "cleo"]


def decide(desk: Desk, ask: Ask, word: str) -> None:
    """Say one word to an ask."""
    match word:
        case "approve":
            desk.approve(ask)
        case "edit":
            desk.edit(ask, {"text": "edited"})
        case "reject":
            desk.reject(ask, "no")
        case _:
            desk.respond(ask, "said otherwise")


@given(
    words=st.lists(st.sampled_from(WORDS), min_size=3, max_size=3),
    order=st.permutations(NAMES),
    pauses=st.lists(st.booleans(), min_size=3, max_size=3),
    ids=st.lists(st.sampled_from(["", "a", "b"]), min_size=3, max_size=3),
)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_history_is_consistent_whatever_is_decided(
    words: list[str], order: list[str], pauses: list[bool], ids: list[str]
) -> None:
    calls = [call("send", id_, to=name) for id_, name in zip(ids, NAMES, strict=True)]
    decided = dict(zip(NAMES, words, strict=True))
    with tempfile.TemporaryDirectory() as made:
        folder, clock = Path(made), FakeClock()

        def desks(law: Path) -> Desk:
            url = f"sqlite:///{folder}/desk.db"
            return Desk(url, clock=clock, agent="shop", account="sam@till", policy=law)

        with Clerk(folder, turns(calls, "Done."), desks) as clerk:
            run = clerk.begin()
            for name, pause in zip(order, pauses, strict=True):
                decide(clerk.desk, asks(run)[name], decided[name])
                run = clerk.go_on(run) if pause else clerk.desk.get_run(run.id)
            run = clerk.go_on(run)
            assert run.status == "done", run.error
            assert consistent(clerk.history(run))
            acted = {name: "hello" for name in NAMES if decided[name] == "approve"}
            acted |= {name: "edited" for name in NAMES if decided[name] == "edit"}
            assert Counter(map(tuple, clerk.did)) == Counter(
                ("send", name, text) for name, text in acted.items()
            )
            assert len(clerk.prompts) == 2
