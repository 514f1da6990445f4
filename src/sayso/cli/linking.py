"""`sayso people link` and `unlink`: whom an identity provider means."""

from __future__ import annotations

import click

from sayso.cli.desks import desk_name, desk_option, open_desk
from sayso.cli.printing import emit, examples, json_option, say
from sayso.model.text import one_line

_WHO = ("ISSUER", "SUBJECT")


@click.command(
    epilog=examples("sayso people link anna --oidc https://login.example.org 248289761001")
)
@click.argument("name")
@click.option(
    "--oidc",
    type=(str, str),
    metavar=" ".join(_WHO),
    required=True,
    help="The provider, and what it calls the person.",
)
@desk_option
@json_option
def link(name: str, *, oidc: tuple[str, str], as_json: bool) -> None:
    """Let an identity provider sign a person in.

    The page that refuses somebody it does not know shows the issuer and the subject to give here.
    An e-mail address is no subject: people give those away and take them over.
    """
    from sayso.access.identities import link_identity

    with open_desk() as desk:
        link_identity(desk.store, *oidc, name, origin=desk.origin)
        if as_json:
            emit({"name": name, "issuer": oidc[0], "subject": oidc[1]})
            return
        say(f"{_provider(oidc)} signs {name} in on {desk_name(desk)} now.", "green")


@click.command(epilog=examples("sayso people unlink --oidc https://login.example.org 248289761001"))
@click.option(
    "--oidc",
    type=(str, str),
    metavar=" ".join(_WHO),
    required=True,
    help="The provider, and what it calls the person.",
)
@desk_option
@json_option
def unlink(*, oidc: tuple[str, str], as_json: bool) -> None:
    """Let an identity provider no longer sign a person in. Open sessions stay: end them too."""
    from sayso.access.identities import unlink_identity

    with open_desk() as desk:
        unlink_identity(desk.store, *oidc, origin=desk.origin)
        if as_json:
            emit({"issuer": oidc[0], "subject": oidc[1]})
            return
        say(f"{_provider(oidc)} signs nobody in on {desk_name(desk)} any more.", "green")


def _provider(oidc: tuple[str, str]) -> str:
    return f"{one_line(oidc[0], 80)} ({one_line(oidc[1], 80)})"
