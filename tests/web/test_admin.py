"""People, tokens and sessions over HTTP: who may look after whose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.places import Place
from tests.web.house import PASSWORD, House, serving


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """root is admin, anna and ben are not; a test that changes people adds its own."""
    file: Path = tmp_path_factory.mktemp("admin") / "desk.db"
    with Desk(f"sqlite:///{file}", agent="shop") as desk:
        desk.people.add("root", roles=["admin"])
        with serving(desk) as served:
            served.person("root", "admin")
            served.person("anna", "senior", teams=["billing"])
            served.person("ben")
            yield served


@pytest.fixture(scope="module")
def root(house: House) -> httpx2.Client:
    return house.signed_in("root")


@pytest.fixture(scope="module")
def anna(house: House) -> httpx2.Client:
    return house.signed_in("anna")


@pytest.fixture(scope="module")
def ben(house: House) -> httpx2.Client:
    return house.signed_in("ben")


@pytest.fixture(scope="module")
def bot(house: House) -> httpx2.Client:
    return house.client(house.desk.tokens.make("bot", owner="anna")[1])


# --- people ------------------------------------------------------------------------------------


def test_an_administrator_adds_changes_and_removes_people(place: Place) -> None:
    with Desk(place.url) as desk:
        desk.people.add("root", roles=["admin"])
        with serving(desk) as house:
            house.person("root", "admin")
            root = house.signed_in("root")
            put = {"name": "cleo", "roles": ["senior"], "teams": ["billing"]}

            assert root.post("/api/v1/people", json=put).json() == put
            changed = put | {"roles": [], "teams": []}
            assert root.post("/api/v1/people", json=changed).json() == changed
            listed = root.get("/api/v1/people").json()["people"]
            assert [person["name"] for person in listed] == ["cleo", "root"]

            assert root.delete("/api/v1/people/cleo").status_code == 204
            assert root.delete("/api/v1/people/cleo").status_code == 404
            assert root.delete("/api/v1/people/root").status_code == 422, "the last one"
            said = [event for event in desk.store.stream("people") if event.actor.id == "root"]
            assert [event.kind for event in said][-3:] == [
                "person.added",
                "person.changed",
                "person.removed",
            ]
            assert said[-1].payload is not None
            assert said[-1].payload["account"] == "root, password"


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_nobody_else_looks_after_people(
    house: House, anna: httpx2.Client, bot: httpx2.Client, method: str
) -> None:
    path = "/api/v1/people/ben" if method == "DELETE" else "/api/v1/people"
    body = {"name": "anna", "roles": ["admin"]} if method == "POST" else None
    statuses = [
        client.request(method, path, json=body).status_code
        for client in (house.client(), anna, bot, house.browser())
    ]

    assert statuses == [401, 403, 403, 401]
    assert house.desk.store.register().people["anna"] == {"senior"}
    assert "ben" in house.desk.store.register().people


def test_somebody_removed_is_out_with_their_agents(house: House, root: httpx2.Client) -> None:
    house.person("dora")
    dora = house.signed_in("dora")
    agent = house.client(house.desk.tokens.make("helper", owner="dora")[1])
    assert agent.get("/api/v1/session").status_code == 200

    refused = root.delete("/api/v1/people/dora")
    assert refused.status_code == 409
    assert "The tokens of their agents end too: helper." in refused.json()["detail"]
    assert agent.get("/api/v1/session").status_code == 200
    assert root.delete("/api/v1/people/dora?sure=true").status_code == 204

    assert dora.get("/api/v1/session").status_code == 401
    assert agent.get("/api/v1/session").status_code == 401


def test_removing_somebody_answers_what_it_would_stop_e59(
    house: House, root: httpx2.Client
) -> None:
    house.person("lara", "lawyer")
    house.desk.open("sign", {"page": 1}, needs=["1 lawyer"])

    refused = root.delete("/api/v1/people/lara")

    assert (refused.status_code, refused.json()["code"]) == (409, "would-stop")
    assert "1 open ask could then be decided by nobody." in refused.json()["detail"]
    assert "lara" in house.desk.store.register().people
    assert root.delete("/api/v1/people/lara?sure=true").status_code == 204
    assert "lara" not in house.desk.store.register().people


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "clock:clock", "<b>", "\u202eanna"])
def test_a_name_that_is_none_is_refused(root: httpx2.Client, name: str) -> None:
    assert root.post("/api/v1/people", json={"name": name}).status_code == 422


def test_nobody_is_called_like_an_agent(
    house: House, root: httpx2.Client, bot: httpx2.Client
) -> None:
    refused = root.post("/api/v1/people", json={"name": "Bot"})

    assert (refused.status_code, list(refused.json()["fields"])) == (422, ["name"])
    token, _ = house.desk.tokens.make("gone")
    house.desk.tokens.revoke(token.id)
    assert root.post("/api/v1/people", json={"name": "gone"}).status_code == 200


def test_no_token_changes_the_people_of_a_desk(house: House) -> None:
    """Or whoever found one could put its owner into any team, and read and decide there."""
    _, text = house.desk.tokens.make("root", "person", scopes=["admin", "asks:read"])
    program = house.client(text)

    put = program.post("/api/v1/people", json={"name": "root", "teams": ["billing"]})
    removed = program.delete("/api/v1/people/ben")
    made = program.post("/api/v1/tokens", json={"kind": "person", "scopes": ["admin"]})

    assert {one.json()["code"] for one in (put, removed, made)} == {"sign-in-again"}
    assert house.desk.store.register().teams.get("root", frozenset()) == frozenset()
    assert program.get("/api/v1/people").status_code == 200


def test_whoever_changes_the_people_has_just_signed_in(place: Place, clock: FakeClock) -> None:
    with Desk(place.url, clock=clock) as desk:
        desk.people.add("root", roles=["admin"])
        with serving(desk) as house:
            house.person("root", "admin")
            root = house.signed_in("root")
            clock.advance("15m 1s")
            token = {"kind": "person", "scopes": ["admin"]}
            refused = [
                root.post("/api/v1/people", json={"name": "cleo"}),
                root.post("/api/v1/tokens", json=token),
            ]
            assert [one.json()["code"] for one in refused] == ["sign-in-again"] * 2
            assert root.post("/api/v1/tokens", json={"name": "till"}).status_code == 201

            again = house.signed_in("root")
            assert again.post("/api/v1/people", json={"name": "cleo"}).status_code == 200
            assert again.post("/api/v1/tokens", json=token).status_code == 201


def test_the_first_person_is_added_at_the_machine(tmp_path: Path) -> None:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk, serving(desk) as house:
        alone = house.signed_in()

        refused = alone.post("/api/v1/people", json={"name": "anna", "roles": ["admin"]})

        assert refused.status_code == 422
        assert "sayso people add NAME --admin" in refused.json()["detail"]
        assert desk.people.solo
        assert alone.get("/api/v1/session").status_code == 200


# --- tokens ------------------------------------------------------------------------------------


def test_an_administrator_makes_a_token_for_an_agent_and_sees_its_text_once(
    house: House, root: httpx2.Client
) -> None:
    wanted = {"kind": "agent", "name": "mailer", "team": "billing", "owner": "ben"}

    made = root.post("/api/v1/tokens", json=wanted)

    assert made.status_code == 201
    text = made.json()["token"]
    me = house.client(text).get("/api/v1/session").json()
    assert (me["kind"], me["name"]) == ("agent", "mailer")
    assert set(me["scopes"]) == {"asks:create", "asks:read", "asks:run"}
    listed = root.get("/api/v1/tokens")
    assert text not in listed.text
    assert made.json()["id"] in {token["id"] for token in listed.json()["tokens"]}
    assert root.delete(f"/api/v1/tokens/{made.json()['id']}").status_code == 204
    assert house.client(text).get("/api/v1/session").status_code == 401


def test_a_person_makes_a_token_of_their_own_that_reaches_no_further(
    house: House, anna: httpx2.Client
) -> None:
    body = {"kind": "person", "scopes": ["asks:read", "decisions:write"], "expires": "1h"}

    made = anna.post("/api/v1/tokens", json=body)

    assert made.status_code == 201
    me = house.client(made.json()["token"]).get("/api/v1/session").json()
    assert (me["name"], me["scopes"]) == ("anna", ["asks:read", "decisions:write"])
    refused = anna.post("/api/v1/tokens", json=body | {"scopes": ["admin"]})
    assert refused.status_code == 422


def test_nobody_makes_a_token_of_somebody_else_not_even_an_administrator(
    house: House, root: httpx2.Client, anna: httpx2.Client, bot: httpx2.Client
) -> None:
    """Or an administrator could decide in anybody's name."""
    before = len(list(house.desk.tokens))
    for client in (root, anna, bot):
        body = {"kind": "person", "name": "ben"}
        assert client.post("/api/v1/tokens", json=body).status_code == 403
    for client in (anna, bot):
        assert client.post("/api/v1/tokens", json={"name": "helper"}).status_code == 403
    assert len(list(house.desk.tokens)) == before


def test_a_token_does_not_beget_tokens(house: House, root: httpx2.Client) -> None:
    """A token of an hour, or of one scope, would make one for ever, or of all."""
    _, text = house.desk.tokens.make("ben", "person", scopes=["asks:read"], expires="1h")
    body = {"kind": "person", "expires": None}

    refused = house.client(text).post("/api/v1/tokens", json=body)

    assert refused.status_code == 403


def test_people_see_and_revoke_their_own_tokens_and_those_of_their_agents(
    house: House, anna: httpx2.Client, ben: httpx2.Client, bot: httpx2.Client
) -> None:
    mine, _ = house.desk.tokens.make("anna", "person")
    agents, _ = house.desk.tokens.make("clerk", owner="anna")
    seen = {token["id"] for token in anna.get("/api/v1/tokens").json()["tokens"]}

    assert {mine.id, agents.id} <= seen
    assert mine.id not in ben.get("/api/v1/tokens").text
    assert bot.get("/api/v1/tokens").status_code == 403
    for token in (mine, agents):
        path = f"/api/v1/tokens/{token.id}"
        assert ben.delete(path).json()["code"] == "unknown-token", "as if there were none"
        assert bot.delete(path).status_code == 403
        assert anna.delete(path).status_code == 204
    assert anna.delete("/api/v1/tokens/t-0000").status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "anna"},  # a person's name
        {"name": "x", "kind": "robot"},
        {"name": "x", "scopes": ["decisions:write"]},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["everything"]},
        {"name": "x", "expires": "soon"},
        {"name": "x", "expires": "-1d"},
        {"name": "x", "owner": "nobody"},
        {"name": "x", "team": "a b"},
        {"name": "x", "admin": True},
        {},
    ],
    ids=str,
)
def test_a_token_that_cannot_be_is_refused(root: httpx2.Client, wrong: dict[str, object]) -> None:
    assert root.post("/api/v1/tokens", json=wrong).status_code in (404, 422)


# --- sessions ----------------------------------------------------------------------------------


def test_people_see_and_end_their_own_sessions(
    house: House, anna: httpx2.Client, ben: httpx2.Client, root: httpx2.Client, bot: httpx2.Client
) -> None:
    phone = house.signed_in("anna")
    lost = phone.get("/api/v1/session").json()["credential"]

    listed = anna.get("/api/v1/sessions").json()["sessions"]

    assert {session["person"] for session in listed} == {"anna"}
    assert [session["current"] for session in listed].count(True) == 1
    assert phone.cookies[house.cookie] not in str(listed)
    assert lost not in ben.get("/api/v1/sessions").text
    assert lost in root.get("/api/v1/sessions").text
    assert bot.get("/api/v1/sessions").status_code == 403
    path = f"/api/v1/sessions/{lost}"
    assert [client.delete(path).status_code for client in (ben, bot)] == [404, 403]
    assert phone.get("/api/v1/session").status_code == 200
    assert anna.delete(path).status_code == 204
    assert phone.get("/api/v1/session").status_code == 401
    assert anna.delete(path).status_code == 404


def test_an_administrator_signs_somebody_out(house: House, root: httpx2.Client) -> None:
    browser = house.signed_in("ben")
    session = browser.get("/api/v1/session").json()["credential"]

    assert root.delete(f"/api/v1/sessions/{session}").status_code == 204

    assert browser.get("/api/v1/session").status_code == 401
    (said,) = [e for e in house.desk.store.stream("access") if e.kind == "session.ended"][-1:]
    assert said.actor.id == "root"


def test_hostile_words_of_a_browser_are_made_visible(house: House, root: httpx2.Client) -> None:
    evil = house.browser(**{"User-Agent": "x<script>"})
    evil.post("/api/v1/session", json={"name": "ben", "password": PASSWORD})

    agents = [s["agent"] for s in root.get("/api/v1/sessions").json()["sessions"]]

    assert "x<script>" in agents, "JSON shows it as it is; pages escape it"


def test_the_openapi_document_describes_them(house: House) -> None:
    paths = house.client().get("/openapi.json").json()["paths"]

    for path in ("/api/v1/people", "/api/v1/tokens", "/api/v1/sessions", "/api/v1/session"):
        for method, said in paths[path].items():
            assert said["summary"], (method, path)
            assert said["operationId"], (method, path)
            assert "401" in said["responses"], (method, path)
    assert "/sign-in" not in paths
