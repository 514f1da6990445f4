"""`sayso run`: an agent in the foreground, in processes of its own, at real terminals and in pipes."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.runs.ambient import AMBIENT
from tests import hostile
from tests.cli.conftest import AtTerminal, Sayso, Started
from tests.forked import Forked
from tests.places import Place
from tests.together import until

# The model reads what it is shown: it follows the plan in force, and calls what the task names.
AGENT = r"""
import time
from pathlib import Path
import sayso
from sayso.agent import Reply, Usage, call

def here(name):
    if Path(f"hold-{name}").exists():      # a test wants to look while this goes on
        Path(f"in-{name}").touch()
        while Path(f"hold-{name}").exists():
            time.sleep(0.01)

def search(query: str) -> str:
    "Search the web."
    print("searching for", query)
    with open("searched", "a") as file:
        file.write(query + "\n")
    here("search")
    return f"2 pages on {query}"

@sayso.tool(risk="high", affects="customers")
def send(subject: str) -> str:
    "Send a newsletter."
    with open("sent", "a") as file:
        file.write(subject + "\n")
    return f"sent {subject}"

PLAN = [
    {"title": "Look for news", "tool": "search", "detail": "of this week"},
    "Choose the best",
    {"title": "Send it", "tool": "send"},
]

def script(messages, tools):
    if tools == ("plan",):
        return PLAN
    results = [m.text for m in messages if m.role == "tool"]
    plans = [m.text for m in messages if m.role == "user" and "this plan" in m.text]
    if not results:
        return Reply(text="I look around first.", calls=(call("search", query="AI"),),
                     usage=Usage(1000, 20, 0.5))
    if len(results) == 1:
        return call("send", subject="News")
    return "Done: " + " | ".join(results) + (" | " + plans[-1] if plans else "")

class Model(sayso.ScriptedModel):
    def reply(self, prompt):
        with open("thought", "a") as file:
            file.write(".")
        here("model")
        return super().reply(prompt)

"""
PLANNED = AGENT + 'growth = sayso.Agent("growth", Model(script), [search, send], plan_every=9)\n'
PLAIN = AGENT + 'growth = sayso.Agent("growth", Model(script), [search, send])\n'
DESK = "desk = sayso.Desk()\n"

Program = Callable[[str], Path]


@pytest.fixture
def program(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """Write a program into this folder; a command in this process imports it for one test only."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(AMBIENT)

    def write(text: str) -> Path:
        sys.modules.pop("team", None)
        file = here / "team.py"
        file.write_text(text)
        return file

    yield write
    sys.modules.pop("team", None)
    for name in set(AMBIENT) - before:  # every desk of this process would serve its agents
        AMBIENT.pop(name, None)


def ended(process: Forked) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.wait(), out, err


def heard(process: Forked, wanted: str) -> str:
    """Return what a process says on stderr, up to the line with this in it."""
    assert process.stderr is not None
    said = ""
    while wanted not in said:
        line = process.stderr.readline()
        assert line, f"{wanted!r} was not said:\n{said}"
        said += line
    return said


def approve_all(desk: Desk, *, asks: int) -> None:
    """Approve so many asks of somebody else's process, one after the other."""
    for _ in range(asks):
        until(lambda: len(desk.inbox()) > 0)
        desk.approve(desk.inbox().asks[0])


# --- at a terminal -----------------------------------------------------------------------------


def test_an_agent_is_given_a_task_and_its_person_sits_right_there(
    at_terminal: AtTerminal, program: Program, here: Path, desk: Desk
) -> None:
    program(PLANNED + DESK)

    with at_terminal("run", "team:growth", "Tell the customers") as terminal:
        plan = terminal.wait_for("Your choice (1-4): ")
        terminal.type("1")
        card = terminal.wait_for("Your choice (1-5): ")
        terminal.type("a")
        terminal.wait_for("is done: 4 model calls, ")
        terminal.wait_for("Done: 2 pages on AI | sent News")

    assert (
        "1. Look for news [search]\n   │ of this week\n2. Choose the best\n3. Send it [send]"
        in plan
    )
    assert '✓ search(query="AI"): "2 pages on AI"' in card
    assert 'subject  "News"' in card
    assert (here / "sent").read_text() == "News\n"
    assert [run.status for run in desk.runs()] == ["done"]


def test_the_moving_line_says_what_is_done_now_and_never_wraps(
    at_terminal: AtTerminal, program: Program, here: Path
) -> None:
    program(PLANNED.replace('query="AI"', 'query="AI " * 40') + DESK)
    (here / "hold-model").touch()
    (here / "hold-search").touch()

    with at_terminal("run", "team", "Tell the customers", ends=130) as terminal:
        terminal.wait_for("thinking")
        (here / "hold-model").unlink()
        terminal.answer("Your choice (1-4): ", "1")
        terminal.wait_for('search(query="AI AI')
        terminal.wait_for("1/3 Look for news")
        (here / "hold-search").unlink()
        terminal.wait_for("✓ search(")
        terminal.wait_for("Your choice (1-5): ")
        drawn = re.split(r"\r|\n|\x1b\[2K|\x1b\[1A", terminal.raw)
        terminal.press(b"\x03")

    plain = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in drawn]
    assert max(map(len, plain)) <= 80
    assert any(len(line) > 60 for line in plain if "Look for news" in line)


def test_hostile_words_of_an_agent_are_visible_wherever_they_show(
    at_terminal: AtTerminal, program: Program
) -> None:
    evil = hostile.FAKED + hostile.ALL
    program(
        AGENT + f"EVIL = {evil!r}\n"
        "def tell(word: str) -> str:\n    'Tell.'\n    return word\n"
        "def script(messages):\n"
        "    results = [m for m in messages if m.role == 'tool']\n"
        "    calls = (call('tell', word=EVIL), call(EVIL[:99], **{EVIL[:99]: 1}))\n"
        "    return EVIL if results else Reply(text=EVIL, calls=calls)\n"
        "growth = sayso.Agent('growth', Model(script), [tell])\n" + DESK
    )
    for volume in ("-v", "-q", "--desk=sayso.db"):
        with at_terminal("run", "team", "Tell", volume, ends=None) as terminal:
            assert terminal.ended() == 0
            terminal.drain()

        assert not [char for char in hostile.raw_in(terminal.text) if char != "\x1b"]
        assert "\x1b[31mred" not in terminal.raw
        assert "[U+202E RIGHT-TO-LEFT OVERRIDE]" in terminal.text
        own = terminal.text.partition(" is done")[0]  # the answer may have lines as it likes
        assert "\nDecision" not in own if volume != "-q" else True
        assert "\nChoose an option:" not in own if volume != "-q" else True


# --- pausing -----------------------------------------------------------------------------------


def test_ctrl_c_leaves_a_model_that_thinks_at_once_and_the_run_goes_on_later(
    at_terminal: AtTerminal, program: Program, here: Path, desk: Desk, sayso: Sayso
) -> None:
    program(PLAIN + DESK)
    (here / "hold-model").touch()
    with at_terminal("run", "team", "Tell the customers", ends=130) as terminal:
        until(lambda: (here / "in-model").exists())
        terminal.press(b"\x03")
        (run,) = until(desk.runs)
        terminal.wait_for(f"Left: {run.id} is ready, and any worker goes on with it.")
        terminal.wait_for(f"Go on with it here: sayso runs resume {run.id}")
    assert run.status == "ready"
    (here / "hold-model").unlink()

    with at_terminal("runs", "resume", run.id) as terminal:
        terminal.wait_for('✓ search(query="AI"): "2 pages on AI"')
        terminal.answer("Your choice (1-5): ", "a")
        terminal.wait_for("Done: 2 pages on AI | sent News")

    assert (here / "thought").read_text() == "...."  # the one that was left, and three replies


def test_ctrl_c_lets_a_tool_come_to_its_end_and_begins_no_other(
    at_terminal: AtTerminal, program: Program, here: Path, desk: Desk
) -> None:
    both = '(call("search", query="AI"), call("search", query="more"))'
    program(PLAIN.replace('(call("search", query="AI"),)', both) + DESK)
    (here / "hold-search").touch()
    with at_terminal("run", "team", "Tell the customers", ends=130) as terminal:
        until(lambda: (here / "in-search").exists())
        terminal.press(b"\x03")
        terminal.wait_for("pausing after this: search")
        (here / "hold-search").unlink()
        terminal.wait_for("Left: ")
    (run,) = desk.runs()
    assert run.status == "ready"
    assert (here / "searched").read_text() == "AI\n"

    with at_terminal("runs", "resume", run.id) as terminal:
        terminal.wait_for("Done: 2 pages on AI | 2 pages on more")
    assert (here / "searched").read_text() == "AI\nmore\n"
    assert run.asks == []  # nobody had to say whether it happened


def test_a_second_ctrl_c_leaves_at_once_and_people_are_asked_what_happened(
    at_terminal: AtTerminal, program: Program, here: Path, desk: Desk
) -> None:
    program(PLAIN + DESK)
    (here / "hold-search").touch()
    with at_terminal("run", "team", "Tell the customers", ends=130) as terminal:
        until(lambda: (here / "in-search").exists())
        terminal.press(b"\x03")
        terminal.wait_for("pausing after this: search")
        time.sleep(0.6)  # what comes sooner is taken for the same wish
        terminal.press(b"\x03")
        terminal.wait_for("Left: ")
    (run,) = desk.runs()
    assert run.status == "ready"
    (here / "hold-search").unlink()

    with at_terminal("runs", "resume", run.id, ends=130) as terminal:
        terminal.wait_for("doubt, open")
        terminal.press(b"\x03")
    assert [ask.kind for ask in run.asks] == ["doubt"]


# --- in a pipe ---------------------------------------------------------------------------------


def test_only_the_answer_goes_to_stdout(place: Place, program: Program, started: Started) -> None:
    program(PLAIN + 'print("imported")\n' + DESK)
    process = started("run", "team", "Tell", "the", "customers", SAYSO_URL=place.url)
    with Desk(place.url) as desk:
        err = heard(process, " waits for 1 reviewer: ")
        approve_all(desk, asks=1)
        (run,) = desk.runs()
        assert run.memory.steps[0].task == "Tell the customers"  # type: ignore[union-attr]
        (ask,) = run.asks
        code, out, rest = ended(process)
    err += rest

    assert (code, out) == (0, "Done: 2 pages on AI | sent News\n")
    assert err.startswith("imported\n")
    assert "searching for AI" in err  # what tools print is not the answer either
    assert f"sayso: {ask.id} waits for 1 reviewer: send(subject=" in err
    assert '✓ search(query="AI"): "2 pages on AI"\n' in err
    assert f"✓ {run.id} is done: 3 model calls, " in err
    assert "\x1b" not in out + err


def test_quiet_says_only_what_waits(program: Program, started: Started, desk: Desk) -> None:
    program(PLAIN + DESK)
    process = started("run", "team", "Tell the customers", "-q")
    err = heard(process, "sayso: ")
    approve_all(desk, asks=1)
    code, out, rest = ended(process)

    assert (code, out) == (0, "Done: 2 pages on AI | sent News\n")
    words = [line.partition(" ")[0] for line in (err + rest).splitlines()]
    assert words == ["searching", "sayso:"]  # what the tool printed, and the question


def test_verbose_says_all_that_the_model_writes_and_all_that_comes_of_it(
    program: Program, started: Started, desk: Desk
) -> None:
    program(PLAIN.replace('f"2 pages on {query}"', '"page " * 100') + DESK)
    process = started("run", "team", "Tell the customers", "-v")
    approve_all(desk, asks=1)
    code, _, err = ended(process)

    assert code == 0
    assert "\n│ I look around first.\n" in err
    assert '\n▶ search(query="AI")\n' in err
    assert '\n✓ search\n  query  "AI"\n  result  text, 500 characters:\n  │ page page' in err
    assert err.count("page") >= 200  # as a result, and in the answer
    assert "…" not in err.partition("✓ search")[2].partition("sayso:")[0]


def test_json_is_for_scripts(program: Program, started: Started, desk: Desk) -> None:
    program(PLAIN + DESK)
    process = started("run", "team", "Tell the customers", "--json")
    approve_all(desk, asks=1)
    code, out, _ = ended(process)
    said = json.loads(out)

    assert code == 0
    assert said["status"] == "done"
    assert said["output"] == "Done: 2 pages on AI | sent News"
    assert said["usage"]["calls"] == 3
    assert said["usage"]["tokens"] == said["usage"]["input"] + said["usage"]["output"] >= 1020


def test_the_answer_in_a_file_is_what_the_agent_said_but_cannot_act_on_a_screen(
    program: Program, started: Started
) -> None:
    text = "R\u200dtl \u202eok\x1b[2K\x07\r\nnew \x9bline\n"
    program(AGENT + f"growth = sayso.Agent('growth', sayso.ScriptedModel([{text!r}]))\n")
    _, out, _ = ended(started("run", "team", "x"))

    assert out == (
        "R\u200dtl \u202eok[U+001B ESCAPE][2K[U+0007 BELL]\n"
        "new [U+009B CONTROL SEQUENCE INTRODUCER]line\n"
    )


# --- in the background -------------------------------------------------------------------------


def test_in_the_background_it_is_started_and_says_who_will_carry_it_on(
    program: Program, started: Started, desk: Desk
) -> None:
    program(PLAIN + DESK)
    code, out, err = ended(started("run", "team:growth", "Tell", "--background"))
    (run,) = desk.runs()

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{run.id} is started.",
        "No worker serves `growth`; start one: sayso worker team",
        f"Look at it:   sayso runs show {run.id}",
        f"Decide on it: sayso inbox --run {run.id}, or sayso top",
        f"Be with it:   sayso runs resume {run.id}",
    ]
    assert [one.status for one in desk.runs()] == ["ready"]

    worker = started("worker", "team", "-v", "--until-idle")
    code, told, _ = ended(worker)
    assert code == 0
    assert run.status == "waiting"
    assert f"{run.id}  growth says" in told
    assert f'{run.id}    search(query="AI") began in' in told


# --- what is run, and where --------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["team", "team:growth", "team:agent", "team.py", "team.py:agent", "./team.py:growth"]
)
def test_an_agent_is_found_by_its_program_and_its_name(
    program: Program, sayso: Sayso, target: str, here: Path
) -> None:
    program("import sayso\nagent = same = sayso.Agent('growth', sayso.ScriptedModel(['Yes.']))\n")
    done = sayso("run", target, "Well?")

    assert (done.code, done.out) == (0, "Yes.\n"), done.err
    assert (here / "sayso.db").exists()  # the desk that people get where a program names none


TWO = """
import sayso
one = sayso.Agent("first", sayso.ScriptedModel(["1"]))
two = sayso.Agent("second", sayso.ScriptedModel(["2"]))
desk = sayso.Desk()
@desk.workflow
def flow(run): ...
"""
NONE = "import sayso\ndesk = sayso.Desk()\n"


@pytest.mark.parametrize(
    ("text", "target", "words"),
    [
        (
            TWO,
            "team",
            "team has several; say which one: team:one (agent), team:two (agent), team:flow "
            "(workflow).",
        ),
        (
            TWO,
            "team:three",
            "team:three is no agent: there is nothing of that name in team. It has:",
        ),
        (TWO, "team:desk", "team:desk is no agent: it is a Desk in team. It has: team:one (agent)"),
        (NONE, "team", "team has no agent and no workflow. It needs a line such as: agent = "),
    ],
)
def test_what_cannot_be_run_is_told_with_what_there_is(
    program: Program, sayso: Sayso, text: str, target: str, words: str
) -> None:
    program(text)
    done = sayso("run", target, "x")

    assert (done.code, done.out) == (1, "")
    assert words in done.err


def test_an_agent_needs_a_task(program: Program, sayso: Sayso) -> None:
    program(TWO)

    assert sayso("run", "team:one", " ").err == (
        'sayso: Say what team:one should do: sayso run team:one "TASK"\n'
    )


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["7"], '{"note": null, "order": 7, "who": "7"}\n'),
        (["[1, 2]", "true", "x y"], '{"note": "x y", "order": [1, 2], "who": "true"}\n'),
    ],
)
def test_a_workflow_is_run_with_what_it_takes(
    program: Program, sayso: Sayso, words: list[str], out: str
) -> None:
    program(
        NONE + "@desk.workflow\ndef flow(run, order, who: str = '7', note=None):\n"
        "    return run.step(dict, order=order, who=who, note=note)\n"
    )

    assert sayso("run", "team:flow", *words).out == out
    done = sayso("run", "team:flow")
    assert done.code == 1
    assert (
        "team:flow takes order, who: str = '7', note=None: missing a required argument" in done.err
    )


def test_a_program_without_a_desk_takes_the_one_it_is_told(
    program: Program, sayso: Sayso, here: Path
) -> None:
    program("import sayso\nagent = sayso.Agent('growth', sayso.ScriptedModel(['Yes.']))\n")
    done = sayso("run", "team", "x", "--desk", "other.db")

    assert (done.code, done.out) == (0, "Yes.\n"), done.err
    assert (here / "other.db").exists()
    assert not (here / "sayso.db").exists()


def test_with_several_desks_the_address_says_which_one(program: Program, sayso: Sayso) -> None:
    program(
        "import sayso\nagent = sayso.Agent('growth', sayso.ScriptedModel(['Yes.']))\n"
        "a, b = sayso.Desk('sqlite:///a.db'), sayso.Desk('sqlite:///b.db')\n"
    )

    several = "team has several desks (a, b); say which: --desk URL."
    assert several in sayso("run", "team", "x").err
    assert sayso("run", "team", "x", "--desk", "b.db").out == "Yes.\n"


def test_a_thread_goes_on_or_starts_afresh(program: Program, sayso: Sayso) -> None:
    program(
        AGENT + "def script(messages):\n"
        "    return ' / '.join(m.text for m in messages if m.role != 'system')\n"
        "growth = sayso.Agent('growth', sayso.ScriptedModel(script))\n" + DESK
    )

    def run(task: str, *more: str) -> str:
        return sayso("run", "team", task, "--thread", "news", *more).out

    assert run("one") == "one\n"
    assert run("two") == "one / one / two\n"
    assert run("three", "--fresh") == "three\n"
    assert run("four") == "three / three / four\n"


# --- limits, and what the journal tells --------------------------------------------------------


def test_a_run_at_its_limit_says_what_a_retry_grants_and_the_retry_grants_it(
    program: Program, started: Started, desk: Desk
) -> None:
    program(PLAIN.replace("[search, send])", "[search, send], max_steps=1)") + DESK)
    code, out, err = ended(started("run", "team", "Tell the customers"))
    (run,) = desk.runs()

    assert (code, out) == (1, "")
    assert f"■ {run.id} is parked: growth has reached a limit: " in err
    assert f"\n  give it as much again: sayso runs retry {run.id}\n" in err

    code, out, err = ended(started("runs", "retry", run.id, "--go"))
    assert code == 0
    assert run.status == "waiting"
    assert f"◷ {run.id} waits for people:" in out
    desk.approve(run.asks[0])
    assert ended(started("runs", "resume", run.id))[0] == 1

    code, out, _ = ended(started("runs", "retry", run.id))
    assert out.startswith(
        f"{run.id} goes on from where it stood, with as much again as it was given.\n"
    )
    assert ended(started("runs", "resume", run.id))[:2] == (0, "Done: 2 pages on AI | sent News\n")


def test_a_run_tells_its_plan_its_calls_and_what_its_model_took(
    program: Program, started: Started, desk: Desk, sayso: Sayso
) -> None:
    program(PLANNED + DESK)
    process = started("run", "team", "Tell the customers")
    approve_all(desk, asks=1)
    until(lambda: desk.runs()[0].status == "waiting" and len(desk.inbox()) == 1)
    (run,) = desk.runs()
    who = run.asks[0].decision.by.id  # type: ignore[union-attr]

    told = sayso("runs", "show", run.id).out

    assert (
        f"Plan      approved by {who}\n"
        "          ✓ 1. Look for news [search]\n"
        "          ▶ 2. Choose the best\n"
        "          · 3. Send it [send]\n"
    ) in told
    tokens = run.usage.tokens
    assert f"Used      3 model calls, {tokens:,} tokens\n" in told
    story = [line[10:] for line in told.splitlines() if re.match(r"\d\d:\d\d:\d\d", line)]
    assert [re.sub(r"a-\w+", "ASK", line) for line in story] == [
        'growth started growth("Tell the customers")',
        f"  growth wants a plan reviewed, 3 steps  {usage(run, 0)} tokens",
        "  asked ASK, plan: Plan of growth: Tell the cust…: 3 steps, 1.",
        f"  {who} approved ASK",
        'growth says "I look around first." and wants search(query="AI")  1,020',
        '  search(query="AI"): "2 pages on AI"',
        f'growth wants send(subject="News")  {usage(run, 2)} tokens',
        '  asked ASK, action: send(subject="News")',
    ]
    approve_all(desk, asks=1)
    assert ended(process)[0] == 0
    assert "✓ 3. Send it [send]" in sayso("runs", "show", run.id).out


def usage(run: Any, number: int) -> int:
    replies = [e.payload["result"] for e in run.events if e.payload.get("verb") == "model"]
    return sum(replies[number]["usage"][name] for name in ("input", "output"))


def test_a_call_that_has_no_end_yet_and_one_that_was_never_made_are_told(
    program: Program, started: Started, desk: Desk, here: Path, sayso: Sayso
) -> None:
    program(
        PLAIN.replace(
            'calls=(call("search"', 'calls=(call("rm\\n00:00:00  done", x=1), call("search"'
        )
        + DESK
    )
    (here / "hold-search").touch()
    started("run", "team", "Tell the customers")
    until(lambda: (here / "in-search").exists())
    (run,) = desk.runs()

    told = sayso("runs", "show", run.id).out

    lines = [line[10:] for line in told.splitlines()]
    assert any(line.startswith('  search(query="AI") began in ') for line in lines)
    assert any(
        line.startswith('  "rm\\n00:00:00  done" was not made: UnknownTool: There is no')
        for line in lines
    )
    assert not any(line.startswith("00:00:00") for line in told.splitlines())
    assert run.usage.calls == 1
    assert run.usage.cost == 0.5
    assert (run.usage.input, run.usage.output) == (1000, 20)


def test_a_run_without_a_model_has_used_nothing(app: Any, sayso: Sayso) -> None:
    run = app.desk.run(app.support, 7, wait=False)

    assert (run.usage.calls, run.usage.tokens, run.usage.cost) == (0, 0, None)
    assert "Used" not in sayso("runs", "show", run.id).out
    assert sayso("runs", "show", run.id, "--json").json["usage"] is None


def test_callbacks_and_their_reviews_are_told(
    program: Program, started: Started, desk: Desk, sayso: Sayso
) -> None:
    program(
        AGENT
        + "def look(step):\n    return 'Is that so?' if type(step).__name__ == 'AnswerStep' else None\n"
        "growth = sayso.Agent('growth', sayso.ScriptedModel(['Yes.']), on_step=look)\n" + DESK
    )
    process = started("run", "team", "Well?")
    approve_all(desk, asks=1)
    assert ended(process)[0] == 0

    told = sayso("runs", "show", desk.runs()[0].id).out

    assert "  told look\n" in told
    assert 'told look, which wants a review: "Is that so?"' in told


def test_a_model_that_is_not_there_is_told_while_it_is_waited_for(
    program: Program, started: Started
) -> None:
    program(
        AGENT + "from sayso.errors import ModelUnavailable\n"
        "def script(messages):\n"
        "    try: open('first', 'x')\n"
        "    except FileExistsError: return 'Yes.'\n"
        "    raise ModelUnavailable('busy \\x1b[2K', after=0.01)\n"
        "growth = sayso.Agent('growth', sayso.ScriptedModel(script))\n" + DESK
    )
    code, out, err = ended(started("run", "team", "Well?"))

    assert (code, out) == (0, "Yes.\n")
    assert "◷ no reply from the model; trying again in 0 s: busy [U+001B ESCAPE][2K\n" in err


def test_a_screen_that_is_gone_does_no_harm_to_the_run(
    program: Program, started: Started, desk: Desk, here: Path
) -> None:
    program(PLAIN + DESK)
    (here / "hold-search").touch()
    process = started("run", "team", "Tell the customers", "-v")
    until(lambda: (here / "in-search").exists())
    assert process.stderr is not None
    process.stderr.close()
    (here / "hold-search").unlink()
    until(lambda: len(desk.inbox()) == 1)

    (run,) = desk.runs()
    assert [getattr(step, "error", None) for step in run.memory] == [None, None]


def test_an_agent_inside_is_named(program: Program, started: Started) -> None:
    program(
        AGENT
        + "inner = sayso.Agent('scout', sayso.ScriptedModel([call('search', query='x'), 'Found.']),"
        " [search])\n"
        "growth = sayso.Agent('growth', sayso.ScriptedModel([[call('scout', task='Look'), call('nope')], 'Done.']),"
        " [inner.as_tool()])\n" + DESK
    )
    code, _, err = ended(started("run", "team:growth", "Well?"))

    assert code == 0
    assert '✓ scout: search(query="x"): "2 pages on x"\n' in err
    assert "✗ nope(): UnknownTool: There is no such tool. There are: scout.\n" in err
    assert '✓ scout(task="Look"): "Found."\n' in err
