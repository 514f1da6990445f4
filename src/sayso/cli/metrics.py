"""`sayso metrics`: how people and agents get on."""

from __future__ import annotations

from datetime import timedelta

import click

from sayso.cli.desks import desk_name, desk_option, open_desk
from sayso.cli.printing import Cell, columns, emit, examples, json_option, say, screen, show
from sayso.insight.metrics import Figures, measure_by
from sayso.model.span import say_span
from sayso.model.text import one_line
from sayso.store.tallies import Dimension

_HEAD = ("calls", "alone", "reviewed", "approved", "edited", "median")


@click.command(
    epilog=examples(
        "sayso metrics",
        "sayso metrics --days 7 --by tool",
        "sayso metrics --agent shop --json",
    )
)
@click.option(
    "--days", type=float, default=30, show_default=True, help="How many days to look back."
)
@click.option("--agent", help="Only what this agent proposed.")
@click.option("--tool", help="Only calls of this tool.")
@click.option("--tier", help="Only what was of this tier.")
@click.option(
    "--by", type=click.Choice(["agent", "tool", "tier"]), help="Besides, each of these by itself."
)
@desk_option
@json_option
def metrics(
    *,
    days: float,
    agent: str | None,
    tool: str | None,
    tier: str | None,
    by: Dimension | None,
    as_json: bool,
) -> None:
    """Say how people and agents got on: what was approved, how fast, what ran alone."""
    with open_desk() as desk:
        found = desk.metrics(days=days, agent=agent, tool=tool, tier=tier)
        parts = {} if by is None else measure_by(desk.store, by, days=days)
        where = desk_name(desk)
    if as_json:
        listed = {part: figures.to_json() for part, figures in parts.items()}
        emit({"desk": where, **found} | ({} if by is None else {"by": listed}))
        return
    say(f"desk: {where}, the last {days:g} days", "dim")
    for words, name in (
        ("approved", "approval_rate"),
        ("edited first", "edit_rate"),
        ("ran without asking", "autonomous_rate"),
    ):
        say(f"{_share(found[name]):>8}  {words}{_change(found[name], found['before'][name])}")
    say(f"{_time(found['p50_approval_time']):>8}  median time to decide")
    counted = ("proposed", "alone", "reviewed", "approved", "edited", "rejected", "expired")
    say(", ".join(f"{found[name]:,} {name}" for name in counted), "dim")
    if parts:
        rows = [_row(part, figures) for part, figures in parts.items()]
        show("", *columns((*_HEAD, str(by)), rows, screen().width))


def _share(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else say_span(timedelta(seconds=seconds))


def _change(rate: float | None, before: float | None) -> str:
    """Say how a rate has changed, if there is something to compare it with."""
    if rate is None or before is None:
        return ""
    return f", {100 * (rate - before):+.1f} points"


def _row(part: str, figures: Figures) -> list[Cell]:
    return [
        f"{figures.proposed:,}",
        f"{figures.alone:,}",
        f"{figures.reviewed:,}",
        _share(figures.approval_rate),
        _share(figures.edit_rate),
        _time(figures.p50_approval_time),
        one_line(part, 60) or "(none)",
    ]
