"""`sayso run`: an agent in the foreground, with whoever sits here as its person."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Any

import click
from rich.text import Text

from sayso.cli.apps import Runnable, find_runnable
from sayso.cli.desks import begin_to_rule, desk_argument, desk_name, desk_option, policy_option
from sayso.cli.ending import tell_end
from sayso.cli.going import attended, begun, leaving, new_run
from sayso.cli.printing import emit, examples, json_option, say, show
from sayso.cli.run_words import run_record
from sayso.cli.telling import QUIET, Telling, volume_options
from sayso.desk import Desk
from sayso.errors import Misuse
from sayso.model.text import one_line


@click.command(
    "run",
    epilog=examples(
        'sayso run app:agent "Tell the customers"',
        'sayso run path/app.py "Summarise the news" > answer.txt',
        'sayso run app:agent "And now in French" --thread news',
        'sayso run app:agent "Clean up" --background',
    ),
)
@click.argument("target", metavar="APP[:AGENT]")
@click.argument("words", metavar="TASK", nargs=-1)
@click.option("--thread", metavar="NAME", help="The conversation it goes on with.")
@click.option("--fresh", is_flag=True, help="Start without the memory of the thread.")
@click.option("--background", is_flag=True, help="Start it and return; a worker carries it on.")
@volume_options
@desk_option
@policy_option
@json_option
def run(
    target: str,
    *,
    words: tuple[str, ...],
    thread: str | None,
    fresh: bool,
    background: bool,
    volume: int,
    as_json: bool,
) -> None:
    """Give an agent a task, and stay until it is done.

    APP is a module (app, shop.app) or a file (path/app.py) as seen from this folder; name the
    agent if it has several. A workflow works too; TASK is then what it takes, one by one.

    The plan and whatever else needs a yes is asked here. Only the answer goes to stdout. Ctrl-C
    pauses the run; it loses nothing and goes on where it stood. Exit 1 if it fails, is parked or
    cancelled, and 130 if it was paused.
    """
    with redirect_stdout(sys.stderr):  # what the program prints when it is imported
        found = find_runnable(target)
    args = _given(found, words)
    with found.desk as desk:
        begin_to_rule(desk)
        if background:
            started = desk.start(found, *args, thread=thread, fresh=fresh)
            _tell_started(desk, started.id, as_json=as_json)
            return
        telling = Telling(found.flow.name, QUIET if as_json else volume)
        new = new_run(desk, found.flow, args, thread=thread, fresh=fresh)
        if telling.volume > QUIET:
            _introduce(desk, found, new.id)
        with leaving(desk, new.id):
            ended = attended(desk, begun(desk, new, telling), telling)
        tell_end(desk, ended, volume=telling.volume, as_json=as_json)


def _introduce(desk: Desk, found: Runnable, run_id: str) -> None:
    name = (one_line(found.flow.name, 60), "bold")
    where = (f"  {run_id} on {desk_name(desk)}; Ctrl-C pauses it", "dim")
    show(Text.assemble(name, where), err=True)


def _given(found: Runnable, words: tuple[str, ...]) -> tuple[Any, ...]:
    """Return what the agent or workflow is started with.

    Raises:
        Misuse: that is not what it takes.
    """
    flow = found.flow
    if flow.host is None:
        task = " ".join(words).strip()
        if not task:
            raise Misuse(f'Say what {found.name} should do: sayso run {found.name} "TASK"')
        return (task,)
    takes = [
        p for p in list(flow.signature.parameters.values())[1:] if p.kind is not p.KEYWORD_ONLY
    ]
    types = [flow.types.get(parameter.name) for parameter in takes]
    types += [None] * (len(words) - len(types))
    args = tuple(_value(word, kind) for word, kind in zip(words, types, strict=False))
    try:
        flow.signature.bind(None, *args)
    except TypeError as error:
        named = ", ".join(map(str, takes)) or "nothing"
        raise Misuse(f"{found.name} takes {named}: {error}.") from error
    return args


def _value(word: str, kind: object) -> Any:  # noqa: ANN401 - as the workflow takes it
    """Read a word as JSON where a text is not what is wanted: `7` is a number."""
    if kind is str:
        return word
    try:
        return json.loads(word)
    except (ValueError, RecursionError):
        return word


def _tell_started(desk: Desk, run_id: str, *, as_json: bool) -> None:
    started = desk.get_run(run_id)
    unserved = desk.unserved(run_id)
    if as_json:
        emit({"desk": desk_name(desk), **run_record(started), "unserved": unserved})
        return
    where = f" --desk {desk_argument()}" if desk_argument() else ""
    say(f"{run_id} is started.", "green")
    say(f"{unserved}{where}" if unserved else "A worker carries it on.")
    say(f"Look at it:   sayso runs show {run_id}{where}", "dim")
    say(f"Decide on it: sayso inbox --run {run_id}{where}, or sayso top{where}", "dim")
    say(f"Be with it:   sayso runs resume {run_id}{where}", "dim")
