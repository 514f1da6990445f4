"""What a program does with its desk: ask, look, wait, carry out, listen.

The same words for a desk on a database and for one behind HTTP: all of it goes through the
docket, and through the few things in which the two differ.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypedDict, TypeVar, Unpack

from sayso.asks.forms import Form, Terms
from sayso.asks.inbox import Inbox, named_teams
from sayso.asks.leases import Heartbeat
from sayso.asks.listening import Ears
from sayso.asks.reviewing import Reviews, id_of
from sayso.asks.verbs import LaterVerbs, Verbs
from sayso.asks.versions import Version
from sayso.asks.waiting import check_may_block, in_loop
from sayso.errors import AskClosed, BadValue
from sayso.model.ask import Ask, Decision
from sayso.model.call import Call
from sayso.model.content import Content
from sayso.model.event import Event
from sayso.model.event_kinds import ALL, check_kind
from sayso.model.span import Span, span
from sayso.model.text import one_line
from sayso.store.contract import InboxQuery, Lease

T = TypeVar("T")
_TO_ASK = (
    "Nothing was asked. Call it in a thread: await asyncio.to_thread(desk.confirm, ...). Or ask at "
    "once and await the answer: await desk.later.confirm(...).result_async()."
)


class Wanted(TypedDict, total=False):
    """Which asks are listed, and which page of them; all of it optional.

    Attributes:
        kind: Only asks of this kind.
        risk: Only asks of this declared risk.
        least: Only asks of at least this risk, by what they declare or by their tier.
        agent: Only asks of this agent.
        tool: Only calls of this tool.
        text: Only asks with all of these words; the last may be the beginning of one.
        run: Only asks of this run.
        thread: Only asks of this thread.
        assignee: Only asks that this person looks into, or looked into.
        teams: Only what somebody of these teams sees: theirs, and what belongs to none.
        limit: How many on a page, at most 500; 50 unless told.
        after: The `cursor` of the page before.
    """

    kind: str | None
    risk: str | None
    least: str | None
    agent: str | None
    tool: str | None
    text: str | None
    run: str | None
    thread: str | None
    assignee: str | None
    teams: Iterable[str] | str | None
    limit: int
    after: str | None


class Asking(Verbs, Reviews):
    """The verbs of programs, and of the people who review."""

    heartbeat: Heartbeat
    ears: Ears

    # --- asking ---

    def open(
        self,
        tool: str,
        args: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        title: str | None = None,
        schema: dict[str, Any] | None = None,
        returns: object = None,
        facts: Mapping[str, Any] | None = None,
        impact: str | None = None,
        reversible: bool | None = None,
        affects: str | None = None,
        version: str | None = None,
        **terms: Unpack[Terms],
    ) -> Ask:
        """Ask for a tool call to be approved, and return at once.

        The arguments are frozen: what you do to your dict afterwards changes
        nothing. Carry the call out with `begin` and `finish`.

        Args:
            tool: The name of what is to be called.
            args: Its arguments, by name.
            key: The same key and content return the same ask; it authorises nothing.
            title: What people read first; the tool's name unless given.
            schema: JSON Schema the arguments must fit, also after an edit.
            returns: Type or JSON Schema of the result, for doubts.
            facts: More for people to see.
            impact: What it will do to the world, in a sentence.
            reversible: Whether it can be undone.
            affects: Whom or what it touches besides the one who asks.
            version: Of the agent that asks: what it has earned, it has earned as that.
            **terms: Risk, deadline, who must agree and so on; see `Terms`.

        Raises:
            BadValue: something cannot be stored or shown.
            KeyConflict: the key belongs to an ask with other content.
            Unsatisfiable, UnknownRole: nobody could ever decide it.
            Denied, TooManyAsks: the policy does not let it be asked, or not now.
        """
        content = self.forms.action(
            tool,
            args or {},
            title=title,
            schema=schema,
            returns=returns,
            facts=facts,
            impact=impact,
            reversible=reversible,
            affects=affects,
            version=version,
            **terms,
        )
        return self.put(content, key=key, always=terms.get("needs") is not None)

    @property
    def later(self) -> LaterVerbs:
        """The same verbs, but they return at once; call `.result()` when the answer is needed."""
        return LaterVerbs(self.forms, self.put, self._collect, self._collect_async)

    def _collect(self, ask: Ask, timeout: float | None) -> Ask:
        """Wait for what was put before; whoever has all the time there is asks here, as a verb does."""
        self._check_may_wait(ask, "later.result()", "later.result_async()", timeout)
        return self.settle(ask) if timeout is None else self.docket.wait(ask.id, timeout)

    def _check_may_wait(
        self, ask: Ask | str, verb: str, instead: str, timeout: float | None
    ) -> None:
        """Let nobody wait in an event loop for what is still open."""
        if timeout != 0 and in_loop() and not self.docket.look(id_of(ask)).closed:
            check_may_block(f"{verb} on {id_of(ask)}", f"Use: await {instead}.")

    async def _collect_async(self, ask: Ask, timeout: float | None) -> Ask:  # noqa: ASYNC109 - as `wait`
        if timeout is None:
            return await self.settle_async(ask)
        return await self.docket.wait_async(ask.id, timeout)

    def _ask(self, form: Form[T]) -> T:
        """Put a form to people: open, wait, read the outcome; if that is another form, ask on."""
        with self.heartbeat.holding() as lease:
            while True:
                # Nobody waits for what is optional, unless a rule says that it is not.
                if not form.content.optional:
                    check_may_block("This", _TO_ASK)
                ask = self.put(form.content, lease=None if form.content.optional else lease)
                if ask.content.optional:
                    return form.at_once
                try:
                    check_may_block("This", _TO_ASK)
                    closed = self.settle(ask)
                except BaseException:  # Ctrl-C: nobody will act on an answer any more
                    self.docket.give_up(ask)
                    raise
                outcome = form.outcome(closed)
                if not isinstance(outcome, Form):
                    return outcome
                form = outcome

    def put(
        self,
        content: Content,
        *,
        lease: Lease | None = None,
        key: str | None = None,
        always: bool = False,
        declared: bool = False,
    ) -> Ask:
        """Open an ask with this content; the verbs and gates end up here.

        Only what code declares of a tool may spare people the question; what a request
        says of itself never does.
        """
        ask = self.docket.open(content, key=key, lease=lease, always=always, declared=declared)
        if ask.open:
            self.opened(ask)
        return ask

    @abstractmethod
    def opened(self, ask: Ask) -> None:
        """Hear of an ask that was opened."""

    @abstractmethod
    def settle(self, ask: Ask) -> Ask:
        """Block until the ask is closed, having said that it waits."""

    @abstractmethod
    async def settle_async(self, ask: Ask) -> Ask:
        """Wait as `settle` does without blocking the event loop."""

    # --- looking ---

    def get(self, ask_id: str) -> Ask:
        """Return the ask as it stands now.

        Raises:
            UnknownAsk: there is none of this id.
        """
        return self.docket.look(ask_id)

    def inbox(
        self, *, role: str | None = None, person: str | None = None, **wanted: Unpack[Wanted]
    ) -> Inbox:
        """Return a page of what waits: what expires within two hours, what needs people, the rest.

        Each of the three has the riskiest first, then what has the least time left, then the
        oldest. Notices, feedback and optional drafts are for information: the rest.

        Args:
            role: Only what somebody of this role may decide.
            person: Only what waits for this person: their roles and teams, not yet voted on.
            wanted: Which of these, and which page: see `Wanted`.
        """
        query = replace(_query(wanted), not_voted=person)
        return self.docket.listed(query, role=role, person=person)

    def decided(self, *, person: str | None = None, **wanted: Unpack[Wanted]) -> Inbox:
        """Return a page of what was put to people and is closed, the newest first.

        Args:
            person: Only what this person sees: of their teams, and of none.
            wanted: Which of these, and which page: see `Wanted`.
        """
        return self.docket.decided(_query(wanted), person=person)

    # --- taking back, waiting, carrying out ---

    def withdraw(self, ask: Ask | str, note: str | None = None) -> Ask:
        """Take a question back before anybody decided it."""
        return self.docket.withdraw(id_of(ask), agent=self.forms.agent, note=note)

    def wait(self, ask: Ask | str, timeout: float | None = None) -> Decision:
        """Block until somebody decides, and return the decision.

        Giving up does not close the ask: call again with the same id, from any
        process, and the answer will still be there. A decision informs; what
        authorises is `begin`.

        Raises:
            StillOpen: `timeout` seconds passed; `error.ask` is the open ask.
            AskClosed: it was withdrawn, so there will be no decision.
        """
        self._check_may_wait(ask, "desk.wait(...)", "desk.wait_async(...)", timeout)
        return _decision(self.docket.wait(id_of(ask), timeout))

    async def wait_async(self, ask: Ask | str, timeout: float | None = None) -> Decision:  # noqa: ASYNC109
        """Wait as `wait` does, without holding a thread."""
        return _decision(await self.docket.wait_async(id_of(ask), timeout))

    def begin(self, ask: Ask | str, *, limit: Span = "10m") -> Call:
        """Spend the approval: whoever gets a `Call` back is the only one to carry it out.

        The intent is durable before this returns. If `finish` is not called
        within `limit`, people are asked whether the call happened.

        Raises:
            NotApproved, AlreadySpent, CallerGone, Tampered: it must not be carried out.
        """
        return self.docket.begin(id_of(ask), Lease(os.urandom(8).hex(), span(limit)))

    def finish(
        self,
        call: Call | Ask | str,
        result: object = None,
        *,
        error: str | BaseException | None = None,
    ) -> Ask:
        """Record what came of a call: its result, or the error it failed with.

        Args:
            call: What `begin` returned; or the ask, or its id, if it was begun once.
            result: What it returned.
            error: The error that it failed with instead.

        Raises:
            NotApproved: by its id: nobody has begun, or the program that asked does it itself.
            FinishedLate: it came after the limit; the result was kept as evidence on the doubt.
        """
        if not isinstance(call, Call):
            call = self.docket.begun(id_of(call))
        if error is None:
            return self.docket.finish(call, "done", result=result)
        words = one_line(error if isinstance(error, str) else repr(error), 500)
        return self.docket.finish(call, "failed", error=words)

    # --- the journal ---

    def history(self, ask: Ask | str) -> list[Event]:
        """Return everything that happened to an ask, in order."""
        return self.docket.history(id_of(ask))

    def versions(self, ask: Ask | str) -> list[Version]:
        """Return all versions of a draft, a plan or a call up to this ask, the oldest first.

        A draft that was sent back is asked about anew; the versions before it belong to it.
        """
        return self.docket.versions(id_of(ask))

    def file(self, ask: Ask | str, number: int) -> bytes:
        """Return the bytes of a file beside an ask; `ask.content.files` lists them, from 1 on.

        Raises:
            BadValue: this is no number.
            UnknownFile: there is none of this number, or the ask was erased.
            Tampered: what came is not what the ask showed.
        """
        return self.docket.file(id_of(ask), number)

    def events(self, *, after: str | None = None, follow: bool = False) -> Iterator[Event]:
        """Go through the journal from a cursor on; with `follow`, wait for more for ever."""
        return self.docket.follow(after) if follow else self.docket.events(after)

    def on(self, kind: str, handler: Callable[[Event], object]) -> Callable[[], None]:
        """Call `handler` for every later event of this kind, from any process; `*` means all.

        Handlers run one after the other on a thread of the desk. Returns a
        function that ends it.

        Raises:
            BadValue: there is no such kind of event.
        """
        if not isinstance(kind, str) or not callable(handler):
            raise BadValue('on() takes the kind of event and a function: on("ask.opened", tell).')
        return self.ears.on(kind if kind == ALL else check_kind(kind), handler)


def _query(wanted: Wanted) -> InboxQuery:
    strange = next((name for name in wanted if name not in Wanted.__annotations__), None)
    if strange is not None:  # a query has more fields, and they are not for callers
        raise TypeError(f"{strange}= is no filter of a list: {', '.join(Wanted.__annotations__)}")
    return InboxQuery(**wanted | {"teams": named_teams(wanted.get("teams"))})  # type: ignore[arg-type]


def _decision(ask: Ask) -> Decision:
    if ask.decision is None:
        raise AskClosed(ask, attempted="wait")
    return ask.decision
