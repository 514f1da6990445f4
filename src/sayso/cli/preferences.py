"""`sayso preferences`: what people want otherwise, as agents are told."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from sayso.cli.desks import address, desk_name, desk_option, named, open_desk
from sayso.cli.ids import id_argument
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show
from sayso.cli.who import as_option, decider
from sayso.insight.preference import Preference
from sayso.model.text import one_line


@click.group(
    epilog=examples(
        "sayso preferences list --agent assistant",
        'sayso preferences edit a-7f3k "Meetings take 15 minutes"',
        "sayso preferences remove a-7f3k",
    )
)
@desk_option
def preferences() -> None:
    """What people prefer, learned from how they edit and answer calls and drafts."""


@preferences.command("list", epilog=examples("sayso preferences list --agent assistant"))
@click.option("--agent", help="Only those that this agent is told of.")
@desk_option
@json_option
def list_preferences(*, agent: str | None, as_json: bool) -> None:
    """List preferences, the newest first. An agent that learns is told the last 20 of its own."""
    if not address().there:
        _listed(named(address().url), [], as_json=as_json)
        return
    with open_desk() as desk:
        _listed(desk_name(desk), desk.preferences.of(agent), as_json=as_json)


def _listed(where: str, found: list[Preference], *, as_json: bool) -> None:
    if as_json:
        emit({"desk": where, "preferences": [_record(one) for one in found]})
        return
    say(f"desk: {where}, {len(found)} preference{'' if len(found) == 1 else 's'}", "dim")
    if not found:
        say("None yet: they come from edits of calls and drafts, and from answers to them.")
        return
    rows = [
        (one.id, one_line(one.agent, 20), one_line(one.by, 20), one_line(one.text, 500))
        for one in found
    ]
    show("", *columns(("ASK", "AGENT", "BY", "PREFERENCE"), rows, screen().width))


def _record(preference: Preference) -> dict[str, Any]:
    return {**asdict(preference), "at": preference.at.isoformat()}


@preferences.command(
    "edit", epilog=examples('sayso preferences edit a-7f3k "Meetings take 15 minutes"')
)
@id_argument
@click.argument("text")
@as_option
@desk_option
@json_option
def edit(ask_id: str, text: str, *, person: str | None, as_json: bool) -> None:
    """Say a preference in other words."""
    with open_desk() as desk:
        changed = desk.preferences.edit(ask_id, text, by=decider(desk, person))
        if as_json:
            emit(_record(changed))
        else:
            say(f"{changed.id}: {one_line(changed.text, 500)}", "green")


@preferences.command("remove", epilog=examples("sayso preferences remove a-7f3k"))
@id_argument
@as_option
@desk_option
@json_option
def remove(ask_id: str, *, person: str | None, as_json: bool) -> None:
    """Forget a preference. It does not come back; the decision itself stays in the journal."""
    with open_desk() as desk:
        desk.preferences.remove(ask_id, by=decider(desk, person))
        if as_json:
            emit({"id": ask_id})
        else:
            say(f"{ask_id} is forgotten: agents are no longer told of it.", "green")
