"""`sayso inbox`: what waits, and deciding it."""

from __future__ import annotations

from typing import Any

import click

from sayso.channels.card import Card
from sayso.channels.editor import edit as edit_text
from sayso.channels.editor import editor, from_edit, to_edit
from sayso.channels.filling import fill
from sayso.channels.menu import command, doubt_commands
from sayso.channels.record import ask_record, event_record
from sayso.channels.talk import Talk
from sayso.channels.typed import read_answer, read_changes
from sayso.cli.deciding import How, decide, deciding, pick_option, said_again
from sayso.cli.desks import desk_argument, desk_option, open_desk
from sayso.cli.files import files
from sayso.cli.ids import id_argument
from sayso.cli.listing import Group, list_asks
from sayso.cli.minding import assign, claim, take_back
from sayso.cli.outcome import standing_word
from sayso.cli.printing import emit, examples, json_option, say, show
from sayso.cli.timeline import timeline
from sayso.cli.watching import watch
from sayso.cli.who import naming
from sayso.errors import InvalidAnswer, InvalidEdit
from sayso.model.ask import Ask, Ballot
from sayso.model.folding import as_met
from sayso.model.verdicts import REJECT_KINDS, RejectKind, Verdict


@click.group(
    cls=Group,
    epilog=examples(
        "sayso inbox",
        "sayso inbox show a-7f3k",
        "sayso inbox approve a-7f3k",
        'sayso inbox reject 7f3k "Not a double charge"',
    ),
)
@desk_option
def inbox() -> None:
    """What waits for people, and deciding it. Alone it lists."""


inbox.add_command(list_asks)
inbox.add_command(watch)
for one in (take_back, claim, assign, files):
    inbox.add_command(one)


@inbox.command(
    "show", epilog=examples("sayso inbox show a-7f3k", "sayso inbox show a-7f3k --history")
)
@id_argument
@click.option("--full", is_flag=True, help="Show long texts to their end.")
@click.option("--history", is_flag=True, help="Also show everything that happened to it.")
@desk_option
@json_option
def show_ask(ask_id: str, *, full: bool, history: bool, as_json: bool) -> None:
    """Show all about one ask, and what came of it."""
    with open_desk() as desk:
        desk.sweep()
        ask = desk.get(ask_id)
        roster = desk.store.roster()
        if as_json:
            events = {"history": [event_record(e) for e in desk.history(ask)]} if history else {}
            emit(ask_record(ask, roster) | events)
            return
        who = naming(desk) if ask.open else ""
        show(Card(ask=ask, roster=roster, now=desk.store.now(), full=full))
        if history:
            journal = desk.history(ask)
            show("", *timeline(journal, as_met(ask, journal)))
        if ask.open and ask.kind == "doubt":
            say("\nDecide it, once you have looked at the other side:", "dim")
            for line in doubt_commands(ask, desk=desk_argument()):
                say(f"  {line}{naming(desk)}", "dim")
        elif ask.open:
            first = f"Decide it{_in_words(ask, ask.allow[0])}" if ask.allow else "Decide it"
            say(f"\n{first}: {command(ask, desk=desk_argument())}{who}", "dim")
            others = ", ".join(f"{verdict}{_in_words(ask, verdict)}" for verdict in ask.allow[1:])
            if others:
                say(f"Or instead: {others}", "dim")
        elif (word := standing_word(desk, ask)) is not None:
            say(f"\n{word}", "yellow")


def _in_words(ask: Ask, verdict: Verdict) -> str:
    """Say what a verdict does to an ask whose buttons have other words: ` (run it again)`."""
    button = ask.meaning(verdict).button.lower()
    plain = ask.kind == "action" or button.startswith(verdict)
    return "" if plain else f" ({button})"


@inbox.command(
    "approve",
    epilog=examples(
        "sayso inbox approve a-7f3k",
        "sayso inbox approve a-7f3k --go",
        "sayso inbox approve a-7f3k --seen 9f3c2a1b4d5e --wait",
        "sayso inbox approve a-7f3k --option 2",
    ),
)
@id_argument
@click.option("--option", metavar="N|LABEL", help="Of a choice: the option, by number or label.")
@click.option("--note", help="A word to the agent.")
@click.option(
    "--run-again", is_flag=True, help="Of a doubt: run the call again, which may make it twice."
)
@deciding
def approve(
    ask_id: str, *, option: str | None, note: str | None, run_again: bool, how: How
) -> None:
    """Say yes to what was shown.

    On a terminal the card is shown first. A script names the code of the card it saw. To approve
    a doubt runs its call again: that is asked once more, and a script says it with --run-again.
    """

    def ballot(ask: Ask, talk: Talk | None) -> Ballot:
        if ask.asks_again("approve") and not run_again:
            said_again(ask, talk)
        wanted = pick_option(ask, option, talk) if ask.kind == "choice" else option
        return Ballot(verdict="approve", option=wanted, note=note)

    decide(ask_id, "approve", how, ballot)


@inbox.command(
    "edit",
    epilog=examples(
        "sayso inbox edit a-7f3k --set amount=40",
        'sayso inbox edit a-7f3k --set \'tags=["a", "b"]\' --seen 9f3c2a1b4d5e',
        "sayso inbox edit a-7f3k --set amount=40 --harmful",
        "EDITOR=nano sayso inbox edit a-7f3k",
    ),
)
@id_argument
@click.option(
    "--set", "changes", metavar="NAME=VALUE", multiple=True, help="One change; repeat for more."
)
@click.option("--note", help="A word to the agent.")
@click.option(
    "--harmful/--harmless",
    default=None,
    help="Whether it would have done harm as it was proposed: counts for the trust in the agent.",
)
@deciding
def edit(
    ask_id: str, *, changes: tuple[str, ...], note: str | None, harmful: bool | None, how: How
) -> None:
    """Say yes with changes.

    Without --set your $EDITOR opens with the arguments as JSON, the text of a draft, or the
    steps of a plan one a line. Values keep their types: 40 is a number where a number was.
    """

    def ballot(ask: Ask, talk: Talk | None) -> Ballot:
        return Ballot(verdict="edit", args=edited(ask, talk), note=note, harmful=harmful)

    def edited(ask: Ask, talk: Talk | None) -> Any:  # noqa: ANN401 - by kind
        if changes:
            return read_changes(changes, ask)
        if talk is not None:
            return fill(ask, "edit", talk).args
        if editor() is None:
            raise InvalidEdit(
                f"Say what changes in {ask.id}: --set NAME=VALUE, or set EDITOR to your editor."
            )
        return from_edit(edit_text(to_edit(ask), ask), ask)

    decide(ask_id, "edit", how, ballot)


@inbox.command(
    "reject",
    epilog=examples(
        'sayso inbox reject a-7f3k "Not a double charge"',
        "sayso inbox reject a-7f3k --kind harmful --seen 9f3c2a1b4d5e",
    ),
)
@id_argument
@click.argument("note", required=False)
@click.option("--kind", type=click.Choice(REJECT_KINDS), help="Why it is rejected.")
@click.option("--end", is_flag=True, help="End the run as well.")
@deciding
def reject(ask_id: str, *, note: str | None, kind: RejectKind | None, end: bool, how: How) -> None:
    """Say no, and perhaps why: the note goes to the agent."""

    def ballot(ask: Ask, talk: Talk | None) -> Ballot:
        said = note
        if talk is not None and note is None and how.seen is None:
            said = fill(ask, "reject", talk).note
        return Ballot(verdict="reject", note=said, kind=kind, end=end)

    decide(ask_id, "reject", how, ballot)


@inbox.command(
    "respond",
    epilog=examples(
        'sayso inbox respond a-7f3k "Refund half and apologise"',
        "sayso inbox respond a-7f3k yes --seen 9f3c2a1b4d5e",
    ),
)
@id_argument
@click.argument("answer", required=False)
@click.option("--note", help="A word to the agent.")
@deciding
def respond(ask_id: str, *, answer: str | None, note: str | None, how: How) -> None:
    """Answer a question, or tell the agent something instead of deciding.

    The answer is read as the type that is asked for: 3 is a number where a number is wanted.
    """

    def ballot(ask: Ask, talk: Talk | None) -> Ballot:
        if answer is not None:
            return Ballot(verdict="respond", answer=_answer(ask, answer), note=note)
        if talk is not None:
            return _noted(fill(ask, "respond", talk), note)
        if ask.meaning("respond").takes == "guidance":
            return Ballot(verdict="respond", note=note)
        raise InvalidAnswer(f"Say what you answer: sayso inbox respond {ask.id} ANSWER")

    decide(ask_id, "respond", how, ballot)


def _answer(ask: Ask, typed: str) -> Any:  # noqa: ANN401 - of the asked type
    if ask.meaning("respond").takes != "answer":
        return typed
    return read_answer(typed, ask.content.answer_schema)


def _noted(ballot: Ballot, note: str | None) -> Ballot:
    return Ballot(verdict=ballot.verdict, args=ballot.args, answer=ballot.answer, note=note)
