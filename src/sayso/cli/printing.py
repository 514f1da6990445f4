"""What commands print: cards and lists for people, JSON for scripts, errors in one line.

Whatever is printed here has been made visible before, or is ours.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.text import Text

from sayso.model.text import printable

F = TypeVar("F", bound=Callable[..., Any])
_JSON = "sayso.json"

Cell = str | Text


def json_option(command: F) -> F:
    """Give a command `--json`; errors are then JSON too."""

    def wanted(context: click.Context, _: click.Parameter, value: bool) -> bool:  # noqa: FBT001
        context.meta[_JSON] = value or context.meta.get(_JSON, False)
        return value

    return click.option(
        "--json",
        "as_json",
        is_flag=True,
        is_eager=True,  # so that a mistake in another option is told as JSON already
        callback=wanted,
        help="Print JSON, for scripts.",
    )(command)


def examples(*lines: str) -> str:
    """Return the examples at the end of a command's help."""
    head = "Examples:" if len(lines) > 1 else "Example:"
    # The backspace tells click to leave the lines as they are.
    return "\n".join(("\b", head, *(f"  {line}" for line in lines)))


def typed() -> str:
    """Return this command as somebody here can type it: it may be in no folder that is searched."""
    called, found = Path(sys.argv[0]), shutil.which("sayso")
    if called.name == "__main__.py":
        return f"{shlex.quote(Path(sys.executable).name)} -m sayso"
    if called.name != "sayso" or (found and called.exists() and Path(found).samefile(called)):
        return "sayso"
    with suppress(ValueError):
        called = called.absolute().relative_to(Path.cwd())
    return shlex.quote(str(called))


def wants_json(context: click.Context) -> bool:
    """Whether this call asked for JSON."""
    return bool(context.meta.get(_JSON, False))


def screen(*, err: bool = False, kind: type[Console] = Console) -> Console:
    """Return where to print: colours only on a terminal, untouched text everywhere."""
    stream = sys.stderr if err else sys.stdout
    if hasattr(stream, "reconfigure"):  # a stream that cannot show a character says which one
        stream.reconfigure(errors="backslashreplace")
    return kind(file=stream, highlight=False, markup=False, emoji=False)


def show(*shown: RenderableType, err: bool = False) -> None:
    """Print for people."""
    screen(err=err).print(*shown, sep="\n")


def say(text: str, style: str = "", *, err: bool = False) -> None:
    """Print a line of ours. It is not wrapped: a command in it should survive copying."""
    screen(err=err).print(Text(text, style=style), soft_wrap=True)


def emit(data: object) -> None:
    """Print one JSON object on one line; ASCII, so that nothing in it can hide."""
    click.echo(json.dumps(data))


def failure(code: str, message: str, *, as_json: bool) -> None:
    """Print an error on stderr: one plain red line, or JSON."""
    if as_json:
        click.echo(json.dumps({"error": code, "message": message}), err=True)
    else:
        say(f"sayso: {printable(message)}", "red", err=True)


def columns(head: Sequence[str], rows: Iterable[Sequence[Cell]], width: int) -> Iterator[Text]:
    """Lay rows out under their heads. The last column takes what is left, and is cut there."""
    cells = [[_text(cell) for cell in row] for row in rows]
    sizes = [
        max(cell_len(head[n]), *(cell_len(row[n].plain) for row in cells), 0)
        for n in range(len(head) - 1)
    ]
    room = max(width - sum(size + 2 for size in sizes), 8)
    yield _line([Text(word, style="bold") for word in head], sizes, room)
    for row in cells:
        yield _line(row, sizes, room)


def _text(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)


def _line(row: Sequence[Text], sizes: Sequence[int], room: int) -> Text:
    padded = [
        Text(set_cell_size(cell.plain, size + 2), style=cell.style)
        for cell, size in zip(row, sizes, strict=False)
    ]
    last = row[-1].copy()
    last.truncate(room, overflow="ellipsis")
    return Text.assemble(*padded, last)
