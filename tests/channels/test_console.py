"""The prompt at a real terminal: what it shows, what it offers, what it makes of what is typed."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from sayso import Ask, Desk, Option, Running
from sayso.asks.lawbook import default_policy
from sayso.channels.console import Console
from sayso.channels.menu import chosen, command, doubt_commands, offers
from sayso.model.actor import Roster
from sayso.model.ask import Ballot
from sayso.model.verdicts import Verdict
from sayso.policy.reading import read as read_policy
from sayso.store.contract import Lease
from sayso.testing import FakeClock
from tests import hostile
from tests.places import Place
from tests.terminal import Screen, streams
from tests.trusted import LAW

SOLO = Roster({})


@pytest.fixture
def earning(sqlite: Place, clock: FakeClock) -> Iterator[Desk]:
    """A desk whose policy places refunds in a tier, so that trust is earned by them."""
    policy = read_policy(LAW, source="law.toml", default=default_policy())
    given = {"clock": clock, "agent": "shop", "account": "sam@till"}
    with Desk(sqlite.url, policy=policy, **given) as desk:  # type: ignore[arg-type]
        yield desk


@pytest.fixture
def screen() -> Iterator[Screen]:
    screen = Screen()
    yield screen
    screen.close()


@pytest.fixture
def console(screen: Screen, clock: FakeClock) -> Iterator[Console]:
    with streams(screen) as (stdin, stdout):
        yield Console(stdin=stdin, screen=stdout, now=clock.now)


Prompt = Callable[..., Future[Ballot | None]]


@pytest.fixture
def prompted(console: Console) -> Iterator[Prompt]:
    """Put the question in a thread, while the test is the person at the terminal."""
    gone = threading.Event()
    with ThreadPoolExecutor() as pool:

        def start(
            ask: Ask, still_open: Callable[[str], bool] = lambda _: True
        ) -> Future[Ballot | None]:
            return pool.submit(
                console.prompt, ask, still_open=lambda i: not gone.is_set() and still_open(i)
            )

        try:
            yield start
        finally:
            gone.set()  # a failed test must not leave somebody waiting for a key


Talk = Callable[..., Ballot | None]


@pytest.fixture
def talk(screen: Screen, prompted: Prompt) -> Talk:
    """Put the question, type a line at each of these prompts, and return what came of it."""

    def talk(ask: Ask, *lines: str) -> Ballot | None:
        answer = prompted(ask)
        screen.answer(*lines)
        return said(answer)

    return talk


def said(future: Future[Ballot | None]) -> Ballot | None:
    return future.result(timeout=30)


# --- what is offered ---------------------------------------------------------------------------


def test_the_plan_prompt_reads_like_the_one_people_know(
    desk: Desk, screen: Screen, prompted: Prompt
) -> None:
    steps = [
        "Search for recent AI developments",
        "Analyze the top results",
        "Summarize the 3 most significant breakthroughs",
        "Include sources for each breakthrough",
    ]
    answer = prompted(desk.later.plan(lambda _: steps).ask)

    shown = screen.wait_for("Your choice (1-4): ")
    screen.type("1")

    rule = "=" * 60
    assert shown[shown.index(rule) :] == "\n".join(
        [
            rule,
            "AGENT PLAN CREATED",
            rule,
            *(f"{number}. {step}" for number, step in enumerate(steps, start=1)),
            rule,
            "",
            "Choose an option:",
            "1. Approve plan",
            "2. Modify plan",
            "3. Cancel",
            "4. Ask for another plan",
            "Your choice (1-4): ",
        ]
    )
    assert said(answer) == Ballot(verdict="approve")


@pytest.mark.parametrize(
    ("allow", "lines", "numbers"),
    [
        (None, ["1. Approve plan", "2. Modify plan", "3. Cancel"], "1-3"),
        (("approve", "reject"), ["1. Approve plan", "3. Cancel"], "1, 3"),
        ("reject", ["3. Cancel"], "3"),
    ],
)
def test_a_plan_keeps_its_numbers_whatever_is_allowed(
    desk: Desk,
    screen: Screen,
    prompted: Prompt,
    allow: tuple[Verdict, ...] | Verdict | None,
    lines: list[str],
    numbers: str,
) -> None:
    answer = prompted(desk.later.plan(["Search"], allow=allow).ask)

    shown = screen.wait_for(f"Your choice ({numbers}): ")
    screen.hang_up()

    offered = shown[shown.index("Choose an option:") :].splitlines()[1:-1]
    assert offered == lines
    assert said(answer) is None


CHOSEN: dict[Verdict, list[str]] = {
    "approve": ["1", "a", "A", "approve", " 1. "],
    "respond": ["Answer instead", "c"],
    "reject": ["r", "Cancel", "3"],
    "edit": ["e"],
}


@pytest.mark.parametrize(
    ("typed", "verdict"), [(typed, verdict) for verdict in CHOSEN for typed in CHOSEN[verdict]]
)
def test_a_choice_is_made_by_number_letter_or_word(
    desk: Desk, talk: Talk, typed: str, verdict: Verdict
) -> None:
    rest = {"approve": [], "edit": ["change: ", "amount=30", "change: ", ""]}
    more = rest.get(verdict, [": ", "because"])

    ballot = talk(desk.open("pay", {"amount": 40}), "Your choice (1-4): ", typed, *more)

    assert ballot is not None
    assert ballot.verdict == verdict


def test_only_what_is_allowed_can_be_chosen(desk: Desk, talk: Talk, screen: Screen) -> None:
    refused = "Please type one of 1-2, or the letter behind it; Ctrl-C leaves it open."
    wrong = [
        word for one in ("3", "e", "edit", "", "approve it all", "0") for word in (one, refused)
    ]

    ballot = talk(desk.open("pay", allow=("approve", "reject")), "Your choice (1-2): ", *wrong, "1")

    assert ballot == Ballot(verdict="approve")
    shown = screen.text.partition("Your choice")[0]
    assert "Edit" not in shown
    assert "Answer" not in shown


def test_the_end_of_the_run_is_offered_where_there_is_one_and_a_no_does_not_end_it_anyway(
    desk: Desk,
) -> None:
    def pay(amount: int) -> None:
        """Pay."""

    @desk.workflow
    def flow(run: Running) -> None:
        run.later.call(pay, amount=40)
        run.later.confirm("Go on?")
        run.later.question("How many?", allow="respond")
        run.later.choose("Which?", ["a", "b"])
        run.later.notice("It rains")
        run.later.plan(["Search"])
        run.later.feedback("a poem")

    run = desk.run(flow, wait=False)
    outside = desk.open("pay", {"amount": 40}, run=run.id)  # filed under it, but not its own

    ends = [ask.title for ask in (*run.asks, outside) if any(one.end for one in offers(ask))]

    assert len(run.asks) == 7
    assert sorted(ends) == ["Go on?", "It rains", "Which?", "pay"]


def test_the_letter_that_rejects_never_means_yes(desk: Desk) -> None:
    call = desk.begin(desk.approve(desk.open("pay", {"amount": 40})))
    desk.docket.doubt(call.ask.id, "It went silent.", attempt=call.attempt)
    (doubt,) = (one for one in desk.inbox() if one.kind == "doubt")

    answered = {one.verdict: (one.number, one.letter) for one in offers(doubt)}
    assert answered == {"respond": (1, ""), "approve": (2, ""), "reject": (3, "")}
    assert [chosen(key, doubt) for key in ("a", "y", "r", "c")] == [None] * 4, (
        "a habit does not pay twice"
    )


def _in_doubt(desk: Desk, *, idempotent: bool = False) -> Ask:
    approved = desk.approve(desk.open("pay", {"amount": 40}))
    lease = Lease("till", timedelta(minutes=1))
    call = desk.docket.begin(approved.id, lease, idempotent=idempotent)
    found = desk.docket.doubt(approved.id, "It went silent.", attempt=call.attempt, lease=lease)
    assert found is not None
    return found


def test_e50_running_a_doubtful_call_again_is_asked_once_more(
    desk: Desk, screen: Screen, prompted: Prompt
) -> None:
    doubt = _in_doubt(desk)

    answer = prompted(doubt)
    shown = screen.wait_for("Your choice")
    screen.type("2")
    screen.answer("Type again to run it again: ", "y")
    screen.wait_for("It was not run again.")
    screen.answer("Your choice", "2", "Type again to run it again: ", "again")

    said = answer.result(timeout=5)
    assert said is not None
    assert said.verdict == "approve"
    assert "There is no result" in shown
    assert shown.index("Known") < shown.index("What"), "what is known is read first"


def test_e50_an_idempotent_call_is_run_again_without_a_second_question(
    desk: Desk, screen: Screen, prompted: Prompt
) -> None:
    answer = prompted(_in_doubt(desk, idempotent=True))
    screen.answer("Your choice", "2")

    said = answer.result(timeout=5)
    assert said is not None
    assert said.verdict == "approve"


def test_e50_no_command_to_copy_runs_a_call_again(desk: Desk) -> None:
    doubt = _in_doubt(desk)

    assert command(doubt) == f"sayso inbox show {doubt.id}"
    again = [line for line in doubt_commands(doubt) if " approve " in line]
    assert [line.endswith("--run-again") for line in again] == [True]


def test_the_prompt_is_the_card_with_choices_below(
    desk: Desk, screen: Screen, prompted: Prompt
) -> None:
    ask = desk.open("pay", {"amount": 40}, risk="high", why="Charged twice", impact="40 EUR leave")
    answer = prompted(ask)

    shown = screen.wait_for("Your choice (1-4): ")
    screen.hang_up()

    for expected in (
        "▲ high risk",
        "│ Charged twice",
        "amount  40",
        "40 EUR leave",
        ask.digest[:12],
    ):
        assert expected in shown
    assert said(answer) is None


def test_hostile_text_cannot_draw_on_the_screen(
    desk: Desk, screen: Screen, prompted: Prompt
) -> None:
    evil = hostile.FAKED + hostile.ALL
    asks = [
        desk.open("pay", {"to": evil}, title=evil, why=evil, agent="bot"),
        desk.later.plan([evil], why=evil).ask,
        desk.later.choose(evil, [Option(evil, 1, evil)]).ask,
    ]
    for ask in asks:
        answer = prompted(ask)
        screen.wait_for("Your choice")
        screen.hang_up()
        assert said(answer) is None
        screen.wait_for("\n")

    ours = screen.raw.replace("\x1b[0m", "")
    assert "\u202e" not in ours
    assert "\x1b[2K" not in ours
    assert "\x1b[1A" not in ours
    assert "[bold red]approved" in screen.text
    # The only lines at the left edge that offer anything are the menu's own.
    assert screen.text.count("\nChoose an option:") == len(asks)


# --- what goes with a verdict ------------------------------------------------------------------


YOURS, CHANGE = "Your choice", "change: "
NUMBERS = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in ("order", "amount")},
    "additionalProperties": False,
}
TYPES = {"amount": 40, "code": "7", "urgent": False}
DETAILED = {"title": "Search", "tool": "web", "detail": "the last week"}
APPROVED, REJECTED = Ballot(verdict="approve"), Ballot(verdict="reject")
RENUMBERED = Ballot(verdict="edit", args={"order": 8})
OPENED: dict[str, Callable[[Desk], Ask]] = {
    "a call": lambda desk: desk.open("pay", TYPES),
    "of numbers": lambda desk: desk.open("pay", {"order": 7, "amount": 40}, schema=NUMBERS),
    "a draft": lambda desk: desk.later.draft("Dear Sir").ask,
    "a plan": lambda desk: desk.later.plan([{"title": "Search", "tool": "web"}, "Write"]).ask,
    "a number": lambda desk: desk.later.question("How?", int).ask,
    "yes or no": lambda desk: desk.later.question("How?", bool).ask,
    "a text": lambda desk: desk.later.question("How?", str).ask,
    "anything": lambda desk: desk.later.question("How?").ask,
    "options": lambda desk: desk.later.choose("Which?", ["Red", "Blue"], own=True).ask,
    "odd options": lambda desk: desk.later.choose("Which?", ["reject", "2"]).ask,
}
SAID: dict[str, tuple[str, list[str], Ballot]] = {
    "a reason goes with a rejection": (
        *("a call", [YOURS, "r", "Enter for none): ", "Not a double charge"]),
        Ballot(verdict="reject", note="Not a double charge"),
    ),
    "a rejection needs no reason": ("a call", [YOURS, "r", "Enter for none): ", ""], REJECTED),
    "changes are typed by name and keep their types": (
        "a call",
        [
            *(YOURS, "2", CHANGE, "amount=30", CHANGE, "code=8", CHANGE, "urgent=yes"),
            *(CHANGE, "nonsense", "write name=value", ""),
        ],
        Ballot(verdict="edit", args={"amount": 30, "code": "8", "urgent": True}),
    ),
    **{
        f"{typed} is told at its line and the others are kept": (
            *("of numbers", [YOURS, "2", CHANGE, "order=8", CHANGE, typed, told, ""]),
            RENUMBERED,
        )
        for typed, told in {
            "amount=lots": 'amount must be a whole number, not the text "lots". Not changed.',
            "foo=1": "foo is not a field here; the fields are: amount, order",
            "amount=NaN": "NaN",
        }.items()
    },
    "changing nothing leads back to the choices": (
        *("a call", [YOURS, "2", CHANGE, "", "Nothing was changed.", "1"]),
        APPROVED,
    ),
    "leaving the changes leads back to the choices": (
        "a plan",
        [YOURS, "2", CHANGE, "d 1", CHANGE, "q", "Nothing was changed.", "3", "none): ", ""],
        REJECTED,
    ),
    "a draft is typed until a dot": (
        "a draft",
        [YOURS, "e", "only a dot", "Dear Madam,\n\nbye\n."],
        Ballot(verdict="edit", args="Dear Madam,\n\nbye"),
    ),
    **{
        f"{asked} is read as the question wants it": (
            *(asked, ["Your choice (1-2)", "1", "Your answer (", typed]),
            Ballot(verdict="respond", answer=value),
        )
        for asked, typed, value in (
            *(("a number", "3", 3), ("yes or no", "yes", True), ("a text", "3", "3")),
        )
    },
    "enter alone answers nothing": (
        "anything",
        [
            *("Your choice (1-2)", "1", "Your answer (text): ", ""),
            *("Nothing was answered.", "With a spoon"),
        ],
        Ballot(verdict="respond", answer="With a spoon"),
    ),
    "words answer a question without a choice before": (
        *("anything", ["Your choice (1-2), or your answer: ", "With a spoon"]),
        Ballot(verdict="respond", answer="With a spoon"),
    ),
    "an option is chosen by its number": (
        *("options", ["Your choice (1-4): ", "1"]),
        Ballot(verdict="approve", option="Red"),
    ),
    "other words come after the options": (
        *("options", ["Your choice (1-4): ", "3", "Your answer (text): ", "Green"]),
        Ballot(verdict="respond", answer="Green"),
    ),
    "an option called like a verdict is still only its number": (
        *("odd options", ["Your choice (1-3): ", "reject", "Enter for none): ", ""]),
        REJECTED,
    ),
}


@pytest.mark.parametrize("promise", SAID)
def test_what_is_said_at_the_prompt_becomes_a_word(desk: Desk, talk: Talk, promise: str) -> None:
    opened, lines, ballot = SAID[promise]

    assert talk(OPENED[opened](desk), *lines) == ballot


def refunding(desk: Desk) -> Ask:
    """Ask for a call of a tool that says what matters in it."""

    @desk.gate(risk="low", matters=["amount"])
    def refund(amount: int, memo: str) -> str:
        return f"{memo}: {amount}"

    gate = refund.__sayso_gate__  # type: ignore[attr-defined]
    ask = desk.put(gate.content(desk.forms, gate.tool.bind((40, "thanks"), {})), declared=True)
    assert ask.stake is not None
    return ask


def test_the_options_are_offered_by_their_numbers(desk: Desk, talk: Talk, screen: Screen) -> None:
    talk(OPENED["options"](desk), "Your choice (1-4): ", "1")

    menu = screen.text.partition("Choose an option:\n")[2].partition("Your choice")[0]
    assert menu.splitlines() == [
        "1-2. The option of that number",
        "3. Something else (c)",
        "4. None of these (r)",
    ]


def test_what_is_hidden_is_refused_at_its_line(desk: Desk, talk: Talk) -> None:
    @desk.gate(secret=["token"])
    def pay(amount: int, token: str) -> str:
        return f"{amount} {token}"

    gate = pay.__sayso_gate__  # type: ignore[attr-defined]
    ask = desk.put(gate.content(desk.forms, gate.tool.bind((40, "abc"), {})))
    refused = "token is hidden on this ask and cannot be edited."

    ballot = talk(ask, YOURS, "2", CHANGE, "amount=30", CHANGE, "token=def", refused, "")

    assert ballot == Ballot(verdict="edit", args={"amount": 30})


@pytest.mark.parametrize(("typed", "harmful"), [("y", True), ("n", False), ("", None)])
def test_an_edit_of_what_matters_asks_whether_there_would_have_been_harm(
    earning: Desk, talk: Talk, typed: str, harmful: bool | None
) -> None:
    asked = "Would it have done harm as it was proposed? (y/n, Enter: don't know) "
    edited = (YOURS, "e", CHANGE, "amount=30", CHANGE, "")

    ballot = talk(
        refunding(earning),
        *edited,
        *(asked, "perhaps", "Please type y or n, or nothing.", typed),
    )

    assert ballot == Ballot(verdict="edit", args={"amount": 30}, harmful=harmful)


def test_nobody_is_asked_about_harm_where_nothing_that_matters_changes(
    earning: Desk, talk: Talk
) -> None:
    ballot = talk(refunding(earning), YOURS, "e", CHANGE, "memo=sorry", CHANGE, "")

    assert ballot == Ballot(verdict="edit", args={"memo": "sorry"})


def test_a_plan_is_changed_by_short_commands(desk: Desk, screen: Screen, prompted: Prompt) -> None:
    detailed = {"title": "Search", "tool": "web", "detail": "the last week"}
    answer = prompted(desk.later.plan([detailed, "Write", "Send"]).ask)
    screen.answer("Your choice", "2")
    screen.wait_for("change: ")
    for typed, shown in (
        ("2 Write a page", "1. Search [web]\n   │ the last week\n2. Write a page\n3. Send\n"),
        ("+ Call Anna [web]", "3. Send\n4. Call Anna [web]\n"),
        ("m 4 1", "1. Call Anna [web]\n2. Search [web]\n"),
        ("d 3", "   │ the last week\n3. Send\n"),
        ("a 3", "3. Send (needs approval)\n"),
        ("d 1", "1. Search [web]\n"),
        ("u", "1. Call Anna [web]\n"),
    ):
        screen.type(typed)
        assert f"\n{shown}" in screen.wait_for("change: ")
    screen.type("")

    assert said(answer) == Ballot(
        verdict="edit",
        args=[
            {"title": "Call Anna", "tool": "web"},
            detailed,
            {"title": "Send", "needs_approval": True},
        ],
    )


@pytest.mark.parametrize(
    ("typed", "said_to_it"),
    [
        ("d 3", "There is no step 3: give a number from 1 to 2."),
        ("m 1 0", "There is no step 0: give a number from 1 to 2."),
        ("d", "There is no step of no number: give a number from 1 to 2."),
        ("m 1", "There is no step of no number: give a number from 1 to 2."),
        ("d 1 2", "A plan has at least one step."),
        ("2", "Say what step 2 becomes: 2 NEW TEXT"),
        ("+", "Say what is to be done: + NEW TEXT"),
        ("u", "There is nothing to undo."),
        ("Delete everything", "'Delete everything' is no command. To add it as a step: + Delete"),
        ("+ Look [wob]", "There is no tool 'wob'. There are: web."),
        ("t 2 wob", "There is no tool 'wob'. There are: web."),
        ("+ [web]", "'[web]' has no title"),
    ],
)
def test_a_command_that_cannot_be_followed_changes_nothing_and_says_why(
    desk: Desk, talk: Talk, typed: str, said_to_it: str
) -> None:
    unchanged = (said_to_it, "", "Nothing was changed.", "1")

    assert talk(OPENED["a plan"](desk), YOURS, "2", CHANGE, typed, *unchanged) == APPROVED


def test_what_was_made_of_a_plan_is_there_again_after_a_refusal(desk: Desk, talk: Talk) -> None:
    ask = desk.later.plan(["Search", "Write"]).ask

    talk(ask, YOURS, "2", CHANGE, "d 1", CHANGE, "")
    ballot = talk(ask, YOURS, "2", CHANGE, "+ Send", CHANGE, "")

    assert ballot == Ballot(verdict="edit", args=["Write", "Send"])


# --- the editor --------------------------------------------------------------------------------


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that appends to a log what it was given, and saves what `next` holds."""
    script, log, upcoming = tmp_path / "ed.py", tmp_path / "log", tmp_path / "next"
    script.write_text(
        "import pathlib,sys\n"
        "file=pathlib.Path(sys.argv[1])\n"
        f"with open({str(log)!r},'a') as log: log.write(file.name+'\\n'+file.read_text()+'\\n')\n"
        f"file.write_text(pathlib.Path({str(upcoming)!r}).read_text())\n"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    return upcoming


def test_an_editor_gets_a_plan_one_step_a_line(
    desk: Desk, screen: Screen, prompted: Prompt, editor: Path
) -> None:
    search = {"title": "Search", "tool": "web", "detail": "the last week"}
    write = {"title": "Write", "needs_approval": True}
    ask = desk.later.plan([search, write]).ask
    editor.write_text(
        "2. Write\n\nLook around [web] (needs approval)\n# nothing\n1. Search [web]\n"
    )
    answer = prompted(ask)
    screen.answer("Your choice", "2")

    look = {"title": "Look around", "tool": "web", "needs_approval": True}
    assert said(answer) == Ballot(verdict="edit", args=[{"title": "Write"}, look, search])
    log = editor.with_name("log").read_text()
    assert log.startswith(
        f"{ask.id}.txt\n1. Search [web]\n2. Write (needs approval)\n\n# One step a line"
    )
    assert log.rstrip().endswith("# Tools: web")


def test_what_was_written_in_the_editor_is_there_again_after_a_mistake(
    desk: Desk, screen: Screen, prompted: Prompt, editor: Path
) -> None:
    editor.write_text('{"amount": 30, oops')
    answer = prompted(desk.open("pay", {"amount": 40}))
    screen.answer("Your choice", "2")
    screen.wait_for("That is not JSON")
    screen.wait_for("Your choice")
    editor.write_text('{"amount": 30}')
    screen.type("2")

    assert said(answer) == Ballot(verdict="edit", args={"amount": 30})
    assert '{"amount": 30, oops' in editor.with_name("log").read_text()


# --- when it ends otherwise --------------------------------------------------------------------


def test_the_end_of_input_is_no_decision(desk: Desk, screen: Screen, prompted: Prompt) -> None:
    ask = desk.open("pay")
    answer = prompted(ask)
    screen.wait_for("Your choice")
    screen.hang_up()

    assert said(answer) is None
    assert desk.get(ask.id).open


def test_the_end_of_input_in_the_middle_of_an_edit_is_no_decision(
    desk: Desk, screen: Screen, prompted: Prompt
) -> None:
    answer = prompted(desk.open("pay", {"amount": 40}))
    screen.answer(YOURS, "2", CHANGE, "amount=30")
    screen.wait_for(CHANGE)
    screen.hang_up()

    assert said(answer) is None


def test_the_prompt_ends_by_itself_when_somebody_else_decides(
    desk: Desk, screen: Screen, prompted: Prompt
) -> None:
    ask = desk.open("pay")
    answer = prompted(ask, lambda ask_id: desk.get(ask_id).open)
    screen.wait_for("Your choice")

    desk.approve(ask)

    assert said(answer) is None


def test_the_prompt_ends_by_itself_at_the_deadline(
    desk: Desk, clock: FakeClock, console: Console, screen: Screen, prompted: Prompt
) -> None:
    ask = desk.open("pay", within="1h")
    answer = prompted(ask)
    screen.wait_for("Your choice")

    clock.advance("2h")

    assert said(answer) is None
    console.paused(ask)
    screen.wait_for(f"the time to decide {ask.id} is over")


def test_what_was_typed_before_the_card_was_drawn_decides_nothing(
    desk: Desk, screen: Screen, prompted: Prompt
) -> None:
    screen.type("1")  # meant for the question before, or for nobody
    answer = prompted(desk.open("wire", {"amount": 1_000_000}))
    screen.answer("Your choice", "r", "Enter for none): ", "")

    assert said(answer) == Ballot(verdict="reject")


def test_after_a_refused_edit_the_card_is_not_drawn_again(
    desk: Desk, screen: Screen, console: Console, prompted: Prompt
) -> None:
    ask = desk.open("pay", {"amount": 40})
    answer = prompted(ask)
    screen.answer("Your choice", "1")
    said(answer)
    console.complain("The edit does not fit.")
    answer = prompted(ask)

    again = screen.wait_for("Your choice (1-4): ")
    screen.hang_up()

    assert "The edit does not fit." in again
    assert "Risk" not in again
    assert said(answer) is None


# --- one line ----------------------------------------------------------------------------------


def test_what_waits_is_announced_in_one_line_with_the_command(
    desk: Desk, screen: Screen, console: Console
) -> None:
    ask = desk.open("refund", {"amount": 40}, why=hostile.ALL)

    console.announce(ask, SOLO)

    line = screen.wait_for("\n")
    assert line == (
        f"sayso: {ask.id} waits for 1 reviewer: refund(amount=40)  ->  "
        f"sayso inbox approve {ask.id} --seen {ask.digest[:12]}\n"
    )


def test_the_announced_command_fits_the_kind_and_names_the_desk(desk: Desk) -> None:
    out = io.StringIO()
    console = Console(screen=out, desk="sqlite:///other.db")
    team = Roster({"anna": frozenset({"senior"})})

    for ask in (
        desk.later.question("How many?", int).ask,
        desk.later.choose("Which?", ["a", "b"]).ask,
        desk.open("pay", needs="1 senior"),
    ):
        console.announce(ask, team)

    question, choice, pay = out.getvalue().splitlines()
    assert "sayso inbox respond" in question
    assert "ANSWER --seen" in question
    assert "--option N --seen" in choice
    assert "waits for 1 senior" in pay
    assert pay.endswith("--desk sqlite:///other.db")


def test_hostile_arguments_stay_on_the_announced_line(desk: Desk) -> None:
    out = io.StringIO()
    Console(screen=out).announce(desk.open("pay", {"to": hostile.FAKED + hostile.ALL}), SOLO)

    assert out.getvalue().count("\n") == 1
    assert not hostile.raw_in(out.getvalue())


def test_what_happened_is_said_in_a_line_each(desk: Desk) -> None:
    out = io.StringIO()
    console = Console(screen=out)
    ask = desk.open("pay")
    console.paused(ask)
    decided = desk.reject(ask, "no")
    console.decided_elsewhere(decided)
    console.done(decided)
    withdrawn = desk.withdraw(desk.open("pay"))
    console.decided_elsewhere(withdrawn)

    paused, elsewhere, done, back = out.getvalue().splitlines()
    assert f"{ask.id} stays open" in paused
    assert f"sayso inbox approve {ask.id} --seen {ask.digest[:12]}" in paused
    assert elsewhere == f"{ask.id} was rejected by sam meanwhile; nothing to decide any more."
    assert done == f"{ask.id} rejected by sam."
    assert back.startswith(f"{withdrawn.id} was withdrawn meanwhile")


# --- who sits there ----------------------------------------------------------------------------


def test_a_terminal_is_interactive_unless_it_is_a_robots(
    screen: Screen, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert console.interactive()

    monkeypatch.setenv("CI", "true")

    assert not console.interactive()


def test_without_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
    out = io.StringIO()
    with (tmp_path / "in").open("w+") as file:
        assert not Console(stdin=file, screen=out).interactive()
    assert not Console(stdin=io.StringIO("1\n"), screen=out).interactive()
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read) as pipe:
        assert not Console(stdin=pipe, screen=out).interactive()


def test_keys_without_a_screen_are_no_terminal(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with streams(screen) as (stdin, stdout):
        assert not Console(stdin=stdin).interactive()

        monkeypatch.setattr(sys, "stdout", stdout)

        assert Console(stdin=stdin).interactive()
