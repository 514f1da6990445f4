"""What `sayso doctor` says of a fleet: who is alive, what nobody takes, what was given up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from sayso.cli.check import Check
from sayso.desk import Desk
from sayso.errors import SchemaMismatch
from sayso.model.span import say_span
from sayso.model.text import one_line
from sayso.runs.dispatch import check_engine, has_library
from sayso.runs.fleet import LOOKED_AT, Standing, connections
from sayso.runs.handle import TYPED, worker_for
from sayso.store.contract import RunQuery, Store
from sayso.store.fleet import ALIVE, Backlog, Strain, Worker

_SHOWN = 20
_LATE = timedelta(minutes=1)  # ready for longer, although somebody could take it
_SKEWED = timedelta(seconds=2)
_IDLE = timedelta(seconds=30)


def fleet_checks(desk: Desk, at: Standing) -> Iterator[Check]:
    """Look at workers and runs."""
    yield from _workers(at)
    yield _waiting(at)
    yield from _unserved(at)
    yield _parked(desk, at)
    yield _doubts(at)
    yield from _engine(desk.store, at)
    strain = desk.store.strain(_IDLE)
    if strain is not None:
        yield from _server(strain, at)


def fleet_record(at: Standing) -> dict[str, Any]:
    """Return how a fleet stands, as JSON."""
    return {
        "workers": [_worker_record(worker, at) for worker in at.workers],
        "versions": dict(at.versions),
        "lag_seconds": _seconds(at.lag),
        "oldest_ready_seconds": _seconds(
            max((at.now - each.since for each in at.backlog), default=None)
        ),
        "runs": dict(at.runs),
        "unserved": [
            {"workflow": each.workflow, "runs": each.count, "start": _start(each)}
            for each in at.unserved
        ],
        "doubts": _in_doubt(at),
        "deliveries": dict(at.deliveries),
        "wakeups": None if at.wakeups is None else dict(at.wakeups),
    }


def _worker_record(worker: Worker, at: Standing) -> dict[str, Any]:
    host, _, pid = worker.name.rpartition(":")
    return {
        "name": worker.name,
        "host": host,
        "pid": int(pid) if pid.isdigit() else None,
        "version": worker.version,
        "engine": worker.engine,
        "threads": worker.threads,
        "busy": worker.busy,
        "serves": list(worker.serves),
        "lag_seconds": _seconds(worker.lag),
        "seen_seconds_ago": _seconds(at.now - worker.seen_at),
    }


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else round(max(span.total_seconds(), 0.0), 3)


def _workers(at: Standing) -> Iterator[Check]:
    if not at.workers:
        yield Check("ok", "workers", f"none alive in the last {say_span(ALIVE)}")
        return
    for worker in at.workers[:_SHOWN]:
        yield Check("ok", "worker", _told(worker, at))
    if len(at.workers) > _SHOWN:
        yield Check("ok", "workers", f"{len(at.workers) - _SHOWN:,} more; --json names all")
    if len(at.versions) > 1:
        found = ", ".join(f"{name} ({count})" for name, count in sorted(at.versions.items()))
        text = f"side by side: {found}. Fine while you roll out; end the old ones in time"
        yield Check("warn", "worker versions", text)


def _told(worker: Worker, at: Standing) -> str:
    serves = one_line(", ".join(sorted(worker.serves)), 200) or "nothing"
    name = one_line(worker.name, 80)
    version = f"sayso {worker.version}" if worker.version else "an older sayso"
    return (
        f"{name}, {version}, {worker.engine}, {worker.busy} of {worker.threads} threads busy, "
        f"seen {say_span(at.now - worker.seen_at)} ago, serves {serves}"
    )


def _waiting(at: Standing) -> Check:
    lag = "nothing was claimed in the last minute"
    if at.lag is not None:
        lag = f"from ready to claimed {at.lag.total_seconds():.2f} s at most in the last minute"
    ready = at.runs.get("ready", 0)
    oldest = at.oldest_ready
    if oldest is not None and oldest > _LATE:
        text = (
            f"a run has been ready for {say_span(oldest)} although a worker serves it ({ready:,} "
            f"ready; {lag}). Give workers more --threads, or start more of them"
        )
        return Check("fail", "lag", text)
    since = "" if oldest is None else f", the oldest for {say_span(oldest)}"
    return Check("ok", "lag", f"{lag}; {ready:,} ready{since}")


def _start(ready: Backlog) -> str | None:
    return worker_for(ready.path)


def _how(ready: Backlog) -> str:
    start = _start(ready)
    return (
        f"{TYPED[:1].upper()}{TYPED[1:]}" if start is None else f"Start one: {one_line(start, 200)}"
    )


def _unserved(at: Standing) -> Iterator[Check]:
    for each in at.unserved[:_SHOWN]:
        wait = at.now - each.since
        many = "1 run" if each.count == 1 else f"{each.count:,} runs"
        more = "" if each.count < LOOKED_AT else " or more"
        text = (
            f"{many}{more} of {one_line(each.workflow, 60)} without a worker, the oldest for "
            f"{say_span(wait)}: none that is alive serves it. {_how(each)}"
        )
        # A worker that is being started anew is nobody's concern yet.
        yield Check("fail" if wait > ALIVE else "warn", "unserved", text)
    if not at.unserved:
        yield Check("ok", "unserved", "none")


def _parked(desk: Desk, at: Standing) -> Check:
    count = at.runs.get("parked", 0)
    if not count:
        return Check("ok", "parked", "none")
    ids = [row.id for row in desk.store.runs(RunQuery(status="parked", limit=5))]
    more = f" and {count - len(ids):,} more" if count > len(ids) else ""
    runs = "run" if count == 1 else "runs"
    text = (
        f"{count:,} {runs} cannot go on without a person: {', '.join(ids)}{more}. "
        "Why: sayso runs show ID. Then: sayso runs retry ID, or cancel"
    )
    return Check("fail", "parked", text)


def _in_doubt(at: Standing) -> int:
    return sum(each.count for each in at.asks if each.kind == "doubt")


def _doubts(at: Standing) -> Check:
    count = _in_doubt(at)
    if not count:
        return Check("ok", "doubts", "none")
    calls = "1 call was begun" if count == 1 else f"{count:,} calls were begun"
    text = f"{calls}, and nobody knows whether {'it' if count == 1 else 'they'} happened. "
    return Check("fail", "doubts", f"{text}Say so: sayso inbox list --kind doubt")


def _engine(store: Store, at: Standing) -> Iterator[Check]:
    if store.wakeups is None or at.wakeups is None:
        return
    found = store.wakeups.version()
    if found is None:
        text = "none: workers look for runs themselves. For wake-ups: sayso db migrate"
        yield Check("ok", "wake-ups", text)
        return
    yield _engine_schema(store, found)
    stuck = sum(at.wakeups.get(state, 0) for state in ("stuck", "failed", "aborted", "cancelled"))
    waiting = f"{at.wakeups.get('todo', 0):,} wait, {at.wakeups.get('doing', 0):,} at work"
    if stuck:
        text = f"{stuck:,} failed, or their worker died ({waiting}). Any worker at work drops them"
        yield Check("warn", "wake-ups", text)
    else:
        yield Check("ok", "wake-ups", waiting)


def _engine_schema(store: Store, found: str) -> Check:
    if not has_library():
        return Check("ok", "engine schema", f"Procrastinate {found[:8]}; the library is not here")
    from sayso.runs.engine import newest

    try:
        check_engine(store.url, found, newest())
    except SchemaMismatch as error:
        return Check("fail", "engine schema", str(error))
    return Check("ok", "engine schema", f"Procrastinate {found[:8]}, as the library here")


def _server(strain: Strain, at: Standing) -> Iterator[Check]:
    wanted = sum(connections(worker) for worker in at.workers)
    used = f"{strain.connections:,} of {strain.most:,} in use"
    if strain.connections > strain.most * 0.9 or wanted > strain.most:
        text = (
            f"{used}; the workers alive may need {wanted:,}. Raise max_connections, or use fewer "
            "--threads, or PgBouncer"
        )
        yield Check("fail", "connections", text)
    else:
        yield Check("ok", "connections", f"{used}; the workers alive may need {wanted:,}")
    if abs(strain.ahead) > _SKEWED:
        way = "behind" if strain.ahead > timedelta() else "ahead of"
        text = (
            f"this machine is {say_span(abs(strain.ahead))} {way} the database, whose time counts "
            "for deadlines and leases. Set the clocks by NTP"
        )
        yield Check("warn", "clock", text)
    else:
        yield Check("ok", "clock", "as that of the database")
    for idler in strain.idlers:
        name = one_line(idler.name, 40) or "a program"
        text = (
            f"{name} (process {idler.pid} of the server) has left a transaction open for "
            f"{say_span(timedelta(seconds=idler.seconds))}; until it ends, nobody sees new events. "
            f"End it: select pg_terminate_backend({idler.pid})"
        )
        yield Check("fail", "idle in transaction", text)
