"""The page of the policies says what the command line and the API say, and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from sayso import Desk
from sayso.asks.lawbook import default_policy
from sayso.policy.rules import Policy, Rule
from sayso.policy.words import tier_told
from sayso.web.pages.policies import groups_of, members, rule_view
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab

POLICY = """
[[rules]]
name = "no deletes"
tools = ["drop_*"]
effect = "deny"
why = "Tables are kept."

[[rules]]
name = "large refunds"
tools = ["refund"]
when = "args.amount > 100"
effect = "ask"
needs = ["1 senior", "1 security"]
within = "1h"

[[rules]]
name = "reading is free"
tools = ["search"]
effect = "allow"

[tiers.board]
needs = ["1 senior"]
cool_off = "10m"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """anna and ada are senior in billing, ben is in support, dora in no team, root is admin."""
    folder = tmp_path_factory.mktemp("policies")
    file = folder / "policy.toml"
    file.write_text(POLICY)
    with Desk(f"sqlite:///{folder}/desk.db", policy=file, agent="shop") as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ada", roles=["senior", "security"], teams=["billing"])
        desk.people.add("ben", roles=["security"], teams=["support"])
        desk.people.add("dora")
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            yield served


@pytest.fixture
def root(server: Served) -> Tab:
    return tab(server, "root")


def ruling(page: Tab) -> Node:
    return page.page.one("section", id="ruling")


def named_in(page: Tab) -> str:
    return page.page.one("section", aria_labelledby="more-head").text


def said(node: Node) -> str:
    return node.text.replace(" :", ":")


# --- what is in force --------------------------------------------------------------------------


def test_rules_stand_in_groups_in_words_with_their_condition_as_written(root: Tab) -> None:
    page = root.go("/policies").page
    heads = [node.text for node in page.all("h3", class_="rule-group")]
    lists = [node.text for node in page.all("ul", class_="rules")]

    assert [head.split()[0] for head in heads] == ["Denied", "Asked", "Runs"]
    assert "no deletes" in lists[0]
    assert "Tables are kept." in lists[0]
    assert "args.amount > 100" in lists[1]
    assert "ask 1 senior and 1 security; within 1 h, then rejected" in lists[1]
    assert "reading is free" in lists[2]


def test_every_rule_is_one_sentence_on_the_page_and_over_http(server: Served, root: Tab) -> None:
    shown = [node.text for node in root.go("/policies").page.all("p", class_="rule-says")]
    rules = server.person("root").get("/api/v1/policy").json()["rules"]

    assert sorted(shown) == sorted(rule["sentence"] for rule in rules)
    assert (
        "For every call of refund where amount is more than 100: ask 1 senior and 1 security; "
        "within 1 h, then rejected; reminded at 50% and 90%."
    ) in shown
    assert "For every call of drop_*: it does not run." in shown
    assert "For every call of search: this rule lets it run alone." in shown


def test_what_has_no_words_is_shown_as_code_alone() -> None:
    code = "args.items.exists(item, item.price > 100)"
    policy = Policy(rules=(Rule(name="dear", when=code, effect="deny"),))
    view = rule_view(policy, policy.rules[0])

    assert view.sentence == "For every call where its condition is true: it does not run."
    assert view.condition == code


def test_a_rule_that_also_asks_code_says_so_in_its_sentence() -> None:
    rule = Rule(name="both", when="conflict || unseen", asked=bool, tier="low")
    policy = Policy(rules=(rule,))

    assert rule_view(policy, rule).sentence == (
        "For every call where (the agent names information that contradicts itself or nothing like "
        "it was approved before) and your code says so: it belongs to the tier low, which runs alone."
    )


def test_a_group_of_other_teams_is_counted_and_not_said_to_be_nobody() -> None:
    here = {"anna", "ben"}
    assert members(["anna", "ben"], set[str]().__contains__, here) == "2 of other teams"
    assert members(["anna", "ben"], {"ben"}.__contains__, here) == "ben, 1 of other teams"
    assert members([], {"ben"}.__contains__, here) == "nobody"


def test_who_is_in_a_group_and_has_left_is_said_not_to_be_on_the_desk(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[groups]\nwatch = ["zoe", "anna"]\n\n[roles]\nzoe = ["senior"]\n')
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=file) as desk:
        desk.people.add("anna", teams=["billing"])
        desk.people.add("ben", teams=["support"])
        desk.people.add("root", roles=["admin"])
        desk.people.add("zoe")
        with Served(desk) as served:
            before = named_in(tab(served, "root").go("/policies"))
            desk.people.remove("zoe")
            root, ben = tab(served, "root").go("/policies"), tab(served, "ben").go("/policies")
            groups = root.client.get("/api/v1/policy").json()["groups"]
            seen_by_ben = ben.client.get("/api/v1/policy").json()["groups"]

    assert "The group watch zoe, anna zoe also is senior" in before
    shown = named_in(root)
    assert "The group watch zoe (not on this desk), anna" in shown
    assert "zoe (not on this desk) also is senior" in shown
    assert groups == {"watch": ["zoe", "anna"]}, "an administrator sees who has left"
    assert "The group watch 1 of other teams, 1 not on this desk" in named_in(ben)
    assert seen_by_ben == {"watch": []}


def test_every_rule_is_in_exactly_one_group() -> None:
    policy = default_policy()
    shown = [rule.name for group in groups_of(policy) for rule in group.rules]

    assert sorted(shown) == sorted(rule.name for rule in policy.rules)
    assert rule_view(policy, policy.rules[0]).origin == "default policy"


def test_source_version_and_counts_are_those_of_the_policy(server: Served, root: Tab) -> None:
    found = root.go("/policies").page.one("section", id="in-force").text
    policy = server.desk.policy

    assert str(policy.version) in found
    assert policy.source in found
    usual = len(default_policy().rules)
    assert f"{len(policy.rules) - usual} of its own, {usual} of the default policy" in found
    assert "On disk the same" in found


def test_tiers_say_what_they_need_and_who_could_give_it(server: Served, root: Tab) -> None:
    tiers = {
        node.one("p", class_="tier-name").text: said(node)
        for node in root.go("/policies").page.all("li", class_="tier")
    }
    listed = {one["name"]: one for one in root.client.get("/api/v1/policy").json()["standing"]}

    assert list(tiers) == list(listed) == list(server.desk.policy.order)
    assert "1 senior: ada, anna" in tiers["high"]
    assert "can be taken back for 10 min" in tiers["board"]
    assert "Nobody could decide it." not in tiers["critical"]
    assert listed["high"]["who"] == [{"needs": "1 senior", "people": ["ada", "anna"], "others": 0}]
    assert listed["board"]["says"] == tier_told(server.desk.policy.tiers["board"])


def test_people_of_other_teams_are_counted_and_not_named(server: Served) -> None:
    ben = tab(server, "ben").go("/policies")
    high = next(one for one in ben.page.all("li", class_="tier") if "high" in one.text)
    listed = server.signed_in("ben").get("/api/v1/policy").json()

    assert "2 of other teams" in high.text
    assert "anna" not in ben.answer.text
    assert "anna" not in json.dumps(listed)


def test_a_tier_that_nobody_could_give_says_so_and_what_to_do(tmp_path: Path) -> None:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            page = tab(served, "root").go("/policies").page
            told = page.one("section", id="tiers").text

    assert "Nobody could decide it." in told
    assert "senior" in told
    assert page.all("a", href="/people#add")


# --- the file --------------------------------------------------------------------------------


def test_a_file_that_breaks_is_said_with_the_reason_to_those_who_can_mend_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(POLICY)
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=file) as desk:
        desk.people.add("ada", roles=["senior", "security"])
        desk.people.add("ben", roles=["security"])
        desk.people.add("root", roles=["admin", "senior"])
        version = desk.policy.version
        file.write_text("[[rules]]\nname = 3\n")
        with Served(desk) as served:
            root, ben = tab(served, "root"), tab(served, "ben")
            root.go("/policies")
            told = root.page.one("section", id="in-force").text
            assert "The file on disk is not in force" in told
            assert "policy.toml:2" in told
            assert f"Version {version}" in told
            assert "policy.toml:2" not in ben.go("/policies").answer.text
            assert "An administrator sees why." in ben.answer.text
            assert root.client.get("/api/v1/policy").json()["trouble"] is not None

            file.write_text(POLICY)
            root.go("/policies")
            assert "not in force" not in root.page.one("section", id="in-force").text


def test_a_policy_that_was_never_whole_leaves_a_page_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("[[rules]]\nname = 3\n")
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=file) as desk, Served(desk) as served:
        page = tab(served, None).go("/policies")

    assert page.answer.status_code == 200
    assert "No policy can be used" in page.page.one("div", role="alert").text


BOARD = """
[tiers.board]
needs = ["2 director"]

[[rules]]
name = "large refunds"
tools = ["refund"]
effect = "ask"
needs = ["1 junior"]

[implies]
senior = ["junior"]
"""


@pytest.fixture
def unfit(tmp_path: Path) -> Iterator[Served]:
    """The policy wants two directors of whom there is one; an ask was opened before it came."""
    file = tmp_path / "policy.toml"
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        desk.people.add("dora", roles=["senior"])
        desk.people.add("jim", roles=["junior"])
        desk.people.add("root", roles=["admin", "director"])
        desk.open("refund", {"amount": 5}, needs=["1 junior"])
    file.write_text(BOARD)
    with (
        Desk(f"sqlite:///{tmp_path}/desk.db", policy=file, agent="shop") as desk,
        Served(desk) as served,
    ):
        yield served


def test_a_policy_that_the_people_do_not_fit_is_shown_as_written_with_what_is_wrong(
    unfit: Served,
) -> None:
    root, dora = tab(unfit, "root").go("/policies"), tab(unfit, "dora").go("/policies")
    board = next(one for one in root.page.all("li", class_="tier") if "board" in one.text)

    assert "2 director can never be met" in root.page.one("div", role="alert").text
    assert "Written, not in force" in root.page.one("section", id="in-force").text
    assert "Nobody could decide it." in board.text
    assert "large refunds" in root.page.one("ul", class_="rules").text
    assert root.page.all("section", id="try") == [], "under no policy no call can be tried"
    assert "An administrator sees why." in dora.page.one("div", role="alert").text
    assert "policy.toml:" not in dora.answer.text


def test_under_a_policy_that_cannot_be_used_the_api_says_so_and_not_that_it_broke(
    unfit: Served,
) -> None:
    root, dora = unfit.signed_in("root"), unfit.signed_in("dora")
    call = {"tool": "refund", "args": {"amount": 1}}
    for client, why in ((root, "2 director can never be met"), (dora, "An administrator sees")):
        for answer in (
            client.get("/api/v1/policy"),
            client.post("/api/v1/policy/simulate", json=call),
        ):
            said = answer.json()
            assert (answer.status_code, said["code"]) == (409, "bad-policy")
            assert answer.headers["content-type"] == "application/problem+json"
            assert why in said["detail"]
    assert "policy.toml" not in dora.get("/api/v1/policy").text


def test_under_a_policy_that_cannot_be_used_nobody_is_told_that_their_role_is_wrong(
    unfit: Served,
) -> None:
    ask = next(iter(unfit.desk.inbox()))
    page = tab(unfit, "dora").go(f"/inbox/{ask.id}").page
    bar = page.one("p", id=f"barred-{ask.id}").text

    assert "No policy can be used" in bar
    assert "would not count" not in bar
    for name in ("dora", "jim"):
        body = {"verdict": "approve", "seen": ask.digest}
        answer = unfit.signed_in(name).post(f"/api/v1/asks/{ask.id}/decision", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "bad-policy")
    assert unfit.desk.get(ask.id).open


def test_a_yes_under_a_policy_that_cannot_be_used_is_refused_on_the_page_with_the_reason(
    unfit: Served,
) -> None:
    ask = next(iter(unfit.desk.inbox()))
    page = tab(unfit, "jim").go(f"/inbox/{ask.id}").verdict("approve")

    assert page.status == 409
    assert "No policy can be used, so every ask is refused" in page.answer.text
    assert unfit.desk.get(ask.id).open


# --- trying a call -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "effect", "words"),
    [
        ({"tool": "drop_users"}, "deny", "It does not run, whoever asks"),
        ({"tool": "refund", "args": '{"amount": 200}'}, "ask", "It waits for people"),
        ({"tool": "search"}, "allow", "It runs alone"),
    ],
)
def test_a_call_gets_the_ruling_of_the_command_line_and_of_the_api(
    server: Served, root: Tab, query: dict[str, str], effect: str, words: str
) -> None:
    page = root.client.get("/policies", params=query)
    body = {"tool": query["tool"], "args": json.loads(query.get("args", "{}"))}
    told = root.client.post("/api/v1/policy/simulate", json=body).json()
    shown = Tab(root.client).go(f"/policies?{httpx2.QueryParams(query)}")

    assert page.status_code == 200
    assert told["effect"] == effect
    assert words in ruling(shown).text
    assert told["sentence"] in ruling(shown).text
    heard = {one["rule"]: one["because"] for one in told["heard"]}
    assert set(heard) == {rule.name for rule in server.desk.policy.rules}
    assert all(because in ruling(shown).text for because in heard.values())


def test_who_could_decide_is_by_name_and_of_the_team_that_is_asked(root: Tab) -> None:
    query = "tool=refund&args=%7B%22amount%22%3A+200%7D"
    everybody = said(ruling(root.go(f"/policies?{query}")))
    support = ruling(root.go(f"/policies?{query}&team=support")).text

    assert "1 senior: ada, anna" in everybody
    assert "1 security: ada, ben" in everybody
    assert "Nobody could decide it." in support


def test_a_call_that_nobody_could_decide_is_headed_as_refused(root: Tab) -> None:
    body = {"tool": "refund", "args": {"amount": 200}, "team": "support"}
    told = root.client.post("/api/v1/policy/simulate", json=body).json()
    query = "tool=refund&args=%7B%22amount%22%3A+200%7D&team=support"
    shown = ruling(root.go(f"/policies?{query}"))

    assert (told["effect"], told["undecidable"] in shown.text) == ("ask", True)
    assert shown.one("h2").text == "It would be refused: nobody could decide it"
    assert "It waits for people" not in shown.text
    assert "effect-deny" in shown.attrs["class"]


def test_nobody_tries_a_call_of_a_team_they_are_not_of(server: Served) -> None:
    ben = tab(server, "ben").go("/policies?tool=refund&team=billing")
    nowhere = tab(server, "ben").go("/policies?tool=refund&team=nowhere")
    api = server.signed_in("ben").post(
        "/api/v1/policy/simulate", json={"tool": "refund", "team": "billing"}
    )

    for page, team in ((ben, "billing"), (nowhere, "nowhere")):
        assert page.answer.status_code == 422
        assert page.page.one("p", id="wrong-team").text == f"You are not of a team called {team}."
    assert (api.status_code, list(api.json()["fields"])) == (422, ["team"])


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("tool", "", "Name the tool"),
        ("args", "{", "no JSON"),
        ("args", "[1]", "an object"),
        ("confidence", "nan", "from 0 to 1"),
        ("confidence", "1.5", "from 0 to 1"),
        ("at", "yesterday", "no time"),
        ("kind", "order", "There are"),
        ("reversible", "maybe", "one of the list"),
        ("affects", "x" * 2000, "At most"),
    ],
)
def test_what_is_wrong_stands_on_its_field_and_everything_typed_stays(
    root: Tab, field: str, value: str, words: str
) -> None:
    typed = {"tool": "refund", "agent": "shop", field: value}
    page = root.go(f"/policies?{httpx2.QueryParams(typed)}")

    assert page.answer.status_code == 422
    assert words in page.page.one("p", id=f"wrong-{field}").text
    control = page.page.one(id=f"f-{field}")
    assert control.attrs["aria-invalid"] == "true"
    assert f"wrong-{field}" in control.attrs["aria-describedby"]
    assert page.page.one("input", id="f-agent").attrs["value"] == "shop"
    assert page.page.all("section", id="ruling") == []


def test_what_was_typed_is_in_the_form_beside_its_ruling(root: Tab) -> None:
    typed = {
        "tool": "refund",
        "args": '{"amount": 200}',
        "risk": "high",
        "confidence": "80%",
        "reversible": "no",
        "at": "2026-01-01T03:00",
        "unseen": "1",
    }
    page = root.go(f"/policies?{httpx2.QueryParams(typed)}").page

    assert page.one("textarea", id="f-args").raw.strip() == typed["args"]
    assert page.one("input", id="f-confidence").attrs["value"] == "80%"
    chosen = page.one("select", id="f-risk").all("option", selected="")
    assert [one.attrs["value"] for one in chosen] == ["high"]
    assert "checked" in page.one("input", name="unseen").attrs
    assert "open" in page.one("details", id="try-more").attrs


def test_a_form_that_is_sent_leads_to_an_address_that_says_it(root: Tab) -> None:
    page = root.go("/policies")
    form = next(one for one in page.page.all("form") if one.attrs.get("action") == "/policies")
    button = form.all("button")[0]
    page.press(button, tool="search", confidence="80%")

    assert page.status == 303
    assert page.direct.headers["location"].startswith("/policies?tool=search")
    assert "It runs alone" in ruling(page).text
    again = page.go("/policies").press(button, tool="", agent="shop")
    assert again.status == 422
    assert again.page.one("input", id="f-agent").attrs["value"] == "shop"


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        ("[" * 50_000, 422, "no JSON"),
        (json.dumps({"amount": 200, "note": "x" * 50_000}), 200, "It waits for people"),
    ],
)
def test_arguments_that_are_too_long_for_an_address_are_tried_all_the_same(
    root: Tab, args: str, status: int, words: str
) -> None:
    answer = root.client.post("/policies", data={"tool": "refund", "args": args})

    assert answer.status_code == status
    assert words in answer.text


def test_hostile_text_is_shown_as_text(root: Tab) -> None:
    evil = '"><script>alert(1)</script>\u202e'
    page = root.go(f"/policies?{httpx2.QueryParams({'tool': evil, 'agent': evil, 'risk': evil})}")

    assert page.answer.status_code == 200
    assert "<script>alert" not in page.answer.text
    assert page.page.one("input", id="f-tool").attrs["value"] == evil


def test_trying_a_call_writes_nothing(server: Served, root: Tab) -> None:
    before = server.desk.store.tip()
    root.go("/policies?tool=refund&args=%7B%22amount%22%3A+200%7D")
    root.client.post("/api/v1/policy/simulate", json={"tool": "refund"})

    assert server.desk.store.tip() == before
    assert list(server.desk.inbox()) == []


def test_tools_that_were_called_and_that_rules_name_are_suggested(
    server: Served, root: Tab
) -> None:
    ask = server.desk.open("mail", {"to": "ada"})
    listed = [one.attrs["value"] for one in root.go("/policies").page.one(id="tools").all("option")]
    server.desk.withdraw(ask)

    assert listed == ["mail", "refund", "search"]


# --- what agents can earn ----------------------------------------------------------------------


def earned(node: Node) -> dict[str, list[str]]:
    rows = node.one("section", id="earning").one("tbody").all("tr")
    return {row.one("th").text: [cell.text for cell in row.all("td")] for row in rows}


def of_policy(tmp_path: Path, text: str) -> Node:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with (
        Desk(f"sqlite:///{tmp_path}/desk.db", policy=file, agent="shop") as desk,
        Served(desk) as served,
    ):
        return tab(served, None).go("/policies").page


def test_the_page_says_what_can_be_earned_and_what_it_takes(root: Tab) -> None:
    page = root.go("/policies").page

    assert "What people are asked for because of its tier alone" in said(page.one(id="earning"))
    assert "80% of bad calls, as nothing else is written" in said(page.one(id="earning"))
    assert earned(page) == {
        "medium": ["248", "2 · 2", "11.1%", "2 harms, or 1 incident", "20.0"],
        "high": ["497", "2 · 2", "23.8%", "1 harm, or 1 incident", "4.0"],
    }


def test_what_reviewers_are_taken_to_notice_is_that_of_the_file(tmp_path: Path) -> None:
    page = of_policy(tmp_path, "[autonomy]\ndetection = 1\n[tiers.low]\nneeds = ['1 reviewer']\n")

    assert "100% of bad calls, as it is written" in said(page.one(id="earning"))
    assert [cells[0] for cells in earned(page).values()] == ["78", "198", "397"]


def test_a_policy_that_lets_nobody_earn_says_so(tmp_path: Path) -> None:
    page = of_policy(tmp_path, "[autonomy]\nenabled = false\n")

    told = said(page.one(id="earning"))
    assert "Switched off" in told
    assert "Nothing: people are asked whenever the rules say so." in told
    assert not page.one(id="earning").all("table")
