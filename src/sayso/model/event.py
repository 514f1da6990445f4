"""One line of the journal, and the chain that ties it to the line before.

The chain covers an event's header and a *salted digest* of its payload, not
the payload itself. A payload can therefore be erased (text and salt nulled)
and the chain still verifies; and the digest that stays behind cannot be used
to guess what was erased.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256 as _sha256
from typing import Any, NamedTuple

from sayso.errors import BadValue, Tampered
from sayso.model.actor import Actor
from sayso.model.digest import read, sha256, written

_HASH = 32  # bytes
GENESIS = bytes(_HASH)
SALT = 16  # bytes


class Event(NamedTuple):
    """What happened, to which stream, when, by whom.

    A tuple in the order of its columns: a long journal is read in half the time. `previous` is the
    hash that a new event was chained to; of one that was read it is `None`.
    """

    stream: str
    seq: int
    kind: str
    micros: int
    who: str
    text: str | None
    salt: bytes | None
    digest: bytes
    hash: bytes
    previous: bytes | None = None
    cursor: str | None = None

    @property
    def at(self) -> datetime:
        """When it was written, in UTC."""
        try:
            return moment(self.micros)
        except OverflowError as error:
            raise self._strange("its time") from error

    @property
    def actor(self) -> Actor:
        """Whoever did it."""
        try:
            return Actor.parse(self.who)
        except BadValue as error:
            raise self._strange("its actor") from error

    @property
    def payload(self) -> dict[str, Any] | None:
        """What it says, freshly decoded; `None` once erased."""
        if self.text is None:
            return None
        try:
            said = read(self.text)
        except ValueError as error:
            raise self._strange("its payload") from error
        if not isinstance(said, dict):
            raise self._strange("its payload")
        return said

    def _strange(self, part: str) -> Tampered:
        return Tampered(
            f"Event {self.seq} of {self.stream} was not written by sayso: {part} makes no sense. "
            "Run: sayso audit verify"
        )


def micros(when: datetime) -> int:
    """Return microseconds since 1970, the form times are stored in."""
    delta = when - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


@lru_cache(maxsize=256)  # whoever reads an event asks for its time several times
def moment(stored: int) -> datetime:
    """Return the instant that `micros` stored."""
    return _EPOCH + stored * _MICROSECOND


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def link(
    stream: str,
    seq: int,
    kind: str,
    *,
    at: datetime,
    actor: Actor,
    payload: dict[str, Any] | str,
    salt: bytes,
    previous: bytes,
) -> Event:
    """Make the event that follows `previous` in its stream; a text is canonical JSON already."""
    text = payload if isinstance(payload, str) else written(payload)
    covered = _sha256(salt + text.encode()).digest()
    when, who = micros(at), str(actor)
    chained = _chained(previous, stream, seq, kind, when, who, covered)
    return Event(stream, seq, kind, when, who, text, salt, covered, chained, previous)


def _chained(
    previous: bytes, stream: str, seq: int, kind: str, when: int, actor: str, covered: bytes
) -> bytes:
    """Return the hash of an event: of the one before, its payload's digest and its header.

    Nothing can be moved from one part to the next: hashes have one length, and the header begins with
    the lengths of the names in it.
    """
    header = f"{len(stream)},{len(kind)},{seq},{when},{stream}{kind}{actor}"
    return _sha256(previous + covered + header.encode()).digest()


def fingerprint(salt: bytes, *secret: bytes) -> str:
    """Return the salted hash by which an event knows a secret; the salt is that of its payload."""
    return sha256(salt, *secret).hex()


def follows(event: Event, previous: bytes, *, seq: int | None = None) -> bool:
    """Whether the event's hash fits the one before it, and its payload its own digest.

    `seq` asks the question as if the event stood at another place, which is
    how `verify` tells swapped rows from edited ones.
    """
    at = event.seq if seq is None else seq
    if len(event.digest) != _HASH:
        return False
    if event.text is not None:
        salt = event.salt
        # A payload without its salt was not written by us: only both together are ever erased.
        if salt is None or len(salt) != SALT:
            return False
        if _sha256(salt + event.text.encode()).digest() != event.digest:
            return False
    chained = _chained(
        previous, event.stream, at, event.kind, event.micros, event.who, event.digest
    )
    return chained == event.hash
