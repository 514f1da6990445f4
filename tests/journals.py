"""Journals written by hand, event by event, for tests of what is read out of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sayso.model.actor import Actor
from sayso.model.content import Content, Proposal
from sayso.model.event import GENESIS, Event, link
from sayso.model.requirement import Requirement
from sayso.model.verdicts import VERDICTS, Kind

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
SHOP = Actor("agent", "shop")


def person(name: str) -> Actor:
    return Actor("person", name)


def content(kind: Kind = "action", *, needs: list[str] | None = None, deny: int = 1) -> Content:
    return Content(
        kind=kind,
        title="Refund order 7",
        agent="shop",
        proposal=Proposal.of("refund", {"amount": 40}, {"type": "object"}),
        allow=tuple(VERDICTS[kind]),
        needs=Requirement.parse(needs, deny=deny),
    )


class Journal:
    """The events of one ask. Each `say` appends one, a minute after the one before."""

    def __init__(self, about: Content | None = None, ask_id: str = "a-7f3k") -> None:
        self.events: list[Event] = []
        self.ask_id = ask_id
        self.say("ask.opened", SHOP, ask=ask_id, content=(about or content()).to_json())

    def say(self, kind: str, actor: Actor, /, **payload: Any) -> Journal:
        seq = len(self.events) + 1
        event = link(
            self.ask_id,
            seq,
            kind,
            at=START + timedelta(minutes=seq - 1),
            actor=actor,
            payload={"via": "python", "account": "sam@till", **payload},
            salt=bytes(16),
            previous=self.events[-1].hash if self.events else GENESIS,
        )
        self.events.append(event)
        return self

    def vote(self, name: str, verdict: str = "approve", **more: Any) -> Journal:
        return self.say("ask.voted", person(name), verdict=verdict, **more)

    def decide(self, name: str, verdict: str = "approve", **more: Any) -> Journal:
        return self.say("ask.decided", person(name), verdict=verdict, **more)

    def edit(self, name: str, **args: Any) -> Journal:
        return self.say("ask.edited", person(name), verdict="edit", args=args)
