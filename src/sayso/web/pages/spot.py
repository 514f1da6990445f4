"""Deciding on the spot: what a run asks, beside the run, with everything that would happen.

What weighs much is only named here, and decided on its own page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sayso.asks.standing import Standing
from sayso.errors import SaysoError
from sayso.insight.reading import asks_of
from sayso.model.ask import Ask
from sayso.web.forms.fields import Field, Form
from sayso.web.inbox.arming import weighs
from sayso.web.inbox.bulk import unread
from sayso.web.inbox.filters import Filters
from sayso.web.inbox.pages import card_for
from sayso.web.look.views import AskView
from sayso.web.visit import Visit

DRAWN = 10  # asks beside one run
LOOKED_AT = 50  # of the asks of one run, however many it has


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """An ask beside its run. `light` says whether it can be decided here, `mine` whether by this person."""

    ask: AskView
    light: bool
    mine: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """What a run asks beyond what is drawn beside it, and where it is listed."""

    text: str
    href: str


def more_of(run_id: str, ids: Sequence[str], seen: int) -> More | None:
    """Say how much more a run asks, if `seen` of the asks that were looked at can be seen."""
    beyond = len(ids) > LOOKED_AT
    if seen <= DRAWN and not beyond:
        return None
    text = f"and {seen - DRAWN}{'+' if beyond else ''} more" if seen > DRAWN else "and maybe more"
    return More(text=text, href=Filters(view="team", run=run_id).href())


def open_asks(visit: Visit, ids: Sequence[str]) -> dict[str, Ask]:
    """Return those of these asks that this person sees and that are not closed, by their ids."""
    if not ids:
        return {}
    roster = visit.people
    return {
        ask.id: ask
        for ask in asks_of(visit.store, list(ids))
        if not ask.closed and visit.sees(ask.content.team, ask.content.agent, roster)
    }


def spots_of(visit: Visit, ids: Iterable[str], back: str) -> tuple[Spot, ...]:
    """Return those of these asks that this person sees and that are not closed.

    `back` is the address of the page they are decided on.
    """
    found = []
    for ask_id in ids:
        try:
            at = visit.standing(ask_id)
        except SaysoError:  # of another team, or its journal cannot be read
            continue
        if not at.ask.closed:
            found.append(_spot(visit, at, back))
    return tuple(found)


def _spot(visit: Visit, at: Standing, back: str) -> Spot:
    ask, view = at.ask, card_for(visit, at)
    mine = ask.open and view.barred is None
    light = (
        mine
        and ask.kind == "action"
        and not ask.gone
        and not weighs(ask)
        and unread(ask) is None
        and any(button.verdict == "approve" for button in view.buttons)
        and not _more(view)
    )
    form = None if view.form is None else _apart(view.form, view.id)
    return Spot(ask=replace(view, form=form, query=back), light=light, mine=mine)


def _more(view: AskView) -> bool:
    """Whether there is more to see than a spot shows: only the ask's own page shows all of it."""
    changed = view.stale_preview or view.changes or view.amended
    return bool(changed or view.files or view.evidence)


def _apart(form: Form, ask_id: str) -> Form:
    """Return a form whose fields have names of their own on a page with several forms."""
    return replace(form, fields=tuple(_named(one, ask_id) for one in form.fields))


def _named(one: Field, ask_id: str) -> Field:
    inner = tuple(_named(child, ask_id) for child in one.children)
    return replace(one, id=f"{ask_id}-{one.id}", children=inner)
