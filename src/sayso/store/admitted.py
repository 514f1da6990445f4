"""Whether whatever lets somebody in is in the journal.

Rows that count must have been written with their event. The other way round is not asked:
sessions grow old, and people who leave take what they came in by with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sayso.errors import Tampered
from sayso.model.event import Event
from sayso.store.accounts import ACCESS
from sayso.store.contract import Store

_TOKEN = ("name", "kind", "scopes", "expires_at", "team", "owner")
_SESSION = ("name", "how")


def strangers(store: Store) -> list[str]:
    """Return what lets somebody in that is not as the journal says."""
    while True:  # until no change came between the reads
        events = store.stream(ACCESS)
        rows = _rows(store)
        if store.head(ACCESS).seq == (events[-1].seq if events else 0):
            break
    told = _told(events)
    return sorted(what for what, known in rows.items() if told.get(what) != known)


def _rows(store: Store) -> dict[str, object]:
    tokens = {
        row.id: _of(
            _TOKEN,
            row._asdict()
            | {"scopes": list(row.scopes)}
            | {"expires_at": row.expires_at and row.expires_at.isoformat()},
        )
        for row in store.tokens()
        if row.revoked_at is None
    }
    sessions = {row.id: [row.person, row.how] for row in store.sessions()}
    identities = {_subject(row._asdict()): row.person for row in store.identities()}
    return {**tokens, **sessions, **identities}


def _told(events: Sequence[Event]) -> dict[str, object]:
    told: dict[str, object] = {}
    for event in events:
        step = _STEPS.get(event.kind)
        try:
            said = event.payload or {}
        except Tampered:  # named by whoever walks the chain
            continue
        if step is not None:
            step(told, said)
    return told


def _of(names: Sequence[str], said: Mapping[str, Any]) -> list[object]:
    return [said.get(name) for name in names]


def _subject(said: Mapping[str, Any]) -> str:
    return f"{said.get('subject')} of {said.get('issuer')}"


def _made(told: dict[str, object], said: Mapping[str, Any]) -> None:
    told[str(said.get("id"))] = _of(_TOKEN, said)


def _opened(told: dict[str, object], said: Mapping[str, Any]) -> None:
    told.pop(str(said.get("replaces")), None)
    told[str(said.get("id"))] = _of(_SESSION, said)


def _over(told: dict[str, object], said: Mapping[str, Any]) -> None:
    several = said.get("ids")
    for each in several if isinstance(several, list) else [said.get("id")]:
        told.pop(str(each), None)


def _linked(told: dict[str, object], said: Mapping[str, Any]) -> None:
    told[_subject(said)] = said.get("name")


def _unlinked(told: dict[str, object], said: Mapping[str, Any]) -> None:
    told.pop(_subject(said), None)


_STEPS: Mapping[str, Callable[[dict[str, object], Mapping[str, Any]], None]] = {
    "token.made": _made,
    "token.revoked": _over,
    "session.opened": _opened,
    "session.ended": _over,
    "identity.linked": _linked,
    "identity.unlinked": _unlinked,
}
