"""`sayso inbox files`: what is beside an ask, and writing it out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from sayso.cli.desks import desk_option, open_desk
from sayso.cli.ids import id_argument
from sayso.cli.printing import emit, examples, json_option, say
from sayso.desk import Desk
from sayso.errors import BadValue
from sayso.model.ask import Ask
from sayso.model.text import visible
from sayso.store.private import private

_LONGEST = 200  # bytes of a name, on any file system


@click.command(
    "files",
    epilog=examples("sayso inbox files a-7f3k", "sayso inbox files a-7f3k --save evidence"),
)
@id_argument
@click.option(
    "--save",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write them into this folder; nothing there is overwritten.",
)
@desk_option
@json_option
def files(ask_id: str, *, folder: Path | None, as_json: bool) -> None:
    """List the files beside an ask, and with --save write them out."""
    with open_desk() as desk:
        ask = desk.get(ask_id)
        notes = ask.content.files
        saved = _saved(desk, ask, folder) if folder is not None and notes else []
        if as_json:
            listed = [note.to_json() | {"image": note.image} for note in notes]
            emit({"id": ask.id, "files": listed, "saved": [str(path) for path in saved]})
            return
        if not notes:
            say(f"There are no files beside {ask.id}.")
        for number, note in enumerate(notes, start=1):
            lied = f", said to be {note.claimed}" if note.claimed else ""
            say(f"{number}. {visible(note.name)}  {note.media}, {note.size:,} bytes{lied}")
        for path in saved:
            say(f"Wrote {visible(str(path))}")


def _saved(desk: Desk, ask: Ask, folder: Path) -> list[Path]:
    """Write all files of an ask, or none.

    Raises:
        BadValue: one of them is there already, or the folder does not take them.
    """
    paths = [folder / name for name in _names([note.name for note in ask.content.files])]
    there = next((path for path in paths if path.exists() or path.is_symlink()), None)
    if there is not None:
        raise BadValue(f"{there} is there already; nothing was written. Name another folder.")
    held = [desk.file(ask, number) for number in range(1, len(paths) + 1)]
    made: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in zip(paths, held, strict=True):
            with open(
                path, "xb", opener=private
            ) as file:  # fails if somebody else made it meanwhile
                made.append(path)
                file.write(data)
    except OSError as error:
        for path in made:
            path.unlink(missing_ok=True)
        raise BadValue(f"{folder} does not take the files: {error.strerror or error}.") from error
    return paths


def _names(given: Sequence[str]) -> list[str]:
    """Return a safe name for each file; of two that would be the same, the later has its number."""
    names: list[str] = []
    for number, name in enumerate(map(safe_name, given), start=1):
        taken = {one.casefold() for one in names}  # one file on some file systems
        while name.casefold() in taken:
            name = f"{number}-{name}"
        names.append(name)
    return names


def safe_name(name: str) -> str:
    """Return a name that hides nothing and is taken for no option: it was given by an agent."""
    shown = f"_{name}" if name[0] in ".-~" else name
    stem, dot, ending = shown.rpartition(".")
    tail = f"{dot}{ending}".encode()[:40] if stem else b""
    head = (stem or shown).encode()[: _LONGEST - len(tail)]
    return head.decode(errors="ignore") + tail.decode(errors="ignore")
