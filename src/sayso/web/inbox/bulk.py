"""Deciding several asks together: only of one kind, only where little is at stake, one by one.

Each is decided by itself, with the digest that was shown, and says what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sayso.asks.identity import barred
from sayso.asks.standing import Standing
from sayso.channels.facts import undecodable
from sayso.channels.headline import headline
from sayso.errors import AskClosed, BadValue, SaysoError, Settling
from sayso.model.actor import Actor, Roster
from sayso.model.ask import Ask, Ballot
from sayso.model.verdicts import Kind, Verdict
from sayso.web.deciding import said
from sayso.web.forms.sent import Posted
from sayso.web.inbox.arming import weighs
from sayso.web.inbox.card import shape_of, so_far
from sayso.web.inbox.deciding import HOLD, hold_of
from sayso.web.look.views import BulkItem
from sayso.web.problems import words_of
from sayso.web.visit import Visit

MOST = 100
_KINDS: tuple[Kind, ...] = ("action", "notice", "feedback")
_HARMLESS: tuple[Kind, ...] = ("notice", "feedback")  # of these nobody states a risk
_TITLE = 400
_LONGEST = 4000  # characters that somebody can be said to know from a line in a list


@dataclass(frozen=True, slots=True)
class Pick:
    """An ask that was ticked, and what of it was seen."""

    id: str
    seen: str


def bulk_digest(ask: Ask, me: Actor, roster: Roster) -> str | None:
    """Return what an ask is decided with in bulk; `None` if it wants to be looked at by itself."""
    team = roster.within(ask.content.team)
    if not ask.open or ask.gone or too_grave(ask) is not None:
        return None
    known = team.solo or me.id in team.people
    return ask.digest if known and barred(ask, me, team) is None else None


def too_grave(ask: Ask) -> str | None:
    """Say why an ask is not decided together with others; `None` if it may be."""
    if weighs(ask):
        return "Too much is at stake to decide it together with others: open it."
    if ask.kind not in _KINDS:
        return f"A {ask.kind} is decided by itself: open it."
    if ask.risk is None and ask.kind not in _HARMLESS:
        return "Nobody has said how risky it is: open it."
    return unread(ask)


def unread(ask: Ask) -> str | None:
    """Say why nobody can know from its title what an ask is about."""
    if undecodable(ask.args):
        return "It has values that cannot be read: open it."
    if len(ask.proposal.arguments) + len(ask.content.facts or "") > _LONGEST:
        return "It says more than a title can tell: open it."
    return None


def picks_in(fields: Posted) -> list[Pick]:
    """Return what was ticked.

    Raises:
        BadValue: nothing was, or too much.
    """
    found = [value.partition(" ") for value in fields.get("pick", ())]
    picks = list({ask_id: Pick(ask_id, seen) for ask_id, _, seen in found}.values())
    if not picks:
        raise BadValue("Nothing is selected. Go back and tick what you want to decide.")
    if len(picks) > MOST:
        raise BadValue(f"At most {MOST} are decided together, not {len(picks):,}.")
    return picks


def to_confirm(visit: Visit, picks: Sequence[Pick], verdict: Verdict) -> tuple[BulkItem, ...]:
    """Return what would be decided, by its titles, and what of it cannot be.

    Raises:
        BadValue: they are of several kinds, or this verdict cannot be given in bulk.
    """
    found = _found(visit, picks)
    _check_kinds([at.ask for at in found.values()], verdict)
    return tuple(_item(pick, found.get(pick.id), _refused(visit, pick, found)) for pick in picks)


def decide_all(
    visit: Visit, picks: Sequence[Pick], verdict: Verdict, fresh: timedelta
) -> tuple[BulkItem, ...]:
    """Decide each by itself, and say what came of each.

    Raises:
        BadValue: they are of several kinds, or this verdict cannot be given in bulk.
    """
    found = _found(visit, picks)
    _check_kinds([at.ask for at in found.values()], verdict)
    return tuple(_decided(visit, pick, found, verdict, fresh) for pick in picks)


def summary(items: Sequence[BulkItem], verdict: Verdict) -> str:
    """Say in a line what came of them: `7 approved, 1 already decided by mara`."""
    failed = [item.result or "" for item in items if item.failed]
    done = len(items) - len(failed)
    past = {"approve": "approved", "reject": "rejected"}.get(verdict, verdict)
    counted = [f"{failed.count(words)} {words}" for words in dict.fromkeys(failed)]
    return ", ".join([f"{done} {past}", *counted])


def _found(visit: Visit, picks: Iterable[Pick]) -> dict[str, Standing]:
    found: dict[str, Standing] = {}
    for pick in picks:
        try:
            found[pick.id] = visit.standing(pick.id)
        except SaysoError:  # not there, or not for this person: said beside it
            continue
    return found


def _check_kinds(asks: Sequence[Ask], verdict: Verdict) -> None:
    kinds = {ask.kind for ask in asks}
    if len(kinds) > 1:
        raise BadValue(
            f"Only asks of one kind are decided together, not {' and '.join(sorted(kinds))}."
        )
    if verdict not in ("approve", "reject"):
        raise BadValue(f"{verdict!r} cannot be said to several asks at once.")


def _refused(visit: Visit, pick: Pick, found: dict[str, Standing]) -> str | None:
    at = found.get(pick.id)
    if at is None:
        return "not there"
    if not at.ask.open:
        return f"already {so_far(at.ask)}"
    if at.ask.digest != pick.seen:
        return "changed since you saw it"
    return too_grave(at.ask) or barred(at.ask, visit.actor, at.roster)


def _decided(
    visit: Visit,
    pick: Pick,
    found: dict[str, Standing],
    verdict: Verdict,
    fresh: timedelta,
) -> BulkItem:
    at = found.get(pick.id)
    grave = None if at is None else too_grave(at.ask)
    if at is None or grave is not None:
        return _item(pick, at, grave or "not there")
    ballot = Ballot(verdict, hold=hold_of(at.ask, at.now, HOLD))
    try:
        ask = said(visit, at, lambda _: ballot, seen=pick.seen, fresh=fresh)
    except (AskClosed, Settling):
        return _item(pick, at, f"already {so_far(visit.standing(pick.id).ask)}")
    except SaysoError as error:
        return _item(pick, at, words_of(error))
    done = so_far(ask) if not ask.open else "recorded; others must agree too"
    return BulkItem(
        id=ask.id, title=headline(ask)[:_TITLE], digest=pick.seen, result=done, shape=shape_of(ask)
    )


def _item(pick: Pick, at: Standing | None, refused: str | None) -> BulkItem:
    title = pick.id if at is None else headline(at.ask)[:_TITLE]
    return BulkItem(
        id=pick.id,
        title=title,
        digest=pick.seen,
        result=refused,
        failed=refused is not None,
        shape="none" if at is None else shape_of(at.ask),
    )
