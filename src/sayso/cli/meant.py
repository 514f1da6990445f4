"""What somebody may have meant who typed an id that nothing has, or a command that is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import click

from sayso.cli.desks import open_desk
from sayso.errors import SaysoError, UnknownAsk, UnknownRun

_LOOKED_AT = 200
_NAMED = 3
_ALIKE = 0.75  # one letter of four that is wrong, or two that changed places


def like(error: UnknownAsk | UnknownRun) -> str:
    """Name what is open, or the last runs, under an id like the one that was typed."""
    try:
        with open_desk() as desk:
            if isinstance(error, UnknownAsk):
                return _asked(str(error.ask_id), (a.id for a in desk.inbox(limit=_LOOKED_AT)))
            return _asked(str(error.run_id), (r.id for r in desk.runs(limit=_LOOKED_AT)))
    except SaysoError:  # what went wrong first is what is said
        return ""


def _asked(typed: str, ids: Iterable[str]) -> str:
    known = list(ids)
    found = [one for one in known if one.startswith(typed)]
    found = found or get_close_matches(typed, known, _NAMED, _ALIKE)
    return f" Did you mean {' or '.join(found[:_NAMED])}?" if found else ""


def within(commands: Mapping[str, click.Command], name: str) -> list[str]:
    """Return the commands of this name that stand in groups: `sayso inbox approve`."""
    groups = ((each, group) for each, group in commands.items() if isinstance(group, click.Group))
    return [f"sayso {each} {name}" for each, group in groups if name in group.commands][:_NAMED]
