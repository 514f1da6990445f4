"""Policies put in force in tests: once, or again for every ruling of one program."""

from __future__ import annotations

from pathlib import Path

from sayso import Desk
from sayso.asks.law import PUBLISHED, add_to_law, law_of
from sayso.asks.lawbook import InForce
from sayso.asks.publishing import Proposed
from sayso.model.actor import Actor
from sayso.policy.rules import Policy
from sayso.store.contract import Store


def put_in_force(desk: Desk, policy: Policy | Path | str) -> Desk:
    """Put a policy in force, whether or not the people of now could do what it wants."""
    _put(desk, desk.store, desk.policies.proposed(policy))
    return desk


def under(desk: Desk, policy: Policy | Path | str) -> Desk:
    """Let a desk rule by a policy that somebody has always put in force a moment before.

    So the desks of a test can have the policies of several moments.
    """
    proposed = desk.policies.proposed(policy)
    usual = desk.law.current

    def current(store: Store, mark: bytes | None = None, *, ruling: bool = True) -> InForce:
        if not _is_in_force(store, proposed):
            _put(desk, store, proposed)
            mark = None
            desk.law._seen = None
        return usual(store, mark, ruling=ruling)

    if not _is_in_force(desk.store, proposed):
        _put(desk, desk.store, proposed)
    desk.law.current = current  # type: ignore[method-assign]
    return desk


def _is_in_force(store: Store, proposed: Proposed) -> bool:
    found = law_of(store).policy
    return found is not None and found.digest == proposed.said.get("digest")


def _put(desk: Desk, store: Store, proposed: Proposed) -> None:
    actor, said = Actor("person", "sam"), proposed.said
    if proposed.policy.name is not None:  # made in code, which every desk of a test has
        desk.law.own.given = proposed.policy
    written = False
    while not written:
        law = law_of(store)
        written = add_to_law(store, law, PUBLISHED, actor=actor, origin=desk.origin, **said)
