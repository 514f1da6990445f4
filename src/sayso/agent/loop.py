"""One run of an agent: plan, think, act, until there is an answer.

It is an ordinary workflow. Whatever the model replies and whatever tools return is
a verb, so the loop below is walked again from its beginning at every resume,
and comes out where it stopped.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial

from sayso.agent.history import shortened
from sayso.agent.job import Job
from sayso.agent.messages import Message, Reply
from sayso.agent.modelling import Replied, modelled
from sayso.agent.news import beside, message, news
from sayso.agent.planning import plan_passage
from sayso.agent.profile import Profile
from sayso.agent.recalling import recall_passage
from sayso.agent.telling import told
from sayso.agent.turn import Settled, turn_passage
from sayso.agent.words import NOTHING, WAITED, planned
from sayso.runs.lanes import CHAIN, LANE, VERSION
from sayso.runs.memory import AnswerStep, Step, TaskStep
from sayso.runs.running import Running
from sayso.runs.stops import Parked

_EMPTY = 3
_JOB: ContextVar[Job | None] = ContextVar("sayso_job", default=None)


def work(agent: Profile, run: Running, task: str) -> str:
    """Work on a task until there is an answer."""
    inner = LANE.get() is not run.root
    chain = CHAIN.get() or ((run.journal.row.workflow,) if inner else ())
    job = Job(agent, run, task, inner=inner, outer=_JOB.get() if inner else None)
    token, before = CHAIN.set((*chain, agent.name)), _JOB.set(job)
    version = VERSION.set(agent.version)
    try:
        return _answer(job)
    finally:
        VERSION.reset(version)
        _JOB.reset(before)
        CHAIN.reset(token)


def _answer(job: Job) -> str:
    if job.fresh:
        job.agent.voice.begun(job.agent.name, job.task)
    if job.agent.learn:
        job.recalled = job.run.verb(partial(recall_passage, job))
    _tell(job, TaskStep(at=job.now, workflow=job.agent.name, task=job.task))
    while True:
        _plan_if_due(job)
        job.check_limits()
        reply = _think(job)
        if reply.calls:
            _act(job, reply)
        elif job.queue:
            _wait(job, reply)
        elif not reply.text.strip():
            _nothing(job)
        elif _approved(job, reply.text):
            job.progress(1.0)
            job.history.add(Message(role="assistant", text=reply.text))
            if not _tell(job, AnswerStep(at=job.now, output=reply.text)):
                return reply.text


def _plan_if_due(job: Job) -> None:
    every = job.agent.plan_every
    if every is None or job.steps_since_plan < every:
        return
    job.plan, step = job.run.verb(beside(job, partial(plan_passage, job)))
    job.plans += 1
    job.steps_since_plan = 0
    job.history.add(Message(role="user", text=planned(job.plan)))
    job.progress(0.0)
    _tell(job, step)


def _think(job: Job) -> Reply:
    tools = tuple(held.spec for held in job.agent.kit.values())
    prompt = partial(job.prompt, (), tools)
    digest = job.history.digest()
    said: Replied = job.run.verb(
        lambda _, key: modelled(job.run, key, job.agent, prompt, digest, job.ids)
    )
    job.count(said)
    job.spent.steps += 1
    job.steps_since_plan += 1
    return said.reply


def _act(job: Job, reply: Reply) -> None:
    job.empty = 0
    turn = partial(turn_passage, job, reply=reply)
    settled: list[Settled] = job.run.verb(beside(job, turn))
    calls = tuple(one.call for one in settled)
    job.ids.update(call.id for call in calls)
    job.history.add(
        Message(role="assistant", text=reply.text, calls=calls, native=reply.native),
        *(one.message for one in settled),
    )
    for one in settled:
        if not one.waits:
            _count(job, one, job.plans)
    if job.queue:
        _hear(job)


def _count(job: Job, one: Settled, plan: int) -> None:
    """Count a call that is settled, and tell of it; `plan` is the number of the one it belongs to."""
    job.spent.seconds += one.took
    job.spent = job.spent.plus(one.inside)
    if one.carried_out and job.plan is not None:
        approved = one.steps if plan == job.plans else ()  # of a plan before, they are other steps
        job.plan = job.plan.approved(approved).after(one.call.tool)
        job.progress(job.plan.progress)
    _tell(job, one.step)


def _hear(job: Job, *, wait: bool = False) -> None:
    """Tell the model what came of calls in the queue; with `wait`, once there is something."""
    came: list[Settled] = job.run.verb(partial(news, job, wait=wait))
    for one in came:
        job.history.add(message(job, one))
        _count(job, one, job.queue.leave(one.place))


def _wait(job: Job, reply: Reply) -> None:
    """Let the run wait: the model has nothing else to do. Its text is no answer yet."""
    job.empty = 0
    if reply.text.strip():
        job.history.add(Message(role="assistant", text=reply.text, native=reply.native))
    _hear(job, wait=True)
    job.history.add(Message(role="user", text=WAITED))


def _nothing(job: Job) -> None:
    """Tell the model that it said nothing; a few times, then a person has to look."""
    job.empty += 1
    if job.empty >= _EMPTY * (1 + job.run.journal.granted["replies"]):
        raise Parked(
            f"the model of {job.agent.name} replied with nothing, {job.empty} times.",
            more="replies",
        )
    job.history.add(Message(role="user", text=NOTHING))


def _approved(job: Job, answer: str) -> bool:
    """Whether the answer may go out: a plan may have kept a step for a person to approve."""
    steps = job.plan.left() if job.plan is not None else ()
    if job.plan is None or not steps:
        return True
    decision = job.run.confirm(
        f"Is this the answer of {job.agent.name}?",
        facts={"answer": shortened(answer)},
        why=job.plan.named(steps),
    )
    if decision:
        return True
    said = decision.note or decision.text or "no reason was given"
    job.history.add(
        Message(role="assistant", text=answer),
        Message(role="user", text=f"{decision.by.id} did not approve this answer: {said}"),
    )
    return False


def _tell(job: Job, step: Step) -> bool:
    """Call whoever wants to hear of steps of this type. Whether a person had something to say."""
    heard = False
    for kind, callback in job.agent.on_step.items():
        if isinstance(step, kind):
            said = job.run.verb(beside(job, partial(told, job, callback, step)))
            if said is not None:
                heard = True
                job.history.add(Message(role="user", text=said))
    return heard
