"""Several calls in one turn: asked together, decided in any order, each made once or not at all."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import sayso
from sayso import ActionStep, Agent, Ask, Desk, Run, ScriptedModel
from sayso.agent import Reply, call
from sayso.testing import FakeClock
from tests.agents import (
    RAN,
    Messages,
    Watched,
    asked_model,
    calls,
    note,
    once,
    one_by_one,
    pay,
    results,
    shown,
    told,
)
from tests.places import Place
from tests.runs.people import answered, approved, ask_of, begun, carried_on, edited, rejected


def ask_for(run: Run, amount: int) -> Ask:
    (found,) = [ask for ask in run.asks if (ask.original or ask.args) == {"amount": amount}]
    return found


# --- together ------------------------------------------------------------------------------------


def test_what_needs_nobody_runs_while_the_others_wait(desk: Desk) -> None:
    script = once(call("pay", amount=1), call("note", text="a"), call("note", text="b"))

    run = begun(desk, Agent("clerk", ScriptedModel(script), [pay, note]), "pay the bills")

    assert (run.status, RAN) == ("waiting", ["a", "b"])
    assert approved(desk, run).output == "paid 1 | noted a | noted b"
    assert RAN == ["a", "b", 1]


def test_decided_together_none_is_made_before_the_last_decision(desk: Desk) -> None:
    script = once(call("pay", amount=1), call("note", text="a"), call("pay", amount=2))
    agent = Agent("clerk", ScriptedModel(script), [pay, note], together=True)
    run = begun(desk, agent, "pay the bills")
    assert RAN == ["a"]

    desk.approve(ask_for(run, 2))
    assert (carried_on(desk, run).status, RAN) == ("waiting", ["a"])
    desk.approve(ask_for(run, 1))

    assert carried_on(desk, run).output == "paid 1 | noted a | paid 2"
    assert RAN == ["a", 1, 2]


@pytest.mark.parametrize("together", [False, True])
def test_a_withdrawn_ask_is_a_call_that_was_not_made(local: Desk, together: bool) -> None:
    script = once(call("pay", amount=1), call("pay", amount=2))
    run = begun(local, Agent("clerk", ScriptedModel(script), [pay], together=together), "pay")

    local.withdraw(ask_for(run, 1))
    assert carried_on(local, run).status == "waiting"
    approved(local, run)

    assert (run.status, RAN) == ("done", [2])
    assert "paid 2" in run.output


@pytest.mark.parametrize("together", [False, True])
def test_a_decision_that_falls_while_the_turn_is_at_work_is_not_missed(
    desk: Desk, together: bool
) -> None:
    def look() -> str:
        (run,) = desk.runs()
        for ask in run.state.pending:
            desk.approve(ask)
        return "looked"

    script = once(call("pay", amount=1), call("look"), call("pay", amount=2))

    run = begun(desk, Agent("clerk", ScriptedModel(script), [pay, look], together=together), "pay")

    assert run.output == "paid 1 | looked | paid 2"
    assert RAN == [1, 2]


# --- every order of decisions --------------------------------------------------------------------


@dataclass(frozen=True)
class Wish:
    """One call of the turn, and what somebody says to it."""

    gated: bool
    verdict: str


@dataclass(frozen=True)
class Story:
    wishes: tuple[Wish, ...]
    order: tuple[int, ...]
    looks: tuple[bool, ...]  # whether a worker comes by after each decision
    together: bool
    desks: int


WISHES = st.builds(
    Wish, gated=st.booleans(), verdict=st.sampled_from(["approve", "edit", "reject", "respond"])
)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    wishes = draw(st.lists(WISHES, min_size=1, max_size=5))
    return Story(
        tuple(wishes),
        tuple(draw(st.permutations(range(len(wishes))))),
        tuple(draw(st.booleans()) for _ in wishes),
        draw(st.booleans()),
        draw(st.integers(1, 2)),
    )


def decide(desk: Desk, ask: Ask, verdict: str) -> None:
    amount = ask.args["amount"]
    match verdict:
        case "approve":
            desk.approve(ask)
        case "edit":
            desk.edit(ask, {"amount": amount + 100})
        case "reject":
            desk.reject(ask, f"not {amount}")
        case _:
            desk.respond(ask, f"ask again about {amount}")


def expected(number: int, wish: Wish) -> tuple[str, dict[str, Any], str]:
    """What the model must read of this call once the turn is over."""
    if not wish.gated:
        return ("note", {"text": str(number)}, f"noted {number}")
    match wish.verdict:
        case "approve":
            return ("pay", {"amount": number}, f"paid {number}")
        case "edit":
            return ("pay", {"amount": number + 100}, f"paid {number + 100}")
        case "reject":
            return ("pay", {"amount": number}, f"sam said no: not {number}")
        case _:
            return ("pay", {"amount": number}, f"sam says: ask again about {number}")


def live_through(story: Story, url: str) -> None:
    RAN.clear()
    made = [
        call("pay", amount=number) if wish.gated else call("note", text=str(number))
        for number, wish in enumerate(story.wishes)
    ]
    model = Watched(once(*made))
    agent = Agent("clerk", model, [pay, note], together=story.together)
    desks = [
        Desk(url, clock=FakeClock(), agent="shop", account="sam@till") for _ in range(story.desks)
    ]
    try:
        run = begun(desks[0], agent, "do all of it")
        alone = [str(n) for n, wish in enumerate(story.wishes) if not wish.gated]
        assert RAN[: len(alone)] == alone
        decided = [n for n in story.order if story.wishes[n].gated]
        for turn, number in enumerate(decided):
            decide(desks[0], ask_for(run, number), story.wishes[number].verdict)
            if story.looks[turn]:
                before = [expected(n, story.wishes[n])[1] for n in decided[: turn + 1]]
                desks[turn % len(desks)].work(until="idle")
                _check_meanwhile(story, run, before, last=turn + 1 == len(decided))
        desks[-1].work(until="idle")
        _check_end(story, run, model)
    finally:
        for desk in desks:
            desk.close()


def _check_meanwhile(
    story: Story, run: Run, decided: Sequence[dict[str, Any]], *, last: bool
) -> None:
    if last:
        return
    assert run.status == "waiting"
    paid = [amount for amount in RAN if isinstance(amount, int)]
    allowed = [args["amount"] for args in decided]
    assert set(paid) <= set(allowed)
    if story.together:
        assert paid == []


def _check_end(story: Story, run: Run, model: Watched) -> None:
    assert run.status == "done", run.error
    read = shown(model.last)
    for number, wish in enumerate(story.wishes):
        tool, args, text = expected(number, wish)
        assert read[number][:2] == (tool, args)
        assert text in read[number][2]
    yes = {"approve": 0, "edit": 100}
    paid = [n + yes[w.verdict] for n, w in enumerate(story.wishes) if w.gated and w.verdict in yes]
    assert sorted(amount for amount in RAN if isinstance(amount, int)) == sorted(paid), "once each"
    noted = [str(n) for n, wish in enumerate(story.wishes) if not wish.gated]
    assert [text for text in RAN if isinstance(text, str)] == noted
    assert asked_model(run) == len(model.prompts) == 2
    assert len(run.asks) == sum(wish.gated for wish in story.wishes)


@pytest.mark.parametrize(
    "examples", [pytest.param(25, id="some"), pytest.param(1000, id="many", marks=pytest.mark.soak)]
)
@pytest.mark.timeout(600)
def test_whatever_the_order_each_call_comes_to_what_was_decided(examples: int) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.generate, Phase.shrink],
    )
    @given(story=stories())
    def check(story: Story) -> None:
        with tempfile.TemporaryDirectory(prefix="sayso-turns-") as folder:
            live_through(story, f"sqlite:///{folder}/desk.db")

    check()


# --- edits: history shows what was done ----------------------------------------------------------


def meet(minutes: int, room: str = "A") -> str:
    """Book a meeting."""
    RAN.append((minutes, room))
    return f"booked {minutes} minutes in {room}"


def repeating(messages: Messages) -> Any:
    """Book 45 minutes; then book again what the history says was booked; then tell."""
    made = calls(messages)
    if not made:
        return call("meet", minutes=45)
    if len(made) == 1:
        return call("meet", **made[0].args)
    return " | ".join(results(messages))


def test_a_model_that_repeats_what_it_reads_repeats_the_edited_call(
    place: Place, clock: FakeClock
) -> None:
    model = Watched(repeating)
    agent = Agent("clerk", model, [meet], confirm=["meet"])
    with Desk(place.url, clock=clock, account="sam@till") as first:
        run_id = begun(first, agent, "a meeting").id
        first.edit(ask_of(first.get_run(run_id)), {"minutes": 30})
    with Desk(place.url, clock=clock, account="sam@till") as second:
        run = carried_on(second, second.get_run(run_id))
        assert ask_of(run).args == {"minutes": 30, "room": "A"}
        approved(second, run)

        assert run.output == "booked 30 minutes in A | booked 30 minutes in A"
    assert RAN == [(30, "A"), (30, "A")]
    assert not re.search(r"\b45\b", repr(model.last)), "nothing of what was replaced is left"


def test_the_result_of_an_edited_call_follows_the_edited_call(local: Desk) -> None:
    model = Watched(once(call("pay", amount=1), call("pay", amount=2)))
    run = begun(local, Agent("clerk", model, [pay]), "pay")

    local.edit(ask_for(run, 2), {"amount": 7})
    local.approve(ask_for(run, 1))
    carried_on(local, run)

    assert shown(model.last) == [
        ("pay", {"amount": 1}, "paid 1"),
        ("pay", {"amount": 7}, "paid 7"),
    ]
    assert [step.args for step in run.memory if isinstance(step, ActionStep)] == [
        {"amount": 1},
        {"amount": 7},
    ]


def test_an_edited_call_with_a_secret_shows_no_argument_the_model_was_never_told_of(
    local: Desk,
) -> None:
    @sayso.tool(risk="high", secret=["token"])
    def wire(amount: int, token: str = "tok-5f0c9a7e1b") -> str:
        RAN.append((amount, token))
        return f"wired {amount}"

    def script(messages: Messages) -> Any:
        made = calls(messages)
        if not made:
            return call("wire", amount=1)
        return call("wire", **made[0].args) if len(made) == 1 else " | ".join(results(messages))

    run = begun(local, Agent("clerk", ScriptedModel(script), [wire]), "pay")
    edited(local, run, {"amount": 5})
    approved(local, run)

    assert run.output == "wired 5 | wired 5"
    assert RAN == [(5, "tok-5f0c9a7e1b")] * 2


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("is odd")
    return value


def give(amount: Annotated[int, pydantic.AfterValidator(_even)]) -> str:
    """Give an even amount: more than a schema can say."""
    RAN.append(amount)
    return f"gave {amount}"


def test_an_edited_call_that_its_types_refuse_is_told_to_the_model(local: Desk) -> None:
    script = once(call("give", amount=2))
    run = begun(local, Agent("clerk", ScriptedModel(script), [give], confirm=True), "give")
    edited(local, run, {"amount": 3})

    assert (run.status, RAN) == ("done", [])
    assert "InvalidEdit" in run.output


# --- when people say no ------------------------------------------------------------------------


def test_a_rejected_call_tells_who_and_why_and_not_to_repeat_it(desk: Desk) -> None:
    model = Watched(once(call("pay", amount=1)))
    run = begun(desk, Agent("clerk", model, [pay]), "pay")

    rejected(desk, run, "We never pay on Mondays")

    (text,) = results(model.last)
    assert "sam" in text
    assert "We never pay on Mondays" in text
    assert "Do not make this call again." in text
    assert model.last[-1].failed
    assert (run.status, RAN) == ("done", [])


def test_the_very_same_call_is_refused_without_asking_again(desk: Desk) -> None:
    def stubborn(messages: Messages) -> Any:
        read = results(messages)
        return call("pay", amount=1) if len(read) < 3 else read[-1]

    run = begun(desk, Agent("clerk", ScriptedModel(stubborn), [pay]), "pay")
    rejected(desk, run, "no")

    assert (run.status, RAN, len(run.asks)) == ("done", [], 1)
    assert "RejectedBefore" in run.output
    assert [said["error"]["kind"] for said in told(run, "step.failed")] == ["RejectedBefore"] * 2


def test_the_very_same_call_is_the_same_with_its_defaults_written_out(local: Desk) -> None:
    script = one_by_one(call("meet", minutes=5), call("meet", room="A", minutes=5))
    run = begun(local, Agent("clerk", ScriptedModel(script), [meet], confirm=["meet"]), "meet")

    rejected(local, run, "no")

    assert (run.status, len(run.asks)) == ("done", 1)


def test_a_no_to_somebodys_edit_is_a_no_to_what_the_model_wanted(team: Desk) -> None:
    @sayso.tool(risk="high", needs=["1 senior", "1 security"])
    def wire(amount: int) -> str:
        RAN.append(amount)
        return f"wired {amount}"

    script = one_by_one(call("wire", amount=100), call("wire", amount=100))
    run = begun(team, Agent("clerk", ScriptedModel(script), [wire]), "pay")

    edited(team, run, {"amount": 60}, by="anna")
    rejected(team, run, "nothing at all", by="sec")

    assert (run.status, RAN, len(run.asks)) == ("done", [], 1)
    assert "RejectedBefore" in run.output


@pytest.mark.parametrize(
    ("second", "kind"), [(2, None), (1, "not-now")], ids=["another call", "not now"]
)
def test_after_a_no_another_call_may_be_asked_for_and_after_not_now_the_same(
    local: Desk, second: int, kind: Any
) -> None:
    script = one_by_one(call("pay", amount=1), call("pay", amount=second))
    run = begun(local, Agent("clerk", ScriptedModel(script), [pay]), "pay")

    rejected(local, run, "no", kind=kind)

    assert ask_of(run).args == {"amount": second}
    approved(local, run)
    assert (run.status, RAN) == ("done", [second])


def test_nobody_in_time_is_not_somebodys_no(local: Desk, clock: FakeClock) -> None:
    @sayso.tool(risk="high", within="1h")
    def wire(amount: int) -> str:
        RAN.append(amount)
        return f"wired {amount}"

    script = one_by_one(call("wire", amount=1), call("wire", amount=1))
    run = begun(local, Agent("clerk", ScriptedModel(script), [wire]), "pay")

    clock.advance("2h")
    local.sweep()
    carried_on(local, run)
    assert RAN == []
    approved(local, run)

    assert RAN == [1]
    assert "person said no" not in run.output


def test_an_answer_instead_of_a_yes_goes_to_the_model(desk: Desk) -> None:
    def script(messages: Messages) -> Any:
        read = results(messages)
        if not read:
            return call("pay", amount=100)
        return call("pay", amount=60) if "only 60" in read[-1] else read[-1]

    run = begun(desk, Agent("clerk", ScriptedModel(script), [pay]), "pay")
    answered(desk, run, "only 60, please")

    assert ask_of(run).args == {"amount": 60}
    assert approved(desk, run).output == "paid 60"
    assert RAN == [60]


@pytest.mark.parametrize("approved_first", [True, False])
@pytest.mark.parametrize("approved", [1, 2])
def test_an_end_and_a_yes_at_the_same_time_end_the_run(
    local: Desk, approved_first: bool, approved: int
) -> None:
    script = once(call("pay", amount=1), call("pay", amount=2))
    run = begun(local, Agent("clerk", ScriptedModel(script), [pay]), "pay")

    for yes in (True, False) if approved_first else (False, True):
        if yes:
            local.approve(ask_for(run, approved))
        else:
            local.reject(ask_for(run, 3 - approved), "stop", end=True)
    carried_on(local, run)

    assert (run.status, RAN) == ("cancelled", []), "whichever call comes first in the message"


def test_what_a_tool_returns_instead_of_a_no_is_no_deed(local: Desk) -> None:
    @sayso.tool(risk="high", on_reject="left out")
    def send(to: str) -> str:
        RAN.append(to)
        return f"sent to {to}"

    script = one_by_one(call("send", to="a"), call("send", to="a"))
    run = begun(local, Agent("clerk", ScriptedModel(script), [send]), "send")
    rejected(local, run, "no")

    assert (run.status, RAN, len(run.asks)) == ("done", [], 1)
    assert "left out" in run.output


# --- doubts --------------------------------------------------------------------------------------


def flaky() -> Any:
    """Return a tool that does its work and then does not hear back, the first time."""

    @sayso.tool(risk="high", unknown=TimeoutError)
    def send(to: str) -> str:
        RAN.append(to)
        if len(RAN) == 1:
            raise TimeoutError("no word from the server")
        return f"sent to {to}"

    return send


def doubting(desk: Desk) -> tuple[Run, Ask]:
    model = ScriptedModel(once(call("send", to="a"), call("note", text="n")))
    run = begun(desk, Agent("clerk", model, [flaky(), note], confirm=["note"]), "send")
    approved(desk, run, "send")
    (doubt,) = [ask for ask in run.asks if ask.kind == "doubt"]
    return run, doubt


def test_a_doubt_in_a_turn_leaves_the_rest_of_the_turn_alone(desk: Desk) -> None:
    run, doubt = doubting(desk)
    assert (run.status, RAN) == ("waiting", ["a"])

    assert (approved(desk, run, "note").status, RAN) == ("waiting", ["a", "n"])
    desk.respond(doubt, "it was sent, says the log")

    assert carried_on(desk, run).output == "it was sent, says the log | noted n"
    assert RAN == ["a", "n"]


# --- tools that ask in the middle ----------------------------------------------------------------


@sayso.tool(asks=True)
def book(city: str) -> str:
    """Book a journey."""
    RAN.append(city)
    return f"{city} at {sayso.question(f'When to {city}?')}"


def test_tools_that_ask_in_the_middle_ask_side_by_side(desk: Desk) -> None:
    script = once(call("book", city="Rome"), call("pay", amount=1), call("book", city="Bonn"))
    run = begun(desk, Agent("clerk", ScriptedModel(script), [book, pay]), "travel")
    titles = sorted(ask.title for ask in run.state.pending)
    assert titles == ["When to Bonn?", "When to Rome?", "pay"]

    answered(desk, run, "noon", "When to Bonn?")
    approved(desk, run, "pay")
    desk.respond(ask_of(run, "When to Rome?"), "dawn")

    assert carried_on(desk, run).output == "Rome at dawn | paid 1 | Bonn at noon"


# --- ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("id_", ["same", "", "a\x00", "\ud800", "x" * 5000])
def test_calls_with_one_id_are_told_apart(local: Desk, id_: str) -> None:
    def script(messages: Messages) -> Any:
        read = results(messages)
        if len(read) == 4:
            return "done"
        made = [call("note", text=f"{len(read)}a"), call("note", text=f"{len(read)}b")]
        return Reply(calls=tuple(type(one)(id_, one.tool, one.args) for one in made))

    model = Watched(script)
    begun(local, Agent("clerk", model, [note]), "x")

    assert RAN == ["0a", "0b", "2a", "2b"]
    assert len({made.id for made in calls(model.last)}) == 4
    assert [text for _, _, text in shown(model.last)] == [f"noted {text}" for text in RAN]
