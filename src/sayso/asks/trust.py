"""The trust in the agents of a desk, from Python: which keys run alone, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sayso.asks.books import book_of
from sayso.asks.vouching import steer
from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Standing, bar_after
from sayso.errors import UnknownKey
from sayso.model.actor import Origin
from sayso.model.event import Event
from sayso.store.contract import Store
from sayso.store.fleet import Teams
from sayso.store.trust import TrustRow


class Trust:
    """The keys of a desk: agents in one version, with a tool, a kind of call and a tier."""

    def __init__(self, store: Callable[[], Store], origin: Origin, teams: Teams = None) -> None:
        self._store = store
        self._origin = origin
        self._teams = teams

    def __iter__(self) -> Iterator[TrustRow]:
        """Go through the keys: those that want somebody first, then those that run alone."""
        return iter(self.keys())

    def keys(
        self,
        *,
        standing: Standing | None = None,
        agent: str | None = None,
        tool: str | None = None,
        limit: int = 200,
    ) -> list[TrustRow]:
        """Return keys with how they stand, those that want somebody first."""
        return self._store().trusted(
            standing=standing, agent=agent, tool=tool, teams=self._teams, limit=limit
        )

    def counts(self) -> Mapping[str, int]:
        """Return how many keys stand how."""
        return self._store().trust_counts(self._teams)

    def key(self, key: str) -> Book:
        """Return everything that is known of one key, read from its journal.

        Raises:
            UnknownKey: there is none of this id.
        """
        book = book_of(self._store(), key) if isinstance(key, str) else None
        if book is None or not _seen(book, self._teams):
            raise UnknownKey(key)
        return book

    def history(self, key: str) -> list[Event]:
        """Return everything that was said of one key, in order."""
        return self._store().stream(self.key(key).id)

    def alone(self, key: str) -> bool:
        """Whether calls of this key run without a person now, but for those that chance picks."""
        return self.key(key).alone

    def revoke(self, key: str, note: str | None = None, *, by: str | None = None) -> Book:
        """End a grant: from now on people are asked again, and the key earns from the beginning.

        Raises:
            UnknownKey: there is none of this id.
            Misuse: it is not granted.
        """
        self.key(key)
        return steer(self._store(), key, "revoked", note=note, by=by, origin=self._origin)

    def reopen(self, key: str, note: str | None = None, *, by: str | None = None) -> Book:
        """Let a key earn again that was locked after its third grant had ended by harm.

        Raises:
            UnknownKey: there is none of this id.
            Forbidden: this person could not decide its calls.
            Misuse: it is not locked.
        """
        self.key(key)
        return steer(self._store(), key, "reopened", note=note, by=by, origin=self._origin)


def _seen(book: Book, teams: Teams) -> bool:
    return teams is None or not book.key.team or book.key.team in teams


def row_record(row: TrustRow) -> dict[str, Any]:
    """Return a row of the list as HTTP and `--json` give it."""
    return row._asdict() | {
        "team": row.team or None,
        "bar": bar_after(row.ends),
        "changed_at": row.changed_at.isoformat(),
    }


def book_record(book: Book) -> dict[str, Any]:
    """Return a book as HTTP and `--json` give it."""
    key, ledger, terms = book.key, book.ledger, book.terms
    return {
        "id": book.id,
        "agent": key.agent,
        "version": key.version,
        "tool": key.tool,
        "bucket": key.bucket,
        "tier": key.tier,
        "team": key.team or None,
        "standing": ledger.standing,
        "score": round(ledger.score, 4),
        "bar": ledger.bar,
        "missing": book.missing,
        "fine": book.fine,
        "harms": book.harms,
        "incidents": book.incidents,
        "audits": book.audits,
        "bad_audits": book.bad_audits,
        "strikes": ledger.strikes,
        "strikes_allowed": terms.strikes,
        "ends": ledger.ends,
        "grants": ledger.grants,
        "audit_rate": round(terms.audit, 4),
        "exposure": None if book.exposure is None else round(book.exposure, 2),
        "detection": book.detection,
        "needs": list(book.needs),
        "reach": {
            "numbers": {name: [*ends] for name, ends in book.reach.numbers(book.least).items()},
            "names": book.reach.names(book.least),
            "people": book.reach.people,
            "days": book.reach.days,
        },
        "least": book.least._asdict(),
        "granted_at": None if book.granted_at is None else book.granted_at.isoformat(),
        "changed_at": None if book.changed_at is None else book.changed_at.isoformat(),
        "begun_at": None if book.begun_at is None else book.begun_at.isoformat(),
        "grant_ask": book.grant_ask,
        "flag_ask": book.flag_ask,
        "marks": book.marks,
    }
