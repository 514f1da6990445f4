"""`sayso inbox take-back`, `claim`, `assign`: what people do around a decision."""

from __future__ import annotations

import click

from sayso.channels.record import ask_record
from sayso.cli.desks import desk_option, open_desk
from sayso.cli.ids import id_argument
from sayso.cli.printing import emit, examples, json_option, say
from sayso.cli.who import as_option, decider
from sayso.desk import Desk
from sayso.model.ask import Ask


@click.command(
    "take-back",
    epilog=examples("sayso inbox take-back a-7f3k", 'sayso inbox take-back a-7f3k "Wrong order"'),
)
@id_argument
@click.argument("note", required=False)
@as_option
@desk_option
@json_option
def take_back(ask_id: str, *, note: str | None, person: str | None, as_json: bool) -> None:
    """Take your decision back while it settles: the ask is open again."""
    with open_desk() as desk:
        ask = desk.take_back(ask_id, note, by=decider(desk, person))
        _tell(desk, ask, f"{ask.id} is open again, without your vote.", as_json=as_json)


@click.command(
    "claim", epilog=examples("sayso inbox claim a-7f3k", "sayso inbox claim 7f3k --as anna")
)
@id_argument
@as_option
@desk_option
@json_option
def claim(ask_id: str, *, person: str | None, as_json: bool) -> None:
    """Say that you are looking into an ask. Others see it, and may still decide."""
    with open_desk() as desk:
        ask = desk.claim(ask_id, by=decider(desk, person))
        _tell(desk, ask, f"{ask.id} is yours to look into.", as_json=as_json)


@click.command(
    "assign",
    epilog=examples("sayso inbox assign a-7f3k ben", "sayso inbox assign a-7f3k --nobody"),
)
@id_argument
@click.argument("name", required=False)
@click.option("--nobody", is_flag=True, help="Give it back to everybody.")
@as_option
@desk_option
@json_option
def assign(
    ask_id: str, *, name: str | None, nobody: bool, person: str | None, as_json: bool
) -> None:
    """Give an ask to somebody to look into."""
    if (name is None) is not nobody:
        raise click.UsageError("Name one person, or say --nobody.")
    with open_desk() as desk:
        ask = desk.assign(ask_id, name, by=decider(desk, person))
        whose = "nobody's in particular" if name is None else f"for {name} to look into"
        _tell(desk, ask, f"{ask.id} is {whose}.", as_json=as_json)


def _tell(desk: Desk, ask: Ask, words: str, *, as_json: bool) -> None:
    if as_json:
        emit(ask_record(ask, desk.store.roster()))
    else:
        say(words, "green")
