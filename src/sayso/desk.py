"""The front door: where questions wait, and where people answer them.

A `Desk` only ties together what the rooms behind it do. If a method here grows
beyond a few lines, what it does belongs into `asks`.
"""

from __future__ import annotations

import getpass
import logging
import os
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, Unpack, overload

from sayso.asks.attending import attend
from sayso.asks.forms import Form, Forms, Terms
from sayso.asks.inbox import Inbox, listing
from sayso.asks.lawbook import Lawbook
from sayso.asks.leases import Heartbeat
from sayso.asks.listening import Ears, recorded
from sayso.asks.listening import follow as tail_follow
from sayso.asks.opening import open_ask
from sayso.asks.people import People, named_teams
from sayso.asks.reviewing import Reviews, id_of
from sayso.asks.spending import Call, begin, finish
from sayso.asks.standing import standing
from sayso.asks.sweeping import Swept, sweep
from sayso.asks.verbs import LaterVerbs, Verbs
from sayso.asks.versions import Version, versions
from sayso.asks.waiting import wait, wait_async
from sayso.asks.withdrawing import erase, give_up, withdraw
from sayso.channels.console import Console
from sayso.errors import AskClosed, BadValue, StoreError
from sayso.gate import make_gate
from sayso.insight.bounds import NEAR
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask, Decision
from sayso.model.content import Content, Proposal, Risk
from sayso.model.event import Event
from sayso.model.span import Span, aware, span
from sayso.model.text import one_line
from sayso.model.verdicts import Verdict
from sayso.policy.rules import Policy
from sayso.runs.ambient import AMBIENT
from sayso.runs.front import RunDesk
from sayso.store import Clock, Store, SystemClock, open_store
from sayso.store.contract import InboxQuery, Lease

if TYPE_CHECKING:  # most programs never look back: what does that comes when it is asked for
    from sayso.asks.preferring import Preferences
    from sayso.insight.case import Case
    from sayso.store.audit import Progress, Report, Seal

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_log = logging.getLogger("sayso.desk")

DEFAULT_URL = "sqlite:///sayso.db"
LEASE_SECONDS = 30.0
_READ_ON = 2000  # events that a sweep takes into the index of cases

# Tests put a stand-in here (`sayso.testing`): every desk then uses its database,
# and it hears of every ask the moment it opens.
_stand_in: list[StandIn] = []


@dataclass(frozen=True, slots=True)
class StandIn:
    """Another database for every desk of this process, and somebody who hears of every ask."""

    store: Store
    opened: Callable[[Desk, Ask], object]


@contextmanager
def stand_in(other: StandIn) -> Iterator[None]:
    """Let every desk of this process use another database for a block; for tests."""
    _stand_in.append(other)
    try:
        yield
    finally:
        _stand_in.remove(other)


class Desk(Verbs, Reviews, RunDesk):
    """Where questions wait for people. One desk is one database.

    Nothing is opened before it is used, nothing is printed, and it may be
    shared between threads and carried across a fork.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        agent: str | None = None,
        clock: Clock | None = None,
        lease: Span = LEASE_SECONDS,
        via: str = "python",
        account: str | None = None,
        workers: int = 0,
        policy: Policy | str | Path | None = None,
        team: str | None = None,
    ) -> None:
        self.url = url if url is not None else find_url()
        self.law = Lawbook(policy, people=lambda: self.store.register())
        self.origin = Origin(via, account or f"{_user()}@{os.uname().nodename}")
        ticking = clock or SystemClock()
        self._own = open_store(self.url, ticking)
        self._own.widen = self.law.widened
        self.forms = Forms(
            agent or _program(),
            lambda: self.store.now(),
            self._precedents,
            team,
        )
        self.heartbeat = Heartbeat(
            lambda: self.store, span(lease).total_seconds(), ticking, sweep=self.sweep
        )
        # Commands it names need the address only where people would not find it by themselves.
        elsewhere = self._own.url if url is not None and not _is_default(url) else None
        self.console = Console(now=lambda: self.store.now(), desk=elsewhere)
        self.people = People(lambda: self.store, self.origin)
        self._ears = Ears(lambda: self.store)
        self.flows = ChainMap({}, AMBIENT, {})
        self.lease = span(lease).total_seconds()
        if workers:
            self.crew.start(workers)

    @property
    def store(self) -> Store:
        """The database behind this desk."""
        return _stand_in[-1].store if _stand_in else self._own

    def __enter__(self) -> Self:
        """Use the desk for a block, and let go of its connections afterwards."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of connections and threads."""
        self.close()

    def close(self) -> None:
        """Let go of connections and threads. The desk opens them again if it is used again."""
        self._let_go()
        self._ears.close()
        self._own.close()

    def __repr__(self) -> str:
        """Show which desk it is, without its password."""
        return f"Desk({self._own.url!r})"

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
            **terms,
        )
        return self.put(content, key=key, always=terms.get("needs") is not None)

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.law.policy

    @property
    def later(self) -> LaterVerbs:
        """The same verbs, but they return at once; call `.result()` when the answer is needed."""
        return LaterVerbs(
            self.forms,
            self.put,
            lambda ask_id, timeout: wait(self.store, ask_id, timeout),
            lambda ask_id, timeout: wait_async(self.store, ask_id, timeout),
        )

    def _ask(self, form: Form[T]) -> T:
        """Put a form to people: open, wait, read the outcome; if that is another form, ask on."""
        with self.heartbeat.holding() as lease:
            while True:
                # Nobody waits for what is optional, unless a rule says that it is not.
                ask = self.put(form.content, lease=None if form.content.optional else lease)
                if ask.content.optional:
                    return form.at_once
                try:
                    closed = self.settle(ask)
                except BaseException:  # Ctrl-C: nobody will act on an answer any more
                    give_up(self.store, ask, origin=self.origin)
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
        ask = open_ask(
            self.store,
            content,
            origin=self.origin,
            key=key,
            lease=lease,
            law=self.law,
            always=always,
            requested=not declared,
        )
        if ask.open:
            self.opened(ask)
        return ask

    def opened(self, ask: Ask) -> None:
        """Let a stand-in for people, in tests, answer at once."""
        if _stand_in:
            _stand_in[-1].opened(self, ask)

    def tell(self, ask: Ask) -> None:
        """Say in a line on stderr that an ask waits, and the command that decides it."""
        self.console.announce(ask, self.store.roster())

    def settle(self, ask: Ask) -> Ask:
        """Block until the ask is closed, asking at this terminal if there is nobody else."""
        return attend(self.store, ask, console=self.console, origin=self.origin, law=self.law)

    async def settle_async(self, ask: Ask) -> Ask:
        """Wait as `settle` does without blocking the event loop."""
        import asyncio

        if self.console.interactive():
            return await asyncio.to_thread(self.settle, ask)
        at = await asyncio.to_thread(standing, self.store, ask.id)
        if at.ask.open:
            self.console.announce(at.ask, at.roster)
        return await wait_async(self.store, ask.id)

    @overload
    def gate(self, fn: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def gate(
        self,
        fn: None = None,
        *,
        name: str | None = ...,
        risk: Risk | Callable[..., Risk] | None = ...,
        reversible: bool | None = ...,
        affects: str | None = ...,
        impact: str | Callable[..., object] | None = ...,
        preview: Callable[..., object] | None = ...,
        secret: Sequence[str] = ...,
        on_reject: object = ...,
        idempotent: bool = ...,
        verify: Callable[..., object] | None = ...,
        limit: Span | None = ...,
        unknown: type[BaseException] | tuple[type[BaseException], ...] = ...,
        later: bool = ...,
        unseen: bool | float = ...,
        why: str | None = ...,
        confidence: float | None = ...,
        needs: Iterable[str] | str | None = ...,
        deny: int = ...,
        allow: Iterable[Verdict] | Verdict | None = ...,
        within: Span | None = ...,
        run: str | None = ...,
        thread: str | None = ...,
        agent: str | None = ...,
        requester: str | None = ...,
        owner: str | None = ...,
        team: str | None = ...,
        tags: Iterable[str] = ...,
        conflicts: Iterable[str] = ...,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def gate(self, fn: Callable[P, R] | None = None, **given: Any) -> Any:
        """Put a function behind a gate: it runs only after somebody approved exactly this call.

        Approve runs it with the frozen arguments, edit with the edited ones,
        reject raises `Rejected`, respond raises `Answered`. Use it bare or with:

        Args:
            fn: The function, plain or `async def`.
            **given: `name` of the tool; `risk` (a word or a function of the
                arguments), `reversible`, `affects`, `impact`, `preview` for people to
                see; `secret` parameters that are never shown or stored; `on_reject`, a
                value to return instead of raising; `unknown` exceptions after which nobody
                knows whether it happened, `idempotent` (then it may be tried again with the
                same key), `verify` (asked whether it happened; "did not" counts after
                `limit`); `unseen` to look for cases like the call; `later`, for a tool of an agent that goes on with other work while
                the call waits; and the terms of every ask: `needs`, `within`, `allow`, ...

        Raises:
            BadValue: while decorating: a parameter cannot be shown, or an option is unknown.
        """
        if fn is not None:
            return make_gate(self, fn, **given)
        return lambda decorated: make_gate(self, decorated, **given)

    # --- looking ---

    def get(self, ask_id: str) -> Ask:
        """Return the ask as it stands now.

        Raises:
            UnknownAsk: there is none of this id.
        """
        return standing(self.store, ask_id).ask

    def inbox(
        self,
        *,
        role: str | None = None,
        person: str | None = None,
        kind: str | None = None,
        risk: str | None = None,
        run: str | None = None,
        thread: str | None = None,
        assignee: str | None = None,
        teams: Iterable[str] | str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Inbox:
        """Return a page of what waits: the riskiest first, then what has the least time left.

        Args:
            role: Only what somebody of this role may decide.
            person: Only what waits for this person: their roles and teams, not yet voted on.
            kind: Only asks of this kind.
            risk: Only asks of this declared risk.
            run: Only asks of this run.
            thread: Only asks of this thread.
            assignee: Only asks that this person looks into.
            teams: Only what somebody of these teams sees: theirs, and what belongs to none.
            limit: How many on a page, at most 500.
            after: The `cursor` of the page before.
        """
        query = InboxQuery(
            kind=kind,
            risk=risk,
            run=run,
            thread=thread,
            assignee=assignee,
            teams=named_teams(teams),
            limit=limit,
            after=after,
            not_voted=person,
        )
        return listing(self.store, query, role=role, person=person)

    # --- taking back, waiting, carrying out ---

    def withdraw(self, ask: Ask | str, note: str | None = None) -> Ask:
        """Take a question back before anybody decided it."""
        actor = Actor("agent", self.forms.agent)
        return withdraw(self.store, id_of(ask), actor=actor, origin=self.origin, note=note)

    def wait(self, ask: Ask | str, timeout: float | None = None) -> Decision:
        """Block until somebody decides, and return the decision.

        Giving up does not close the ask: call again with the same id, from any
        process, and the answer will still be there. A decision informs; what
        authorises is `begin`.

        Raises:
            StillOpen: `timeout` seconds passed; `error.ask` is the open ask.
            AskClosed: it was withdrawn, so there will be no decision.
        """
        return _decision(wait(self.store, id_of(ask), timeout))

    async def wait_async(self, ask: Ask | str, timeout: float | None = None) -> Decision:  # noqa: ASYNC109
        """Wait as `wait` does, without holding a thread."""
        return _decision(await wait_async(self.store, id_of(ask), timeout))

    def begin(self, ask: Ask | str, *, limit: Span = "10m") -> Call:
        """Spend the approval: whoever gets a `Call` back is the only one to carry it out.

        The intent is durable before this returns. If `finish` is not called
        within `limit`, people are asked whether the call happened.

        Raises:
            NotApproved, AlreadySpent, CallerGone, Tampered: it must not be carried out.
        """
        lease = Lease(os.urandom(8).hex(), span(limit))
        return begin(self.store, id_of(ask), origin=self.origin, lease=lease, law=self.law)

    def finish(
        self, call: Call, result: object = None, *, error: str | BaseException | None = None
    ) -> Ask:
        """Record what came of a call: its result, or the error it failed with.

        Raises:
            FinishedLate: it came after the limit; the result was kept as evidence on the doubt.
        """
        if error is None:
            return finish(self.store, call, "done", origin=self.origin, result=result)
        words = one_line(error if isinstance(error, str) else repr(error), 500)
        return finish(self.store, call, "failed", origin=self.origin, error=words)

    def sweep(self, now: datetime | None = None) -> Swept:
        """Do what time has made due: remind, escalate, settle, close what is late, doubt what is silent."""
        moment = None if now is None else aware(now, "now")
        swept = sweep(self.store, origin=self.origin, now=moment)
        self._read_on()
        return swept

    def _read_on(self) -> None:
        """Take what was decided into the index of cases; whoever searches does so again."""
        from sayso.insight.indexing import catch_up

        try:
            catch_up(self.store, most=_READ_ON)
        except StoreError as error:
            _log.warning("The index of cases is behind: %s", error)

    def cases(
        self, text: str, *, tool: str | None = None, limit: int = 5, least: float = NEAR
    ) -> list[Case]:
        """Return what people decided before on things like this, the most alike first.

        Args:
            text: What it is about: a task, a proposal, some words.
            tool: Only calls of this tool.
            limit: How many, at most 50.
            least: The score from 0 to 1 they must reach; 0 finds whatever shares a word.
        """
        from sayso.insight.nearest import cases_like
        from sayso.store.casebook import CaseFilter, seen_by_team

        teams = None if self.forms.team is None else seen_by_team(self.forms.team)
        wanted = CaseFilter(tool=tool, teams=teams)
        return cases_like(self.store, text, wanted, limit=limit, least=least)

    @property
    def preferences(self) -> Preferences:
        """What people prefer of the agents on this desk."""
        from sayso.asks.preferring import Preferences

        return Preferences(lambda: self.store, self.origin)

    def _precedents(self, proposal: Proposal, bound: float, team: str | None) -> str:
        from sayso.insight.unseen import precedents

        return precedents(self.store, proposal, bound, team)

    # --- the journal ---

    def history(self, ask: Ask | str) -> list[Event]:
        """Return everything that happened to an ask, in order."""
        return list(standing(self.store, id_of(ask)).events)

    def versions(self, ask: Ask | str) -> list[Version]:
        """Return all versions of a draft, a plan or a call up to this ask, the oldest first.

        A draft that was sent back is asked about anew; the versions before it belong to it.
        """
        return versions(self.store, id_of(ask))

    def events(self, *, after: str | None = None, follow: bool = False) -> Iterator[Event]:
        """Go through the journal from a cursor on; with `follow`, wait for more for ever."""
        return tail_follow(self.store, after) if follow else recorded(self.store, after)

    def on(self, kind: str, handler: Callable[[Event], object]) -> Callable[[], None]:
        """Call `handler` for every later event of this kind, from any process; `*` means all.

        Handlers run one after the other on a thread of the desk. Returns a
        function that ends it.
        """
        if not isinstance(kind, str) or not callable(handler):
            raise BadValue('on() takes the kind of event and a function: on("ask.opened", tell).')
        return self._ears.on(kind, handler)

    def verify(self, *, seal: Seal | str | None = None, progress: Progress | None = None) -> Report:
        """Read the whole journal and name what is not as it was written."""
        from sayso.store.audit import Seal, verify

        kept = seal if seal is None or isinstance(seal, Seal) else Seal.parse(seal)
        return verify(self.store, seal=kept, progress=progress)

    def seal(self, *, progress: Progress | None = None) -> Seal:
        """Seal the journal as it is. Keep the line elsewhere: it shows later removal."""
        from sayso.store.audit import make_seal

        by = Actor("person", self.origin.account.partition("@")[0])
        return make_seal(self.store, by=by, origin=self.origin, progress=progress)

    def erase(self, ask: Ask | str, note: str) -> Ask:
        """Erase what a closed ask said. Who did what and when stays, and still verifies."""
        actor = Actor("person", self.origin.account.partition("@")[0])
        return erase(self.store, id_of(ask), actor=actor, origin=self.origin, note=note)


def find_url() -> str:
    """Return the address of the desk: `SAYSO_URL`, else `sayso.toml`, else a file here.

    Raises:
        BadValue: `sayso.toml` cannot be read, or its `[desk] url` is not text.
    """
    from_env = os.environ.get("SAYSO_URL")
    if from_env:
        return from_env
    file = Path("sayso.toml")
    if not file.is_file():
        return DEFAULT_URL
    import tomllib

    try:
        settings = tomllib.loads(file.read_text("utf-8"))
        url = settings.get("desk", {}).get("url", DEFAULT_URL)
    except (OSError, ValueError, AttributeError) as error:
        raise BadValue(f"{file} cannot be read: {error}") from error
    if not isinstance(url, str):
        raise BadValue(f'{file}: [desk] url must be text, such as "{DEFAULT_URL}".')
    return url


def _is_default(url: str) -> bool:
    try:
        return url == find_url()
    except BadValue:  # settings that cannot be read name no other desk
        return False


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        return f"uid{os.getuid()}"


def _program() -> str:
    """Return a name for whoever asks: the program that runs."""
    path = Path(sys.argv[0]) if sys.argv and sys.argv[0] not in ("", "-c", "-m") else None
    if path is None:
        return "python"
    return path.parent.name if path.name == "__main__.py" else path.name.removesuffix(".py")


def _decision(ask: Ask) -> Decision:
    if ask.decision is None:
        raise AskClosed(ask, attempted="wait")
    return ask.decision
