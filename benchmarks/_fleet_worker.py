"""A worker process of the fleet; `benchmarks.fleet` starts several.

    python -m benchmarks._fleet_worker ours URL ENGINE THREADS
    python -m benchmarks._fleet_worker bare URL BATCH
    python -m benchmarks._fleet_worker listening URL

It says that it is there, begins when it is told to, ends when it is told to, and says what
processor time it took. Bare ones claim, read and end runs by SQL, check nothing and call no code.
"""

from __future__ import annotations

import os
import resource
import select
import sys
import time
from collections.abc import Callable

import psycopg

from benchmarks._hurry import IN_A_HURRY
from benchmarks._waiting_runs import WORKFLOW
from sayso import Desk, Running
from sayso.runs.dispatch import Engine, dispatcher

CLAIM = (
    "update runs set status = 'running', token = %s, worker = 'bare', lease_until = %s,"
    " attempt = attempt + 1 where id in (select id from runs where status = 'ready'"
    " order by changed_at limit %s for update skip locked)"
    " and set_config('synchronous_commit', 'off', true) = 'off' returning id, waits"
)
READ = "select * from events where stream = any(%s) order by stream, seq"
END = (
    "with written as (insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)"
    " select stream, 2, 'run.done', %s, actor, payload, salt, digest, hash from events"
    " where stream = %s and seq = 1)"
    " update runs set status = 'done', waits = '', token = null, lease_until = null,"
    " changed_at = %s where id = %s"
)


def _now() -> int:
    return time.time_ns() // 1000


def bare(connection: psycopg.Connection, batch: int) -> int:
    """Claim so many runs at most and end them; return how many there were."""
    claimed = connection.execute(CLAIM, [os.urandom(8).hex(), _now(), batch]).fetchall()
    for run_id, waits in claimed:
        connection.execute(READ, [[run_id, waits.strip("|")]]).fetchall()
        connection.execute(END, [_now(), run_id, _now(), run_id])
    return len(claimed)


def _told() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


def bare_work(url: str, batch: str) -> Callable[[], None]:
    """Take what is ready until told to end."""
    connection = psycopg.connect(url, autocommit=True)

    def work() -> None:
        while not _told():
            if not bare(connection, int(batch)):
                time.sleep(0.002)

    return work


def listening(url: str) -> Callable[[], None]:
    """Claim what others tell of, and say when."""
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("listen floor")

    def work() -> None:
        while not _told():
            for _ in list(connection.notifies(timeout=0.2, stop_after=1)):
                connection.execute(CLAIM, [os.urandom(8).hex(), _now(), 1]).fetchall()
                print(time.time_ns(), flush=True)

    return work


def timed(url: str) -> Desk:
    """Return a desk whose runs return when they went on."""
    desk = Desk(url, agent="benchmark", policy=IN_A_HURRY)

    @desk.workflow(name=WORKFLOW)
    def waiting(run: Running) -> object:
        run.question("May it go on?", why="The customer was charged twice.", within="30d")
        return time.time_ns()

    return desk


def ours(url: str, engine: Engine, threads: str) -> Callable[[], None]:
    """Carry runs on as `sayso worker` does."""
    desk = timed(url)
    working = dispatcher(desk.crew, desk.store, int(threads), engine)

    def work() -> None:
        working.start()
        sys.stdin.readline()
        working.stop(10)
        desk.close()

    return work


KINDS: dict[str, Callable[..., Callable[[], None]]] = {
    "ours": ours,
    "bare": bare_work,
    "listening": listening,
}


def main() -> None:
    """Be ready, begin, end, and say what it took."""
    work = KINDS[sys.argv[1]](*sys.argv[2:])
    print("ready", flush=True)
    sys.stdin.readline()
    begun = resource.getrusage(resource.RUSAGE_SELF)
    work()
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime - begun.ru_utime - begun.ru_stime, flush=True)


if __name__ == "__main__":
    main()
