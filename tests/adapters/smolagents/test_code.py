"""A CodeAgent under a desk: gates in the middle of its code, which runs again at every replay."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import pytest
from smolagents import Tool, tool

from sayso import Desk, Policy, Rule
from sayso.adapters.smolagents import Smol, UserInput, blocks
from tests.adapters.smolagents.cast import (
    Gives,
    Note,
    Thinks,
    code,
    coder,
    shown,
    steps_taken,
)
from tests.places import Place
from tests.runs.people import answered, approved, ask_of, begun, carried_on, edited, rejected

DONE: list[Any] = []


def scripted(*blocks: str) -> Thinks:
    """A model that writes these blocks, one a step."""
    return Thinks(lambda texts: code(blocks[min(steps_taken(texts), len(blocks) - 1)]))


def writer(model: Thinks, *tools: Any, **terms: Any) -> Smol:
    made = tools or (Note(DONE), Gives(lambda what: what.upper()), UserInput())
    return Smol("writer", lambda: coder(model, *made), **{"confirm": ["send"], **terms})


def approve_all(desk: Desk, run: Any) -> int:
    pauses = 0
    while run.status == "waiting":
        pauses += 1
        for ask in run.state.pending:
            desk.approve(ask)
        carried_on(desk, run)
    return pauses


def test_variables_functions_and_classes_of_code_before_the_pause_are_there_after_it(desk: Desk):
    model = scripted(
        "import math\nclass Box:\n    def __init__(self, n):\n        self.n = n\n"
        "def double(n):\n    return n * 2\nbox = Box(double(math.floor(20.9)))",
        "sent = send('anna', box.n + 2)",
        "final_answer(f'{sent} / {double(box.n)}')",
    )
    run = begun(desk, writer(model), "Go")
    assert ask_of(run).args == {"to": "anna", "amount": 42}
    assert ask_of(run).content.why == "Thought: so be it."
    approved(desk, run)
    assert run.output == "send to anna: 42 / 80"
    assert (DONE, len(model.seen)) == ([("send", "anna", 42)], 3)


def test_a_gate_in_a_loop_asks_once_for_each_round_and_does_nothing_twice(desk: Desk):
    model = scripted(
        "for n in range(4):\n    look_up(str(n))\n    send(str(n), n)", "final_answer('done')"
    )
    run = begun(desk, writer(model), "Go")
    assert approve_all(desk, run) == 4
    assert (run.output, DONE) == ("done", [("send", str(n), n) for n in range(4)])


@pytest.mark.parametrize(
    "call", ["pay('anna', 5)", "pay('anna', amount=5)", "pay(to='anna')", "pay({'to': 'anna'})"]
)
@pytest.mark.parametrize("kind", ["function", "generic"])
def test_tools_of_every_make_are_asked_for_with_all_of_their_arguments_by_name(
    local: Desk, call: str, kind: str
):
    @tool
    def pay(to: str, amount: int = 5) -> str:
        """Pay.

        Args:
            to: Who.
            amount: How much.
        """
        DONE.append((to, amount))
        return "paid"

    class Generic(Tool):
        """As tools of other frameworks are wrapped."""

        name, description, output_type = "pay", "Pay.", "string"
        inputs: ClassVar[dict[str, Any]] = pay.inputs
        skip_forward_signature_validation = True

        def forward(self, *args: Any, **kwargs: Any) -> str:
            return str(pay(*args, **kwargs))

    made = pay if kind == "function" else Generic()
    model = scripted(f"final_answer({call})")
    run = begun(local, writer(model, made, confirm=["pay"]), "Go")
    args = ask_of(run).args
    assert args["to"] == "anna"
    assert args.get("amount", 5) == 5
    assert kind == "generic" or set(args) == {"to", "amount"}
    approved(local, run)
    assert (run.output, DONE) == ("paid", [("anna", 5)])


SWALLOWING = {
    "except Exception": "try:\n    send('a')\nexcept Exception:\n    pass\nsend('b')",
    "bare except": "try:\n    send('a')\nexcept:\n    send('c')\nsend('b')",
    "finally acts": "try:\n    send('a')\nfinally:\n    quick('b')\n",
    "finally returns": (
        "def f():\n    try:\n        return send('a')\n    finally:\n        return 'swallowed'\n"
        "x = f()\nquick(x)\nfinal_answer(x)"
    ),
    "loop": (
        "for n in range(3):\n    try:\n        send('a')\n    except:\n        continue\nquick('b')"
    ),
}


@pytest.mark.parametrize("how", SWALLOWING)
def test_code_that_swallows_the_pause_does_nothing_more_until_people_have_decided(
    desk: Desk, how: str
):
    model = scripted(SWALLOWING[how], "final_answer('end')")
    run = begun(desk, writer(model, Note(DONE), Note(DONE, "quick")), "Go")
    assert (run.status, DONE, len(model.seen)) == ("waiting", [], 1)
    assert ask_of(run).args["to"] == "a"
    approved(desk, run)
    assert DONE[0] == ("send", "a", None)
    assert len([call for call in DONE if call == ("send", "a", None)]) == 1


POOL = (
    "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(3) as pool:\n    came = list(pool.map(send, ['a', 'b', 'a']))\n"
    "final_answer(came)"
)
THREADS = (
    "import threading\nfor who in order:\n    thread = threading.Thread(target=send, args=(who,))\n"
    "    thread.start()\n    thread.join()\nfinal_answer('end')"
)


def with_threads(block: str, orders: Any) -> Any:
    agent = coder(
        scripted(block),
        Note(DONE),
        additional_authorized_imports=["threading", "concurrent.futures"],
    )
    agent.state["order"] = next(orders)
    return agent


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("confirm", [[], ["send"]], ids=["alone", "asked"])
def test_calls_from_threads_wait_for_one_another_and_each_is_made_once(
    local: Desk, confirm: list[str]
):
    agent = Smol("writer", lambda: with_threads(POOL, itertools.repeat([])), confirm=confirm)
    run = begun(local, agent, "Go")
    assert approve_all(local, run) == len(confirm) * 3
    assert run.output == [f"send to {who}: None" for who in "aba"], run.error
    assert sorted(DONE) == [("send", who, None) for who in "aab"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_threads_that_come_in_another_order_at_a_replay_meet_their_own_calls(local: Desk):
    orders = itertools.cycle(["abc", "cab", "bca"])
    run = begun(
        local, Smol("writer", lambda: with_threads(THREADS, orders), confirm=["send"]), "Go"
    )
    approve_all(local, run)
    assert run.output == "end", run.error
    assert sorted(DONE) == [("send", who, None) for who in "abc"]


def test_what_the_policy_denies_is_not_done_and_the_code_hears_it(sqlite: Place):
    policy = Policy(rules=(Rule(name="nobody", tools="send", when="true", effect="deny"),))
    model = scripted(
        "try:\n    send('a')\nexcept Exception as error:\n    print(error)", "final_answer('end')"
    )
    with Desk(sqlite.url, policy=policy, account="sam@till") as desk:
        run = begun(desk, writer(model, confirm=()), "Go")
        assert (run.output, DONE) == ("end", [])
        assert "Not carried out: The policy denies" in shown(model.seen[-1])


def test_a_rejected_call_stops_the_code_and_says_why_and_what_was_done_before_it(desk: Desk):
    model = scripted("send('a')\nsend('b')\nquick('c')", "final_answer('end')")
    run = begun(desk, writer(model, Note(DONE), Note(DONE, "quick")), "Go")
    edited(desk, run, {"to": "z"})
    rejected(desk, run, "Not him")
    assert (run.output, DONE) == ("end", [("send", "z", None)]), "the code did not go on"
    told = shown(model.seen[-1])
    assert "sam said no: Not him." in told
    assert "sam changed this call of send to (to='z', amount=None)" in told
    assert "Carried out before that: send (to='z', amount=None)" in told


def test_an_answer_instead_and_a_question_reach_the_code(desk: Desk):
    model = scripted(
        "try:\n    send('a')\nexcept Exception as error:\n    print(error)\n"
        "colour = user_input('Which colour?')\nfinal_answer(colour)"
    )
    run = begun(desk, writer(model), "Go")
    answered(desk, run, "Not needed")
    answered(desk, run, "green", "Which colour?")
    assert run.output == "green"


def test_code_meets_the_error_of_a_tool_by_its_name_also_at_a_replay(desk: Desk):
    def fails(what: str) -> Any:
        DONE.append(what)
        raise KeyError("nothing there") if what == "x" else LookupError("odd")

    model = scripted(
        "for what in ('x', 'y'):\n    try:\n        look_up(what)\n    except KeyError as error:\n"
        "        print('missing', error)\n    except LookupError:\n        print('odd one')\n"
        "send('a')",
        "final_answer('end')",
    )
    run = begun(desk, writer(model, Note(DONE), Gives(fails)), "Go")
    approved(desk, run)
    assert (run.output, DONE) == ("end", ["x", "y", ("send", "a", None)])
    assert "missing 'nothing there'" in shown(model.seen[-1])
    assert "odd one" in shown(model.seen[-1])


TIMES = {
    "time.time": "import time\nx = str(time.time()) + time.strftime('%H:%M:%S') + time.ctime()",
    "counters": "import time\nx = str([time.perf_counter(), time.monotonic(), time.monotonic_ns()])",
    "from time": "from time import time as t, strftime\nx = str(t()) + strftime('%H:%M:%S')",
    "datetime": (
        "import datetime\nx = str(datetime.datetime.now()) + str(datetime.date.today())"
        " + str(datetime.datetime.now(datetime.timezone.utc))"
    ),
    "from datetime": "from datetime import datetime as d\nx = d.now().isoformat() + str(d.utcnow())",
    "random": "import random\nx = str(random.random()) + str(random.sample(range(9), 4))",
    "from random": "from random import choice, randint\nx = str(randint(0, 10**9)) + choice('abcdef')",
    "in a function": "def f():\n    import random\n    return str(random.random())\nx = f() + f()",
}


@pytest.mark.parametrize("how", TIMES)
def test_time_and_chance_in_a_call_are_the_same_at_every_replay(live: Desk, how: str):
    model = scripted(f"{TIMES[how]}\nsent = send(x)\nfinal_answer([x, sent])")
    run = begun(live, writer(model), "Go")
    asked = ask_of(run).args["to"]
    approved(live, run)
    assert run.status == "done", run.error
    assert run.output == [asked, f"send to {asked}: None"]


def test_steady_time_is_the_time_of_the_block_and_makes_real_values(live: Desk):
    model = scripted(
        "from datetime import datetime, date, timedelta\nimport time\n"
        "a = datetime(2020, 1, 2)\nb = datetime.fromisoformat('2020-01-03')\n"
        "ok = [isinstance(a, datetime), isinstance(datetime.now(), datetime), (b - a).days == 1,\n"
        "      isinstance(date.today(), date), datetime.strptime('1', '%d') < datetime.now(),\n"
        "      abs(time.time() - datetime.now().timestamp()) < 1, time.gmtime(0).tm_year == 1970,\n"
        "      abs(time.mktime(time.localtime()) - time.time()) < 5]\n"
        "final_answer([ok, time.time()])"
    )
    run = begun(live, writer(model), "Go")
    assert run.status == "done", run.error
    ok, at = run.output
    assert ok == [True] * 8
    assert abs(at - live.store.now().timestamp()) < 600


def test_code_that_polls_the_clock_comes_to_an_end_and_time_never_goes_back(local: Desk):
    model = scripted(
        "import time\nbegan, rounds = time.time(), 0\n"
        "while time.time() - began < 5:\n    rounds += 1\n"
        "end = time.monotonic()",
        "from time import sleep\nbefore = time.monotonic()\nsleep(0.01)\nafter = time.monotonic()\n"
        "final_answer([rounds, before > end, after - before >= 0.01])",
    )
    rounds, forward, slept = begun(local, writer(model), "Go").output
    assert 1000 < rounds < 10000
    assert (forward, slept) == (True, True)


def test_two_runs_have_different_luck(local: Desk):
    model = scripted("import random\nfinal_answer(random.random())")
    outputs = {begun(local, writer(model), "Go").output for _ in range(3)}
    assert len(outputs) == 3


def test_arguments_that_differ_at_a_replay_park_the_run_with_a_helpful_word(local: Desk):
    odd = itertools.count()

    def build() -> Any:  # its number is another one each time, as the order of a set may be
        agent = coder(scripted("send('anna', n)"), Note(DONE))
        agent.state["n"] = next(odd)
        return agent

    run = begun(local, Smol("writer", build, confirm=["send"]), "Go")
    approved(local, run)
    assert (run.status, DONE) == ("parked", [])
    assert "amount of send was 0, it is now 1" in (run.error or "")
    assert "code that a model wrote" in (run.error or "")
    assert "PYTHONHASHSEED" in (run.error or "")


class Stopwatch:
    """A clock that only a tool moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


def test_a_block_that_took_too_long_took_too_long_at_every_replay(
    local: Desk, monkeypatch: pytest.MonkeyPatch
):
    watch = Stopwatch()
    monkeypatch.setattr(blocks, "time", watch)

    def slow(what: str) -> str:
        watch.seconds += 31
        return what

    def think(texts: list[str]) -> Any:
        if steps_taken(texts) == 0:
            return code("look_up('slow')\nfinal_answer('too late')")
        return code("send('a')\nfinal_answer('in time')")

    model = Thinks(think)

    def build() -> Any:
        agent = coder(model, Note(DONE), Gives(slow))
        agent.python_executor.timeout_seconds = 30
        return agent

    run = begun(local, Smol("writer", build, confirm=["send"]), "Go")
    approved(local, run)
    assert (run.status, run.output) == ("done", "in time"), run.error
    assert "longer than the 30 seconds" in shown(model.seen[1])


# --- code that people see before it runs ---


def test_code_is_seen_before_it_runs_and_runs_as_it_was_changed(desk: Desk):
    model = scripted("send('anna', 500)", "final_answer('end')")
    run = begun(desk, writer(model, confirm=(), review=("code",)), "Go")
    ask = ask_of(run)
    assert (ask.tool, ask.args, DONE) == ("python_interpreter", {"code": "send('anna', 500)"}, [])
    desk.edit(ask, {"code": "send('anna', 300)"})
    carried_on(desk, run)
    assert DONE == [("send", "anna", 300)]
    approved(desk, run)
    assert (run.output, len(model.seen)) == ("end", 2)
    assert "500" not in shown(model.seen[1])
    assert "300" in shown(model.seen[1])


@pytest.mark.parametrize("verdict", ["reject", "respond"])
def test_code_that_people_do_not_want_does_not_run_and_the_model_hears_why(
    desk: Desk, verdict: str
):
    model = scripted("send('anna')", "final_answer('end')")
    run = begun(desk, writer(model, confirm=(), review=("code",)), "Go")
    getattr(desk, verdict)(ask_of(run), "Not to her")
    carried_on(desk, run)
    approved(desk, run)
    assert (run.output, DONE) == ("end", [])
    assert "Not to her" in shown(model.seen[1])
