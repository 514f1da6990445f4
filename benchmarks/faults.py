"""Faults that paused agents are known for: on LangGraph, on smolagents, on both of ours.

    race     two processes answer and resume one paused run at the same moment: how often did the
             guarded action run twice?
    kill     the process dies (kill -9) right after the approved action: is the answer lost, the
             question asked again, the action run twice?
    mail     a model writes two mails in one message, a person approves one after the other, and
             each time another process goes on: is a mail sent twice, or never?
    cancel   a person cancels the plan of an agent: does it act all the same?
    change   a person adds a step to the plan, the agent is stopped after the first step and
             resumed: is there another plan, without that step? Is the step ever done?

All sides are tried in turns by the same processes, on SQLite and on PostgreSQL; smolagents,
whose memory is the process, is beside ours on both. "under sayso" is the very graph of LangGraph's
side, with its own checkpointer, run by a desk (for the mails, its node acts by `sayso.effect`).
An action leaves a line in a file for
every time it ran; that file is counted, nobody's own records. The model is a script: it
follows the last plan that it is shown, and makes a plan of its own only if it is shown none.
Ends with an error if one of ours has a fault. Without LangGraph or smolagents (they are in
requirements/bench.txt) sayso is tried alone.

    python -m benchmarks.faults [--quick] [--trials 240] [--only race|kill|mail|cancel|change]
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import sayso
from benchmarks import _langgraph as langgraph
from benchmarks import _smolagents as smolagents
from benchmarks._hurry import IN_A_HURRY
from benchmarks.store import Database, databases
from sayso import Desk, PlanStep, Running, ScriptedModel
from sayso.agent import Message, call

TRIALS, KILLS = 240, 15
QUICK_TRIALS, QUICK_KILLS = 6, 2
LEASE = "1s"  # how long a dead worker is waited for

processes = get_context("forkserver")
processes.set_forkserver_preload(["benchmarks.store", "langgraph.graph"])
numbers = count(1)


@dataclass(frozen=True)
class Place:
    """Where one side keeps its runs, and the file that its action writes to.

    `beside` is where a graph that a desk runs keeps its own checkpoints.
    """

    database: str
    at: str
    ledger: str
    beside: str = ""

    def times(self, order: int) -> int:
        """How often the action ran for this order."""
        path = Path(self.ledger)
        return path.read_text().split().count(str(order)) if path.exists() else 0

    def act(self, order: int) -> None:
        """Do what cannot be undone."""
        ledger = os.open(self.ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(ledger, f"{order}\n".encode())
        os.close(ledger)


def act_and_die(place: Place, order: int) -> None:
    place.act(order)
    if place.times(order) == 1:  # a second try, after a restart, lives
        os.kill(os.getpid(), signal.SIGKILL)


Act = Callable[[Place, int], None]


class Sayso:
    """A desk with a workflow that asks before it acts."""

    name = "sayso"

    def __init__(self, place: Place, act: Act = Place.act) -> None:
        self._place = place
        self.desk = desk = Desk(place.at, agent="benchmark", lease=LEASE, policy=IN_A_HURRY)

        @sayso.tool(name="refund", risk="high")
        def refund(order: int) -> str:
            act(place, order)
            return "refunded"

        @desk.workflow(name="refunds")
        def refunds(run: Running, order: int) -> object:
            return run.call(refund, order)

        self._flow = refunds

    def start(self, order: int) -> str:
        return self.desk.run(self._flow, order, wait=False).id

    def answer_and_resume(self, key: str) -> str:
        """Approve and carry on, as a process does that knows of nobody else."""
        [ask] = self.desk.get_run(key).asks
        said = "ok"
        try:
            self._say_yes(ask)
        except sayso.AskClosed:
            said = "refused"
        self.desk.crew.take(key)
        return said

    def _say_yes(self, ask: sayso.Ask) -> None:
        self.desk.approve(ask)

    def _say_it_happened(self, ask: sayso.Ask) -> None:
        self.desk.respond(ask, "refunded")

    def settled(self, key: str) -> None:
        """Wait until the run is over.

        Raises:
            RuntimeError: it did not end.
        """
        until = time.monotonic() + 30
        while self.desk.get_run(key).status != "done":
            self.desk.crew.take(key)
            time.sleep(0.002)
            if time.monotonic() > until:
                raise RuntimeError(f"{key} is {self.desk.get_run(key).status}")

    def after_the_crash(self, key: str, order: int) -> list[str]:
        """Carry the run on somewhere else, with a person who answers whatever is asked."""
        run = self.desk.get_run(key)
        found = ["answer lost"] if run.asks[0].decision is None else []
        until = time.monotonic() + 30
        while run.status != "done" and time.monotonic() < until:
            self.desk.work(until="idle", only=key)  # nothing to claim before the lease has lapsed
            for ask in run.state.pending:
                if ask.kind == "doubt":
                    found.append("asked whether it happened")
                    self._say_it_happened(ask)
                else:
                    found.append("question asked again")
                    self._say_yes(ask)
            time.sleep(0.05)
        if run.status != "done":
            raise RuntimeError(f"{key} is {run.status}: {run.error}")
        return found + ["action ran twice"] * (self._place.times(order) > 1)


class LangGraph:
    """A graph that asks before it acts."""

    name = "LangGraph"

    def __init__(self, place: Place, act: Act = Place.act) -> None:
        self._place = place
        self._saver = langgraph.saver_of(place.database, place.at)
        self._graph = langgraph.asking(self._saver, lambda order: act(place, order))

    def start(self, order: int) -> str:
        paused = self._graph.invoke({"order": order, "answer": ""}, langgraph.thread(order))
        if "__interrupt__" not in paused:
            raise RuntimeError(f"LangGraph did not pause: {paused}")
        return str(order)

    def answer_and_resume(self, key: str) -> str:
        ended = self._graph.invoke(langgraph.resumed("approve"), langgraph.thread(key))
        return "ok" if ended["answer"] == "approve" else "refused"

    def settled(self, key: str) -> None:
        """It is over when `invoke` returns."""

    def after_the_crash(self, key: str, order: int) -> list[str]:
        thread, found = langgraph.thread(key), []
        if any(task.interrupts for task in self._graph.get_state(thread).tasks):
            found.append("question asked again")  # every list of what is pending shows it
        came = self._graph.invoke(None, thread)
        if "__interrupt__" in came:
            found.append("answer lost")
            self._graph.invoke(langgraph.resumed("approve"), thread)
        return found + ["action ran twice"] * (self._place.times(order) > 1)


class UnderSayso(Sayso):
    """The same graph as LangGraph's, not a line changed, run by a desk."""

    name = "under sayso"

    def __init__(self, place: Place, act: Act = Place.act) -> None:
        self._place = place
        self.desk = Desk(place.at, agent="benchmark", lease=LEASE, policy=IN_A_HURRY)
        saver = langgraph.saver_of(place.database, place.beside)
        graph = langgraph.asking(saver, lambda order: act(place, order))
        self._adapter = langgraph.adapted("refunds", graph)

    def start(self, order: int) -> str:
        given = {"order": order, "answer": ""}
        return self.desk.run(self._adapter, given, wait=False).id

    def _say_yes(self, ask: sayso.Ask) -> None:
        self.desk.respond(ask, "approve")

    def _say_it_happened(self, ask: sayso.Ask) -> None:
        self.desk.respond(ask, {"answer": "approve"})  # what the node would have returned


Side = type[Sayso] | type[LangGraph]
SIDES: list[Side] = [LangGraph, UnderSayso, Sayso] if langgraph.installed() else [Sayso]


def place_of(side: Side, database: Database, folder: str) -> Place:
    """Return a database of its own for one side, ready to be used."""
    name = f"faults_{side.name.lower().replace(' ', '_')}"
    ledger = f"{folder}/{name}_{database.name}.txt"

    def theirs(name: str) -> str:
        return f"{folder}/{name}.db" if database.name == "SQLite" else database.address(name)

    if side is LangGraph:
        return Place(database.name, theirs(name), ledger)
    database.desk(name).close()  # makes the tables
    beside = theirs(f"{name}_graphs") if side is UnderSayso else ""
    return Place(database.name, database.address(name), ledger, beside)


# --- race -------------------------------------------------------------------------------------


def race_along(orders: Connection, together: Any, places: dict[str, Place]) -> None:  # noqa: ANN401
    """Be one of the two processes: answer and resume whatever comes, on the same signal."""
    sides = {side.name: side(places[side.name]) for side in SIDES}
    while (order := orders.recv()) is not None:
        name, key = order
        together.wait(60)
        try:
            orders.send(sides[name].answer_and_resume(key))
        except Exception as error:  # noqa: BLE001 - counted as what the caller was told
            orders.send(type(error).__name__)


@contextmanager
def racers(places: dict[str, Place]) -> Iterator[list[Connection]]:
    """Start the two processes."""
    together = processes.Barrier(2)
    lines, started = [], []
    for _ in range(2):
        ours, theirs = processes.Pipe()
        process = processes.Process(target=race_along, args=(theirs, together, places), daemon=True)
        process.start()
        lines.append(ours)
        started.append(process)
    try:
        yield lines
        for line in lines:
            line.send(None)
        for process in started:
            process.join(10)
    finally:
        for process in started:
            process.kill()


def race(places: dict[str, Place], trials: int) -> dict[str, Counter[str]]:
    """Return for each side in how many trials what happened."""
    found: dict[str, Counter[str]] = {side.name: Counter() for side in SIDES}
    here = {side.name: side(places[side.name]) for side in SIDES}
    with racers(places) as lines:
        for _ in range(trials):
            for name, side in here.items():
                order = next(numbers)
                key = side.start(order)
                for line in lines:
                    line.send((name, key))
                told = [line.recv() for line in lines]
                side.settled(key)
                ran = places[name].times(order)
                found[name]["action never ran"] += ran == 0
                found[name]["action ran twice"] += ran > 1
                found[name]["both callers told ok"] += told == ["ok", "ok"]
    return found


# --- kill -------------------------------------------------------------------------------------


def resume_and_die(side: Side, place: Place, key: str) -> None:
    side(place, act_and_die).answer_and_resume(key)


def kill(places: dict[str, Place], trials: int) -> dict[str, Counter[str]]:
    """Return for each side in how many trials what happened."""
    found: dict[str, Counter[str]] = {side.name: Counter() for side in SIDES}
    # One for each side, because a server has only so many connections.
    sides = {side: side(places[side.name]) for side in SIDES}
    for _ in range(trials):
        for side, here in sides.items():
            place, order = places[side.name], next(numbers)
            key = here.start(order)
            dying = processes.Process(target=resume_and_die, args=(side, place, key))
            dying.start()
            dying.join(60)
            if dying.exitcode != -signal.SIGKILL or place.times(order) != 1:
                raise RuntimeError(f"the {side.name} process ended with {dying.exitcode}")
            found[side.name].update(set(here.after_the_crash(key, order)))
    return found


# --- mail -------------------------------------------------------------------------------------


class SaysoMails:
    """An agent that makes several gated calls in one reply."""

    name = "sayso"

    def __init__(self, place: Place) -> None:
        self.desk = Desk(place.at, agent="benchmark", lease=LEASE, policy=IN_A_HURRY)

        @sayso.tool(reversible=False)
        def write_email(order: int) -> str:
            """Send a mail about an order."""
            place.act(order)
            return "sent"

        def think(messages: Sequence[Message]) -> Any:  # noqa: ANN401 - a line of the script
            if messages[-1].role == "tool":
                return "Sent."
            return [call("write_email", order=int(n)) for n in messages[-1].text.split()]

        mailer = sayso.Agent("mailer", ScriptedModel(think), [write_email])

        @self.desk.workflow(name="mails")
        def mails(run: Running, task: str) -> object:
            return run.agent(mailer, task)

        self._flow = mails

    def start(self, orders: Sequence[int]) -> str:
        return self.desk.run(self._flow, " ".join(map(str, orders)), wait=False).id

    def answer_and_resume(self, key: str) -> None:
        """Approve what waits first, and carry the run on."""
        self._say_yes(self.desk.get_run(key).state.pending[0])
        self.desk.crew.take(key)

    def _say_yes(self, ask: sayso.Ask) -> None:
        self.desk.approve(ask)


class LangGraphMails:
    """A graph with a node that makes the gated calls of a message."""

    name = "LangGraph"

    def __init__(self, place: Place) -> None:
        self._graph = langgraph.mailing(langgraph.saver_of(place.database, place.at), place.act)

    def start(self, orders: Sequence[int]) -> str:
        key = f"mails-{orders[0]}"
        self._graph.invoke({"orders": list(orders), "sent": []}, langgraph.thread(key))
        return key

    def answer_and_resume(self, key: str) -> None:
        self._graph.invoke(langgraph.resumed("approve"), langgraph.thread(key))


class MailsUnderSayso(SaysoMails):
    """The same graph as LangGraph's, run by a desk; its node acts by `sayso.effect`."""

    name = "under sayso"

    def __init__(self, place: Place) -> None:
        self.desk = Desk(place.at, agent="benchmark", lease=LEASE, policy=IN_A_HURRY)

        def send(order: int) -> None:
            place.act(order)

        graph = langgraph.mailing(
            langgraph.saver_of(place.database, place.beside),
            lambda order: sayso.effect(send, order),
        )
        self._adapter = langgraph.adapted("mails", graph)

    def start(self, orders: Sequence[int]) -> str:
        given = {"orders": list(orders), "sent": []}
        return self.desk.run(self._adapter, given, wait=False).id

    def _say_yes(self, ask: sayso.Ask) -> None:
        self.desk.respond(ask, "approve")


Mailer = type[SaysoMails] | type[LangGraphMails]
MAILERS: dict[str, Mailer] = {
    side.name: side for side in (SaysoMails, LangGraphMails, MailsUnderSayso)
}


def approve_one(side: Mailer, place: Place, key: str) -> None:
    side(place).answer_and_resume(key)


def mail(places: dict[str, Place], trials: int) -> dict[str, Counter[str]]:
    """Return for each side in how many trials what happened."""
    found: dict[str, Counter[str]] = {name: Counter() for name in places}
    # One for each side, because a server has only so many connections.
    starting = {name: MAILERS[name](place) for name, place in places.items()}
    for _ in range(trials):
        for name, place in places.items():
            orders = (next(numbers), next(numbers))
            key = starting[name].start(orders)
            for _order in orders:
                process = processes.Process(target=approve_one, args=(MAILERS[name], place, key))
                process.start()
                process.join(60)
                if process.exitcode != 0:
                    raise RuntimeError(f"the {name} process ended with {process.exitcode}")
            times = [place.times(order) for order in orders]
            found[name]["a mail was sent twice"] += max(times) > 1
            found[name]["a mail was never sent"] += min(times) == 0
    return found


# --- cancel, change ---------------------------------------------------------------------------

DRAFT = ("search the web", "write it up")
ADDED = "ask the lawyer"
CHANGED = ("search the web", ADDED, "write it up")
_STEP = re.compile(r"^ *\d+\. ([a-z ]+)", re.MULTILINE)


def numbered(steps: Sequence[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


def follow(shown: Sequence[str], planning: bool) -> smolagents.Line:  # noqa: FBT001
    """Be the model: follow the last plan that is shown; make one only where none is shown."""
    plans = [found for text in shown if (found := _STEP.findall(text)) and found[0] == DRAFT[0]]
    steps = [step.strip() for step in plans[-1]] if plans else list(DRAFT)
    if planning:
        return numbered(steps)
    done = "\n".join(shown)
    left = [step for step in steps if f"did {step}" not in done]
    return (left[0], "") if left else "written up"


class Ledger:
    """A file with one line for every step that was done to the world."""

    def __init__(self, folder: str) -> None:
        self._path = Path(folder, f"plan_{next(numbers)}.txt")
        self.last: Callable[[], object] = lambda: None  # called after every step

    @property
    def lines(self) -> list[str]:
        return self._path.read_text().splitlines() if self._path.exists() else []

    def act(self, step: str) -> str:
        with self._path.open("a") as file:
            file.write(f"{step}\n")
        self.last()
        return f"did {step}"


class SaysoPlans:
    """An agent whose plan a person reviews at the desk."""

    name = "sayso"

    def __init__(self, at: str, ledger: Ledger) -> None:
        self._at, self._ledger = at, ledger
        self.desk = Desk(at, agent="benchmark", policy=IN_A_HURRY)

        def work(subject: str) -> str:
            """Work on something."""
            return ledger.act(subject)

        self._agent = sayso.Agent(
            "writer", ScriptedModel(self._say), [work], plan_every=5, max_steps=10
        )

    def _say(self, messages: Sequence[Message], tools: tuple[str, ...]) -> Any:  # noqa: ANN401
        planning = tools == ("plan",)
        said = follow([message.text for message in messages], planning)
        if isinstance(said, tuple):
            return call("work", subject=said[0])
        return _STEP.findall(said) if planning else said

    def _planned(self) -> sayso.Run:
        return self.desk.run(self._agent, "Write about tea.", wait=False)

    def cancelled(self) -> list[str]:
        run = self._planned()
        self.desk.reject(run.asks[0], "Not this way.")
        self.desk.work(until="idle")
        if run.status != "cancelled":
            raise RuntimeError(f"{run.id} is {run.status}: {run.error}")
        return ["acted after the cancel"] if self._ledger.lines else []

    def changed(self) -> list[str]:
        run = self._planned()
        self.desk.edit(run.asks[0], {"steps": [{"title": step} for step in CHANGED]})
        self._ledger.last = self.desk.crew.halt  # stops when the first step is done
        self.desk.work(until="idle", only=run.id)
        if len(self._ledger.lines) != 1:
            raise RuntimeError(f"{run.id} was not stopped: {run.status}, {run.error}")
        with Desk(self._at, agent="benchmark", policy=IN_A_HURRY) as elsewhere:
            elsewhere.work(until="idle", only=run.id)
        if run.status != "done":
            raise RuntimeError(f"{run.id} is {run.status}: {run.error}")
        plans = [step for step in run.memory if isinstance(step, PlanStep)]
        last = [step["title"] for step in plans[-1].plan]
        return _missing([] if last == list(CHANGED) else last, self._ledger)

    def close(self) -> None:
        self.desk.close()


class Smolagents:
    """The example of its documentation: a callback shows the plan, and changes or interrupts."""

    name = "smolagents"

    def __init__(self, _at: str, ledger: Ledger) -> None:
        self._ledger = ledger

    def _agent(self, **callbacks: Callable[..., None]) -> smolagents.Agent:
        return smolagents.agent(
            follow, self._ledger.act, max_steps=10, plan_every=5, callbacks=callbacks
        )

    def cancelled(self) -> list[str]:
        agent = self._agent(PlanningStep=lambda step, agent: agent.interrupt())
        self._interrupted(agent)
        return ["acted after the cancel"] if self._ledger.lines else []

    def changed(self) -> list[str]:
        plans: list[Any] = []

        def review(step: Any, agent: object) -> None:  # noqa: ANN401
            plans.append(step)
            if len(plans) == 1:  # later on, the person believes that this is what they wrote
                step.plan = numbered(CHANGED)

        agent = self._agent(PlanningStep=review, ActionStep=self._stop_once)
        self._interrupted(agent)
        agent.run("Write about tea.", reset=False)
        last = [step.strip() for step in _STEP.findall(plans[-1].plan)]
        return _missing([] if last == list(CHANGED) else last, self._ledger)

    def _stop_once(self, _step: object, agent: smolagents.Agent) -> None:
        if len(self._ledger.lines) == 1:
            agent.interrupt()

    def _interrupted(self, agent: smolagents.Agent) -> None:
        """Run it as the example does, which takes the interruption for what it is."""
        try:
            agent.run("Write about tea.", reset=True)
        except Exception as error:
            if "interrupted" not in str(error):
                raise
        else:
            raise RuntimeError("smolagents was not interrupted")

    def close(self) -> None:
        """It has nothing open."""


def _missing(instead: Sequence[str], ledger: Ledger) -> list[str]:
    found = ["reviewed plan thrown away"] if instead else []
    return found + ["the person's step never done"] * (ADDED not in ledger.lines)


Planner = type[SaysoPlans] | type[Smolagents]
PLANNERS: list[Planner] = [*([Smolagents] if smolagents.installed() else []), SaysoPlans]


def plan(part: str, at: str, folder: str, trials: int) -> dict[str, Counter[str]]:
    """Return for each side in how many trials what happened."""
    found: dict[str, Counter[str]] = {side.name: Counter() for side in PLANNERS}
    for _ in range(trials):
        for side in PLANNERS:
            one = side(at, Ledger(folder))
            found[side.name].update(one.cancelled() if part == "cancel" else one.changed())
            one.close()
    return found


# ----------------------------------------------------------------------------------------------

RACE = ("action ran twice", "action never ran", "both callers told ok")
KILL = (
    "answer lost",
    "question asked again",
    "action ran twice",
    "asked whether it happened",
)
MAIL = ("a mail was sent twice", "a mail was never sent")
CANCEL = ("acted after the cancel",)
CHANGE = ("reviewed plan thrown away", "the person's step never done")
OURS = (Sayso.name, UnderSayso.name)
FAULTS = {
    "action ran twice",
    "action never ran",
    "answer lost",
    "question asked again",
    *MAIL,
    *CANCEL,
    *CHANGE,
}
TITLES = {
    "race": "two processes resume one run",
    "kill": "killed right after the action",
    "mail": "two mails in one message",
    "cancel": "a plan is cancelled",
    "change": "a changed plan is resumed",
}


def table(
    database: str, part: str, rows: Sequence[str], found: dict[str, Counter[str]], trials: int
) -> Iterator[str]:
    """Yield the lines of one table."""
    yield f"{f'{database}: {TITLES[part]}':<48}" + "".join(f"{name:>14}" for name in found)
    for row in rows:
        counts = (f"{counted[row]} of {trials}" for counted in found.values())
        yield f"  {row:<46}" + "".join(f"{text:>14}" for text in counts)


def tried(
    database: Database, folder: str, part: str, trials: int, kills: int
) -> tuple[Sequence[str], dict[str, Counter[str]], int]:
    """Return the rows of a part, what was found, and how often it was tried."""
    if part in ("cancel", "change"):
        database.desk("faults_plans").close()  # makes the tables
        rows = CANCEL if part == "cancel" else CHANGE
        return rows, plan(part, database.address("faults_plans"), folder, kills), kills
    places = {side.name: place_of(side, database, folder) for side in SIDES}
    if part == "race":
        return RACE, race(places, trials), trials
    if part == "mail":
        return MAIL, mail(places, kills), kills
    return KILL, kill(places, kills), kills


def main() -> None:
    parser = argparse.ArgumentParser(description="Known faults, tried on others and on sayso.")
    parser.add_argument("--quick", action="store_true", help="few trials: only shows that it runs")
    parser.add_argument("--trials", type=int, help=f"of the race, {TRIALS} unless given")
    parser.add_argument("--only", choices=tuple(TITLES))
    given = parser.parse_args()
    for peer in (langgraph, smolagents):
        if not peer.installed():
            print(peer.MISSING)
    trials = given.trials or (QUICK_TRIALS if given.quick else TRIALS)
    kills = QUICK_KILLS if given.quick else KILLS
    faults = 0
    with databases() as both, tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        for database in both:
            for part in TITLES:
                if given.only in (None, part):
                    rows, found, times = tried(database, folder, part, trials, kills)
                    print("\n".join(table(database.name, part, rows, found, times)), flush=True)
                    ours = [found[name] for name in OURS if name in found]
                    faults += sum(counted[fault] for counted in ours for fault in FAULTS)
    if faults:
        sys.exit(f"Ours have {faults} faults: that must not be.")


if __name__ == "__main__":
    main()
