"""Filling in a ballot: the note, the answer or the edit that goes with a verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from typing import Any

from sayso.channels.editor import edit, from_edit, to_edit
from sayso.channels.explanation import MAY_HAPPEN_TWICE
from sayso.channels.replanning import replanned
from sayso.channels.talk import Talk
from sayso.channels.typed import in_words, read_answer, read_changes
from sayso.errors import BadValue
from sayso.model.ask import Ask, Ballot
from sayso.model.faults import findings, gathered
from sayso.model.stake import matters_of, touching
from sayso.model.text import one_line
from sayso.model.verdicts import Verdict

_HARM = "Would it have done harm as it was proposed? (y/n, Enter: don't know) "
_SAID: Mapping[str, bool | None] = {"y": True, "yes": True, "n": False, "no": False, "": None}


_AGAIN = "again"


class Back(Exception):
    """Nothing was filled in; the person wants, or has, to choose again."""


def fill(
    ask: Ask,
    verdict: Verdict,
    talk: Talk,
    *,
    option: str | None = None,
    kept: MutableMapping[str, str] | None = None,
) -> Ballot:
    """Ask for what goes with a verdict, and return the ballot.

    `kept` remembers what was written in the editor for each digest, so that a
    refused edit can be mended instead of written again.

    Raises:
        Back: nothing came of it.
        InputEnded: nobody will type any more.
    """
    if ask.asks_again(verdict):
        sure_of_again(talk)
    more: dict[str, Any] = {}
    match ask.meaning(verdict).takes:
        case "nothing":
            pass
        case "option":
            more["option"] = option
        case "note":
            words = talk.line("Why? Your words go to the agent (Enter for none): ")
            more["note"] = words.strip() or None
        case "text":
            more["answer"] = _words(talk)
        case "guidance":
            more["answer"] = talk.line("In which way? (Enter for none): ")
        case "answer":
            more["answer"] = _answered(ask, talk)
        case "args":
            more["args"] = edited(ask, talk, {} if kept is None else kept)
    return Ballot(verdict=verdict, **more)


def sure_of_again(talk: Talk) -> None:
    """Ask once more before a call is made that may have happened already.

    Raises:
        Back: the person is not sure.
        InputEnded: nobody will type any more.
    """
    talk.say(f"{MAY_HAPPEN_TWICE} Look at the other side first.", "yellow")
    if talk.line(f"Type {_AGAIN} to run it again: ").strip().lower() != _AGAIN:
        raise Back("It was not run again.")


def with_harm(ask: Ask, ballot: Ballot, talk: Talk) -> Ballot:
    """Ask whether the call would have done harm as it was, if an edit touches what matters.

    It is asked only where the answer counts, for a call by which trust is earned, and where its tool
    says what matters: nobody is asked about every word that they change.

    Raises:
        InputEnded: nobody will type any more.
    """
    known = ballot.verdict != "edit" or ballot.harmful is not None
    if known or ask.stake is None or not isinstance(ballot.args, dict):
        return ballot
    if not matters_of(ask.content):
        return ballot
    before = ask.args if ask.original is None else ask.original
    if not touching(ask.content, before, {**ask.args, **ballot.args}):
        return ballot
    while (typed := talk.line(_HARM).strip().lower()) not in _SAID:
        talk.say("Please type y or n, or nothing.", "yellow")
    return ballot._replace(harmful=_SAID[typed])


def _answered(ask: Ask, talk: Talk) -> Any:  # noqa: ANN401 - of the asked type
    schema = ask.content.answer_schema
    asked = "What it returned" if ask.kind == "doubt" else "Your answer"
    typed = talk.line(f"{asked} ({in_words(schema)}): ")
    if not typed.strip():  # Enter alone answers nothing; an empty text is said as an argument
        raise Back("Nothing was answered.")
    return read_answer(typed, schema)


def _words(talk: Talk) -> str:
    words = talk.line("Your words to the agent: ")
    if not words.strip():
        raise Back("Nothing was said.")
    return words


def edited(ask: Ask, talk: Talk, kept: MutableMapping[str, str]) -> Any:  # noqa: ANN401 - by kind
    """Let the person change what is proposed: in their editor if they have one, else by typing.

    Raises:
        Back: nothing was changed, or it cannot be read.
        InputEnded: nobody will type any more.
    """
    try:
        if talk.has_editor:
            return _in_editor(ask, kept)
        if ask.kind == "plan":
            return _replanned(ask, talk, kept)
        return _text(talk) if ask.kind == "draft" else _changes(ask, talk)
    except BadValue as error:
        raise Back(str(error)) from error


def _in_editor(ask: Ask, kept: MutableMapping[str, str]) -> Any:  # noqa: ANN401 - by kind
    before = to_edit(ask)
    after = edit(kept.get(ask.digest, before), ask)
    kept[ask.digest] = after
    if after == before:
        raise Back("Nothing was changed.")
    return from_edit(after, ask)


def _replanned(ask: Ask, talk: Talk, kept: MutableMapping[str, str]) -> list[Any]:
    """Let the person change the plan by commands; a refused one is there to be mended."""
    earlier = kept.get(ask.digest)
    steps = replanned(ask, talk, None if earlier is None else json.loads(earlier))
    if steps is None:
        raise Back("Nothing was changed.")
    kept[ask.digest] = json.dumps(steps)
    return steps


def _text(talk: Talk) -> str:
    talk.say("Type the new text. A line with only a dot ends it.")
    lines: list[str] = []
    while (line := talk.line("")) != ".":
        lines.append(line)
    if not any(line.strip() for line in lines):
        raise Back("Nothing was changed.")
    return "\n".join(lines)


def _changes(ask: Ask, talk: Talk) -> dict[str, Any]:
    talk.say("Type name=value, one change a line. An empty line ends it.")
    changes: dict[str, Any] = {}
    while line := talk.line("change: ").strip():
        try:
            changes |= _fitting(read_changes([line], ask), changes, ask)
        except BadValue as error:
            talk.say(str(error), "red")
    if not changes:
        raise Back("Nothing was changed.")
    return changes


def _fitting(typed: dict[str, Any], before: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """Return a change that fits its argument; what only fits with others is said when all is typed.

    Raises:
        BadValue: it does not, or it may not be changed.
    """
    found = findings(ask.proposal.schema, {**ask.args, **before, **typed})
    for name in typed:
        if name in ask.content.hidden:
            raise BadValue(f"{one_line(name, 60)} is hidden on this ask and cannot be edited.")
        wrong = gathered(fault for fault in found if fault[0][:1] == (name,))
        if wrong:
            said = "; ".join(f"{one_line(place, 60)} {words}" for place, words in wrong.items())
            raise BadValue(f"{said}. Not changed.")
    return typed
