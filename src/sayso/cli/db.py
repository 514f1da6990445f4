"""`sayso db`: the tables of a desk."""

from __future__ import annotations

import click

from sayso.cli.desks import address, desk_at, desk_name, desk_option
from sayso.cli.printing import emit, examples, json_option, say
from sayso.errors import SchemaMismatch
from sayso.runs.dispatch import install
from sayso.store import Store


@click.group(epilog=examples("sayso db migrate --desk postgresql://user@host/name"))
@desk_option
def db() -> None:
    """The tables of a desk."""


@db.command("migrate", epilog=examples("sayso db migrate --desk postgresql://user@host/name"))
@desk_option
@json_option
def migrate(*, as_json: bool) -> None:
    """Bring the tables up to date. Safe to run twice, and from two places at once.

    A SQLite file is brought up to date whenever it is opened; PostgreSQL waits for this command. It
    also gets what Procrastinate needs to wake workers, if that is installed here.
    """
    where = address()
    new = not where.there
    with desk_at(where) as desk:
        found, newest = desk.store.schema()
        if found > newest:
            raise SchemaMismatch(
                f"{desk_name(desk)} was migrated by a newer sayso (schema {found}; this program "
                f"knows {newest}). Upgrade this program: pip install --upgrade sayso"
            )
        steps = desk.store.migrate()
        engine = install(desk.store)
        if as_json:
            told = {"desk": desk_name(desk), "schema": newest, "created": new, "steps": steps}
            emit({**told, "engine": _engine(desk.store), "engine_steps": engine or []})
            return
        for step in steps:
            say(f"done: {step}")
        if steps or new:
            say(f"{desk_name(desk)} is at schema {newest} now.", "green")
        else:
            say(f"Nothing to do: {desk_name(desk)} is at schema {newest} already.")
        if desk.store.wakeups is not None:
            _tell_engine(desk.store, engine)


def _engine(store: Store) -> str | None:
    return None if store.wakeups is None else store.wakeups.version()


def _tell_engine(store: Store, steps: list[str] | None) -> None:
    if steps is None and _engine(store) is not None:
        say("Procrastinate is not installed here; its tables in the database stay as they are.")
    elif steps is None:
        say(
            "Procrastinate is not installed here, so workers look for runs themselves. For wake-ups: "
            "pip install 'sayso[postgres]', then this command again."
        )
    elif steps:
        say(f"Wake-ups by Procrastinate are installed ({steps[-1][:8]}).", "green")
    else:
        say("Wake-ups by Procrastinate: nothing to do.")
