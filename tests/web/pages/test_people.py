"""The pages about people: who sees whom, what ends with whom, and every number as the API has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.access.passwords import set_password
from sayso.model.actor import Roster
from sayso.testing import FakeClock
from sayso.web.pages import people
from sayso.web.pages.people import words
from tests.channels.receivers import receiving
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab


def person_rows(page: Tab) -> dict[str, Node]:
    return {
        row.attrs["id"].removeprefix("person-"): row
        for row in page.page.all("tr")
        if row.attrs.get("id", "").startswith("person-")
    }


def form_of(page: Tab, action: str) -> Node:
    return next(one for one in page.page.all("form") if one.attrs.get("action") == action)


def send(page: Tab, action: str, **typed: Any) -> Tab:
    return page.press(form_of(page, action).all("button")[0], **typed)


def alert(page: Tab) -> str:
    return " ".join(node.text for node in page.page.all(role="alert"))


# --- who is on the desk ------------------------------------------------------------------------


def test_an_administrator_sees_everybody_as_the_api_lists_them(office: Served) -> None:
    root = tab(office, "root").go("/people")
    listed = root.client.get("/api/v1/people").json()["people"]

    assert list(person_rows(root)) == [one["name"] for one in listed]
    for one in listed:
        row = person_rows(root)[one["name"]]
        assert row.one("td", data_head="Roles").text == (", ".join(one["roles"]) or "-")
        assert row.one("td", data_head="Teams").text == (", ".join(one["teams"]) or "-")
    assert "5 people" in root.page.one("section", id="people").text


def test_others_see_their_teams_and_those_of_none_and_know_how_many_there_are(
    office: Served,
) -> None:
    ben = tab(office, "ben").go("/people")

    assert list(person_rows(ben)) == ["ben", "dora", "root"]
    assert "3 people, and 2 of other teams" in ben.page.one("section", id="people").text
    assert "anna" not in ben.answer.text
    assert ben.page.all("section", id="add") == []
    assert ben.go("/people/person/anna").answer.status_code == 404
    assert ben.go("/people/person/nobody").answer.status_code == 404
    assert ben.go("/people/person/dora").answer.status_code == 404, (
        "seen, and none of their business"
    )
    assert ben.go("/people/person/ben").answer.status_code == 200


def test_how_somebody_signs_in_and_when_they_were_here(office: Served, clock: FakeClock) -> None:
    set_password(office.desk.store, "ada", "correct horse battery", origin=office.desk.origin)
    office.signed_in("ada")
    root = tab(office, "root")
    clock.advance("2h")
    root = tab(office, "root").go("/people")
    rows = person_rows(root)

    assert rows["ada"].one("td", data_head="Signs in with").text == "password"
    assert rows["ada"].one("td", data_head="Last seen").text == "2 h ago"
    assert rows["anna"].one("td", data_head="Signs in with").text == "nothing yet"
    assert rows["anna"].one("td", data_head="Last seen").text == "-"


def test_people_come_by_the_page_and_whoever_was_added_is_on_the_one_that_is_shown(
    office: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "PAGE", 2)
    root = tab(office, "root").go("/people")
    found: list[str] = []
    while True:
        found += person_rows(root)
        assert "5 people" in root.page.one("section", id="people").text
        more = [one.attrs["href"] for one in root.page.all("a") if one.text == "More"]
        if not more:
            break
        root.go(more[0])

    assert found == ["ada", "anna", "ben", "dora", "root"]
    send(root.go("/people"), "/people", name="carl", roles="senior")
    assert root.direct.headers["location"] == "/people?after=anna#person-carl"
    assert "carl" not in person_rows(root.go("/people"))
    assert list(person_rows(root.go("/people?after=anna"))) == ["ben", "carl"]
    assert list(person_rows(root.go("/people?after=zz"))) == []
    assert root.answer.status_code == 200


def test_what_is_known_of_people_is_read_for_those_on_the_page(
    office: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "PAGE", 2)
    asked: list[list[str]] = []
    store, tokens_of = office.desk.store, office.desk.store.tokens_of

    def noted(names: list[str]) -> Any:
        asked.append(names)
        return tokens_of(names)

    monkeypatch.setattr(store, "tokens_of", noted)
    monkeypatch.setattr(store, "tokens", lambda: pytest.fail("all tokens were read"))
    monkeypatch.setattr(store, "sessions", lambda *_: pytest.fail("all sessions were read"))
    tab(office, "root").go("/people?after=anna")

    assert asked == [["ben", "dora"]]


@pytest.mark.parametrize(
    "path", ["/people", "/people/person/anna", "/policies", "/insights", "/trust", "/runs"]
)
def test_a_page_reads_the_people_of_the_desk_once(
    office: Served, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    root, store = tab(office, "root"), office.desk.store
    office.desk.open("pay", {"amount": 7})
    register, read = store.register, []

    def noted() -> Roster:
        read.append(path)
        return register()

    monkeypatch.setattr(store, "register", noted)
    assert root.go(path).answer.status_code == 200

    assert read == [path]


def test_a_body_that_took_its_time_meets_the_people_of_now(
    office: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sends it was looked at before it was read."""
    store, client = office.desk.store, office.signed_in("root")
    register, read = store.register, []

    def noted() -> Roster:
        read.append(register())
        return read[-1]

    monkeypatch.setattr(store, "register", noted)
    answer = client.post("/api/v1/policy/simulate", json={"tool": "refund", "risk": "high"})

    assert answer.status_code == 200
    assert len(read) == 2


@pytest.mark.parametrize("after", ["", "1.2", "9" * 40, "x.y", "-1.a", "%00"])
def test_a_place_that_is_none_begins_at_the_first_page(office: Served, after: str) -> None:
    root = tab(office, "root")
    for page in ("/people", "/people/sessions", "/people/tokens"):
        assert root.go(f"{page}?after={after}").answer.status_code == 200


def test_somebody_is_told_over_http_as_on_their_page(office: Served) -> None:
    office.signed_in("ben")
    told = office.signed_in("root").get("/api/v1/people/ben").json()
    own = office.signed_in("anna").get("/api/v1/people/anna")
    other = office.signed_in("anna").get("/api/v1/people/dora")

    assert (told["name"], told["teams"], told["sessions"], told["ways"]) == (
        "ben",
        ["support"],
        1,
        [],
    )
    assert (own.status_code, own.json()["roles"]) == (200, ["senior"])
    assert (other.status_code, other.json()["code"]) == (404, "unknown-person")
    agent = office.agent("bot").get("/api/v1/people/ben")
    assert agent.status_code == 403


def test_solo_mode_is_explained(tmp_path: Path) -> None:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk, Served(desk) as served:
        page = tab(served, None).go("/people")

    assert "holds every role" in page.page.one("main").text
    assert "sayso people add NAME --admin" in page.page.one("main").text
    assert page.page.all("section", id="add") == []


# --- adding, changing, removing ----------------------------------------------------------------


def test_an_administrator_adds_and_changes_somebody(office: Served) -> None:
    root = tab(office, "root").go("/people")
    send(root, "/people", name="cleo", roles="senior, security", teams="billing")

    assert root.status == 303
    assert office.desk.store.register().people["cleo"] == {"senior", "security"}
    root.go("/people/person/cleo")
    send(root, "/people", roles="senior, security, junior", teams="billing, support")
    assert root.status == 303, "who gets more is not asked about"
    assert office.desk.store.register().people["cleo"] == {"senior", "security", "junior"}
    send(root.go("/people/person/cleo"), "/people", roles="junior", teams="")
    assert office.desk.store.register().people["cleo"] == {"senior", "security", "junior"}
    send(root, "/people")
    assert root.status == 303
    assert office.desk.store.register().people["cleo"] == {"junior"}
    assert office.desk.store.register().teams.get("cleo", frozenset()) == frozenset()
    said = office.desk.store.stream("people")[-1]
    assert (said.kind, said.actor.id) == ("person.changed", "root")


def test_taking_roles_and_teams_asks_first_and_says_what_follows(office: Served) -> None:
    desk = office.desk
    desk.open("pay", {"n": 1}, needs=["1 security"])  # ada alone
    root = tab(office, "root").go("/people/person/ada")
    send(root, "/people", roles="senior, junior", teams="")
    text = root.page.one("main").text

    assert root.status == 200
    assert desk.store.register().people["ada"] == {"senior", "security"}, "nothing is done yet"
    assert "Roles taken from ada: security." in text
    assert "Roles given to ada: junior." in text
    assert "Teams taken from ada: billing." in text
    assert "1 open ask could then be decided by nobody." in text
    assert "The policy, tier critical: " in text
    assert root.page.all("a", href="/people/person/ada")
    send(root, "/people")
    assert desk.store.register().people["ada"] == {"senior", "junior"}


def test_the_only_administrator_is_asked_before_nobody_is_one_any_more(office: Served) -> None:
    root = tab(office, "root").go("/people")
    send(root, "/people", name="root", roles="junior")
    text = root.page.one("main").text

    assert "This is you" in text
    assert "Nobody else is an administrator" in text
    assert office.desk.store.register().people["root"] == {"admin"}
    send(root, "/people")
    assert office.desk.store.register().people["root"] == {"junior"}
    assert root.answer.status_code == 200, "and they still see who is on the desk"


def test_a_tier_that_keeps_too_few_people_is_said_before_a_role_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[tiers.board]\nneeds = ["2 director"]\n')
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=file) as desk:
        for name in ("ada", "ben"):
            desk.people.add(name, roles=["director"])
        desk.people.add("root", roles=["admin", "senior"])
        with Served(desk) as served:
            root = tab(served, "root").go("/people/person/ben")
            send(root, "/people", roles="")
            change = root.page.one("section", class_="sure").all("p", class_="note")
            removal = root.go("/people/person/ben/remove").page.one("section", class_="sure")

        said = [one.text for one in change]
        assert len(said) == 1
        assert said[0].startswith("The policy, tier board: 2 director can never be met")
        assert said == [one.text for one in removal.all("p", class_="note")]
        assert desk.store.register().people["ben"] == {"director"}


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"name": "a b<"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "cleo", "roles": "se/nior"}, "roles"),
        ({"name": "cleo", "teams": "bill<ing"}, "teams"),
        ({"name": "bot"}, "name"),
    ],
)
def test_a_name_that_is_none_is_said_on_its_field_and_the_rest_stays(
    office: Served, typed: dict[str, str], field: str
) -> None:
    office.desk.tokens.make("bot")
    root = tab(office, "root").go("/people")
    send(root, "/people", **({"roles": "senior"} | typed))

    assert root.status == 422
    assert root.page.one("p", id=f"wrong-{field}").text
    assert root.page.one("input", id="f-roles").attrs["value"] == typed.get("roles", "senior")
    assert "cleo" not in office.desk.store.register().people


def test_whoever_has_not_just_signed_in_is_sent_to_do_so_and_keeps_what_they_typed(
    office: Served, clock: FakeClock
) -> None:
    root = tab(office, "root").go("/people")
    clock.advance("16m")
    send(root, "/people", name="cleo", roles="senior")

    assert root.status == 403
    assert "Nothing was done." in alert(root)
    assert root.page.one("input", id="f-name").attrs["value"] == "cleo"
    assert root.page.all("a", href="/sign-in?next=%2Fpeople")
    assert "cleo" not in office.desk.store.register().people
    again = tab(office, "root")
    assert send(again.go("/people"), "/people", name="cleo", roles="senior").status == 303


def test_removing_somebody_asks_first_and_says_what_ends(office: Served) -> None:
    desk = office.desk
    dora, token = office.signed_in("dora"), office.person("dora")
    agent = office.agent("helper", owner="dora")
    desk.open("pay", {}, needs=["1 dora"])
    root = tab(office, "root").go("/people/person/dora/remove")
    text = root.page.one("main").text

    assert "dora" in desk.store.register().people, "looking removes nobody"
    assert "1 session and 1 token of dora end at once." in text
    assert "helper" in text
    assert "1 open ask could then be decided by nobody." in text
    send(root, "/people/person/dora/remove")
    assert root.status == 303
    assert "dora" not in desk.store.register().people
    for client in (dora, token, agent):
        assert client.get("/api/v1/session").status_code == 401


def test_removing_oneself_or_the_only_senior_says_what_that_means(office: Served) -> None:
    root = tab(office, "root")

    assert "This is you" in root.go("/people/person/root/remove").page.one("main").text
    assert "Nobody else is an administrator" in root.page.one("main").text
    assert "tier critical" in root.go("/people/person/ada/remove").page.one("main").text


@pytest.mark.parametrize("text", ["[[rules]]\nname = 3\n", "[groups]\nboard = ['zoe']\n"])
def test_somebody_can_be_removed_while_the_policy_cannot_be_used(tmp_path: Path, text: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=file) as desk:
        desk.people.add("ben")
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            root = tab(served, "root").go("/people/person/ben/remove")
            said = root.page.one("main").text
            send(root, "/people/person/ben/remove")

        assert "The policy cannot be used as it is, so nobody can tell" in said
        assert (root.status, list(desk.store.register().people)) == (303, ["root"])


def test_the_last_person_cannot_be_removed(tmp_path: Path) -> None:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            root = tab(served, "root").go("/people/person/root/remove")
            text = root.page.one("main").text
            refused = root.client.post("/people/person/root/remove")

    assert "solo mode" in text
    assert [one for one in root.page.all("button") if "Remove" in one.text] == []
    assert refused.status_code == 422


def test_words_are_separated_by_commas_or_spaces() -> None:
    assert words(" senior,security  senior\n") == ["senior", "security"]


# --- sessions ----------------------------------------------------------------------------------


def test_sessions_are_those_of_the_api_and_end_when_asked(office: Served) -> None:
    other = office.signed_in("anna")
    anna = tab(office, "anna").go("/people/sessions")
    listed = anna.client.get("/api/v1/sessions").json()["sessions"]
    shown = anna.page.one("section", id="sessions")

    assert len(shown.one("tbody").all("tr")) == len(listed) == 2
    assert "2 sessions" in shown.text
    assert "this one" in shown.text
    one = next(session["id"] for session in listed if not session["current"])
    anna.go(f"/people/sessions/{one}/end")
    assert other.get("/api/v1/session").status_code == 200, "looking ends nothing"
    send(anna, f"/people/sessions/{one}/end")
    assert other.get("/api/v1/session").status_code == 401
    assert anna.client.get("/api/v1/session").status_code == 200


def test_all_others_end_together_and_the_one_in_use_stays(office: Served) -> None:
    others = [office.signed_in("anna") for _ in range(3)]
    bens = office.signed_in("ben")
    anna = tab(office, "anna").go("/people/sign-out")

    assert "3 sessions end at once." in anna.page.one("main").text
    send(anna, "/people/sign-out")
    assert {one.get("/api/v1/session").status_code for one in others} == {401}
    assert anna.client.get("/api/v1/session").status_code == 200
    assert bens.get("/api/v1/session").status_code == 200
    anna.client.post("/people/sign-out", data={"whose": "ben"})
    assert bens.get("/api/v1/session").status_code == 200, "of somebody else, only an administrator"
    root = tab(office, "root").go("/people/sign-out?whose=ben")
    send(root, "/people/sign-out")
    assert bens.get("/api/v1/session").status_code == 401


# --- tokens ------------------------------------------------------------------------------------


def test_a_token_is_made_shown_once_and_revoked(office: Served) -> None:
    root = tab(office, "root").go("/people/tokens")
    form = root.page.one("section", id="make-agent").one("form")
    root.press(form.all("button")[0], name="clerk", team="billing", owner="anna", expires="30d")
    text = root.page.one("code", class_="command").text

    assert root.status == 200
    me = office.client(text).get("/api/v1/session").json()
    assert (me["kind"], me["name"]) == ("agent", "clerk")
    assert text not in root.go("/people/tokens").answer.text
    assert "clerk" in root.page.one("section", id="tokens").text
    listed = root.client.get("/api/v1/tokens").json()["tokens"]
    assert f"{len(listed)} in use" in root.page.one("section", id="tokens").text
    token = next(one["id"] for one in listed if one["name"] == "clerk")
    send(root.go(f"/people/tokens/{token}/revoke"), f"/people/tokens/{token}/revoke")
    assert office.client(text).get("/api/v1/session").status_code == 401
    assert "clerk" not in root.go("/people/tokens").page.one("section", id="tokens").text
    assert "clerk" in root.go("/people/tokens?show=ended").page.one("section", id="tokens").text


def test_somebody_sees_their_own_tokens_and_those_of_their_agents(office: Served) -> None:
    office.person("anna")
    office.agent("hers", owner="anna")
    office.agent("others", owner="ben")
    anna = tab(office, "anna").go("/people/tokens")
    shown = anna.page.one("section", id="tokens").text

    assert "hers" in shown
    assert "others" not in anna.answer.text
    assert anna.page.all("section", id="make-agent") == []
    assert anna.page.one("section", id="make-own").all("input", value="admin") == []
    anna.press(anna.page.one("section", id="make-own").all("button")[0], scopes=["asks:read"])
    text = anna.page.one("code", class_="command").text
    me = office.client(text).get("/api/v1/session").json()
    assert (me["name"], me["scopes"]) == ("anna", ["asks:read"])


def test_what_is_wrong_with_a_token_is_said_and_the_form_keeps_what_was_typed(
    office: Served,
) -> None:
    root = tab(office, "root").go("/people/tokens")
    form = root.page.one("section", id="make-agent").one("form")
    root.press(form.all("button")[0], name="anna", team="billing")

    assert root.status == 422
    assert "anna is a person on this desk" in alert(root)
    assert root.page.one("input", id="f-team").attrs["value"] == "billing"


def test_tokens_are_paged_by_a_cursor(office: Served) -> None:
    for number in range(103):
        office.desk.tokens.make(f"agent-{number}")
    root = tab(office, "root").go("/people/tokens")
    first = root.page.one("section", id="tokens").one("tbody").all("tr")
    more = next(one for one in root.page.all("a") if one.text == "Older").attrs["href"]
    second = root.go(more).page.one("section", id="tokens").one("tbody").all("tr")

    assert (len(first), len(second)) == (100, 3)
    assert "103 in use" in root.page.one("section", id="tokens").text


# --- webhooks ----------------------------------------------------------------------------------


def test_a_webhook_is_added_tested_and_removed(office: Served) -> None:
    root = tab(office, "root").go("/people/webhooks")
    send(root, "/people/webhooks", url="https://93.184.216.34/hook", kinds="ask.opened, run.*")

    assert root.status == 200
    hook = next(iter(office.desk.webhooks))
    secret = root.page.one("code", class_="command").text
    assert secret == office.desk.store.webhook(hook.id).secret  # type: ignore[union-attr]
    assert hook.kinds == ("ask.opened", "run.*")
    assert secret not in root.go("/people/webhooks").answer.text
    root.go(f"/people/webhooks/{hook.id}/remove")
    assert len(office.desk.webhooks) == 1, "looking removes nothing"
    send(root, f"/people/webhooks/{hook.id}/remove")
    assert len(office.desk.webhooks) == 0


@pytest.mark.parametrize("url", ["http://127.0.0.1/hook", "nowhere", ""])
def test_a_webhook_into_this_network_is_refused_with_everything_typed(
    office: Served, url: str
) -> None:
    root = tab(office, "root").go("/people/webhooks")
    send(root, "/people/webhooks", url=url, team="billing")

    assert root.status == 422
    assert "Nothing was done." in alert(root)
    assert root.page.one("input", id="f-team").attrs["value"] == "billing"


def test_deliveries_are_those_of_the_api_and_are_sent_again(office: Served) -> None:
    desk = office.desk
    root = tab(office, "root")
    with receiving() as receiver:
        hook = desk.webhooks.add(receiver.url, "ask.opened", allow_private=True)
        desk.open("pay", {})
        desk.deliver()
        send(root.go("/people/webhooks"), f"/people/webhooks/{hook.id}/test")
        assert "took the ping" in root.page.one("main").text
    send(root.go("/people/webhooks"), f"/people/webhooks/{hook.id}/test")
    assert "did not take the ping" in root.page.one("main").text
    again = root.client.get(root.page.one("body").attrs["data-live-from"])
    assert (again.status_code, 'id="deliveries"' in again.text) == (200, True)

    listed = root.client.get("/api/v1/deliveries").json()["deliveries"]
    table = root.go("/people/webhooks").page.one("section", id="deliveries")
    row = table.one("tbody").all("tr")[0]
    assert len(table.one("tbody").all("tr")) == len(listed) == 1
    assert row.one("td", data_head="Attempts").text == str(listed[0]["attempts"])
    assert "arrived" in row.text
    assert root.go("/people/webhooks?status=dead").page.all("tbody") == []
    root.go("/people/webhooks")
    send(root, f"/people/deliveries/{listed[0]['id']}/redeliver")
    assert root.status == 303
    assert "1 waiting" in root.page.one("section", id="deliveries").text
    assert desk.webhooks.deliveries()[0].status == "waiting"
