"""`sayso runs`, and `--go`: what runs did, and carrying them on from the command line."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.runs.steering import park_unread
from sayso.testing import FakeClock
from tests import forked, hostile
from tests.cli.conftest import PROGRAM, AtTerminal, Sayso, begun
from tests.places import Place
from tests.together import until


def seen(run: Any) -> tuple[str, ...]:
    """Name the ask a run waits for, as a script that has seen it does."""
    (ask,) = run.state.pending
    return ask.id, "--seen", ask.digest[:12]


# --- list --------------------------------------------------------------------------------------


def test_the_list_says_how_each_run_stands_and_what_about_it(app: Any, sayso: Sayso) -> None:
    waiting = begun(app, 7)
    done = begun(app, workflow="words")
    app.desk.respond(done.state.pending[0], "kind ones")
    app.desk.work(until="idle", only=done.id)
    failed = begun(app, workflow="fragile")
    ready = app.desk.start(app.words)

    lines = sayso("runs").out.splitlines()

    assert lines[0] == "desk: ./sayso.db, 4 runs, newest first"
    assert [line.split()[0] for line in lines[3:7]] == [
        r.id for r in (ready, failed, done, waiting)
    ]
    for line, wanted in zip(
        lines[3:7],
        (
            r"▷ ready    words     \d s  no worker serves words",
            r"✗ failed   fragile   \d s  StepFailed: break_down failed: ValueErro",
            r'✓ done     words     \d s  "kind ones"',
            r"◷ waiting  support   \d s  50% a-\w+ refund\(order=7, amount=40\)",
        ),
        strict=True,
    ):
        assert re.search(wanted, line)


def test_runs_are_listed_by_status_workflow_and_thread(app: Any, sayso: Sayso) -> None:
    first = begun(app, workflow="words", thread="12")
    second = begun(app, workflow="fragile")

    def listed(*args: str) -> list[str]:
        return [run["id"] for run in sayso("runs", "list", "--json", *args).json["runs"]]

    assert listed("--status", "waiting") == [first.id]
    assert listed("--workflow", "fragile") == [second.id]
    assert listed("--thread", "12") == [first.id]
    assert listed("--thread", "13") == []


def test_a_full_page_names_the_command_of_the_next_one(app: Any, sayso: Sayso) -> None:
    ids = [app.desk.start(app.words).id for _ in range(3)][::-1]

    page = sayso("runs", "list", "--limit", "2", "--workflow", "words").out
    command = page.splitlines()[-1].removeprefix("More: ").split()
    rest = sayso(*command[1:]).out

    assert command == f"sayso runs list --workflow words --limit 2 --before {ids[1]}".split()
    assert ids[2] in rest
    assert ids[0] not in rest


def test_a_desk_that_is_not_there_has_no_runs_and_is_not_made(here: Path, sayso: Sayso) -> None:
    done = sayso("runs")

    assert done.out.startswith("desk: ./sayso.db, 0 runs\nThere is no such file yet")
    assert sayso("runs", "list", "--json").json["runs"] == []
    assert not (here / "sayso.db").exists()


def test_a_narrow_screen_gets_two_lines_a_run(app: Any, sayso: Sayso) -> None:
    run = begun(app, 7)

    lines = sayso("runs", env={"COLUMNS": "40"}).out.splitlines()

    assert lines[2] == f"{run.id}  ◷ waiting  support"
    assert lines[3].startswith("  50% a-")
    assert max(map(len, lines[2:4])) <= 40


def test_a_run_whose_journal_was_changed_hides_no_other(app: Any, sayso: Sayso, here: Path) -> None:
    whole, changed = begun(app, 7), begun(app, 8)
    place = Place("sqlite", f"sqlite:///{here}/sayso.db")
    place.sql("update events set kind = 'ask.voted' where stream = ?", changed.asks[0].id)

    listed, shown = sayso("runs"), sayso("runs", "show", changed.id)
    records = sayso("runs", "list", "--json").json["runs"]

    assert listed.code == 0
    assert "refund(order=7, amount=40)" in listed.out
    assert f"{changed.id}  ◷ waiting" in listed.out
    assert (shown.code, "sayso audit verify" in shown.err) == (1, True)
    assert [record["id"] for record in records] == [changed.id, whole.id]
    assert "damaged" in records[0]
    assert "refund(order=7, amount=40)" in sayso("top", "--once").out


# --- show --------------------------------------------------------------------------------------


def test_a_run_is_told_from_its_start_to_how_it_stands(app: Any, sayso: Sayso) -> None:
    run = begun(app, 7, amount=40)
    refund = run.state.pending[0]
    app.desk.edit(refund, {"amount": 30}, note="half of it")
    app.desk.work(until="idle", only=run.id)
    words = run.state.pending[0]

    told = sayso("runs", "show", run.id).out
    story = [line[10:] for line in told.splitlines() if line[2:3] == ":" and line[5:6] == ":"]

    assert told.startswith(
        f"desk: ./sayso.db\n{run.id}  support  ◷ waiting\nCode      app:support\n"
    )
    assert "Progress  ██████████░░░░░░░░░░ 50%" in told
    expected = [
        f"{app.desk.forms.agent} started support(7, 40)",
        "progress 25% looking",
        'step look_up: {"order": 7, "paid": 40}',
        "progress 50%",
        f"asked {refund.id}, action: refund(order=7, amount=40)",
        f"edited {refund.id}: amount 40 -> 30",
        f'approved as edited {refund.id}, "half of it"',
        f"refund began in {app.desk.crew.name} ({refund.id})",
        'refund done: "paid 30 for 7"',
        f"asked {words.id}, question: Which words?",
    ]
    assert len(story) == len(expected)
    for line, wanted in zip(story, expected, strict=True):
        assert wanted in line
    assert told.splitlines()[-3:] == [
        f"◷ {run.id} waits for people:",
        f"  ○ {words.id}  Which words?",
        f"    -> sayso inbox respond {words.id} ANSWER --seen {words.digest[:12]} --go",
    ]


def test_the_pauses_are_told(sayso: Sayso, clock: FakeClock) -> None:
    with Desk("sqlite:///sayso.db", clock=clock, account="sam@till") as desk:

        @desk.workflow
        def ask(run: Any) -> Any:
            return run.question("Which words?")

        run = desk.start(ask)
        clock.advance("5m")
        desk.work(until="idle")
        clock.advance("2d")
        desk.respond(run.state.pending[0], "kind ones")
        desk.work(until="idle")
        ask_id = run.asks[0].id

    story = sayso("runs", "show", run.id).out.split("\n\n")[1]

    assert story.splitlines()[1:] == [
        "          5 min later",
        f"09:05:00  asked {ask_id}, question: Which words?",
        "          waited 2 days for a decision",
        "          Saturday, 2026-01-03",
        f'09:05:00  sam answered {ask_id}: "kind ones"',
        '09:05:00  done: "kind ones"',
    ]


def test_a_failed_run_says_why_and_what_to_do(app: Any, sayso: Sayso) -> None:
    run = begun(app, workflow="fragile")

    told = sayso("runs", "show", run.id)

    assert "step break_down failed: ValueError: broken for now" in told.out
    assert f"let it go on from there: sayso runs retry {run.id}" in told.out
    assert f"where it failed: sayso runs show {run.id} --full" in told.out
    assert "in break_down" not in told.out
    assert "in break_down" in sayso("runs", "show", run.id, "--full").out


def test_a_parked_run_says_why_and_what_to_do(app: Any, sayso: Sayso) -> None:
    run = begun(app, workflow="words")
    app.desk.respond(run.state.pending[0], "kind ones")

    app.WHICH = "Which other words?"  # the code changed while the run was waiting
    app.desk.work(until="idle", only=run.id)
    assert run.status == "parked"

    told = sayso("runs", "show", run.id).out

    assert "parked until a person looks at it:" in told
    assert f"■ {run.id} is parked: " in told
    assert f"let it go on from there: sayso runs retry {run.id}" in told
    assert f"or end it: sayso runs cancel {run.id}" in told
    assert re.search(r"■ parked  words +\d+ s  At step 1 the workflow", sayso("runs").out)


def test_nothing_an_agent_says_gets_onto_the_screen_as_it_is(desk: Desk, sayso: Sayso) -> None:
    @desk.workflow
    def flow(run: Any, text: str) -> Any:
        run.progress(0.5, hostile.ALL)
        run.step(lambda: hostile.ALL)
        return run.question(hostile.ALL)

    run = desk.start(flow, hostile.ALL)
    desk.work(until="idle")
    waiting = sayso("runs", "show", run.id).out + sayso("runs").out
    desk.respond(run.state.pending[0], hostile.ALL, note=hostile.ALL)
    desk.work(until="idle")
    done = sayso("runs", "show", run.id).out + sayso("runs").out + sayso("top", "--once").out

    assert run.status == "done"
    for text in (waiting, done):
        assert "[U+202E RIGHT-TO-LEFT OVERRIDE]" in text
        assert not set(text) & {"\u202e", "\x1b", "\x07", "\u200b"}


def test_the_middle_of_a_long_story_is_left_out_and_can_be_had(desk: Desk, sayso: Sayso) -> None:
    @desk.workflow
    def many(run: Any) -> None:
        for number in range(400):
            run.step(lambda number=number: number)

    run = desk.start(many)
    desk.work(until="idle")

    short, full = sayso("runs", "show", run.id).out, sayso("runs", "show", run.id, "--full").out

    assert "... 152 lines more: --full shows them" in short
    assert "<lambda>: 48" in short
    assert "<lambda>: 100" not in short
    assert "<lambda>: 399" in short
    assert "<lambda>: 100" in full


def test_a_script_gets_the_whole_journal_in_order(app: Any, sayso: Sayso) -> None:
    run = begun(app, 7)

    shown = sayso("runs", "show", run.id, "--json").json

    assert (shown["id"], shown["status"], shown["path"]) == (run.id, "waiting", "app:support")
    assert shown["input"] == {"args": [7], "kwargs": {}}
    assert shown["waits"] == shown["pending"] == [run.state.pending[0].id]
    assert [ask["tool"] for ask in shown["asks"]] == ["refund"]
    kinds = [event["kind"] for event in shown["events"]]
    assert kinds == ["run.started", "step.done", "step.done", "step.done", "ask.opened"]


def test_an_id_may_be_typed_as_it_is_read(app: Any, sayso: Sayso) -> None:
    run = begun(app, workflow="words")
    typed = run.id.removeprefix("r-").upper().replace("0", "O").replace("1", "L")

    assert f"{run.id}  words" in sayso("runs", "show", typed).out


@pytest.mark.parametrize("command", ["show", "resume", "cancel", "retry"])
def test_an_unknown_run_is_said_to_be_unknown(app: Any, sayso: Sayso, command: str) -> None:
    app.desk.sweep()

    done = sayso("runs", command, "r-nobody")

    assert done.code == 1
    assert "There is no run 'r-n0b0dy' on this desk. `sayso runs list` shows them" in done.err


# --- resume ------------------------------------------------------------------------------------


def test_a_run_is_carried_on_by_the_code_its_journal_names(
    here: Path, sayso: Sayso, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "elsewhere.py").write_text(PROGRAM)
    (here / "start.py").write_text("import elsewhere as e; print(e.desk.start(e.support, 7).id)")
    started = forked.run([sys.executable, "start.py"], cwd=here, env=os.environ)
    run_id = started.stdout.strip()
    monkeypatch.setattr(sys, "path", list(sys.path))

    done = sayso("runs", "resume", run_id, "--no-wait")

    assert done.code == 0
    assert done.out.startswith(f"◷ {run_id} waits for people:\n  ▲ a-")
    assert "--go" in done.out
    del sys.modules["elsewhere"]


def test_a_run_that_is_over_by_then_says_what_it_came_to(app: Any, sayso: Sayso) -> None:
    run = begun(app, workflow="words")
    app.desk.respond(run.state.pending[0], "kind ones")

    assert sayso("runs", "resume", run.id).out == f'✓ {run.id} is done: "kind ones"\n'
    again = sayso("runs", "resume", run.id)
    assert (again.code, again.err) == (
        1,
        f'sayso: {run.id} is done, so "resume" cannot be done to it.\n',
    )


@pytest.mark.parametrize(
    ("before", "choice"),
    [([], "5"), ([], "d"), ([], "End the run"), (["a"], "3"), (["a"], "d")],
    ids=["an action", "by letter", "by words", "a question", "a question, by letter"],
)
def test_a_person_at_the_terminal_can_end_the_run_instead(
    app: Any, at_terminal: AtTerminal, before: list[str], choice: str
) -> None:
    run = app.desk.start(app.support, 7)

    with at_terminal("runs", "resume", run.id, ends=1) as terminal:
        for typed in before:
            terminal.answer("Your choice", typed)
        assert "End the run" in terminal.wait_for("Your choice")
        terminal.type(choice)
        terminal.answer("Why?", "A fraud")
        terminal.wait_for("and the run ends.")
        terminal.wait_for("was cancelled: ")

    assert run.status == "cancelled"
    assert "A fraud" in str(run.error)
    assert len(run.asks) == 1 + len(before), "nothing was asked after that"


def test_ctrl_c_leaves_the_run_for_any_worker(app: Any, at_terminal: AtTerminal) -> None:
    run = begun(app, workflow="words")

    with at_terminal("runs", "resume", run.id, ends=130) as terminal:
        terminal.wait_for("Your choice")
        terminal.press(b"\x03")
        terminal.wait_for(f"Left: {run.id} is waiting, and any worker goes on with it.")

    assert run.state.pending[0].open


def test_a_run_whose_code_is_not_here_says_so_and_where_to_look(
    app: Any, sayso: Sayso, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(app, workflow="words")
    (here / "lib").mkdir()
    (here / "app.py").rename(here / "lib" / "app.py")
    del sys.modules["app"]

    gone = sayso("runs", "resume", run.id, "--no-wait")
    found = sayso("runs", "resume", run.id, "lib/app.py", "--no-wait")

    assert gone.code == 1
    assert f"The code of {run.id} is not here. app cannot be imported here" in gone.err
    assert f"sayso runs resume {run.id} path/app.py" in gone.err
    assert (found.code, found.out.splitlines()[0]) == (0, f"◷ {run.id} waits for people:")


def test_a_workflow_that_the_program_no_longer_has_is_named(
    app: Any, sayso: Sayso, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(app, workflow="words")
    monkeypatch.delattr(app, "words")
    del app.desk.flows["words"]

    by_path = sayso("runs", "resume", run.id)
    by_name = sayso("runs", "resume", run.id, "app:desk")

    assert "app:words is no workflow any more" in by_path.err
    assert f"app:desk does not have the workflow `words` of {run.id}; it has: " in by_name.err


def test_code_of_a_program_at_another_desk_is_used_on_this_one(app: Any, sayso: Sayso) -> None:
    with Desk("sqlite:///copy.db") as copy:
        run = copy.start(app.words)
        run_id = run.id

        done = sayso("runs", "resume", run_id, "--no-wait", "--desk", "copy.db")

        assert done.code == 0
        assert copy.get_run(run_id).status == "waiting"
        assert f"--seen {copy.get_run(run_id).asks[0].digest[:12]} --desk copy.db --go" in done.out


@pytest.mark.parametrize("status", ["failed", "parked"])
def test_a_run_that_needs_a_person_is_not_resumed_but_retried(
    app: Any, sayso: Sayso, status: str
) -> None:
    run = begun(app, workflow="fragile")
    if status == "parked":
        app.desk.retry(run)
        store = app.desk.store
        park_unread(store, run.row, "It is poisonous.", origin=app.desk.origin, agent="app")

    done = sayso("runs", "resume", run.id)

    assert done.code == 1
    assert f"Let it go on from there: sayso runs retry {run.id} --go" in done.err


# --- cancel, retry -----------------------------------------------------------------------------


def test_a_cancelled_run_takes_its_asks_back_and_says_so(app: Any, sayso: Sayso) -> None:
    run = begun(app, 7)
    (ask,) = run.state.pending

    done = sayso("runs", "cancel", run.id, "--note", "Ordered twice")

    assert done.code == 0
    assert done.out == (
        f"{run.id} is cancelled: nothing more of it will be carried out.\n"
        f"  taken back: {ask.id}  refund\n"
    )
    assert app.desk.get(ask.id).status == "withdrawn"
    assert "cancelled the run: Ordered twice" in sayso("runs", "show", run.id).out
    assert sayso("runs", "cancel", run.id).err == (
        f'sayso: {run.id} is cancelled, so "cancel" cannot be done to it.\n'
    )


def test_a_run_is_cancelled_as_somebody_who_may_reject_what_it_asks_e59(
    app: Any, sayso: Sayso
) -> None:
    app.desk.people.add("anna", roles=["senior"])
    app.desk.people.add("jun", roles=["junior"])
    run = begun(app, 7)
    (ask,) = run.state.pending

    unnamed = sayso("runs", "cancel", run.id)
    refused = sayso("runs", "cancel", run.id, "--as", "jun")

    assert (unnamed.code, refused.code) != (0, 0)
    assert "--as NAME" in unnamed.err
    assert f"{run.id} waits for {ask.id}" in refused.err
    assert run.status == "waiting"
    assert sayso("runs", "cancel", run.id, "--as", "anna").code == 0


def test_a_failed_run_goes_on_from_where_it_stood(app: Any, sayso: Sayso, here: Path) -> None:
    run = begun(app, workflow="fragile")
    still = sayso("runs", "retry", run.id, "--go")
    (here / "mended").write_text("whole")

    said = sayso("runs", "retry", run.id)
    done = sayso("runs", "resume", run.id)

    assert (still.code, "broken for now" in still.out) == (1, True)
    assert f"{run.id} goes on from where it stood." in said.out
    assert "No worker serves `fragile`; start one: sayso worker app" in said.out
    assert done.out == f'✓ {run.id} is done: "whole"\n'
    refused = sayso("runs", "retry", run.id, "--json")
    assert (refused.code, refused.error["error"]) == (1, "run-over")


def test_a_retry_that_cannot_go_on_here_changes_nothing(app: Any, sayso: Sayso, here: Path) -> None:
    run = begun(app, workflow="fragile")
    (here / "app.py").unlink()
    del sys.modules["app"]

    assert sayso("runs", "retry", run.id, "--go").code == 1
    assert run.status == "failed"


# --- --go --------------------------------------------------------------------------------------


def test_a_decision_can_carry_the_run_on_right_there(app: Any, sayso: Sayso, here: Path) -> None:
    run = begun(app, 7)

    approved = sayso("inbox", "approve", *seen(run), "--go")
    answered = sayso("inbox", "respond", *seen(run)[:1], "kind ones", *seen(run)[1:], "--go")

    assert (approved.code, answered.code) == (0, 0)
    assert f"; {run.id} goes on here." in approved.out
    assert f"◷ {run.id} waits for people:\n  ○ a-" in approved.out
    assert f'✓ {run.id} is done: "paid 40 for 7, kind ones"' in answered.out
    assert (here / "paid.txt").read_text() == "7 40\n"


def test_an_edit_and_a_rejection_carry_it_on_too(app: Any, sayso: Sayso, here: Path) -> None:
    first, second = begun(app, 7), begun(app, 8)

    edited = sayso("inbox", "edit", *seen(first), "--set", "amount=30", "--go")
    ask_id, *code = seen(second)
    rejected = sayso("inbox", "reject", ask_id, "Not twice", *code, "--go")

    assert edited.code == 0
    assert (here / "paid.txt").read_text() == "7 30\n"
    assert f'✓ {second.id} is done: "not paid: Not twice"' in rejected.out


def test_a_run_that_is_ended_by_the_decision_says_so(app: Any, sayso: Sayso) -> None:
    run = begun(app, 7)
    ask_id, *code = seen(run)

    done = sayso("inbox", "reject", ask_id, "Harmful", "--end", *code, "--go")

    assert done.code == 1
    assert f"{run.id} was cancelled: " in done.out
    assert "Harmful" in done.out


def test_nothing_is_decided_when_the_run_cannot_go_on_here(
    app: Any, sayso: Sayso, here: Path
) -> None:
    run = begun(app, workflow="words")
    (here / "app.py").unlink()
    del sys.modules["app"]

    ask_id, *code = seen(run)
    done = sayso("inbox", "respond", ask_id, "kind ones", *code, "--go")

    assert done.code == 1
    assert "app cannot be imported here" in done.err
    assert run.state.pending[0].open


def test_go_is_refused_for_what_no_run_asked(desk: Desk, sayso: Sayso) -> None:
    ask = desk.open("refund", {"order": 7})

    done = sayso("inbox", "approve", ask.id, "--seen", ask.digest, "--go")

    assert done.code == 1
    assert f"{ask.id} was not asked by a run, so --go has nothing to carry on." in done.err
    assert desk.get(ask.id).open


def test_a_script_gets_the_decision_and_the_run(app: Any, sayso: Sayso) -> None:
    run = begun(app, 7)

    done = sayso("inbox", "approve", *seen(run), "--go", "--json").json

    assert (done["status"], done["effect"]["status"]) == ("decided", "done")
    assert (done["carried_on"]["id"], done["carried_on"]["status"]) == (run.id, "waiting")


def test_without_go_a_script_is_told_that_nobody_serves_it(app: Any, sayso: Sayso) -> None:
    run = begun(app, 7)

    done = sayso("inbox", "approve", *seen(run), "--json").json

    assert done["unserved"] == "No worker serves `support`; start one: sayso worker app"


def test_ctrl_c_leaves_a_run_that_goes_on_here(
    app: Any, here: Path, at_terminal: AtTerminal
) -> None:
    run = begun(app, workflow="words")
    (ask,) = run.state.pending
    (here / "app.py").write_text(
        PROGRAM.replace("return run.question(WHICH)", "run.question(WHICH); run.step(hold)")
    )

    with at_terminal(
        "inbox", "respond", ask.id, "kind", "--seen", ask.digest, "--go", ends=130
    ) as terminal:
        terminal.wait_for("goes on here.")
        until(lambda: (here / "held").exists())
        terminal.press(b"\x03")
        terminal.wait_for(f"Left: {run.id} is ready, and any worker goes on with it.")


def test_a_decision_that_does_not_wake_the_run_says_what_it_waits_for(
    desk: Desk, sayso: Sayso
) -> None:
    @desk.workflow
    def flow(run: Any) -> Any:
        later = run.later.question("Later?")
        run.question("Now?")
        return later.result()

    run = desk.start(flow)
    desk.work(until="idle")
    later = next(ask for ask in run.state.pending if ask.title == "Later?")

    said = sayso("inbox", "respond", later.id, "yes", "--seen", later.digest)

    assert f"The run {run.id} waits for another decision." in said.out


def test_a_doubt_outlives_a_cancelled_run_and_settles_what_happened(
    desk: Desk, sayso: Sayso
) -> None:
    @desk.gate(unknown=TimeoutError)
    def wire(amount: int) -> str:
        raise TimeoutError("no answer")

    run = desk.run(desk.workflow(name="transfer")(lambda run: run.call(wire, 40)), wait=False)
    desk.approve(run.state.pending[0])
    desk.work(until="idle")
    (doubt,) = run.state.pending

    cancelled = sayso("runs", "cancel", run.id)
    said = sayso("inbox", "respond", doubt.id, "wired", "--seen", doubt.digest)
    story = sayso("runs", "show", run.id).out

    assert f"still in doubt: {doubt.id}" in cancelled.out
    assert f"The run {run.id} is cancelled; nothing goes on." in said.out
    assert "wire may or may not have happened: it raised TimeoutError" in story
    assert f"people are asked in {doubt.id}" in story
    assert re.search(r'says wire\s+done: "wired"', story)
