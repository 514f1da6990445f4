"""`sayso db`: the tables of a desk."""

from __future__ import annotations

import click

from sayso.cli.desks import address, desk_at, desk_name, desk_option
from sayso.cli.printing import emit, examples, json_option, say
from sayso.errors import SchemaMismatch


@click.group(epilog=examples("sayso db migrate --desk postgresql://user@host/name"))
@desk_option
def db() -> None:
    """The tables of a desk."""


@db.command("migrate", epilog=examples("sayso db migrate --desk postgresql://user@host/name"))
@desk_option
@json_option
def migrate(*, as_json: bool) -> None:
    """Bring the tables up to date. Safe to run twice, and from two places at once.

    A SQLite file is brought up to date whenever it is opened; PostgreSQL waits for this command.
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
        if as_json:
            emit({"desk": desk_name(desk), "schema": newest, "created": new, "steps": steps})
            return
        for step in steps:
            say(f"done: {step}")
        if steps or new:
            say(f"{desk_name(desk)} is at schema {newest} now.", "green")
        else:
            say(f"Nothing to do: {desk_name(desk)} is at schema {newest} already.")
