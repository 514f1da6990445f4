"""The law of a desk: the stream of its journal that says which policy is in force.

Its mark is the hash of its last event. A seq would not do: a desk that was restored from a backup
can reach the same one with other content. Whoever rules remembers the law with its mark, and each
write that rests on a ruling carries that mark: if it is another one by then, nothing is written and
the law is read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from sayso.asks.standing import stamped
from sayso.errors import Tampered
from sayso.model.actor import Actor, Origin
from sayso.model.event import GENESIS, Event, follows, link
from sayso.store.contract import LAW, Append, Store

PUBLISHED = "policy.published"
PolicyKind = Literal["file", "code", "default"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One version of the policy, as the journal has it.

    Attributes:
        number: Which version it is, counted from 1.
        kind: Whether it is the text of a file, made in code, or the built-in one.
        text: Of a file: its text.
        digest: What tells its rules from others.
        name: Of one made in code: what it is called.
        source: Where it came from: the host and the file, or the program.
        note: Why it was put in force.
        restores: The number of the version that it puts in force again.
        seq: Its place in the stream.
    """

    number: int
    kind: str
    text: str | None
    digest: str | None
    name: str | None
    source: str
    note: str | None
    restores: int | None
    at: datetime
    by: Actor
    via: str
    account: str
    seq: int


@dataclass(frozen=True, slots=True)
class Law:
    """The law as the stream tells it.

    Attributes:
        mark: The hash of its last event; empty if there is none.
        seq: The number of its last event.
        policy: The version of the policy in force; `None` if none was ever put in force.
        versions: How many there were.
        written: The digest with which each file, and each name in code, was last put in force.
        strange: The kind of an event that this program does not know: nothing is ruled by such a law.
    """

    mark: bytes = b""
    seq: int = 0
    policy: Published | None = None
    versions: int = 0
    written: Mapping[str, str] = field(default_factory=dict)
    strange: str | None = None


NO_LAW = Law()


def law_of(store: Store, known: Law = NO_LAW) -> Law:
    """Read the law of a desk, going on from what is known of it if that still stands.

    Raises:
        Tampered: it is not what was written.
    """
    if known.seq:
        events = store.stream(LAW, known.seq - 1)
        if events and events[0].hash == known.mark:
            return told(events[1:], known)
    return told(store.stream(LAW))


def mark_of(store: Store) -> bytes:
    """Return the mark of the law as it stands now."""
    head = store.head(LAW)
    return head.hash if head.seq else b""


def told(events: Iterable[Event], law: Law = NO_LAW) -> Law:
    """Return the law after these events of its stream.

    Raises:
        Tampered: they are not what was written.
    """
    for event in events:
        before = law.mark or GENESIS
        if event.seq != law.seq + 1 or event.text is None or not follows(event, before):
            raise Tampered(
                f"The law of this desk was changed at event {event.seq} of its stream, so nothing is "
                "ruled. Run: sayso audit verify"
            )
        law = _after(law, event)
    return law


def _after(law: Law, event: Event) -> Law:
    law = replace(law, mark=event.hash, seq=event.seq)
    if event.kind != PUBLISHED:
        return replace(law, strange=event.kind)
    found = published(event, law.versions + 1)
    written = law.written
    if found.restores is None and found.digest is not None:
        written = {**written, place_of(found): found.digest}
    return replace(law, policy=found, versions=found.number, written=written)


def place_of(found: Published) -> str:
    """Return what tells the files and the names of code from each other."""
    return f"code {found.name}" if found.kind == "code" else found.source


def published(event: Event, number: int) -> Published:
    """Return the version that an event put in force."""
    said = event.payload or {}
    return Published(
        number=number,
        kind=str(said.get("kind")),
        text=said.get("text"),
        digest=said.get("digest"),
        name=said.get("name"),
        source=str(said.get("source", "")),
        note=said.get("note"),
        restores=said.get("restores"),
        at=event.at,
        by=event.actor,
        via=str(said.get("via", "")),
        account=str(said.get("account", "")),
        seq=event.seq,
    )


def add_to_law(
    store: Store,
    law: Law,
    kind: str,
    /,
    *,
    actor: Actor,
    origin: Origin,
    **said: Any,  # noqa: ANN401 - JSON
) -> bool:
    """Write the next event of the law; False if somebody else was faster."""
    event = link(
        LAW,
        law.seq + 1,
        kind,
        at=store.now(),
        actor=actor,
        payload=stamped(origin, **said),
        salt=os.urandom(16),
        previous=law.mark or GENESIS,
    )
    return store.commit(Append(event=event))
