"""Whether a call may run alone: its key has earned it, and the coin has not picked it for an audit.

The policy rules first. What people are asked for because of its tier alone can be earned; the coin
is tossed after the call was frozen, and its fall is written nowhere.
"""

from __future__ import annotations

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
from sayso.policy.ruling import Ruling
from sayso.store.contract import Append, Store


def staked(law: Lawbook, content: Content, ruling: Ruling) -> Stake | None:
    """Return the key that a decision on this call counts for; `None` if nothing can be earned by it.

    Only what people are asked for because of its tier can be. What a rule asks for, what names its
    own people, what cannot be undone and what is critical is asked for always.
    """
    if not (ruling.asks and ruling.earnable and carried_out(content)):
        return None
    earning, tier = law.policy.earning, ruling.tier or ""
    if not earning.enabled or ruling.critical or terms_of(tier) is None:
        return None
    if content.reversible is False or content.needs != ONE_REVIEWER:
        return None
    said = {} if content.stakes is None else read(content.stakes)
    if said.get("never"):
        return None
    key = key_of(content, said.get("version", ""), said.get("bucket", ""), tier)
    return Stake(
        key=key.id,
        version=key.version,
        bucket=key.bucket,
        tier=tier,
        detection=earning.detection,
    )


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
