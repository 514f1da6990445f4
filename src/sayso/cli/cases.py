"""`sayso cases`: what was decided before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click
from rich.text import Text

from sayso.channels.card import moment
from sayso.channels.fence import Fence, Row
from sayso.cli.desks import address, desk_name, desk_option, named, open_desk
from sayso.cli.numbers import Whole
from sayso.cli.printing import emit, examples, json_option, say, show
from sayso.insight.case import Case
from sayso.insight.nearest import latest
from sayso.model.text import one_line
from sayso.model.verdicts import VERDICTS
from sayso.store.casebook import CaseFilter

_tool = click.option("--tool", help="Only calls of this tool.")
_limit = click.option("--limit", type=Whole(1, 50), default=10, show_default=True, help="How many.")


@click.group(
    epilog=examples(
        "sayso cases list",
        'sayso cases search "charged twice"',
        'sayso cases search "late parcel" --tool refund --least 0.35',
    )
)
@desk_option
def cases() -> None:
    """What people decided before, for whoever decides next."""


@cases.command("list", epilog=examples("sayso cases list --tool refund"))
@_tool
@_limit
@desk_option
@json_option
def list_cases(*, tool: str | None, limit: int, as_json: bool) -> None:
    """List cases, the newest first."""
    if not address().there:
        _listed(named(address().url), [], as_json=as_json)
        return
    with open_desk() as desk:
        found = latest(desk.store, CaseFilter(tool=tool), limit=limit)
        _listed(desk_name(desk), found, as_json=as_json)


@cases.command("search", epilog=examples('sayso cases search "charged twice" --tool refund'))
@click.argument("text")
@_tool
@_limit
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="The score a case must reach.",
)
@desk_option
@json_option
def search(text: str, *, tool: str | None, limit: int, least: float, as_json: bool) -> None:
    """Find the cases most like a text. The score is 1 for one that says the same."""
    with open_desk() as desk:
        found = desk.cases(text, tool=tool, limit=limit, least=least)
        _listed(desk_name(desk), found, as_json=as_json, scores=True)


def _listed(where: str, found: list[Case], *, as_json: bool, scores: bool = False) -> None:
    if as_json:
        emit({"desk": where, "cases": [_record(case) for case in found]})
        return
    say(f"desk: {where}, {len(found)} {'case' if len(found) == 1 else 'cases'}", "dim")
    for case in found:
        show("", *_lines(case, scores=scores))


def _record(case: Case) -> dict[str, Any]:
    return {**asdict(case), "at": case.at.isoformat()}


def _lines(case: Case, *, scores: bool) -> Iterator[Text | Row]:
    score = f"{case.score:.2f}  " if scores else ""
    how = VERDICTS[case.kind][case.verdict].past
    what = one_line(case.tool or case.kind, 40)
    first = f"{score}{case.id}  {what}, {how} by {one_line(case.by, 40)}, {moment(case.at)}"
    yield Text(first)
    yield Row("", Fence(case.about), 2)
    for label, text in (("result", case.result), ("said", case.note), ("came", case.outcome)):
        if text:
            yield Row(f"  {label}", Fence(text), 10)
    for edit in case.edits:
        yield Row("  edit", Fence(edit), 10)
