"""A second opinion on a journal: the promises, read from bare events by other means.

Nothing here uses the fold, the tally or the matching of the product; seats are
filled by trying every order of people. Slow, short, and easy to believe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from sayso import Event

Roles = dict[str, frozenset[str]]


def filled(needs: Iterable[str], people: Roles) -> bool:
    """Whether these people, each in one place, fill `["1 senior", "2 reviewer"]`."""
    places = [role for factor in needs for role in [factor.split()[1]] * int(factor.split()[0])]
    return any(
        all(
            role == "reviewer" or role in people[name]
            for role, name in zip(places, names, strict=True)
        )
        for names in permutations(people, len(places))
    )


@dataclass
class Trail:
    """What the events of one ask have said so far."""

    needs: list[str]
    deny: int
    kind: str
    about: str | None
    due: str | None
    votes: dict[str, tuple[str, Any]] = field(default_factory=dict)
    ending: str | None = None
    intents: int = 0
    endings: int = 0


CONSENT = {
    "action": {"approve", "edit"},
    "doubt": {"approve", "respond"},
}


def judge(events: Iterable[Event]) -> Counter[str]:
    """Go through a journal in the order of its commits; fail at the first broken promise."""
    roster: Roles = {}
    trails: dict[str, Trail] = {}
    counts: Counter[str] = Counter()
    for event in events:
        said = event.payload or {}
        counts[event.kind] += 1
        if event.stream == "people":
            if event.kind == "person.removed":
                del roster[said["name"]]
            else:
                roster[said["name"]] = frozenset(said["roles"])
        elif event.kind == "ask.opened":
            trails[event.stream] = opened(said["content"])
        else:
            follow(trails, trails[event.stream], event, said, roster)
    return counts


def opened(content: dict[str, Any]) -> Trail:
    return Trail(
        content["needs"],
        content["deny"],
        content["kind"],
        content.get("about"),
        content.get("due_at"),
    )


def follow(
    trails: dict[str, Trail], trail: Trail, event: Event, said: dict[str, Any], roster: Roles
) -> None:
    match event.kind.split("."):
        case ["ask", "voted"]:
            assert trail.ending is None, "a vote after the end"
            vote(trail, event, said)
        case ["ask", "edited"]:
            assert trail.ending is None, "an edit after the end"
            trail.votes = {}
            vote(trail, event, said)
        case ["ask", "decided"]:
            assert trail.ending is None, "decided twice"
            decided(trail, event, said, roster)
        case ["ask", "withdrawn"]:
            assert trail.ending is None, "withdrawn after the end"
            trail.ending = "withdrawn"
        case ["doubt", "evidence"]:
            if trail.ending is None:
                trail.votes = {}
        case ["effect", "intended"]:
            intended(trails, event.stream, trail)
        case ["effect", "done" | "failed"]:
            trail.endings += 1
            assert trail.endings == 1, "the effect ended twice"
        case _:
            pass


def vote(trail: Trail, event: Event, said: dict[str, Any]) -> None:
    assert event.actor.kind == "person", f"{event.actor} voted"
    trail.votes[event.actor.id] = (said["verdict"], said.get("answer"))


def decided(trail: Trail, event: Event, said: dict[str, Any], roster: Roles) -> None:
    trail.ending = said["verdict"]
    if event.actor.kind == "clock":
        assert trail.ending == "reject", "the clock approved"
        assert trail.due is not None, "the clock decided what had no deadline"
        assert event.at.isoformat() >= trail.due, "the clock came too early"
        return
    if trail.due is not None:
        assert event.at.isoformat() < trail.due, "decided after the deadline"
    vote(trail, event, said)
    if not roster:
        return  # whoever sits here decides alone
    consent = CONSENT[trail.kind]
    if trail.ending in consent:
        same = {"approve", "edit"} if trail.ending in ("approve", "edit") else {trail.ending}
        agreed = {
            name: roster[name]
            for name, (verdict, answer) in trail.votes.items()
            if name in roster and verdict in same and answer == said.get("answer")
        }
        assert filled(trail.needs, agreed), f"decided by {sorted(agreed)}, needed {trail.needs}"
    else:
        against = [
            name
            for name, (verdict, _) in trail.votes.items()
            if name in roster and verdict not in consent
        ]
        assert len(against) >= trail.deny, f"rejected by {against}, needed {trail.deny}"


def intended(trails: dict[str, Trail], stream: str, trail: Trail) -> None:
    assert trail.ending in ("approve", "edit"), "carried out without an approval"
    again = sum(other.about == stream and other.ending == "approve" for other in trails.values())
    trail.intents += 1
    assert trail.intents <= 1 + again, "carried out more often than people said"
    assert trail.endings == 0, "carried out after it had ended"
