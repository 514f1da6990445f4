"""`sayso metrics`: how people and agents get on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import click

from sayso.cli.desks import desk_name, desk_option, open_desk
from sayso.cli.printing import Cell, columns, emit, examples, json_option, say, screen, show
from sayso.insight.forecast import WITHIN
from sayso.insight.metrics import By
from sayso.model.span import say_span
from sayso.model.text import one_line

_HEAD = ("calls", "alone", "bad", "harm", "reviewed", "approved", "edited", "median")
_OF_PEOPLE = ("decisions", "approved", "edited", "rejected", "median", "minutes")


@click.command(
    epilog=examples(
        "sayso metrics",
        "sayso metrics --days 7 --by tool",
        "sayso metrics --by reviewer --staffing",
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
    "--by",
    type=click.Choice(["agent", "tool", "tier", "reviewer"]),
    help="Besides, each of these by itself.",
)
@click.option("--staffing", is_flag=True, help="Besides, whether people keep up.")
@desk_option
@json_option
def metrics(
    *,
    days: float,
    agent: str | None,
    tool: str | None,
    tier: str | None,
    by: By | None,
    staffing: bool,
    as_json: bool,
) -> None:
    """Say how people and agents got on: what was approved, how fast, what ran alone."""
    with open_desk() as desk:
        found = desk.metrics(days=days, agent=agent, tool=tool, tier=tier, by=by)
        keeps_up = desk.staffing() if staffing else None
        where = desk_name(desk)
    if as_json:
        emit({"desk": where, **found} | ({} if keeps_up is None else {"staffing": keeps_up}))
        return
    say(f"desk: {where}, the last {days:g} days", "dim")
    _say_figures(found)
    if keeps_up is not None:
        _say_staffing(keeps_up)
    if by is not None:
        row, head = (_person, _OF_PEOPLE) if by == "reviewer" else (_row, _HEAD)
        rows = [row(part, figures) for part, figures in found["by"].items()]
        show("", *columns((*head, by), rows, screen().width))


def _say_figures(found: Mapping[str, Any]) -> None:
    for words, name in (
        ("approved", "approval_rate"),
        ("edited first", "edit_rate"),
        ("ran without asking", "autonomous_rate"),
    ):
        say(f"{_share(found[name]):>8}  {words}{_change(found[name], found['before'][name])}")
        if name == "autonomous_rate":
            say(f"{'':>8}  {_escaped(found)}", "dim")
            if found["keys"]["granted"]:
                say(f"{found['exposure_left']:>8,.1f}  {_exposed(found)}")
    say(f"{_time(found['p50_approval_time']):>8}  median time to decide{_split(found)}")
    for words, name in (
        ("decided before the deadline", "sla_rate"),
        ("of what was asked asked for help", "help_rate"),
        ("of the asks changed something", "useful_rate"),
        ("of a proposal changed where it was edited", "edit_distance"),
    ):
        if found[name] is not None:
            say(f"{_share(found[name]):>8}  {words}")
    if found["minutes_per_1000"] is not None:
        say(f"{found['minutes_per_1000']:>8,.0f}  minutes of people for 1,000 calls")
    if found["double_reviewed"]:
        say(f"{_share(found['agreement']):>8}  {_agreed(found)}")
    if found["oldest_open"] is not None:
        many = f"{found['open']:,}{'+' if found['open_more'] else ''}"
        say(f"{_time(found['oldest_open']):>8}  the oldest of {many} that wait for people")
    counted = ("proposed", "alone", "reviewed", "approved", "edited", "rejected", "expired")
    say(", ".join(f"{found[name]:,} {name}" for name in counted), "dim")


def _escaped(found: Mapping[str, Any]) -> str:
    """Say what is known of the harm in what ran alone: the share is never shown without it."""
    harm = f"{found['incidents']:,} incident{'' if found['incidents'] == 1 else 's'} reported"
    if found["unapproved_bad_rate"] is None:
        return f"{harm}; no audits to estimate from"
    low, high = (f"{found[name]:.1%}" for name in ("unapproved_bad_low", "unapproved_bad_high"))
    audits = f"{found['audited']:,} audit{'' if found['audited'] == 1 else 's'}"
    return f"{harm}; {found['unapproved_bad_rate']:.1%} bad by {audits} ({low} to {high})"


def _exposed(found: Mapping[str, Any]) -> str:
    """Say how many grants there are, and what one of them may let through."""
    grants, most = found["keys"]["granted"], found["exposure_most"]
    if grants == 1:
        return "bad calls that the grant in force may still let through, at most"
    return (
        f"bad calls that {grants:,} grants may still let through, at most; one of them {most:,.1f}"
    )


def _split(found: Mapping[str, Any]) -> str:
    """Say how much of the time was waiting, of those decisions of which that is known."""
    if found["p50_thinking_time"] is None:
        return ""
    queue, thinking = _time(found["p50_queue_time"]), _time(found["p50_thinking_time"])
    return f": {queue} in the queue, {thinking} thinking, known of {_share(found['split_share'])}"


def _agreed(found: Mapping[str, Any]) -> str:
    named = [
        f"{words} {found[name]:.2f}"
        for name, words in (("kappa", "kappa"), ("pabak", "PABAK"), ("ac1", "AC1"))
        if found[name] is not None
    ]
    asks = "1 ask" if found["double_reviewed"] == 1 else f"{found['double_reviewed']:,} asks"
    return f"agreed on {asks} that two people looked at: {', '.join(named)}"


def _say_staffing(found: Mapping[str, Any]) -> None:
    if found["warning"] is not None:
        say(found["warning"], "yellow")
    elif found["hour"] is None:
        say("Nothing was asked in the last 7 days.", "dim")
    else:
        say(
            f"In the busiest hour ({found['hour']:02d}:00 UTC) people who decide are busy "
            f"{found['load']:.0%} of the time; {found['enough']:,} would be enough for a wait of "
            f"{_time(WITHIN)}.",
            "dim",
        )


def _share(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else say_span(timedelta(seconds=seconds))


def _change(rate: float | None, before: float | None) -> str:
    """Say how a rate has changed, if there is something to compare it with."""
    if rate is None or before is None:
        return ""
    return f", {100 * (rate - before):+.1f} points"


def _row(part: str, figures: Mapping[str, Any]) -> list[Cell]:
    return [
        f"{figures['proposed']:,}",
        _share(figures["autonomous_rate"]),
        _share(figures["unapproved_bad_rate"]),
        f"{figures['incidents']:,}",
        f"{figures['reviewed']:,}",
        _share(figures["approval_rate"]),
        _share(figures["edit_rate"]),
        _time(figures["p50_approval_time"]),
        one_line(part, 60) or "(none)",
    ]


def _person(name: str, figures: Mapping[str, Any]) -> list[Cell]:
    return [
        f"{figures['decisions']:,}",
        _share(figures["approval_rate"]),
        f"{figures['edited']:,}",
        f"{figures['rejected']:,}",
        _time(figures["p50_approval_time"]),
        f"{figures['minutes']:,.0f}",
        one_line(name, 60) or "(none)",
    ]
