"""E4 told of an agent: two gated calls in one message, and a process that is killed between them.

LangGraph, and the public code of the email assistant course: one node asks about each call of a
message and makes it; at the second answer it runs again from its top, and the first mail is sent
twice. The same story on LangGraph is in `benchmarks/faults.py` (`mail`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sayso import Desk, Run
from tests.crash.shop import noted
from tests.crash.visitors import Death, Door, open_door
from tests.evidence.postman import PEOPLE, approve, look
from tests.places import Place, place_at

ORDERS = [PEOPLE, PEOPLE[::-1]]
BOTH = "sent to anna; sent to ben"


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door() as door:
        yield door


@dataclass
class Post:
    """One run with two mails to send."""

    door: Door
    desk: Desk
    url: str
    folder: Path
    id: str = ""

    def visit(self, do: str, *args: str, dies: Death | None = None) -> bool:
        """Let a process do something, or die at it; whether it died."""
        path = f"tests.evidence.postman:{do}"
        came = self.door.visit(self.url, self.folder, path, *args, dies=dies)
        self.id = self.id or came.said
        return came.killed

    @property
    def run(self) -> Run:
        return self.desk.get_run(self.id)

    def approve(self, to: str) -> None:
        approve(self.desk, self.id, to)

    def worker(self, dies: Death | None = None) -> bool:
        return self.visit("go_on", self.id, dies=dies)

    def recovered(self) -> None:
        """Let another worker, and a person where it is in doubt, go on after a death."""
        place_at(self.url).lapse(self.id)
        self.worker()
        if look(self.desk, self.id, self.folder):
            self.worker()

    @property
    def sent(self) -> list[str]:
        return noted(self.folder, "sent")


@pytest.fixture
def post(door: Door, live: Desk, place: Place, tmp_path: Path) -> Post:
    post = Post(door, live, place.url, tmp_path)
    post.visit("begin")
    assert len(post.run.state.pending) == 2, "both are asked about together"
    return post


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_e4_two_mails_of_one_message_decided_one_after_the_other_are_each_sent_once(
    post: Post, order: tuple[str, str]
) -> None:
    first, second = order
    post.approve(first)
    post.worker()
    assert post.sent == [first]

    post.approve(second)
    post.worker()

    assert (post.sent, post.run.output) == ([first, second], BOTH)
    assert [ask.kind for ask in post.run.asks] == ["action", "action"], "nobody was asked again"


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_e4_a_process_killed_after_the_first_of_them_repeats_nothing(
    post: Post, order: tuple[str, str]
) -> None:
    """Its result was not recorded: a person is asked whether it happened, and it is not guessed."""
    first, second = order
    post.approve(first)
    assert post.worker(dies=(1, "after the effect"))
    assert post.sent == [first]

    post.approve(second)
    post.recovered()

    assert (post.sent, post.run.output) == ([first, second], BOTH)
    assert [ask.kind for ask in post.run.asks].count("doubt") == 1


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("death", [(1, "after the effect"), (2, "in the tool")])
def test_e4_a_process_killed_between_two_approved_mails_sends_each_once(
    post: Post, order: tuple[str, str], death: Death
) -> None:
    for one in order:
        post.approve(one)
    assert post.worker(dies=death)
    assert post.sent == ["anna"], "killed before the second"

    post.recovered()

    assert (sorted(post.sent), post.run.output) == (["anna", "ben"], BOTH)
    assert post.desk.verify()


@pytest.mark.parametrize("number", range(4, 60, 7))
@pytest.mark.parametrize("when", ["before", "after"])
def test_e4_wherever_the_process_is_killed_each_mail_is_sent_once(
    door: Door, live: Desk, place: Place, tmp_path: Path, number: int, when: str
) -> None:
    post = Post(door, live, place.url, tmp_path)
    post.visit("begin")
    for one in ORDERS[number % 2]:
        post.approve(one)

    post.worker(dies=(number, when))
    post.recovered()

    assert (sorted(post.sent), post.run.output) == (["anna", "ben"], BOTH)
