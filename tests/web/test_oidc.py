"""Sign-in through a provider that speaks the real protocol, and every way it can go wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from sayso import Desk
from sayso.access.identities import link_identity
from sayso.access.sessions import list_sessions
from sayso.errors import BadValue
from sayso.web.provider import Provider, roles_by_group
from tests.places import Place
from tests.web.house import House, serving
from tests.web.provider import CLIENT, SECRET, Idp, running

Claims = dict[str, Any]
ROLES = roles_by_group({"seniors": "senior", "guards": ["security", "night"]})


@pytest.fixture(scope="module")
def shared() -> Iterator[Idp]:
    with running() as idp:
        yield idp


@pytest.fixture
def idp(shared: Idp) -> Iterator[Idp]:
    """The provider; what a test bends is straight again afterwards."""
    before = (shared.bend, shared.sign, shared.subject, shared.groups, shared.issuer_said)
    yield shared
    shared.lax, shared.last = False, None
    shared.bend, shared.sign, shared.subject, shared.groups, shared.issuer_said = before


def provider(idp: Idp, **more: Any) -> Provider:
    return Provider(idp.url, CLIENT, SECRET, **more)


@pytest.fixture(scope="module")
def house(shared: Idp, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A desk that knows anna by what the provider calls her."""
    file: Path = tmp_path_factory.mktemp("oidc") / "desk.db"
    with Desk(f"sqlite:///{file}", agent="shop") as desk:
        known(desk, shared)
        with serving(desk, oidc=provider(shared)) as served:
            yield served


def known(desk: Desk, idp: Idp) -> None:
    desk.people.add("root", roles=["admin"])
    desk.people.add("anna", roles=["senior", "poet"])
    link_identity(desk.store, idp.url, idp.subject, "anna", origin=desk.origin)


def there(house: House) -> tuple[httpx2.Client, str]:
    """Go to the provider; return the browser and the address it was sent to."""
    browser = house.browser()
    away = browser.get("/sign-in/oidc")
    assert away.status_code == 303, away.text
    return browser, away.headers["location"]


def back(url: str) -> str:
    """Sign in at the provider; return where it sends the browser."""
    return httpx2.get(url).headers["location"]


def signed_in(house: House) -> httpx2.Response:
    browser, url = there(house)
    return browser.get(back(url), headers={"Sec-Fetch-Site": "cross-site"})


def refused(answer: httpx2.Response) -> bool:
    assert "set-cookie" not in answer.headers
    return answer.status_code == 403


# --- how it goes -------------------------------------------------------------------------------


def test_the_provider_signs_a_known_subject_in(place: Place, idp: Idp) -> None:
    with Desk(place.url, agent="shop") as desk:
        known(desk, idp)
        with serving(desk, oidc=provider(idp)) as house:
            browser, url = there(house)
            came = browser.get(back(url), headers={"Sec-Fetch-Site": "cross-site"})

            assert (came.status_code, came.headers["location"]) == (303, "/")
            me = browser.get("/api/v1/session").json()
            assert (me["name"], me["how"]) == ("anna", "oidc")
            assert me["roles"] == ["poet", "senior"]
            assert "oidc" not in "".join(browser.cookies), "the secret of the way there is gone"


def test_it_asks_for_a_code_with_pkce_state_and_nonce_and_nothing_in_the_clear(
    house: House, idp: Idp
) -> None:
    browser, url = there(house)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}

    assert asked["code_challenge_method"] == "S256"
    assert len(asked["code_challenge"]) == 43
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    assert asked["redirect_uri"] == f"{house.url}/sign-in/oidc/back"
    kept = browser.cookies[f"{house.cookie}_oidc"]
    assert kept not in url
    assert SECRET not in url


def test_the_sign_in_page_leads_to_the_provider(house: House, idp: Idp) -> None:
    page = house.browser().get("/sign-in").text

    assert 'href="/sign-in/oidc"' in page
    assert idp.url in page


def test_whom_nobody_knows_is_told_what_an_administrator_types(house: House, idp: Idp) -> None:
    idp.subject = "<b>mallory</b>; rm -rf"

    came = signed_in(house)

    assert refused(came)
    assert "sayso people link NAME --oidc" in came.text
    assert "&#39;&lt;b&gt;mallory&lt;/b&gt;; rm -rf&#39;" in came.text, "quoted for a shell"
    assert "<b>" not in came.text


def test_the_same_mail_address_is_nobody(house: House, idp: Idp) -> None:
    """anna@example.org is in the claims of everybody here, and counts for nothing."""
    house.desk.people.add("anna@example.org")
    idp.subject = "somebody else"

    assert refused(signed_in(house))


def test_groups_give_and_take_the_roles_they_govern_and_no_others(tmp_path: Path, idp: Idp) -> None:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        known(desk, idp)
        with serving(desk, oidc=provider(idp, roles=ROLES)) as house:
            idp.groups = ["guards", "admin", "unknown"]
            signed_in(house)
            assert desk.store.register().people["anna"] == {"poet", "security", "night"}
            idp.groups = []
            signed_in(house)
            assert desk.store.register().people["anna"] == {"poet"}


@pytest.mark.parametrize("groups", [None, "guards", {"guards": 1}, [1, None, ["guards"]]])
def test_groups_that_are_no_list_of_names_give_nothing(
    tmp_path: Path, idp: Idp, groups: Any
) -> None:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        known(desk, idp)
        idp.bend = lambda claims: {**claims, "groups": groups}
        with serving(desk, oidc=provider(idp, roles=ROLES)) as house:
            assert signed_in(house).status_code == 303
            assert desk.store.register().people["anna"] == {"poet"}


def test_a_provider_that_changes_its_key_goes_on(house: House, idp: Idp) -> None:
    assert signed_in(house).status_code == 303
    idp.rotate()
    assert signed_in(house).status_code == 303


# --- how fresh it is ---------------------------------------------------------------------------


def decides_what_is_critical(house: House) -> tuple[int, str | None]:
    """Sign in through the provider, and decide something critical at once."""
    browser, url = there(house)
    came = browser.get(back(url), headers={"Sec-Fetch-Site": "cross-site"})
    assert came.status_code == 303, came.text
    ask = house.desk.open("wipe", {"disk": 1}, risk="critical")
    answer = browser.post(
        f"/api/v1/asks/{ask.id}/decision", json={"verdict": "reject", "seen": ask.digest}
    )
    return answer.status_code, answer.json().get("code")


def test_the_provider_is_told_how_fresh_a_sign_in_has_to_be(house: House, idp: Idp) -> None:
    _, url = there(house)

    assert parse_qs(urlsplit(url).query)["max_age"] == ["900"]


def test_whoever_shows_the_provider_who_they_are_decides_what_is_critical(
    house: House, idp: Idp
) -> None:
    house.desk.people.add("sue", roles=["security"])  # critical is for two

    assert decides_what_is_critical(house) == (200, None)
    idp.last = time.time() - 3600  # it asks them again, because we want it fresh
    assert decides_what_is_critical(house) == (200, None)


@pytest.mark.parametrize("said", [None, 1, 901, 86_400 * 365])
def test_a_provider_that_knows_somebody_from_before_proves_nothing_fresh(
    house: House, idp: Idp, said: int | None
) -> None:
    """It heeds no max_age, or does not say when: who comes is signed in, and no more."""
    house.desk.people.add("sue", roles=["security"])
    idp.bend = lambda claims: {
        **{name: value for name, value in claims.items() if name != "auth_time"},
        **({} if said is None else {"auth_time": claims["iat"] - said}),
    }

    fresh = said == 1
    assert decides_what_is_critical(house) == ((200, None) if fresh else (403, "sign-in-again"))


def test_a_session_counts_from_when_its_person_showed_who_they_are(house: House, idp: Idp) -> None:
    """Not from when the provider sent them on: or a quarter of an hour would be half an hour."""
    idp.last = time.time() - 600
    browser, url = there(house)
    browser.get(back(url), headers={"Sec-Fetch-Site": "cross-site"})

    since = datetime.fromisoformat(browser.get("/api/v1/session").json()["signed_in_at"])

    assert since == datetime.fromtimestamp(int(idp.last), UTC)


# --- what is refused ---------------------------------------------------------------------------


WRONG: dict[str, Callable[[Claims], Claims]] = {
    "nonce of another": lambda c: {**c, "nonce": "x" * 43},
    "no nonce": lambda c: {k: v for k, v in c.items() if k != "nonce"},
    "aud of another": lambda c: {**c, "aud": "another-client"},
    "aud of several, azp of another": lambda c: {**c, "aud": [CLIENT, "x"], "azp": "x"},
    "aud of several, no azp": lambda c: {**c, "aud": [CLIENT, "x"]},
    "azp of another": lambda c: {**c, "azp": "x"},
    "no aud": lambda c: {k: v for k, v in c.items() if k != "aud"},
    "expired": lambda c: {**c, "exp": c["iat"] - 120},
    "never expires": lambda c: {k: v for k, v in c.items() if k != "exp"},
    "expires at text": lambda c: {**c, "exp": "never"},
    "issued in the future": lambda c: {**c, "iat": c["iat"] + 3600},
    "issuer of another": lambda c: {**c, "iss": "https://evil.example"},
    "no subject": lambda c: {k: v for k, v in c.items() if k != "sub"},
    "signed in in the future": lambda c: {**c, "auth_time": c["iat"] + 3600},
    "signed in at the end of time": lambda c: {**c, "auth_time": 10**400},
    "signed in at no number": lambda c: {**c, "auth_time": float("nan")},
    "signed in at text": lambda c: {**c, "auth_time": "just now"},
    "signed in at true": lambda c: {**c, "auth_time": True},
    "empty subject": lambda c: {**c, "sub": ""},
    "subject is a list": lambda c: {**c, "sub": ["248289761001"]},
}


@pytest.mark.parametrize("bend", WRONG.values(), ids=WRONG)
def test_a_token_that_does_not_hold_signs_nobody_in(
    house: House, idp: Idp, bend: Callable[[Claims], Claims]
) -> None:
    idp.bend = bend
    before = len(list_sessions(house.desk.store))

    assert refused(signed_in(house))
    assert len(list_sessions(house.desk.store)) == before


@pytest.mark.parametrize("how", ["by_secret", "unsigned", "stranger"])
def test_a_token_that_the_provider_did_not_sign_signs_nobody_in(
    house: House, idp: Idp, how: str
) -> None:
    if how == "stranger":
        other = Idp(idp.url)
        other.keys[0].dict_value  # noqa: B018 - made now, and published by nobody
        idp.sign = other.signed
    else:
        idp.sign = getattr(idp, how)

    assert refused(signed_in(house))


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "eyJhbGciOiJub25lIn0..", None, 7])
def test_what_is_no_token_at_all_signs_nobody_in(house: House, idp: Idp, token: Any) -> None:
    idp.sign = lambda _claims: token
    assert refused(signed_in(house))


def test_an_answer_counts_once(house: House, idp: Idp) -> None:
    browser, url = there(house)
    cookies = dict(browser.cookies)
    answer = back(url)
    assert browser.get(answer).status_code == 303

    again = house.browser()
    again.cookies.update(cookies)

    assert refused(again.get(answer)), "the same state"
    fresh, second = there(house)
    state = parse_qs(urlsplit(second).query)["state"][0]
    code = parse_qs(urlsplit(answer).query)["code"][0]
    back_with = {"state": state, "code": code}
    assert refused(fresh.get("/sign-in/oidc/back", params=back_with)), "the same code"


def test_an_answer_counts_once_also_with_a_provider_that_takes_a_code_twice(
    house: House, idp: Idp
) -> None:
    idp.lax = True
    browser, url = there(house)
    cookies = dict(browser.cookies)
    answer = back(url)
    assert browser.get(answer).status_code == 303

    again = house.browser()
    again.cookies.update(cookies)

    assert refused(again.get(answer))


def test_an_answer_belongs_to_the_browser_that_asked(house: House, idp: Idp) -> None:
    """Somebody sends a victim the end of their own sign-in."""
    _, url = there(house)
    answer = back(url)
    victim, _ = there(house)
    before = idp.asked.count("/token")

    assert refused(victim.get(answer))
    assert refused(house.browser().get(answer)), "a browser without any cookie"
    assert idp.asked.count("/token") == before, "the provider is not even asked"


def test_a_code_without_the_verifier_is_worth_nothing(house: House, idp: Idp) -> None:
    """The provider of the test insists on PKCE; whoever steals a code has no verifier."""
    _, url = there(house)
    code = parse_qs(urlsplit(back(url)).query)["code"][0]
    mine, second = there(house)
    state = parse_qs(urlsplit(second).query)["state"][0]

    assert refused(mine.get("/sign-in/oidc/back", params={"code": code, "state": state}))


@pytest.mark.parametrize(
    "answer",
    [{}, {"code": "x"}, {"state": "x"}, {"code": "", "state": ""}, {"error": "access_denied"}],
    ids=str,
)
def test_an_answer_to_nothing_is_refused(house: House, answer: dict[str, str]) -> None:
    assert refused(house.browser().get("/sign-in/oidc/back", params=answer))


def test_a_provider_that_says_no_and_one_that_answers_for_another_are_refused(
    house: House, idp: Idp
) -> None:
    for more in ({"error": "access_denied"}, {"code": "x", "iss": "https://evil.example"}):
        browser, url = there(house)
        state = parse_qs(urlsplit(url).query)["state"][0]
        assert refused(browser.get("/sign-in/oidc/back", params={"state": state, **more}))


def test_a_provider_that_calls_itself_something_else_is_not_asked(tmp_path: Path, idp: Idp) -> None:
    idp.issuer_said = "https://evil.example"
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        known(desk, idp)
        with serving(desk, oidc=provider(idp)) as house:
            assert refused(house.browser().get("/sign-in/oidc"))


def test_a_provider_that_is_not_there_is_a_page_and_no_crash(tmp_path: Path) -> None:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        desk.people.add("root", roles=["admin"])
        gone = Provider("http://127.0.0.1:9", CLIENT, SECRET)
        with serving(desk, oidc=gone) as house:
            assert refused(house.browser().get("/sign-in/oidc"))
            assert house.browser().get("/sign-in").status_code == 200


@pytest.mark.parametrize("issuer", ["http://idp.example", "idp.example", "", "ftp://x", "http://["])
def test_a_provider_whose_answers_others_could_give_is_refused(issuer: str) -> None:
    with pytest.raises(BadValue, match="issuer"):
        Provider(issuer, CLIENT)


def test_the_secret_of_the_client_is_in_no_text_of_ours(idp: Idp) -> None:
    assert SECRET not in repr(provider(idp))
