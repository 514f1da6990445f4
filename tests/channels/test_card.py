"""How an ask looks: everything a person needs, and nothing that could deceive them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console as Screen
from rich.console import RenderableType

from sayso import Ask, Desk, Option
from sayso.channels.card import Card, outcome, summary
from sayso.channels.changes import Changes
from sayso.channels.explanation import GONE
from sayso.model.content import Content, Risk
from sayso.store.contract import Lease
from sayso.testing import FakeClock
from tests import hostile
from tests.places import Place

OURS = (
    *("Title", "Why", "Sure", "Who", "What", "Beware", "Risk", "Impact", "Preview", "Facts"),
    *("Edits", "Known", "Run", "Deadline", "Status", "Decision", "Effect", "Code"),
)


@pytest.fixture
def desk(sqlite: Place, clock: FakeClock) -> Iterator[Desk]:
    with Desk(sqlite.url, clock=clock, agent="shop", account="sam@till", via="terminal") as desk:
        yield desk


def drawn(shown: RenderableType, width: int = 80) -> str:
    """What it looks like in a file: no colours, no codes."""
    file = io.StringIO()
    screen = Screen(file=file, width=width, highlight=False, markup=False, emoji=False)
    screen.print(shown)
    return file.getvalue()


def card(desk: Desk, ask: Ask, *, width: int = 80, full: bool = False) -> str:
    now = desk.get(ask.id)
    roster = desk.store.roster()
    return drawn(Card(ask=now, roster=roster, now=desk.store.now(), full=full), width)


def row(text: str, label: str) -> str:
    """The lines of one row, without the label."""
    found = re.search(rf"^{label} +(.*(?:\n {{10}}.*)*)", text, re.MULTILINE)
    assert found, f"no row {label} in:\n{text}"
    return "\n".join(line.strip() for line in found[1].split("\n"))


# --- what is on it -----------------------------------------------------------------------------


def test_an_action_shows_why_who_what_risk_and_until_when(desk: Desk) -> None:
    ask = desk.open(
        "refund",
        {"order": 7, "amount": 40, "note": "40"},
        title="Refund order 7",
        risk="high",
        why="Charged twice",
        confidence=0.62,
        impact="40 EUR leave the account",
        facts={"customer": "ada"},
        within="2h5m",
        run="r-1",
        thread="12",
    )

    text = card(desk, ask)

    assert text.startswith(f"{ask.id}  action, open  ▲ high risk\n")
    assert row(text, "Title") == "Refund order 7"
    assert "│ Charged twice" in row(text, "Why")
    assert "the agent says:" in row(text, "Why")
    sure, *record = row(text, "Sure").split("\n")
    assert sure == "■□□ Low confidence: needs your input. 62%, stated by the agent."
    assert " ".join(record) == (
        "○ What that is worth is not known yet: it takes 50 decisions, and there are 0."
    )
    assert row(text, "Who").split("\n")[0] == "shop asks. Whom it affects is not stated."
    assert "in a team it would need 1 senior" in row(text, "Who")
    assert row(text, "What").split("\n") == ["refund", "amount  40", 'note    "40"', "order   7"]
    assert row(text, "Risk").startswith("▲ high. ")
    assert "Calls of high risk need 1 senior." in row(text, "Risk").replace("\n", " ")
    assert row(text, "Risk").endswith("\n(tier high, rule unsure)")
    assert "tier" not in row(card(desk, desk.open("refund", risk="high")), "Risk")
    assert row(text, "Impact") == "40 EUR leave the account"
    assert row(text, "Facts") == 'customer  "ada"'
    assert "2 h 5 min left" in row(text, "Deadline")
    assert "2026-01-01 11:05 UTC" in row(text, "Deadline")
    assert row(text, "Run") == "r-1, thread 12"
    assert row(text, "Code") == ask.digest[:12]


@pytest.mark.parametrize(
    ("risk", "shown"),
    [
        ("critical", "▲▲ critical"),
        ("high", "▲ high"),
        ("medium", "◆ medium"),
        ("low", "● low"),
        (None, "○ not stated"),
    ],
)
def test_risk_is_a_word_and_a_shape(desk: Desk, risk: Risk | None, shown: str) -> None:
    assert row(card(desk, desk.open("f", risk=risk)), "Risk").startswith(shown)


def test_a_missing_reason_is_said_to_be_missing(desk: Desk) -> None:
    assert row(card(desk, desk.open("f")), "Why") == "The agent gave no reason."
    assert row(card(desk, desk.open("f", why="  ")), "Why") == "The agent gave no reason."


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        (1, "■■■ High confidence. 100%, stated by the agent."),
        (0.95, "■■■ High confidence. 95%, stated by the agent."),
        (0.9499, "■■□ Medium confidence: please review. 94.9%, stated by the agent."),
        (0.7, "■■□ Medium confidence: please review. 70%, stated by the agent."),
        (0.6999, "■□□ Low confidence: needs your input. 69.9%, stated by the agent."),
        (0, "■□□ Low confidence: needs your input. 0%, stated by the agent."),
        (None, "□□□ Low confidence: needs your input. None was stated."),
    ],
)
def test_confidence_is_words_a_shape_a_number_and_where_it_comes_from(
    desk: Desk, stated: float | None, shown: str
) -> None:
    for ask in (desk.open("f", confidence=stated), desk.later.draft("Hi", confidence=stated).ask):
        assert row(card(desk, ask), "Sure").split("\n")[0] == shown


@pytest.mark.parametrize(
    ("good", "shown", "light"),
    [
        (60, "■■■ High confidence.", "● Worth 99"),
        (48, "■■□ Medium confidence: please review.", "◆ Worth 8"),
        (20, "■□□ Low confidence: needs your input.", "▲ Worth 33"),
    ],
)
def test_beside_a_confidence_stands_what_it_is_worth_and_how_often_it_was_right(
    desk: Desk, good: int, shown: str, light: str
) -> None:
    for number in range(60):
        ask = desk.open("pay", {"amount": number}, confidence=0.97)
        desk.approve(ask) if number < good else desk.reject(ask)
    desk.calibration()  # reads what was decided, which otherwise is read once a second

    sure, *record = row(card(desk, desk.open("pay", confidence=0.97)), "Sure").split("\n")

    assert sure == f"{shown} 97%, stated by the agent."
    said = " ".join(record)
    assert said.startswith(light)
    assert said.endswith(f"approved unchanged {good} of 60 times when it was about as sure.")


def test_what_proposes_nothing_is_not_called_unsure(desk: Desk) -> None:
    notice, feedback = desk.later.notice("It rains").ask, desk.later.feedback(42).ask

    assert "Sure " not in card(desk, notice) + card(desk, feedback)
    assert "Sure " in card(desk, desk.later.notice("It rains", confidence=0.2).ask)


def test_silence_is_no_verdict_on_how_good_something_is(desk: Desk) -> None:
    feedback = desk.later.feedback(42, within="1h").ask
    assert "then it counts as neither good nor bad." in " ".join(card(desk, feedback).split())


def test_who_says_for_whom_through_whom_and_who_therefore_cannot_decide(desk: Desk) -> None:
    desk.people.add("anna", ["senior"])
    desk.people.add("ben", ["senior"])
    ask = desk.open("f", requester="carl", owner="ben", agent="mailer")
    chained = replace(ask, content=replace(ask.content, chain="boss > mailer"))

    said = row(drawn(Card(ask=chained, roster=desk.store.roster(), now=ask.opened_at)), "Who")

    assert said.replace("\n", " ").startswith(
        "mailer asks, for carl, through boss > mailer. It belongs to ben. carl and ben cannot "
        "decide it. Whom it affects is not stated."
    )


def test_conflicts_are_the_agent_s_words_and_stand_behind_its_bar(desk: Desk) -> None:
    ask = desk.open("pay", why="Asked to", conflicts=["The order says 40", hostile.FAKED])

    assert row(card(desk, ask), "Why").split("\n")[:4] == [
        "the agent says:",
        "│ Asked to",
        "it names a conflict:",
        "│ The order says 40",
    ]
    assert "\nDecision " not in card(desk, ask)


def test_who_follows_the_call_and_not_what_is_said_of_it(desk: Desk) -> None:
    ask = desk.open("send", {"to": "eve@evil.example"}, title="Mail ada", why="It goes to ada")
    assert '"eve@evil.example" (to)' in row(card(desk, ask), "Who")

    desk.edit(ask, {"to": "ada@corp.example"})

    assert '"ada@corp.example" (to)' in row(card(desk, ask), "Who")
    assert "eve" not in row(card(desk, ask), "Who")


def test_two_thousand_recipients_are_counted_and_do_not_bury_the_rest(desk: Desk) -> None:
    ask = desk.open("send", {"to": [f"c{n}@corp.example" for n in range(2451)]})

    short, full = card(desk, ask), card(desk, ask, full=True)

    said = row(short, "Who").replace("\n", " ")
    assert (
        'It names 2,451 (to: "c0@corp.example", "c1@corp.example", "c2@corp.example", …).' in said
    )
    assert "NOT ALL IS SHOWN: 2,431 entries more" in row(short, "What").replace("\n", " ")
    assert '"c19@corp.example"' in short
    assert '"c20@corp.example"' not in short
    assert short.count("\n") < 24
    assert '"c2450@corp.example"' in full
    assert "NOT ALL" not in full


def test_a_word_that_only_looks_latin_is_unmasked(desk: Desk) -> None:
    ask = desk.open("send", {"to": "help@p\u0430ypal.example"}, why="привет")

    assert row(card(desk, ask), "Beware") == (
        '"p\u0430ypal": U+0430 CYRILLIC SMALL LETTER A only looks Latin.'
    )
    assert "Beware" not in card(desk, desk.open("send", {"to": "help@paypal.example"}))


def test_many_disguised_words_are_counted(desk: Desk) -> None:
    page = " ".join(f"p\u0430y{chr(97 + n)}" for n in range(20))

    beware = row(card(desk, desk.later.draft(page).ask), "Beware").split("\n")

    assert len(beware) == 6
    assert beware[-1] == "And 15 such words more."


def test_a_gate_shows_what_it_declares_and_that_something_is_hidden(desk: Desk) -> None:
    @desk.gate(
        reversible=False,
        affects="customers",
        secret=["card"],
        preview=lambda to, **_: {"To": to, "Body": "Dear\nall"},
    )
    def send(to: str, card: str, copies: int = 1) -> None: ...

    gate = send.__sayso_gate__  # type: ignore[attr-defined]
    ask = desk.put(gate.content(desk.forms, gate.tool.bind(("ada", "4111 1111"), {})))

    text = card(desk, ask)
    assert row(text, "What").split("\n") == [
        "send",
        'to      "ada"',
        "card    (hidden)",
        "copies  1",
        "hidden: card",
    ]
    assert "4111" not in text
    assert row(text, "Risk").split("\n") == [
        "○ not stated. It cannot be undone. It affects others.",
        '(rules "cannot be undone", "affects others")',
    ]
    assert row(text, "Who") == 'shop asks.\nIt affects customers. It names "ada" (to).'
    assert "│ Dear" in row(text, "Preview")


def test_each_kind_shows_what_it_asks(desk: Desk) -> None:
    later = desk.later
    write = {
        "title": "Write",
        "tool": "llm",
        "needs_approval": True,
        "detail": "in a page",
        "by": 7,
    }
    plan = later.plan(["Search", write]).ask
    options = [Option("Red", "#f00", "like blood"), "Blue"]

    assert row(card(desk, plan), "What").split("\n") == [
        "1. Search",
        "2. Write [llm] (needs approval)",
        "│ in a page",
        "by  7",
    ]
    assert "│ Dear Sir" in row(card(desk, later.draft("Dear Sir\nbye").ask), "What")
    assert row(card(desk, later.question("How many?", int).ask), "What") == (
        "│ How many?\nThe answer is a whole number."
    )
    choice = row(card(desk, later.choose("Which?", options, own=True).ask), "What").split("\n")
    assert choice == [
        "│ Which?",
        "1. Red",
        'stands for "#f00"',
        "│ like blood",
        "2. Blue",
        "Or a value of your own: text.",
    ]
    notice = later.notice("Mail from bob", {"subject": "hi"}).ask
    assert row(card(desk, notice), "What") == '│ Mail from bob\nsubject  "hi"'
    feedback = later.feedback({"a": 1}, title="Good?").ask
    assert row(card(desk, feedback), "What") == 'result  {"a": 1}'
    assert row(card(desk, feedback), "Title") == "Good?"
    desk.reject(feedback)
    assert row(card(desk, desk.get(feedback.id)), "Decision").startswith("called bad by sam")
    assert "│ Go on?" in row(card(desk, later.confirm("Go on?").ask), "What")


def test_a_doubt_shows_the_call_what_is_known_and_what_came_late(
    desk: Desk, clock: FakeClock
) -> None:
    ask = desk.open("refund", {"amount": 40}, returns=int)
    desk.approve(ask)
    call = desk.begin(ask, limit="1m")
    clock.advance("2m")
    desk.sweep()
    with pytest.raises(Exception, match="evidence"):
        desk.finish(call, 40)
    effect = desk.get(ask.id).effect
    assert effect is not None
    doubt = desk.get(str(effect.doubt))

    text = card(desk, doubt)

    assert "doubt, open" in text
    assert "amount  40" in row(text, "What")
    known = row(text, "Known").replace("\n", " ")
    assert "begun at 2026-01-01 09:00:00 UTC by the program of shop. There is no result" in known
    assert f"Idempotency key: {effect.key}." in known
    assert "begun" not in row(text, "Risk")
    assert f"sayso inbox show {ask.id}" in row(text, "Known")
    assert "result   40" in row(text, "Known")
    assert row(card(desk, ask), "Effect") == f"unknown: see {doubt.id}"


# --- who must agree, and what came of it -------------------------------------------------------


def test_in_a_team_the_card_says_who_voted_and_who_is_missing(desk: Desk) -> None:
    desk.people.add("anna", ["senior"])
    desk.people.add("sec", ["security"])
    ask = desk.open("f", needs=["1 senior", "1 security"], deny=2)
    desk.approve(ask, by="anna", note="fine")

    said = row(card(desk, ask), "Who")

    assert "Needs 1 senior and 1 security, each of them another person." in said
    assert "2 refusals end it." in said
    assert 'anna said approve, via terminal as sam@till: "fine"' in said
    assert "Still missing: 1 security." in said


def test_a_decision_says_who_how_when_and_why(desk: Desk) -> None:
    ask = desk.open("f")
    desk.reject(ask, "Not a double charge", kind="harmful", end=True)

    said = row(card(desk, ask), "Decision").replace("\n", " ")

    assert said.startswith("rejected as harmful by sam, and the run ends, 2026-01-01 09:00 UTC")
    assert "via terminal as sam@till" in said
    assert "│ Not a double charge" in said


def test_the_clock_is_named_as_such(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("f", within="1h")
    clock.advance("2h")
    desk.sweep()

    assert row(card(desk, ask), "Decision").startswith("rejected by the clock")
    assert "Nobody decided within 1 h." in row(card(desk, ask), "Decision")


def test_a_deadline_that_has_passed_says_so(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("f", within="1h")
    clock.advance("2h")

    assert "passed at 2026-01-01 10:00 UTC" in row(card(desk, ask), "Deadline")


def test_an_answer_and_a_chosen_option_are_shown(desk: Desk) -> None:
    question = desk.later.question("How many?", int).ask
    choice = desk.later.choose("Which?", [Option("Red", "#f00")]).ask
    desk.respond(question, 3)
    desk.approve(choice, option="Red")

    assert "answer  3" in row(card(desk, question), "Decision")
    assert 'chosen  "Red"' in row(card(desk, choice), "Decision")


def test_an_edit_shows_old_and_new_and_marks_what_was_worked_out_before(desk: Desk) -> None:
    ask = desk.open("pay", {"amount": 40, "to": "ada"}, impact="40 EUR leave")
    desk.edit(ask, {"amount": 30})

    text = card(desk, ask)

    assert row(text, "Edits") == "amount  40 -> 30"
    assert row(text, "What") == 'pay\namount  30\nto      "ada"'
    assert "(worked out before the edit)" in row(text, "Impact")
    assert row(text, "Decision").startswith("approved with edits by sam")


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        ({"result": {"id": 3}}, 'done:\nresult  {"id": 3}'),
        ({}, "done"),
        ({"error": "no money"}, "failed: no money"),
    ],
)
def test_the_effect_says_what_came_of_it(desk: Desk, ending: dict[str, Any], shown: str) -> None:
    ask = desk.open("pay")
    desk.approve(ask)
    assert row(card(desk, ask), "Effect") == "not begun"
    call = desk.begin(ask)
    assert row(card(desk, ask), "Effect") == "begun 2026-01-01 09:00 UTC, no result yet"

    desk.finish(call, **ending)

    assert row(card(desk, ask), "Effect") == shown


def test_an_ask_whose_program_has_gone_says_that_it_can_only_be_closed(
    desk: Desk, clock: FakeClock
) -> None:
    content = desk.forms.action("pay", {"amount": 40})
    ask = desk.put(content, lease=Lease("somebody", timedelta(seconds=30)))
    assert GONE not in card(desk, ask)

    clock.advance("1m")

    assert row(card(desk, ask), "Status") == GONE


def test_an_erased_ask_can_still_be_shown(desk: Desk) -> None:
    ask = desk.open("pay", {"amount": 40}, why="secret")
    desk.reject(ask)
    desk.erase(ask, "asked for")

    text = card(desk, ask)

    assert "secret" not in text
    assert row(text, "Code") == "(erased)"
    assert summary(desk.get(ask.id)) == Content.erased().title


# --- what must not deceive ---------------------------------------------------------------------


def hostile_asks(desk: Desk) -> Iterator[Ask]:
    bad, later = hostile.ALL, desk.later
    names = dict.fromkeys(("run", "thread"), hostile.MARKUP)
    terms: dict[str, Any] = {"why": f"{bad}\n{hostile.FAKED}", **names}
    facts = {bad: bad, "list": [bad], "page": hostile.FAKED + bad}
    yield desk.open(
        "pay", {bad: bad, "t": hostile.FAKED}, title=bad, facts=facts, impact=bad, **terms
    )
    yield later.confirm(hostile.FAKED + bad, facts, **terms).ask
    yield later.question(hostile.FAKED + bad, **terms).ask
    yield later.choose(bad, [Option(bad, bad, hostile.FAKED + bad)], own=True, **terms).ask
    yield later.draft(hostile.FAKED + bad, title=bad, **terms).ask
    yield later.plan([bad, hostile.FAKED + bad, {"title": bad, bad: bad}], title=bad, **terms).ask
    yield later.notice(hostile.FAKED + bad, facts, **terms).ask
    yield later.feedback(facts, title=bad, **terms).ask
    edited = desk.open("pay", {"to": "ada", "text": "a"}, **terms)
    desk.edit(edited, {"to": bad, "text": hostile.FAKED + bad}, note=hostile.FAKED + bad)
    call = desk.begin(edited)
    yield desk.finish(call, {"result": hostile.FAKED + bad, bad: bad})
    failed = desk.open("pay")
    desk.approve(failed, note=bad)
    yield desk.finish(desk.begin(failed), error=bad)


@pytest.mark.parametrize("width", [80, 40])
def test_hostile_text_is_labelled_and_never_reaches_the_left_edge(desk: Desk, width: int) -> None:
    for ask in hostile_asks(desk):
        text = card(desk, ask, width=width)
        shown = desk.get(ask.id)

        assert not hostile.raw_in(text)
        joined = re.sub(r"[\s│]+", " ", text)
        assert "[bold red]approved[/bold red]" in joined
        if width == 80:
            assert "[U+202E RIGHT-TO-LEFT OVERRIDE]" in joined
        edge = [line for line in text.splitlines()[1:] if not line.startswith(" ")]
        labels = [line[:10].strip() for line in edge if line.strip()]
        assert labels == [label for label in OURS if label in labels], text
        assert not hostile.raw_in(summary(shown) + outcome(shown))


@pytest.mark.parametrize("width", [80, 40])
def test_a_card_keeps_to_its_width_and_ends_no_line_in_blanks(desk: Desk, width: int) -> None:
    wide = "日本語のとても長い説明文です。" * 20
    asks = [
        *hostile_asks(desk),
        desk.open("f", {"a": "x" * 500, "b": wide, "c": 10**300}, why=wide),
    ]
    for ask in asks:
        lines = card(desk, ask, width=width).splitlines()

        assert max(map(cell_len, lines)) <= width
        assert [line for line in lines if line != line.rstrip()] == []


def test_piped_into_a_file_there_are_no_codes_and_no_boxes(desk: Desk) -> None:
    text = card(desk, desk.open("f", {"a": 1}, risk="critical", why="because"))

    assert "\x1b" not in text
    assert not set(text) & set("╭╮╰╯─┌┐└┘━")


def test_a_screen_that_knows_only_ascii_gets_a_bar_it_can_draw(desk: Desk) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    ask = desk.open("f", why="because")
    Screen(file=file, width=80).print(Card(ask=ask, roster=desk.store.roster(), now=ask.opened_at))
    file.flush()

    assert b"| because" in file.buffer.getvalue()


def test_what_is_too_long_says_so_until_all_of_it_is_wanted(desk: Desk) -> None:
    page = "\n".join(f"line {n}" for n in range(1, 301))
    many = {f"n{n}": n for n in range(300)}
    ask = desk.open("f", {"a page": page, **many}, why="w" * 20_000)

    short, full = card(desk, ask), card(desk, ask, full=True)

    assert short.count("NOT ALL IS SHOWN") == 3
    assert "line 100\n" in short
    assert "line 101\n" not in short
    assert "NOT ALL IS SHOWN" not in full
    assert "line 300\n" in full
    assert "n299" in full


def test_an_argument_of_a_megabyte_is_drawn_in_no_time(desk: Desk) -> None:
    ask = desk.open("f", {"text": "all work and no play\n" * 40_000})

    assert card(desk, ask).count("\n") < 130


# --- changes and summaries ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"a": 1}, {"a": 1}, ""),
        ({"a": 1}, {"a": 2}, "a  1 -> 2\n"),
        ({"a": 1}, {"a": 1.0}, "a  1 -> 1.0\n"),
        ({"a": 1}, {"a": True}, "a  1 -> true\n"),
        ({"a": "1"}, {"a": 1}, 'a  "1" -> 1\n'),
        ({}, {"a": 1}, "a  (not given) -> 1\n"),
        ({"a": 1}, {}, "a  1 -> (not given)\n"),
        (
            {"text": "one\ntwo\nthree"},
            {"text": "one\n2\nthree"},
            "text\n│   one\n│ - two\n│ + 2\n│   three\n",
        ),
        (
            {"steps": ["a" * 40, "b", "c"]},
            {"steps": ["a" * 40, "c", "d"]},
            f"steps\n│   {'a' * 40}\n│ - b\n│   c\n│ + d\n",
        ),
    ],
)
def test_changes_show_old_and_new_and_nothing_else(
    before: dict[str, Any], after: dict[str, Any], shown: str
) -> None:
    assert drawn(Changes(before, after)) == shown


def test_changes_of_a_plan_are_lines_of_steps() -> None:
    search = {"title": "Search", "tool": "web", "detail": "all of it"}
    before = {"steps": [search, "Write", "Send"]}
    after = {"steps": [search | {"needs_approval": True, "detail": "a part"}, "Send", "Write"]}

    assert drawn(Changes(before, after, plan=True)) == (
        "steps\n"
        "│ - Search [web]\n"
        '│ -     detail: "all of it"\n'
        "│ + Search [web] (needs approval)\n"
        '│ +     detail: "a part"\n'
        "│ + Send\n"
        "│   Write\n"
        "│ - Send\n"
    )


def test_hostile_changes_are_labelled() -> None:
    text = drawn(Changes({"a": "x", "b": "1\n2"}, {"a": hostile.ALL, "b": f"1\n{hostile.ALL}"}))

    assert not hostile.raw_in(text)
    assert text.count("[U+202E") == 2


def test_a_long_difference_is_cut_and_says_so() -> None:
    new = "\n".join(map(str, range(500)))

    assert "NOT ALL IS SHOWN: 4" in drawn(Changes({"t": "a\nb"}, {"t": new}))
    assert "NOT ALL" not in drawn(Changes({"t": "a\nb"}, {"t": new}, full=True))


def test_a_summary_is_one_line_drawn_from_the_call(desk: Desk) -> None:
    later = desk.later

    assert (
        summary(desk.open("refund", {"amount": 40}, title="Nothing to see")) == "refund(amount=40)"
    )
    assert summary(desk.open("refund")) == "refund()"
    assert summary(later.question("How many?").ask) == "How many?"
    assert summary(later.plan(["Search", "Write"]).ask) == "Plan: 2 steps, 1. Search"
    assert summary(later.draft("\nDear Sir,\nbye").ask) == "Draft: Dear Sir,"
    long = summary(desk.open("refund", {"why": "x" * 200}), 40)
    assert len(long) == 40
    assert long.endswith("…")


def test_all_who_agreed_to_what_was_decided_are_named(desk: Desk) -> None:
    for name in ("anna", "ben", "zoe"):
        desk.people.add(name)
    ask = desk.open("refund", {"amount": 40}, needs=["3 reviewer"])
    for name in ("anna", "ben", "zoe"):
        desk.approve(desk.get(ask.id), by=name)
    refused = desk.open("refund", {"amount": 41}, needs=["3 reviewer"])
    desk.approve(refused, by="anna")
    desk.reject(desk.get(refused.id), "Too much", by="ben")
    edited = desk.open("refund", {"amount": 42}, needs=["2 reviewer"])
    desk.approve(edited, by="anna")
    desk.edit(desk.get(edited.id), {"amount": 30}, by="ben")
    desk.approve(desk.get(edited.id), by="zoe")

    assert outcome(desk.get(ask.id)) == "approved by anna, ben and zoe"
    assert outcome(desk.get(refused.id)) == "rejected by ben"
    assert outcome(desk.get(edited.id)) == "approved with edits by ben and zoe"
