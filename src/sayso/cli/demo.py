"""`sayso demo`: a small company whose agents wait for you, in a browser; or a story in the terminal."""

from __future__ import annotations

import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from sayso.cli.apps import App
from sayso.cli.demo_terminal import play
from sayso.cli.numbers import Whole
from sayso.cli.printing import examples, say, typed
from sayso.cli.serve import serve_app
from sayso.errors import Misuse
from sayso.store.private import BESIDE
from sayso.web.doors import PORT, Door, listen

_FILE = "demo.db"
_MARK = "demo.txt"
_WORKERS = 4


@click.command(
    "demo",
    epilog=examples(
        "sayso demo",
        "sayso demo --keep company       the same company again tomorrow",
        "sayso demo --terminal           a short story without a browser",
    ),
)
@click.option(
    "--port",
    type=Whole(0, 65535),
    default=PORT,
    show_default=True,
    help="The port; 0 takes any that is free.",
)
@click.option("--no-open", is_flag=True, help="Open no browser.")
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the database in this folder, and go on with it next time.",
)
@click.option("--reset", is_flag=True, help="Begin anew in that folder.")
@click.option("--terminal", is_flag=True, help="Play a short story in this terminal instead.")
@click.option("--auto", is_flag=True, help="With --terminal: let a script decide instead of you.")
def demo(
    *, port: int, no_open: bool, keep: Path | None, reset: bool, terminal: bool, auto: bool
) -> None:
    """Serve a small company: its agents ask, you decide in a browser, and workers carry it on.

    Models are played by scripts, so nothing leaves this machine. The database is in a temporary
    folder that is removed at the end. Ctrl-C and SIGTERM end it.
    """
    if reset and keep is None:
        raise Misuse("--reset goes with --keep DIR: without a folder every company is a new one.")
    if terminal:
        play(auto=auto)
        return
    if auto:
        raise Misuse("--auto goes with --terminal: in a browser it is you who decides.")
    with _ended_by_signal(), _folder(keep) as folder:
        for found in listen(door := Door(port=port)):  # that it is taken is said before the work
            found.close()
        _claim(folder)
        if reset:
            _empty(folder)
        _serve_company(folder, door, _again(keep, port), browser=not no_open)


def _again(keep: Path | None, port: int) -> str:
    """Return the command line that begins anew, as it is typed."""
    kept = "" if keep is None else f" --keep {shlex.quote(str(keep))} --reset"
    return f"{typed()} demo{kept}{'' if port == PORT else f' --port {port}'}"


def _serve_company(folder: Path, door: Door, again: str, *, browser: bool) -> None:
    from sayso.demo.company import open_desk, open_work
    from sayso.demo.tour import tour

    place = folder / _FILE
    say("A small company opens; its agents need a moment to find out what to ask.", "dim")
    with open_desk(f"sqlite:///{place}") as desk:
        open_work(desk)
        serve_app(
            App("", desk),
            door,
            _WORKERS,
            style="text",
            browser=browser,
            named=str(place),
            quiet=True,
            tour=tour(typed(), shlex.quote(str(place)), again),
        )


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="sayso-demo-") as folder:
            yield Path(folder)
        return
    keep.mkdir(parents=True, exist_ok=True)
    yield keep.absolute()


def _claim(folder: Path) -> None:
    """Note that the database here is the demo's, and leave one alone that is somebody's own.

    A file beside it says so: whatever is in a database that is not ours, opening it would change it.

    Raises:
        Misuse: there is one that the demo did not make.
    """
    place, mark = folder / _FILE, folder / _MARK
    if place.exists() and not mark.exists():
        raise Misuse(
            f"{place} was not made by this demo, so it is left as it is. Take another folder: "
            "--keep DIR"
        )
    mark.write_text(f"{_FILE} was made by `sayso demo`, which may empty it.\n")


def _empty(folder: Path) -> None:
    for ending in ("", *BESIDE):
        (folder / f"{_FILE}{ending}").unlink(missing_ok=True)


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Let SIGTERM end it in good order before it serves, too: the folder must not stay."""

    def end(_number: int, _frame: FrameType | None) -> None:
        sys.exit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
