"""Which desk a command works on: named on the command line, or found as a program finds it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from sayso.asks.own_policy import VARIABLE
from sayso.desk import DEFAULT_URL, Desk, find_url
from sayso.errors import BadPolicy, Misuse
from sayso.store.address import url_of

F = TypeVar("F", bound=Callable[..., Any])
_DESK = "sayso.desk"
_FILE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a desk is, and who said so."""

    url: str
    source: str

    @property
    def file(self) -> Path | None:
        """The file of a desk that is one."""
        if not self.url.startswith(_FILE):
            return None
        return Path(self.url.removeprefix(_FILE).partition("?")[0])

    @property
    def remote(self) -> bool:
        """Whether it is the address of a server, and not of a database."""
        return self.url.startswith(("http://", "https://"))

    @property
    def there(self) -> bool:
        """Whether there is a desk already, as far as can be seen without touching it."""
        return self.file is None or self.file.exists()


def desk_option(command: F) -> F:
    """Give a command `--desk`. People try it before and after the command; both work."""

    def remember(context: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.meta[_DESK] = value

    return click.option(
        "--desk",
        metavar="URL",
        expose_value=False,
        is_eager=True,
        callback=remember,
        help="The desk: file.db, sqlite:///file.db or postgresql://...  [default: SAYSO_URL, else "
        "sayso.toml, else ./sayso.db]",
    )(command)


def policy_option(command: F) -> F:
    """Give a command `--policy`: where the file of the policy is that the program brings."""

    def remember(_: click.Context, __: click.Parameter, value: str | None) -> None:
        if value is not None:
            os.environ[VARIABLE] = str(Path(value).absolute())

    return click.option(
        "--policy",
        metavar="FILE",
        expose_value=False,
        is_eager=True,
        type=click.Path(dir_okay=False),
        callback=remember,
        help="The file of the policy.  [default: SAYSO_POLICY, else sayso.toml]",
    )(command)


def begin_to_rule(desk: Desk) -> None:
    """Put the policy in force that a program brings, if it may; it says so, or why it is not."""
    with suppress(BadPolicy):  # whoever rules hears of that
        desk.law.begin(desk.store)


def address() -> Address:
    """Return the address of the desk this command works on.

    Raises:
        BadValue: `sayso.toml` cannot be read.
    """
    given = click.get_current_context().meta.get(_DESK)
    if given is not None:
        return Address(url_of(given), "--desk")
    url = find_url()
    if os.environ.get("SAYSO_URL"):
        return Address(url, "SAYSO_URL")
    if Path("sayso.toml").is_file() and url != DEFAULT_URL:
        return Address(url, "sayso.toml")
    return Address(url, "default")


def open_desk(*, create: bool = False) -> Desk:
    """Return the desk this command works on. A command that only looks creates no file.

    Raises:
        Misuse: there is no such desk, and the command is not one that makes it; or it is behind a
            server.
    """
    where = address()
    if not create and not where.there:
        raise Misuse(
            f"There is no desk at {named(where.url)} (address from: {where.source}). Run this in "
            "the folder of your program, or name its desk: --desk URL, or SAYSO_URL."
        )
    return desk_at(where)


def desk_at(where: Address) -> Desk:
    """Return the desk at an address.

    Raises:
        Misuse: it is behind a server.
    """
    if where.remote:
        raise Misuse(
            f"{where.url} is a server, and this command works on the database behind it (address "
            f"from: {where.source}). Run it on that machine, or name the database: --desk URL. "
            "Programs reach the server with sayso.Desk, people with a browser."
        )
    return Desk(where.url, via="terminal")


def named(url: str) -> str:
    """Return the address as it is shown: a file by its path, a server without the password."""
    if not url.startswith(_FILE):
        return url
    path = url.removeprefix(_FILE)
    return path if path.startswith("/") else f"./{path.removeprefix('./')}"


def desk_name(desk: Desk) -> str:
    """Return which desk this is, as every list says in its first line."""
    return named(desk.store.url)


def desk_argument() -> str | None:
    """Return the address to repeat in commands we suggest; `None` where it is found anyway."""
    return click.get_current_context().meta.get(_DESK)
