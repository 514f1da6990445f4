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
from typing import TYPE_CHECKING, Any, Literal

from sayso.asks.standing import stamped, tries
from sayso.errors import Tampered
from sayso.model.actor import Actor, Origin
from sayso.model.event import GENESIS, Event, follows, link
from sayso.store.contract import LAW, Append, Store

if TYPE_CHECKING:  # loaded with the first tool that is declared
    from sayso.model.declaration import Declaration
    from sayso.model.tool import Tool
    from sayso.policy.rules import Policy

PUBLISHED = "policy.published"
DECLARED, FORGOTTEN = "tool.declared", "tool.forgotten"
_MOST = 10_000  # tools that are remembered; names come from agents
PolicyKind = Literal["file", "code", "default"]
_PYTHON, _PROGRAM = Origin("python", ""), Actor("agent", "python")


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
        tools: What code declares of each tool, by its name and then by its source.
        known: What is declared of each tool in all, under the policy that it was asked for last.
        strange: The kind of an event that this program does not know: nothing is ruled by such a law.
    """

    mark: bytes = b""
    seq: int = 0
    policy: Published | None = None
    versions: int = 0
    written: Mapping[str, str] = field(default_factory=dict)
    strange: str | None = None
    tools: Mapping[str, Mapping[str, Declaration]] = field(default_factory=dict)
    known: list[Known] = field(default_factory=list, compare=False, repr=False)

    def about(self, policy: Policy) -> Known:
        """Return what is declared of each tool under a policy."""
        known = self.known[0] if self.known else None
        if known is None or known.policy is not policy:
            known = Known(policy, self.tools)
            self.known[:] = [known]
        return known

    def names(self) -> dict[str, frozenset[str]]:
        """Return the tools that code declares, each with the names of its arguments."""
        return {
            name: frozenset(arg for one in several.values() for arg in one.arguments)
            for name, several in self.tools.items()
        }


class Known(dict[str, "Declaration | None"]):
    """What is declared of each tool in all, by a policy and by code; `None` of one that nothing declares."""

    def __init__(self, policy: Policy, tools: Mapping[str, Mapping[str, Declaration]]) -> None:
        super().__init__()
        self.policy, self._tools = policy, tools

    def __missing__(self, name: str) -> Declaration | None:
        """Join what is declared of a tool, the first time that a ruling looks it up."""
        several = self.several(name)
        if len(several) < 2:
            found = several[0] if several else None
        else:
            from sayso.model.declaration import joined

            found = joined(several)
        if len(self) >= _MOST:
            self.clear()
        self[name] = found
        return found

    def several(self, name: str) -> tuple[Declaration, ...]:
        """Return each declaration of a tool: that of the policy, then those of code."""
        own, coded = self.policy.declared.get(name), self._tools.get(name, {})
        return (*coded.values(),) if own is None else (own, *coded.values())

    def names(self) -> tuple[str, ...]:
        """Return the names of all tools that are declared."""
        return tuple(sorted({*self.policy.declared, *self._tools}))


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
    law = replace(law, mark=event.hash, seq=event.seq, known=[])
    if event.kind in (DECLARED, FORGOTTEN):
        return replace(law, tools=_tools_after(law.tools, event))
    if event.kind != PUBLISHED:
        return replace(law, strange=event.kind)
    found = published(event, law.versions + 1)
    written = law.written
    if found.restores is None and found.digest is not None:
        written = {**written, place_of(found): found.digest}
    return replace(law, policy=found, versions=found.number, written=written)


def _tools_after(
    tools: Mapping[str, Mapping[str, Declaration]], event: Event
) -> Mapping[str, Mapping[str, Declaration]]:
    """Return what code declares after one more event: each source has its last word."""
    from sayso.model.declaration import Declaration

    said = event.payload or {}
    name, source = str(said["name"]), str(said["source"])
    others = {key: value for key, value in tools.get(name, {}).items() if key != source}
    if event.kind == DECLARED:
        return {**tools, name: {**others, source: Declaration.from_json(said, source)}}
    if others:
        return {**tools, name: others}
    return {key: value for key, value in tools.items() if key != name}


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
    return add_all(store, law, kind, [said], actor=actor, origin=origin)


def add_all(
    store: Store,
    law: Law,
    kind: str,
    said: Iterable[Mapping[str, Any]],
    *,
    actor: Actor,
    origin: Origin,
) -> bool:
    """Write the next events of the law in one commit; False if somebody else was faster."""
    seq, mark, events = law.seq, law.mark or GENESIS, list[Append]()
    for each in said:
        seq += 1
        event = link(
            LAW,
            seq,
            kind,
            at=store.now(),
            actor=actor,
            payload=stamped(origin, **each),
            salt=os.urandom(16),
            previous=mark,
        )
        mark = event.hash
        events.append(Append(event=event))
    return store.commit(*events)


# --- what code of this process declares ------------------------------------------------------------


class CodedTools:
    """The tools that code of this process declares, and whether the law says so.

    Threads share it without a lock: at worst two of them write the same at once, and one loses.
    """

    def __init__(self, actor: Actor = _PROGRAM, origin: Origin = _PYTHON) -> None:
        self.actor, self.origin = actor, origin  # the program whose code it is
        self.said: Store | None = None  # the desk whose law has all of them
        self.last: dict[str, Tool] = {}  # the function that declared each tool last, by its name
        self._all: dict[tuple[str, str], Declaration] = {}
        self._written: set[tuple[str, str, str, str]] = set()

    def declare(self, tool: Tool, *, asks: bool) -> None:
        """Remember what a function declares; `asks` is a gate that asks for each call.

        It is written into the law before the next ruling.
        """
        from sayso.model.declaration import Declaration

        self.last[tool.name] = tool
        declared = Declaration.of(tool, asks=asks)
        if self._all.get((tool.name, tool.source)) != declared:
            self._all[tool.name, tool.source] = declared
            self.said = None

    def say(self, store: Store) -> None:
        """Write into the law of a desk what it does not say yet.

        Of two programs whose code is at one place, the one that began later has the last word. So
        each says a declaration once: none repeats it whenever the other one spoke.
        """
        turn = tries(LAW)
        while True:
            next(turn)
            ready = dict(self._all)
            law = law_of(store) if ready else NO_LAW
            new = [
                one
                for one in ready.values()
                if law.tools.get(one.name, {}).get(one.source) != one
                and (store.url, one.name, one.source, one.digest) not in self._written
            ]
            if law.strange is not None:
                return
            said = ({**one.to_json(), "source": one.source} for one in new)
            by, origin = self.actor, self.origin
            if not new or add_all(store, law, DECLARED, said, actor=by, origin=origin):
                break
        self._written |= {(store.url, one.name, one.source, one.digest) for one in ready.values()}
        if len(ready) == len(self._all):
            self.said = store
