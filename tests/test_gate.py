"""A gated function runs only after somebody approved exactly this call."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
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
from sayso.errors import BadValue, CallerGone, InvalidEdit, Misuse, NotApproved

Decide = Callable[[Ask], object]


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


def test_an_approved_call_runs_with_the_arguments_that_were_shown(file_desk: Desk) -> None:
    @file_desk.gate
    def refund(order: int, amount: float = 10.0) -> str:
        return f"{order}:{amount}"

    running = in_thread(lambda: refund(7, amount=40.0))
    ask = opened(file_desk)
    assert ask.args == {"order": 7, "amount": 40.0}
    file_desk.approve(ask)

    assert running.result(10) == "7:40.0"
    effect = file_desk.get(ask.id).effect
    assert effect is not None
    assert (effect.status, effect.result) == ("done", "7:40.0")


def test_defaults_are_shown_too(file_desk: Desk) -> None:
    @file_desk.gate
    def refund(order: int, amount: float = 10.0) -> None: ...

    running = in_thread(lambda: refund(7))
    ask = opened(file_desk)
    assert ask.args == {"order": 7, "amount": 10.0}
    file_desk.approve(ask)
    assert running.result(10) is None


def test_an_edited_call_runs_with_the_edited_arguments(file_desk: Desk) -> None:
    seen = []

    @file_desk.gate
    def refund(order: int, amount: int) -> None:
        seen.append((order, amount))

    running = in_thread(lambda: refund(7, 40))
    file_desk.edit(opened(file_desk), {"amount": 30})
    running.result(10)
    assert seen == [(7, 30)]


def test_what_the_caller_does_to_its_list_while_waiting_changes_nothing(file_desk: Desk) -> None:
    seen: list[list[str]] = []

    @file_desk.gate
    def send(to: list[str]) -> None:
        seen.append(to)

    people = ["anna"]
    running = in_thread(lambda: send(people))
    ask = opened(file_desk)
    people.append("everybody")
    file_desk.approve(ask)
    running.result(10)
    assert seen == [["anna"]]


def test_a_rejection_is_raised_with_note_and_decider(file_desk: Desk) -> None:
    file_desk.people.add("anna")

    @file_desk.gate
    def refund(order: int) -> str:
        raise AssertionError("must not run")

    running = in_thread(lambda: refund(7))
    file_desk.reject(opened(file_desk), "Not a double charge", by="anna")
    with pytest.raises(sayso.Rejected) as refusal:
        running.result(10)
    assert (refusal.value.note, refusal.value.by) == ("Not a double charge", "anna")
    assert "Not a double charge" in str(refusal.value)


def test_a_response_is_raised_with_its_text(file_desk: Desk) -> None:
    @file_desk.gate
    def refund(order: int) -> str:
        raise AssertionError("must not run")

    running = in_thread(lambda: refund(7))
    file_desk.respond(opened(file_desk), "Refund half and apologise")
    with pytest.raises(sayso.Answered) as answer:
        running.result(10)
    assert answer.value.text == "Refund half and apologise"


def test_on_reject_gives_a_value_instead(file_desk: Desk) -> None:
    @file_desk.gate(on_reject="cancelled")
    def refund(order: int) -> str:
        return "paid"

    running = in_thread(lambda: refund(7))
    file_desk.reject(opened(file_desk))
    assert running.result(10) == "cancelled"


def test_an_exception_of_the_function_reaches_the_caller_and_the_journal(file_desk: Desk) -> None:
    @file_desk.gate
    def refund(order: int) -> str:
        raise RuntimeError("card expired")

    running = in_thread(lambda: refund(7))
    ask = opened(file_desk)
    file_desk.approve(ask)
    with pytest.raises(RuntimeError, match="card expired"):
        running.result(10)
    effect = file_desk.get(ask.id).effect
    assert effect is not None
    assert effect.status == "failed"
    assert "card expired" in (effect.error or "")


def test_the_intent_is_durable_before_the_function_starts(file_desk: Desk) -> None:
    found = []

    @file_desk.gate
    def refund(order: int) -> None:
        ask = current_call().ask
        assert ask is not None
        found.append(file_desk.get(ask.id).effect)

    running = in_thread(lambda: refund(7))
    file_desk.approve(opened(file_desk))
    running.result(10)
    assert [effect.status for effect in found if effect] == ["intended"]


def test_the_function_finds_an_idempotency_key_that_is_its_own(file_desk: Desk) -> None:
    keys = []

    @file_desk.gate
    def refund(order: int) -> None:
        keys.append(current_call().key)

    for _ in range(2):
        running = in_thread(lambda: refund(7))
        file_desk.approve(opened(file_desk))
        running.result(10)
    assert len(set(keys)) == 2
    with pytest.raises(Misuse, match="inside a gated function"):
        current_call()


async def test_an_async_function_waits_without_blocking_the_loop(file_desk: Desk) -> None:
    @file_desk.gate(risk="high")
    async def refund(order: int) -> str:
        await asyncio.sleep(0)
        return f"paid {order} {current_call().tool}"

    running = asyncio.ensure_future(refund(7))
    ask = await asyncio.to_thread(opened, file_desk)
    assert ask.risk == "high"
    await asyncio.to_thread(file_desk.approve, ask)
    assert await asyncio.wait_for(running, 10) == "paid 7 refund"


async def test_cancelling_a_waiting_task_withdraws_its_ask(file_desk: Desk) -> None:
    @file_desk.gate
    async def refund(order: int) -> str:
        raise AssertionError("must not run")

    running = asyncio.ensure_future(refund(7))
    ask = await asyncio.to_thread(opened, file_desk)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert file_desk.get(ask.id).status == "withdrawn"


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
    effect = file_desk.get(ask.id).effect
    assert effect is not None
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
    effect = file_desk.get(ask.id).effect
    assert effect is not None
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


def test_secret_arguments_are_never_stored_and_the_ask_says_so(
    file_desk: Desk, tmp_path: Path
) -> None:
    seen = []

    @file_desk.gate(secret=["card"])
    def charge(card: str, amount: int) -> None:
        seen.append(card)

    running = in_thread(lambda: charge("4111-1111", 5))
    ask = opened(file_desk)
    assert ask.args == {"card": "(hidden)", "amount": 5}
    assert ask.content.hidden == ("card",)
    with pytest.raises(InvalidEdit, match="hidden"):
        file_desk.edit(ask, {"card": "4222"})
    file_desk.approve(ask)
    running.result(10)
    assert seen == ["4111-1111"]
    for file in tmp_path.iterdir():
        assert b"4111-1111" not in file.read_bytes()


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
        file_desk.approve(opened(file_desk))
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
    effect = file_desk.get(ask.id).effect
    assert effect is not None
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
    effect = file_desk.get(ask.id).effect
    assert effect is not None
    assert effect.status == "failed"


def test_a_doubt_can_be_run_again_after_more_than_a_lease(file_desk: Desk) -> None:
    desk = Desk(file_desk.url, lease=1.5)
    running, runs = unknown_effect(desk)
    ask = opened(desk)
    desk.approve(ask)
    doubt = opened(desk, "doubt")
    threading.Event().wait(2.0)  # longer than the lease of a program that is alive
    desk.approve(doubt)
    assert running.result(10) == "paid 5"
    assert runs == [5, 5]
    desk.close()


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


def test_in_doubt_a_person_may_say_that_it_happened(file_desk: Desk) -> None:
    running, runs = unknown_effect(file_desk)
    ask = opened(file_desk)
    file_desk.approve(ask)
    doubt = opened(file_desk, "doubt")
    assert "no answer from the bank" in doubt.content.sentence
    assert doubt.content.about == ask.id
    with pytest.raises(sayso.SaysoError, match="must be text"):
        file_desk.respond(doubt, 42)
    file_desk.respond(doubt, "paid 5")
    assert running.result(10) == "paid 5"
    assert runs == [5]
    effect = file_desk.get(ask.id).effect
    assert effect is not None
    assert (effect.status, effect.result) == ("done", "paid 5")


def test_in_doubt_a_person_may_have_it_run_again_with_the_same_key(file_desk: Desk) -> None:
    running, runs = unknown_effect(file_desk)
    ask = opened(file_desk)
    file_desk.approve(ask)
    file_desk.approve(opened(file_desk, "doubt"))
    assert running.result(10) == "paid 5"
    assert runs == [5, 5]
    intents = [e.payload for e in file_desk.history(ask) if e.kind == "effect.intended"]
    assert [intent["attempt"] for intent in intents if intent] == [1, 2]
    assert len({intent["key"] for intent in intents if intent}) == 1


def test_in_doubt_a_person_may_leave_it(file_desk: Desk) -> None:
    running, runs = unknown_effect(file_desk)
    ask = opened(file_desk)
    file_desk.approve(ask)
    file_desk.reject(opened(file_desk, "doubt"))
    with pytest.raises(sayso.Skipped):
        running.result(10)
    assert runs == [5]
    effect = file_desk.get(ask.id).effect
    assert effect is not None
    assert effect.status == "failed"


def test_an_idempotent_call_is_tried_again_without_asking(file_desk: Desk) -> None:
    running, runs = unknown_effect(file_desk, idempotent=True)
    file_desk.approve(opened(file_desk))
    assert running.result(10) == "paid 5"
    assert runs == [5, 5]


def test_verify_can_settle_that_it_happened(file_desk: Desk) -> None:
    running, runs = unknown_effect(file_desk, verify=lambda amount: sayso.Happened("paid already"))
    file_desk.approve(opened(file_desk))
    assert running.result(10) == "paid already"
    assert runs == [5]


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


def test_without_a_terminal_one_line_says_what_waits_and_how_to_decide_it(file_desk: Desk) -> None:
    with program(file_desk) as running:
        ask = opened(file_desk)
        assert running.stderr is not None
        first = running.stderr.readline()  # before anybody decides: of what is closed nothing waits
        file_desk.reject(ask)
        running.communicate(timeout=20)
    assert ask.id in first
    assert "pay(amount=5)" in first
    assert f"sayso inbox approve {ask.id}" in first


def test_ctrl_c_withdraws_the_ask(file_desk: Desk) -> None:
    with program(file_desk) as running:
        ask = opened(file_desk)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=20)
    assert file_desk.get(ask.id).status == "withdrawn"


def test_once_its_program_was_killed_an_ask_can_only_be_closed(file_desk: Desk) -> None:
    with program(file_desk) as running:
        ask = opened(file_desk)
        running.kill()
        running.communicate(timeout=20)
    lapse(file_desk)
    gone = file_desk.get(ask.id)
    assert gone.gone
    assert gone.allow == ("reject",)
    with pytest.raises(CallerGone, match="has gone"):
        file_desk.approve(gone)
    assert file_desk.reject(gone).status == "decided"


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
    effect = file_desk.get(ask.id).effect
    assert effect is not None
    assert (effect.status, effect.result) == ("done", "paid")


def test_nobody_else_can_carry_out_what_a_program_waits_for(file_desk: Desk) -> None:
    begun = threading.Event()

    @file_desk.gate
    def pay(amount: int) -> str:
        begun.set()
        return "paid"

    running = in_thread(lambda: pay(5))
    ask = opened(file_desk)
    with pytest.raises(NotApproved):
        file_desk.begin(ask)
    file_desk.approve(ask)
    assert running.result(10) == "paid"
    assert begun.is_set()


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
