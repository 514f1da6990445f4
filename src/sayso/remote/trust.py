"""The trust in agents, at a server: the verbs of `desk.trust`, for whoever the token names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from os import urandom
from typing import Any

from sayso.autonomy.book import Book, read
from sayso.autonomy.ledger import Standing
from sayso.errors import UnknownKey
from sayso.model.content import check_words
from sayso.model.event import Event
from sayso.model.wire import read_event
from sayso.remote.line import Line
from sayso.store.trust import TrustRow

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class RemoteTrust:
    """The keys that a server knows. A book is read from its journal here, too."""

    def __init__(self, line: Line, check_by: Callable[[str | None], None]) -> None:
        self._line = line
        self._check_by = check_by

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
        data = self._line.get("/trust", standing=standing, agent=agent, tool=tool, limit=limit)
        return self._line.read(lambda said: [_row(one) for one in said["keys"]], data)

    def counts(self) -> Mapping[str, int]:
        """Return how many keys stand how."""
        return self._line.read(lambda said: dict(said["counts"]), self._line.get("/trust", limit=1))

    def key(self, key: str) -> Book:
        """Return everything that is known of one key, read from its journal."""
        return read(self.history(key))

    def history(self, key: str) -> list[Event]:
        """Return everything that was said of one key, in order."""
        return self._line.read(_events, self._line.get(_place(key)))

    def alone(self, key: str) -> bool:
        """Whether calls of this key run without a person now, but for those that chance picks."""
        return bool(self._line.read(lambda said: said["alone"], self._line.get(_place(key))))

    def revoke(self, key: str, note: str | None = None, *, by: str | None = None) -> Book:
        """End a grant: from now on people are asked again, and the key earns from the beginning."""
        return self._steered(key, "revoke", note, by)

    def reopen(self, key: str, note: str | None = None, *, by: str | None = None) -> Book:
        """Let a key earn again that was locked after its third grant had ended by harm."""
        return self._steered(key, "reopen", note, by)

    def _steered(self, key: str, what: str, note: str | None, by: str | None) -> Book:
        check_words(note, "note")
        self._check_by(by)
        said = self._line.post(f"{_place(key)}/{what}", {"note": note}, key=urandom(16).hex())
        return read(self._line.read(_events, said))


def _place(key: object) -> str:
    """Return where a key is found; what cannot be an id is a key that nobody knows."""
    if not isinstance(key, str) or not _ID.fullmatch(key):
        raise UnknownKey(key)
    return f"/trust/{key}"


def _events(said: dict[str, Any]) -> list[Event]:
    return [read_event(one) for one in said["history"]]


def _row(said: dict[str, Any]) -> TrustRow:
    given = {name: said[name] for name in TrustRow._fields}
    at = datetime.fromisoformat(said["changed_at"])
    return TrustRow(**given | {"team": said["team"] or "", "changed_at": at})
