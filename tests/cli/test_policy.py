"""`sayso policy`: check, test, simulate, explain."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sayso import Agent, Ask, Desk, ScriptedModel
from sayso.agent import call
from sayso.policy.naming import _args_in
from tests import forked
from tests.cli.conftest import COMMAND, Sayso
from tests.hostile import ALL, raw_in

POLICY = """
[tiers.money]
needs = ["2 finance"]
within = "4h"
escalate = [{ after = "2h", to = ["lead"] }, { after = "3h", to = ["zoe"] }]

[groups]
security = ["zoe"]

[tools]
look_up = "low"

[[rules]]
name = "large refunds"
tool = "refund"
when = "args.amount > 100"
effect = "ask"
needs = ["1 senior", "1 security"]
cool_off = "8s"
why = "More than 100 needs a senior and security."

[[rules]]
name = "payments"
tools = ["pay_*"]
tier = "money"

[[rules]]
name = "never on Sundays"
tool = "deploy"
when = "time.getDayOfWeek() == 0"
effect = "deny"

[agents]
asks = "100 per hour"
waiting = 50

[agents.crawler]
waiting = 1
"""

CASES = """
[[cases]]
name = "small refunds run alone"
tool = "refund"
args = { amount = 5 }
expect = "allow"

[[cases]]
name = "large refunds need two"
tool = "refund"
args = { amount = 500 }
expect = { effect = "ask", needs = ["1 senior", "1 security"], rules = ["large refunds"] }

[[cases]]
name = "no deploys on Sundays"
tool = "deploy"
at = 2025-01-05T12:00:00Z
expect = { effect = "deny", sentence = "never on Sundays" }

[[cases]]
name = "deploys on other days"
tool = "deploy"
expect = { effect = "allow", rules = [] }
"""


@pytest.fixture
def file(here: Path) -> Path:
    path = here / "sayso.toml"
    path.write_text(POLICY)
    return path


@pytest.fixture
def staffed(desk: Desk) -> Desk:
    """A desk on which everything in the policy can be decided."""
    for name, roles in {
        "anna": ["senior", "finance"],
        "ben": ["finance", "lead"],
        "zoe": [],
        "jo": ["junior"],
    }.items():
        desk.people.add(name, roles)
    return desk


# --- check ---


def test_a_policy_is_told_in_plain_words(sayso: Sayso, file: Path, staffed: Desk) -> None:
    done = sayso("policy", "check")

    assert done.code == 0
    first, second, *_ = done.out.splitlines()
    assert first.startswith("policy: sayso.toml, version ")
    assert first.endswith(", 4 rules of its own and 5 of the default policy")
    assert second == "desk: ./sayso.db, 4 people"
    for line in (
        "  low       runs alone",
        "  high      ask 1 senior",
        "  money     ask 2 finance; within 4 h, then rejected; reminded at 50% and 90%;",
        "            after 2 h whoever is lead may stand in; after 3 h whoever is zoe may",
        "  cannot be undone  (default)",
        "    For every call where it is stated that it cannot be undone: ask 1 reviewer.",
        "    when reversible == false",
        "  tools.look_up  (line 11)",
        "    For every call of look_up: it belongs to the tier low, which runs alone.",
        "  large refunds  (line 13)",
        "    For every call of refund where amount is more than 100: ask 1 senior and 1",
        "    when args.amount > 100",
        "  payments  (line 22)",
        "    For every call of pay_*: it belongs to the tier money, which needs 2",
        "    For every call of deploy where the day in UTC is Sunday: it does not run.",
        "  security: zoe",
        "  senior counts as junior",
        "  each agent: at most 100 asks in 1 h, at most 50 open at once",
        "  crawler: at most 100 asks in 1 h, at most 1 open at once",
    ):
        assert line in done.out.splitlines(), line
    assert done.out.endswith("Nothing is wrong with it.\n")


def test_without_a_file_the_default_policy_is_told_and_nothing_is_made(
    sayso: Sayso, here: Path
) -> None:
    done = sayso("policy", "check")

    assert done.code == 0
    assert done.out.startswith(
        "policy: the default one (no sayso.toml here has another), 5 rules\n"
    )
    assert "desk: none at ./sayso.db, so no people to check against" in done.out
    assert list(here.iterdir()) == []


def test_a_broken_policy_is_one_line_with_its_place(sayso: Sayso, here: Path) -> None:
    (here / "strict.toml").write_text(POLICY.replace("args.amount", "amount"))

    done = sayso("policy", "check", "strict.toml")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("sayso: strict.toml:16:9: There is nothing called 'amount'.")
    assert len(done.err.splitlines()) == 1
    assert sayso("policy", "check", "strict.toml", "--json").error["error"] == "bad-policy"
    assert "No such file" in sayso("policy", "check", "absent.toml").err


def test_what_nobody_could_decide_fails_the_check_and_the_usual_tiers_only_warn(
    sayso: Sayso, file: Path, desk: Desk
) -> None:
    desk.people.add("anna", ["finance", "lead"])

    done = sayso("policy", "check")

    assert done.code == 1
    wrong = [line for line in done.out.splitlines() if line.startswith(("fail", "warn"))]
    assert [line.partition(":")[0] for line in wrong] == [
        "warn  tier medium",
        "warn  tier high",
        "warn  tier critical",
        "fail  tier money",
        "fail  tier money",
        "fail  rule 'large refunds', line 13",
        "fail  group security",
    ]
    assert "Nothing is wrong" not in done.out
    told = sayso("policy", "check", "--json")
    assert (told.code, told.json["ok"]) == (1, False)
    assert [each["fatal"] for each in told.json["problems"]] == [False] * 3 + [True] * 4


def test_warnings_alone_do_not_fail_the_check(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna", ["senior"])

    done = sayso("policy", "check")

    assert done.code == 0
    assert "warn  tier critical: Nobody holds the role 'security'." in done.out
    assert "fail" not in done.out


def test_a_policy_can_be_checked_where_the_desk_cannot_be_reached(sayso: Sayso, file: Path) -> None:
    done = sayso("policy", "check", "--desk", "postgresql://nobody@127.0.0.1:1/none")

    assert done.code == 0
    assert "desk: no people to check against" in done.out


def test_a_policy_as_data(sayso: Sayso, file: Path, staffed: Desk) -> None:
    told = sayso("policy", "check", "--json").json

    assert (told["ok"], told["problems"]) == (True, [])
    assert told["policy"]["source"] == "sayso.toml"
    assert told["policy"]["tiers"]["low"] == "runs alone"
    assert told["policy"]["rules"][-1] == {
        "name": "never on Sundays",
        "line": 27,
        "about": "deploy when time.getDayOfWeek() == 0",
        "says": "deny",
        "sentence": "For every call of deploy where the day in UTC is Sunday: it does not run.",
    }
    assert told["policy"]["agents"] == [
        {"agent": None, "asks": 100, "per": 3600.0, "waiting": 50},
        {"agent": "crawler", "asks": 100, "per": 3600.0, "waiting": 1},
    ]


def test_a_policy_is_checked_against_people_whom_it_alone_gives_roles(
    sayso: Sayso, file: Path, here: Path, staffed: Desk
) -> None:
    """The file that is checked counts, not the one in force."""
    (here / "other.toml").write_text(
        '[[rules]]\nname = "x"\neffect = "ask"\nneeds = ["1 security"]\n'
    )

    assert sayso("policy", "check").code == 0
    assert "Nobody holds the role 'security'" in sayso("policy", "check", "other.toml").out


def test_people_can_be_added_until_the_policy_fits_them(sayso: Sayso, here: Path, ask: Ask) -> None:
    (here / "sayso.toml").write_text('[tiers.own]\nneeds = ["1 lead"]\n')
    word = "Nothing is approved here until the policy is in order: sayso policy check"

    first = sayso("people", "add", "anna")
    assert (first.code, word in first.out) == (0, True)
    assert sayso("inbox", "list").code == 0, "looking is always possible"
    told = sayso("people", "add", "ben", "--json")
    assert told.code == 0
    assert "Nobody holds the role 'lead'" in told.json["policy"]
    last = sayso("people", "add", "lea", "--role", "lead")

    assert (last.code, word in last.out) == (0, False)
    assert sayso("inbox", "list").code == 0
    removed = sayso("people", "remove", "lea", "--yes").out
    assert "What needs those who are missing is refused: sayso policy check" in removed


MISSPELT = """
[tools]
refnd = "high"

[[rules]]
name = "large"
tool = "refund"
when = 'args.amuont > 100 || args["order"] == "args.nothing"'
effect = "deny"

[[rules]]
name = "other"
tools = ["pay_*", "wire"]
when = "tool == 'wier' || tool in ['refund', 'pay_all']"
effect = "deny"
"""


def test_names_that_nobody_ever_used_are_said_with_the_nearest_known_e49(
    sayso: Sayso, here: Path, desk: Desk
) -> None:
    desk.open("Refund", {"amount": 5, "order": 7})
    desk.open("wire", {"iban": "x"})
    desk.withdraw(desk.open("pay_all", {}))
    (here / "sayso.toml").write_text(MISSPELT)

    done = sayso("policy", "check")

    assert done.code == 0
    said = " ".join(done.out.split())
    for words in (
        "names: compared with 3 tools in the journal",
        "warn tools.refnd, line 3: No tool 'refnd' was ever called here. Did you mean 'refund'?",
        "warn rule 'large', line 5: No call of refund had an argument 'amuont'. Did you mean "
        "'amount'?",
        "warn rule 'other', line 11: No tool 'wier' was ever called here. Did you mean 'wire'?",
    ):
        assert words in said, words
    assert said.count("warn ") == 3, said
    assert "Nothing is wrong" not in said

    strict = sayso("policy", "check", "--strict", "--json")
    assert (strict.code, strict.json["ok"], strict.json["compared"]) == (1, False, 3)
    assert {one["fatal"] for one in strict.json["problems"]} == {True}


def test_what_is_denied_is_never_called_and_fails_no_strict_check_e49(
    sayso: Sayso, here: Path, desk: Desk
) -> None:
    desk.open("refund", {"amount": 5})
    rule = '[[rules]]\nname = "never"\ntool = "{}"\neffect = "deny"\n'
    (here / "sayso.toml").write_text(rule.format("wipe"))

    done = sayso("policy", "check", "--strict")
    assert (done.code, "warn  rule 'never', line 1: No tool 'wipe' was ever" in done.out) == (
        0,
        True,
    )

    (here / "sayso.toml").write_text(rule.format("refnd"))
    assert sayso("policy", "check", "--strict").code == 1


def test_tools_that_a_run_called_without_asking_are_known_e49(
    sayso: Sayso, here: Path, desk: Desk
) -> None:
    (here / "sayso.toml").write_text('[[rules]]\nname = "x"\ntool = "look"\n'
                                     'when = "args.order > 1"\neffect = "deny"\n')  # fmt: skip

    def look(order: int) -> str:
        return f"order {order}"

    model = ScriptedModel([call("look", order=1), "Done"])
    desk.run(Agent("clerk", model, [look]), "Look", wait=False)

    done = sayso("policy", "check", "--strict")

    assert (done.code, "1 tool in the journal" in done.out) == (0, True), done.out


@pytest.mark.parametrize("there", [False, True])
def test_where_nothing_was_called_there_is_nothing_to_compare_names_with_e49(
    sayso: Sayso, here: Path, there: bool
) -> None:
    (here / "sayso.toml").write_text(MISSPELT)
    if there:
        Desk("sqlite:///sayso.db").inbox()

    done = sayso("policy", "check", "--strict")

    assert done.code == 0
    assert "no tool was called here yet, so tools and arguments cannot be compared" in done.out


@pytest.mark.parametrize(
    ("condition", "args"),
    [
        ("args.amount > 1 && args . to == 'args.cc'", ["amount", "to"]),
        ("has(args.memo) // args.comment", ["memo"]),
        ("args['a b'] == args[\"c\"] && my.args.no == 1", ["a b", "c"]),
        ("args.list.exists(x, x.args == 1)", ["list"]),
        ("size(args) > 2", []),
    ],
)
def test_a_condition_names_the_arguments_that_it_looks_at_e49(
    condition: str, args: list[str]
) -> None:
    assert list(_args_in(condition)) == args


# --- test ---


def test_cases_that_are_as_expected_pass(sayso: Sayso, file: Path, here: Path) -> None:
    (here / "cases.toml").write_text(CASES)

    done = sayso("policy", "test", "--cases", "cases.toml")

    assert done.code == 0
    assert done.out.endswith("4 of 4 cases are as expected.\n")
    assert sayso("policy", "test", "--cases", "cases.toml", "--json").json == {
        "ok": True,
        "cases": 4,
        "failed": [],
    }


def test_what_differs_is_a_table_and_an_exit_code(sayso: Sayso, here: Path) -> None:
    (here / "weaker.toml").write_text(POLICY.replace("> 100", "> 1000").replace("deny", "allow"))
    (here / "cases.toml").write_text(CASES)

    done = sayso("policy", "test", "weaker.toml", "--cases", "cases.toml")

    assert done.code == 1
    table = [line.split("  ") for line in done.out.splitlines()[2:-2]]
    assert [[cell.strip() for cell in row if cell] for row in table] == [
        ["CASE", "WHAT", "EXPECTED", "FOUND"],
        ["large refunds need two", "effect", "ask", "allow"],
        ["large refunds need two", "needs", "1 security, 1 senior", "nobody is asked"],
        ["large refunds need two", "rules", "large refunds", "none"],
        ["no deploys on Sundays", "effect", "deny", "allow"],
    ]
    assert done.out.endswith("\n2 of 4 cases are as expected.\n")
    told = sayso("policy", "test", "weaker.toml", "--cases", "cases.toml", "--json")
    assert told.code == 1
    assert told.json["failed"][1] == {
        "name": "no deploys on Sundays",
        "line": 14,
        "differences": [{"what": "effect", "expected": "deny", "found": "allow"}],
    }


@pytest.mark.parametrize(
    ("what", "right", "wrong", "found"),
    [
        ("tier", '"money"', '"high"', "money"),
        ("needs", '"2 finance"', '"1 finance"', "2 finance"),
        ("deny", "1", "2", "1"),
        ("within", '"4h"', '"1h"', "14400 s"),
        ("on_timeout", '"reject"', '"approve"', "reject"),
        ("cool_off", "0", '"8s"', "0 s"),
        ("execute_within", None, '"1h"', "none"),
        ("requester", "false", "true", "false"),
        ("rules", '["payments"]', "[]", "payments"),
        ("sentence", '"need 2 finance"', '"because"', "Calls of money risk need 2 finance."),
    ],
)
def test_everything_about_a_ruling_can_be_expected(
    sayso: Sayso, file: Path, here: Path, what: str, right: str | None, wrong: str, found: str
) -> None:
    def tried(value: str) -> list[dict[str, str]]:
        case = f'[[cases]]\nname = "x"\ntool = "pay_rent"\nexpect = {{ {what} = {value} }}\n'
        (here / "cases.toml").write_text(case)
        failed = sayso("policy", "test", "--cases", "cases.toml", "--json").json["failed"]
        return failed[0]["differences"] if failed else []

    if right is not None:
        assert tried(right) == []
    (difference,) = tried(wrong)
    assert (difference["what"], difference["found"]) == (what, found)


@pytest.mark.parametrize(
    ("case", "place", "word"),
    [
        ("", "1:1", "There are no cases"),
        ("[[case]]\n", "1:1", "Did you mean cases?"),
        ('[[cases]]\nexpect = "ask"\n', "1:1", "A case needs a name"),
        ('[[cases]]\nname = "x"\n', "1:1", "says what it expects"),
        ('[[cases]]\nname = "x"\nexpect = {}\n', "3:10", "says what it expects"),
        ('[[cases]]\nname = "x"\nexpect = "askk"\n', "3:10", "allow, ask or deny"),
        ('[[cases]]\nname = "x"\nexpect = { effecct = "ask" }\n', "3:12", "Did you mean effect?"),
        ('[[cases]]\nname = "x"\nexpect = { needs = 5 }\n', "3:20", "needs is a list"),
        ('[[cases]]\nname = "x"\ntol = "a"\nexpect = "ask"\n', "3:1", "Did you mean tool?"),
        ('[[cases]]\nname = "x"\nrisk = 5\nexpect = "ask"\n', "3:8", "risk is a text"),
        ('[[cases]]\nname = "x"\nconfidence = 2\nexpect = "ask"\n', "3:14", "from 0 to 1"),
        ('[[cases]]\nname = "x"\nat = 2025-01-01T00:00:00\nexpect = "ask"\n', "3:6", "its zone"),
        ('[[cases]]\nname = "x"\nargs = { d = 2025-01-01 }\nexpect = "ask"\n', "3:14", "no dates"),
        ('[[cases]]\nname = "x"\nargs = 5\nexpect = "ask"\n', "3:8", "args is a table"),
    ],
)
def test_cases_that_make_no_sense_are_refused_with_their_place(
    sayso: Sayso, here: Path, case: str, place: str, word: str
) -> None:
    (here / "cases.toml").write_text(case)

    done = sayso("policy", "test", "--cases", "cases.toml")

    assert done.code == 1
    assert done.err.startswith(f"sayso: cases.toml:{place}: ")
    assert word in done.err


def test_a_program_in_ci_sees_the_exit_code(file: Path, here: Path) -> None:
    (here / "cases.toml").write_text(CASES.replace("amount = 5 ", "amount = 500 "))

    done = forked.run(
        [COMMAND, "policy", "test", "--cases", "cases.toml"], cwd=here, env=os.environ
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert "small refunds run alone  effect  allow     ask" in done.stdout


# --- simulate ---


def test_one_call_and_who_would_be_asked(sayso: Sayso, file: Path, staffed: Desk) -> None:
    done = sayso("policy", "simulate", "refund", "--args", '{"amount": 140}', "--risk", "high")

    assert done.code == 0
    assert done.out.splitlines()[3:] == [
        "Ruling     ask: it waits for people",
        "Because    More than 100 needs a senior and security. Calls of high risk need 1",
        "           senior.",
        "Rules      large refunds (line 13)",
        "Tier       high",
        "Needs      1 security and 1 senior",
        "           can be taken back for 8 s",
        "Who        1 security: zoe",
        "           1 senior: anna",
        "Earned     cannot be: people are not asked because of its tier alone",
    ]
    assert list(staffed.inbox()) == []


def test_a_call_that_nobody_could_decide_is_told(sayso: Sayso, file: Path, desk: Desk) -> None:
    desk.people.add("anna", ["senior"])
    call = ("policy", "simulate", "pay_rent", "--risk", "low")

    done = sayso(*call)

    assert "Ruling     ask: it would be refused, as nobody could decide it" in done.out
    assert "it waits for people" not in done.out
    assert "Who        2 finance: nobody" in done.out
    assert "           later, lead: nobody" in done.out
    assert "Nobody could decide it: Nobody holds the role 'finance'" in done.out
    told = sayso(*call, "--json").json
    assert told["who"] == [{"needs": "2 finance", "people": []}]
    assert told["escalate"] == [
        {"after": 7200.0, "to": ["lead"]},
        {"after": 10800.0, "to": ["lead", "zoe"]},
    ]
    assert "Nobody holds the role 'finance'" in told["undecidable"]
    assert (told["tier"], told["within"]) == ("money", 14400.0)


def test_alone_at_the_desk_you_would_be_asked(sayso: Sayso, file: Path) -> None:
    done = sayso("policy", "simulate", "pay_rent")

    assert "solo mode" in done.out
    assert sayso("policy", "simulate", "pay_rent", "--json").json["undecidable"] is None


@pytest.mark.parametrize(
    ("options", "effect", "rule"),
    [
        ([], "allow", None),
        (["--irreversible"], "ask", "cannot be undone"),
        (["--reversible"], "allow", None),
        (["--affects", "customers"], "ask", "affects others"),
        (["--confidence", "0.5"], "ask", "unsure"),
        (["--conflict"], "ask", "conflict"),
        (["--unseen"], "ask", "unseen"),
        (["--risk", "critical"], "ask", None),
        (["--gated"], "ask", None),
        (["--agent", "intern"], "ask", "watched"),
        (["--tag", "a", "--tag", "pii"], "ask", "private"),
        (["--kind", "draft"], "ask", "drafts"),
        (["--at", "2025-01-05T12:00:00Z"], "deny", "Sundays"),
        (["--at", "2025-01-06T00:30:00+02:00"], "deny", "Sundays"),
        (["--at", "2025-01-06T12:00:00Z"], "allow", None),
    ],
)
def test_every_fact_of_a_call_can_be_given(
    sayso: Sayso, here: Path, options: list[str], effect: str, rule: str | None
) -> None:
    rules = {
        "watched": ('agent == "intern"', "ask"),
        "private": ('"pii" in tags', "ask"),
        "drafts": ('kind == "draft"', "ask"),
        "Sundays": ("time.getDayOfWeek() == 0", "deny"),
    }
    (here / "own.toml").write_text(
        "".join(
            f"[[rules]]\nname = '{name}'\nwhen = '''{when}'''\neffect = '{says}'\n"
            for name, (when, says) in rules.items()
        )
    )
    moment = [] if "--at" in options else ["--at", "2025-01-01T12:00:00Z"]

    told = sayso(
        "policy", "simulate", "x", "--policy", "own.toml", "--json", *options, *moment
    ).json

    assert told["effect"] == effect
    assert told["rules"] == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("options", "code", "word"),
    [
        (["--args", "amount=40"], 1, "--args is no JSON"),
        (["--args", "[1]"], 1, "an object of names and values"),
        (["--at", "tomorrow"], 1, "is no time"),
        (["--at", "2025-01-05T12:00:00"], 1, "no time zone"),
        *((["--confidence", sure], 2, "--confidence") for sure in ("7", "-1", "nan", "high")),
    ],
)
def test_what_cannot_be_simulated_is_told_plainly(
    sayso: Sayso, options: list[str], code: int, word: str
) -> None:
    done = sayso("policy", "simulate", "x", *options)

    assert done.code == code
    assert word in done.err


def test_hostile_text_is_made_visible(sayso: Sayso, desk: Desk) -> None:
    ask = desk.open("pay", title=ALL)

    for command in (("simulate", ALL, "--risk", ALL), ("explain", ask.id)):
        done = sayso("policy", *command)

        assert done.code == 0
        assert raw_in(done.out) == []


# --- explain ---


def test_an_ask_says_why_it_asked_whom(sayso: Sayso, staffed: Desk) -> None:
    ask = staffed.open(
        "wipe", {"name": "users"}, needs=["1 senior", "1 reviewer"], deny=2, within="4h"
    )
    staffed.approve(ask, by="anna")

    done = sayso("policy", "explain", ask.id)

    assert done.code == 0
    for line in (
        f"Ask        {ask.id} wipe",
        "What       wipe, asked by shop",
        "           2 refusals end it",
        "Voted      anna: yes",
        "Missing    1 reviewer",
    ):
        assert line in done.out.splitlines(), line
    assert "1 senior: anna" in done.out
    told = sayso("policy", "explain", ask.id.upper(), "--json").json
    assert (told["id"], told["deny"], told["missing"]) == (ask.id, 2, ["1 reviewer"])
    assert told["votes"] == [{"by": "anna", "verdict": "approve"}]
    assert {"needs": "1 senior", "people": ["anna"]} in told["who"]
    assert told["due_at"] is not None


def test_an_ask_of_a_tier_of_ones_own_says_which_and_what_time_does(
    sayso: Sayso, file: Path, staffed: Desk
) -> None:
    with Desk(staffed.url, agent="shop", policy=file) as desk:
        ask = desk.open("pay_rent", {"amount": 900})
        desk.approve(ask, by="anna")

    done = sayso("policy", "explain", ask.id)

    assert done.code == 0
    for line in (
        "Because    Calls of money risk need 2 finance.",
        "Rules      payments",
        "Risk       not stated",
        "Tier       money",
        f"Policy     version {desk.policy.version}",
        "Needs      2 finance",
        "           after 2 h whoever is lead may stand in",
        "           after 3 h whoever is zoe may stand in",
        "Who        2 finance: anna, ben",
        "Voted      anna: yes",
        "Missing    1 finance",
    ):
        assert line in done.out.splitlines(), line
    told = sayso("policy", "explain", ask.id, "--json").json
    assert told["ruling"]["tier"] == "money"
    assert told["ruling"]["ladder"] == [[7200.0, ["lead"]], [10800.0, ["lead", "zoe"]]]


def test_an_explanation_is_that_of_the_rules_of_then_whatever_the_file_has_become(
    sayso: Sayso, file: Path, staffed: Desk
) -> None:
    with Desk(staffed.url, agent="shop", policy=file) as desk:
        ask = desk.open("pay_rent", {"amount": 900})
        before = desk.policy.version
    for text in (POLICY.replace('needs = ["2 finance"]', 'needs = ["1 finance"]'), "[rulez]\n"):
        file.write_text(text)

        done = sayso("policy", "explain", ask.id)

        assert f"Policy     version {before}" in done.out.splitlines()
        assert "Needs      2 finance" in done.out.splitlines()


def test_an_ask_says_whether_whoever_requested_it_may_decide(sayso: Sayso, staffed: Desk) -> None:
    tier = '[tiers.{0}]\nneeds = ["1 senior"]\n'
    places = '[tools]\nown = "own"\ntheirs = "theirs"\n'
    own, theirs = tier.format("own"), tier.format("theirs")
    staffed.policies.publish(f"{own}requester = true\n{theirs}{places}")

    for tool in ("own", "theirs"):
        out = sayso("policy", "explain", staffed.open(tool).id).out
        assert ("whoever requested it may decide" in out) is (tool == "own")


def test_a_decided_ask_says_who_decided(sayso: Sayso, desk: Desk, ask: Ask) -> None:
    desk.reject(ask, "No")

    done = sayso("policy", "explain", ask.id)

    assert "Who        whoever sits at this machine (solo mode)" in done.out
    assert "Decided    no, by " in done.out
    assert "Missing" not in done.out


def test_an_ask_that_is_not_there_is_told(sayso: Sayso, ask: Ask) -> None:
    done = sayso("policy", "explain", "a-zzzz")

    assert done.code == 1
    assert "There is no ask" in done.err
