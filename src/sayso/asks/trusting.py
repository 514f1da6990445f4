"""Whether a call may run alone: its key has earned it, and the coin has not picked it for an audit.

The policy rules first. What people are asked for because of its tier alone can be earned; the coin
is tossed after the call was frozen, and its fall is written nowhere.
"""

from __future__ import annotations

from typing import Any

from sayso.asks.books import ORIGIN, book_of
from sayso.asks.lawbook import Lawbook
from sayso.asks.ruling import carried_out
from sayso.asks.standing import grow, stamped
from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Key
from sayso.autonomy.terms import terms_of
from sayso.model.actor import Actor
from sayso.model.ask import Ask
from sayso.model.content import Content
from sayso.model.digest import read
from sayso.model.requirement import ONE_REVIEWER
from sayso.model.stake import Stake
from sayso.policy.facts import Facts
from sayso.policy.rules import Policy
from sayso.policy.ruling import Ruling
from sayso.store.contract import Append, Store


def staked(law: Lawbook, content: Content, ruling: Ruling) -> Stake | None:
    """Return the key that a decision on this call counts for; `None` if nothing can be earned by it.

    Only what people are asked for because of its tier can be. What a rule asks for, what names its
    own people, what cannot be undone and what is critical is asked for always.
    """
    called, undoable = carried_out(content), content.reversible is not False
    if unearned(law.policy, ruling, called=called, undoable=undoable) is not None:
        return None
    if content.needs != ONE_REVIEWER:
        return None
    tier = ruling.tier or ""
    said = {} if content.stakes is None else read(content.stakes)
    if said.get("never"):
        return None
    key = key_of(content, said.get("version", ""), said.get("bucket", ""), tier)
    return Stake(
        key=key.id,
        version=key.version,
        bucket=key.bucket,
        tier=tier,
        detection=law.policy.earning.detection,
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
    return {"earnable": why is None, "unearned": why, "key": key if why is None else None}


def key_of(content: Content, version: str, bucket: str, tier: str) -> Key:
    """Return the key of a call."""
    return Key(
        content.agent, version, content.proposal.tool or "", bucket, tier, content.team or ""
    )


def spared(store: Store, law: Lawbook, stake: Stake | None) -> bool:
    """Whether a call runs without a person: its key is granted, and the coin did not pick it.

    The coin is tossed here, after the call was frozen, and what it says is written nowhere.
    """
    if stake is None:
        return False
    book = book_of(store, stake.key)
    if book is None or not in_force(store, book):
        return False
    return law.coin() >= book.terms.audit


def in_force(store: Store, book: Book) -> bool:
    """Whether a key runs alone now. A grant from before a restore may have been taken away since."""
    restored = store.restored_at
    return book.alone and (
        restored is None or (book.granted_at is not None and book.granted_at >= restored)
    )


def granted(ask: Ask, store: Store) -> tuple[Ask, Append]:
    """Decide an ask as it opens: its key runs alone."""
    stake = ask.stake
    if stake is None:
        raise AssertionError("unreachable: only what has a key is granted")
    actor = Actor("policy", f"grant {stake.key}")
    note = f"{ask.content.agent} has earned to run this alone ({stake.key})."
    said = stamped(ORIGIN, verdict="approve", note=note, grant=stake.key)
    event, decided = grow(ask, "ask.decided", at=store.now(), actor=actor, payload=said)
    return decided, Append(event=event)


def still_granted(store: Store, ask: Ask) -> bool:
    """Whether a call that nobody was asked for may still run: its grant has not ended since."""
    decision = ask.decision
    if decision is None or decision.grant is None:
        return True
    book = book_of(store, decision.grant)
    return book is not None and in_force(store, book)
