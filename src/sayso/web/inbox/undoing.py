"""Taking several decisions back at once, each by itself and as long as it does not count yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sayso.asks.standing import Standing
from sayso.asks.taking_back import take_back
from sayso.channels.card import ended
from sayso.channels.headline import headline
from sayso.errors import AskClosed, SaysoError
from sayso.web.inbox.card import shape_of
from sayso.web.look.views import BulkItem, Undo
from sayso.web.visit import Visit

_TITLE = 400


def undo_of(visit: Visit, ids: Iterable[str]) -> Undo | None:
    """Return which of these decisions this person may still take back; `None` if none of them."""
    found = [visit.standing(ask_id).ask for ask_id in ids if visit.knows(ask_id)]
    mine = [ask for ask in found if ask.settling and any(v.by == visit.actor for v in ask.votes)]
    until = min((ask.settles_at for ask in mine if ask.settles_at), default=None)
    return None if until is None else Undo(ids=tuple(ask.id for ask in mine), until=until)


def all_taken_back(visit: Visit, ids: Iterable[str]) -> tuple[BulkItem, ...]:
    """Take each back by itself, and say of each whether it is open again."""
    return tuple(_taken_back(visit, ask_id) for ask_id in ids)


def in_a_line(items: Sequence[BulkItem]) -> str:
    """Say what came of them: `2 are open again, 1 could no longer be taken back`."""
    late = sum(item.failed for item in items)
    counted = ((len(items) - late, "open again"), (late, "could no longer be taken back"))
    return ", ".join(f"{count} {words}" for count, words in counted if count)


def _taken_back(visit: Visit, ask_id: str) -> BulkItem:
    try:
        at = visit.standing(ask_id)
    except SaysoError:
        return BulkItem(id=ask_id, title=ask_id, digest="", result="not there", failed=True)
    if at.ask.open:  # undone before, or never done
        return _item(at, "open again")
    try:
        take_back(visit.store, ask_id, by=visit.caller.name, origin=visit.origin, note=None)
    except AskClosed:
        now = visit.standing(ask_id)
        return _item(now, f"too late, it counts already: {ended(now.ask)}", failed=True)
    except SaysoError as error:
        return _item(at, str(error), failed=True)
    return _item(at, "open again")


def _item(at: Standing, result: str, *, failed: bool = False) -> BulkItem:
    return BulkItem(
        id=at.ask.id,
        title=headline(at.ask)[:_TITLE],
        digest=at.ask.digest,
        result=result,
        failed=failed,
        shape=shape_of(at.ask),
    )
