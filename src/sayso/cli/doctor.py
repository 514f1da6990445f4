"""`sayso doctor`: is this desk well, and which desk is it?

Looks and changes nothing: what is overdue is counted here, not swept.
"""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
from rich.text import Text

import sayso
from sayso.asks.stuck import Stuck, stuck, unused
from sayso.channels.fence import Row
from sayso.cli.check import MANY, Check, Level, counted, few
from sayso.cli.desks import Address, address, desk_at, desk_name, desk_option, named
from sayso.cli.fleet import fleet_checks, fleet_record
from sayso.cli.printing import emit, examples, json_option, show
from sayso.desk import Desk
from sayso.errors import SaysoError, StoreError
from sayso.model.ask import Ask
from sayso.model.names import is_older
from sayso.model.text import one_line, visible
from sayso.runs.fleet import Standing, look
from sayso.store.private import BESIDE

_STYLES: dict[Level, str] = {"ok": "green", "warn": "yellow", "fail": "bold red"}

# What must be so for a decision to survive a power cut once it was reported.
_DURABLE = {
    "journal_mode": ("wal",),
    "synchronous": ("full", "extra"),
    "integrity": ("ok",),
    "fsync": ("on",),
    "synchronous_commit": ("on", "remote_write", "remote_apply", "local"),
}


@click.command("doctor", epilog=examples("sayso doctor --desk postgresql://user@host/name"))
@desk_option
@json_option
def doctor(*, as_json: bool) -> None:
    """Check the desk and its workers, and say what is wrong with them.

    Where it is, whether it can be trusted with a decision, who carries runs on, what is stuck and
    what was given up, each with what to do. Exit 1 if something needs a person.
    """
    seen: list[Standing] = []
    checks = list(_checks(address(), seen))
    well = all(check.level != "fail" for check in checks)
    if as_json:
        fleet = fleet_record(seen[0]) if seen else None
        emit({"ok": well, "checks": [asdict(check) for check in checks], "fleet": fleet})
    else:
        show(*(_line(check) for check in checks))
    if not well:
        click.get_current_context().exit(1)


def _line(check: Check) -> Row:
    body = Text.assemble((check.level.ljust(6), _STYLES[check.level]), check.text)
    return Row(check.name.replace("_", " "), body, 20)


def _checks(where: Address, seen: list[Standing]) -> Iterator[Check]:
    try:
        desk = desk_at(where)
    except SaysoError as error:
        yield Check("fail", "desk", f"{error} (address from: {where.source})")
        return
    with desk:
        yield Check("ok", "desk", f"{desk_name(desk)} (address from: {where.source})")
        yield from _versions()
        if not where.there:
            yield Check("warn", "file", "not there yet; the first ask creates it")
            return
        if where.file is not None:
            yield _rights(where.file, named(where.url.partition("?")[0]))
        try:
            yield from _store(desk)
        except StoreError as error:
            yield Check("fail", "database", str(error))
            return
        yield _writable(desk)
        yield from _asks(desk)
        yield from _webhooks(desk)
        yield from _fleet(desk, seen)


def _rights(file: Path, shown: str) -> Check:
    """Look who else on this machine may open the files of a desk: new ones only their owner may."""
    wide: dict[str, int] = {}
    for one in (file, *(Path(f"{file}{ending}") for ending in BESIDE)):
        with suppress(OSError):  # what is beside comes and goes with its programs
            if (mode := one.stat().st_mode & 0o777) & 0o077:
                wide[one.name] = mode
    if not wide:
        return Check("ok", "permissions", "only its owner may open it")
    written = any(mode & 0o022 for mode in wide.values())
    which = ", ".join(f"{visible(name)} (mode {mode:o})" for name, mode in wide.items())
    may = "write to" if written else "read"
    text = f"other accounts may {may} {which}. Run: chmod go= {shlex.quote(shown)}*"
    return Check("fail" if written else "warn", "permissions", text)


def _versions() -> Iterator[Check]:
    found = [f"sayso {sayso.__version__}", f"Python {platform.python_version()}"]
    for package in ("pydantic", "jsonschema", "click", "rich", "psycopg"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    yield Check("ok", "versions", ", ".join(found))


def _store(desk: Desk) -> Iterator[Check]:
    found, newest = desk.store.schema()
    if found < newest:
        state = "has no tables yet" if found == 0 else f"is at schema {found}"
        text = f"{desk_name(desk)} {state}; this program needs {newest}. Run: sayso db migrate"
        yield Check("fail", "schema", text)
        return
    level: Level = "ok" if found == newest else "fail"
    yield Check(level, "schema", f"{found}; this program knows {newest}")
    for name, value in desk.store.health().items():
        wanted = _DURABLE.get(name)
        if wanted is None or value in wanted:
            yield Check("ok", name, value)
        else:
            yield Check(
                "fail", name, f"{value}; a decision could be lost. It should be {wanted[0]}"
            )


def _writable(desk: Desk) -> Check:
    try:
        # An update that meets no row needs the right and the lock to write, and writes nothing.
        desk.store.renew("doctor", timedelta(seconds=1))
    except StoreError as error:
        return Check("fail", "writable", str(error))
    return Check("ok", "writable", "yes")


def _asks(desk: Desk) -> Iterator[Check]:
    try:
        yield _people(desk)
        yield _policy(desk)
        yield Check("ok", "open asks", desk.inbox(limit=1).counted)
        found = stuck(desk.store)
        yield from _stuck(found)
        yield _unused(unused(desk.store))
        yield _names(desk, found)
        yield _unswept("overdue", desk.store.due(MANY), "waiting for the clock")
        yield _unswept("silent", desk.store.lapsed(MANY), "begun, and their program fell silent")
    except SaysoError as error:
        yield Check("fail", "asks", str(error))


def _fleet(desk: Desk, seen: list[Standing]) -> Iterator[Check]:
    """Look at the fleet once; what was seen is also what JSON says."""
    try:
        seen.append(look(desk.store))
        yield from fleet_checks(desk, seen[0])
    except SaysoError as error:
        yield Check("fail", "fleet", str(error))


def _people(desk: Desk) -> Check:
    listed = [f"{p.name} ({', '.join(sorted(p.roles)) or 'no role'})" for p in desk.people]
    solo = "nobody listed: whoever sits at this machine decides alone (solo mode)"
    return Check("ok", "people", ", ".join(listed) or solo)


def _policy(desk: Desk) -> Check:
    broken = desk.law.broken
    if broken is not None:
        text = f"none can be used, so every ask is refused until it is mended. {broken}"
        return Check("fail", "policy", text)
    unmet = desk.law.unmet
    if unmet is not None:
        return Check("fail", "policy", f"what needs those who are missing is refused. {unmet}")
    differing = desk.law.differing()
    if differing is not None:
        return Check("warn", "policy", differing)
    found = desk.policies.in_force
    text = desk.policy.source
    return Check("ok", "policy", text if found is None else f"version {found.number}, {text}")


def _stuck(found: Stuck) -> Iterator[Check]:
    some = "" if found.complete else f" among the first {found.looked_at:,}"
    ids = [ask.id for ask, _ in found.nobody]
    if ids:
        many = "one ask" if len(ids) == 1 else f"{len(ids):,} asks"
        text = f"{many}{some} nobody can decide: {few(ids)}. {found.nobody[0][1]}"
        yield Check("fail", "undecidable", text, ids)
    else:
        yield Check("ok", "undecidable", f"none{some}")
    gone = [ask.id for ask in found.gone]
    if gone:
        text = f"the program that asked has gone: {few(gone)}. Close them: sayso inbox reject ID"
        yield Check("warn", "gone", text, gone)
    else:
        yield Check("ok", "gone", f"none{some}")


def _unused(found: list[tuple[Ask, str]]) -> Check:
    ids = [ask.id for ask, _ in found]
    if not ids:
        return Check("ok", "unused", "no approval that nobody can use")
    text = (
        f"approved and never begun: {few(ids)}. Of {ids[0]}, {found[0][1]}. Start the program or "
        "the worker again, or let it ask anew"
    )
    return Check("warn", "unused", text, ids)


def _names(desk: Desk, found: Stuck) -> Check:
    """Name what is called as nothing new can be called: by open asks, people and tokens."""
    older = dict.fromkeys(found.older)
    named = [("person", person.name) for person in desk.people]
    named += [("role", role) for person in desk.people for role in person.roles]
    named += [("team", team) for person in desk.people for team in person.teams]
    named += [("agent", token.name) for token in desk.tokens if token.kind == "agent"]
    older |= {(what, name): None for what, name in named if is_older(what, name)}
    if not older:
        return Check("ok", "names", "all plain")
    said = [f"{what} {one_line(name, 40)!r}" for what, name in older]
    text = (
        f"{counted(len(said))} older than the rule for names: {few(said)}. What has such a name can "
        "be read and rejected. Give it letters from a to z, digits and _ . : / - and ask again"
    )
    return Check("warn", "names", text, said)


def _webhooks(desk: Desk) -> Iterator[Check]:
    try:
        gone = [hook.id for hook in desk.webhooks if not hook.active]
        dead = [delivery.id for delivery in desk.webhooks.deliveries("dead", limit=MANY)]
    except SaysoError as error:
        yield Check("fail", "webhooks", str(error))
        return
    if gone:
        text = f"disabled, their receivers have gone: {few(gone)}. `sayso webhooks remove ID`"
        yield Check("fail", "webhooks", text)
    else:
        yield Check("ok", "webhooks", f"{len(desk.webhooks)}, none disabled")
    if dead:
        text = f"{counted(len(dead))} never arrived: {few(dead)}. Send again: sayso webhooks redeliver ID"
        yield Check("fail", "dead letters", text)
    else:
        yield Check("ok", "dead letters", "none")


def _unswept(name: str, ids: list[str], what: str) -> Check:
    if not ids:
        return Check("ok", name, "none")
    return Check(
        "warn", name, f"{counted(len(ids))} {what}: {few(ids)}. `sayso inbox list` sweeps them", ids
    )
