"""What colleagues found in the weeks before: some agents have earned something, one of them nearly.

Nobody could wait for hundreds of calls, so their words are written into the books of these keys at
once. What a visitor decides afterwards counts as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import cycle
from typing import Any

from sayso.asks.books import Pen, book_of
from sayso.autonomy.ledger import Key
from sayso.autonomy.reach import Saw, saw
from sayso.desk import Desk
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask
from sayso.model.requirement import ONE_REVIEWER

_OTHER = "kim"  # a colleague who has gone since
_AGO, _BETWEEN = timedelta(days=21), timedelta(hours=1)
_TAGGED = {"ticket: text": None, "tag: text": None}
_POSTED = {"text: text": None}
_TAGS = Key("support", "", "tag_ticket", "", "low")
_POSTS = Key("growth", "", "post_update", "weekday", "medium")


def remember(desk: Desk, vouchers: list[Ask], decided: list[Ask], colleague: str) -> None:
    """Write what was found, unless it stands there already.

    Args:
        desk: The desk of the company.
        vouchers: Calls that wait: of their key one more that is fine is missing.
        decided: Asks that were decided, which the lines name.
        colleague: Whose words they are, in turn with those of somebody who has gone since.
    """
    stakes = [ask.stake for ask in vouchers if ask.stake is not None]
    if not stakes or not decided or book_of(desk.store, stakes[0].key) is not None:
        return
    stake, of = stakes[0], vouchers[0].content
    key = Key(of.agent, stake.version, of.proposal.tool or "", stake.bucket, stake.tier)
    words = _Words(desk, decided, (colleague, _OTHER))
    words.write(key, "fine", until=1, seen=[saw(ask.args) or {} for ask in vouchers])
    words.write(_TAGS, "fine", until=0, seen=[_TAGGED])
    words.write(_TAGS, "ratified")
    words.write(_TAGS, "fine", times=31, rho=0.05, seen=[_TAGGED])
    words.write(_POSTS, "fine", times=60, seen=[_POSTED])
    words.write(_POSTS, "flagged", solo=True)
    words.write(_POSTS, "fine", times=24, seen=[_POSTED])


class _Words:
    """What a colleague said of keys, line by line."""

    def __init__(self, desk: Desk, decided: list[Ask], by: tuple[str, ...]) -> None:
        self._store = desk.store
        self._asks: Iterator[Ask] = cycle(decided)
        self._by: Iterator[str] = cycle(by)
        self._at = desk.store.now() - _AGO

    def write(
        self,
        key: Key,
        what: str,
        *,
        times: int = 1,
        until: int | None = None,
        seen: Sequence[Saw] = (),
        **more: object,
    ) -> None:
        """Say something so many times, or until so many calls are missing to a grant."""
        book = book_of(self._store, key.id)
        pen = (
            Pen.begun(self._store, key, ONE_REVIEWER, self._at)
            if book is None
            else Pen(self._store, book, self._at)
        )
        if pen is None:
            return
        said = 0
        while said < times if until is None else (pen.book.missing or 0) > until:
            label: dict[str, Any] = {}
            if what != "ratified":
                label["detection"] = pen.book.detection
            if seen:
                label["saw"] = seen[said % len(seen)]
            ask, by = next(self._asks).id, next(self._by)
            pen.at = (pen.at or self._at) + _BETWEEN
            pen.write(what, Actor("person", by), Origin("python", by), ask=ask, **label, **more)
            said += 1
        self._at = pen.at or self._at
        self._store.commit(*pen.appends())
