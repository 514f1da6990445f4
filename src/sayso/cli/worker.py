"""`sayso worker`: carries runs on, for the program whose workflows it imports."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import click

from sayso.channels.story import telling
from sayso.cli.apps import App, find_app
from sayso.cli.desks import begin_to_rule, desk_name, desk_option, policy_option
from sayso.cli.numbers import Whole
from sayso.cli.printing import emit, examples, json_option, say, show
from sayso.desk import Desk
from sayso.errors import Misuse
from sayso.model.event import Event
from sayso.runs.alarm import Alarm
from sayso.runs.dispatch import ENGINES, Engine, dispatcher
from sayso.store.contract import RunQuery, RunRow
from sayso.store.fleet import ALIVE

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_ONE_WISH = 0.5  # `timeout` and some supervisors send a signal twice and mean it once
_NEWS_AGAIN = 30.0
_AS_LONG_AS_IT_TAKES = 10_000_000.0


@click.command(
    "worker",
    epilog=examples(
        "sayso worker app:desk",
        "sayso worker path/app.py --threads 8",
        "sayso worker app --queues refund,support",
        "sayso worker app --until-idle",
    ),
)
@click.argument("target", metavar="APP[:DESK]")
@click.option(
    "--threads",
    type=Whole(1, 1000),
    default=4,
    show_default=True,
    help="How many runs at once.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    envvar="SAYSO_ENGINE",
    show_envvar=True,
    help="What brings it to runs; procrastinate wherever that is installed, unless given.",
)
@click.option(
    "--queues",
    metavar="NAMES",
    help="Only runs of these workflows, with commas between several.",
)
@click.option("--until-idle", is_flag=True, help="End when there is nothing to do now.")
@click.option("-v", "--verbose", is_flag=True, help="Say what happens on the desk, line by line.")
@desk_option
@policy_option
@json_option
def worker(
    target: str,
    *,
    threads: int,
    engine: Engine | None,
    queues: str | None,
    until_idle: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Carry runs on whose workflows APP registers.

    APP is a module (app, shop.app) or a file (path/app.py) as seen from this folder; name the
    desk if it has several. A run that waits for people holds nothing: no thread, no memory. Ctrl-C
    and SIGTERM end it, and its runs are let go at their next verb for other workers; a second
    Ctrl-C ends it at once.
    """
    app = find_app(target)
    if not app.desk.flows:
        raise Misuse(
            f"{app.name} has no workflows, so there is nothing to carry on. Put @desk.workflow "
            "above a function that takes the run."
        )
    _tell_trouble()
    with app.desk as desk, _ending(desk.crew.halt) as ended:
        desk.store.runs(RunQuery(limit=1))  # a database that is not there is told now, not in a log
        begin_to_rule(desk)
        if queues is not None:
            desk.crew.choose(_chosen(app, queues))
        # Whoever is to end when there is nothing more to do looks for it, and is not woken.
        wanted = "threads" if until_idle else engine
        carrying = dispatcher(desk.crew, desk.store, threads, wanted)
        if verbose and not as_json:
            desk.on("*", _told)
        if not until_idle:
            carrying.start()
        _introduce(app, threads, carrying.engine, as_json=as_json)
        if until_idle:
            desk.work(until="idle", threads=threads)
        else:
            ended.wait()
            carrying.stop(_AS_LONG_AS_IT_TAKES)
        if not as_json:
            say("Ended; every run is let go." if ended.is_set() else _done_for_now(desk), "dim")


def _done_for_now(desk: Desk) -> str:
    waits = desk.store.run_counts().get("waiting", 0)
    if not waits:
        return "Nothing more to do now."
    runs = "1 run waits" if waits == 1 else f"{waits:,} runs wait"
    return f"Nothing more to do now; {runs} for a decision: sayso inbox"


def _chosen(app: App, queues: str) -> list[str]:
    """Return the workflows that were named, all of which the program must have."""
    names = [name.strip() for name in queues.split(",") if name.strip()]
    unknown = [name for name in names if name not in app.desk.flows]
    if unknown or not names:
        raise Misuse(
            f"--queues {queues}: {app.name} has no workflow {', '.join(unknown) or 'of no name'}. "
            f"It has: {', '.join(sorted(app.desk.flows))}."
        )
    return names


def _introduce(app: App, threads: int, engine: Engine, *, as_json: bool) -> None:
    desk = app.desk
    others = [one.name for one in desk.store.workers(ALIVE) if one.id != desk.crew.id]
    if as_json:
        emit(
            {
                "desk": desk_name(desk),
                "app": app.name,
                "serves": {name: desk.flows[name].path for name in desk.crew.workflows()},
                "threads": threads,
                "engine": engine,
                "worker": desk.crew.name,
                "others": others,
            }
        )
        return
    say(f"desk: {desk_name(desk)}, {_counted(desk.store.runs(RunQuery(status='ready')))}", "dim")
    say(f"{app.name} serves {', '.join(sorted(desk.crew.workflows()))}", "bold")
    if engine == "procrastinate":
        say("wake-ups by Procrastinate", "dim")
    beside = f", beside {len(others)} other workers" if len(others) > 1 else ""
    beside = ", beside another worker" if len(others) == 1 else beside
    say(f"worker {desk.crew.name}, {threads} threads{beside}; Ctrl-C ends it", "dim")


def _counted(ready: Sequence[RunRow]) -> str:
    more = "+" if len(ready) >= RunQuery().limit else ""
    return f"{len(ready)}{more} ready"


def _told(event: Event) -> None:
    line = telling(event)
    if line is not None:
        show(line)


class _NotAgain(logging.Filter):
    """Lets what is said over and over through once in a while: an outage is one piece of news."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now, before = time.monotonic(), self._said.get(record.msg, -_NEWS_AGAIN)
        if now - before < _NEWS_AGAIN:
            return False
        self._said[record.msg] = now
        return True


def _tell_trouble() -> None:
    """Say on stderr what goes wrong, in our words, unless the program has its own way of logging."""
    if logging.getLogger().handlers:
        return
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(_NotAgain())
    logging.getLogger("sayso").addHandler(handler)
    for other in ("psycopg.pool", "procrastinate"):  # they tell of the same outage, every second
        logging.getLogger(other).addHandler(logging.NullHandler())


@contextmanager
def _ending(halt: Callable[[], None]) -> Iterator[Alarm]:
    """Let the first signal ask for the end, and the second one be the end."""
    ended = Alarm()
    first = 0.0

    def come(number: int, _: FrameType | None) -> None:
        nonlocal first
        if ended.is_set():
            if time.monotonic() - first > _ONE_WISH:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)
            return
        first = time.monotonic()
        ended.set()
        # Not `print`: a signal may come in the middle of one.
        os.write(2, b"\nEnding: runs are let go at their next verb. Once more ends it at once.\n")
        halt()

    before = {number: signal.signal(number, come) for number in _SIGNALS}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
