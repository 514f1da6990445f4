"""A call that was begun is ended by its id, too: by another process, or behind a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Ask, Desk
from sayso.errors import FinishedLate, Misuse, NotApproved, UnknownAsk
from sayso.testing import FakeClock
from tests.served import Served


@pytest.fixture(params=["database", "server"])
def program(request: pytest.FixtureRequest, local: Desk) -> Iterator[Desk]:
    """The desk of a program that asks, and carries out."""
    if request.param == "database":
        yield local
        return
    with Served(local) as server, Desk(server.url, token=server.token("clerk", kind="agent")) as d:
        yield d


def approved(local: Desk, program: Desk) -> Ask:
    ask = program.open("refund", {"order": 7})
    return local.approve(local.get(ask.id))


def test_a_call_is_finished_by_its_id(local: Desk, program: Desk):
    ask = approved(local, program)
    program.begin(ask.id)
    assert program.finish(ask.id, "paid").effect.result == "paid"  # type: ignore[union-attr]
    other = approved(local, program)
    program.begin(other)
    assert program.finish(other, error="no funds").effect.status == "failed"  # type: ignore[union-attr]


def test_what_was_never_begun_is_not_finished_and_what_came_late_is_evidence(
    local: Desk, program: Desk, clock: FakeClock
) -> None:
    ask = approved(local, program)
    with pytest.raises(NotApproved, match="never begun"):
        program.finish(ask.id, "paid")
    with pytest.raises(UnknownAsk):
        program.finish("a-nobody", "paid")
    with pytest.raises(UnknownAsk):
        program.finish(7, "paid")  # type: ignore[arg-type]

    ask = approved(local, program)
    program.begin(ask.id, limit="1m")
    clock.advance("2m")
    local.sweep()
    with pytest.raises(FinishedLate):
        program.finish(ask.id, "paid")
    doubt = local.get(ask.id).effect.doubt  # type: ignore[union-attr]
    assert local.get(str(doubt)).evidence


def test_the_id_of_a_call_that_was_begun_twice_says_not_which(
    local: Desk, program: Desk, clock: FakeClock
):
    ask = approved(local, program)
    program.begin(ask.id, limit="1m")
    clock.advance("2m")
    local.sweep()
    local.approve(local.get(str(local.get(ask.id).effect.doubt)))  # type: ignore[union-attr]
    call = program.begin(ask.id)
    with pytest.raises(Misuse, match="begun 2 times"):
        program.finish(ask.id, "paid")
    assert program.finish(call, "paid").effect.status == "done"  # type: ignore[union-attr]


def test_another_token_finishes_nothing_by_id(local: Desk):
    with Served(local) as server:
        tokens = [server.token("clerk", kind="agent") for _ in range(2)]
        with Desk(server.url, token=tokens[0]) as one, Desk(server.url, token=tokens[1]) as two:
            ask = approved(local, one)
            one.begin(ask.id)
            with pytest.raises(NotApproved, match="somebody else"):
                two.finish(ask.id, "paid")
            assert one.finish(ask.id, "paid").effect.status == "done"  # type: ignore[union-attr]


def test_what_a_gate_carries_out_is_finished_by_the_gate_alone(local: Desk):
    """Somebody else who knows the id cannot say what came of it."""
    seen: list[str] = []

    @local.gate(risk="low")
    def pay(amount: int) -> str:
        ask = next(e.stream for e in local.events() if e.kind == "ask.opened")
        with pytest.raises(NotApproved, match="the program that asked"):
            local.finish(str(ask), "forged")
        seen.append(str(ask))
        return "paid"

    assert pay(1) == "paid"
    assert local.get(seen[0]).effect.result == "paid"  # type: ignore[union-attr]
