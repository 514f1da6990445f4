"""The company: its departments on one desk, and everything they wait for people with."""

from __future__ import annotations

import threading

from sayso.asks.lawbook import default_policy
from sayso.demo import billing, data, growth, research, support, travel
from sayso.demo.jobs import Department, Job
from sayso.demo.lost import REVIEWER, lose_one
from sayso.demo.past import remember
from sayso.desk import Desk
from sayso.model.ask import Ask

_THREADS = 1
_NOTICED_WITHIN = 100  # tenths of a second


def open_desk(url: str) -> Desk:
    """Return the desk of the company, which can carry on all that its departments do."""
    desk = Desk(url, agent="company", policy=default_policy())
    for department in _departments():
        for workflow in department.workflows:
            desk.workflow(workflow)
    return desk


def open_work(desk: Desk) -> None:
    """Start every job that is not there yet, and carry all of them on until they wait for people.

    May be called again after whatever happened in the middle: a job is found by its thread.
    """
    if not desk.runs(thread=billing.TRANSFER, limit=1):
        lose_one(desk.url)
    jobs = [job for department in _departments() for job in department.jobs]
    with Desk(desk.url, agent="company", account=REVIEWER, policy=default_policy()) as reviewer:
        for nth in (1, 2):
            begun = [job for job in jobs if job.nth == nth]
            for job in begun:
                job.run(desk)
            _carry_on(desk)
            while _reviewed(reviewer, begun):
                _carry_on(desk)
    _notice_what_was_lost(desk)
    orders = [ask for job in jobs if job.said for ask in job.run(desk).asks if ask.closed]
    vouchers = desk.runs(thread=billing.VOUCHERS_FOR, limit=1)
    remember(desk, vouchers[0].asks if vouchers else [], orders, REVIEWER.partition("@")[0])


def _departments() -> tuple[Department, ...]:
    return tuple(one.department() for one in (billing, support, growth, research, travel, data))


def _carry_on(desk: Desk) -> None:
    desk.work(until="idle", threads=_THREADS)


def _reviewed(reviewer: Desk, jobs: list[Job]) -> int:
    """Say what a colleague has said in the days before; returns to how many asks."""
    return sum(_review(reviewer, job) for job in jobs if job.said)


def _review(reviewer: Desk, job: Job) -> int:
    asks = job.run(reviewer).asks
    left = job.said[sum(ask.closed for ask in asks) :]
    answered = [said.to(ask, reviewer) for ask, said in zip(_open(asks), left, strict=False)]
    return len(answered)


def _open(asks: list[Ask]) -> list[Ask]:
    return [ask for ask in asks if ask.open]


def _notice_what_was_lost(desk: Desk) -> None:
    """Wait until the lease of the process that died has lapsed, and people are asked."""
    lost = desk.runs(thread=billing.TRANSFER, limit=1)
    pause = threading.Event()
    for _ in range(_NOTICED_WITHIN):
        if not lost or lost[0].status != "running":
            return
        pause.wait(0.1)
        _carry_on(desk)
