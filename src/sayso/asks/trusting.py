"""Whether a call may run alone: its key has earned it, and the coin has not picked it for an audit.

The policy rules first. What people are asked for because of its tier alone can be earned, as far as
people saw such calls; the coin is tossed after the call was frozen. That it picked one is written into the book of the key, which
no agent reads, and nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from sayso.asks.books import ORIGIN, SYSTEM, Pen, book_of
from sayso.asks.lawbook import InForce
from sayso.asks.ruling import carried_out
from sayso.asks.standing import grow, stamped, tries
from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Key
from sayso.autonomy.reach import saw
from sayso.autonomy.terms import DETECTION, terms_of
from sayso.errors import Tampered
from sayso.model.actor import Actor
from sayso.model.ask import Ask
from sayso.model.content import Content
from sayso.model.digest import read
from sayso.model.requirement import ONE_REVIEWER
from sayso.model.ruled import CRITICAL
from sayso.model.stake import LEAST, Least, Stake, matters_of
from sayso.policy.facts import Facts
from sayso.policy.rules import Policy
from sayso.policy.ruling import Ruling
from sayso.store.contract import Append, Store

_log = logging.getLogger("sayso.trust")


def staked(law: InForce, content: Content, ruling: Ruling) -> Stake | None:
    """Return the key that a decision on this call counts for; `None` if nothing can be earned by it.

    Only what people are asked for because of its tier can be. What a rule asks for, what names its
    own people, what cannot be undone and what is critical is asked for always.
    """
    called, undoable = carried_out(content), content.reversible is not False
    if unearned(law.policy, ruling, called=called, undoable=undoable) is not None:
        return None
    if content.needs != ONE_REVIEWER or content.risk == CRITICAL:
        return None
    tool = content.proposal.tool
    if tool is None or law.law.about(law.policy)[tool] is None:  # what nothing declares
        return None
    tier = ruling.tier or ""
    if content.stakes is None:  # what nobody sorted is asked for always
        return None
    said = read(content.stakes)
    key = key_of(content, said.get("version", ""), said.get("bucket", ""), tier)
    earning = law.policy.earning
    return Stake(
        key=key.id,
        version=key.version,
        bucket=key.bucket,
        tier=tier,
        detection=earning.detection,
        least=earning.least.get(tier) if earning.least else None,
    )


def unearned(policy: Policy, ruling: Ruling, *, called: bool, undoable: bool) -> str | None:
    """Say why nobody can earn to be spared such an ask; `None` if that can be earned.

    Args:
        policy: That which ruled.
        ruling: What it said.
        called: Whether a yes calls a tool.
        undoable: Whether what it does can be undone, or nothing is said of that.
    """
    if not ruling.asks:
        return "it runs alone" if ruling.effect == "allow" else "it does not run at all"
    if not called:
        return "only calls of tools are"
    if not policy.earning.enabled:
        return "the policy switches that off, in [autonomy]"
    if not undoable:
        return "it cannot be undone"
    if not ruling.earnable:
        return "people are not asked because of its tier alone"
    known = not ruling.critical and terms_of(ruling.tier) is not None
    return None if known else f"nothing of the tier {ruling.tier} is"


def could_earn(policy: Policy, facts: Facts, ruling: Ruling) -> dict[str, Any]:
    """Return whether a call that nobody made could be earned, and as what, for whoever tries it."""
    called = facts.kind == "action" and facts.tool is not None
    why = unearned(policy, ruling, called=called, undoable=facts.reversible is not False)
    key = {"agent": facts.agent or None, "tool": facts.tool, "tier": ruling.tier}
    if why is not None:
        return {"earnable": False, "unearned": why, "key": None, "least": None}
    least = policy.earning.least.get(ruling.tier or "") or LEAST[ruling.tier or ""]
    return {"earnable": True, "unearned": None, "key": key, "least": least._asdict()}


def key_of(content: Content, version: str, bucket: str, tier: str) -> Key:
    """Return the key of a call."""
    return Key(
        content.agent, version, content.proposal.tool or "", bucket, tier, content.team or ""
    )


def spared(
    store: Store, coin: Callable[[], float], stake: Stake | None, content: Content, ask_id: str
) -> tuple[bool, Content]:
    """Return whether a call runs without a person, and its content.

    Its key is granted, the grant reaches as far, and the coin did not pick it. A call beyond the
    reach of the grant says so to the people who are asked.

    The coin is tossed here, after the call was frozen. While somebody looks at what it picked, or
    owes the key a word because that was taken back or came to nothing, nothing else of the key runs
    alone: whoever asks again tosses no second coin, and nothing slips by behind a call that waits.
    """
    if stake is None:
        return False, content
    fall = coin()
    for _ in tries(stake.key):
        book = _sound(store, stake.key)
        if book is None or not book.alone:
            return False, content
        why = _beyond(store, book, stake, content)
        if why is not None:
            return False, content.changed(sentence=f"{content.sentence} {why}".strip())
        if book.owed is not None:
            return False, content
        if fall >= book.changed(detection=stake.detection or DETECTION).terms.audit:
            return True, content
        pen = Pen(store, book)
        pen.write("picked", SYSTEM, ORIGIN, ask=ask_id)
        if store.commit(*pen.appends()):
            return False, content
    raise AssertionError("unreachable: trying ends with an error")


def _beyond(store: Store, book: Book, stake: Stake, content: Content) -> str | None:
    """Say why a grant does not reach as far as this call; `None` if it does (E45)."""
    least, seen = stake.least or LEAST[stake.tier], saw(content.proposal.args, matters_of(content))
    why = book.reach.beyond(seen, least)
    if why is not None and least.people > 1 and store.register().solo:
        why = book.reach.beyond(seen, Least(least.days, 1))
    return None if why is None else f"The grant of this agent does not reach so far. {why}"


def least_of(stake: Stake, *, solo: bool) -> Least | None:
    """Return how many days and people a grant takes; `None` for what is usual for the tier.

    On a desk with nobody on it there is only one person to look.
    """
    if not solo:
        return stake.least
    days, people = stake.least or LEAST[stake.tier]
    return None if stake.least is None and people == 1 else Least(days, 1)


def _sound(store: Store, key: str) -> Book | None:
    """Return the book of a key; `None` if there is none, or if it is not what was written."""
    try:
        book = book_of(store, key)
        if book is None or not book.alone:
            return book
        listed = store.trust_of(key)
        if listed is not None and listed.seq > book.seq:  # grown since, or cut off
            book = book_of(store, key)
    except Tampered as error:
        _log.error("%s", error)
        return None
    if book is None or listed is None or listed.seq > book.seq:
        _log.error("The end of the book %s is missing, so nothing of it runs alone.", key)
        return None
    return book


def granted(ask: Ask, store: Store) -> tuple[Ask, Append]:
    """Decide an ask as it opens: its key runs alone."""
    stake = ask.stake
    book = None if stake is None else book_of(store, stake.key)
    if stake is None or book is None:
        raise AssertionError("unreachable: only what has a key is granted")
    actor = Actor("policy", f"grant {stake.key}")
    note = f"{ask.content.agent} has earned to run this alone ({stake.key})."
    said = stamped(ORIGIN, verdict="approve", note=note, grant=stake.key, nth=book.ledger.grants)
    event, decided = grow(ask, "ask.decided", at=store.now(), actor=actor, payload=said)
    return decided, Append(event=event)


def still_granted(store: Store, ask: Ask) -> bool:
    """Whether a call that nobody was asked for may still run: that very grant has not ended since."""
    decision = ask.decision
    if decision is None or decision.grant is None:
        return True
    book = _sound(store, decision.grant)
    return book is not None and book.alone and book.ledger.grants == decision.nth


def still_earned(law: InForce, ask: Ask, ruling: Ruling) -> bool:
    """Whether the policy of now would let a call run alone that ran under a grant when it was asked."""
    if ruling.effect == "allow":
        return True
    return (
        ask.stake is not None
        and ruling.tier == ask.stake.tier
        and unearned(law.policy, ruling, called=True, undoable=True) is None
    )
