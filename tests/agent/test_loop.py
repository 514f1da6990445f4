"""An agent thinks and acts until it has an answer; what it may do is what it was given."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import functools
import gc
import os
import sys
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import pydantic
import pytest

import sayso
from sayso import ActionStep, Agent, AnswerStep, Desk, ScriptedModel, TaskStep
from sayso.agent import Reply, ToolCall, call, speaking
from sayso.agent.voice import Silence
from sayso.errors import BadValue, Misuse
from sayso.testing import FakeClock
from tests import hostile
from tests.agents import RAN, Messages, Watched, asked_model, once, one_by_one, results, told
from tests.places import Place
from tests.runs.people import answered, approved, ask_of, begun, rejected


def look(order: int) -> str:
    """Look an order up."""
    RAN.append(order)
    return f"order {order} was paid twice"


@sayso.tool(risk="high")
def refund(order: int, amount: float = 10.0) -> str:
    """Pay money back."""
    RAN.append((order, amount))
    return f"{amount:g} paid back for {order}"


def reading(messages: Messages) -> Any:
    """Look order 7 up, and answer with what is read there."""
    return f"I found: {results(messages)[-1]}" if results(messages) else call("look", order=7)


# --- answers -------------------------------------------------------------------------------------


def test_a_model_that_needs_no_tool_answers_at_once(desk: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(lambda messages: f"You said: {messages[-1].text}"))

    run = begun(desk, agent, "good morning")

    assert (run.status, run.output) == ("done", "You said: good morning")
    assert [type(step) for step in run.memory.steps] == [TaskStep, AnswerStep]


def test_everything_is_in_the_journal_before_the_next_thing_begins(desk: Desk) -> None:
    run = begun(desk, Agent("clerk", ScriptedModel(reading), [look]), "what about order 7?")

    assert [event.kind for event in run.events] == [
        "run.started",
        "step.done",  # the model wants to look
        "step.begun",
        "step.done",  # it was looked up
        "step.done",  # the model answers
        "run.done",
    ]
    assert asked_model(run) == 2
    assert (run.output, RAN) == ("I found: order 7 was paid twice", [7])
    assert desk.verify()


def test_no_recorded_reply_is_asked_for_again(desk: Desk) -> None:
    model = Watched(one_by_one(call("look", order=7), call("refund", order=7)))
    run = begun(desk, Agent("clerk", model, [look, refund]), "see to order 7")
    assert len(model.prompts) == 2

    approved(desk, run)

    assert run.output == "order 7 was paid twice | 10 paid back for 7"
    assert len(model.prompts) == asked_model(run) == 3
    assert RAN == [7, (7, 10.0)]


def test_an_agent_that_the_program_forgot_is_served_no_more(local: Desk) -> None:
    agent = Agent("passing", ScriptedModel(reading), [look])
    with Desk(local.url, account="sam@till") as other:
        run_id = other.start(agent, "what about order 7?").id
    del agent, other
    gc.collect()

    local.work(until="idle")

    assert local.get_run(run_id).status == "ready"
    assert "passing" in (local.unserved(run_id) or "")
    assert RAN == []


@pytest.mark.parametrize("task", [7, None, ["a"], {"a": 1}])
def test_a_task_is_a_text(local: Desk, task: Any) -> None:
    agent = Agent("clerk", ScriptedModel(reading), [look])

    with pytest.raises(BadValue, match="task"):
        local.run(agent, task, wait=False)

    assert local.runs() == []


def test_what_a_tool_declares_and_what_the_model_says_both_say_why(local: Desk) -> None:
    @sayso.tool(risk="high", why="Money leaves the house")
    def wire(amount: int) -> str:
        return "wired"

    def script(messages: Messages) -> Any:
        if "at once" not in messages[-1].text:
            return call("wire", amount=1)
        return Reply(text="The bill is due.", calls=(call("wire", amount=1),))

    agent = Agent("clerk", ScriptedModel(script), [wire])

    plain = ask_of(begun(local, agent, "pay it")).content
    spoken = ask_of(begun(local, agent, "pay it at once")).content

    assert plain.why == "Money leaves the house"
    assert spoken.why == "Money leaves the house. The bill is due."
    assert "high risk" in (plain.sentence or ""), "and why a person is asked is said, too"


def test_an_essay_beside_a_call_does_not_keep_people_from_seeing_the_call(local: Desk) -> None:
    script: list[Any] = [Reply(text="because " * 200_000, calls=(call("refund", order=7),)), "done"]
    run = begun(local, Agent("clerk", ScriptedModel(script), [refund]), "see to order 7")

    assert (ask_of(run).content.why or "").startswith("because because")
    assert approved(local, run).output == "done"


# --- what tools take and return ------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Line(pydantic.BaseModel):
    article: str
    pieces: Annotated[int, pydantic.Field(gt=0)]


class Order(pydantic.BaseModel):
    lines: list[Line]
    due: date
    price: Decimal = Decimal("1.10")


def ship(
    order: Order,
    on: date,
    within: timedelta,
    colour: Colour = Colour.RED,
    way: Literal["air", "sea"] = "sea",
    notes: list[str] | None = None,
) -> Order:
    """Send an order on its way."""
    RAN.append((order, on, within, colour, way, notes))
    return order.model_copy(update={"due": on + within})


SHIPPED = {
    "order": {"lines": [{"article": "lamp", "pieces": 2}], "due": "2026-01-01"},
    "on": "2026-03-01",
    "within": "P2D",
    "colour": "blue",
}


@pytest.mark.parametrize("confirm", [[], ["ship"]])
def test_a_tool_is_given_what_its_types_say(desk: Desk, confirm: list[str]) -> None:
    agent = Agent("clerk", ScriptedModel(once(call("ship", **SHIPPED))), [ship], confirm=confirm)

    run = begun(desk, agent, "ship it")
    if confirm:
        approved(desk, run)

    order = Order(lines=[Line(article="lamp", pieces=2)], due=date(2026, 1, 1))
    assert [(order, date(2026, 3, 1), timedelta(days=2), Colour.BLUE, "sea", None)] == RAN
    assert (
        run.output == '{"due":"2026-03-03","lines":[{"article":"lamp","pieces":2}],"price":"1.10"}'
    )


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"on": "yesterday"}, "on"),
        ({"colour": "green"}, "colour"),
        ({"way": "rail"}, "way"),
        ({"order": {"lines": [{"article": "lamp", "pieces": 0}], "due": "2026-01-01"}}, "pieces"),
        ({"order": {"lines": "lamp", "due": "2026-01-01"}}, "lines"),
        ({"order": {"lines": []}}, "due: is missing"),
        ({"order": None}, "order"),
        ({"hurry": True}, "hurry"),
        ({"notes": 7}, "notes"),
        ({"within": 1e400}, "inf"),
    ],
)
@pytest.mark.parametrize("confirm", [[], ["ship"]])
def test_arguments_that_do_not_fit_are_sent_back_with_their_place(
    local: Desk, changes: dict[str, Any], why: str, confirm: list[str]
) -> None:
    script = once(call("ship", **{**SHIPPED, **changes}))
    run = begun(local, Agent("clerk", ScriptedModel(script), [ship], confirm=confirm), "ship it")

    assert (RAN, run.asks) == ([], [])
    assert "BadArguments" in run.output
    assert why in run.output
    (failed,) = told(run, "step.failed")
    assert (failed["name"], failed["error"]["kind"]) == ("ship", "BadArguments")


def test_the_model_is_told_what_a_tool_is_for_and_takes(local: Desk) -> None:
    model = Watched(lambda messages: "nothing to do")

    begun(local, Agent("clerk", model, [ship, look]), "x")

    shipping, looking = model.prompts[0].tools
    assert (looking.name, looking.description) == ("look", "Look an order up.")
    assert looking.schema["properties"] == {"order": {"type": "integer"}}
    assert looking.schema["required"] == ["order"]
    assert set(shipping.schema["required"]) == {"order", "on", "within"}


def test_what_the_agent_is_told_to_heed_comes_first(local: Desk) -> None:
    model = Watched(lambda messages: "nothing to do")

    begun(local, Agent("clerk", model, instructions="Be brief."), "x")

    system, task = model.prompts[0].messages
    assert (system.role, task.role, task.text) == ("system", "user", "x")
    assert system.text.endswith("Be brief.")
    assert "never an instruction" in system.text


async def fetch(order: int) -> str:
    """Fetch an order."""
    await asyncio.sleep(0)
    RAN.append(order)
    return f"fetched {order}"


@pytest.mark.parametrize("confirm", [[], ["fetch"]])
def test_an_async_tool_runs_in_a_loop_of_its_own(local: Desk, confirm: list[str]) -> None:
    agent = Agent("clerk", ScriptedModel(once(call("fetch", order=7))), [fetch], confirm=confirm)

    run = begun(local, agent, "fetch it")
    if confirm:
        approved(local, run)

    assert (run.output, RAN) == ("fetched 7", [7])


async def test_an_async_tool_runs_where_a_loop_is_running_already(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(once(call("fetch", order=7))), [fetch])

    assert begun(local, agent, "fetch it").output == "fetched 7"


class Shop:
    """Tools that are methods: one plain, one that declares itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def stock(self, article: str) -> str:
        """Say how many there are."""
        RAN.append((self.name, article))
        return f"3 of {article} at {self.name}"

    @sayso.tool(risk="high")
    def order(self, article: str) -> str:
        """Order more."""
        RAN.append((self.name, article))
        return f"{article} ordered at {self.name}"


def test_a_declared_method_is_a_tool_that_asks(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(once(call("order", article="lamp"))), [Shop("B").order])

    run = begun(local, agent, "x")

    assert (ask_of(run).args, RAN) == ({"article": "lamp"}, [])
    assert approved(local, run).output == "lamp ordered at B"
    assert RAN == [("B", "lamp")]


def test_a_tool_without_arguments_and_without_a_word_about_itself(local: Desk) -> None:
    def ping():  # what people write
        return None

    model = Watched(once(call("ping")))

    run = begun(local, Agent("clerk", model, [ping]), "x")

    assert model.prompts[0].tools[0].description == "ping"
    assert run.output == "null"


@pytest.mark.parametrize(
    ("result", "read"),
    [
        ("as it is", "as it is"),
        (None, "null"),
        (7, "7"),
        ({"b": [1, 2.5], "a": None}, '{"a":null,"b":[1,2.5]}'),
        ([], "[]"),
        ("", ""),
    ],
)
def test_the_model_reads_text_as_it_is_and_everything_else_as_json(
    local: Desk, result: Any, read: str
) -> None:
    def get() -> Any:
        return result

    model = Watched(lambda messages: "done" if results(messages) else call("get"))

    begun(local, Agent("clerk", model, [get]), "x")

    assert results(model.last) == [read]


def test_a_very_long_result_is_shortened_for_the_model_and_kept_whole(local: Desk) -> None:
    whole = "".join(f"line {number}\n" for number in range(20_000))

    def read() -> str:
        return whole

    model = Watched(lambda messages: "done" if results(messages) else call("read"))

    run = begun(local, Agent("clerk", model, [read]), "x")

    (short,) = results(model.last)
    assert len(short) < 21_000
    assert short.startswith("line 0\n")
    assert short.endswith("line 19999\n")
    assert "characters left out" in short
    (step,) = [step for step in run.memory if isinstance(step, ActionStep)]
    assert step.result == whole


def test_a_tool_that_fails_is_told_to_the_model(desk: Desk) -> None:
    def load(page: int) -> str:
        raise ConnectionError(f"page {page} is away")

    agent = Agent("clerk", ScriptedModel(once(call("load", page=3))), [load])

    run = begun(desk, agent, "x")

    assert run.status == "done"
    assert run.output == "load failed: ConnectionError: page 3 is away"
    (step,) = [step for step in run.memory if isinstance(step, ActionStep)]
    assert (step.status, step.args) == ("failed", {"page": 3})
    assert step.error == "ConnectionError: page 3 is away"


# --- secrets -------------------------------------------------------------------------------------

TOKEN = "tok-5f0c9a7e1b"


@sayso.tool(secret=["token"])
def post(text: str, token: str = TOKEN) -> str:
    """Post a text."""
    RAN.append(token)
    return f"posted {text} with {token}"


@pytest.mark.parametrize("confirm", [[], ["post"]])
def test_a_secret_is_used_and_never_seen(desk: Desk, place: Place, confirm: list[str]) -> None:
    model = Watched(once(call("post", text="hello")))

    run = begun(desk, Agent("clerk", model, [post], confirm=confirm), "x")
    if confirm:
        approved(desk, run)

    assert RAN == [TOKEN]
    assert run.output == "posted hello with (hidden)"
    assert list(model.prompts[0].tools[0].schema["properties"]) == ["text"]
    rows = place.sql("select * from events") + place.sql("select * from asks")
    assert TOKEN not in repr(rows)


def test_a_model_that_makes_up_a_secret_is_refused(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(once(call("post", text="x", token="mine"))), [post])

    run = begun(local, agent, "x")

    assert RAN == []
    assert run.output == "post failed: BadArguments: There is no argument 'token'."


def test_a_secret_that_nobody_could_give_is_refused_when_the_agent_is_made() -> None:
    @sayso.tool(secret=["token"])
    def send(text: str, token: str) -> str:
        return text

    with pytest.raises(BadValue, match="'token', which is secret"):
        Agent("clerk", ScriptedModel(reading), [send])


# --- what runs alone and what asks ---------------------------------------------------------------


@sayso.tool(risk="low")
def count(what: str) -> int:
    return 3


@sayso.tool(reversible=False)
def delete(what: str) -> str:
    return "gone"


@sayso.tool(affects="customers")
def mail(what: str) -> str:
    return "sent"


@sayso.tool(risk=lambda what: "critical" if what == "all" else "low")
def drop(what: str) -> str:
    return f"dropped {what}"


@sayso.tool(risk=lambda what: {}[what])
def gamble(what: str) -> str:
    return "won"


@sayso.tool(needs=["1"])
def sign(what: str) -> str:
    return "signed"


@sayso.tool(idempotent=True)
def put(what: str) -> str:
    return "put"


@pytest.mark.parametrize(
    ("tool", "what", "asks"),
    [
        (count, "x", False),
        (put, "x", False),
        (delete, "x", True),
        (mail, "x", True),
        (drop, "one", False),
        (drop, "all", True),
        (gamble, "x", True),  # a risk that cannot be told is the worst
        (sign, "x", True),
    ],
)
def test_what_a_tool_declares_says_whether_it_asks(
    local: Desk, tool: Any, what: str, asks: bool
) -> None:
    agent = Agent("clerk", ScriptedModel(once(call(tool.__name__, what=what))), [tool])

    run = begun(local, agent, "x")

    assert run.status == ("waiting" if asks else "done")
    assert len(run.asks) == int(asks)


def test_a_tool_behind_a_gate_of_the_desk_asks_once(desk: Desk) -> None:
    @desk.gate
    def wire(amount: int) -> str:
        RAN.append(amount)
        return f"wired {amount}"

    run = begun(desk, Agent("clerk", ScriptedModel(once(call("wire", amount=5))), [wire]), "x")

    assert (ask_of(run).args, RAN) == ({"amount": 5}, [])
    assert approved(desk, run).output == "wired 5"
    assert (RAN, len(run.asks)) == ([5], 1)


def test_confirm_true_asks_for_everything(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(reading), [look, refund], confirm=True)

    run = begun(local, agent, "what about order 7?")

    assert (ask_of(run).tool, RAN) == ("look", [])
    assert approved(local, run).output == "I found: order 7 was paid twice"


def test_an_ask_of_an_agent_shows_what_its_tool_declares(local: Desk) -> None:
    @sayso.tool(
        risk="critical",
        reversible=False,
        affects="customers",
        impact=lambda n: f"{n} mails leave the house",
        preview=lambda n: {"first": "Dear Anna"},
    )
    def send(n: int) -> str:
        return "sent"

    run = begun(local, Agent("clerk", ScriptedModel(once(call("send", n=400))), [send]), "x")

    content = ask_of(run).content
    assert (content.risk, content.reversible, content.affects) == ("critical", False, "customers")
    assert content.impact == "400 mails leave the house"
    assert "Dear Anna" in (content.preview or "")
    assert content.run == run.id


def test_an_agent_says_what_it_may_do_alone(local: Desk) -> None:
    agent = Agent(
        "clerk",
        ScriptedModel(reading),
        [look, count, refund, delete, mail, drop, put],
        confirm=["look"],
        plan_every=5,
        max_steps=9,
        max_tokens=12_000,
        max_cost=0.5,
        max_time="2m",
    )

    assert agent.describe() == (
        "clerk\n"
        "  runs alone: count, put\n"
        "  asks first: look (listed in confirm), refund (risk high), delete (cannot be undone), "
        "mail (affects customers), drop (its risk depends on the call)\n"
        "  plans: before the first step and every 5; reviewed\n"
        "  at most: 9 steps, 12,000 tokens, $0.5, 120 s of work"
    )


def test_an_agent_without_anything_says_so() -> None:
    assert Agent("idle", ScriptedModel(reading)).describe() == (
        "idle\n  runs alone: nothing\n  asks first: nothing\n  plans: none\n  at most: 20 steps"
    )


def test_describe_names_the_gate_of_a_desk(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(reading), [local.gate(look), sign])

    assert "asks first: look (gated on the desk), sign (" in agent.describe()


# --- what cannot be an agent ---------------------------------------------------------------------


class Look:
    def __call__(self, order: int) -> str:
        return "seen"


def numbers(order: int) -> Any:
    yield order


def by_position(order: int, /) -> str:
    return "seen"


def twins() -> list[Callable[..., Any]]:
    def look() -> str:
        return "another one"

    return [look]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda m: Agent("", m), "name"),
        (lambda m: Agent("a|b", m), "name"),
        (lambda m: Agent("a:b", m), "name"),
        (lambda m: Agent("x" * 201, m), "name"),
        (lambda m: Agent("a\nb", m), "name"),
        (lambda m: Agent("a", m, plan_every=0), "plan_every=0"),
        (lambda m: Agent("a", m, plan_every=True), "plan_every=True"),
        (lambda m: Agent("a", m, [look], confirm="look"), r"\['look'\]"),
        (lambda m: Agent("a", m, [look], confirm=["lok"]), "Did you mean 'look'"),
        (lambda m: Agent("a", m, [look], confirm=["send"]), "It has: look"),
        (lambda m: Agent("a", m, [look, *twins()]), "Two tools of a are called 'look'"),
        (lambda m: Agent("a", m, [sayso.tool(name="plan")(twins()[0])]), "plans are handed in"),
        (lambda m: Agent("a", m, [7]), "int"),  # type: ignore[list-item]
        (lambda m: Agent("a", m, look), "list"),  # type: ignore[arg-type]
        (lambda m: Agent("a", m, [lambda order: 1]), "lambda"),
        (lambda m: Agent("a", m, [Look()]), "Look"),
        (lambda m: Agent("a", m, [numbers]), "generator"),
        (lambda m: Agent("a", m, [by_position]), "by position only"),
        (lambda m: Agent("a", m, [print]), "by position only"),
        (lambda m: Agent("a", m, max_steps=0), "max_steps=0"),
        (lambda m: Agent("a", m, max_steps=True), "max_steps=True"),
        (lambda m: Agent("a", m, max_tokens=-1), "max_tokens=-1"),
        (lambda m: Agent("a", m, max_cost=0), "max_cost=0"),
        (lambda m: Agent("a", m, max_time="soon"), "soon"),
        (lambda m: Agent("a", m, on_step={str: print}), "TaskStep"),
        (lambda m: Agent("a", m, on_step=7), "on_step"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused_when_the_agent_is_made(
    made: Callable[[Any], Agent], why: str
) -> None:
    with pytest.raises(BadValue, match=why):
        made(ScriptedModel(reading))


def test_a_bound_secret_is_neither_lost_nor_shown(local: Desk) -> None:
    """A tool with an argument bound beforehand keeps asking, and its model never hears of it."""

    @sayso.tool(risk="high", secret=["token"])
    def send(text: str, token: str) -> str:
        RAN.append(token)
        return text

    model = Watched(once(call("send", text="hello")))
    agent = Agent("clerk", model, [functools.partial(send, token=TOKEN)])

    run = begun(local, agent, "x")

    assert (ask_of(run).tool, RAN) == ("send", [])
    assert approved(local, run).output == "hello"
    assert RAN == [TOKEN]
    assert TOKEN not in repr(model.prompts)


# --- scripts -------------------------------------------------------------------------------------


def test_a_list_of_lines_goes_on_after_a_pause_where_it_stopped(
    place: Place, clock: FakeClock
) -> None:
    lines: list[Any] = [
        ["Look", "Pay"],
        call("look", order=7),
        call("refund", order=7),
        "Paid back.",
    ]
    agent = Agent("clerk", ScriptedModel(lines), [look, refund], plan_every=9)
    with Desk(place.url, clock=clock, account="sam@till") as first:
        run_id = begun(first, agent, "see to order 7").id
    with Desk(place.url, clock=clock, account="sam@till") as second:
        approved(second, second.get_run(run_id))
    with Desk(place.url, clock=clock, account="sam@till") as third:
        assert approved(third, third.get_run(run_id)).output == "Paid back."


@pytest.mark.parametrize(
    ("script", "tools", "why"),
    [
        ([call("look", order=7)], [look], "the agent wants one more (a reply) to"),
        ([["a", "b"]], [], "which is no reply here"),
        ([7], [], "which is no reply here"),
        (lambda messages: None, [], "which is no reply here"),
    ],
)
def test_a_script_that_does_not_fit_says_so(
    local: Desk, script: Any, tools: list[Any], why: str
) -> None:
    run = begun(local, Agent("clerk", ScriptedModel(script), tools), "x")

    assert run.status == "parked"
    assert why in (run.error or "")


@pytest.mark.parametrize("script", ["text", 7, None, lambda: "x", lambda a, b, c: "x"])
def test_what_is_no_script_is_refused(script: Any) -> None:
    with pytest.raises(Misuse, match="script"):
        ScriptedModel(script)


# --- what is told while it works -----------------------------------------------------------------


def test_one_line_a_step_on_standard_error(local: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedModel(one_by_one(call("look", order=7), call("refund", order=7)))
    run = begun(local, Agent("clerk", model, [look, refund], verbosity=1), "see to order 7")
    ask = ask_of(run).id
    before = capsys.readouterr()

    approved(local, run)

    assert before.out == ""
    assert before.err.splitlines() == [
        "[clerk] see to order 7",
        '[clerk] look({"order":7})',
        "[clerk]   order 7 was paid twice",
        f"[clerk] asks {ask}: refund",
    ]
    assert "[clerk]   10 paid back for 7" in capsys.readouterr().err.splitlines()


def test_what_is_done_while_others_wait_is_told_when_it_is_done(
    local: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    script = once(call("refund", order=7), call("look", order=7), call("nowhere"))
    run = begun(local, Agent("clerk", ScriptedModel(script), [look, refund], verbosity=1), "see")
    before = capsys.readouterr().err

    approved(local, run)

    after = capsys.readouterr().err
    for line in ("order 7 was paid twice", "nowhere failed"):
        assert (before.count(line), after.count(line)) == (1, 0)
    assert (before.count("paid back"), after.count("10 paid back for 7")) == (0, 1)


def test_a_replay_says_nothing_a_second_time(
    local: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [call("nowhere"), call("look", order=7), *(call("refund", order=n) for n in (1, 2, 3))]
    agent = Agent("clerk", ScriptedModel(one_by_one(*made)), [look, refund], verbosity=1)
    run = begun(local, agent, "see to it")
    rejected(local, run, "no")
    answered(local, run, "later")

    approved(local, run)

    assert run.status == "done"
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines) == sorted(set(lines))
    assert sum("nowhere failed" in line for line in lines) == 1


def test_a_listener_that_went_away_does_the_run_no_harm(
    local: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    gone = open(writing_end, "w", buffering=1)  # noqa: SIM115 - closed below
    monkeypatch.setattr(sys, "stderr", gone)
    agent = Agent("clerk", ScriptedModel(reading), [look], verbosity=2)

    run = begun(local, agent, "what about order 7?")

    monkeypatch.undo()
    with contextlib.suppress(BrokenPipeError):
        gone.close()
    assert (run.output, RAN) == ("I found: order 7 was paid twice", [7])


def test_without_a_word_nothing_is_printed(local: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    begun(local, Agent("clerk", ScriptedModel(reading), [look]), "what about order 7?")

    assert capfd.readouterr() == ("", "")


def test_hostile_text_is_made_visible_in_every_line(
    local: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    def echo(text: str) -> str:
        return text

    def script(messages: Messages) -> Any:
        if results(messages):
            return hostile.ALL + hostile.FAKED
        made = (call("echo", text=hostile.ALL + hostile.FAKED), call(hostile.ALL))
        return Reply(text=hostile.ALL, calls=made)

    agent = Agent("clerk", ScriptedModel(script), [echo], verbosity=2)

    begun(local, agent, hostile.ALL + hostile.FAKED)

    said = capsys.readouterr().err
    assert hostile.raw_in(said) == []
    assert not any(line.startswith("Decision") for line in said.splitlines())


def test_what_the_model_writes_is_told_while_it_writes(local: Desk) -> None:
    pieces: list[str] = []

    script: list[Any] = [
        Reply(text="Looking.\n", calls=(call("refund", order=7),)),
        "First line.\nSecond line.",
    ]
    agent = Agent("clerk", ScriptedModel(script), [refund], on_text=pieces.append)
    run = begun(local, agent, "x")
    assert pieces == ["Looking.\n"]

    approved(local, run)

    assert pieces == ["Looking.\n", "First line.\n", "Second line."]  # nothing of it twice


def test_a_model_is_not_streamed_to_nobody(local: Desk) -> None:
    model = Watched(lambda messages: "done")

    begun(local, Agent("quiet", model, verbosity=1), "x")
    begun(local, Agent("loud", model, verbosity=2), "x")

    assert [prompt.say is None for prompt in model.prompts] == [True, False]


def test_whoever_looks_on_speaks_for_the_agents_of_a_block(
    local: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    class Ear(Silence):
        heard: list[str] = []  # noqa: RUF012 - one test, one ear

        def begun(self, agent: str, task: str) -> None:
            self.heard.append(f"{agent}: {task}")

        def calling(self, agent: str, call: ToolCall) -> None:
            self.heard.append(call.tool)

    agent = Agent("clerk", ScriptedModel(reading), [look], verbosity=1)
    with speaking(Ear()):
        begun(local, agent, "what about order 7?")

    assert Ear.heard == ["clerk: what about order 7?", "look"]
    assert capsys.readouterr().err == ""


# --- usage ---------------------------------------------------------------------------------------


def test_what_a_reply_took_is_in_the_journal(desk: Desk) -> None:
    run = begun(desk, Agent("clerk", Watched(reading), [look], price=(2.0, 8.0)), "what about 7?")

    used = [said["result"]["usage"] for said in told(run, "step.done") if said["verb"] == "model"]
    assert len(used) == 2
    assert all(one["cost"] == (2 * one["input"] + 8 * one["output"]) / 1e6 for one in used)
    assert used[1]["input"] > used[0]["input"], "the second prompt is longer"
