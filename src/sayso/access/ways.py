"""What people come in by, counted for those who are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sayso.access.sessions import IDLE, LASTS
from sayso.store.accounts import SessionsWanted, Used
from sayso.store.contract import Store

_NONE = Used(0, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What somebody comes in by.

    Attributes:
        password: Whether they have one.
        linked: Whether an identity provider can sign them in.
        sessions: How many of theirs count.
        tokens: How many of their own count.
        agents: Their agents that have a token.
        seen_at: When a session or a token of theirs was last used; `None` is never.
    """

    password: bool
    linked: bool
    sessions: int
    tokens: int
    agents: tuple[str, ...]
    seen_at: datetime | None


def ways_of(store: Store, people: Sequence[str]) -> dict[str, Ways]:
    """Return what each of these people comes in by. It costs what they have, whoever else there is."""
    passwords, linked = frozenset(store.passwords_of(people)), frozenset(store.linked_of(people))
    sessions = store.sessions_of(people, SessionsWanted(LASTS, IDLE))
    tokens = store.tokens_of(people)
    agents: dict[str, list[str]] = {}
    for owner, agent in store.agents_of(people):
        agents.setdefault(owner, []).append(agent)
    found = {}
    for name in people:
        opened, made = sessions.get(name, _NONE), tokens.get(name, _NONE)
        found[name] = Ways(
            password=name in passwords,
            linked=name in linked,
            sessions=opened.number,
            tokens=made.number,
            agents=tuple(dict.fromkeys(agents.get(name, ()))),
            seen_at=max((at for at in (opened.at, made.at) if at is not None), default=None),
        )
    return found
