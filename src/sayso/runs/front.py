"""The part of a desk that has to do with runs."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from sayso.asks.attending import attend
from sayso.asks.forms import Forms, check_team
from sayso.asks.inbox import named_teams
from sayso.asks.lawbook import Lawbook
from sayso.channels.console import Console
from sayso.errors import BadValue, Misuse
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask
from sayso.model.content import check_word
from sayso.model.lifecycle import RUN, RunStatus
from sayso.runs.ambient import AMBIENT
from sayso.store.bell import PATIENCE
from sayso.store.contract import RunQuery, Store

# A program that runs nothing does not load what runs need: the engine comes with the first use.
if TYPE_CHECKING:
    from sayso.runs.handle import Run
    from sayso.runs.memory import Memory
    from sayso.runs.streams import Stream
    from sayso.runs.worker import Crew, Shift
    from sayso.runs.workflow import Runnable, Workflow

F = TypeVar("F", bound=Callable[..., Any])


class RunDesk(ABC):
    """Starting, carrying on and steering runs."""

    origin: Origin
    console: Console
    forms: Forms
    flows: ChainMap[str, Workflow]
    lease: float
    law: Lawbook

    @cached_property
    def crew(self) -> Crew:
        """Whoever carries runs on in this process."""
        from sayso.runs.worker import Crew

        return Crew(
            lambda: self.store,
            serves=self.flows,
            agent=self.forms.agent,
            origin=self.origin,
            lease=self.lease,
            law=self.law,
            sweep=self.sweep,
            opened=self.opened,
        )

    def _let_go(self) -> None:
        """End the threads that carry runs on, if there are any."""
        if "crew" in self.__dict__:
            self.crew.close()

    @abstractmethod
    def opened(self, ask: Ask) -> None:
        """Hear of an ask that a run opened."""

    @property
    @abstractmethod
    def store(self) -> Store:
        """The database behind this desk."""

    @overload
    def workflow(self, fn: F) -> F: ...
    @overload
    def workflow(
        self, fn: None = None, *, name: str | None = None, version: str | None = None
    ) -> Callable[[F], F]: ...
    def workflow(
        self, fn: F | None = None, *, name: str | None = None, version: str | None = None
    ) -> Any:
        """Register a function as a workflow: it takes the run, and what its verbs do is durable.

        When the run pauses the function is left, and called again from its beginning
        when there is an answer. Verbs that are done return what they returned; code between
        verbs runs again, so everything that matters goes through a verb.

        Args:
            fn: The function.
            name: What its runs are called by; the name of the function unless given.
            version: Of its code; a digest of its module unless given. While workers with several
                versions are alive, a run stays with those that have the one it went on with.

        Raises:
            BadValue: the function takes no run, or its name is taken.
        """
        if fn is None:
            return lambda decorated: self._add(decorated, name, version)
        return self._add(fn, name, version)

    def _add(self, fn: F, name: str | None, version: str | None) -> F:
        from sayso.runs.workflow import declare

        flow = declare(fn, self, name, version)
        self._serve(flow)
        fn.__sayso_workflow__ = flow  # type: ignore[attr-defined]
        return fn

    def _serve(self, flow: Workflow) -> None:
        """Serve a workflow. Agents are only kept alive: which one counts, their process says."""
        own, _, agents = self.flows.maps
        kept = agents if flow.host is None else own
        other = own.get(flow.name) or agents.get(flow.name)
        if other is not None and other.path != flow.path:
            raise BadValue(
                f"Two workflows are called {flow.name!r}: {other.path} and {flow.path}. Name one of "
                "them otherwise: @desk.workflow(name=...)."
            )
        kept[flow.name] = flow
        if flow.host is None:
            AMBIENT[flow.name] = flow

    def start(
        self,
        workflow: Callable[..., Any] | Runnable,
        *args: Any,  # noqa: ANN401 - as the workflow takes them
        thread: str | None = None,
        fresh: bool = False,
        team: str | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> Run:
        """Start a run and return at once; a worker carries it on, here or elsewhere.

        Args:
            workflow: A function registered with `@desk.workflow`, or an agent.
            *args: What the workflow is given.
            thread: The conversation it belongs to; one run of a thread at a time.
            fresh: Start without the memory of earlier runs of the thread.
            team: The team it belongs to, and all that it asks; the desk's unless given.
            **kwargs: What the workflow is given, by name.

        Raises:
            BadValue: an argument cannot be stored.
            ThreadBusy: another run of the thread is not over.
        """
        from sayso.runs.steering import start

        flow, row, said = self._begun(workflow, args, kwargs, thread, fresh, team)
        agent = flow.agent or self.forms.agent
        started = start(self.store, row, said, agent=agent)
        self.crew.bind(started, flow)
        return self._handle(started.id)

    def run(
        self,
        workflow: Callable[..., Any] | Runnable,
        *args: Any,  # noqa: ANN401 - as the workflow takes them
        thread: str | None = None,
        fresh: bool = False,
        team: str | None = None,
        wait: bool = True,
        **kwargs: Any,  # noqa: ANN401
    ) -> Run:
        """Start a run and carry it on right here, until it is over.

        Questions are put at this terminal if there is one and nobody else is on the desk;
        otherwise a line says what waits. With `wait=False` it returns as soon as the run
        waits for people. Ctrl-C leaves the run waiting; any worker goes on with it.
        """
        return self._ran(self._begun(workflow, args, kwargs, thread, fresh, team), wait=wait)

    async def run_async(
        self,
        workflow: Callable[..., Any] | Runnable,
        *args: Any,  # noqa: ANN401 - as the workflow takes them
        thread: str | None = None,
        fresh: bool = False,
        team: str | None = None,
        wait: bool = True,
        **kwargs: Any,  # noqa: ANN401
    ) -> Run:
        """Do what `run` does, from a coroutine: the event loop goes on meanwhile.

        If the one who awaits it is cancelled, the run lets go at its next verb, and any worker goes
        on with it.
        """
        begun = self._begun(workflow, args, kwargs, thread, fresh, team)
        return await self._apart(lambda shift: self._ran(begun, wait=wait, shift=shift))

    async def _apart(self, work: Callable[[Shift], Run]) -> Run:
        from sayso.runs.loops import apart
        from sayso.runs.worker import Shift

        shift = Shift()
        return await apart(lambda: work(shift), shift.over.set)

    def _ran(
        self,
        begun: tuple[Workflow, Any, dict[str, Any]],
        *,
        wait: bool,
        shift: Shift | None = None,
    ) -> Run:
        flow, row, said = begun
        token = os.urandom(8).hex()
        here = row._replace(status="running", token=token, worker=self.crew.name)
        self.crew.bind(row, flow)
        self.crew.carry_on(flow, self.crew.journal(here, said), shift)
        run = self._handle(row.id)
        return self._attended(run, shift) if wait else run

    def _begun(
        self,
        workflow: Callable[..., Any] | Runnable,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        thread: str | None,
        fresh: bool,  # noqa: FBT001 - passed on
        team: str | None,
    ) -> tuple[Workflow, Any, dict[str, Any]]:
        from sayso.runs.steering import new_row, said_at_start

        flow = self._flow(workflow)
        owner = check_team(team) or self.forms.team
        said = said_at_start(
            flow, args, dict(kwargs), origin=self.origin, thread=thread, fresh=fresh, team=owner
        )
        return flow, new_row(self.store, flow, thread, owner), said

    def _flow(self, workflow: object) -> Workflow:
        from sayso.runs.workflow import workflow_of

        flow = workflow_of(workflow)
        if flow is None:
            raise Misuse(
                f"{getattr(workflow, '__name__', workflow)!r} is no workflow: put @desk.workflow "
                "above the function, or give an agent."
            )
        if flow.host is not self:
            self._serve(flow)
        return flow

    def resume(self, run: Run | str, *, agent: Runnable | None = None, wait: bool = True) -> Run:
        """Carry a run on right here, whoever started it, until it is over.

        A run of an agent goes on with the agent it was started with in this process, else with
        the one of that name and module; `agent` names another, as after a change in a notebook.

        Raises:
            UnknownRun: there is none of this id.
            Misuse: this process does not have its code.
        """
        found = self._resumable(run, agent)
        if not wait:
            self.work(until="idle", only=found.id)
            return found
        return self._attended(found)

    async def resume_async(
        self, run: Run | str, *, agent: Runnable | None = None, wait: bool = True
    ) -> Run:
        """Do what `resume` does, from a coroutine: the event loop goes on meanwhile."""
        found = self._resumable(run, agent)

        def work(shift: Shift) -> Run:
            if wait:
                return self._attended(found, shift)
            self.crew.work(idle=True, only=found.id, shift=shift)
            return found

        return await self._apart(work)

    def _resumable(self, run: Run | str, agent: Runnable | None) -> Run:
        found = self.get_run(run if isinstance(run, str) else run.id)
        if agent is not None:
            self.crew.bind(found.row, self._flow(agent))
        if not self.crew.has(found.row):
            raise Misuse(
                f"{found.id} needs the workflow {found.row.path}, which this process has not "
                "registered. Import the module that defines it."
            )
        return found

    def _attended(self, run: Run, shift: Shift | None = None) -> Run:
        """Carry a run on, and ask for whatever it waits for, until it is over."""
        from sayso.runs.handle import OVER

        heard = threading.Event()
        told: set[str] = set()
        with self.store.bell.listening(heard.set):
            while True:
                heard.clear()
                row = run.row
                if row.status in (*OVER, "parked") or (shift is not None and shift.stopping()):
                    return run
                if row.status in ("ready", "running") and self.crew.take(run.id, shift) is not None:
                    continue
                if row.status == "waiting" and self._asked_here(run, told):
                    continue
                heard.wait(PATIENCE / 5)
                self.sweep()

    def _asked_here(self, run: Run, told: set[str]) -> bool:
        """Put the first question at this terminal; without one, say once what waits."""
        roster = self.store.roster()
        for ask in run.state.pending:
            if roster.solo and self.console.interactive():
                attend(self.store, ask, console=self.console, origin=self.origin, law=self.law)
                return True
            if ask.id not in told:
                told.add(ask.id)
                self.console.announce(ask, roster)
        return False

    @abstractmethod
    def sweep(self, now: Any = None) -> object:  # noqa: ANN401
        """Do what time has made due."""

    def work(
        self,
        until: Literal["idle"] | None = None,
        *,
        threads: int = 1,
        only: str | None = None,
    ) -> None:
        """Carry runs on: those whose workflows this process has registered.

        Args:
            until: `"idle"` returns when there is nothing to do now; otherwise it goes on until
                `desk.close()` is called or the process is interrupted.
            threads: How many runs at once.
            only: The id of the only run to carry on.
        """
        if until not in (None, "idle"):
            raise BadValue(f'until={until!r}: give "idle", or leave it out to work on.')
        if type(threads) is not int or not 1 <= threads <= 1000:
            raise BadValue(f"threads={threads!r}: give a number from 1 to 1000.")
        self.crew.work(idle=until == "idle", threads=threads, only=only)

    # --- looking, steering ---

    def get_run(self, run_id: str) -> Run:
        """Return a run by its id.

        Raises:
            UnknownRun: there is none of this id.
        """
        from sayso.runs.steering import known

        return self._handle(known(self.store, run_id).id)

    def _handle(self, run_id: str) -> Run:
        from sayso.runs.handle import Run

        return Run(lambda: self.store, run_id, decode=self._decoded, streaming=self._streamed)

    def _streamed(self, run: Run, options: Mapping[str, Any]) -> Stream:
        from sayso.runs.streams import Stream

        self._resumable(run, None)
        return Stream(self.crew, lambda: run.row, options)

    def _decoded(self, workflow: str, kept: Any) -> Any:  # noqa: ANN401 - what it returned
        flow = self.flows.get(workflow)
        return kept if flow is None else flow.output(kept)

    def runs(
        self,
        *,
        status: RunStatus | None = None,
        workflow: str | None = None,
        thread: str | None = None,
        teams: Iterable[str] | str | None = None,
        limit: int = 50,
        before: Run | None = None,
    ) -> list[Run]:
        """Return runs, the newest first; `before` the last one of the page before.

        With `teams`, only what somebody of these teams sees: theirs, and what belongs to none.
        """
        if status is not None and status not in RUN:
            raise BadValue(f"status={status!r}: it is one of {', '.join(RUN)}.")
        if type(limit) is not int or not 1 <= limit <= 500:
            raise BadValue(f"limit={limit!r}: a page holds 1 to 500 runs.")
        check_word(thread, "thread")
        place = None if before is None else (before.started_at, before.id)
        query = RunQuery(
            status=status,
            workflow=workflow,
            thread=thread,
            teams=named_teams(teams),
            limit=limit,
            before=place,
        )
        return [self._handle(row.id) for row in self.store.runs(query)]

    def thread(self, name: str) -> Memory:
        """Return what the runs of a thread of this desk's team remember, from the last fresh start."""
        from sayso.runs.memory import Memory

        steps: list[Any] = []
        for run in self.runs(thread=name, teams=self.forms.team or (), limit=500):
            if run.team != self.forms.team:
                continue
            events = run.events
            steps[:0] = run.memory.steps
            if (events[0].payload or {}).get("fresh"):
                break
        return Memory(tuple(steps))

    def cancel(self, run: Run | str, note: str | None = None, *, by: str | None = None) -> Run:
        """End a run before its next effect, and take its open asks back.

        Args:
            run: The run, or its id.
            note: Why; it is kept in the journal.
            by: Who ends it. It takes what rejecting its open asks takes, so on a desk with people
                it must be said where there are any.

        Raises:
            RunOver: it has ended already.
            Forbidden: an open ask of it is for others to decide.
            UnknownPerson: there is no such person, or nobody was named though asks are open.
        """
        from sayso.runs.steering import cancel

        run_id = run if isinstance(run, str) else run.id
        cancel(self.store, run_id, by=by, origin=self.origin, note=note)
        return self.get_run(run_id)

    def retry(self, run: Run | str) -> Run:
        """Let a parked or failed run go on from where it stood.

        Raises:
            RunOver: it is neither.
        """
        from sayso.runs.steering import retry

        run_id = run if isinstance(run, str) else run.id
        retry(self.store, run_id, actor=self._somebody(), origin=self.origin)
        return self.get_run(run_id)

    def _somebody(self) -> Actor:
        return Actor("person", self.origin.account.partition("@")[0])

    def unserved(self, run_id: str) -> str | None:
        """Return the word for people when nobody has the code to carry a run on."""
        from sayso.runs.handle import served, unserved

        row = self.store.run(run_id)
        if row is None or row.status != "ready" or served(self.store, row.workflow):
            return None
        return unserved(row)
