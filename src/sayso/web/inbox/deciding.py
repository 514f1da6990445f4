"""A verdict as a form says it: what was typed, read against the ask that was shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sayso.asks.deciding import MOST_HOLD, check_shown
from sayso.asks.standing import Standing
from sayso.channels.explanation import MAY_HAPPEN_TWICE
from sayso.errors import BadValue, InvalidAnswer, InvalidEdit
from sayso.model.ask import CONSENTS, Ask, Ballot
from sayso.model.digest import canonical
from sayso.model.ruled import CRITICAL
from sayso.model.stake import touching
from sayso.model.verdicts import REJECT_KINDS, RejectKind, Verdict
from sayso.web.deciding import said
from sayso.web.forms.reading import read_answer, read_form
from sayso.web.forms.sent import Posted, pointer_to
from sayso.web.inbox import planning
from sayso.web.inbox.posting import as_sent, one
from sayso.web.visit import Visit

HOLD = 8.0  # seconds in which whoever decides on a page may undo it
_VERDICTS: tuple[Verdict, ...] = ("approve", "edit", "reject", "respond")
_WITH_REASON = "reject-with"  # a rejection of the menu, with what is ticked there
_RUN_AGAIN = "run-again"  # of a doubt: the answer to the question that is asked once more
_SAID: Mapping[str, Verdict] = {_WITH_REASON: "reject", _RUN_AGAIN: "approve"}
_PART = re.compile(r'(?:^|\.)([^.\[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


@dataclass(frozen=True, slots=True)
class Unconfirmed(Exception):
    """A yes that wants a second word was given without it: which field, and what is wanted."""

    field: str
    words: str


def decided(visit: Visit, at: Standing, fields: Posted, fresh: timedelta) -> Ask:
    """Record what a form says, once.

    Raises:
        Unconfirmed: it is critical and its name was not typed, or a doubt and it was not said twice.
        SaysoError: as `asks.deciding.decide` says.
    """
    seen = one(fields, "seen")
    return said(visit, at, lambda shown: ballot_of(shown, fields, seen), seen=seen, fresh=fresh)


def ballot_of(at: Standing, fields: Posted, seen: str) -> Ballot:
    """Return what a form says to an ask.

    What was typed is read only if it was typed to what is shown now.

    Raises:
        AskClosed, Settling, AskChanged, CallerGone, VerdictNotAllowed: it was not.
        InvalidEdit, InvalidAnswer, BadValue: it does not fit.
        Unconfirmed: it is critical and its name was not typed, or a doubt and it was not said twice.
    """
    ask, verdict = at.ask, verdict_in(fields)
    check_shown(at, verdict, seen)
    _check_confirmed(ask, verdict, fields)
    _check_again(ask, verdict, fields)
    note = one(fields, "note").strip() or None
    held = hold_of(ask, at.now, _seconds(one(fields, "hold")))
    if verdict in CONSENTS and ask.kind != "choice":
        args = edits_of(ask, fields)
        if args is None and verdict == "approve":
            return Ballot("approve", note=note, hold=held)
        whole = ask.args if args is None else args
        return Ballot(
            "edit",
            args=_without_hidden(ask, whole),
            note=note,
            hold=held,
            whole=True,
            harmful=_harmful(ask, whole, fields),
        )
    if verdict == "approve":
        return Ballot("approve", option=_option(ask, fields), note=note, hold=held)
    if verdict == "respond":
        answer, rest = _answer(ask, fields, note)
        return Ballot("respond", answer=answer, note=rest, hold=held)
    # What is ticked in a menu that is closed was not said by the plain button beside it.
    given = one(fields, "verdict") == _WITH_REASON
    why = _why(one(fields, "kind")) if given or ask.kind == "feedback" else None
    ends = given and bool(one(fields, "end"))
    return Ballot("reject", note=note, kind=why, end=ends, hold=held)


def _harmful(ask: Ask, args: Mapping[str, Any], fields: Posted) -> bool | None:
    """Return whether the call would have done harm, if the edit touches what matters for that."""
    before = ask.args if ask.original is None else ask.original
    if ask.stake is None or not touching(ask.content, before, args):
        return None
    return {"yes": True, "no": False}.get(one(fields, "harmful"))


def verdict_in(fields: Posted) -> Verdict:
    """Return the verdict that a form gives; a button of an option is one too.

    Raises:
        BadValue: it gives none.
    """
    given = one(fields, "verdict") or ("approve" if one(fields, "option") else "")
    if given in _SAID:
        return _SAID[given]
    for verdict in _VERDICTS:
        if verdict == given:
            return verdict
    raise BadValue(f"{given!r} is no verdict: approve, edit, reject or respond.")


def hold_of(ask: Ask, now: datetime, wanted: float = HOLD) -> float:
    """Return for how long a decision may be undone: less, if the ask expires sooner."""
    if ask.due_at is None:
        return wanted
    return max(0.0, min(wanted, (ask.due_at - now).total_seconds()))


def confirmation(ask: Ask) -> str | None:
    """Return what must be typed before something critical is agreed to; `None` if it is not.

    The name of the tool; where there is none, the word for what it is: `plan`, `draft`.
    """
    if ask.risk != CRITICAL and not ask.content.ruled.critical:
        return None
    return ask.tool or ask.kind


def _check_confirmed(ask: Ask, verdict: Verdict, fields: Posted) -> None:
    wanted = confirmation(ask)
    if wanted is None or ask.meaning(verdict).stance != "consent":
        return
    if one(fields, "confirm").strip() not in (wanted, ask.id):
        raise Unconfirmed("confirm", f"It is critical: type {wanted} to agree to it.")


def _check_again(ask: Ask, verdict: Verdict, fields: Posted) -> None:
    if ask.asks_again(verdict) and one(fields, "verdict") != _RUN_AGAIN:
        raise Unconfirmed("again", f"{MAY_HAPPEN_TWICE} Press it once more to run it again.")


# --- what was changed --------------------------------------------------------------------------


def edits_of(ask: Ask, fields: Posted) -> dict[str, Any] | None:
    """Return the arguments as they were typed; `None` if they are those that were shown.

    Raises:
        InvalidEdit: they cannot be read, or do not fit.
    """
    args = _typed(ask, fields)
    if args is None or canonical(args) == ask.proposal.arguments:
        return None
    return args


def _typed(ask: Ask, fields: Posted) -> dict[str, Any] | None:
    if ask.kind == "plan":
        steps = planning.edited(ask, fields)
        return None if steps is None else {**ask.args, "steps": steps}
    if ask.kind == "draft":
        return _text(ask, fields)
    if ask.kind != "action" or ask.tool is None:
        return None
    if one(fields, "tab") != "json" and not any("/" in name or name == "#" for name in fields):
        return None
    read = read_form(ask.proposal.schema, ask.args, fields, hidden=ask.content.hidden)
    if read.errors:
        words = "The edit does not fit, and nothing was changed."
        raise InvalidEdit(words, fields=dict(read.errors))
    return _without_rows(ask, read.value, fields)


def _text(ask: Ask, fields: Posted) -> dict[str, Any] | None:
    typed, proposed = fields.get("text"), str(ask.args.get("text", ""))
    if not typed or typed[-1] == as_sent(proposed):
        return None
    return {**ask.args, "text": typed[-1]}


def _without_hidden(ask: Ask, args: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in args.items() if name not in ask.content.hidden}


def _without_rows(ask: Ask, args: dict[str, Any], fields: Posted) -> dict[str, Any]:
    """Take the rows out that were given a no of their own.

    Raises:
        InvalidEdit: rows were also added or taken out in the form, so that places mean two things.
    """
    refused = [name for name in fields if name.startswith("row:") and one(fields, name) == "drop"]
    left = dict(args)
    for name, proposed in ask.args.items():
        pointer = pointer_to("", name)
        if not isinstance(proposed, list) or not any(
            place.startswith(f"row:{pointer}/") for place in refused
        ):
            continue
        rows = left.get(name)
        if not isinstance(rows, list) or len(rows) != len(proposed):
            words = "has other rows in the form: take rows out here or there, not in both"
            raise InvalidEdit("The edit does not fit.", fields={pointer: words})
        left[name] = [row for n, row in enumerate(rows) if f"row:{pointer}/{n}" not in refused]
    return left


# --- what was answered -------------------------------------------------------------------------


def _option(ask: Ask, fields: Posted) -> str:
    """Return the label of the option that was pressed; one that is none is refused as it is.

    Raises:
        BadValue: two labels come back from a browser as the same.
    """
    sent = one(fields, "option")
    meant = [option.label for option in ask.content.options if as_sent(option.label) == sent]
    if len(meant) > 1:
        raise BadValue(
            "Two options differ only in what a browser does not send. Say which one by its "
            f"number: sayso inbox approve {ask.id} --option N"
        )
    return meant[0] if meant else sent


def _answer(ask: Ask, fields: Posted, note: str | None) -> tuple[Any, str | None]:
    """Return the answer, and the note beside it: where words are the answer, there is none."""
    if ask.meaning("respond").takes != "answer":
        return one(fields, "=").strip() or note or "", None
    read = read_answer(ask.content.answer_schema or {}, fields)
    if read.errors:
        raise InvalidAnswer("The answer does not fit the question.", fields=dict(read.errors))
    return read.value, note


def _why(kind: str) -> RejectKind | None:
    for known in REJECT_KINDS:
        if known == kind:
            return known
    if kind:
        raise BadValue(f"kind={kind!r}: a rejection may be {', '.join(REJECT_KINDS)}.")
    return None


def _seconds(text: str) -> float:
    try:
        wanted = float(text)
    except ValueError:
        return HOLD
    return wanted if 0 <= wanted <= MOST_HOLD else HOLD


def pointer_of(path: str) -> str:
    """Return the JSON Pointer of a place that a fault names: `items[2].amount`."""
    if not path or path.startswith(("/", "=")):
        return path
    parts = [name or number or json.loads(quoted) for name, number, quoted in _PART.findall(path)]
    pointer = ""
    for part in parts:
        pointer = pointer_to(pointer, part)
    return pointer
