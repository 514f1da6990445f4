"""The agent of the plan document: it plans, a person reviews, it searches, reads and publishes.

Tests start it as a process of its own: every desk of the process that imports it serves it.

    python -m tests.journeys.research begin TASK    start a run, and end when it waits
    python -m tests.journeys.research attend TASK   start a run, and ask at this terminal
    python -m tests.journeys.research memory RUN    print what a run remembers
"""

from __future__ import annotations

import argparse

import sayso
from tests.journeys.errands import agent as errands
from tests.journeys.library import MODEL, TOOLS, shown, unsure

desk = sayso.Desk(agent="research")

agent = sayso.Agent(
    "researcher",
    MODEL,
    TOOLS,
    confirm=["publish"],
    plan_every=3,
    max_steps=10,
    on_step={sayso.PlanStep: shown},
)
careful = sayso.Agent("careful", MODEL, TOOLS, plan_every=9, on_step={sayso.ActionStep: unsure})
hasty = sayso.Agent("hasty", MODEL, TOOLS, plan_every=9, max_steps=2)
AGENTS = {one.name: one for one in (agent, careful, hasty, errands)}


def memory(run_id: str) -> str:
    """Print what a run remembers, as the document does."""
    run = desk.get_run(run_id)
    lines = [f"Current memory contains {len(run.memory.steps)} steps:"]
    for i, step in enumerate(run.memory.steps):
        step_type = type(step).__name__
        lines.append(f"  {i + 1}. {step_type}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("begin", "attend", "memory"))
    parser.add_argument("about")
    given = parser.parse_args()
    with desk:
        if given.what == "memory":
            print(memory(given.about))
            return
        run = desk.run(agent, given.about, wait=given.what == "attend")
        print(run.id if given.what == "begin" else f"{run.status}: {run.output}")


if __name__ == "__main__":
    main()
