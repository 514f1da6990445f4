"""What comes of a form that decides: the next ask, or the same one with what stands in the way."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from sayso.asks.assigning import assign, claim
from sayso.asks.standing import Standing
from sayso.asks.taking_back import take_back
from sayso.asks.vouching import incident
from sayso.errors import (
    AskClosed,
    BadPolicy,
    BadValue,
    InvalidAnswer,
    InvalidEdit,
    SaysoError,
    SignInAgain,
    UnknownPerson,
)
from sayso.model.ask import Ask
from sayso.web.faces import from_script
from sayso.web.forms.editing import edit
from sayso.web.forms.sent import Posted
from sayso.web.inbox import planning
from sayso.web.inbox.card import UNTOUCHED, Entry
from sayso.web.inbox.deciding import Unconfirmed, decided, edits_of, pointer_of
from sayso.web.inbox.filters import Filters, saying
from sayso.web.inbox.pages import screen, shown
from sayso.web.inbox.posting import one
from sayso.web.inbox.queue import inbox_of, next_after
from sayso.web.inbox.rebasing import rebased, seen_as
from sayso.web.look.views import Toast
from sayso.web.problems import status_of, words_of
from sayso.web.visit import Visit

# Pages beside the inbox on which an ask can be decided: addresses of our own, nothing else.
_PAGES = re.compile(r"/(overview|runs/[A-Za-z0-9._-]{1,200})(\?[\w=&.%-]{0,400})?")
_WRITTEN = ("text", "guidance")  # answers that are the note itself
_TOLD = (403, 409, 422)  # what is said on the page of the ask; everything else is a page of its own


@dataclass(frozen=True, slots=True)
class Sent:
    """A form that somebody sent from the page of an ask."""

    request: Request
    visit: Visit
    filters: Filters
    fields: Posted
    ask_id: str

    def answered(
        self, at: Standing, entry: Entry, status: int, toast: Toast | None = None
    ) -> Response:
        """Show the same ask again, with everything that was typed."""
        made = replace(screen(self.visit, self.filters, at, entry=entry), toast=toast)
        return shown(self.request, self.visit, made, self.filters, status=status)

    @property
    def page(self) -> str | None:
        """The page beside the inbox that it was sent from; `None` if it was not."""
        said = one(self.fields, "back")
        return said if _PAGES.fullmatch(said) else None

    def back(self) -> Response:
        """Go back to the ask, as it is now, or to the page it was decided on."""
        if self.page is not None:
            return RedirectResponse(self.page, 303)
        to = self.filters.href(f"/inbox/{self.ask_id}")
        if not from_script(self.request):
            return RedirectResponse(to, 303)
        made = screen(self.visit, self.filters, self.visit.standing(self.ask_id))
        return shown(self.request, self.visit, made, self.filters, push=to)


def filters_in(request: Request, fields: Posted) -> Filters:
    """Return the filters of the page that a form was sent from."""
    back = one(fields, "back")
    said = back.removeprefix("?") if not back.startswith("/") else ""
    return Filters.of(dict(parse_qsl(said)) if said else request.query_params)


def decide(sent: Sent, fresh: timedelta) -> Response:
    """Decide an ask, and go on with the next one of the same queue."""
    visit, filters = sent.visit, sent.filters
    at, before = visit.standing(sent.ask_id), inbox_of(visit, filters)
    try:
        decided(visit, at, sent.fields, fresh)
    except (SaysoError, Unconfirmed) as error:
        return _told(sent, error)
    if sent.page is not None:
        return RedirectResponse(saying(sent.page, done=sent.ask_id), 303)
    now = inbox_of(visit, filters)
    following = next_after(before, sent.ask_id, now)
    path = "/inbox" if following is None else f"/inbox/{following}"
    if not from_script(sent.request):
        return RedirectResponse(filters.saying(path, done=sent.ask_id), 303)
    then = None if following is None else visit.standing(following)
    made = screen(visit, filters, then, done=sent.ask_id, inbox=now)
    return shown(sent.request, visit, made, filters, push=filters.href(path))


def _told(sent: Sent, error: SaysoError | Unconfirmed) -> Response:
    """Say on the page what stands in the way.

    Raises:
        SaysoError: it has nothing to do with this ask.
    """
    if isinstance(error, Unconfirmed):
        status = 422
    else:
        status = status_of(error)
        if status not in _TOLD:
            raise error
    at = sent.visit.standing(sent.ask_id)
    return sent.answered(at, entry_for(error, at, sent.fields, sent.filters), status)


def entry_for(
    error: SaysoError | Unconfirmed, at: Standing, fields: Posted, filters: Filters
) -> Entry:
    """Return what was typed with what is wrong: on its fields, or above all of them."""
    ask = at.ask
    if isinstance(error, Unconfirmed):
        return Entry(fields=fields, wrong=((f"{error.field}-{ask.id}", error.words),))
    if isinstance(error, InvalidEdit | InvalidAnswer) and error.fields:
        return Entry(fields=fields, errors=_on_fields(error.fields, ask))
    if isinstance(error, InvalidAnswer) and ask.meaning("respond").takes in _WRITTEN:
        return Entry(fields=fields, wrong=((f"note-{ask.id}", str(error)),))
    if isinstance(error, BadPolicy):
        return Entry(fields=fields, wrong=(("", words_of(error)),))
    if status_of(error) == 409:  # the banner says it; the edits are checked against what is now
        return checked(at, fields)
    back = urlencode({"next": filters.href(f"/inbox/{ask.id}")})
    again = f"/sign-in?{back}" if isinstance(error, SignInAgain) else None
    return Entry(fields=fields, wrong=(("", str(error)),), sign_in=again)


def checked(at: Standing, fields: Posted) -> Entry:
    """Return what was typed, read against the ask as it is now."""
    ask, seen = at.ask, one(fields, "seen") or None
    before = seen_as(at, seen)
    kept = fields if before is None else rebased(before, ask, fields)
    try:
        edits_of(ask, kept)
    except InvalidEdit as error:
        return Entry(fields=kept, errors=_on_fields(error.fields, ask), seen=seen)
    except BadValue as error:
        return Entry(fields=kept, wrong=(("", str(error)),), seen=seen)
    return Entry(fields=kept, seen=seen)


def _on_fields(found: dict[str, str], ask: Ask) -> dict[str, str]:
    if ask.kind == "question" or "=" in found:
        return {
            path if path.startswith("=") else f"={pointer_of(path)}": text
            for path, text in found.items()
        }
    return {pointer_of(path): text for path, text in found.items()}


def edited(sent: Sent, do: str) -> Response:
    """Change what is typed without deciding anything: a step is moved, a row is added, or nothing."""
    at, fields = sent.visit.standing(sent.ask_id), sent.fields
    if do and do != "preview":
        if at.ask.kind == "plan":
            fields = planning.changed(at.ask, fields, do)
        else:
            fields = edit(at.ask.proposal.schema, fields, do)
    entry = checked(at, fields)
    if do != "preview":  # what is unfinished is not wrong yet
        entry = replace(entry, errors={}, wrong=())
    return sent.answered(at, entry, 200)


def undone(sent: Sent) -> Response:
    """Take one's word back while it settles: the ask is open again."""
    visit, ask_id = sent.visit, sent.ask_id
    at = visit.standing(ask_id)
    if at.ask.open:  # undone before, or never done: there is nothing to say
        return sent.back()

    try:
        take_back(visit.store, ask_id, by=visit.caller.name, origin=visit.origin, note=None)
    except AskClosed:
        late = Toast(text="Too late to undo: it counts already.", ask=ask_id)
        return sent.answered(visit.standing(ask_id), UNTOUCHED, 409, late)
    except SaysoError as error:
        return _told(sent, error)
    return sent.back()


def claimed(sent: Sent) -> Response:
    """Tell others that one is looking into an ask."""
    visit = sent.visit
    visit.standing(sent.ask_id)
    try:
        claim(visit.store, sent.ask_id, by=visit.caller.name, origin=visit.origin)
    except SaysoError as error:
        return _told(sent, error)
    return sent.back()


def harmed(sent: Sent) -> Response:
    """Report that a call which was carried out did harm."""
    visit, harm = sent.visit, one(sent.fields, "harm").strip()
    at = visit.standing(sent.ask_id)

    def act() -> Ask:
        name = visit.caller.name
        return incident(visit.store, sent.ask_id, harm, by=name, origin=visit.origin)

    try:
        visit.once(sent.ask_id, ("incident.reported",), act, at)
    except SaysoError as error:
        if status_of(error) not in _TOLD:
            raise
        wrong = Entry(wrong=((f"harm-words-{sent.ask_id}", str(error)),))
        return sent.answered(visit.standing(sent.ask_id), wrong, status_of(error))
    return sent.back()


def assigned(sent: Sent) -> Response:
    """Give an ask to somebody to look into, or back to nobody in particular."""
    visit, to = sent.visit, one(sent.fields, "to").strip() or None
    at = visit.standing(sent.ask_id)
    stranger = Entry(wrong=(("", f"{to} is nobody who could look into it."),))
    if to is not None and not at.roster.sees(to, at.ask.content.team):
        return sent.answered(at, stranger, 422)

    def act() -> Ask:
        return assign(visit.store, sent.ask_id, to, by=visit.caller.name, origin=visit.origin)

    try:
        visit.once(sent.ask_id, ("ask.assigned",), act)
    except UnknownPerson:  # they left a moment ago
        return sent.answered(at, stranger, 422)
    except SaysoError as error:
        return _told(sent, error)
    return sent.back()
