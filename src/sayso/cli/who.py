"""Who decides at this terminal."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from sayso.desk import Desk
from sayso.errors import UnknownPerson

F = TypeVar("F", bound=Callable[..., Any])


def as_option(command: F) -> F:
    """Give a command `--as NAME`."""
    return click.option(
        "--as",
        "person",
        metavar="NAME",
        envvar="SAYSO_PERSON",
        help="Who decides, on a desk with people.  [default: SAYSO_PERSON, else your account]",
    )(command)


def naming(desk: Desk) -> str:
    """Return what a command has to add to say who decides: ` --as NAME`, if nobody else says it."""
    known = [somebody.name for somebody in desk.people]
    said = "SAYSO_PERSON" in os.environ or _sitting(desk) in known
    return "" if said or not known else " --as NAME"


def decider(desk: Desk, person: str | None) -> str | None:
    """Return the name to decide under; `None` in solo mode, where it is whoever sits here.

    Raises:
        UnknownPerson: nobody was named and the account is no person of the desk, or somebody
            was named on a desk that has no people.
    """
    sitting = _sitting(desk)
    known = [somebody.name for somebody in desk.people]
    if not known:
        if person in (None, sitting):
            return None
        raise UnknownPerson(
            str(person),
            f"It has no people yet, so whoever sits here ({sitting}) decides: leave out --as and "
            f"SAYSO_PERSON, or add them: sayso people add {person}",
        )
    if person is not None:
        return person
    if sitting in known:
        return sitting
    raise UnknownPerson(
        sitting,
        f"Say who decides: --as NAME, or SAYSO_PERSON. People here: {', '.join(known)}.",
    )


def _sitting(desk: Desk) -> str:
    return desk.origin.account.partition("@")[0]
