"""How a run that was carried on here ends: its answer on stdout, everything else on stderr."""

from __future__ import annotations

import sys
import unicodedata

import click
from rich.text import Text

from sayso.channels.values import as_json as shown_json
from sayso.cli.desks import desk_name
from sayso.cli.printing import emit, say, show
from sayso.cli.run_words import STATUSES, run_record, tell_standing, told_end, used, went_well
from sayso.cli.telling import QUIET
from sayso.desk import Desk
from sayso.model.text import visible
from sayso.runs.handle import Run


def tell_end(desk: Desk, run: Run, *, volume: int, as_json: bool) -> None:
    """Print the answer of a run, or say how else it is left; exit 1 if that is no good end."""
    if as_json:
        emit({"desk": desk_name(desk)} | run_record(run))
    elif run.status == "done":
        _tell_answer(run, volume)
    else:
        tell_standing(desk, run, err=True)
    if not went_well(run.row):
        click.get_current_context().exit(1)


def _tell_answer(run: Run, volume: int) -> None:
    if volume > QUIET:
        shape, style = STATUSES["done"]
        spent = used(run.usage)
        line = Text.assemble((f"{shape} {run.id} is done", style), (spent and f": {spent}", "dim"))
        show(line, err=True)
        if sys.stdout.isatty() and sys.stderr.isatty():
            say("", err=True)
    output = told_end(run, "run.done").get("output")
    if output is not None:
        click.echo(answer(output, for_people=sys.stdout.isatty()))


def answer(output: object, *, for_people: bool) -> str:
    """Return what a run came to as text.

    On a screen everything in it is visible. In a file it is as it was given, but for control
    characters, which would act on the screen of whoever looks into the file.
    """
    if not isinstance(output, str):
        return shown_json(output, indent=2 if for_people else None)
    text = output.removesuffix("\n")
    if for_people:
        return visible(text, lines=True)
    return "".join(visible(char) if _acts(char) else char for char in text.replace("\r\n", "\n"))


def _acts(char: str) -> bool:
    return char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cs")
