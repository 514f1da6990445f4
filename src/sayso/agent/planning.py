"""Making a plan and having it reviewed: as one verb, before the first action and at every re-plan."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sayso.agent.job import Job
from sayso.agent.messages import Message
from sayso.agent.modelling import Replied, modelled
from sayso.agent.plan import Plan, PlanItem, handed_in, numbered, plan_tool
from sayso.agent.words import no_plan, plan_again, planning
from sayso.errors import BadValue, Rejected
from sayso.model.ask import Ask
from sayso.model.text import one_line
from sayso.runs.lanes import Lane
from sayso.runs.memory import PlanStep
from sayso.runs.stops import Parked
from sayso.runs.work import Passage

_TRIES = 3


def plan_passage(job: Job, lane: Lane, key: str) -> Passage:
    """Let the model plan, and a person approve, modify, send back or cancel it."""
    run, agent = job.run, job.agent
    run.entry(key, "plan", agent.name, holds=True)
    inner = Lane(run, key)
    talk = [Message(role="user", text=planning(job.plan, job.queue))]
    before: str | None = None
    while True:
        items, why = yield from _made(job, inner, talk)
        steps = [item.json for item in items]
        form = run.forms.plan(
            lambda _, steps=steps: steps,  # type: ignore[misc]
            title=f"Plan of {agent.name}: {one_line(job.task, 80)}",
            tools=tuple(agent.kit),
            why=why[:4000] or None,
        )
        place = inner.next()
        new = place not in run.journal.asks
        ask = run.asked(place, replace(form.content, about=before))
        if new:
            agent.voice.asked(agent.name, ask)
        ask = run.closed(lane, ask)
        decision = ask.decision
        if decision is None:
            raise Rejected(ask)
        if decision.verdict != "respond":
            return approved(ask)
        before = ask.id
        talk += [
            Message(role="assistant", text=numbered(Plan(items))),
            Message(role="user", text=plan_again(decision.text or "")),
        ]


def approved(ask: Ask) -> tuple[Plan, PlanStep]:
    """Return the plan in force once a person approved it, and the step that memory has of it."""
    items = tuple(PlanItem.of(step) for step in ask.args["steps"])
    who = ask.decision.by.id if ask.decision is not None else ""
    steps = [item.json for item in items]
    step = PlanStep(at=ask.opened_at, plan=steps, ask=ask.id, status=ask.status)
    return Plan(items, changed=ask.original is not None, by=who), step


def _made(job: Job, inner: Lane, talk: list[Message]) -> Passage:
    """Have the model hand in a plan that can be shown. What cannot is sent back, a few times."""
    run, agent = job.run, job.agent
    most = _TRIES * (1 + run.journal.granted["plans"])
    for attempt in range(1, most + 1):
        job.check_limits(planning=True)
        tools = (plan_tool(tuple(agent.kit)),)
        prompt = partial(job.prompt, tuple(talk), tools, must=tools[0].name)
        digest = job.history.digest(*talk)
        said: Replied = yield from modelled(run, inner.next(), agent, prompt, digest, job.ids)
        job.count(said)
        try:
            return handed_in(said.reply, tuple(agent.kit)), said.reply.text
        except BadValue as error:
            if attempt == most:
                raise Parked(
                    f"the model of {agent.name} made no plan that can be shown, {most} times: "
                    f"{error}",
                    more="plans",
                ) from error
            talk += [
                Message(role="assistant", text=said.reply.text or "(a plan that cannot be used)"),
                Message(role="user", text=no_plan(str(error))),
            ]
    raise AssertionError("unreachable: the last try returns or raises")
