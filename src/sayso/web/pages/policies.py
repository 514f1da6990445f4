"""The policies: what is in force in plain words, who could decide today, and a call to try."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.asks.lawbook import default_policy
from sayso.errors import BadValue
from sayso.insight.metrics import measure_by
from sayso.model.names import spelt
from sayso.model.requirement import Requirement
from sayso.model.ruled import UNSTATED, word_at
from sayso.model.verdicts import KINDS
from sayso.policy.checking import problems
from sayso.policy.conditions import Condition
from sayso.policy.rules import Policy, Rule
from sayso.policy.trying import Trial
from sayso.policy.words import conditions_of, pace_told, paced, sentence
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.metrics import MOST
from sayso.web.pages.board import board, person
from sayso.web.pages.calling import OF, Calling, drawn, risk_of, sent
from sayso.web.pages.earning import earning_view
from sayso.web.pages.trying import FIELDS, NO_RISK, Typed, facts_of
from sayso.web.pages.versions import lines_of
from sayso.web.policy import (
    Placed,
    PolicyStands,
    TierStands,
    drafted,
    places,
    simulated,
    stands,
    why_broken,
)
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS = person("runs:read")
_DAYS = 90  # tools that were called in these are suggested
_SUGGESTED = 200
_VERSIONS = 4  # of the policy, the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleView:
    """One rule as people read it; `condition` is as it was written."""

    name: str
    origin: str
    sentence: str
    condition: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleGroup:
    """Rules that come to the same: what is denied, what is asked, what runs alone."""

    title: str
    hint: str
    icon: str
    rules: tuple[RuleView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TierView:
    """A tier: what it needs, and who could give it."""

    name: str
    shape: str
    needs: str
    terms: tuple[str, ...]
    who: tuple[Placed, ...]
    nobody: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialView:
    """What would happen to the call in the form; `effect` is what it comes to."""

    effect: str
    verdict: str
    sentence: str
    tier: str | None
    needs: str
    terms: tuple[str, ...]
    who: tuple[Placed, ...]
    nobody: str | None
    spoke: tuple[tuple[str, str], ...]
    silent: tuple[tuple[str, str], ...]


@router.get("/policies")
async def policies(request: Request, who: Caller = _READS) -> Response:
    """Show the policy in force; with a call in the address, also what it says to that."""
    visit, typed = visit_of(request, who), Typed.of(request.query_params)
    return await service_of(request).work(lambda: _page(request, visit, typed))


@router.post("/policies")
async def try_call(request: Request, who: Caller = _READS) -> Response:
    """Take the form of a call to try; what fits into an address is shown under that."""
    fields = await posted(request)
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _sent(request, visit, fields))


def _sent(request: Request, visit: Visit, fields: Posted) -> Response:
    read = sent(visit, Typed.of({name: value_of(fields, name) for name in fields}), fields)
    typed = read.typed
    if read.again is None and typed["tool"] and typed.address is not None:
        return RedirectResponse(f"{typed.address}#{'ruling' if typed.tried else 'try'}", 303)
    return _page(request, visit, typed, read.again)


def _page(request: Request, visit: Visit, typed: Typed, again: Calling | None = None) -> Response:
    broken = why_broken(visit)
    if broken is not None:
        return _unusable(request, visit, broken)
    found = stands(visit)
    call = again or drawn(visit, typed)
    last = _last_risk(visit, typed)
    trial, errors = _tried(visit, typed.put(risk=last) if last else typed, call.errors)
    policy = found.law.policy
    return board(
        request,
        visit,
        "policies.html",
        "Policies",
        "policies",
        status=422 if errors else 200,
        broken=None,
        **_kept(visit),
        **_laid_out(visit, found),
        typed=typed,
        errors=errors,
        call=call,
        of=OF,
        trial=None if trial is None else trial_view(trial, places(visit, trial)),
        tools=_tools(visit, policy),
        teams=_teams(visit),
        last_risk=last,
        risks=_risks(policy, last),
        kinds=[(kind, kind) for kind in KINDS],
        fields=FIELDS,
    )


def _unusable(request: Request, visit: Visit, why: str) -> Response:
    """Show what is written, if it can be read, and why it is not in force. No call can be tried."""
    found = drafted(visit)
    said = {"stands": None} if found is None else _laid_out(visit, found)
    return board(
        request, visit, "policies.html", "Policies", "policies", broken=why, **_kept(visit), **said
    )


def _kept(visit: Visit) -> dict[str, Any]:
    """Return the last versions of the policy, and whether the visitor may put another in force."""
    lines, count = lines_of(visit, _VERSIONS)
    return {"versions": lines, "version_count": count, "admin": ADMIN in visit.caller.scopes}


def _laid_out(visit: Visit, found: PolicyStands) -> dict[str, Any]:
    policy = found.law.policy
    return {
        "stands": found,
        "own": len(policy.rules) - _usual(policy),
        "usual": _usual(policy),
        "groups": groups_of(policy),
        "tiers": tuple(map(tier_view, found.tiers)),
        "beware": _beware(visit, found),
        "earning": earning_view(policy),
        "more": _more(found),
    }


def _tried(
    visit: Visit, typed: Typed, wrong: Mapping[str, str]
) -> tuple[Trial | None, Mapping[str, str]]:
    """Return what is ruled on what was typed, or what is wrong with it, field by field."""
    if not typed.tried:
        return None, {}
    facts, at, errors = facts_of(typed)
    if wrong:
        return None, {**errors, **wrong}
    try:
        trial = None if facts is None else simulated(visit, facts, at, typed["team"] or None)
    except BadValue as error:
        return None, errors | {"team": str(error)}
    return trial, errors


def _last_risk(visit: Visit, typed: Typed) -> str | None:
    """Return the risk that the last call of the tool declared, where none is chosen for this one."""
    tool = typed["tool"].strip()
    return risk_of(visit, tool) if tool and not typed["risk"].strip() else None


def _risks(policy: Policy, last: str | None) -> list[tuple[str, str]]:
    unsaid = "not stated" if last is None else f"that of its last call, {last}"
    return [("", unsaid), (NO_RISK, "none"), *((name, name) for name in policy.order)]


# --- rules -------------------------------------------------------------------------------------


def groups_of(policy: Policy) -> tuple[RuleGroup, ...]:
    """Return the rules as people read them: the strictest first."""
    found: dict[str, list[RuleView]] = {"deny": [], "ask": [], "allow": []}
    for rule in policy.rules:
        found[_effect(policy, rule)].append(rule_view(policy, rule))
    heads = (
        ("deny", "Denied", "never runs, whoever asks", "octagon-x"),
        ("ask", "Asked of people", "waits until somebody says yes", "hand"),
        ("allow", "Runs alone", "nobody is asked", "circle-check"),
    )
    return tuple(
        RuleGroup(title=title, hint=hint, icon=icon, rules=tuple(found[effect]))
        for effect, title, hint, icon in heads
    )


def _effect(policy: Policy, rule: Rule) -> str:
    if rule.tier is not None:
        return "allow" if policy.tiers[rule.tier].alone else "ask"
    return rule.effect or "ask"


def rule_view(policy: Policy, rule: Rule) -> RuleView:
    """Return one rule in words."""
    return RuleView(
        name=rule.name,
        origin=_origin(rule),
        sentence=sentence(policy, rule),
        condition=rule.when.text.strip() if isinstance(rule.when, Condition) else None,
        why=rule.why,
    )


def _origin(rule: Rule) -> str:
    if rule in default_policy().rules:
        return "default policy"
    return "made in code" if rule.line is None else f"line {rule.line}"


def _usual(policy: Policy) -> int:
    return len(set(policy.rules) & set(default_policy().rules))


# --- tiers and people --------------------------------------------------------------------------


def tier_view(one: TierStands) -> TierView:
    """Return a tier in words."""
    tier = one.tier
    needs = "" if tier.alone else str(tier.terms.needs or Requirement())
    return TierView(
        name=tier.name,
        shape=word_at(tier.rank or UNSTATED),
        needs=needs,
        terms=() if tier.alone else tuple(conditions_of(tier.terms)),
        who=one.who,
        nobody=one.undecidable,
    )


def _beware(visit: Visit, found: PolicyStands) -> tuple[str, ...]:
    """Say what of the policy does not fit the people; tiers say it beside their names."""
    wrong = problems(found.law.policy, visit.people)
    return tuple(f"{one.about}: {one.reason}" for one in wrong if not one.about.startswith("tier "))


def _more(found: PolicyStands) -> tuple[tuple[str, str], ...]:
    """Return what else a policy can say: groups, roles, what counts as what, paces."""
    policy, sees, here = found.law.policy, found.sees, found.here
    said = [
        (f"The group {name}", members(names, sees, here)) for name, names in policy.groups.items()
    ]
    said += [
        (f"{_called(name, here)} also is", _listed(roles))
        for name, roles in ((spelt(name, here), held) for name, held in policy.roles.items())
        if sees(name)
    ]
    said += [
        (f"Who is {role}", f"counts as {_listed(as_)}") for role, as_ in policy.implied.items()
    ]
    said += [
        (f"The agent {agent}" if agent else "Each agent", pace_told(policy.pace(agent)))
        for agent in paced(policy)
    ]
    return tuple(said)


def members(names: Iterable[str], sees: Callable[[str], bool], here: Collection[str]) -> str:
    """Return a group by name, as far as the caller sees who is in it; the others are counted."""
    every = [spelt(name, here) for name in names]
    hidden = [name for name in every if not sees(name)]
    gone = sum(name not in here for name in hidden)
    counts = ((len(hidden) - gone, "of other teams"), (gone, "not on this desk"))
    return _listed(
        (
            *(_called(name, here) for name in every if sees(name)),
            *(f"{count} {where}" for count, where in counts if count),
        )
    )


def _called(name: str, here: Collection[str]) -> str:
    return name if name in here else f"{name} (not on this desk)"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nobody"


# --- a call to try -----------------------------------------------------------------------------

_VERDICTS = {
    "allow": "It runs alone",
    "ask": "It waits for people",
    "deny": "It does not run, whoever asks",
}
_REFUSED = "It would be refused: nobody could decide it"


def trial_view(trial: Trial, found: tuple[Placed, ...]) -> TrialView:
    """Return what the policy says to a call, as `sayso policy simulate` says it."""
    said, refused = trial.ruling, trial.undecidable is not None
    spoke = [(one.rule.name, one.because) for one in trial.heard if one.spoke]
    silent = [(one.rule.name, one.because) for one in trial.heard if not one.spoke]
    return TrialView(
        effect="deny" if refused else said.effect,
        verdict=_REFUSED if refused else _VERDICTS[said.effect],
        sentence=said.sentence,
        tier=said.tier,
        needs=str(said.needs) if said.asks else "",
        terms=tuple(conditions_of(said)) if said.asks else (),
        who=found,
        nobody=trial.undecidable,
        spoke=tuple(spoke),
        silent=tuple(silent),
    )


def _tools(visit: Visit, policy: Policy) -> tuple[str, ...]:
    """Return tools to suggest: those that were called of late, and those that rules name."""
    called = measure_by(visit.store, "tool", days=_DAYS, teams=visit.teams(), most=MOST)
    written = {name for rule in policy.rules for name in rule.tools if not set(name) & set("*?")}
    return tuple(sorted({*called, *written} - {""}))[:_SUGGESTED]


def _teams(visit: Visit) -> tuple[str, ...]:
    roster = visit.people
    if ADMIN in visit.caller.scopes:
        return tuple(sorted({team for teams in roster.teams.values() for team in teams}))
    return tuple(sorted(roster.teams.get(visit.caller.name or "", ())))
