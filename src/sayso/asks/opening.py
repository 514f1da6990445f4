"""Opening an ask: freezing what is shown, and writing it once."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from sayso.asks.files import kept_with
from sayso.asks.law import mark_of
from sayso.asks.lawbook import InForce, Lawbook
from sayso.asks.pacing import check_pace
from sayso.asks.ruling import as_asked, rule, ruled, weighed
from sayso.asks.standing import grow, stamped, standing, tries
from sayso.asks.trusting import granted, spared, staked
from sayso.errors import BadValue, Denied, KeyConflict, TooManyAsks, UnknownRole, Unsatisfiable
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.ask import Ask
from sayso.model.asked import write
from sayso.model.content import Content, check_word
from sayso.model.digest import canonical
from sayso.model.event import GENESIS, Event, link
from sayso.model.folding import opened
from sayso.model.ids import short_id
from sayso.model.names import fold
from sayso.model.requirement import ONE_REVIEWER
from sayso.model.stake import Stake
from sayso.policy.ruling import Ruling
from sayso.store.contract import Append, Lease, Opening, Store

# Ids start short enough to say aloud and grow with the desk: after a collision
# this process tries one character more on that desk from then on.
_lengths: WeakKeyDictionary[Store, int] = WeakKeyDictionary()


def open_ask(
    store: Store,
    content: Content,
    *,
    origin: Origin,
    key: str | None = None,
    lease: Lease | None = None,
    law: Lawbook | None = None,
    always: bool = False,
    requested: bool = False,
) -> Ask:
    """Write a new ask, or return the one that was opened under the same key.

    What the policy allows is decided as it opens, by the policy. What is open already, word for
    word and waited for by nobody, is not opened twice but counted (E34).

    Raises:
        Denied: the policy does not allow it.
        KeyConflict: the key belongs to an ask with other content.
        TooManyAsks: the agent asks more of people than the policy lets it.
        UnknownRole, Unsatisfiable: nobody could ever decide it.
        BadValue: what is to be shown is too large for a person to review.
    """
    known = None if key is None else _same(store, content, key, law)
    if known is not None:
        return known
    sent, content = content, weighed(store, content)
    write = partial(_write, store, sent, origin=origin, key=key, lease=lease)
    picks = new_id(store)  # the one that chance picks, whatever is ruled on it in the end
    while True:
        if law is None:
            ask = write(content, picks)
        else:
            found = law.current(store)
            try:
                asked = as_asked(found, content)
                ask = write(asked, picks, law, found, always=always, requested=requested)
            except (BadValue, Denied, TooManyAsks, UnknownRole, Unsatisfiable):
                if not law.moved(store, found.mark):
                    raise
                continue
            if ask is None:
                law.moved(store, found.mark)
        if ask is not None:
            return ask


def _write(
    store: Store,
    sent: Content,
    content: Content,
    picks: str | None,
    book: Lawbook | None = None,
    law: InForce | None = None,
    *,
    origin: Origin,
    key: str | None,
    lease: Lease | None,
    always: bool = False,
    requested: bool = False,
) -> Ask | None:
    """Rule, and write the ask that the ruling wants; `None` if the law may be another one by now."""
    ruling = stake = None
    alone = False
    if law is not None:
        now = store.now()
        ruling = rule(law, content, now, always=always, requested=requested)
        stake, content = staked(law, content, ruling)
        content = ruled(content, ruling, now, requested=requested)
        if book is not None and picks is not None:
            alone, content = spared(store, book.coin, stake, content, picks)
    asks = law if ruling is not None and ruling.effect == "ask" and not alone else None
    while True:
        solo, people = check_decidable(store, content)
        ask_id, picks = picks or new_id(store), None
        line = opening(
            ask_id,
            content,
            store=store,
            origin=origin,
            key=key,
            lease=lease,
            people=people,
            law=None if law is None else law.mark,
            once=True,
            stake=stake,
        )
        ask, append, more = (
            _let_alone(store, line)
            if alone
            else _decided_or_paced(store, line, ruling, asks, origin)
        )
        if append is None or store.commit(append, *more):
            return ask.grown(solo=True) if solo else ask
        known = _same(store, sent, key, book) if key is not None else _counted(store, ask, origin)
        if known is not None:
            return known
        if law is not None and mark_of(store) != law.mark:
            return None
        if people is None or people == store.people_now():
            _lengths[store] = _lengths.get(store, 4) + 1


def _let_alone(store: Store, append: Opening) -> tuple[Ask, Opening | None, list[Append]]:
    """Return an ask that nobody has to be asked, decided as it opens."""
    ask, decided = granted(append.ask, store)
    return ask, replace(append, ask=ask), [decided]


def _decided_or_paced(
    store: Store, append: Opening, ruling: Ruling | None, law: InForce | None, origin: Origin
) -> tuple[Ask, Opening | None, list[Append]]:
    """Return the ask and how it is written: decided at once, if the policy allows it.

    Of an agent that asks too much, what is open already is counted all the same.

    Raises:
        TooManyAsks: the agent asks more of people than the policy lets it.
    """
    if ruling is not None and ruling.effect == "allow":
        ask, event = _allowed(append.ask, ruling, store)
        return ask, replace(append, ask=ask), [Append(event=event)]
    if law is None:
        return append.ask, append, []
    try:
        check_pace(store, law, append.ask.content)
    except TooManyAsks:
        known = _counted(store, append.ask, origin)
        if known is None:
            raise
        return known, None, []
    return append.ask, replace(append, paced=True), []


def check_decidable(
    store: Store, content: Content, *, fresh: bool = False
) -> tuple[bool, int | None]:
    """Refuse what nobody could ever decide.

    Returns whether nobody is on the desk, and the number of the last change of the people, for
    the write to check: unless `fresh`, they are as they were last seen here.

    Raises:
        UnknownRole, Unsatisfiable: nobody could.
    """
    if content.needs == ONE_REVIEWER and content.requester is content.owner is content.team is None:
        return False, None
    if fresh:
        store.people_now()
    roster, number = store.people_seen()
    try:
        if not roster.solo:
            content.needs.check(without(roster, content))
    except (UnknownRole, Unsatisfiable):
        store.people_now()  # somebody may have come since
        roster, number = store.people_seen()
        content.needs.check(without(roster, content))
    return roster.solo, number


def _allowed(ask: Ask, ruling: Ruling, store: Store) -> tuple[Ask, Event]:
    """Decide an ask as it opens: the policy allows it, and no person is needed."""
    actor = Actor("policy", ", ".join(ruling.rules) or ruling.tier or "default")
    said = stamped(Origin("policy", ""), verdict="approve", note=ruling.sentence)
    event, decided = grow(ask, "ask.decided", at=store.now(), actor=actor, payload=said)
    return decided, event


def _counted(store: Store, ask: Ask, origin: Origin) -> Ask | None:
    """Count a question on the ask that asks the same, and return that; `None` if there is none.

    The journal hears of it at 1, 2, 4, 8, ...: a flood must not grow what it repeats.
    """
    counted = None if ask.likeness is None else store.alike(ask.likeness)
    if counted is None:
        return None
    found, times = counted
    turn = tries(found)
    while True:
        next(turn)
        at = standing(store, found)
        if at.ask.closed:
            return None
        if times & (times - 1) or at.ask.repeats >= times:
            return at.ask
        actor = Actor("agent", ask.content.agent)
        said = stamped(origin, times=times)
        event, grown = grow(at.ask, "ask.repeated", at=at.now, actor=actor, payload=said)
        if store.commit(Append(event=event, ask=grown)):
            return grown


def without(roster: Roster, content: Content) -> Roster:
    """Return the people of its team who may decide: not whoever asked, nor whose agent it is."""
    roster = roster.within(content.team)
    left_out = {fold(name) for name in (content.requester, content.owner) if name is not None}
    if not left_out or content.ruled.requester:
        return roster
    people = roster.people.items()
    others = {name: roles for name, roles in people if fold(name) not in left_out}
    # With nobody left it is nobody's, and not a desk on which whoever sits there decides.
    return replace(roster, people=others, team=roster.team if others else roster.team or "")


def new_id(store: Store) -> str:
    """Return a fresh id of the length this desk needs by now."""
    return short_id("a", os.urandom(16), _lengths.get(store, 4) if _lengths else 4)


def opening(
    ask_id: str,
    content: Content,
    *,
    store: Store,
    origin: Origin,
    key: str | None = None,
    lease: Lease | None = None,
    at: datetime | None = None,
    people: int | None = None,
    law: bytes | None = None,
    once: bool = False,
    paced: bool = False,
    stake: Stake | None = None,
) -> Opening:
    """Return the write that opens an ask. With a lease, its program waits for the answer."""
    text, asked = write(
        ask_id, content, origin=origin, key=key, held=lease is not None, stake=stake
    )
    event = link(
        ask_id,
        1,
        "ask.opened",
        at=at or store.now(),
        actor=Actor("agent", content.agent),
        payload=text,
        salt=os.urandom(16),
        previous=GENESIS,
    )
    ask = opened(event, asked)
    kept = kept_with(ask_id, content.files) if content.files else ()
    return Opening(
        event=event,
        ask=ask,
        lease=lease,
        people=people,
        law=law,
        once=once,
        paced=paced,
        beside=kept,
    )


def _same(store: Store, sent: Content, key: str, law: Lawbook | None) -> Ask | None:
    """Return the ask of this key if it asks the same (E7); the deadline may differ.

    What was sent became what is declared of its tool, unless that was declared since.
    """
    check_word(key, "key")
    ask_id = store.find_key(key)
    if ask_id is None:
        return None
    at = standing(store, ask_id)
    opened = (at.events[0].payload or {}).get("content", {})
    question = _question(opened)
    if question == _question(sent.to_json()):
        return at.ask
    asked = sent if law is None else as_asked(law.current(store), sent)
    if asked is sent or question != _question(asked.to_json()):
        raise KeyConflict(at.ask, key)
    return at.ask


def _question(content: dict[str, Any]) -> str:
    # What the policy made of it, what was known of the past by then and which version of the code
    # asks is not what was asked.
    ruled = ("due_at", "needs", "deny", "sentence", "ruling", "unseen", "worth", "stakes")
    return canonical({name: value for name, value in content.items() if name not in ruled})
