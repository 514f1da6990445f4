"""The calls of one turn on one page: a verdict for each, sent together, decided one by one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sayso.asks.standing import Standing
from sayso.errors import AskClosed, SaysoError, Settling
from sayso.model.ask import Ballot
from sayso.web.deciding import said
from sayso.web.forms.sent import Posted
from sayso.web.inbox.card import so_far
from sayso.web.inbox.context import NUMBER, siblings, told_of
from sayso.web.inbox.deciding import HOLD, Unconfirmed, ballot_of, hold_of
from sayso.web.inbox.posting import one
from sayso.web.problems import words_of
from sayso.web.visit import Visit


def calls_of(visit: Visit, ask_id: str) -> list[Standing]:
    """Return the calls of the turn that an ask is from, in the order they were made.

    Raises:
        UnknownAsk: there is no such ask for this person.
    """
    at = visit.standing(ask_id)
    found = siblings(at.ask, told_of(visit, at.ask))
    calls = [at, *(visit.standing(one.id) for one in found)]
    return sorted(calls, key=lambda call: _place(call.ask.key or ""))


def _place(key: str) -> list[int]:
    return [int(part) for part in key.partition(":")[2].split(".") if NUMBER.fullmatch(part)]


def decide_each(
    visit: Visit, calls: Sequence[Standing], fields: Posted, fresh: timedelta
) -> dict[str, str]:
    """Decide those calls for which a verdict was chosen, and say what came of each."""
    wanted = [at for at in calls if one(fields, f"verdict:{at.ask.id}")]
    return {at.ask.id: _decided(visit, at, fields, fresh) for at in wanted}


def _decided(visit: Visit, at: Standing, fields: Posted, fresh: timedelta) -> str:
    own = _own(at.ask.id, fields)
    seen = one(own, "seen")

    def ballot(shown: Standing) -> Ballot:
        said_now = ballot_of(shown, own, seen)
        return said_now._replace(hold=hold_of(shown.ask, shown.now, HOLD))

    try:
        ask = said(visit, at, ballot, seen=seen, fresh=fresh)
    except (AskClosed, Settling):
        return f"already {so_far(visit.standing(at.ask.id).ask)}"
    except Unconfirmed as error:
        return f"not decided: open it. {error.words}"
    except SaysoError as error:
        return f"not decided: {words_of(error)}"
    return so_far(ask) if not ask.open else "recorded; others must agree too"


def _own(ask_id: str, fields: Posted) -> Posted:
    """Return the fields of one call as its own page would send them."""
    names = ("verdict", "seen", "note", "kind", "end", "confirm")
    return {name: fields[f"{name}:{ask_id}"] for name in names if f"{name}:{ask_id}" in fields}
