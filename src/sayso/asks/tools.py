"""The tools of a desk, to be looked at: who declares each, how it was called, what lets it run alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sayso.access.caller import ADMIN
from sayso.asks.identity import identify
from sayso.asks.law import DECLARED, FORGOTTEN, add_all, law_of, mark_of
from sayso.asks.lawbook import Lawbook
from sayso.asks.standing import tries
from sayso.errors import Forbidden, UnknownTool
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.content import check_words
from sayso.model.declaration import (
    POLICY,
    Declaration,
    changes,
    differing,
    joined,
    sketched,
)
from sayso.model.event import Event
from sayso.model.names import fold
from sayso.policy.rules import Policy, Rule
from sayso.store.contract import LAW, Store
from sayso.store.fleet import Teams

_EVER = 3660.0  # days, the most that figures are told of
_SKETCHED = 200  # calls that a declaration is written from
_KEYS = 500


@dataclass(frozen=True, slots=True)
class Change:
    """What one declaration changed of the one that the same source gave before."""

    at: datetime
    by: str
    source: str
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRecord:
    """What is known of one tool.

    Attributes:
        name: What it is called.
        declared: What each source says of it; none if it was called and nothing declares it.
        joined: What they say together, the stricter of each.
        differs: Of what they say different things.
        tier: The tier that `[tools]` of the policy gives it.
        called: How often it was called.
        alone: How many of these calls ran alone by a rule.
        granted: How many of these ran alone by a grant.
        asked: For how many of these people were asked.
        rules: The rules that may let it run alone.
        keys: The keys of agents that may run it alone, by a grant.
        changes: What its declarations changed, the newest first.
    """

    name: str
    declared: tuple[Declaration, ...] = ()
    joined: Declaration | None = None
    differs: tuple[str, ...] = ()
    tier: str | None = None
    called: int = 0
    alone: int = 0
    granted: int = 0
    asked: int = 0
    rules: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as HTTP and `--json` give it."""
        whole = self.joined
        return {
            "name": self.name,
            "declared": [_said(one) for one in self.declared],
            "arguments": [] if whole is None else list(whole.arguments),
            "risk": None if whole is None else whole.risk,
            "reversible": None if whole is None else whole.reversible,
            "affects": None if whole is None else whole.affects,
            "secret": [] if whole is None else list(whole.secret),
            "differs": list(self.differs),
            "tier": self.tier,
            "calls": {
                "called": self.called,
                "alone": self.alone,
                "granted": self.granted,
                "asked": self.asked,
            },
            "rules": list(self.rules),
            "keys": list(self.keys),
            "changes": [
                {
                    "at": one.at.isoformat(),
                    "by": one.by,
                    "source": one.source,
                    "said": list(one.said),
                }
                for one in self.changes
            ],
        }


def _said(one: Declaration) -> dict[str, Any]:
    said = one.to_json()
    del said["name"]
    return {"source": one.source, **said}


class Tools:
    """The tools of a desk: `for tool in desk.tools`."""

    def __init__(
        self, store: Callable[[], Store], origin: Origin, law: Lawbook, teams: Teams = None
    ) -> None:
        self._store, self._origin, self._law, self._teams = store, origin, law, teams

    def __iter__(self) -> Iterator[ToolRecord]:
        """Go through the tools: those that nothing declares first, then by name."""
        return iter(listed(self._store(), self._law, self._teams))

    def get(self, name: str) -> ToolRecord:
        """Return one tool.

        Raises:
            UnknownTool: nothing declares it, and it was never called.
        """
        return _one(name, self)

    def sketch(self, name: str) -> str:
        """Return a declaration for the policy, written from how a tool was called before.

        Raises:
            UnknownTool: it was never called with an argument.
        """
        return sketch(self._store(), name, self._teams)

    def forget(
        self, name: str, source: str, note: str | None = None, *, by: str | None = None
    ) -> None:
        """Take back what a source declares of a tool, such as code that is gone.

        Raises:
            UnknownTool: nothing of this source declares it.
            Forbidden: this person is no administrator of the desk.
        """
        forget(self._store(), name, source, by=by, origin=self._origin, note=note)


def _one(name: str, tools: Tools) -> ToolRecord:
    every = list(tools)
    found = next((tool for tool in every if tool.name == fold(name)), None)
    if found is None:
        raise UnknownTool(name, (tool.name for tool in every))
    return found


def listed(store: Store, law: Lawbook, teams: Teams = None) -> list[ToolRecord]:
    """Return all tools that are declared or were called: those that nothing declares first.

    Calls are counted as somebody of these teams sees them.
    """
    from sayso.insight.metrics import measure_by

    found = law.current(store, mark_of(store), ruling=False)
    known = found.law.about(found.policy)
    figures = {
        name: one
        for name, one in measure_by(store, "tool", days=_EVER, teams=teams).items()
        if name
    }
    changed = _changes(store.stream(LAW))
    granted: dict[str, list[str]] = {}
    for row in store.trusted(standing="granted", agent=None, tool=None, teams=teams, limit=_KEYS):
        granted.setdefault(row.tool, []).append(row.id)
    records = []
    for name in {*known.names(), *figures}:
        declared, count = known.several(name), figures.get(name)
        records.append(
            ToolRecord(
                name=name,
                declared=declared,
                joined=joined(declared),
                differs=tuple(differing(declared)),
                tier=_tier(found.policy, name),
                called=0 if count is None else count.alone + count.asked,
                alone=0 if count is None else count.alone - count.granted,
                granted=0 if count is None else count.granted,
                asked=0 if count is None else count.asked,
                rules=tuple(rule.name for rule in _letting(found.policy, name)) if declared else (),
                keys=tuple(granted.get(name, ())),
                changes=tuple(changed.get(name, ())),
            )
        )
    return sorted(records, key=lambda one: (bool(one.declared), one.name))


def _tier(policy: Policy, name: str) -> str | None:
    said = (rule.tier for rule in policy.rules if rule.name == f"tools.{name}")
    return next(said, None)


def _letting(policy: Policy, name: str) -> Iterator[Rule]:
    """Yield the rules that may let a tool run alone, those that are about every tool among them."""
    for rule in policy.rules:
        if rule.names(name):
            alone = rule.tier is not None and policy.tiers[rule.tier].alone
            if alone or rule.effect == "allow":
                yield rule


def _changes(events: list[Event]) -> dict[str, list[Change]]:
    """Return what the declarations of each tool changed, the newest first."""
    last: dict[tuple[str, str], Declaration] = {}
    found: dict[str, list[Change]] = {}
    for event in events:
        if event.kind not in (DECLARED, FORGOTTEN):
            continue
        said: Mapping[str, Any] = event.payload or {}
        name, source = said["name"], said["source"]
        before = last.pop((name, source), None)
        words = ["forgotten"]
        if event.kind == DECLARED:
            now = last[name, source] = Declaration.from_json(said, source)
            words = ["declared"] if before is None else changes(before, now)
        change = Change(event.at, str(event.actor), source, tuple(words))
        found.setdefault(name, []).insert(0, change)
    return found


def sketch(store: Store, name: str, teams: Teams = None) -> str:
    """Return a declaration for the policy as TOML, written from how a tool was called before.

    Calls are looked at as somebody of these teams sees them.

    Raises:
        UnknownTool: it was never called with an argument.
    """
    calls = []
    for batch in store.scan():
        for event in batch:
            if event.kind != "ask.opened" or event.text is None:
                continue
            content = (event.payload or {}).get("content") or {}
            team, proposal = content.get("team"), content.get("proposal") or {}
            if teams is not None and team is not None and team not in teams:
                continue
            if proposal.get("tool") == fold(name) and proposal.get("args"):
                calls.append(proposal["args"])
    text = sketched(fold(name), calls[-_SKETCHED:])
    if not text:
        raise UnknownTool(name, ())
    return text


def forget(
    store: Store, name: str, source: str, *, by: str | None, origin: Origin, note: str | None = None
) -> None:
    """Take back what a source declares of a tool.

    Raises:
        UnknownTool: nothing of this source declares it.
        Forbidden: this person is no administrator of the desk.
    """
    check_words(note, "note")
    turn = tries(LAW)
    while True:
        next(turn)
        actor = _administrator(store.register(), by, origin)
        law = law_of(store)
        known = law.tools.get(fold(name), {})
        if source == POLICY or source not in known:
            raise UnknownTool(name, known, source=source)
        said = {"name": fold(name), "source": source, "note": note}
        if add_all(store, law, FORGOTTEN, [said], actor=actor, origin=origin):
            return


def _administrator(roster: Roster, by: str | None, origin: Origin) -> Actor:
    """Return who changes what the desk goes by: an administrator, where there is one."""
    actor = identify(roster, by, origin)
    admins = {name for name, roles in roster.people.items() if ADMIN in roles}
    if admins and actor.id not in admins:
        raise Forbidden(
            f"{actor.id} is no administrator of this desk. Ask one: {', '.join(sorted(admins))}."
        )
    return actor
