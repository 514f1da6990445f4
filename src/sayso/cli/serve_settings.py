"""What `sayso serve` is told: by options, else by `SAYSO_*`, else by `[serve]` in sayso.toml."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sayso.errors import BadValue, Misuse

if TYPE_CHECKING:  # the service is loaded by those who serve
    from sayso.web.provider import Provider

_FILE = Path("sayso.toml")
_PROVIDER = {
    "issuer": "SAYSO_OIDC_ISSUER",
    "client_id": "SAYSO_OIDC_CLIENT_ID",
    "client_secret": "SAYSO_OIDC_CLIENT_SECRET",
    "groups": "SAYSO_OIDC_GROUPS",
}
# How a setting is written in the file, and what the option is called in code.
_OPTIONS: Mapping[str, tuple[str, type]] = {
    "app": ("target", str),
    "host": ("host", str),
    "port": ("port", int),
    "tls": ("tls", list),
    "public_url": ("public_url", str),
    "proxy": ("proxies", list),
    "workers": ("workers", int),
    "log": ("style", str),
    "insecure": ("insecure", bool),
    "open_metrics": ("open_metrics", bool),
}
_WORDS = {str: "text", int: "a number", list: "a list", bool: "true or false"}


class ServeCommand(click.Command):
    """A command whose options take what they were not given from `[serve]`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the file first: an option and the environment win over it."""
        ctx.default_map = _defaults(_section())
        return super().parse_args(ctx, args)


def _section() -> dict[str, Any]:
    if not _FILE.is_file():
        return {}
    try:
        given = tomllib.loads(_FILE.read_text("utf-8")).get("serve", {})
    except (OSError, ValueError) as error:
        raise BadValue(f"{_FILE} cannot be read: {error}") from error
    if not isinstance(given, dict):
        raise BadValue(f"{_FILE}: [serve] is a section with settings in it.")
    return given


def _defaults(section: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in section.items():
        if key == "oidc":
            continue
        if key not in _OPTIONS:
            raise BadValue(
                f"{_FILE}: [serve] has no {key!r}. It takes: {', '.join(_OPTIONS)}, oidc."
            )
        name, kind = _OPTIONS[key]
        if type(value) is not kind:
            raise BadValue(f"{_FILE}: [serve] {key} must be {_WORDS[kind]}, not {value!r}.")
        found[name] = value
    return found


def provider() -> Provider | None:
    """Return the identity provider of the team, if it has one.

    Raises:
        BadValue: what is said of it is incomplete, or cannot be.
        Misuse: the libraries for it are not installed.
    """
    section = _section().get("oidc", {})
    if not isinstance(section, dict):
        raise BadValue(f"{_FILE}: [serve.oidc] is a section with settings in it.")
    given = {key: os.environ.get(name) or section.get(key) for key, name in _PROVIDER.items()}
    strange = sorted(set(section) - {*_PROVIDER, "roles"})
    if strange:
        raise BadValue(f"{_FILE}: [serve.oidc] has no {strange[0]!r}.")
    if given["issuer"] is None:
        return None
    wrong = [key for key, value in given.items() if not isinstance(value, str | None)]
    if wrong:
        raise BadValue(f"{_FILE}: [serve.oidc] {wrong[0]} must be text.")
    return _provider(given, section.get("roles", {}))


def _provider(given: Mapping[str, Any], roles: object) -> Provider:
    from importlib.util import find_spec

    from sayso.web.provider import Provider, roles_by_group

    if find_spec("authlib") is None or find_spec("joserfc") is None:
        raise Misuse("An identity provider needs more libraries: pip install 'sayso[oidc]'")
    if not isinstance(roles, dict):
        raise BadValue(f"{_FILE}: [serve.oidc.roles] says which roles a group gives.")
    return Provider(
        issuer=given["issuer"],
        client_id=given["client_id"] or "",
        client_secret=given["client_secret"],
        groups=given["groups"] or "groups",
        roles=roles_by_group(roles),
    )
