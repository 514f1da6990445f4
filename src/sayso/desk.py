"""The front door: where questions wait, and where people answer them.

A `Desk` only ties together what the rooms behind it do. If a method here grows
beyond a few lines, what it does belongs into `asks`.
"""

from __future__ import annotations

import getpass
import logging
import os
import sys
import time
from collections import ChainMap
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from sayso.asks.asking import Asking
from sayso.asks.attending import attend
from sayso.asks.docket import StoredDocket
from sayso.asks.forms import Forms
from sayso.asks.lawbook import Lawbook
from sayso.asks.leases import Heartbeat
from sayso.asks.listening import Ears
from sayso.asks.people import People
from sayso.asks.reviewing import id_of
from sayso.asks.standing import standing
from sayso.asks.standing_in import standing_in
from sayso.asks.sweeping import Swept, sweep
from sayso.asks.waiting import wait_async
from sayso.asks.withdrawing import erase
from sayso.channels.console import Console
from sayso.errors import BadValue, StoreError
from sayso.gate import Gates
from sayso.insight.bounds import NEAR
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.ask import Ask
from sayso.model.content import Proposal
from sayso.model.names import made_plain
from sayso.model.span import Span, aware, span
from sayso.policy.rules import Policy
from sayso.runs.ambient import AMBIENT
from sayso.runs.front import RunDesk
from sayso.runs.workflow import version_of
from sayso.store import Clock, Store, SystemClock, open_store
from sayso.store.address import url_of

if TYPE_CHECKING:  # most programs never look back: what does that comes when it is asked for
    from sayso.access.tokens import Tokens
    from sayso.asks.carrying import Gated
    from sayso.asks.preferring import Preferences
    from sayso.asks.publishing import Policies
    from sayso.asks.tools import Tools
    from sayso.asks.trust import Trust
    from sayso.channels.webhooks import Webhooks
    from sayso.insight.case import Case
    from sayso.insight.metrics import By
    from sayso.model.verdicts import Verdict
    from sayso.store.audit import Progress, Report, Seal

_log = logging.getLogger("sayso.desk")

DEFAULT_URL = "sqlite:///sayso.db"
LEASE_SECONDS = 30.0
_PRUNE_EVERY = 30.0
_READ_ON = 2000  # events that a sweep takes into each index for searching


class Desk(Asking, Gates, RunDesk):
    """Where questions wait for people. One desk is one database.

    Nothing is opened before it is used, nothing is printed, and it may be
    shared between threads and carried across a fork.
    """

    def __new__(cls, url: str | os.PathLike[str] | None = None, **given: Any) -> Self:  # noqa: ANN401 - as `__init__`
        """Hand over to a desk behind HTTP, if the address is that of a server."""
        if cls is Desk:
            where = url if url is not None else find_url()
            if isinstance(where, str) and where.lower().startswith(("https://", "http://")):
                from sayso.remote.desk import RemoteDesk

                return cast("Self", RemoteDesk(where, **given))
        return super().__new__(cls)

    def __init__(
        self,
        url: str | os.PathLike[str] | None = None,
        *,
        token: str | None = None,
        insecure: bool = False,
        agent: str | None = None,
        clock: Clock | None = None,
        lease: Span = LEASE_SECONDS,
        via: str = "python",
        account: str | None = None,
        workers: int = 0,
        policy: Policy | str | Path | None = None,
        team: str | None = None,
    ) -> None:
        if token is not None or insecure:
            raise BadValue("token= and insecure= are for a desk behind HTTP: Desk('https://...').")
        self.url = url_of(url) if url is not None else find_url()
        self.origin = Origin(via, account or f"{_user()}@{os.uname().nodename}")
        self.law = Lawbook(
            policy,
            store=lambda: self.store,
            people=lambda: self.store.register(),
            past=self._people_ever,
            origin=self.origin,
        )
        ticking = clock or SystemClock()
        self._own = open_store(self.url, ticking)
        self._own.widen = lambda roster, mark=None: self.law.widened(roster, mark, self._own)
        self.docket = StoredDocket(lambda: self.store, self.origin, self.law)
        self.forms = Forms(
            agent if agent is not None else _program(), self.docket.now, self._precedents, team
        )
        self.law.tools.actor = Actor("agent", self.forms.agent)
        self.forms.version = lambda fn: version_of(fn.__module__)
        self.lease = span(lease).total_seconds()
        self.heartbeat = Heartbeat(self.docket.renew, self.lease, ticking, sweep=self.sweep)
        # Commands it names need the address only where people would not find it by themselves.
        elsewhere = self._own.url if url is not None and not _is_default(self.url) else None
        self.console = Console(now=self.docket.now, desk=elsewhere)
        self.people = People(lambda: self.store, self.origin, self.law)
        self.ears = Ears(self.docket)
        self.flows = ChainMap({}, AMBIENT, {})
        if workers:
            self.crew.start(workers)

    @property
    def store(self) -> Store:
        """The database behind this desk."""
        other = standing_in()
        return self._own if other is None else other.store

    def __enter__(self) -> Self:
        """Use the desk for a block, and let go of its connections afterwards."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of connections and threads."""
        self.close()

    def close(self) -> None:
        """Let go of connections and threads. The desk opens them again if it is used again."""
        self._let_go()
        self.ears.close()
        self._own.close()

    def __repr__(self) -> str:
        """Show which desk it is, without its password."""
        return f"Desk({self._own.url!r})"

    def _people_ever(self) -> Roster:
        from sayso.asks.past_people import people_ever

        return people_ever(self.store)

    # --- asking ---

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.law.policy

    def registered(self, gate: Gated) -> None:
        """Remember what a function behind a gate declares."""
        self.law.tools.declare(gate.tool, asks=gate.asks_people)

    def opened(self, ask: Ask) -> None:
        """Let a stand-in for people, in tests, answer at once."""
        other = standing_in()
        if other is not None:
            other.opened(self, ask)

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

    # --- looking after it ---

    _prune_at = 0.0

    def sweep(self, now: datetime | None = None) -> Swept:
        """Do what time has made due: remind, escalate, settle, close what is late, doubt what is silent."""
        moment = None if now is None else aware(now, "now")
        swept = sweep(self.store, origin=self.origin, now=moment)
        self._read_on()
        self._prune()
        return swept

    def _prune(self) -> None:
        """Drop wake-ups that wake nobody any more, from time to time."""
        wakeups = self.store.wakeups
        if wakeups is None or time.monotonic() < self._prune_at:
            return
        self._prune_at = time.monotonic() + _PRUNE_EVERY
        try:
            wakeups.prune()
        except StoreError as error:
            _log.warning("Old wake-ups were not dropped: %s", error)

    def _read_on(self) -> None:
        """Take what happened into the indexes; whoever searches does so again."""
        from sayso.insight.reader import catch_up

        try:
            catch_up(self.store, most=_READ_ON)
        except StoreError as error:
            _log.warning("The indexes of the journal are behind: %s", error)

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
        from sayso.store.casebook import CaseFilter

        wanted = CaseFilter(tool=tool, teams=self._teams)
        return cases_like(self.store, text, wanted, limit=limit, least=least)

    def metrics(
        self,
        *,
        days: float = 30,
        agent: str | None = None,
        tool: str | None = None,
        tier: str | None = None,
        by: By | None = None,
    ) -> dict[str, Any]:
        """Return how people and agents got on in the last days: rates, counts and times.

        Rates are between 0 and 1 and times in seconds; `None` where there is nothing to divide by.
        `before` has the same of as many days before those, `trend` of each part of them.

        Args:
            days: How many, from an hour (1/24) on.
            agent: Only what this agent proposed; then whole days of UTC are counted.
            tool: Only calls of this tool; likewise.
            tier: Only what was of this tier; likewise.
            by: Besides, as `by`, the figures of each agent, tool, tier or reviewer; likewise.
        """
        from sayso.insight.metrics import measure, measured_by

        of: dict[str, Any] = {"days": days, "teams": self._teams}
        of["detection"] = self.law.detection
        found = measure(self.store, agent=agent, tool=tool, tier=tier, **of).to_json()
        return found if by is None else found | {"by": measured_by(self.store, by, **of)}

    def staffing(
        self, *, days: float = 7, within: float = 60, people: int | None = None
    ) -> dict[str, Any]:
        """Say whether people can keep up with what is asked in the busiest hour, and how many could.

        Args:
            days: How many to look back.
            within: The seconds for which an ask may wait for somebody on average.
            people: How many decide at the same time; unless given, as many as decided in these days.
        """
        from sayso.insight.forecast import forecast

        found = forecast(self.store, days=days, within=within, people=people, teams=self._teams)
        return found.to_json()

    def calibration(
        self, *, agent: str | None = None, tool: str | None = None
    ) -> list[dict[str, Any]]:
        """Return how far the confidence that agents state can be relied upon.

        One entry for each agent and tool, those with most decisions first: what they stated by
        tenths and how often that was left as it was, the mean distance between the two (`ece`), and
        what a stated number is worth.

        Args:
            agent: Only this agent.
            tool: Only calls of this tool.
        """
        from sayso.insight.calibrating import calibrations
        from sayso.store.casebook import seen_by_team

        teams = None if self.forms.team is None else seen_by_team(self.forms.team)
        found = calibrations(self.store, agent=agent, tool=tool, teams=teams)
        return [one.to_json() for one in found]

    def outlook(self) -> dict[str, Any]:
        """Return how everything stands now: what runs, how long asks wait, what needs a person.

        Counts are exact up to 1,000; `more` says that there are more. Times are in seconds.
        """
        from sayso.runs.outlook import outlook

        broken = self.law.broken
        why = None if broken is None else str(broken)
        return outlook(self.store, teams=self._teams, broken=why).to_json()

    @property
    def _teams(self) -> tuple[str, ...] | None:
        """Whose asks are looked at; `None` is everybody's."""
        from sayso.store.casebook import seen_by_team

        return None if self.forms.team is None else seen_by_team(self.forms.team)

    @property
    def trust(self) -> Trust:
        """Which agents have earned to run what alone, and what their records say."""
        from sayso.asks.trust import Trust
        from sayso.store.casebook import seen_by_team

        teams = None if self.forms.team is None else seen_by_team(self.forms.team)
        return Trust(lambda: self.store, self.origin, teams)

    def incident(self, effect: Ask | str, harm: str, *, by: str | None = None) -> Ask:
        """Report that a call which was carried out did harm, and in what.

        It ends the grant of its key, if that runs alone, and weighs against it otherwise.

        Args:
            effect: The ask that let it happen, be it by a person or by a grant; or its id.
            harm: What it did, in words.
            by: Who reports it; may be left out in solo mode.

        Raises:
            UnknownAsk: there is none of this id.
            AlreadyReported: somebody did so before.
            Misuse: it was never carried out.
        """
        from sayso.asks.vouching import incident

        return incident(self.store, id_of(effect), harm, by=by, origin=self.origin)

    @property
    def policies(self) -> Policies:
        """The versions of the policy: put one in force, compare them, go back to an earlier one."""
        from sayso.asks.publishing import Policies

        return Policies(lambda: self.store, self.origin, self.law)

    @property
    def preferences(self) -> Preferences:
        """What people prefer of the agents on this desk."""
        from sayso.asks.preferring import Preferences

        return Preferences(lambda: self.store, self.origin)

    @property
    def tools(self) -> Tools:
        """The tools of this desk: who declares each, how it was called, what lets it run alone."""
        from sayso.asks.tools import Tools

        return Tools(lambda: self.store, self.origin, self.law, self._teams)

    @property
    def tokens(self) -> Tokens:
        """What agents and programs of people come in by over the network."""
        from sayso.access.tokens import Tokens

        return Tokens(lambda: self.store, self.origin)

    def _precedents(self, proposal: Proposal, bound: float, team: str | None) -> str:
        from sayso.insight.unseen import precedents

        return precedents(self.store, proposal, bound, team)

    def decisions(
        self,
        *,
        tool: str | None = None,
        verdict: Verdict | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: str | None = None,
        names: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yield what people decided as a data set, in the order in which it counted.

        Args:
            tool: Only calls of this tool.
            verdict: Only what was decided like this.
            since: From this moment on.
            until: Before this moment.
            after: Only what is behind the `cursor` of a line.
            names: Whether reviewers have their names; they are numbered unless.
        """
        from sayso.insight.dataset import decisions

        wanted: dict[str, Any] = {"tool": tool, "verdict": verdict, "since": since, "until": until}
        teams = None if self._teams is None else ("", *self._teams)
        batches = decisions(self.store, **wanted, after=after, teams=teams, named=lambda _: names)
        return (line for lines in batches for line in lines)

    # --- the journal ---

    @property
    def webhooks(self) -> Webhooks:
        """Who is told of events by signed messages, and what became of those."""
        from sayso.channels.webhooks import Webhooks

        return Webhooks(lambda: self.store, self.origin)

    def deliver(self, *, until: Literal["idle"] = "idle") -> int:
        """Send to webhooks what is due, until nothing is; returns how many messages arrived.

        `sayso serve` does so all the time. This is for scripts, for tests, and for programs
        without it.
        """
        from sayso.channels.courier import Courier

        if until != "idle":
            raise BadValue(f'until={until!r}: deliver() knows "idle".')
        return Courier(lambda: self.store).deliver()

    def verify(self, *, seal: Seal | str | None = None, progress: Progress | None = None) -> Report:
        """Read the whole journal and name what is not as it was written."""
        from sayso.asks.books import unlike
        from sayso.store.audit import Seal, verify

        kept = seal if seal is None or isinstance(seal, Seal) else Seal.parse(seal)
        return verify(self.store, seal=kept, progress=progress, unlike=unlike)

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
        return url_of(from_env)
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
    return url_of(url)


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
    name = path.parent.name if path.name == "__main__.py" else path.name.removesuffix(".py")
    return made_plain("agent", name)
