"""`sayso audit`: proof of what happened."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TextIO

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from sayso.channels.record import kept_record
from sayso.cli.desks import desk_name, desk_option, open_desk
from sayso.cli.printing import emit, examples, json_option, say, screen
from sayso.cli.trail import UNTIL, listed, narrowing, wanted_of
from sayso.desk import Desk
from sayso.errors import BadValue
from sayso.insight.dataset import decisions
from sayso.insight.trail import VERDICTS, pass_by
from sayso.store.audit import NOT_COVERED, Seal
from sayso.store.audit import Progress as Told
from sayso.store.private import private


@click.group(
    epilog=examples(
        "sayso audit list --actor anna --since 7d",
        "sayso audit verify",
        "sayso audit seal --out seals.txt",
        "sayso audit export --out journal.jsonl",
        "sayso audit decisions --out decisions.jsonl",
    )
)
@desk_option
def audit() -> None:
    """Proof of what happened: look through the journal, verify it, seal it, export it."""


audit.add_command(listed)


@audit.command(
    "verify", epilog=examples("sayso audit verify", "sayso audit verify --seal seals.txt")
)
@click.option("--seal", metavar="LINE|FILE", help="A seal kept elsewhere, or the file it is in.")
@desk_option
@json_option
def verify(*, seal: str | None, as_json: bool) -> None:
    """Read the whole journal and name what is not as it was written. Exit 1 if anything is."""
    kept = _seal(seal) if seal is not None else None
    with open_desk() as desk:
        with _progress("verifying") as progress:
            report = desk.verify(seal=kept, progress=progress)
        if as_json:
            problems = [
                {"what": p.what, "stream": p.stream, "seq": p.seq, "detail": p.detail}
                for p in report.problems
            ]
            counts = {"events": report.events, "streams": report.streams}
            more = {"erased": report.erased, "sealed": report.sealed}
            emit(
                {"desk": desk_name(desk), "ok": bool(report)}
                | counts
                | more
                | {"problems": problems, "not_covered": list(NOT_COVERED)}
            )
        else:
            say(f"desk: {desk_name(desk)}", "dim")
            for problem in report.problems:
                say(str(problem), "red")
            found = (
                f"{len(report.problems):,} problems" if report.problems else "the journal is whole"
            )
            style = "red" if report.problems else "green"
            say(f"{report.events:,} events in {report.streams:,} streams: {found}.", style)
            _say_more(erased=report.erased, sealed=report.sealed)
            say("Not covered:", "dim")
            for each in NOT_COVERED:
                say(f"  {each}", "dim")
    if not report:
        click.get_current_context().exit(1)


def _say_more(*, erased: int, sealed: int) -> None:
    if erased:
        say(f"{erased:,} payloads were erased on purpose; the chain holds without them.")
    if sealed:
        say(f"{sealed:,} streams are sealed.")
    else:
        say("No seal yet, so events removed at the end could not be noticed: sayso audit seal")


def _seal(given: str) -> Seal:
    """Read a seal from the command line, or the last one of a file."""
    if given.startswith("sayso-seal:"):
        return Seal.parse(given)
    try:
        lines = [line for line in Path(given).read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise BadValue(
            f"{given!r} is neither a seal (sayso-seal:12:9f3c...) nor a file: {error}"
        ) from error
    if not lines:
        raise BadValue(f"{given} holds no seal.")
    return Seal.parse(lines[-1])


@audit.command(
    "seal", epilog=examples("sayso audit seal", "sayso audit seal --out /media/usb/seals.txt")
)
@click.option("--out", type=click.Path(path_type=Path), help="Also add the line to this file.")
@desk_option
@json_option
def seal(*, out: Path | None, as_json: bool) -> None:
    """Seal the journal as it is, and print the line to keep somewhere else.

    Whoever can rewrite the whole database cannot rewrite a line you keep elsewhere.
    """
    with open_desk() as desk:
        with _progress("sealing") as progress:
            made = desk.seal(progress=progress)
        if out is not None:
            with _writing(out, "a") as file:
                file.write(f"{made}\n")
        if as_json:
            emit({"desk": desk_name(desk), "seal": str(made), "seq": made.seq, "hash": made.hash})
            return
        click.echo(str(made))
        say(
            f"Keep this line outside {desk_name(desk)}; check with: sayso audit verify --seal LINE",
            "dim",
            err=True,
        )


@audit.command(
    "export",
    epilog=examples(
        "sayso audit export --out journal.jsonl", "sayso audit export --after 1182 >> journal.jsonl"
    ),
)
@click.option("--out", type=click.Path(path_type=Path), help="The file; stdout unless given.")
@click.option("--after", metavar="CURSOR", help="Only events behind this place.")
@narrowing
@desk_option
def export(*, out: Path | None, after: str | None, **given: str | None) -> None:
    """Write the journal as JSON, one event a line, in the order of commits.

    The last line on stderr names the place to go on from next time.
    """
    with open_desk() as desk:
        wanted = wanted_of(desk, given)
        batches = pass_by(desk.store, wanted, after=after)
        _export(desk, "events", (map(kept_record, events) for events in batches), out, after)


@audit.command(
    "decisions",
    epilog=examples(
        "sayso audit decisions --out decisions.jsonl",
        "sayso audit decisions --tool refund --since 90d --names",
    ),
)
@click.option("--out", type=click.Path(path_type=Path), help="The file; stdout unless given.")
@click.option("--after", metavar="CURSOR", help="Only what is behind this place.")
@click.option("--tool", metavar="NAME", help="Only calls of this tool.")
@click.option("--verdict", type=click.Choice(VERDICTS), help="Only what was decided like this.")
@click.option("--since", metavar="WHEN", help="From then on: 7d ago, or 2026-03-01T09:00 (UTC).")
@click.option("--until", metavar="WHEN", help=UNTIL)
@click.option("--names", is_flag=True, help="Call reviewers by their names; else by numbers.")
@desk_option
def decided(*, out: Path | None, after: str | None, names: bool, **given: str | None) -> None:
    """Write what people decided as a data set: JSON, one ask a line.

    What is hidden or was erased is not in it. The last line on stderr names the place to go on from.
    """
    with open_desk() as desk:
        wanted = wanted_of(desk, {name: given[name] for name in ("tool", "since", "until")})
        of: dict[str, Any] = {"since": wanted.since, "until": wanted.until, "after": after}
        of |= {"tool": wanted.tool, "verdict": given["verdict"]}
        batches = decisions(desk.store, **of, named=lambda _: names)
        _export(desk, "decisions", batches, out, after)


def _export(
    desk: Desk,
    what: str,
    batches: Iterable[Iterable[dict[str, Any]]],
    out: Path | None,
    after: str | None,
) -> None:
    """Write lines to a file, or to stdout."""
    if out is None:
        _write(desk, what, batches, sys.stdout, after)
        return
    half = out.with_name(f"{out.name}.part")
    with _writing(half, "x", then=out) as file:  # never half an export under the name asked for
        _write(desk, what, batches, file, after)


def _write(
    desk: Desk,
    what: str,
    batches: Iterable[Iterable[dict[str, Any]]],
    file: TextIO,
    after: str | None,
) -> None:
    count, total, last = 0, desk.store.total(), after
    with _progress("exporting") as progress:
        for lines in batches:
            for line in lines:
                file.write(json.dumps(line) + "\n")
                count, last = count + 1, line["cursor"]
            progress(count, max(total, count))
    file.flush()
    place = f"; next time: --after {last}" if last is not None else ""
    many = f"1 {what.removesuffix('s')}" if count == 1 else f"{count:,} {what}"
    say(f"{many} written{place}", "dim", err=True)


@contextmanager
def _writing(file: Path, mode: Literal["x", "a"], *, then: Path | None = None) -> Iterator[TextIO]:
    """Write a file that others cannot read, and `then` give it its own name."""
    try:
        if mode == "x":
            file.unlink(missing_ok=True)  # of an export that was broken off
        with open(file, mode, encoding="utf-8", opener=private) as opened:
            yield opened
        if then is not None:
            os.replace(file, then)
    except OSError as error:
        raise BadValue(f"{then or file} cannot be written: {error.strerror or error}.") from error


@contextmanager
def _progress(what: str) -> Iterator[Told]:
    """Show how far it is on a terminal; elsewhere nothing."""
    err = screen(err=True)
    if not err.is_terminal:
        yield lambda done, total: None
        return
    bar = Progress(TextColumn(what), BarColumn(), MofNCompleteColumn(), console=err, transient=True)
    with bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
