"""Who decides at this terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from sayso.cli.check import few
from sayso.desk import Desk
from sayso.errors import UnknownPerson
from sayso.model.names import spelt

F = TypeVar("F", bound=Callable[..., Any])
_PERSON = "SAYSO_PERSON"
_SET = f"Set {_PERSON} to one of the people here:"
_SAY = "Name one of the people here with --as:"
_ALIKE = 0.6


def as_option(command: F) -> F:
    """Give a command `--as NAME`."""
    return who_option(
        "Who decides, on a desk with people.  [default: SAYSO_PERSON, else your account]"
    )(command)


def who_option(said: str) -> Callable[[F], F]:
    """Give a command `--as NAME` with a meaning of its own."""
    return click.option("--as", "person", metavar="NAME", envvar=_PERSON, help=said)


def naming(desk: Desk) -> str:
    """Return what a command has to add to say who decides: ` --as NAME`, if nobody else says it.

    Raises:
        UnknownPerson: `SAYSO_PERSON` names nobody of this desk.
    """
    person = os.environ.get(_PERSON)
    if person:
        _check(desk, person, _SET)
        return ""
    known = [somebody.name for somebody in desk.people]
    return "" if not known or _sitting(desk) in known else " --as NAME"


def named_person(desk: Desk, person: str | None) -> str | None:
    """Return the person that `--as` or `SAYSO_PERSON` names, as the desk does; `None` if nobody.

    Raises:
        UnknownPerson: they are no person of this desk.
    """
    if person is not None:
        context = click.get_current_context()
        found = context.get_parameter_source("person") is ParameterSource.ENVIRONMENT
        _check(desk, person, _SET if found else _SAY)
        return spelt(person, [somebody.name for somebody in desk.people])
    return None


def decider(desk: Desk, person: str | None) -> str | None:
    """Return the name to decide under; `None` in solo mode, where it is whoever sits here.

    Raises:
        UnknownPerson: nobody was named and the account is no person of the desk, or somebody
            was named who is not on it.
    """
    named = named_person(desk, person)
    known = [somebody.name for somebody in desk.people]
    if not known:
        return None
    if named is not None:
        return named
    sitting = _sitting(desk)
    if sitting in known:
        return sitting
    raise UnknownPerson(
        sitting,
        f"Say who decides: --as NAME, or {_PERSON}. People here: {few(known)}.",
    )


def _check(desk: Desk, person: str, mend: str) -> None:
    known = [somebody.name for somebody in desk.people]
    if spelt(person, known) in known or ":" in person:  # `agent:shop` is refused as what it is
        return
    sitting = _sitting(desk)
    if not known and person == sitting:
        return
    if not known:
        raise UnknownPerson(
            person,
            f"It has no people yet, so whoever sits here ({sitting}) decides: leave out --as and "
            f"{_PERSON}, or add them: sayso people add {person}",
        )
    raise UnknownPerson(person, f"{_meant(person, known)}{mend} {few(known)}.")


def _meant(person: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # for whoever mistypes only

    folded = {name.casefold(): name for name in known}
    alike = get_close_matches(person.casefold(), folded, 1, _ALIKE)
    return f"Did you mean {folded[alike[0]]}? " if alike else ""


def _sitting(desk: Desk) -> str:
    return desk.origin.account.partition("@")[0]
