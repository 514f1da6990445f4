"""Tools that the journal has seen, each with the names of the arguments that it was called with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sayso.errors import Tampered
from sayso.model.event import Event
from sayso.store.contract import Store


def called(store: Store) -> dict[str, frozenset[str]]:
    """Read the whole journal for the calls that were asked for, or made by runs without asking."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for batch in store.scan():
        for event in batch:
            said = _said(event)
            if event.kind == "ask.opened":
                proposal = _object(_object(said.get("content")).get("proposal"))
                tool = str(proposal.get("tool") or "")
                found[tool].update(_object(proposal.get("args")))
                found[tool].update(_object(_object(proposal.get("schema")).get("properties")))
            elif event.kind == "step.begun":
                found[str(said.get("name") or "")].update(_object(said.get("args")))
    found.pop("", None)
    return {name: frozenset(args) for name, args in found.items()}


def _said(event: Event) -> Mapping[str, Any]:
    if event.kind not in ("ask.opened", "step.begun"):
        return {}
    try:
        return event.payload or {}
    except Tampered:  # others say so
        return {}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
