"""The tools of the desk, as pages: who declares each, how often it was called, what runs alone.

Those that nothing declares come first. A declaration is written from how the tool was called, and an
administrator puts it in force with the policy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.asks.tools import ToolRecord
from sayso.errors import SaysoError, UnknownTool
from sayso.model.declaration import COMPUTED, POLICY, Declaration, shortened
from sayso.model.ruled import UNSTATED, word_at
from sayso.policy.appending import tier_line, with_declaration
from sayso.policy.rules import Policy
from sayso.policy.words import arguments_told
from sayso.web.accounts import check_fresh, fresh_of, is_fresh
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.pages.board import board, person
from sayso.web.pages.publishing import ask_for, question_of, text_in_force
from sayso.web.pages.sure import Refused, Sure, refused, sure_page
from sayso.web.policy import why_broken
from sayso.web.service import service_of
from sayso.web.tools import tools_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS, _ADMIN = person("runs:read"), person("admin")
_LISTED = 200  # of those that nothing declares, and of the others
_TOLD = 20  # changes
_MOST = 20_000  # characters of a declaration
Name = Annotated[str, Query(max_length=200)]
Source = Annotated[str, Query(max_length=1000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sourced:
    """What one source declares. `source` is as administrators name it; `forgettable` may end."""

    source: str
    shown: str
    arguments: tuple[tuple[str, str], ...]
    said: tuple[tuple[str, str], ...]
    forgettable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLine:
    """One tool as a line: what rules its calls, and what lets it run alone."""

    name: str
    href: str
    declare: str
    declared_by: tuple[str, ...]
    differs: tuple[str, ...]
    arguments: tuple[str, ...]
    ruled: str
    shape: str
    called: int
    counts: tuple[str, ...]
    alone: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldChange:
    """What one declaration changed of the one before it."""

    at: datetime
    by: str
    source: str
    said: str


# --- all of them -------------------------------------------------------------------------------


@router.get("/tools")
async def tools(
    request: Request, who: Caller = _READS, q: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Show the tools of the desk: those that nothing declares first."""
    visit, wanted = visit_of(request, who), q.strip()
    return await service_of(request).work(lambda: _page(request, visit, wanted))


def _page(request: Request, visit: Visit, wanted: str) -> Response:
    broken = why_broken(visit)
    found = [] if broken is not None else list(tools_of(visit))
    policy = None if broken is not None else visit.desk.policy
    fitting = [one for one in found if wanted.casefold() in one.name.casefold()]
    lines = [tool_line(policy, one) for one in fitting] if policy is not None else []
    missing = [line for line in lines if not line.declared_by]
    known = [line for line in lines if line.declared_by]
    return board(
        request,
        visit,
        "tools.html",
        "Tools",
        "tools",
        broken=broken,
        missing=missing[:_LISTED],
        known=known[:_LISTED],
        counts=(len(missing), len(known)),
        wanted=wanted,
        denied=policy is not None and policy.unknown_tools == "deny",
        every=len(found),
    )


def tool_line(policy: Policy, tool: ToolRecord) -> ToolLine:
    """Return a tool as one line of the list."""
    risk, shape = _ruled(policy, tool)
    return ToolLine(
        name=tool.name,
        href=_at("/tools/tool", name=tool.name),
        declare=_at("/tools/declare", name=tool.name),
        declared_by=tuple(shortened(one.source) for one in tool.declared),
        differs=tool.differs,
        arguments=() if tool.joined is None else tool.joined.arguments,
        ruled=risk,
        shape=shape,
        called=tool.called,
        counts=_counts(tool),
        alone=_alone(policy, tool),
        keys=tool.keys,
    )


def _at(path: str, **said: str) -> str:
    return f"{path}?{urlencode(said, quote_via=quote)}"


def _ruled(policy: Policy, tool: ToolRecord) -> tuple[str, str]:
    """Return by what the calls of a tool are ruled, and the shape of that."""
    risk = None if tool.joined is None else tool.joined.risk
    if tool.tier is not None:
        return f"tier {tool.tier}", _shape(policy, tool.tier)
    if risk == COMPUTED:
        return "risk by its arguments", "none"
    if risk is not None:
        return f"risk {risk}", _shape(policy, risk)
    if not tool.declared:
        return "never runs alone" if policy.unknown_tools == "ask" else "does not run", "none"
    return "no risk declared", "none"


def _shape(policy: Policy, tier: str) -> str:
    found = policy.tiers.get(tier)
    return "none" if found is None else word_at(found.rank or UNSTATED)


def _counts(tool: ToolRecord) -> tuple[str, ...]:
    parts = (
        (tool.asked, "asked of people"),
        (tool.alone, "alone"),
        (tool.granted, "alone by a grant"),
    )
    told = [(count, words) for count, words in parts if count]
    if len(told) == 1:
        return (("all " if tool.called > 1 else "") + told[0][1],)
    return tuple(f"{count:,} {words}" for count, words in told)


def _alone(policy: Policy, tool: ToolRecord) -> tuple[str, ...]:
    """Return what may let a tool run alone besides a grant, each in a few words."""
    whole = tool.joined
    if whole is None:
        return ()
    rules = tuple(
        f"its tier {tool.tier}" if name == f"tools.{tool.name}" else f"the rule {name!r}"
        for name in tool.rules
    )
    if tool.tier is not None or whole.asks:
        return rules
    lowest = [name for name, tier in policy.tiers.items() if tier.alone]
    if whole.risk is None:  # what the policy alone declares is called from elsewhere
        return rules if whole.sources == (POLICY,) else (*rules, "no rule asks for people")
    if whole.risk == COMPUTED and lowest:
        return (*rules, f"its risk, where {' or '.join(lowest)}")
    return (*rules, f"its risk {whole.risk}") if whole.risk in lowest else rules


# --- one of them -------------------------------------------------------------------------------


@router.get("/tools/tool")
async def one_tool(request: Request, who: Caller = _READS, name: Name = "") -> Response:
    """Show what is known of a tool."""
    visit = visit_of(request, who)

    def made() -> Response:
        tool = tools_of(visit).get(name)
        admin = ADMIN in visit.caller.scopes
        return board(
            request,
            visit,
            "one_tool.html",
            tool.name,
            "tools",
            line=tool_line(visit.desk.policy, tool),
            sources=[_sourced(one, admin=admin) for one in tool.declared],
            changes=[
                ToldChange(
                    at=one.at,
                    by=one.by.partition(":")[2] or one.by,
                    source=one.source if admin else shortened(one.source),
                    said="; ".join(one.said),
                )
                for one in tool.changes[:_TOLD]
            ],
            by_policy=any(one.source == POLICY and one.shapes for one in tool.declared),
            admin=admin,
        )

    return await service_of(request).work(made)


def _sourced(one: Declaration, *, admin: bool) -> Sourced:
    policy = one.source == POLICY
    return Sourced(
        source=one.source,
        shown=one.source if admin and not policy else shortened(one.source),
        arguments=tuple(arguments_told(one)),
        said=tuple(_said(one)),
        forgettable=admin and not policy,
    )


def _said(one: Declaration) -> Iterable[tuple[str, str]]:
    if one.risk is not None:
        yield "Risk", "told by its arguments" if one.risk == COMPUTED else one.risk
    if one.reversible is not None:
        yield "Can be undone", "yes" if one.reversible else "no"
    for label, text in (
        ("Affects", one.affects),
        ("Secret", ", ".join(one.secret)),
        ("What matters", ", ".join(one.matters or ())),
    ):
        if text:
            yield label, text
    if one.asks:
        yield "Asks", "people, for each call"
    if one.bucket:
        yield "Kinds of calls", "its code tells them apart"


# --- declaring one -----------------------------------------------------------------------------


@router.get("/tools/declare")
async def declare(request: Request, who: Caller = _READS, name: Name = "") -> Response:
    """Write a declaration from how a tool was called; the whole journal is read for it."""
    visit = visit_of(request, who)

    def made() -> Response:
        text, why = _sketched(visit, name)
        return _declaring(request, visit, name, text, why=why)

    return await service_of(request).work(made)


def _sketched(visit: Visit, name: str) -> tuple[str, str | None]:
    """Return a declaration written from the journal; of a tool of which it has no call, why not."""
    tools_of(visit).get(name)  # there must be such a tool, for this visitor
    try:
        sketch = tools_of(visit).sketch(name)
    except UnknownTool:
        empty = f"[tools.{json.dumps(name)}]\nargs = {{}}\n"
        return empty, f"No ask in the journal has arguments of {name}, so write what it takes."
    tier = tier_line(text_in_force(visit) or "", name)
    return (f'{sketch}tier = "{tier}"\n' if tier else sketch), None


@router.post("/tools/declare")
async def declared(request: Request, who: Caller = _ADMIN) -> Response:
    """Show what a declaration would change, with the policy in force that it is added to."""
    fields = await posted(request)
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _declared(request, visit, fields))


def _declared(request: Request, visit: Visit, fields: Posted) -> Response:
    name, text = value_of(fields, "name")[:200], value_of(fields, "declaration")[:_MOST]
    try:
        whole = with_declaration(text_in_force(visit) or "", text)
        policy = visit.desk.policies.proposed(whole).policy
    except SaysoError as error:
        back = _at("/tools/declare", name=name)
        return _declaring(request, visit, name, text, refused(error, back))
    return ask_for(request, visit, policy, question_of(whole, f"declares {name}", place="tools"))


def _declaring(
    request: Request,
    visit: Visit,
    name: str,
    text: str,
    refusal: Refused | None = None,
    *,
    why: str | None = None,
) -> Response:
    in_code = text_in_force(visit) is None
    return board(
        request,
        visit,
        "declare.html",
        f"Declare {name}",
        "tools",
        status=200 if refusal is None else refusal.status,
        name=name,
        tool=_at("/tools/tool", name=name),
        text=text,
        why=why,
        most=_MOST,
        refusal=refusal,
        in_code=in_code,
        admin=ADMIN in visit.caller.scopes,
        fresh=is_fresh(visit, fresh_of(request)),
    )


# --- forgetting what code declared -------------------------------------------------------------


@router.get("/tools/forget")
async def sure_forget(
    request: Request, who: Caller = _ADMIN, name: Name = "", source: Source = ""
) -> Response:
    """Ask whether a source is to declare a tool no longer."""
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: sure_page(request, visit, forgetting_of(visit, name, source))
    )


@router.post("/tools/forget")
async def forget_form(request: Request, who: Caller = _ADMIN) -> Response:
    """Take back what code declares of a tool."""
    fields = await posted(request)
    visit = visit_of(request, who)

    def made() -> Response:
        name, source = value_of(fields, "name"), value_of(fields, "source")
        note = value_of(fields, "note").strip() or None
        sure = forgetting_of(visit, name, source)
        try:
            check_fresh(visit, fresh_of(request), "Taking back what code declares")
            tools_of(visit).forget(name, source, note, by=visit.caller.name)
        except SaysoError as error:
            back = _at("/tools/forget", name=name, source=source)
            return sure_page(request, visit, sure, refused(error, back))
        return RedirectResponse("/tools", 303)

    return await service_of(request).work(made)


def forgetting_of(visit: Visit, name: str, source: str) -> Sure:
    """Say what follows if a source declares a tool no longer.

    Raises:
        UnknownTool: it does not declare it.
    """
    tool = tools_of(visit).get(name)
    sources = [one.source for one in tool.declared if one.source != POLICY]
    if source not in sources:
        raise UnknownTool(name, sources, source=source)
    rest = [shortened(one.source) for one in tool.declared if one.source != source]
    left = (
        f"{' and '.join(rest)} still declares it."
        if rest
        else "Nothing declares it then, so no call of it runs alone over HTTP."
    )
    return Sure(
        title=f"Forget what {shortened(source)} declares?",
        follows=(
            left,
            "A program that still has this code declares it again when it starts the next time.",
        ),
        action="/tools/forget",
        hidden=(("name", tool.name), ("source", source)),
        button="Forget it",
        back=_at("/tools/tool", name=tool.name),
        note="Why, for the journal",
        place="tools",
    )
