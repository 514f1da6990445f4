"""`sayso tokens`: what programs come in by over the network."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from sayso.cli.desks import desk_name, desk_option, open_desk
from sayso.cli.ids import token_argument
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show

if TYPE_CHECKING:
    from sayso.access.tokens import Token


@click.group(
    epilog=examples(
        "sayso tokens create shop --owner anna",
        "sayso tokens create anna --person --scope asks:read --expires 30d",
        "sayso tokens list",
        "sayso tokens revoke t-7f3k",
    )
)
@desk_option
def tokens() -> None:
    """What agents, and programs of people, come in by over the network."""


@tokens.command(
    "create",
    epilog=examples(
        "sayso tokens create shop",
        "sayso tokens create shop --team billing --owner anna --expires 1w",
        "sayso tokens create shop --version 2026-11",
        "sayso tokens create anna --person --scope asks:read --scope decisions:write",
    ),
)
@click.argument("name")
@click.option("--agent/--person", "agent", default=True, help="Whose it is.  [default: an agent's]")
@click.option("--scope", "scopes", multiple=True, help="What it may do; repeat for more.")
@click.option("--expires", default="90d", show_default=True, help="30d, 1w, ... or never.")
@click.option("--team", help="Of an agent: the team its asks belong to.")
@click.option("--owner", metavar="NAME", help="Of an agent: its person, who may not approve them.")
@click.option("--version", help="Of an agent: what it earns, it earns in this version.")
@desk_option
@json_option
def create(
    name: str,
    *,
    agent: bool,
    scopes: tuple[str, ...],
    expires: str,
    team: str | None,
    owner: str | None,
    version: str | None,
    as_json: bool,
) -> None:
    """Make a token for an agent, or for a person.

    Its text goes to stdout, this once: the desk keeps no copy. An agent's token lets it ask and
    carry out what was approved, and never decide.
    """
    with open_desk(create=True) as desk:
        token, text = desk.tokens.make(
            name,
            "agent" if agent else "person",
            scopes=scopes or None,
            expires=None if expires == "never" else expires,
            team=team,
            owner=owner,
            version=version,
        )
        if as_json:
            emit({**_record(token), "secret": text})
            return
        until = f"{token.expires_at:%Y-%m-%d}" if token.expires_at else "it is revoked"
        say(f"{token.id} on {desk_name(desk)}: {token.kind} {token.name}, until {until}", err=True)
        say(f"It may: {', '.join(token.scopes)}", err=True)
        say("The token, shown this once:", err=True)
        click.echo(text)


@tokens.command("list", epilog=examples("sayso tokens list"))
@desk_option
@json_option
def list_tokens(*, as_json: bool) -> None:
    """List the tokens of the desk, also those that no longer count."""
    with open_desk() as desk:
        found, now, where = list(desk.tokens), desk.store.now(), desk_name(desk)
    if as_json:
        emit({"desk": where, "tokens": [_record(token) for token in found]})
        return
    say(f"desk: {where}, {len(found)} token{'' if len(found) == 1 else 's'}", "dim")
    if not found:
        say("Make the first one: sayso tokens create NAME")
        return
    rows = [
        (
            token.id,
            f"{token.prefix}...",
            f"{token.kind} {token.name}",
            _state(token, now),
            f"{token.used_at:%Y-%m-%d %H:%M}" if token.used_at else "never",
            ", ".join(token.scopes),
        )
        for token in found
    ]
    head = ("ID", "TOKEN", "WHOSE", "STATE", "USED", "MAY")
    show("", *columns(head, rows, screen().width))


def _state(token: Token, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    if not token.counts(now):
        return "expired"
    return f"until {token.expires_at:%Y-%m-%d}" if token.expires_at else "counts"


@tokens.command("revoke", epilog=examples("sayso tokens revoke t-7f3k"))
@token_argument
@desk_option
@json_option
def revoke(token_id: str, *, as_json: bool) -> None:
    """End a token at once."""
    with open_desk() as desk:
        token = desk.tokens.revoke(token_id)
        if as_json:
            emit(_record(token))
            return
        say(f"{token.id} of {token.kind} {token.name} no longer counts.", "green")


def _record(token: Token) -> dict[str, object]:
    def when(moment: datetime | None) -> str | None:
        return moment.isoformat() if moment else None

    return {
        "id": token.id,
        "prefix": token.prefix,
        "kind": token.kind,
        "name": token.name,
        "scopes": list(token.scopes),
        "team": token.team,
        "owner": token.owner,
        "version": token.version,
        "made_at": when(token.made_at),
        "expires_at": when(token.expires_at),
        "used_at": when(token.used_at),
        "revoked_at": when(token.revoked_at),
    }
