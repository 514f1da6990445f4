"""`sayso db`: the tables of a desk."""

from __future__ import annotations

from pathlib import Path

import click

from sayso.access.tokens import Token
from sayso.cli.desks import Address, address, desk_at, desk_name, desk_option
from sayso.cli.printing import emit, examples, json_option, say
from sayso.errors import Misuse, SchemaMismatch
from sayso.model.actor import Actor
from sayso.runs.dispatch import install
from sayso.runs.restoring import Restored, restore
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


@db.command("backup", epilog=examples("sayso db backup monday.db"))
@click.argument("file", type=click.Path(path_type=Path))
@desk_option
def backup(file: Path) -> None:
    """Copy a SQLite desk into FILE, as it is at one moment, while others write.

    The copy is refused by every program until `sayso db restored` puts it right. PostgreSQL has
    tools of its own: pg_dump, pg_basebackup.
    """
    where = _there()
    with desk_at(where) as desk:
        desk.store.backup(file)
        say(f"{file} has {desk_name(desk)} as it was just now.", "green")


@db.command("restored", epilog=examples("sayso db restored --desk sqlite:///monday.db"))
@click.option("--yes", is_flag=True, help="Do not ask.")
@desk_option
@json_option
def restored(*, yes: bool, as_json: bool) -> None:
    """Put a desk right that was restored from a backup, before anybody uses it.

    What happened after the backup was taken is not in it. So every run that was not over is
    parked until you let it go on, approvals that were not used are not used without a person,
    open asks say that they may have been decided before, everybody is signed out, and cursors
    from before are refused. Stop all programs of the desk first.
    """
    where = _there()
    if not yes:
        question = "Park every run, sign everybody out, and go on from this backup?"
        click.confirm(question, abort=True, prompt_suffix=" ")
    with desk_at(where) as desk:
        by = Actor("person", desk.origin.account.partition("@")[0])
        done = restore(desk.store, actor=by, origin=desk.origin)
        now = desk.store.now()
        tokens = [token for token in desk.tokens if token.counts(now)]
        if as_json:
            told = {"desk": desk_name(desk), "epoch": done.epoch, "parked": done.runs}
            ids = [token.id for token in tokens]
            emit({**told, "calls": done.calls, "asks": done.asks, "tokens": ids})
        else:
            _tell_restored(desk_name(desk), done, tokens)


def _there() -> Address:
    where = address()
    if not where.there:
        raise Misuse(f"There is no desk at {where.url}. Name it: --desk URL")
    return where


def _tell_restored(name: str, done: Restored, tokens: list[Token]) -> None:
    say(f"{name} goes on from its backup.", "green")
    runs = "1 run is" if done.runs == 1 else f"{done.runs:,} runs are"
    say(f"{runs} parked: sayso runs list --status parked; sayso runs retry ID")
    if done.calls:
        calls = "1 of their calls was" if done.calls == 1 else f"{done.calls:,} of their calls were"
        say(f"{calls} approved, and may have been carried out since")
    if done.asks:
        asks = (
            "1 open ask says that it"
            if done.asks == 1
            else f"{done.asks:,} open asks say that they"
        )
        say(f"{asks} may have been decided before")
    say("Everybody is signed out. People, roles and passwords are those of the backup.")
    for token in tokens:
        whose = f"{token.kind} {token.name}"
        say(f"{token.id} ({whose}) counts. If it was revoked since: sayso tokens revoke {token.id}")


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
