"""How an ask stands at one moment, and how it grows by one event."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sayso.errors import BadValue, StoreBusy, Tampered, UnknownAsk
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.agenda import due
from sayso.model.ask import Ask
from sayso.model.event import GENESIS, Event, follows, link
from sayso.model.folding import after, fold
from sayso.store.contract import Loaded, Store

_TRIES = 200


class Standing(NamedTuple):
    """An ask with the moment it was read, the people of its team then, and who holds it."""

    ask: Ask
    now: datetime
    roster: Roster
    holder: str | None
    lapsed: bool
    people: int
    events: tuple[Event, ...]
    until: datetime | None = None
    law: bytes | None = None  # the mark of the law then; `None` if that was not read

    @property
    def overdue(self) -> bool:
        """Whether its deadline has passed without a decision."""
        found = due(self.ask, self.now)
        return found is not None and found.deed == "expire"


def standing(store: Store, ask_id: str) -> Standing:
    """Read an ask as it stands now.

    Raises:
        UnknownAsk: there is none of this id.
    """
    loaded = store.load(ask_id) if isinstance(ask_id, str) else None
    if loaded is None:
        raise UnknownAsk(ask_id)
    at = stand(loaded)
    if at.ask.id != ask_id:  # the list points to somebody else's journal
        raise Tampered(f"The list shows {at.ask.id} under {ask_id}. Run: sayso audit verify")
    return at


def stand(loaded: Loaded) -> Standing:
    """Fold what was loaded.

    Raises:
        Tampered: the journal cannot be read; nobody wrote it through sayso.
    """
    ask = told(loaded.events, solo=loaded.roster.solo)
    if loaded.gone and ask.open:
        ask = ask.grown(gone=True)
    return Standing(
        ask,
        loaded.now,
        loaded.roster.within(ask.content.team),
        loaded.holder,
        loaded.gone,
        loaded.people,
        loaded.events,
        loaded.until,
        loaded.law,
    )


def told(events: Sequence[Event], *, solo: bool = False) -> Ask:
    """Return the ask that these events tell of.

    Raises:
        Tampered: they make no sense; nobody wrote them through sayso.
    """
    try:
        return fold(events, solo=solo)
    except (KeyError, TypeError, ValueError, AttributeError, BadValue) as error:
        stream = events[0].stream if events else "?"
        raise Tampered(
            f"The journal of {stream} was not written by sayso: it makes no sense. Run: sayso audit verify"
        ) from error


def tries(ask_id: str) -> Iterator[None]:
    """Go round as often as honest racers could make it necessary, and no further.

    Raises:
        StoreBusy: somebody else was faster every time, or the list and the journal disagree.
    """
    for _ in range(_TRIES):
        yield
    raise StoreBusy(
        f"{ask_id} could not be changed: somebody else was faster {_TRIES} times, or its row was "
        "changed by hand. Try again; if it stays so, run: sayso audit verify"
    )


def grow(
    ask: Ask, kind: str, *, at: datetime, actor: Actor, payload: dict[str, Any]
) -> tuple[Event, Ask]:
    """Make the next event of an ask, and the ask after it.

    Clocks differ between machines; no event looks earlier than the one it follows.
    """
    at = at if ask.changed_at is None else max(at, ask.changed_at)
    event = link(
        ask.stream,
        ask.seq + 1,
        kind,
        at=at,
        actor=actor,
        payload=payload,
        salt=os.urandom(16),
        previous=ask.head,
    )
    return event, after(ask, event, payload)


def stamped(origin: Origin, **said: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a payload that says through which door it came; what is `None` is left out."""
    given = {name: value for name, value in said.items() if value is not None}
    if origin.request is not None:
        given["request"] = origin.request
    return {**given, "via": origin.via, "account": origin.account}


def check_chain(at: Standing, *, followed: bool = False) -> None:
    """Refuse to act on a journal that is not what was written (E11).

    `followed` says that whoever read these events went along their hashes already.

    Raises:
        Tampered: an event was changed, moved or removed.
    """
    before = GENESIS
    for number, event in enumerate(at.events, start=1):
        # A blanked payload still fits the chain, but no longer says what was approved.
        if event.seq != number or event.text is None or not (followed or follows(event, before)):
            raise Tampered(
                f"The journal of {at.ask.id} was changed at event {number}, so nothing is carried "
                "out. Run: sayso audit verify"
            )
        before = event.hash
