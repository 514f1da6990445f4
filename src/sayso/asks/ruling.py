"""What the policy says to an ask: when it opens, when it is decided, when it is carried out.

What an ask wants for itself (`needs=`, `within=`) can raise the bar, never lower
it. The ruling is frozen on the ask; a later look at the policy of that moment can
only make it stricter (E17).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sayso.asks.lawbook import InForce
from sayso.errors import Denied
from sayso.model.ask import Ask
from sayso.model.confidence import heard_as
from sayso.model.content import Content
from sayso.model.digest import Decoded, read, written
from sayso.model.requirement import ANYBODY, ONE_REVIEWER, Requirement
from sayso.model.ruled import CRITICAL
from sayso.model.unreadable import unreadable
from sayso.model.worth import percent
from sayso.policy.facts import Facts
from sayso.policy.rules import GATED, Policy
from sayso.policy.ruling import Ruling, Rung, joined, together
from sayso.store.contract import Store

if TYPE_CHECKING:
    from sayso.model.declaration import Declaration, Fit

UNKNOWN = "Nothing is declared of this tool, and no rule allows the call."
_ITSELF = "The program asks for people itself."
_SPARES_NOTHING = "What a request says of itself spares nobody a question."


def facts_of(
    content: Content,
    *,
    always: bool,
    requested: bool,
    undeclared: bool = False,
    strays: tuple[str, ...] = (),
) -> Facts:
    """Return what rules can look at."""
    args: Mapping[str, Any] = Decoded(content.proposal.arguments)
    if content.hidden:  # a rule is told that they are there, and not what they are
        args = {name: value for name, value in args.items() if name not in content.hidden}
    called = carried_out(content)
    return Facts(
        tool=content.proposal.tool,
        args=args,
        agent=content.agent,
        kind=content.kind,
        risk=content.risk,
        confidence=content.confidence,
        conflict=bool(content.conflicts),
        unseen=content.unseen is not None and read(content.unseen)["unseen"],
        reversible=content.reversible,
        affects=content.affects,
        tags=content.tags,
        unreadable=called and unreadable(content.proposal.arguments),
        always=always or not called,
        requested=requested,
        hidden=content.hidden,
        undeclared=undeclared,
        strays=strays,
    )


def weighed(store: Store, content: Content) -> Content:
    """Return content with what its confidence is worth by the record; most state none."""
    if content.confidence is None:
        return content
    from sayso.insight.calibrating import weighed as by_record  # only for whoever states one

    return by_record(store, content)


def carried_out(content: Content) -> bool:
    """Whether a yes makes something happen: a call of a tool."""
    return content.kind == "action" and content.proposal.tool is not None


def rule(
    law: InForce,
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
    policy, undeclared, differing = law.policy, False, ""
    strays: tuple[str, ...] = ()
    declared: Declaration | None = None
    if content.proposal.tool is not None and content.kind == "action":
        declared = law.law.about(policy)[content.proposal.tool]
        if declared is None:
            undeclared = content.posted is not None
        elif not declared.covers(content):
            from sayso.asks.declared import as_ruled, fitting  # most calls are put as declared

            found = fitting(declared, content)
            if found.wrong:
                return _misfit(declared, found, policy)
            content, strays = as_ruled(declared, content), found.strays
            if len(declared.sources) > 1:
                differing = f"Several declare it, and the stricter counts: {declared.spoken}."
        always = always or (declared is not None and declared.asks)
    facts = facts_of(
        content, always=always, requested=requested, undeclared=undeclared, strays=strays
    )
    ruling = policy.ruling(facts, now)
    ruling = _whatever_is_said(policy, facts, declared, ruling, now) if content.posted else ruling
    if facts.unseen:
        # What the past says is joined, not put in: a rule may be about calls that were seen before.
        known = policy.ruling(facts._replace(unseen=False), now)
        ruling = joined([ruling, _beside(known, ruling)])
    if facts.confidence is not None and content.worth is not None:
        ruling = _by_record(policy, content, facts, ruling, now)
    if ruling.effect == "allow" and content.needs != ONE_REVIEWER:
        return replace(ruling, effect="ask", sentence=_ITSELF)
    if differing and ruling.effect != "allow":
        return replace(ruling, sentence=f"{ruling.sentence} {differing}")
    return ruling


def as_asked(law: InForce, content: Content) -> Content:
    """Return what somebody elsewhere asks for as its tool is declared.

    Raises:
        BadValue: it does not fit; `path` names the field.
    """
    tool = content.proposal.tool
    if tool is None or not content.posted:
        return content
    declared = law.law.about(law.policy)[tool]
    if declared is None:
        return content
    from sayso.asks.declared import as_declared

    return as_declared(declared, content)


def _whatever_is_said(
    policy: Policy, facts: Facts, declared: Declaration | None, ruling: Ruling, now: datetime
) -> Ruling:
    """Return the ruling joined with that on the same call, had its request said nothing of itself.

    A rule may name a milder tier for calls that an agent is sure of, or has tagged. Over the network
    that is the word of whoever asks, which adds and spares nothing (E23).
    """
    unsaid = facts._replace(
        risk=None if declared is None else declared.worst,
        reversible=None if declared is None else declared.reversible,
        affects=None if declared is None else declared.affects,
        confidence=None,
        conflict=False,
        tags=(),
    )
    if unsaid == facts:
        return ruling
    bare = policy.ruling(unsaid, now)
    if bare is ruling or bare == ruling:  # what most say of themselves no rule is about
        return ruling
    spared = ruling.effect == "allow" and bare.effect != "allow"
    joint = joined([ruling, _beside(bare, ruling)])
    return replace(joint, sentence=f"{joint.sentence} {_SPARES_NOTHING}") if spared else joint


def _misfit(declared: Declaration, found: Fit, policy: Policy) -> Ruling:
    """Return the refusal of a call that does not fit what is declared of its tool by now."""
    said = f"Its arguments do not fit what {declared.spoken} declares of it: {found.told}."
    return Ruling(effect="deny", sentence=said, version=policy.version)


def _by_record(
    policy: Policy, content: Content, facts: Facts, ruling: Ruling, now: datetime
) -> Ruling:
    """Return the ruling joined with what the policy says to a confidence that is worth less.

    Joined, not replaced: a rule may be about calls that an agent is sure of.
    """
    stated = content.confidence or 0.0
    heard = heard_as(stated, content.worth)
    if heard >= stated:
        return ruling
    lowered = policy.ruling(facts._replace(confidence=heard), now)
    if lowered is ruling or lowered == ruling:  # mostly the first, and that costs nothing
        return ruling
    said = f"By its record {percent(stated)} is worth {percent(heard)}."
    lowered = replace(lowered, sentence=f"{lowered.sentence} {said}".strip())
    return joined([_beside(ruling, lowered), lowered])


def _beside(one: Ruling, other: Ruling) -> Ruling:
    """Return a ruling without its words, where another says all of them already."""
    said = one.effect == other.effect and set(one.rules) <= set(other.rules)
    return replace(one, sentence="") if said else one


def ruled(
    content: Content, ruling: Ruling, opened_at: datetime, *, requested: bool = False
) -> Content:
    """Return the content as the ruling wants it asked.

    Raises:
        Denied: it is not to be asked at all.
    """
    if ruling.effect == "deny":
        raise denied(content, ruling)
    due_at = _due_at(content, ruling, opened_at)
    frozen = _freezing(content, ruling, timed=due_at != content.due_at, requested=requested)
    needs = both(content.needs, ruling.needs)
    if needs.deny > ruling.needs.deny and (ruling.rules or ruling.tier):
        needs = replace(needs, deny=ruling.needs.deny)  # to say no is made no harder (E23)
    return content.changed(
        needs=needs,
        sentence=_sentence(content, ruling),
        due_at=due_at,
        ruling=frozen,
        # What a rule wants people for is not optional, whatever the asker says (E23).
        optional=None if ruling.rules or ruling.tier else content.optional,
    )


def _due_at(content: Content, ruling: Ruling, now: datetime) -> datetime | None:
    """Return until when it is to be decided: the earlier of what the asker and the policy say."""
    if ruling.within is None or content.kind == "doubt":
        return content.due_at
    latest = now + timedelta(seconds=ruling.within)
    return latest if content.due_at is None else min(content.due_at, latest)


def _freezing(content: Content, ruling: Ruling, *, timed: bool, requested: bool) -> str | None:
    """Return the ruling as it is kept on an ask, with whom the asker wants.

    Beside whom the policy wants, that would not be found again. `timed` says that the time to
    decide is the policy's own.
    """
    alone = content.needs is ONE_REVIEWER or content.needs == ONE_REVIEWER
    granted = ruling.effect == "allow" or ruling.on_timeout != "reject" or ruling.requester
    if alone and not granted:
        return ruling.text
    frozen = ruling.json
    if not alone:
        own = [str(factor) for factor in content.needs.factors]
        whom = [str(factor) for factor in ruling.needs.factors]
        frozen |= {"asked": own, "deny": content.needs.deny, "needs": whom}
    if set(content.needs.roles) != {ANYBODY}:  # whom the asker wants, nobody else stands in for
        frozen.pop("ladder", None)
    # Silence is a yes for whom the policy asks, in the time that the policy gives them (E23).
    if content.needs.factors != ONE_REVIEWER.factors or not timed:
        frozen.pop("on_timeout", None)
    # What needs nobody else is looked at once more before it is carried out, by the same measure.
    if requested and granted:
        frozen["requested"] = True
    return written(frozen) if frozen else None


def wanted(content: Content) -> tuple[tuple[str, ...], int]:
    """Return whom the asker wanted, whatever the policy added."""
    if content.ruling is None:
        return tuple(str(factor) for factor in content.needs.factors), content.needs.deny
    return content.ruled.asked or ("1 reviewer",), content.ruled.deny


def _sentence(content: Content, ruling: Ruling) -> str:
    """Say why people are asked: in the policy's words, and in the asker's if there is more."""
    if not ruling.rules and ruling.tier is None:
        if ruling.sentence in (GATED, _ITSELF):
            return content.sentence
        more = ruling.sentence.replace(GATED, "").replace(_ITSELF, "").strip()
        return f"{content.sentence} {more}".strip()
    return _in_both_words(content.sentence, ruling.sentence)


@lru_cache(maxsize=1024)
def _in_both_words(own: str, policy: str) -> str:
    said = [] if own in (GATED, UNKNOWN) else [own]  # the policy has said more
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


def critical(content: Content, law: InForce | None, now: datetime) -> bool:
    """Whether it is declared critical, was asked as such, or is so by the policy of now."""
    if content.risk == CRITICAL or content.ruled.critical:
        return True
    if law is None:
        return False
    return rule(law, content, now, requested=content.ruled.requested).critical


def denied(content: Content, ruling: Ruling) -> Denied:
    """Return the refusal of a call, or of a question."""
    what = content.proposal.tool or content.title
    return Denied(what, ruling.sentence, ruling.rules)


def unchanged(law: InForce, content: Content) -> bool:
    """Whether the policy can only say again what it said when this was asked."""
    policy, tool = law.policy, content.proposal.tool
    if policy.version is None or policy.version != content.ruled.version:
        return False
    if not policy.settled(tool):
        return False
    declared = None if tool is None else law.law.about(policy)[tool]
    if declared is None:
        return content.posted is None or tool is None
    return declared.covers(content)


def other_version(law: InForce | None, content: Content) -> str | None:
    """Return the version that rules now, if this was asked under another one."""
    then, now = content.ruled.version, None if law is None else law.policy.version
    return None if then is None or now == then else now


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
    return _joined(content, ruling).ladder != _frozen(content).ladder


def outgrown(ask: Ask, ruling: Ruling) -> bool:
    """Whether a yes to this is no longer the yes that the policy of now wants.

    What silence would mean is left out: whoever says yes is not silent.
    """
    then, now = ask.content.ruled, _joined(ask.content, ruling)
    return (
        stricter(ask.content, ruling)
        or (now.cool_off, now.execute_within) != (then.cool_off, then.execute_within)
        or (bool(ask.stand_ins) and shorter_ladder(ask.content, ruling))
    )


def tighter(content: Content, ruling: Ruling, now: datetime) -> bool:
    """Whether the policy of now wants more in any way, be it only a longer cool-off."""
    if stricter(content, ruling):
        return True
    if ruling.effect == "ask" and _due_at(content, ruling, now) != content.due_at:
        return True
    return _timing(_joined(content, ruling)) != _timing(_frozen(content))


def _joined(content: Content, ruling: Ruling) -> Ruling:
    """Return the stricter of then and now; what is allowed by now takes nothing away."""
    then = _frozen(content)
    return joined([then, ruling]) if ruling.effect == "ask" else then


def _timing(ruling: Ruling) -> tuple[object, ...]:
    return ruling.on_timeout, ruling.cool_off, ruling.execute_within, ruling.ladder


def raised(content: Content, ruling: Ruling, now: datetime) -> dict[str, Any]:
    """Return what an event says that puts content under the stricter of then and now.

    A shorter time to decide begins now: it is a new version, and people have not seen it yet.
    """
    before = read(content.ruling) if content.ruling else {}
    due_at = _due_at(content, ruling, now)
    needs = both(content.needs, ruling.needs)
    # Joined, not replaced: what only one of the two grants (the requester's vote, a yes by
    # timeout, a lower rung) is granted no more.
    strictest = joined([_frozen(content), ruling])
    said = replace(strictest, version=ruling.version)
    sentences = dict.fromkeys(filter(None, [content.sentence, ruling.sentence]))
    own = {name: before[name] for name in ("asked", "deny", "requested") if name in before}
    if "needs" in before:
        whom = together(Requirement.parse(before["needs"]), ruling.needs)
        own["needs"] = [str(factor) for factor in whom.factors]
    return {
        "needs": [str(factor) for factor in needs.factors],
        "deny": needs.deny,
        "sentence": " ".join(sentences),
        "ruling": {**said.json, **own},
        **({} if due_at is None else {"due_at": due_at.isoformat()}),
    }


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
        critical=said.critical,
        version=said.version,
        rank=said.rank,
    )
