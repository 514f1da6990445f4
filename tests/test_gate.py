"""A gated function runs only after somebody approved exactly this call."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

import sayso
from sayso import Ask, Desk, current_call
from sayso.errors import BadValue, InvalidEdit, Misuse
from sayso.model.ask import Effect
from tests.together import until


@pytest.fixture
def file_desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(f"sqlite:///{tmp_path}/sayso.db", agent="shop") as desk:
        yield desk


def opened(desk: Desk, kind: str | None = None) -> Ask:
    """Return the next ask that waits, as soon as it does."""
    for event in desk.events(follow=True):
        if event.kind != "ask.opened":
            continue
        ask = desk.get(event.stream)
        if ask.open and kind in (None, ask.kind):
            return ask
    raise AssertionError("unreachable: following never ends")


def in_thread(fn: Callable[[], Any]) -> Future[Any]:
    """Run it on a thread that does not outlive a failing test."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(fn())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def effect_of(desk: Desk, ask: Ask) -> Effect:
    effect = desk.get(ask.id).effect
    assert effect is not None
    return effect


def test_a_call_is_frozen_with_its_defaults_whatever_its_caller_does_meanwhile(
    file_desk: Desk,
) -> None:
    seen: list[list[str]] = []

    @file_desk.gate
    def send(to: list[str], copies: int = 1) -> None:
        seen.append(to)

    people = ["anna"]
    running = in_thread(lambda: send(people))
    ask = opened(file_desk)
    assert ask.args == {"to": ["anna"], "copies": 1}
    people.append("everybody")
    file_desk.approve(ask)
    running.result(10)
    assert seen == [["anna"]]


def test_the_function_finds_its_intent_written_and_a_key_that_is_its_own(file_desk: Desk) -> None:
    found = []

    @file_desk.gate
    def refund(order: int) -> None:
        call = current_call()
        assert call.ask is not None
        found.append((call.key, effect_of(file_desk, call.ask).status))

    for _ in range(2):
        running = in_thread(lambda: refund(7))
        file_desk.approve(opened(file_desk))
        running.result(10)
    assert [status for _, status in found] == ["intended"] * 2
    assert len({key for key, _ in found}) == 2
    with pytest.raises(Misuse, match="inside a gated function"):
        current_call()


async def test_cancelling_in_the_middle_of_the_function_leaves_a_doubt(file_desk: Desk) -> None:
    begun = asyncio.Event()

    @file_desk.gate
    async def refund(order: int) -> str:
        begun.set()
        await asyncio.Event().wait()
        return "never"

    running = asyncio.ensure_future(refund(7))
    ask = await asyncio.to_thread(opened, file_desk)
    await asyncio.to_thread(file_desk.approve, ask)
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    effect = effect_of(file_desk, ask)
    assert effect.status == "unknown"
    assert file_desk.get(effect.doubt or "").kind == "doubt"


def test_a_result_that_cannot_be_stored_still_reaches_the_caller(file_desk: Desk) -> None:
    @file_desk.gate
    def load(n: int):
        return {n}

    running = in_thread(lambda: load(7))
    ask = opened(file_desk)
    file_desk.approve(ask)
    assert running.result(10) == {7}
    effect = effect_of(file_desk, ask)
    assert (effect.status, effect.result) == ("done", None)
    assert "set" in str(file_desk.history(ask)[-1].payload)


class Order(BaseModel):
    id: int
    due: datetime
    total: Decimal


def test_rich_types_are_shown_as_json_and_come_back_as_they_were(file_desk: Desk) -> None:
    seen = []

    @file_desk.gate
    def pay(order: Order, when: datetime) -> Decimal:
        seen.append((order, when))
        return order.total

    order = Order(id=7, due=datetime(2026, 1, 2, tzinfo=UTC), total=Decimal("9.90"))
    running = in_thread(lambda: pay(order, order.due))
    ask = opened(file_desk)
    assert ask.args["order"]["id"] == 7
    file_desk.approve(ask)
    assert running.result(10) == Decimal("9.90")
    assert seen == [(order, order.due)]


def even(n: int) -> int:
    if n % 2:
        raise ValueError("must be even")
    return n


def test_an_edit_that_only_the_type_refuses_is_not_run_and_spends_nothing(file_desk: Desk) -> None:
    @file_desk.gate
    def pay(amount: Annotated[int, AfterValidator(even)]) -> None:
        raise AssertionError("must not run")

    running = in_thread(lambda: pay(2))
    ask = opened(file_desk)
    file_desk.edit(ask, {"amount": 3})
    with pytest.raises(InvalidEdit, match="not run"):
        running.result(10)
    assert file_desk.get(ask.id).effect is None


def test_methods_can_be_gated_and_keep_their_object(file_desk: Desk) -> None:
    class Shop:
        def __init__(self, name: str) -> None:
            self.name = name

        def __repr__(self) -> str:
            return f"Shop({self.name!r})"

        @file_desk.gate
        def refund(self, order: int) -> str:
            return f"{self.name} {order}"

    running = in_thread(lambda: Shop("corner").refund(7))
    ask = opened(file_desk)
    assert ask.args == {"order": 7}
    assert ask.content.to_json()["facts"] == [["on", "Shop('corner')"]]
    file_desk.approve(ask)
    assert running.result(10) == "corner 7"


def test_impact_preview_and_risk_are_computed_from_the_call(file_desk: Desk) -> None:
    @file_desk.gate(
        risk=lambda to, **_: "critical" if to == "all" else "low",
        reversible=False,
        affects="customers",
        impact=lambda to, **_: "2,451 recipients cannot be un-mailed",
        preview=lambda to, subject: {"To": to, "Subject": subject},
    )
    def send(to: str, subject: str) -> None: ...

    running = in_thread(lambda: send("all", "Sale"))
    ask = opened(file_desk)
    assert ask.risk == "critical"
    assert ask.content.impact == "2,451 recipients cannot be un-mailed"
    assert ask.content.to_json()["preview"] == [["To", "all"], ["Subject", "Sale"]]
    file_desk.approve(ask)
    running.result(10)


def test_a_broken_preview_says_so_and_a_broken_risk_counts_as_critical(file_desk: Desk) -> None:
    def broken(**_: object) -> Any:
        raise ZeroDivisionError

    @file_desk.gate(risk=broken, preview=broken, impact=broken)
    def send(to: str) -> None: ...

    running = in_thread(lambda: send("all"))
    ask = opened(file_desk)
    assert ask.risk == "critical"
    assert "could not be computed" in (ask.content.impact or "")
    file_desk.reject(ask)
    with pytest.raises(sayso.Rejected):
        running.result(10)


def test_a_secret_stays_out_of_errors_results_and_previews(file_desk: Desk, tmp_path: Path) -> None:
    def broken(**args: Any) -> str:
        raise KeyError(args["login"]["password"])

    @file_desk.gate(secret=["login"], preview=broken, impact=broken)
    def sign_in(login: dict[str, str], fail: bool) -> dict[str, str]:
        if fail:
            raise RuntimeError(f"wrong password {login['password']}")
        return {"echo": login["password"]}

    for fail in (True, False):
        running = in_thread(functools.partial(sign_in, {"password": "hunter22"}, fail))
        ask = opened(file_desk)
        assert ask.args == {"login": "(hidden)", "fail": fail}
        with pytest.raises(InvalidEdit, match="hidden"):
            file_desk.edit(ask, {"login": {}})
        file_desk.approve(ask)
        if fail:
            with pytest.raises(RuntimeError, match="hunter22"):
                running.result(10)
        else:
            assert running.result(10) == {"echo": "hunter22"}
    for file in tmp_path.iterdir():
        assert b"hunter22" not in file.read_bytes()


def test_a_database_that_is_away_for_a_moment_does_not_hide_the_result(
    file_desk: Desk, tmp_path: Path
) -> None:
    """ "Try again" would be an invitation to pay twice."""
    file_desk.inbox()  # the tables are made by a desk that waits for a lock, not by the other
    busy = sqlite3.connect(tmp_path / "sayso.db", isolation_level=None, check_same_thread=False)
    desk = Desk(f"sqlite:///{tmp_path}/sayso.db?timeout=0.05")

    @desk.gate
    def pay(amount: int) -> str:
        busy.execute("begin immediate")
        threading.Timer(0.3, lambda: busy.execute("rollback")).start()
        return "receipt 77"

    running = in_thread(lambda: pay(5))
    ask = opened(file_desk)  # which waits longer for a lock than that one
    file_desk.approve(ask)
    assert running.result(20) == "receipt 77"
    effect = effect_of(file_desk, ask)
    assert (effect.status, effect.result) == ("done", "receipt 77")
    desk.close()
    busy.close()


@pytest.mark.parametrize("kind", ["generator", "wrapped coroutine"])
def test_what_would_run_later_is_not_called_done(file_desk: Desk, kind: str) -> None:
    if kind == "generator":
        with pytest.raises(BadValue, match="generator"):

            @file_desk.gate
            def many(n: int) -> Iterator[int]:
                yield n

        return

    async def inner(n: int) -> int:
        raise AssertionError("must not run")

    @file_desk.gate
    def outer(n: int) -> Any:
        return inner(n)

    running = in_thread(lambda: outer(1))
    ask = opened(file_desk)
    file_desk.approve(ask)
    with pytest.raises(Misuse, match="directly above"):
        running.result(10)
    assert effect_of(file_desk, ask).status == "failed"


# --- in doubt ---


def unknown_effect(desk: Desk, **rules: Any) -> tuple[Future[Any], list[int]]:
    """Start a gated call whose first execution times out."""
    runs: list[int] = []

    @desk.gate(unknown=TimeoutError, **rules)
    def pay(amount: int) -> str:
        runs.append(amount)
        if len(runs) == 1:
            raise TimeoutError("no answer from the bank")
        return f"paid {amount}"

    return in_thread(lambda: pay(5)), runs


def test_whoever_waits_in_doubt_is_still_there_to_run_it_again(file_desk: Desk) -> None:
    with Desk(file_desk.url, lease=1.5) as desk:
        running, runs = unknown_effect(desk)
        ask = opened(desk)
        desk.approve(ask)
        doubt = opened(desk, "doubt")
        lapse(desk)
        until(lambda: "approve" in desk.get(doubt.id).allow)  # its program renews what it holds
        desk.approve(doubt)
        assert running.result(10) == "paid 5"
    assert runs == [5, 5]


@pytest.mark.parametrize(
    ("rules", "result", "ran"),
    [
        ({"idempotent": True}, "paid 5", [5, 5]),
        ({"verify": lambda amount: sayso.Happened("paid already")}, "paid already", [5]),
    ],
)
def test_where_code_can_tell_or_it_may_be_tried_again_nobody_is_asked(
    file_desk: Desk, rules: dict[str, Any], result: str, ran: list[int]
) -> None:
    running, runs = unknown_effect(file_desk, **rules)
    file_desk.approve(opened(file_desk))
    assert running.result(10) == result
    assert runs == ran


def test_did_not_happen_counts_only_after_the_time_limit(file_desk: Desk) -> None:
    asked = []

    def verify(amount: int) -> sayso.DidNotHappen:
        asked.append(amount)
        return sayso.DidNotHappen()

    running, runs = unknown_effect(file_desk, verify=verify, limit=0.05)
    file_desk.approve(opened(file_desk))
    assert running.result(10) == "paid 5"
    assert (runs, asked) == ([5, 5], [5, 5])


@pytest.mark.parametrize(
    "verify",
    [
        lambda amount: sayso.DidNotHappen(),  # no limit: it may still be on its way
        lambda amount: sayso.CannotTell(),
        lambda amount: "yes",
        lambda amount: 1 / 0,
    ],
)
def test_whatever_else_verify_says_a_person_is_asked(
    file_desk: Desk, verify: Callable[..., Any]
) -> None:
    running, runs = unknown_effect(file_desk, verify=verify)
    file_desk.approve(opened(file_desk))
    file_desk.respond(opened(file_desk, "doubt"), "paid")
    assert running.result(10) == "paid"
    assert runs == [5]


# --- the program that asked ---


PROGRAM = """
import sys, sayso
desk = sayso.Desk(sys.argv[1])

@desk.gate
def pay(amount: int) -> str:
    print("running", flush=True)
    sys.stdin.read()
    return "paid"

pay(5)
"""


def program(desk: Desk) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, desk.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lapse(desk: Desk) -> None:
    """Half a minute later: nobody has renewed what they hold."""
    with contextlib.closing(sqlite3.connect(desk.url.removeprefix("sqlite:///"))) as database:
        database.execute("update asks set lease_until = 1 where lease_until is not null")
        database.commit()


def test_a_program_killed_in_the_middle_leaves_a_doubt_and_is_not_repeated(file_desk: Desk) -> None:
    with program(file_desk) as running:
        ask = opened(file_desk)
        file_desk.approve(ask)
        assert running.stdout is not None
        assert running.stdout.readline() == "running\n"
        running.kill()
        running.communicate(timeout=20)
    lapse(file_desk)
    (doubt_id,) = file_desk.sweep().doubts
    doubt = file_desk.get(doubt_id)
    assert doubt.content.about == ask.id
    assert doubt.allow == ("respond", "reject")  # nobody is left who could run it again
    with pytest.raises(sayso.SaysoError, match="spent"):
        file_desk.begin(ask)
    file_desk.respond(doubt, "paid")
    effect = effect_of(file_desk, ask)
    assert (effect.status, effect.result) == ("done", "paid")


# --- decorating ---


def test_a_gate_keeps_name_and_signature(file_desk: Desk) -> None:
    @file_desk.gate(name="payments.refund")
    def refund(order: int) -> str:
        """Pay it back."""
        return ""

    assert (refund.__name__, refund.__doc__) == ("refund", "Pay it back.")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"risk": "huge"}, "risk"),
        ({"tier": 3}, "tier"),
        ({"secret": ["pin"]}, "pin"),
        ({"secret": "pin"}, "pin"),
        ({"unknown": "TimeoutError"}, "unknown"),
        ({"verify": 5}, "verify"),
        ({"within": "15 apples"}, "apples"),
        ({"allow": ["accept"]}, "accept"),
        ({"needs": 5}, "needs"),
        ({"limit": -1}, "-1"),
        ({"confidence": 7}, "confidence=7: state it as a number from 0 to 1"),
        ({"confidence": -1}, "confidence=-1"),
        ({"confidence": "high"}, "confidence='high'"),
        ({"confidence": float("nan")}, "confidence=nan"),
        ({"confidence": True}, "confidence=True"),
    ],
)
def test_a_wrong_option_is_refused_while_decorating(
    file_desk: Desk, options: dict[str, Any], word: str
) -> None:
    with pytest.raises(BadValue, match=word):
        sayso.tool(lambda order: None, **options)
    with pytest.raises(BadValue, match=word):

        @file_desk.gate(**options)
        def refund(order: int) -> None: ...


def test_positional_only_parameters_are_refused_while_decorating(file_desk: Desk) -> None:
    with pytest.raises(BadValue, match="by name"):

        @file_desk.gate
        def refund(*orders: int) -> None: ...


def test_an_argument_that_cannot_be_shown_is_refused_before_anything_is_asked(
    file_desk: Desk,
) -> None:
    @file_desk.gate
    def send(to) -> None: ...

    with pytest.raises(BadValue, match="secret="):
        send(object())
    assert file_desk.inbox().count == 0


def test_a_wrong_call_raises_what_the_function_itself_would(file_desk: Desk) -> None:
    @file_desk.gate
    def send(to: str) -> None: ...

    with pytest.raises(TypeError):
        send()  # type: ignore[call-arg]
    assert file_desk.inbox().count == 0
