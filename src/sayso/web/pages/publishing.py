"""Putting a policy in force: it is written, shown with what it changes, and confirmed.

The page that shows the difference is the question: nothing is written before its button is pressed.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import Caller
from sayso.asks.own_policy import MOST
from sayso.asks.publishing import Policies
from sayso.errors import SaysoError
from sayso.policy.rules import Policy
from sayso.web.accounts import fresh_of, is_fresh
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.views import Place
from sayso.web.pages.board import board, person
from sayso.web.pages.foreseeing import foreseen
from sayso.web.pages.sure import Refused, refused
from sayso.web.publishing import put
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_ADMIN = person("admin")
_PATH = "/policies/write"
NOTE = 1000  # characters that say why


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked before a policy is put in force: which one, by which form, where else to go.

    `hidden` goes with the form; `change` says that its text can be written on.
    """

    title: str
    action: str
    button: str
    back: str
    hidden: tuple[tuple[str, str], ...] = ()
    change: bool = False
    note: str = ""
    place: Place = "policies"


@router.get(_PATH)
async def write(request: Request, who: Caller = _ADMIN) -> Response:
    """Show the policy in force as a text that can be changed."""
    visit = visit_of(request, who)

    def made() -> Response:
        return _writing(request, visit, text_in_force(visit) or "")

    return await service_of(request).work(made)


@router.post(_PATH)
async def written(request: Request, who: Caller = _ADMIN) -> Response:
    """Show what a text would change, put it in force, or hand it back to be written on."""
    fields = await posted(request)
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _written(request, visit, fields))


def _written(request: Request, visit: Visit, fields: Posted) -> Response:
    text, do = value_of(fields, "text"), value_of(fields, "do")
    note = value_of(fields, "note").strip()[:NOTE]
    if do == "write":
        return _writing(request, visit, text)
    try:
        policy = visit.desk.policies.proposed(text).policy
    except SaysoError as error:
        return _writing(request, visit, text, refused(error, _PATH))
    question = question_of(text, note)
    if do != "put":
        return ask_for(request, visit, policy, question)
    over = value_of(fields, "over")
    compared = int(over) if over.isdecimal() and len(over) < 10 else None
    try:
        said = put(visit, fresh_of(request), text, note=note or None, over=compared)
    except SaysoError as error:
        return ask_for(request, visit, policy, question, refused(error, _PATH))
    return RedirectResponse(f"/policies/versions/{said['version']}", 303)


def question_of(text: str, note: str = "", place: Place = "policies") -> Question:
    """Return the question before a text is put in force."""
    return Question(
        title="Put this policy in force?",
        action=_PATH,
        button="Put it in force",
        back="/policies",
        hidden=(("text", text),),
        change=True,
        note=note,
        place=place,
    )


def _writing(request: Request, visit: Visit, text: str, refusal: Refused | None = None) -> Response:
    published = visit.desk.policies.in_force
    return board(
        request,
        visit,
        "policy_write.html",
        "Write a policy",
        "policies",
        status=200 if refusal is None else refusal.status,
        text=text,
        most=MOST,
        refusal=refusal,
        published=published,
        fresh=is_fresh(visit, fresh_of(request)),
    )


def ask_for(
    request: Request,
    visit: Visit,
    policy: Policy,
    question: Question,
    refusal: Refused | None = None,
) -> Response:
    """Ask whether a policy is to be put in force, and say what it changes."""
    policies: Policies = visit.desk.policies
    return board(
        request,
        visit,
        "policy_put.html",
        question.title,
        question.place,
        status=200 if refusal is None else refusal.status,
        question=question,
        found=foreseen(visit, policies, policy),
        refusal=refusal,
        solo=visit.people.solo,
        fresh=is_fresh(visit, fresh_of(request)),
        most=NOTE,
    )


def text_in_force(visit: Visit) -> str | None:
    """Return the text in force, empty for the built-in policy; `None` of one made in code."""
    published = visit.desk.policies.in_force
    if published is None or published.kind == "default":
        return ""
    return published.text
