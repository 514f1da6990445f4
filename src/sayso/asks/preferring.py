"""What people prefer, where they can see it, rewrite it and remove it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sayso.asks.identity import reviewer
from sayso.asks.standing import Standing, grow, stamped, standing, tries
from sayso.errors import BadValue
from sayso.insight.preference import (
    EDITED,
    LONGEST,
    REMOVED,
    Preference,
    preference_of,
    preferences,
)
from sayso.model.actor import Origin
from sayso.model.content import check_title
from sayso.store.contract import Append, Store

MOST = 500


class Preferences:
    """What people prefer of the agents on a desk. Only people change it."""

    def __init__(self, store: Callable[[], Store], origin: Origin) -> None:
        self._store = store
        self._origin = origin

    def __iter__(self) -> Iterator[Preference]:
        """Go through the last 500, the newest first."""
        return iter(self.of(None))

    def of(self, agent: str | None, *, limit: int = MOST) -> list[Preference]:
        """Return those that one agent is told of, the newest first; of `None`, all."""
        if type(limit) is not int or not 1 <= limit <= MOST:
            raise BadValue(f"limit={limit!r}: give a number from 1 to {MOST}.")
        return preferences(self._store(), agent, limit=limit)

    def edit(self, preference: Preference | str, text: str, *, by: str | None = None) -> Preference:
        """Say it in other words; `by` may be left out in solo mode.

        Raises:
            UnknownAsk: there is no ask of this id.
            BadValue: that ask left no preference, or the words are empty or too long.
        """
        words = " ".join(check_title(text, "A preference").split())
        if len(words) > LONGEST:
            raise BadValue(f"A preference takes at most {LONGEST} characters, not {len(words)}.")
        return self._said(preference, EDITED, by, text=words)

    def remove(self, preference: Preference | str, *, by: str | None = None) -> None:
        """Forget it. It does not come back; the journal keeps what was decided.

        Raises:
            UnknownAsk: there is no ask of this id.
            BadValue: that ask left no preference, or it is removed already.
        """
        self._said(preference, REMOVED, by)

    def _said(
        self, preference: Preference | str, kind: str, by: str | None, **said: str
    ) -> Preference:
        ask_id = preference if isinstance(preference, str) else preference.id
        store, turn = self._store(), tries(ask_id)
        while True:
            next(turn)
            at = standing(store, ask_id)
            actor = reviewer(at.ask, at.roster, by, self._origin)
            known = _left_by(at)
            payload = stamped(self._origin, **said)
            event, ask = grow(at.ask, kind, at=at.now, actor=actor, payload=payload)
            if store.commit(Append(event=event, ask=ask)):
                return preference_of([*at.events, event]) or known


def _left_by(at: Standing) -> Preference:
    known = preference_of(at.events)
    if known is None:
        raise BadValue(
            f"{at.ask.id} is no preference: no call or draft that somebody edited or answered, "
            "or it was removed. "
            "List them: sayso preferences list"
        )
    return known
