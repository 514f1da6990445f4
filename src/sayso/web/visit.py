"""One request of one caller: what it may see, in whose name it acts, and whether it came before.

A request that is sent again (the connection broke, the server died after the commit) finds what
it has done in the journal, under the name its `Idempotency-Key` and its body give it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Header, Request

from sayso.access.caller import Caller
from sayso.asks.standing import Standing, standing, told
from sayso.desk import Desk
from sayso.errors import SaysoError, UnknownAsk, UnknownRun
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.ask import Ask
from sayso.model.digest import canonical
from sayso.model.event import Event
from sayso.store.contract import RunRow, Store
from sayso.web.service import service_of

_LOOKS = ("GET", "HEAD")  # what changes nothing
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="A random text for this request. The same again gets the same answer.",
        examples=["5f0c1d5e-refund-7"],
    ),
]


@dataclass(frozen=True)
class Visit:
    """What a caller sees and does with one request."""

    desk: Desk
    caller: Caller
    request: str | None = None
    read: Roster | None = None  # the people, if they were read a moment ago

    @property
    def store(self) -> Store:
        """The database behind the desk."""
        return self.desk.store

    @cached_property
    def people(self) -> Roster:
        """The people of the desk, as they were when this request first asked.

        Whoever changes them asks the store. With many people, reading them costs as much as a page.
        """
        return self.read or self.store.register()

    @property
    def origin(self) -> Origin:
        """The door and the request, as the journal keeps them."""
        name = self.caller.name or self.desk.origin.account
        via = "http" if self.caller.signed_in_at is None else "web"
        return Origin(via, f"{name}, {self.caller.how}", self.request)

    @property
    def actor(self) -> Actor:
        """Whoever does what this request asks for, where no vote is cast."""
        name = self.caller.name or self.desk.origin.account.partition("@")[0]
        return Actor(self.caller.kind, name)

    def sees(self, team: str | None, agent: str | None, roster: Roster) -> bool:
        """Whether the caller sees what belongs to this team, and what this agent asked.

        An agent sees its own alone, and one of the same name in another team is another agent.
        """
        caller = self.caller
        if caller.kind == "agent":
            return agent == caller.name and team == caller.team
        if caller.name is None:
            return roster.solo
        return roster.sees(caller.name, team)

    @property
    def asker(self) -> tuple[str, str | None] | None:
        """The agent that calls, and its team; `None` if it is a person."""
        if self.caller.kind != "agent" or self.caller.name is None:
            return None
        return self.caller.name, self.caller.team

    def teams(self) -> tuple[str, ...] | None:
        """Return the teams of the person who calls; `None` for agents, and without walls."""
        if self.caller.kind == "agent" or self.caller.name is None:
            return None
        return tuple(self.people.teams.get(self.caller.name, ()))

    def standing(self, ask_id: str) -> Standing:
        """Return an ask as it stands, if the caller sees it.

        Raises:
            UnknownAsk: there is none, or not for this caller: both sound alike (E33).
        """
        at = standing(self.store, ask_id)
        content = at.ask.content
        if not self.sees(content.team, content.agent, at.roster):
            raise UnknownAsk(ask_id)
        return at

    def knows(self, ask_id: str) -> bool:
        """Whether the caller sees this ask."""
        try:
            return bool(self.standing(ask_id))
        except UnknownAsk:
            return False

    def run(self, run_id: str) -> RunRow:
        """Return how a run stands, if the caller sees it.

        Raises:
            UnknownRun: there is none, or not for this caller.
        """
        row = self.store.run(run_id)
        if row is None or not self.sees(row.team, None, self.people):
            raise UnknownRun(run_id)
        return row

    def held(self, holder: str) -> str:
        """Return the name under which this caller holds something: nobody else has the same."""
        # Names of agents have colons: as a list, none passes for another one and its team.
        who = canonical([self.caller.kind, self.caller.name, self.caller.team, holder])
        return sha256(who.encode()).hexdigest()[:32]

    def own(self, at: Standing, kinds: Collection[str]) -> Event | None:
        """Return the last event of these kinds that this very request wrote to an ask before."""
        return self.wrote(at.events, kinds)

    def wrote(self, events: Sequence[Event], kinds: Collection[str]) -> Event | None:
        """Return the last of these events that is of one of these kinds and this very request's."""
        if self.request is None:
            return None
        mine = self.request, self.origin.account
        for event in reversed(events):
            said = event.payload or {}
            if event.kind in kinds and (said.get("request"), said.get("account")) == mine:
                return event
        return None

    def once(
        self,
        ask_id: str,
        kinds: Collection[str],
        act: Callable[[], Ask],
        at: Standing | None = None,
    ) -> Ask:
        """Do something to an ask, unless this request has done it before: then say what it did.

        `at` is the ask as it stands, if the caller has looked at it already.
        """
        done = self._done(at or self.standing(ask_id), kinds)
        if done is not None:
            return done
        try:
            return act()
        except SaysoError:  # perhaps this very request was faster, and nobody heard its answer
            done = self._done(self.standing(ask_id), kinds)
            if done is None:
                raise
            return done

    def _done(self, at: Standing, kinds: Collection[str]) -> Ask | None:
        event = self.own(at, kinds)
        return None if event is None else told(at.events[: event.seq], solo=at.roster.solo)


def visit_of(
    request: Request,
    caller: Caller,
    key: str | None = None,
    body: Any = None,  # noqa: ANN401 - JSON
) -> Visit:
    """Return a request as the desk sees it."""
    desk = service_of(request).desk
    if key is None and request.method in _LOOKS:
        return Visit(desk, caller, read=caller.people)  # there is no body that could take its time
    if key is None:
        return Visit(desk, caller)
    named = sha256(key.encode() + b"\n" + canonical(body).encode())
    return Visit(desk, caller, named.digest()[:12].hex())
