"""E39 and E40: nothing is hidden by whoever asks, and no rule is missed by another spelling.

As in `test_evidence.py`, each test is the story of a fault. Both were told of our own code.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console as Screen

import sayso
from sayso import Desk
from sayso.access.passwords import check_password, set_password
from sayso.access.recording import check_person
from sayso.adapters.base import foreign, prepared
from sayso.asks.lawbook import default_policy
from sayso.channels.card import Card
from sayso.errors import BadPolicy, BadValue, Denied, Forbidden, NotApproved, Rejected, SaysoError
from sayso.insight.trail import Wanted, look, pass_by
from sayso.model.names import check_name, fold, is_plain, made_plain
from sayso.model.requirement import Requirement
from sayso.policy.conditions import Condition, Conditions
from sayso.policy.facts import Facts
from sayso.policy.paces import Pace
from sayso.policy.reading import read
from sayso.policy.rules import Policy, Rule
from sayso.policy.tiers import Terms
from tests.earlier import any_names
from tests.places import Place
from tests.served import Served
from tests.test_gate import in_thread, opened
from tests.web.inbox.browser import tab

LAW = """
[tools]
send_email = "critical"
[[rules]]
name = "never"
tool = "wipe"
effect = "deny"
[[rules]]
name = "not by bots"
when = "agent == 'bot' && tool == 'pay'"
effect = "deny"
"""
SPELLINGS = {
    "a space behind": "wipe ",
    "a space before": " wipe",
    "a no-break space": "wipe\u00a0",
    "a narrow space": "wipe\u202f",
    "a tab": "wipe\t",
    "a line feed": "wipe\n",
    "capitals": "WIPE",
    "one capital": "Wipe",
    "a Cyrillic letter": "w\u0456pe",
    "a Greek letter": "wi\u03c1e",
    "full width": "\uff57\uff49\uff50\uff45",
    "zero width": "wi\u200bpe",
    "a joiner": "wipe\u200d",
    "a soft hyphen": "wi\u00adpe",
    "a byte order mark": "\ufeffwipe",
    "an accent": "wi\u0301pe",
}


def law(text: str = LAW) -> Policy:
    return read(text, source="law.toml", default=default_policy())


@pytest.fixture
def till(sqlite: Place) -> Iterator[Desk]:
    """A desk with people, on which somebody without a role may say yes to what is not ruled."""
    with Desk(sqlite.url, agent="shop", account="sam@till", policy=law()) as desk:
        desk.people.add("jun", roles=["junior"])
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ada", roles=["senior", "security"])
        yield desk


@pytest.fixture
def server(till: Desk) -> Iterator[Served]:
    with Served(till) as server:
        yield server


def drawn(desk: Desk, ask_id: str) -> str:
    screen = Screen(file=io.StringIO(), width=100)
    with screen.capture() as text:
        screen.print(Card(ask=desk.get(ask_id), roster=desk.store.roster(), now=desk.store.now()))
    return text.get()


# --- E39: nothing is hidden --------------------------------------------------------------------

PAYMENT = {"amount": 90_000, "iban": "DE89 3704 0044 0532 0130 00", "note": "rent"}


@pytest.mark.parametrize("hidden", [["amount", "iban"], ["note"], ["iban", "other"]])
def test_e39_whoever_asks_cannot_hide_a_value_that_is_sent(
    server: Served, hidden: list[str]
) -> None:
    """Page, audit and terminal said "Hidden" of an amount of 90,000, which was approved and ran."""
    answer = server.agent("bot").post(
        "/api/v1/asks", json={"tool": "transfer", "args": PAYMENT, "hidden": hidden}
    )

    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["hidden"])
    assert server.desk.inbox().count == 0


def test_e39_a_value_stays_away_only_where_it_is_not_sent(server: Served) -> None:
    """The program that calls has it; what it sends beside is drawn as it is."""
    schema = {
        "type": "object",
        "properties": {
            "amount": {"type": "integer", "writeOnly": True, "format": "password"},
            "card": {"type": "string", "writeOnly": True},
        },
        "required": ["amount", "card"],
    }
    answer = server.agent("bot").post(
        "/api/v1/asks",
        json={"tool": "charge", "args": {"amount": 90_000}, "schema": schema, "hidden": ["card"]},
    )

    assert answer.status_code == 201, answer.text
    ask = server.desk.get(answer.json()["id"])
    assert ask.content.hidden == ("card",)
    page = tab(server, "anna").go(f"/inbox/{ask.id}").page
    assert "90,000" in page.text
    assert not page.all("input", type="password")
    assert "90000" in drawn(server.desk, ask.id)


def _to_eve(facts: Any) -> bool:
    return bool(facts.args.get("to") == "eve")


_LOOKS: list[dict[str, Any]] = [
    {"when": when}
    for when in (
        "args.to == 'eve'",
        "has(args.to) && args.to == 'eve'",
        "has((args.to)) && args['to'] == 'eve'",
        "'to' in args && args.to == 'eve'",
        "args.exists(name, args[name] == 'eve')",
        "args == {'to': 'eve', 'amount': 4}",
        "size(args) > 1 && args.amount > 90",
    )
] + [
    {"asked": asked}
    for asked in (
        _to_eve,
        lambda facts: "eve" in facts.args.values(),
        lambda facts: f"{facts.args['to']}".startswith("e"),
        lambda facts: bool(facts.args.get("to")),
    )
]


OTHER = Rule(name="other", when="args.amount > 5", effect="ask")


@pytest.mark.parametrize("looks", _LOOKS, ids=lambda looks: str(looks.get("when", "in Python")))
def test_e39_no_rule_is_told_that_a_hidden_value_is_harmless(
    sqlite: Place, looks: dict[str, Any]
) -> None:
    """A condition on what nobody sees cannot be told, so people are asked because of it."""
    rules = (Rule(name="bad", **looks, effect="deny"), OTHER)
    with Desk(sqlite.url, account="sam@till", policy=Policy(rules=rules)) as desk:

        @desk.gate(secret=["to"])
        def charge(to: str, amount: int) -> str:
            return to

        charging = in_thread(lambda: charge("eve", 4))
        ask = opened(desk)
        desk.reject(ask)
        with pytest.raises(Rejected):
            charging.result(10)

    assert ask.content.ruled.rules == ("bad",)
    assert "could not be checked" in (ask.content.sentence or "")


@pytest.mark.parametrize(
    ("when", "says"),
    [
        ("args.amount > 3", True),
        ("args.amount > 5", False),
        ("has(args.amount) && args['amount'] == 4", True),
        ("args.amount > 3 || has(args.to)", "it looks at an argument that is hidden"),
        ("tool == 'charge' || has(args.to)", True),
        ("tool == 'pay' && has(args.to)", False),
        ("!has(args.to)", "it looks at an argument that is hidden"),
        ("args.to == 'eve'", "it looks at an argument that is hidden"),  # "there is none" is not so
        ("args.note == 'x'", 'there is no "note"'),
        ("has(args.note)", False),
    ],
)
def test_e39_a_condition_on_other_arguments_is_told_as_ever(when: str, says: bool | str) -> None:
    facts = Facts(tool="charge", args={"amount": 4}, hidden=("to",))

    said = Conditions([Condition.parse(when)]).evaluated(
        facts.values(datetime(2026, 1, 1, tzinfo=UTC)), facts.hidden
    )

    assert said == [says]


def test_e39_what_an_agent_says_of_its_call_stands_there_as_its_word(server: Served) -> None:
    """Its own preview stood there as "Worked out by the tool for these values: 4.00 EUR"."""
    said = {
        "preview": {"to be paid": "4.00 EUR"},
        "impact": "Four euros leave the account",
        "facts": {"checked": "by the bank"},
        "affects": "nobody, as anna has checked",
        "reversible": True,
    }
    answer = (
        server.agent("bot")
        .post("/api/v1/asks", json={"tool": "transfer", "args": PAYMENT, **said})
        .json()
    )

    assert answer["stated_by"] == "agent"
    page = tab(server, "anna").go(f"/inbox/{answer['id']}").page
    assert "Worked out" not in page.text
    preview = page.one("section", **{"aria-label": "Preview"}).text
    assert "The agent says" in preview
    assert "4.00 EUR" in preview
    assert "The agent says what it would do" in page.text
    assert "The agent says it affects nobody" in page.text
    assert "The agent says it can be undone" in page.text
    card = drawn(server.desk, answer["id"])
    for row in ("Impact", "Preview", "Facts"):
        assert re.search(rf"^{row} +The agent says:$", card, re.MULTILINE), card


def test_e39_what_code_works_out_keeps_its_words(local: Desk) -> None:
    @local.gate(preview=lambda amount: {"to be paid": f"{amount} EUR"})
    def pay(amount: int) -> int:
        return amount

    paying = in_thread(lambda: pay(4))
    ask = opened(local)
    local.approve(ask)

    assert paying.result(10) == 4
    assert ask.content.posted is None
    assert "The agent says" not in drawn(local, ask.id)


def test_e39_whose_word_it_is_is_part_of_what_a_decision_names(local: Desk) -> None:
    content = local.open("pay", {"amount": 4}, impact="Four euros").content
    theirs = content.changed(posted=True)

    assert content.to_json() != theirs.to_json()
    assert content.likeness != theirs.likeness


def test_e39_a_remote_gate_keeps_its_secret_here(server: Served) -> None:
    """It sends no value, and runs with the one that it has."""
    ran: list[tuple[str, int]] = []
    with Desk(server.url, token=server.desk.tokens.make("far")[1]) as far:

        @far.gate(secret=["card"], name="charge", preview=lambda card, amount: {"sum": amount})
        def charge(card: str, amount: int) -> None:
            ran.append((card, amount))

        charging = in_thread(lambda: charge("4111111111111111", 5))
        ask = opened(server.desk)
        assert ask.content.hidden == ("card",)
        assert "4111" not in json.dumps(ask.content.to_json())
        assert ask.content.posted
        server.desk.approve(ask, by="anna")
        charging.result(20)

    assert ran == [("4111111111111111", 5)]


# --- E40: nothing is spelt around --------------------------------------------------------------


@pytest.mark.parametrize("name", SPELLINGS.values(), ids=SPELLINGS)
def test_e40_no_spelling_of_a_tool_misses_a_rule(till: Desk, name: str) -> None:
    """16 of 16 missed a rule `deny` or a tier `critical`, were approved by a junior, and began."""
    doors = {
        "open": lambda: till.open(name, {}),
        "gate": lambda: till.gate(name=name)(lambda: None)(),
        "tool": lambda: till.run(
            till.workflow(name=f"w{len(name)}")(_calling(name)), wait=True
        ).result(),
    }
    for door, call in doors.items():
        with pytest.raises(SaysoError) as caught:
            call()
        if fold(name) != "wipe":
            assert re.search(r"U\+[0-9A-F]{4}\) at position \d", str(caught.value)), door
    assert till.inbox().count == 0


def _calling(name: str) -> Any:
    def work(run: Any) -> None:
        run.call(sayso.tool(name=name)(lambda: None))

    return work


@pytest.mark.parametrize("name", SPELLINGS.values(), ids=SPELLINGS)
def test_e40_no_spelling_over_http_misses_a_rule(server: Served, name: str) -> None:
    bot = server.agent("clerk")
    denied = bot.post("/api/v1/asks", json={"tool": name})
    graver = bot.post("/api/v1/asks", json={"tool": name.lower().replace("wipe", "send_email")})

    if fold(name) == "wipe":
        assert (denied.status_code, denied.json()["code"]) == (403, "denied")
        ask = server.desk.get(graver.json()["id"])
        assert ask.content.ruled.tier == "critical"
        with pytest.raises(Forbidden):
            server.desk.approve(ask, by="jun")
        return
    assert (denied.status_code, list(denied.json()["fields"])) == (422, ["tool"])
    assert "at position" in denied.json()["fields"]["tool"]
    assert server.desk.inbox().count == (0 if "wipe" not in name else graver.status_code == 201)


@pytest.mark.parametrize("name", ["Send_Email", "SEND_EMAIL"])
def test_e40_capitals_are_no_other_tool_and_stay_as_the_title(till: Desk, name: str) -> None:
    ask = till.open(name, {"to": "eve"})

    assert (ask.tool, ask.title) == ("send_email", name)
    assert ask.content.ruled.tier == "critical"
    assert [one.id for one in till.inbox(tool=name)] == [ask.id]


def test_e40_a_gate_in_capitals_declares_the_tool_that_agents_name(server: Served) -> None:
    @server.desk.gate(name="Refund", risk="critical")
    def refund(amount: int) -> int:
        return amount

    body = {"tool": "refund", "args": {"amount": 4}, "risk": "low"}
    ask = server.agent("clerk").post("/api/v1/asks", json=body).json()

    assert server.desk.get(ask["id"]).content.risk == "critical"
    assert ask["content"]["declared"]


@pytest.mark.parametrize("agent", ["bot", "Bot", "BOT"])
def test_e40_an_agent_is_the_same_in_capitals(till: Desk, agent: str) -> None:
    with pytest.raises(Denied):
        till.open("pay", {"amount": 1}, agent=agent)
    with pytest.raises(BadValue, match=r"U\+00A0"):
        till.open("pay", {"amount": 1}, agent=f"{agent}\u00a0")


def test_e40_another_case_is_no_other_pace_and_no_other_key(sqlite: Place) -> None:
    paced = law('[agents.Crawler]\nwaiting = 1\n[tools]\npay = "medium"\n')
    with Desk(sqlite.url, account="sam@till", policy=paced) as desk:
        desk.open("pay", {"n": 1}, agent="crawler")
        with pytest.raises(SaysoError, match="crawler has 1 asks open"):
            desk.open("pay", {"n": 2}, agent="CRAWLER")

        keys = {
            desk.open(tool, {"n": 3}, agent=agent, version="1").stake.key  # type: ignore[union-attr]
            for tool, agent in (("pay", "mate"), ("PAY", "mate"), ("Pay", "Mate"))
        }
    assert len(keys) == 1


def test_e40_a_rule_is_written_in_any_case_but_for_conditions(till: Desk) -> None:
    def never(facts: Any) -> bool:
        return bool(facts.tool == "WIPE" and facts.agent == "Bot")

    for rule in (
        Rule(name="code", asked=never, effect="deny"),
        Rule(name="names", tools=("Wi*",), effect="deny"),
    ):
        law_in_code = Policy(rules=(rule,))
        with Desk(till.url, agent="bot", policy=law_in_code) as desk:
            desk.policies.publish(law_in_code)
            with pytest.raises(Denied):
                desk.open("wIPe")
    with pytest.raises(BadPolicy, match=r"would never match 'Wipe'. Write 'wipe'"):
        law('[[rules]]\nname = "x"\nwhen = "tool == \'Wipe\'"\neffect = "deny"')
    for text in (
        '[tools]\n"wipe " = "high"',
        '[[rules]]\nname = "x"\ntool = "w\u0456pe"\neffect = "deny"',
    ):
        with pytest.raises(BadPolicy, match=r"cannot be the name of a tool, because of"):
            law(text)


@pytest.mark.parametrize(
    "text", ["tool == 'w\u0456pe'", "agent in ['bot', 'b\u043et']", "tool.startsWith('wipe\u00a0')"]
)
def test_e40_a_condition_about_a_name_that_nobody_has_is_refused(text: str) -> None:
    """It was taken, and the rule `deny` matched nothing."""
    with pytest.raises(BadPolicy, match=r"No tool or agent has .* \(U\+[0-9A-F]{4}\) in its name"):
        law(f'[[rules]]\nname = "x"\nwhen = "{text}"\neffect = "deny"')


def test_e40_a_policy_in_code_has_plain_names_too(sqlite: Place) -> None:
    """The pace of a Crawler held for nobody, and a group of Seniors had no one in it."""
    wanted = Rule(name="x", effect="ask", terms=Terms(needs=Requirement.parse(["1 boss"])))
    own = Policy(
        rules=(wanted,),
        paces={"Crawler": Pace(waiting=1)},
        groups={"Boss": ("ANNA",)},
        roles={"Ben": ("Boss",)},
        implied={"Lead": ("Boss",)},
    )
    with Desk(sqlite.url, agent="crawler", account="sam@till", policy=own) as desk:
        for name in ("anna", "ben"):
            desk.people.add(name)
        desk.people.add("lea", roles=["lead"])
        for number, name in enumerate(("anna", "ben", "lea")):
            assert desk.approve(desk.open("pay", {"n": number}), by=name).decision
        desk.open("pay", {"n": 4})
        with pytest.raises(SaysoError, match="crawler has 1 asks open"):
            desk.open("pay", {"n": 5})
    with pytest.raises(BadPolicy, match=r"cannot be the name of a group, because of .* U\+0435"):
        Policy(groups={"s\u0435nior": ("anna",)})
    with pytest.raises(BadPolicy, match="bot stands there twice"):
        Policy(paces={"bot": Pace(waiting=1), "Bot": Pace(waiting=9)})


@pytest.mark.parametrize("tool", ["wipe_all", "WIPE_ALL", "Wipe_All"])
def test_e40_a_policy_that_is_tried_matches_whatever_the_case(tool: str) -> None:
    """No door has made the name small then, as there is when a call is opened."""
    about: list[dict[str, Any]] = [
        {"tools": "Wipe*"},
        {"when": "tool == 'wipe_all'"},
        {"when": "agent == 'bot'"},
    ]
    for said in about:
        rule = Rule(name="x", **said, effect="deny")

        ruling = Policy(rules=(rule,)).ruling(
            Facts(tool=tool, agent="Bot"), datetime(2026, 1, 1, tzinfo=UTC)
        )

        assert (ruling.effect, ruling.rules) == ("deny", ("x",)), said


def test_e40_a_sign_that_only_must_not_come_first_is_said_so() -> None:
    with pytest.raises(BadValue, match=r"position 1\. .*Begin with a letter or a digit\."):
        check_name("tool", "-wipe")
    with pytest.raises(BadValue, match=r"position 4\. .* -\.$"):
        check_name("tool", "_wi pe")


# --- people, roles, teams ----------------------------------------------------------------------


def test_e40_people_differ_in_more_than_capitals(desk: Desk) -> None:
    desk.people.add("anna", roles=["Senior"], teams=["Billing"])

    for name in ("Anna", "ANNA"):
        with pytest.raises(BadValue, match="anna is on this desk"):
            desk.people.add(name)
    assert [(one.name, one.roles, one.teams) for one in desk.people] == [
        ("anna", frozenset({"senior"}), frozenset({"billing"}))
    ]
    ask = desk.open("pay", {"amount": 1}, needs=["1 SENIOR"], team="BILLING")
    decided = desk.approve(ask, by="ANNA")
    assert decided.decision is not None
    assert decided.decision.by.id == "anna"
    assert [one.id for one in desk.decided(person="Anna")] == [ask.id]


def test_e40_lists_find_people_agents_and_tools_in_any_case(desk: Desk) -> None:
    for name in ("Anna", "ben"):
        desk.people.add(name)
    ask = desk.open("pay", {"amount": 1}, agent="shop")
    desk.assign(ask, "anna", by="ben")
    assert [one.id for one in desk.inbox(assignee="ANNA")] == [ask.id]

    desk.reject(ask, by="Anna")
    assert [one.id for one in desk.decided(assignee="anna")] == [ask.id]
    for wanted in (
        Wanted(actor="anna", kind="ask.decided"),
        Wanted(actor="person:ANNA", kind="ask.decided"),
        Wanted(tool="PAY", kind="ask.decided"),
    ):
        assert [one.event.stream for one in look(desk.store, wanted).found] == [ask.id], wanted
        assert [each for some in pass_by(desk.store, wanted) for each in some], wanted
    for actor in ("Shop", "agent:SHOP"):
        assert [one.row.kind for one in look(desk.store, Wanted(actor=actor)).found] == [
            "ask.opened"
        ]


def test_e40_the_requester_is_left_out_in_any_case(desk: Desk) -> None:
    for name in ("Anna", "ben"):
        desk.people.add(name)
    ask = desk.open("pay", {"amount": 1}, requester="aNNa")

    with pytest.raises(Forbidden, match="asked for it"):
        desk.approve(ask, by="anna")
    with pytest.raises(BadValue, match="U\\+0020"):
        desk.open("pay", {"amount": 2}, requester="Anna ")


def test_e40_who_signs_in_in_capitals_is_who_is_on_the_desk(desk: Desk) -> None:
    """Also for the number of tries: ten for anna, not ten for each spelling of her name."""
    desk.people.add("anna")
    set_password(desk.store, "Anna", "correct horse battery", origin=desk.origin)

    assert check_password(desk.store, "ANNA", "correct horse battery")
    assert check_person(desk.store.register(), "ANNA") == "anna"
    for number in range(10):
        name = "anna" if number % 2 else "ANNA"
        assert not check_password(desk.store, name, "wrong", address="10.0.0.1")
    with pytest.raises(SaysoError, match=r"[Tt]oo many"):
        check_password(desk.store, "AnnA", "correct horse battery", address="10.0.0.1")


def test_e40_a_session_and_tokens_have_the_name_of_the_desk(server: Served) -> None:
    server.desk.people.add("kim")
    set_password(server.desk.store, "kim", "correct horse battery", origin=server.desk.origin)
    came = server.client().post(
        "/api/v1/session", json={"name": "KIM", "password": "correct horse battery"}
    )
    assert came.json()["name"] == "kim"

    token, _ = server.desk.tokens.make("Kim", "person")
    agent, text = server.desk.tokens.make("Clerk", owner="KIM")
    assert (token.name, agent.name, agent.owner) == ("kim", "clerk", "kim")
    with pytest.raises(BadValue, match="is a person"):
        server.desk.tokens.make("KIM")
    asked = server.client(text).post("/api/v1/asks", json={"tool": "pay", "agent": "CLERK"})
    assert asked.json()["content"]["agent"] == "clerk"


# --- what others call otherwise ----------------------------------------------------------------


def test_e40_a_hosts_own_words_stay_as_the_title(local: Desk) -> None:
    notify = foreign("Email Assistant: notify", lambda to: to, {"properties": {"to": {}}})

    @local.workflow
    def work(run: Any) -> None:
        prepared(run, notify, {"to": "ada"}, always=True).result()

    local.run(work, wait=False)
    (ask,) = local.inbox()

    assert ask.title == "Email Assistant: notify"
    assert ask.tool == made_plain("tool", "Email Assistant: notify")
    assert is_plain("tool", str(ask.tool))


# --- the rule itself ---------------------------------------------------------------------------

KINDS = ("tool", "agent", "person", "role", "team")
_SIGNS = st.text(alphabet=st.characters(), max_size=30) | st.sampled_from([*SPELLINGS.values()])


@given(what=st.sampled_from(KINDS), name=_SIGNS)
def test_what_a_door_takes_is_ascii_and_one_with_its_capitals(what: str, name: str) -> None:
    if not is_plain(what, name):
        with pytest.raises(BadValue) as refused:
            check_name(what, name)
        assert str(refused.value).isprintable()
        return
    plain = check_name(what, name)
    assert re.fullmatch(r"[A-Za-z0-9_.:/@+-]+", plain)
    assert fold(plain) == name.lower()
    assert fold(check_name(what, name.upper())) == fold(check_name(what, name.lower()))


@given(what=st.sampled_from(KINDS), name=_SIGNS, other=_SIGNS)
def test_a_made_name_is_plain_and_of_nothing_else(what: str, name: str, other: str) -> None:
    plain = made_plain(what, name)

    assert is_plain(what, plain)
    assert plain == made_plain(what, name)
    if fold(name) != fold(other):
        assert fold(plain) != fold(made_plain(what, other))


# --- a desk that is older ----------------------------------------------------------------------


def test_what_has_an_older_name_can_be_read_and_rejected_and_does_not_run(desk: Desk) -> None:
    with any_names():
        waiting = desk.open("wipe\u00a0", {"n": 1}, agent="Night Shift")
        approved = desk.open("wipe\u00a0", {"n": 2}, agent="Night Shift")
        desk.approve(approved)

    assert {one.id for one in desk.inbox()} == {waiting.id}
    assert "wipe" in drawn(desk, waiting.id)
    with pytest.raises(NotApproved, match="NO-BREAK SPACE"):
        desk.begin(approved)
    with pytest.raises(SaysoError):
        desk.approve(desk.get(waiting.id))
    assert desk.reject(desk.get(waiting.id)).status == "decided"
    with pytest.raises(BadValue, match=r"U\+00A0\) at position 5"):
        desk.open("wipe\u00a0", {"n": 3})
