"""`sayso people password`, `sessions` and `sign-out`: how people come in over the network."""

from __future__ import annotations

import sys

import click

from sayso.cli.desks import desk_name, desk_option, open_desk
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show
from sayso.errors import Misuse


@click.command(
    epilog=examples(
        "sayso people password anna", "sayso people password anna --stdin < password.txt"
    )
)
@click.argument("name")
@click.option("--stdin", "piped", is_flag=True, help="Read it from the first line of stdin.")
@desk_option
@json_option
def password(name: str, *, piped: bool, as_json: bool) -> None:
    """Give a person a password to sign in with. All their sessions end.

    It is asked for twice and not shown. It has at least twelve characters, any that you like.
    """
    from sayso.access.passwords import set_password
    from sayso.access.recording import check_person

    with open_desk() as desk:
        name = check_person(desk.store.register(), name)  # before anybody types one
        set_password(desk.store, name, _typed(name, piped=piped), origin=desk.origin)
        if as_json:
            emit({"name": name})
            return
        say(f"{name} has a new password on {desk_name(desk)}; their sessions have ended.", "green")


def _typed(name: str, *, piped: bool) -> str:
    if piped:
        return sys.stdin.readline().removesuffix("\n").removesuffix("\r")
    if not sys.stdin.isatty():
        raise Misuse("There is no terminal to type a password at. Give it on stdin: --stdin")
    typed: str = click.prompt(
        f"New password of {name}",
        hide_input=True,
        confirmation_prompt="The same again",
        err=True,
    )
    return typed


@click.command(epilog=examples("sayso people sessions", "sayso people sessions anna"))
@click.argument("name", required=False)
@desk_option
@json_option
def sessions(name: str | None, *, as_json: bool) -> None:
    """List who is signed in, where from and since when."""
    from sayso.access.sessions import list_sessions

    with open_desk() as desk:
        found = list_sessions(desk.store, name)
        where = desk_name(desk)
    if as_json:
        listed = [
            {
                "id": session.id,
                "person": session.person,
                "how": session.how,
                "address": session.address,
                "agent_string": session.agent_string,
                "opened_at": session.opened_at.isoformat(),
                "seen_at": session.seen_at.isoformat(),
            }
            for session in found
        ]
        emit({"desk": where, "sessions": listed})
        return
    say(f"desk: {where}, {len(found)} session{'' if len(found) == 1 else 's'}", "dim")
    if not found:
        return
    rows = [
        (
            session.id,
            session.person or "(local)",
            session.how,
            f"{session.opened_at:%Y-%m-%d %H:%M}",
            f"{session.seen_at:%Y-%m-%d %H:%M}",
            f"{session.address}, {session.agent_string}",
        )
        for session in found
    ]
    head = ("ID", "PERSON", "HOW", "SINCE", "SEEN", "FROM")
    show("", *columns(head, rows, screen().width))


@click.command("sign-out", epilog=examples("sayso people sign-out anna"))
@click.argument("name")
@desk_option
@json_option
def sign_out(name: str, *, as_json: bool) -> None:
    """End all sessions of a person. Their tokens stay; see `sayso tokens revoke`."""
    from sayso.access.recording import check_person
    from sayso.access.sessions import sign_out as out

    with open_desk() as desk:
        name = check_person(desk.store.register(), name)
        ended = out(desk.store, name, origin=desk.origin)
        if as_json:
            emit({"name": name, "ended": ended})
            return
        say(
            f"{name} is signed out of {desk_name(desk)}: {ended} session{'' if ended == 1 else 's'} ended.",
            "green",
        )
