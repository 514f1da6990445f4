"""What the policy says to an ask: when it opens, when it is decided, when it is carried out.

What an ask wants for itself (`needs=`, `within=`) can raise the bar, never lower
it. The ruling is frozen on the ask; a later look at the policy of that moment can
only make it stricter (E17).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sayso.asks.lawbook import Lawbook
from sayso.errors import Denied
from sayso.model.content import Content
from sayso.model.digest import Decoded, read, written
from sayso.model.requirement import ANYBODY, ONE_REVIEWER, Requirement
from sayso.policy.facts import Facts
from sayso.policy.rules import GATED
from sayso.policy.ruling import Ruling, Rung, joined, together


def facts_of(content: Content, *, always: bool, requested: bool) -> Facts:
    """Return what rules can look at."""
    return Facts(
        tool=content.proposal.tool,
        args=Decoded(content.proposal.arguments),
        agent=content.agent,
        kind=content.kind,
        risk=content.risk,
        confidence=content.confidence,
        conflict=bool(content.conflicts),
        unseen=content.unseen is not None and read(content.unseen)["unseen"],
        reversible=content.reversible,
        affects=content.affects,
        tags=content.tags,
        always=always or not carried_out(content),
        requested=requested,
    )


def carried_out(content: Content) -> bool:
    """Whether a yes makes something happen: a call of a tool."""
    return content.kind == "action" and content.proposal.tool is not None


def rule(
    law: Lawbook,
    content: Content,
    now: datetime,
    *,
    always: bool = False,
    requested: bool = False,
) -> Ruling:
    """Return what the policy says to this content now.

    `always` is a gate that asks whatever is declared; `requested` a call that somebody
    asks for in so many words, whose own word on its risk lowers nothing (E23).
    """
    facts = facts_of(content, always=always, requested=requested)
    ruling = law.policy.ruling(facts, now)
    if ruling.effect == "allow" and content.needs != ONE_REVIEWER:
        return replace(ruling, effect="ask", sentence="The program asks for people itself.")
    return ruling


def ruled(content: Content, ruling: Ruling, opened_at: datetime) -> Content:
    """Return the content as the ruling wants it asked.

    Raises:
        Denied: it is not to be asked at all.
    """
    if ruling.effect == "deny":
        raise denied(content, ruling)
    due_at = content.due_at
    if ruling.within is not None and content.kind != "doubt":
        latest = opened_at + timedelta(seconds=ruling.within)
        due_at = latest if due_at is None else min(due_at, latest)
    return content.changed(
        needs=both(content.needs, ruling.needs),
        sentence=_sentence(content, ruling),
        due_at=due_at,
        ruling=_freezing(content, ruling),
    )


def _freezing(content: Content, ruling: Ruling) -> str | None:
    """Return the ruling as it is kept on an ask, with whom the asker wants.

    Beside whom the policy wants, that would not be found again.
    """
    if content.needs == ONE_REVIEWER:
        return ruling.text
    own = [str(factor) for factor in content.needs.factors]
    frozen = {**ruling.json, "asked": own, "deny": content.needs.deny}
    if set(content.needs.roles) != {ANYBODY}:  # whom the asker wants, nobody else stands in for
        frozen.pop("ladder", None)
    return written(frozen)


def wanted(content: Content) -> tuple[tuple[str, ...], int]:
    """Return whom the asker wanted, whatever the policy added."""
    if content.ruling is None:
        return tuple(str(factor) for factor in content.needs.factors), content.needs.deny
    return content.ruled.asked or ("1 reviewer",), content.ruled.deny


def _sentence(content: Content, ruling: Ruling) -> str:
    """Say why people are asked: in the policy's words, and in the asker's if there is more."""
    if not ruling.rules and ruling.tier is None:
        return content.sentence
    return _in_both_words(content.sentence, ruling.sentence)


@lru_cache(maxsize=1024)
def _in_both_words(own: str, policy: str) -> str:
    said = [] if own == GATED else [own]
    return " ".join(dict.fromkeys(filter(None, [*said, policy.replace(GATED, "").strip()])))


def both(own: Requirement, ruling: Requirement) -> Requirement:
    """Return who must agree: whoever the asker wants and whoever the policy wants."""
    return ruling if own is ONE_REVIEWER or own == ONE_REVIEWER else _both(own, ruling)


@lru_cache(maxsize=1024)
def _both(own: Requirement, ruling: Requirement) -> Requirement:
    wanted = together(own, ruling)
    order = [*own.roles, *ruling.roles]  # as people wrote it
    factors = sorted(wanted.factors, key=lambda factor: order.index(factor.role))
    # How many refusals end it is the asker's to say, unless the policy says it too.
    return Requirement(tuple(factors), own.deny if ruling.deny == 1 else wanted.deny)


def denied(content: Content, ruling: Ruling) -> Denied:
    """Return the refusal of a call, or of a question."""
    what = content.proposal.tool or content.title
    return Denied(what, ruling.sentence, ruling.rules)


def unchanged(law: Lawbook, content: Content) -> bool:
    """Whether the policy can only say again what it said when this was asked."""
    policy = law.policy
    return (
        policy.version is not None
        and policy.version == content.ruled.version
        and policy.settled(content.proposal.tool)
    )


def stricter(content: Content, ruling: Ruling) -> bool:
    """Whether the policy of now wants more people, or other ones, than this was asked under."""
    if ruling.effect != "ask":
        return ruling.effect == "deny"
    if content.ruled.requester and not ruling.requester and (content.requester or content.owner):
        return True
    if ruling.needs is content.needs or ruling.needs == content.needs:
        return False
    return both(content.needs, ruling.needs) != both(content.needs, content.needs)


def shorter_ladder(content: Content, ruling: Ruling) -> bool:
    """Whether somebody may no longer stand in who might when this was asked."""
    then = _frozen(content)
    return ruling.effect == "ask" and joined([then, ruling]).ladder != then.ladder


def tighter(content: Content, ruling: Ruling) -> bool:
    """Whether the policy of now wants more in any way, be it only a longer cool-off."""
    if stricter(content, ruling):
        return True
    then = _frozen(content)
    return ruling.effect == "ask" and _timing(joined([then, ruling])) != _timing(then)


def _timing(ruling: Ruling) -> tuple[object, ...]:
    return ruling.on_timeout, ruling.cool_off, ruling.execute_within, ruling.ladder


def raised(content: Content, ruling: Ruling, now: datetime) -> dict[str, Any]:
    """Return what an event says that puts content under the stricter of then and now.

    A shorter time to decide begins now: it is a new version, and people have not seen it yet.
    """
    before = read(content.ruling) if content.ruling else {}
    due_at = content.due_at
    if ruling.within is not None:
        latest = now + timedelta(seconds=ruling.within)
        due_at = latest if due_at is None else min(due_at, latest)
    needs = both(content.needs, ruling.needs)
    # Joined, not replaced: what only one of the two grants (the requester's vote, a yes by
    # timeout, a lower rung) is granted no more.
    strictest = joined([_frozen(content), ruling])
    said = replace(strictest, tier=ruling.tier or before.get("tier"), version=ruling.version)
    own = {name: before[name] for name in ("asked", "deny") if name in before}
    return {
        "needs": [str(factor) for factor in needs.factors],
        "deny": needs.deny,
        "sentence": ruling.sentence or content.sentence,
        "ruling": {**said.json, **own},
        **({} if due_at is None else {"due_at": due_at.isoformat()}),
    }


def raised_to(content: Content, more: dict[str, Any]) -> Content:
    """Return the content as it is asked after such an event."""
    needs = Requirement.parse(more["needs"], deny=more["deny"])
    return content.changed(needs=needs, ruling=written(more["ruling"]))


def _frozen(content: Content) -> Ruling:
    """Return the ruling that content was asked under."""
    said = content.ruled
    return Ruling(
        effect="ask",
        sentence=content.sentence,
        rules=said.rules,
        tier=said.tier,
        needs=content.needs,
        on_timeout=said.on_timeout,
        cool_off=said.cool_off,
        execute_within=said.execute_within,
        remind=said.remind,
        ladder=tuple(Rung(at, roles) for at, roles in said.ladder),
        requester=said.requester,
        version=said.version,
    )


def execute_by(content: Content, decided_at: datetime) -> datetime | None:
    """Return until when an approval can be used, if it does not last for ever."""
    seconds = content.ruled.execute_within
    return None if seconds is None else decided_at + timedelta(seconds=seconds)
