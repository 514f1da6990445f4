"""The policy in force over HTTP, and what it would do with a call. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import AwareDatetime, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.asks.lawbook import PolicyStatus, default_policy
from sayso.asks.trusting import could_earn
from sayso.errors import Misuse, SaysoError, Tampered
from sayso.model.actor import Roster
from sayso.model.names import spelt
from sayso.model.requirement import Requirement
from sayso.model.unreadable import undecodable
from sayso.model.verdicts import Kind
from sayso.policy.facts import Facts
from sayso.policy.tiers import Tier
from sayso.policy.trying import Trial, trial_record, tried
from sayso.policy.words import policy_record, tier_told, who
from sayso.web.bodies import Sent
from sayso.web.callers import Door, needs
from sayso.web.documents import Document, answers
from sayso.web.service import service_of
from sayso.web.sight import Named, in_sight, named, own_team, sees_name
from sayso.web.visit import Visit, visit_of

router = APIRouter(prefix="/api/v1", tags=["policy"], route_class=Door)
_WHY = "An administrator sees why."
_TROUBLE = f"What its file says now cannot be used. {_WHY}"


class PlaceDocument(Document):
    """A place of a requirement, and who could fill it."""

    needs: str = Field(examples=["1 senior"])
    people: list[str]
    others: int = Field(description="How many more could, of teams that the caller is not of.")


class TierDocument(Document):
    """What a tier needs, and who could give it today."""

    name: str
    says: str = Field(examples=["ask 1 senior; within 1 h, then rejected"])
    who: list[PlaceDocument]
    undecidable: str | None = Field(description="Why nobody could decide it.")


class PolicyDocument(Document):
    """The policy in force."""

    kind: Literal["default", "file", "code"]
    file: str | None
    since: datetime = Field(description="Since when it has been in force.")
    trouble: str | None = Field(description="Why what its file says now is not in force.")
    pending: bool = Field(description="The file has just changed, and will be taken over.")
    version: str | None
    solo: bool
    standing: list[TierDocument]
    tiers: dict[str, str]
    autonomy: dict[str, Any] = Field(
        description="Whether agents can earn to run alone, and on what condition.",
        examples=[{"enabled": True, "detection": None, "says": "what is asked for ..."}],
    )
    rules: list[dict[str, Any]] = Field(
        description="Each with its name, its line in the file, what it is about with its condition "
        "as it was written, what it says, and both in one sentence.",
        examples=[
            [
                {
                    "name": "large refunds",
                    "line": 17,
                    "about": "refund when args.amount > 1000",
                    "says": "ask 1 senior",
                    "sentence": "For every call of refund where amount is more than 1000: ask 1 senior.",
                    "default": False,
                }
            ]
        ],
    )


class TrialDocument(Document):
    """What the policy says to a call."""

    effect: Literal["allow", "ask", "deny"]
    sentence: str
    rules: list[str]
    tier: str | None
    solo: bool
    who: list[PlaceDocument]
    undecidable: str | None = Field(
        description="Why nobody could decide it, so that it would be refused when it is proposed."
    )
    heard: list[dict[str, Any]] = Field(description="Every rule: whether it spoke, and why.")
    earnable: bool = Field(description="Whether an agent could earn to be spared it.")
    unearned: str | None = Field(description="Why it could not.")
    key: dict[str, str | None] | None = Field(
        description="What its key would be made of, besides the version and the kind of call."
    )
    least: dict[str, int] | None = Field(
        description="The days and people that a grant takes, besides the score.",
        examples=[{"days": 2, "people": 2}],
    )


class TrialPost(Sent):
    """A call to try."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"tool": "refund", "args": {"amount": 40}, "risk": "high"}]
        },
    )
    tool: str = Field(min_length=1, max_length=200)
    args: dict[str, Any] = Field(default_factory=dict)
    agent: str = Field("", max_length=200)
    kind: Kind = "action"
    risk: str | None = Field(None, max_length=64, description="The risk it declares.")
    confidence: float | None = Field(None, ge=0, le=1)
    reversible: bool | None = None
    affects: str | None = Field(None, max_length=1000)
    conflict: bool = False
    unseen: bool = False
    tags: list[str] = Field(default_factory=list, max_length=100)
    gated: bool = Field(default=False, description="Behind a gate that declares no risk.")
    team: str | None = Field(None, max_length=64, description="Whose wall it stands behind.")
    at: AwareDatetime | None = Field(None, description="When; now unless given.", strict=False)

    def facts(self) -> Facts:
        """Return the call as the policy sees it."""
        return Facts(
            tool=self.tool,
            args=self.args,
            agent=self.agent,
            kind=self.kind,
            risk=self.risk,
            confidence=self.confidence,
            conflict=self.conflict,
            unseen=self.unseen,
            reversible=self.reversible,
            affects=self.affects,
            tags=tuple(self.tags),
            always=self.gated,
            unreadable=bool(undecodable(self.args)),
        )


@router.get(
    "/policy",
    operation_id="get_policy",
    summary="The policy in force",
    responses={200: {"model": PolicyDocument}, **answers(401, 403, 409)},
)
async def get_policy(request: Request, caller: Caller = needs("runs:read")) -> Response:
    """Return its rules and tiers in words, where it comes from, and who could decide today.

    409 if there is none that could be in force: then every ask is refused.
    """
    visit = visit_of(request, caller)
    return JSONResponse(await service_of(request).work(lambda: _record(stands(visit))))


@router.post(
    "/policy/simulate",
    operation_id="simulate",
    summary="What the policy would do with a call",
    responses={200: {"model": TrialDocument}, **answers(401, 403, 408, 409, 413, 415, 422)},
)
async def simulate(
    request: Request, body: TrialPost, caller: Caller = needs("runs:read")
) -> Response:
    """Say what would be ruled, which rules say so and why, and who could decide. Nothing is opened."""
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        trial = simulated(visit, body.facts(), body.at, body.team)
        earned = could_earn(visit.desk.policy, body.facts(), trial.ruling)
        return trial_record(trial) | {"who": _places(places(visit, trial))} | earned

    return JSONResponse(await service_of(request).work(found))


# --- for the API and the page alike ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Placed:
    """A place of a requirement, and who could fill it."""

    needs: str
    people: Named


@dataclass(frozen=True, slots=True)
class TierStands:
    """A tier, who could give what it needs, and why nobody could."""

    tier: Tier
    who: tuple[Placed, ...]
    undecidable: str | None


@dataclass(frozen=True, slots=True)
class PolicyStands:
    """The policy in force as a caller sees it."""

    law: PolicyStatus
    file: str | None
    trouble: str | None
    since: datetime
    solo: bool
    tiers: tuple[TierStands, ...]
    sees: Callable[[str], bool]  # whom the caller may read of; what a policy names may have left
    here: Collection[str]


def stands(visit: Visit) -> PolicyStands:
    """Return the policy in force, and who on the desk could do what it wants.

    Raises:
        BadPolicy: there is none that could be in force.
    """
    visit.desk.law.read(visit.store)
    return _standing(visit, visit.desk.law.law)


def drafted(visit: Visit) -> PolicyStands | None:
    """Return a policy as it is written that could not be in force; `None` if it makes no sense."""
    law = visit.desk.law.draft
    return None if law is None else _standing(visit, law)


def _standing(visit: Visit, law: PolicyStatus) -> PolicyStands:
    people = visit.people
    roster, seen = law.policy.widened(people), in_sight(visit, people)
    # Where it lies on the server, and what exactly is wrong there, is for those who could mend it.
    admin = ADMIN in visit.caller.scopes
    file = None if law.file is None else str(law.file) if admin else law.file.name
    trouble = law.trouble if admin or law.trouble is None else _TROUBLE
    here = visit.store.now() - timedelta(seconds=law.age)
    return PolicyStands(
        law,
        file=file,
        trouble=trouble,
        since=here if law.published is None else law.published.at,
        solo=roster.solo,
        tiers=tuple(_tier(law.policy.tiers[name], roster, seen) for name in law.policy.order),
        sees=sees_name(visit),
        here=people.people,
    )


def why_broken(visit: Visit) -> str | None:
    """Say why no policy can be in force, to those who could mend it; `None` if one is."""
    broken: SaysoError | None
    try:
        visit.desk.law.read(visit.store)  # another program may have put another one in force
        broken = visit.desk.law.broken
    except Tampered as error:
        broken = error
    if broken is None:
        return None
    return str(broken) if ADMIN in visit.caller.scopes else _WHY


def _tier(tier: Tier, roster: Roster, seen: frozenset[str]) -> TierStands:
    needs = tier.terms.needs or Requirement()
    if tier.alone or roster.solo:
        return TierStands(tier, (), None)
    return TierStands(tier, _placed(who(needs, roster), seen), _unmet(needs, roster))


def _unmet(needs: Requirement, roster: Roster) -> str | None:
    try:
        needs.check(roster)
    except Misuse as error:
        return str(error)
    return None


def simulated(visit: Visit, facts: Facts, at: datetime | None, team: str | None) -> Trial:
    """Try a call under the policy in force.

    Raises:
        BadValue: the caller is not of the team.
    """
    people = visit.people
    asked = own_team(visit, people, team)
    return tried(visit.desk.policy, facts, at or visit.store.now(), people, asked)


def places(visit: Visit, trial: Trial) -> tuple[Placed, ...]:
    """Return who could fill each place of what a trial needs, as far as the caller sees them."""
    if trial.roster.solo:
        return ()
    return _placed(trial.candidates, in_sight(visit, visit.people))


def _placed(found: list[tuple[str, list[str]]], seen: frozenset[str]) -> tuple[Placed, ...]:
    return tuple(Placed(needs, named(names, seen)) for needs, names in found)


# --- as data -----------------------------------------------------------------------------------


def _places(found: tuple[Placed, ...]) -> list[dict[str, Any]]:
    return [
        {"needs": one.needs, "people": list(one.people.names), "others": one.people.others}
        for one in found
    ]


def _record(found: PolicyStands) -> dict[str, Any]:
    law, usual = found.law, default_policy().rules
    said = policy_record(law.policy)
    said["source"] = found.file or law.policy.source
    for one, rule in zip(said["rules"], law.policy.rules, strict=True):
        one["default"] = rule in usual
    # Groups and roles name people: those behind a wall are not named.
    said["groups"] = {
        name: [one for one in names if found.sees(spelt(one, found.here))]
        for name, names in said["groups"].items()
    }
    said["roles"] = {
        name: held for name, held in said["roles"].items() if found.sees(spelt(name, found.here))
    }
    return {
        **said,
        "kind": law.kind,
        "file": found.file,
        "since": found.since.isoformat(),
        "trouble": found.trouble,
        "pending": law.pending,
        "solo": found.solo,
        "standing": [
            {
                "name": one.tier.name,
                "says": tier_told(one.tier),
                "who": _places(one.who),
                "undecidable": one.undecidable,
            }
            for one in found.tiers
        ],
    }
