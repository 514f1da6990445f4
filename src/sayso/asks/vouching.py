"""What people's decisions mean for the trust in an agent: labels, grants, flags, incidents.

A decision on a call of a key writes the next line of its book in the same commit, so a harmful call
stops the next one before anybody could ask for it. Whether a key may run alone, and whether a flag
holds, is asked of people like everything else: by an ask, whose decision is written into the book.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from sayso.asks.books import ORIGIN, SYSTEM, Pen, book_of
from sayso.asks.identity import concerned, identify, reviewer
from sayso.asks.opening import new_id, opening, without
from sayso.asks.standing import Standing, grow, stamped, standing, tries
from sayso.asks.trusting import key_of, least_of
from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Happening, What, refusal
from sayso.autonomy.reach import reach_told, saw
from sayso.autonomy.terms import DETECTION
from sayso.errors import (
    AlreadyReported,
    BadValue,
    Forbidden,
    Misuse,
    Tampered,
    UnknownAsk,
    UnknownKey,
    UnknownRole,
    Unsatisfiable,
)
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.ask import CONSENTS, Ask, Decision
from sayso.model.content import Content, Proposal, check_words, pairs
from sayso.model.requirement import Requirement
from sayso.model.stake import ASKER, Stake, matters_of, touching
from sayso.model.text import one_line
from sayso.model.verdicts import offered
from sayso.policy.ruling import together
from sayso.store.contract import Append, Opening, Store

_log = logging.getLogger("sayso.trust")
_NOTHING = Proposal(None, "{}", "{}")
_TWO = Requirement.parse(["2 reviewer"])
_OPENING = timedelta(minutes=1)  # within which a call that was picked is put to people


def learned(store: Store, at: Standing, ask: Ask) -> list[Append]:
    """Return what a decided ask means for its key, to be written with the decision."""
    decision, stake = ask.decision, ask.stake
    if decision is None or decision.by.kind != "person":
        return []
    if ask.kind == "feedback":
        return _rated(store, at, ask, decision)
    if stake is None:
        return []
    if stake.settles is not None:
        return _settled(store, at, ask, stake, decision)
    what = label_of(ask)
    return [] if what is None else _labelled(store, at, ask, stake, what)


def label_of(ask: Ask) -> str | None:
    """Return what people say of a call as it was proposed: fine, flagged, or nothing.

    Only harm counts against it, and of several words the gravest: a matter of taste or of time says
    nothing. Nor does an edit that touches what matters, unless whoever made it said that the call
    would have done none.
    """
    decision = ask.decision
    if decision is None:
        return None
    if ask.accused_by:
        return "flagged"
    if decision.verdict == "approve":
        return "fine"
    if decision.verdict != "edit":
        return None
    harmless = any(vote.harmful is False for vote in decision.votes)
    return "fine" if harmless or not touched(ask) else None


def touched(ask: Ask) -> list[str]:
    """Return the arguments that matter, of those that an edit changed; all do unless some are named."""
    return [] if ask.original is None else touching(ask.content, ask.original, ask.args)


def pen_for(store: Store, ask: Ask, stake: Stake) -> Pen | None:
    """Return what writes into the book of a call's key; `None` if there cannot be one.

    Raises:
        Tampered: the book, or the key of the call, is not what was written.
    """
    book = book_of(store, stake.key)
    if book is not None:
        return Pen(store, book)
    key = key_of(ask.content, stake.version, stake.bucket, stake.tier)
    if key.id != stake.key:
        raise Tampered(f"The key of {ask.id} is not that of its call. Run: sayso audit verify")
    return Pen.begun(store, key, ask.content.needs)


def _labelled(store: Store, at: Standing, ask: Ask, stake: Stake, what: str) -> list[Append]:
    """Write what people said of a call into the book of its key."""
    decision = ask.decision
    try:
        pen = pen_for(store, ask, stake)
    except Tampered as error:  # nothing of it runs alone; what people say to this still counts
        _log.error("%s", error)
        return []
    if pen is None or decision is None:
        return []
    book = pen.book
    said: dict[str, Any] = {"ask": ask.id, "detection": stake.detection or DETECTION}
    if what == "fine":
        said = good_word(at, ask, stake, decision)
    if book.audited(ask.id):
        said["rho"] = book.terms.audit
    elif _spoken_to(store, book.owed):  # and not of harm
        said["paid"] = True
    by = decision.by
    if what == "flagged":
        by = Actor("person", ask.accused_by[0])
        said |= _flag(pen, at, ask, decision)
    pen.write(what, by, decision.origin, **said)
    if pen.book.owed is not None:
        _look_into(pen, at, pen.book.owed)
    return put_up(pen, at, book, ask).appends()


def good_word(at: Standing, ask: Ask, stake: Stake, decision: Decision) -> dict[str, Any]:
    """Return what is written of a call that people found to be fine: what they saw, and who they are.

    Of a call that they edited it is what they made of it: that is what they approved.
    """
    seen = saw(ask.args, matters_of(ask.content))
    said: dict[str, Any] = {
        "ask": ask.id,
        "detection": stake.detection or DETECTION,
        "saw": False if seen is None else seen,
        "least": least_of(stake, solo=at.roster.solo),
    }
    if len(decision.votes) > 1:
        agreed = dict.fromkeys(vote.by.id for vote in decision.votes if vote.verdict in CONSENTS)
        said["voters"] = list(agreed)
    return said


def _known(store: Store, ask_id: str | None) -> Ask | None:
    """Return an ask; `None` if it was never written."""
    try:
        return None if ask_id is None else standing(store, ask_id).ask
    except UnknownAsk:
        return None


def _spoken_to(store: Store, ask_id: str | None) -> bool:
    """Whether people decided an ask, others than whoever asked or owns the agent."""
    ask = _known(store, ask_id)
    if ask is None or ask.decision is None or ask.decision.by.kind != "person":
        return False
    return ask.content.ruled.requester or not concerned(ask.content, ask.decision.by.id)


def _look_into(pen: Pen, at: Standing, owed: str) -> None:
    """Ask people about a call that chance had picked, if it was over before they spoke to it.

    Taken back by its agent, late by a time that the agent had set, or never put to anybody: the call
    itself is judged all the same. If another one could stand in for it, an agent would show people a
    better one.
    """
    book, picked = pen.book, _known(pen.store, owed)
    if picked is None:
        if book.owed_at is None or at.now - book.owed_at < _OPENING:
            return
        came_to = "was never put to anybody: its program ended, or was refused"
        shown: dict[str, Any] = {"Ask": owed}
    elif picked.closed:
        came_to = f"is over ({picked.status}) unseen"
        shown = {"Ask": owed, "Call": picked.tool, "Arguments": picked.args}
    else:
        return
    content = _about_key(
        book,
        f"Would {owed} have been harmful?",
        needs=Requirement.parse(book.needs or None),
        owner=None if picked is None else picked.content.owner,
        requester=None if picked is None else picked.content.requester,
        why=f"Chance had picked it to be looked at, and it {came_to}.",
        sentence=(
            "Until somebody has looked, nothing of this kind runs alone. Approve if it would have done "
            "harm, reject if not."
        ),
        facts={**_named(book), **shown},
    )
    opened = _asked_of_anybody(pen.store, at.roster, content, Stake(key=book.id, settles="flag"))
    if opened is None:  # it stays owed, and nothing of the key runs alone
        return
    pen.beside.append(opened)
    said = {"ask": owed, "rho": book.terms.audit, "flag": opened.ask.id, "unspoken": True}
    pen.write("flagged", SYSTEM, ORIGIN, detection=book.detection, **said)


def _flag(pen: Pen, at: Standing, ask: Ask, decision: Decision) -> dict[str, Any]:
    """Ask somebody else whether a flag holds, unless two have said so, or nobody else is there."""
    book = pen.book
    if book.ledger.standing == "locked":
        return {}
    flag = None
    if len(ask.accused_by) == 1:
        flag = flag_opening(pen.store, at.roster, ask, decision, book)
    if flag is None:
        return {"solo": True}
    pen.beside.append(flag)
    return {"flag": flag.ask.id}


def _settled(
    store: Store, at: Standing, ask: Ask, stake: Stake, decision: Decision
) -> list[Append]:
    """Write what people said to an ask about a key into its book."""
    book = book_of(store, stake.key)
    if book is None:
        return []
    agreed = bool(decision)
    if stake.settles == "grant":
        if book.grant_ask != ask.id or book.ledger.standing != "proposed":
            return []
        what, more = ("ratified" if agreed else "declined"), {}
    else:
        raised = book.raised(ask.id)
        if ask.id not in book.questions or book.ledger.standing != "suspended":
            return []
        what = "confirmed" if agreed else "overturned"
        more = {"flagged": raised[0].call, "rho": raised[0].rho}
    pen = Pen(store, book)
    voters = [vote.by.id for vote in decision.votes]
    pen.write(what, decision.by, decision.origin, ask=ask.id, voters=voters or None, **more)
    return put_up(pen, at, book, ask).appends()


# --- harm that shows only afterwards -----------------------------------------------------------


def _rated(store: Store, at: Standing, ask: Ask, decision: Decision) -> list[Append]:
    """Take a rating that calls a result harmful for an incident of the call that it is about."""
    about = ask.content.about
    if about is None or decision.verdict != "reject" or decision.kind != "harmful":
        return []
    try:
        of = standing(store, about)
    except UnknownAsk:  # whoever asked named something else; the rating itself counts
        return []
    if of.ask.effect is None or of.ask.harm is not None:
        return []
    harm = decision.note or f"Called harmful in {ask.id}."
    payload = stamped(decision.origin, harm=harm, rated=ask.id)
    event, harmed = grow(of.ask, "incident.reported", at=of.now, actor=decision.by, payload=payload)
    return [
        Append(event=event, ask=harmed),
        *harms(store, at, harmed, decision.by, decision.origin, harm),
    ]


def harms(
    store: Store, at: Standing, ask: Ask, by: Actor, origin: Origin, harm: str
) -> list[Append]:
    """Return what reported harm means for the key of a call, and for its other versions.

    An agent that has changed since is not spared: whatever it may do alone by now, it may not any
    longer.
    """
    if ask.stake is None or ask.stake.settles is not None:
        return []
    own = pen_for(store, ask, ask.stake)
    if own is None:
        return []
    weighs = ("proposed", "granted", "suspended")
    others = [book for book in _kin(store, own.book) if book.ledger.standing in weighs]
    written: list[Append] = []
    for pen in (own, *(Pen(store, book) for book in others)):
        before = pen.book
        detection = ask.stake.detection or DETECTION
        pen.write("incident", by, origin, ask=ask.id, harm=harm, detection=detection)
        written += put_up(pen, at, before, ask, kin=False).appends()
    taken = {book.id for book in others}
    left = (book for book in _kin(store, own.book) if book.id not in taken)
    return written + _taken_over(own, left, at, ask)


def _kin(store: Store, of: Book) -> Iterator[Book]:
    """Yield the books of all other versions of an agent, with the same tool and kind of call."""
    key = of.key
    for row in store.trust_kin(key.team, key.agent, key.tool):
        book = book_of(store, row.id) if row.id != of.id and row.bucket == key.bucket else None
        if book is not None:
            yield book


def _taken_over(pen: Pen, kin: Iterable[Book], at: Standing, ask: Ask) -> list[Append]:
    """Let a grant that ended by harm count for other versions, too: a new name sheds no strikes."""
    ledger, written = pen.book.ledger, list[Append]()
    for book in kin:
        if book.ledger.ends >= ledger.ends:
            continue
        other = Pen(pen.store, book)
        locked = ledger.standing == "locked"
        other.write("inherited", SYSTEM, ORIGIN, ends=ledger.ends, locked=locked or None)
        written += put_up(other, at, book, ask, kin=False).appends()
    return written


def check_harm(harm: object) -> None:
    """Refuse an incident that does not say what it was.

    Raises:
        BadValue: it is no text, an empty one, or one that is too long.
    """
    if not isinstance(harm, str) or not harm.strip():
        raise BadValue("An incident says what harm was done, in words.")
    check_words(harm, "harm")


def incident(store: Store, ask_id: str, harm: str, *, by: str | None, origin: Origin) -> Ask:
    """Report that a call which was carried out did harm, whoever had let it.

    Raises:
        UnknownAsk: there is none of this id, or none that this person sees.
        AlreadyReported: somebody did so before; it counts once.
        Misuse: it was never carried out.
        BadValue: what it did is not said.
    """
    check_harm(harm)
    for _ in tries(ask_id):
        at = standing(store, ask_id)
        person = reviewer(at.ask, at.roster, by, origin)
        if at.ask.harm is not None:
            raise AlreadyReported(at.ask, at.ask.harm.by.id)
        if at.ask.effect is None:
            raise Misuse(
                f'{at.ask.id} "{at.ask.label}" was never carried out, so it has done no harm. To say '
                "that a proposal is harmful, reject it as such."
            )
        payload = stamped(origin, harm=harm)
        event, ask = grow(at.ask, "incident.reported", at=at.now, actor=person, payload=payload)
        more = harms(store, at, ask, person, origin, harm)
        if store.commit(Append(event=event, ask=ask), *more):
            return ask
    raise AssertionError("unreachable: trying ends with an error")


# --- what follows for the key ------------------------------------------------------------------


def put_up(pen: Pen, at: Standing, before: Book, ask: Ask, *, kin: bool = True) -> Pen:
    """Say what has changed, and put before people what they have to settle now.

    Args:
        pen: With the line that was just written.
        at: The moment, and who is there.
        before: The book without that line.
        ask: What was decided: it is closed already.
        kin: Whether the other versions of the agent are told of a grant that ended.
    """
    ledger = pen.book.ledger
    inherits = pen.lines[-1].event.kind == "trust.inherited"
    if ledger.ends > before.ledger.ends and not inherits:
        locked = ledger.standing == "locked"
        pen.write("ended", SYSTEM, ORIGIN, ends=ledger.ends, locked=locked or None)
        if kin:
            pen.beside += _taken_over(pen, _kin(pen.store, pen.book), at, ask)
    for asked in _asked(before):
        if asked not in (*_asked(pen.book), ask.id):
            pen.beside += _withdrawn(pen.store, asked)
    if ledger.standing == "proposed" and not _stands(pen.store, pen.book.grant_ask):
        _propose(pen, at, ask)
    return pen


def _asked(book: Book) -> tuple[str, ...]:
    """Return what people are asked about a key just now."""
    return (*filter(None, (book.grant_ask,)), *book.questions)


def _stands(store: Store, ask_id: str | None) -> bool:
    """Whether an ask is still to be decided; one that was never written is not."""
    try:
        return ask_id is not None and not standing(store, ask_id).ask.closed
    except UnknownAsk:
        return False


def _withdrawn(store: Store, ask_id: str) -> list[Append]:
    """Take back a question about a key that has settled itself."""
    at = standing(store, ask_id)
    if at.ask.closed:
        return []
    payload = stamped(ORIGIN, note="The key has changed since it was asked.")
    actor = Actor("agent", ASKER)
    event, ask = grow(at.ask, "ask.withdrawn", at=at.now, actor=actor, payload=payload)
    return [Append(event=event, ask=ask)]


def _propose(pen: Pen, at: Standing, ask: Ask) -> None:
    """Ask those who decide its calls whether a key may run alone, with its numbers."""
    book = pen.book
    terms, key = book.terms, book.key
    needs = Requirement.parse(book.needs or None)
    if ask.stake is not None and ask.stake.key == book.id:  # who decides its calls by now, too
        needs = together(needs, ask.content.needs)
    content = _about_key(
        book,
        f"Let {key.agent} run {key.tool} alone?",
        needs=together(needs, _TWO) if key.tier == "high" else needs,
        owner=ask.content.owner,
        requester=ask.content.requester,
        sentence=(
            "The record of this agent is good enough for it to go without asking. Whoever decides "
            "its calls decides that, too."
        ),
        why=(
            f"{book.fine:,} of its calls were found to be fine, {book.harms} harmful; its score of "
            f"{book.ledger.score:.1f} has reached {book.ledger.bar:g}."
        ),
        risk=key.tier,  # it is asked like the calls that it lets through
        facts={
            "Exposure": (
                f"{terms.exposure:.1f} bad calls at most, in expectation, if reviewers notice "
                f"{book.detection:.0%} of them"
            ),
            "Reaches": reach_told(book.reach, book.least),
            **_named(book),
            "Calls found to be fine": book.fine,
            "Approved by": f"{book.reach.people:,} people, over {book.reach.days:,} days",
            "Confirmed harms": book.harms,
            "Incidents": book.incidents,
            "Score": round(book.ledger.score, 2),
            "Needed": book.ledger.bar,
            "Still looked at, picked by chance": f"{terms.audit:.1%} of its calls",
            "Ends with": _ends_with(terms.strikes),
        },
    )
    opened = _opened(pen.store, at.roster, content, Stake(key=book.id, settles="grant"))
    if opened is None:
        return
    pen.beside.append(opened)
    pen.write(
        "proposed",
        SYSTEM,
        ORIGIN,
        ask=opened.ask.id,
        score=round(book.ledger.score, 4),
        bar=book.ledger.bar,
        fine=book.fine,
        harms=book.harms,
    )


def _ends_with(strikes: int) -> str:
    harms = "a confirmed harm" if strikes == 1 else f"{strikes} confirmed harms"
    return f"{harms}, or one incident"


def flag_opening(
    store: Store, roster: Roster, ask: Ask, decision: Decision, book: Book
) -> Opening | None:
    """Return the ask whether a flag holds, for somebody else; `None` if nobody else is there."""
    if roster.solo:
        return None
    by = ask.accused_by[0]
    content = _about_key(
        book,
        f"Was {ask.id} harmful?",
        needs=Requirement.parse(book.needs or None),
        requester=by,
        owner=ask.content.owner,
        sentence=(
            f"{by} says so. Until somebody else has looked, nothing of this kind runs "
            "alone. Approve if it was harmful, reject if it was not."
        ),
        why=decision.note,
        facts={
            **_named(book),
            "Ask": ask.id,
            "Call": ask.tool,
            "Arguments": ask.args if ask.original is None else ask.original,
            "Flagged by": by,
        },
    )
    return _asked_of_anybody(store, roster, content, Stake(key=book.id, settles="flag"))


def _named(book: Book) -> dict[str, Any]:
    key = book.key
    named = {
        "Agent": key.agent,
        "Version": key.version or "not stated",
        "Tool": key.tool,
        "Calls of the kind": key.bucket,
        "Tier": key.tier,
        "Key": book.id,
    }
    return {name: value for name, value in named.items() if value}


def _about_key(book: Book, title: str, *, facts: dict[str, Any], **more: Any) -> Content:  # noqa: ANN401
    return Content.fresh(
        kind="action",
        title=one_line(title, 200),
        agent=ASKER,
        proposal=_NOTHING,
        allow=offered("action", ("approve", "reject")),
        facts=pairs(facts, "facts"),
        team=book.key.team or None,
        **more,
    )


def _asked_of_anybody(
    store: Store, roster: Roster, content: Content, stake: Stake
) -> Opening | None:
    """Return the opening of an ask about harm: where nobody decides such calls, anybody else may."""
    anybody = content.changed(needs=Requirement())
    return _opened(store, roster, content, stake) or _opened(store, roster, anybody, stake)


def _opened(store: Store, roster: Roster, content: Content, stake: Stake) -> Opening | None:
    """Return the opening of an ask about a key; `None` if nobody here could decide it."""
    try:
        if not roster.solo:
            content.needs.check(without(roster, content))
    except (UnknownRole, Unsatisfiable):
        return None
    return opening(new_id(store), content, store=store, origin=ORIGIN, stake=stake)


# --- what people do about a key without being asked --------------------------------------------


def steer(
    store: Store, key: str, what: What, *, note: str | None, by: str | None, origin: Origin
) -> Book:
    """Revoke a grant, or reopen a key that is locked.

    Raises:
        UnknownKey: there is none of this id, or none that this person sees.
        Forbidden: they could not decide its calls, and so cannot reopen it.
        Misuse: it does not apply to how the key stands.
    """
    check_words(note, "note")
    for _ in tries(key):
        book = book_of(store, key) if isinstance(key, str) else None
        roster = store.roster()
        if book is None or (by is not None and not roster.sees(by, book.key.team or None)):
            raise UnknownKey(key)
        person = identify(roster.within(book.key.team or None), by, origin)
        needs = Requirement.parse(book.needs or None)
        if what == "reopened" and not roster.solo and not needs.takes(roster.people[person.id]):
            raise Forbidden(f"Reopening {key} needs {needs}, and {person.id} is none of these.")
        refused = refusal(book.ledger, Happening(what, person.id))
        if refused is not None:
            raise Misuse(refused)
        pen = Pen(store, book)
        pen.write(what, person, origin, note=note or None)
        for asked in _asked(book):
            pen.beside += _withdrawn(store, asked)
        if store.commit(*pen.appends()):
            return pen.book
    raise AssertionError("unreachable: trying ends with an error")
