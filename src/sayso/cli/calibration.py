"""`sayso calibration`: how far the confidence that agents state can be relied upon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from sayso.cli.desks import desk_name, desk_option, open_desk
from sayso.cli.printing import Cell, columns, emit, examples, json_option, say, screen, show
from sayso.model.text import one_line
from sayso.model.worth import FEWEST, percent

_HEAD = ("stated", "right", "of", "worth", "light")


@click.command(
    epilog=examples(
        "sayso calibration",
        "sayso calibration --agent shop --tool refund",
        "sayso calibration --json",
    )
)
@click.option("--agent", help="Only this agent.")
@click.option("--tool", help="Only calls of this tool.")
@desk_option
@json_option
def calibration(*, agent: str | None, tool: str | None, as_json: bool) -> None:
    """Say how far the confidence that agents state can be relied upon."""
    with open_desk() as desk:
        found = desk.calibration(agent=agent, tool=tool)
        where = desk_name(desk)
    if as_json:
        emit({"desk": where, "calibrations": found})
        return
    say(f"desk: {where}", "dim")
    if not found:
        say("Nobody has decided on anything that came with a confidence.")
    for one in found:
        say("")
        say(_title(one), "bold")
        say(f"  {_summary(one)}")
        show(*columns(_HEAD, list(_rows(one)), screen().width))


def _title(one: dict[str, Any]) -> str:
    what = f"{one_line(one['agent'], 40)}, {one_line(one['tool'] or one['kind'], 40)}"
    return f"{what}, for {one_line(one['team'], 40)}" if one["team"] else what


def _summary(one: dict[str, Any]) -> str:
    said = f"{one['good']:,} of {one['labels']:,} approved unchanged"
    if not one["record"]:
        return f"{said}; no record: it takes {FEWEST}"
    ranked = "" if one["auroc"] is None else f", auroc {one['auroc']:.2f}"
    return f"{said}, ece {one['ece']:.2f}, brier {one['brier']:.2f}{ranked}"


def _rows(one: dict[str, Any]) -> Iterator[list[Cell]]:
    worth = {each["stated"]: each for each in one["worth"]}
    for tenth in one["bins"]:
        known = worth.get(tenth["stated"])
        yield [
            percent(tenth["stated"]),
            percent(tenth["right"]),
            f"{tenth['labels']:,}",
            "-" if known is None else percent(known["worth"]),
            "red" if known is None else known["light"],
        ]
