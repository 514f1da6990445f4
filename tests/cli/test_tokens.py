"""`sayso tokens`, and the commands of `sayso people` about signing in."""

from __future__ import annotations

import pytest

from sayso import Desk
from sayso.access.passwords import check_password
from sayso.access.sessions import list_sessions, open_session
from sayso.access.tokens import caller_of_token
from sayso.errors import NotSignedIn
from tests.cli.conftest import AtTerminal, Sayso

PASSWORD = "correct horse battery"


def test_the_text_of_a_token_is_all_that_goes_to_stdout(sayso: Sayso, desk: Desk) -> None:
    done = sayso("tokens", "create", "shop")

    assert done.code == 0
    caller = caller_of_token(desk.store, done.out.removesuffix("\n"))
    assert (caller.kind, caller.name) == ("agent", "shop")
    assert "shown this once" in done.err
    assert caller.credential in done.err
    assert done.out.strip() not in done.err


def test_every_option_of_a_token_counts(sayso: Sayso, desk: Desk) -> None:
    sayso("people", "add", "anna", "--role", "senior", "--admin")

    made = sayso(
        *("tokens", "create", "shop", "--team", "billing", "--owner", "anna"),
        *("--scope", "asks:read", "--scope", "asks:create", "--expires", "1d", "--json"),
    ).json
    own = sayso("tokens", "create", "anna", "--person", "--scope", "admin", "--expires", "never")

    caller = caller_of_token(desk.store, made["secret"])
    assert (caller.team, caller.owner, caller.credential) == ("billing", "anna", made["id"])
    assert sorted(caller.scopes) == sorted(made["scopes"]) == ["asks:create", "asks:read"]
    assert caller_of_token(desk.store, own.out.strip()).scopes == {"admin"}
    assert [token.expires_at is None for token in desk.tokens] == [False, True]


def test_the_list_says_whose_how_long_and_never_the_secret(sayso: Sayso, desk: Desk) -> None:
    text = sayso("tokens", "create", "shop").out.strip()
    sayso("tokens", "create", "till", "--expires", "never")
    shop, till = desk.tokens
    sayso("tokens", "revoke", till.id)
    caller_of_token(desk.store, text)

    listed = sayso("tokens", "list", env={"COLUMNS": "140"})

    assert listed.out.startswith("desk: ./sayso.db, 2 tokens\n")
    rows = listed.out.splitlines()[3:]
    assert rows[0].startswith(f"{shop.id}  {shop.prefix}...  agent shop  until 20")
    assert "revoked" in rows[1]
    assert "never" in rows[1]
    assert text not in listed.out
    assert text not in str(sayso("tokens", "list", "--json").json)
    assert [each["id"] for each in sayso("tokens", "list", "--json").json["tokens"]] == [
        shop.id,
        till.id,
    ]


def test_an_empty_list_says_how_to_make_the_first(sayso: Sayso, desk: Desk) -> None:
    desk.sweep()

    assert "sayso tokens create NAME" in sayso("tokens", "list").out


def test_a_token_is_revoked_by_its_id_however_it_is_typed(sayso: Sayso, desk: Desk) -> None:
    text = sayso("tokens", "create", "shop").out.strip()
    token = next(iter(desk.tokens))

    done = sayso("tokens", "revoke", token.id.upper().removeprefix("T-"))

    assert "no longer counts" in done.out
    with pytest.raises(NotSignedIn):
        caller_of_token(desk.store, text)
    assert sayso("tokens", "revoke", token.id, "--json").json["revoked_at"] is not None


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (("create", "shop", "--scope", "decisions:write"), "agents ask and carry out"),
        (("create", "shop", "--scope", "everything"), "everything"),
        (("create", "shop", "--owner", "nobody"), "nobody"),
        (("create", "sam", "--person"), "sam"),
        (("create", "no good"), "no good"),
        (("create", "shop", "--expires", "soon"), "soon"),
        (("revoke", "t-0000"), "t-0000"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    sayso: Sayso, desk: Desk, args: tuple[str, ...], word: str
) -> None:
    desk.sweep()

    done = sayso("tokens", *args)

    assert done.code == 1
    assert done.out == ""
    assert word in done.err
    assert list(desk.tokens) == []


def test_a_password_is_typed_twice_and_not_shown(desk: Desk, at_terminal: AtTerminal) -> None:
    desk.people.add("anna")

    with at_terminal("people", "password", "anna", ends=None) as program:
        program.answer("New password of anna: ", PASSWORD, "The same again: ", PASSWORD + "x")
        program.answer("New password of anna: ", PASSWORD, "The same again: ", PASSWORD)
        program.wait_for("anna has a new password")
        assert PASSWORD not in program.text
    assert check_password(desk.store, "anna", PASSWORD)


@pytest.mark.parametrize(
    "args",
    [
        ("tokens", "create", "ANNA", "--person"),
        ("people", "password", "ANNA", "--stdin"),
        ("people", "sign-out", "ANNA"),
    ],
    ids=" ".join,
)
def test_a_person_is_called_as_the_desk_spells_them(
    desk: Desk, sayso: Sayso, args: tuple[str, ...]
) -> None:
    desk.people.add("anna")

    for asked in (args, (*args, "--json")):
        done = sayso(*asked, stdin=PASSWORD)
        assert done.code == 0
        assert "anna" in done.out + done.err
        assert "ANNA" not in done.out + done.err


def test_a_script_gives_a_password_on_stdin(desk: Desk, sayso: Sayso) -> None:
    desk.people.add("anna")
    command = ("people", "password", "anna", "--stdin")

    done = sayso(*command, stdin=f"{PASSWORD}\nsecond line\n")
    short = sayso(*command, stdin="short\n")

    assert done.code == 0, done.err
    assert PASSWORD not in done.out + done.err
    assert short.code == 1
    assert "at least 12 characters" in short.err
    assert check_password(desk.store, "anna", PASSWORD)


def test_nobody_types_a_password_for_somebody_who_is_not_there(
    at_terminal: AtTerminal, desk: Desk
) -> None:
    desk.people.add("anna")
    with at_terminal("people", "password", "bob", ends=1) as program:
        said = program.wait_for("'bob' is not a person on this desk.")
    assert "New password" not in said


def test_without_a_terminal_a_password_is_not_asked_for(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna")

    done = sayso("people", "password", "anna")

    assert done.code == 1
    assert "--stdin" in done.err


def test_who_is_signed_in_is_listed_and_signed_out(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna")
    desk.people.add("ben")
    for name in ("anna", "anna", "ben"):
        open_session(
            desk.store, name, how="password", address="192.0.2.7", agent_string="\x1b[2KFirefox"
        )

    listed = sayso("people", "sessions", env={"COLUMNS": "140"})
    assert listed.out.startswith("desk: ./sayso.db, 3 sessions\n")
    assert "\x1b" not in listed.out
    assert "192.0.2.7" in listed.out
    assert len(sayso("people", "sessions", "ben", "--json").json["sessions"]) == 1
    assert "2 sessions ended" in sayso("people", "sign-out", "anna").out
    assert sayso("people", "sign-out", "anna", "--json").json == {"name": "anna", "ended": 0}
    assert [session.person for session in list_sessions(desk.store)] == ["ben"]
    assert sayso("people", "sign-out", "cleo").code == 1


def test_an_admin_is_a_role_and_removing_somebody_says_what_ended(sayso: Sayso, desk: Desk) -> None:
    assert sayso("people", "add", "anna", "--admin", "--json").json["roles"] == ["admin"]
    sayso("people", "add", "ben", "--role", "senior", "--admin")
    assert [sorted(person.roles) for person in desk.people] == [["admin"], ["admin", "senior"]]

    assert "tokens" in sayso("people", "remove", "ben", "--yes").out
