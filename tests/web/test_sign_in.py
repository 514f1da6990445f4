"""How people come in, and how they are kept out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sayso import Desk
from sayso.access.sessions import list_sessions, make_link
from sayso.testing import FakeClock
from sayso.web.sign_in import cookie_name, onward
from tests.hostile import ALL, ANSI, BIDI, FAKED, MARKUP, ZERO_WIDTH
from tests.web.house import PASSWORD, House, serving

HOSTILE = (ALL, ANSI, BIDI, FAKED, MARKUP, ZERO_WIDTH)


@pytest.fixture
def alone(local: Desk) -> Iterator[House]:
    """A desk of one person at this machine; its clock stands still."""
    with serving(local) as house:
        yield house


@pytest.fixture
def office(local: Desk) -> Iterator[House]:
    """A desk with people; its clock stands still."""
    local.people.add("root", roles=["admin"])
    with serving(local) as house:
        house.person("anna", "senior")
        yield house


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A desk of one person that tests share."""
    file: Path = tmp_path_factory.mktemp("home") / "desk.db"
    with Desk(f"sqlite:///{file}", agent="shop") as desk, serving(desk) as house:
        yield house


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A desk with people that tests share."""
    file: Path = tmp_path_factory.mktemp("team") / "desk.db"
    with Desk(f"sqlite:///{file}", agent="shop") as desk:
        desk.people.add("root", roles=["admin"])
        with serving(desk) as house:
            house.person("anna", "senior")
            house.person("ben")
            yield house


# --- the link ----------------------------------------------------------------------------------


def test_a_link_is_swapped_for_a_strict_cookie_and_leaves_the_address(alone: House) -> None:
    browser = alone.browser()

    came = browser.get("/", params={"t": make_link(alone.desk.store)})

    assert came.status_code == 303
    assert came.headers["location"] == "/?to=%2Finbox"
    assert came.headers["referrer-policy"] == "no-referrer"
    cookie = came.headers["set-cookie"]
    assert cookie.startswith(f"sayso_{alone.port}=")
    for word in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age="):
        assert word in cookie
    assert "Domain" not in cookie
    page = browser.get(came.headers["location"], follow_redirects=True)
    assert (page.status_code, page.url.path) == (200, "/inbox")


@pytest.mark.parametrize("late", [True, False])
def test_a_link_that_is_spent_or_late_says_how_to_get_another(
    alone: House, clock: FakeClock, late: bool
) -> None:
    link = make_link(alone.desk.store)
    if late:
        clock.advance(timedelta(minutes=5, seconds=1))
    else:
        alone.browser().get("/", params={"t": link})

    came = alone.browser().get("/", params={"t": link})

    assert came.status_code == 401
    assert "sayso serve --url" in came.text
    assert link not in came.text
    assert "set-cookie" not in came.headers


def test_looking_at_a_link_with_head_does_not_use_it_up(alone: House) -> None:
    link = make_link(alone.desk.store)

    assert alone.browser().head("/", params={"t": link}).status_code == 400
    assert alone.browser().get("/", params={"t": link}).status_code == 303


@pytest.mark.parametrize("text", ["", "x", "0" * 43, "é" * 43, "a" * 5000, *HOSTILE])
def test_a_link_that_somebody_made_up_lets_nobody_in(home: House, text: str) -> None:
    came = home.browser().get("/", params={"t": text})

    assert came.status_code in (400, 401)
    assert list_sessions(home.desk.store) == []


def test_a_stranger_at_this_machine_is_told_where_the_link_is(home: House) -> None:
    for path in ("/", "/sign-in"):
        came = home.browser().get(path)
        assert came.status_code == 401
        assert "sayso serve --url" in came.text


def test_the_first_person_ends_what_the_link_opened(alone: House) -> None:
    browser = alone.signed_in()
    link = make_link(alone.desk.store)

    alone.person("anna", "admin")

    assert browser.get("/api/v1/session").status_code == 401
    assert browser.get("/", follow_redirects=True).url.path == "/sign-in"
    assert alone.browser().get("/", params={"t": link}).status_code == 401
    assert alone.signed_in("anna").get("/api/v1/session").json()["name"] == "anna"


def test_a_cookie_of_another_port_or_another_desk_opens_nothing(
    alone: House, tmp_path: Path
) -> None:
    secret = alone.signed_in().cookies[alone.cookie]
    with Desk(f"sqlite:///{tmp_path}/other.db") as desk, serving(desk) as other:
        for name in (alone.cookie, other.cookie, "sayso_session"):
            headers = {"Cookie": f"{name}={secret}"}
            assert other.client().get("/api/v1/session", headers=headers).status_code == 401
    wrong = {"Cookie": f"sayso_{alone.port + 1}={secret}"}
    assert alone.client().get("/api/v1/session", headers=wrong).status_code == 401


# --- passwords ---------------------------------------------------------------------------------


def test_a_password_opens_a_session_that_says_who_one_is(office: House) -> None:
    browser = office.browser()

    came = browser.post("/api/v1/session", json={"name": "anna", "password": PASSWORD})

    assert came.status_code == 200
    cookie = came.headers["set-cookie"]
    for word in ("HttpOnly", "SameSite=lax", "Path=/"):
        assert word in cookie
    assert PASSWORD not in came.text
    me = browser.get("/api/v1/session").json()
    assert me == came.json()
    assert (me["kind"], me["name"], me["how"]) == ("person", "anna", "password")
    assert me["roles"] == ["senior"]
    assert "decisions:write" in me["scopes"]
    assert "admin" not in me["scopes"]
    assert me["signed_in_at"]
    (said,) = [e for e in office.desk.store.stream("access") if e.kind == "session.opened"]
    assert said.payload is not None
    assert said.payload["account"] == "anna, password"


def test_on_https_the_cookie_is_bound_to_the_host(local: Desk) -> None:
    local.people.add("root", roles=["admin"])
    with serving(local, public_url="https://desk.example.org") as house:
        house.person("anna")
        came = house.client().post(
            "/api/v1/session",
            json={"name": "anna", "password": PASSWORD},
            headers={"Host": "desk.example.org"},
        )
    assert came.headers["set-cookie"].startswith("__Host-sayso_")
    assert "Secure" in came.headers["set-cookie"]


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("anna", "wrong"),
        ("nobody", PASSWORD),
        ("", ""),
        ("anna", ""),
        ("ANNA ", PASSWORD),
        ("ro\u202eot", PASSWORD),
        ("root", PASSWORD),  # has no password at all
        ("clock:clock", PASSWORD),
        ("anna", "x" * 1024),
    ],
)
def test_a_wrong_name_and_a_wrong_password_sound_alike(
    team: House, name: str, password: str
) -> None:
    came = team.browser().post("/api/v1/session", json={"name": name, "password": password})

    assert came.status_code == 401
    assert came.json()["detail"] == "The name or the password is wrong."
    assert "set-cookie" not in came.headers


def test_attempts_are_limited_for_an_account_and_its_right_password_too(office: House) -> None:
    wrong = {"name": "anna", "password": "not this one"}
    said = [office.browser().post("/api/v1/session", json=wrong) for _ in range(11)]
    right = office.browser().post("/api/v1/session", json=wrong | {"password": PASSWORD})

    assert [answer.status_code for answer in said] == [401] * 10 + [429]
    assert right.status_code == 429
    assert int(right.headers["retry-after"]) > 0
    form = office.browser().post("/sign-in", data=wrong)
    assert form.status_code == 429
    assert "Too many" in form.text


def test_a_session_somebody_planted_is_not_the_one_that_is_signed_in(team: House) -> None:
    """Session fixation."""
    browser = team.browser()
    browser.cookies.set(team.cookie, "A" * 43)
    browser.post("/api/v1/session", json={"name": "anna", "password": PASSWORD})

    planted = {"Cookie": f"{team.cookie}={'A' * 43}"}
    assert team.client().get("/api/v1/session", headers=planted).status_code == 401


def test_signing_out_ends_the_session_wherever_its_cookie_is_kept(team: House) -> None:
    browser = team.signed_in("anna")
    kept = {"Cookie": f"{team.cookie}={browser.cookies[team.cookie]}"}

    assert browser.delete("/api/v1/session").status_code == 204
    assert team.cookie not in browser.cookies
    assert team.client().get("/api/v1/session", headers=kept).status_code == 401
    assert browser.delete("/api/v1/session").status_code == 401


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", '"anna"', '{"name": "anna"}', '{"name": 7, "password": null}', "x" * 10_000],
)
def test_a_sign_in_that_makes_no_sense_is_told_so(team: House, body: str) -> None:
    json = {"Content-Type": "application/json"}
    came = team.browser().post("/api/v1/session", content=body, headers=json)

    assert came.status_code in (400, 422)
    assert came.headers["content-type"] == "application/problem+json"


def test_a_password_is_never_repeated_in_an_error(team: House) -> None:
    secret = "hunter2 hunter2"
    came = team.browser().post("/api/v1/session", json={"name": "anna", "password": [secret]})

    assert came.status_code == 422
    assert secret not in came.text


# --- pages -------------------------------------------------------------------------------------


def test_the_form_works_without_a_script(team: House) -> None:
    browser = team.browser()
    first = browser.get("/")
    assert (first.status_code, first.headers["location"]) == (303, "/sign-in")
    page = browser.get("/sign-in?next=/inbox/a-7f3k")
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
    assert fields["next"] == "/inbox/a-7f3k"

    came = browser.post("/sign-in", data={**fields, "name": "anna", "password": PASSWORD})

    assert came.status_code == 303
    there = browser.get(came.headers["location"])
    assert (there.status_code, there.headers["location"]) == (303, "/inbox/a-7f3k")
    assert re.search(r"Signed in as <b>.*anna", browser.get("/inbox").text)
    assert browser.post("/sign-out").status_code == 303
    assert browser.get("/").headers["location"] == "/sign-in"


def test_a_wrong_password_shows_the_form_again_with_the_name_and_not_the_password(
    team: House,
) -> None:
    form = {"name": "<anna>", "password": "secret words", "next": "/x"}
    came = team.browser().post("/sign-in", data=form)

    assert came.status_code == 401
    assert 'role="alert"' in came.text
    assert 'value="&lt;anna&gt;"' in came.text
    assert "secret words" not in came.text


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/x\r\nSet-Cookie: a=b",
        "/\t/evil.example",
        "",
    ],
)
def test_signing_in_leads_nowhere_else(team: House, to: str) -> None:
    form = {"name": "anna", "password": PASSWORD, "next": to}
    browser = team.browser()
    came = browser.post("/sign-in", data=form)

    assert came.status_code == 303
    assert browser.get(came.headers["location"]).headers["location"] == "/inbox"
    assert onward(to) == "/"


def test_a_browser_that_keeps_no_cookie_is_told_so(team: House) -> None:
    form = {"name": "anna", "password": PASSWORD, "next": "/inbox/a-7f3k"}
    came = team.browser().post("/sign-in", data=form)

    there = team.browser().get(came.headers["location"])

    assert there.status_code == 401
    assert "did not keep the cookie" in there.text
    assert "/sign-in?next=%2Finbox%2Fa-7f3k" in there.text


def test_a_name_of_a_cookie_has_the_port_and_on_https_the_host() -> None:
    assert cookie_name("http://127.0.0.1:8700", 8700) == "sayso_8700"
    assert cookie_name("https://desk.example.org", 8700) == "__Host-sayso_8700"


# --- critical ----------------------------------------------------------------------------------


def critical(house: House) -> tuple[str, dict[str, object]]:
    if not house.desk.people.solo:
        house.desk.people.add("sec", roles=["security"])
    ask = house.desk.open("wipe", {"disk": 1}, risk="critical")
    return f"/api/v1/asks/{ask.id}/decision", {"verdict": "approve", "seen": ask.digest}


def test_whoever_sits_alone_at_the_machine_is_not_asked_again(
    alone: House, clock: FakeClock
) -> None:
    browser = alone.signed_in()
    where, body = critical(alone)
    clock.advance(timedelta(hours=1))

    assert browser.post(where, json=body).status_code == 200
