"""Deciding from the command line: what was seen, who decides, and what comes of it.

On a terminal the card is shown and a yes is asked for. A script has to name the
digest it was shown (`--seen`): deciding what nobody looked at is refused.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import click

from sayso.asks.deciding import check_fits
from sayso.asks.identity import reviewer
from sayso.asks.spending import of_run
from sayso.channels.card import Card, outcome
from sayso.channels.changes import Changes
from sayso.channels.explanation import MAY_HAPPEN_TWICE
from sayso.channels.filling import Back, fill, sure_of_again, with_harm
from sayso.channels.keyboard import Keyboard
from sayso.channels.menu import offers
from sayso.channels.record import ask_record
from sayso.channels.talk import InputEnded, Talk
from sayso.cli.apps import with_code
from sayso.cli.desks import desk_option, open_desk
from sayso.cli.going import carried_on, leaving
from sayso.cli.outcome import End, ended, tell, tell_at_once, tell_end, unserved, went_well
from sayso.cli.printing import emit, failure, json_option, say
from sayso.cli.run_words import run_record, tell_standing
from sayso.cli.run_words import went_well as fine
from sayso.cli.telling import LINES, QUIET, Telling
from sayso.cli.who import as_option, decider
from sayso.desk import Desk
from sayso.errors import (
    AskChanged,
    AskClosed,
    BadValue,
    InvalidAnswer,
    Misuse,
    Settling,
    VerdictNotAllowed,
)
from sayso.model.ask import Ask, Ballot
from sayso.model.span import span
from sayso.model.verdicts import Kind, Verdict

F = TypeVar("F", bound=Callable[..., Any])
_SHORTEST = 8
_QUESTIONS: dict[Verdict, str] = {
    "approve": "Approve this?",
    "edit": "Approve it with these changes?",
    "reject": "Reject this?",
    "respond": "Send this answer?",
}
# Where the word of the verdict would ask for something else: a yes to "did it happen?" pays twice.
_ASKED: dict[tuple[Kind, Verdict], str] = {
    ("plan", "reject"): "Cancel this plan?",
    ("draft", "reject"): "Drop this?",
    ("question", "reject"): "Leave it unanswered?",
    ("choice", "approve"): "Choose this?",
    ("choice", "reject"): "None of these?",
    ("notice", "reject"): "Ignore this?",
    ("feedback", "approve"): "Call it good?",
    ("feedback", "reject"): "Call it bad?",
    ("feedback", "respond"): "Send this comment?",
    ("doubt", "approve"): "Run it again?",
    ("doubt", "respond"): "It happened, with this result?",
    ("doubt", "reject"): "Leave it as it is?",
}


@dataclass(frozen=True, slots=True)
class How:
    """The options that every deciding command takes."""

    seen: str | None
    person: str | None
    go: bool
    wait: bool
    timeout: float | None
    hold: float | None
    as_json: bool


def deciding(command: F) -> F:
    """Give a command the options of deciding, gathered in one argument `how`."""

    @functools.wraps(command)
    def gathered(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - options of the command
        names = ("seen", "person", "go", "wait", "timeout", "hold", "as_json")
        how = How(**{name: given.pop(name) for name in names})
        return command(*args, how=how, **given)

    taking: Any = gathered
    options = (
        *(_seen_option, as_option, _hold_option, _go_option, _wait_option),
        *(desk_option, json_option),
    )
    for option in reversed(options):
        taking = option(taking)
    return cast("F", taking)


def _seen_option(command: F) -> F:
    return click.option(
        "--seen",
        metavar="CODE",
        help="The code on the card you saw (`inbox show` prints it). Decides at once.",
    )(command)


def _go_option(command: F) -> F:
    return click.option(
        "--go", is_flag=True, help="Carry the run on right here afterwards. Exit 1 if it fails."
    )(command)


def _hold_option(command: F) -> F:
    return click.option(
        "--hold",
        metavar="SPAN",
        callback=_seconds,
        help='For so long ("30s", "5m") it can be taken back before it counts.',
    )(command)


def _seconds(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    return None if value is None else span(_number(value)).total_seconds()


def _wait_option(command: F) -> F:
    command = click.option(
        "--timeout", metavar="SPAN", callback=_seconds, help='With --wait: at most "30s", "5m", ...'
    )(command)
    return click.option(
        "--wait", is_flag=True, help="Wait for what comes of it, and say so. Exit 1 if it fails."
    )(command)


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def decide(
    ask_id: str, verdict: Verdict, how: How, make: Callable[[Ask, Talk | None], Ballot]
) -> None:
    """Decide one ask: look at it, make the ballot, ask for a yes, and say what came of it.

    `make` gets the person at the terminal, or `None` when a script decides. It
    may raise `Back` or `InputEnded`: then nothing is decided.
    """
    with open_desk() as desk:
        desk.sweep()
        ask = desk.get(ask_id)
        by = decider(desk, how.person)
        reviewer(ask, desk.store.roster(), by, desk.origin)  # before anything of it is shown
        if ask.settling:
            raise Settling(ask, attempted=verdict)
        if not ask.open:
            raise AskClosed(ask, attempted=verdict)
        talk = _talk(ask, verdict, how)
        _check(ask, verdict, how)
        able = _able(desk, ask) if how.go else None
        if talk is not None and how.seen is None:
            _show(desk, ask, talk)
        try:
            ballot = make(ask, talk)
            if talk is not None and how.seen is None:
                check_fits(ask, ballot)
                _confirm(ask, ballot, talk)
                ballot = with_harm(ask, ballot, talk)
        except (Back, InputEnded, KeyboardInterrupt) as reason:
            if isinstance(reason, KeyboardInterrupt):
                say("")  # after the ^C
            failure(
                "not-decided",
                f"Nothing was decided: {ask.id} stays open. {reason}".strip(),
                as_json=how.as_json,
            )
            click.get_current_context().exit(1)
        decided = _cast(desk, ask, ballot._replace(hold=how.hold or 0.0), by)
        if able is None or not decided.closed:
            _report(desk, decided, how)
        else:
            _go_on(able, decided, how)


def _able(desk: Desk, ask: Ask) -> Desk:
    """Return a desk that has the code of the ask's run, before anything is decided.

    Raises:
        Misuse: it belongs to no run, or the code is not here.
    """
    if not of_run(ask):
        raise Misuse(
            f"{ask.id} was not asked by a run, so --go has nothing to carry on. Leave it out; "
            "nothing was decided."
        )
    return with_code(desk, desk.get_run(str(ask.content.run)).row)


def _go_on(desk: Desk, decided: Ask, how: How) -> None:
    """Carry the run of a decided ask on, and say how it is left."""
    if not how.as_json:
        say(f"{decided.id} {outcome(decided)}; {decided.content.run} goes on here.", "green")
    name = desk.get_run(str(decided.content.run)).workflow
    telling = Telling(name, QUIET if how.as_json else LINES)
    try:
        with leaving(desk, str(decided.content.run)):
            run = carried_on(desk, str(decided.content.run), telling)
        if how.as_json:
            now = desk.get(decided.id)
            emit(ask_record(now, desk.store.roster()) | {"carried_on": run_record(run)})
        else:
            tell_standing(desk, run)
        if not fine(run.row):
            click.get_current_context().exit(1)
    finally:
        desk.close()


def _talk(ask: Ask, verdict: Verdict, how: How) -> Talk | None:
    """Return the person at this terminal.

    Raises:
        Misuse: there is none, and what was seen is not named either.
    """
    keys = Keyboard()
    if keys.present() and sys.stdout.isatty():
        return Talk(keys, sys.stdout)
    if how.seen is not None:
        return None
    raise Misuse(
        f"There is no terminal to show {ask.id} on, so say what you saw: `sayso inbox show "
        f"{ask.id}` prints a code, then: sayso inbox {verdict} {ask.id} --seen CODE"
    )


def _check(ask: Ask, verdict: Verdict, how: How) -> None:
    """Refuse early what could not be taken anyway, before anybody types a word."""
    if how.seen is not None:
        code = how.seen.strip().lower()
        if len(code) < _SHORTEST:
            raise BadValue(
                f"--seen {how.seen!r} is too short: give at least {_SHORTEST} characters."
            )
        if not ask.digest.startswith(code):
            raise AskChanged(ask, code)
    # What its program left behind has an error of its own (`CallerGone`), which says more.
    if verdict not in ask.allow and not ask.gone:
        raise VerdictNotAllowed(ask, verdict, ask.allow)


def _show(desk: Desk, ask: Ask, talk: Talk) -> None:
    talk.show(Card(ask=ask, roster=desk.store.roster(), now=desk.store.now()), "")
    talk.forget()


def _confirm(ask: Ask, ballot: Ballot, talk: Talk) -> None:
    """Show what an edit would change, and ask for a yes.

    Raises:
        Back: the person did not say yes.
    """
    if ballot.args is not None:
        name = "text" if ask.kind == "draft" else "steps"
        changes = ballot.args if isinstance(ballot.args, dict) else {name: ballot.args}
        after = {**ask.args, **changes}
        talk.show(Changes(ask.args, after, plan=ask.kind == "plan"), "")
    plain = _QUESTIONS[ballot.verdict]
    if ask.content.ignores and ballot.verdict == "reject":
        plain = "Ignore this?"
    if not talk.agrees(_ASKED.get((ask.kind, ballot.verdict), plain)):
        raise Back


def said_again(ask: Ask, talk: Talk | None) -> None:
    """Ask once more before a call in doubt is run again.

    Raises:
        Misuse: nobody is here to be asked, and nothing was said.
        Back: the person is not sure.
        InputEnded: nobody will type any more.
    """
    if talk is None:
        raise Misuse(
            f"{ask.id} is a doubt, and to approve it runs its call again. {MAY_HAPPEN_TWICE} If it "
            f"happened: sayso inbox respond {ask.id} RESULT --seen CODE. If it did not, say so: "
            f"sayso inbox approve {ask.id} --seen CODE --run-again"
        )
    sure_of_again(talk)


def pick_option(ask: Ask, wanted: str | None, talk: Talk | None) -> str | None:
    """Return the label of the wanted option, given as its label or as its number."""
    labels = [offer.option for offer in offers(ask) if offer.option is not None]
    if wanted is None and talk is not None:
        wanted = talk.line(f"Which option (1-{len(labels)})? ").strip()
    if wanted is None:
        raise InvalidAnswer(f"Say which option: --option N, from 1 to {len(labels)}.")
    if wanted not in labels and wanted.isdecimal() and 1 <= int(wanted) <= len(labels):
        return labels[int(wanted) - 1]
    return wanted


def decided_here(
    desk: Desk,
    ask: Ask,
    verdict: Verdict,
    talk: Talk,
    *,
    by: str | None,
    kept: MutableMapping[str, str],
) -> Ask:
    """Decide an ask that this person has on the screen: fill in the ballot and ask for a yes.

    Raises:
        Back: the person did not say yes.
        InputEnded: nobody will type any more.
        SaysoError: it cannot be decided so; nothing was changed.
    """
    if verdict not in ask.allow:
        raise VerdictNotAllowed(ask, verdict, ask.allow)
    picks = ask.meaning(verdict).takes == "option"
    option = pick_option(ask, None, talk) if picks else None
    ballot = fill(ask, verdict, talk, option=option, kept=kept)
    _confirm(ask, ballot, talk)
    return _cast(desk, ask, with_harm(ask, ballot, talk), by)


def _cast(desk: Desk, ask: Ask, ballot: Ballot, by: str | None) -> Ask:
    return desk.decide(
        ask,
        ballot.verdict,
        by=by,
        args=ballot.args,
        answer=ballot.answer,
        option=ballot.option,
        note=ballot.note,
        kind=ballot.kind,
        end=ballot.end,
        hold=ballot.hold,
        harmful=ballot.harmful,
    )


def _report(desk: Desk, decided: Ask, how: How) -> None:
    """Say what the decision did and, where somebody waits for it, what came of it."""
    try:
        _tell_all(desk, decided, how)
    except KeyboardInterrupt:  # the decision stands; only the waiting ends
        later = f"What you said is recorded. Look later: sayso inbox show {decided.id}"
        if how.as_json:
            failure("still-running", later, as_json=True)
        else:
            say(f"\n{later}", "dim")
        if how.wait:
            click.get_current_context().exit(1)


def _tell_all(desk: Desk, decided: Ask, how: How) -> None:
    if not how.as_json:
        tell(desk, decided)
        if not how.wait and sys.stdout.isatty():
            tell_at_once(desk, decided)
    end = ended(desk, decided.id, how.timeout) if how.wait else End(decided)
    if how.as_json:
        emit(ask_record(end.ask, desk.store.roster()) | {"unserved": unserved(desk, end.ask)})
    elif how.wait and end.trouble is None:
        tell_end(end.ask)
    if end.trouble is not None:
        failure("still-running", end.trouble, as_json=how.as_json)
    if end.trouble is not None or (how.wait and not went_well(end.ask)):
        click.get_current_context().exit(1)
