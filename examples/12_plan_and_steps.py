"""Approve a plan, and then each step of it: a yes to the plan is no yes to what it leads to.

At a terminal you decide. Without one, a scripted reviewer changes the plan, and one of its steps.
"""

import re
import sys

import sayso
from sayso.agent import Message, ToolCall, call
from sayso.testing import scripted

desk = sayso.Desk()
DONE: list[str] = []  # what happened to the world


def copy(table: str, rows: int) -> str:
    """Copy rows of a table to the new database."""
    DONE.append(f"copied {rows} rows of {table}")
    return DONE[-1]


def drop(table: str) -> str:
    """Drop a table of the old database."""
    DONE.append(f"dropped {table}")
    return DONE[-1]


def step(tool: str, table: str) -> dict[str, str | bool]:
    return {"title": f"{tool} {table}", "tool": tool, "needs_approval": True}


Plan = list[dict[str, str | bool]]


def think(messages: tuple[Message, ...], tools: tuple[str, ...]) -> Plan | ToolCall | str:
    """Stand in for a model: it follows the plan that it is shown, a step at a time."""
    if tools == ("plan",):
        return [step("copy", "orders"), step("drop", "orders"), step("drop", "customers")]
    shown = next(message.text for message in reversed(messages) if "Follow it:" in message.text)
    steps = re.findall(r"^\d+\. (copy|drop) (\w+)", shown, re.MULTILINE)
    told = [message.text for message in messages if message.role == "tool"]
    if len(told) == len(steps):
        return "; ".join(told)
    tool, table = steps[len(told)]
    return call(tool, table=table, **({"rows": 50} if tool == "copy" else {}))


agent = sayso.Agent("mover", sayso.ScriptedModel(think), [copy, drop], plan_every=9)


def main() -> None:
    run = desk.run(agent, "Move us to the new database")
    for ask in run.asks:
        shown = [one["title"] for one in ask.args["steps"]] if ask.kind == "plan" else ask.args
        print(f"{ask.tool or ask.kind} {shown}: {ask.decision.verdict if ask.decision else '-'}")
        print(f"   {ask.content.why or ask.content.sentence}")
    print(f"{run.status}: {run.output or run.error}")
    print(f"in the world: {', '.join(DONE) or 'nothing'}")


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            reviewer.edit("plan", [step("copy", "orders"), step("drop", "orders")])
            reviewer.edit("copy", {"rows": 51}).approve("drop")
            main()
