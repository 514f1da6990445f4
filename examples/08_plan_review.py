"""An agent makes a plan; you approve it, modify it or cancel, and only then does it act.

At a terminal you decide, and may kill the program at any pause: `sayso runs` lists the run, and
`sayso runs resume ID` goes on with it. Without a terminal, a scripted reviewer changes the plan.
"""

import sys

import sayso
from sayso.agent import Message, ToolCall, call
from sayso.testing import scripted

desk = sayso.Desk()
PLAN = [
    "Search for recent AI developments",
    "Analyze the top results",
    "Summarize the 3 most significant breakthroughs",
]


def search(query: str) -> str:
    """Search the web."""
    print(f"  searching: {query}")
    return f"three pages on {query}"


def think(messages: tuple[Message, ...], tools: tuple[str, ...]) -> list[str] | ToolCall | str:
    """Stand in for a model. It follows the plan it is shown, not the one it made."""
    if tools == ("plan",):
        return PLAN
    shown = next(m.text for m in reversed(messages) if "Follow it:" in m.text)
    plan = [line[3:] for line in shown.splitlines()[1:]]
    topics = [step[11:] for step in plan if step.startswith("Search for ")]
    found = [message.text for message in messages if message.role == "tool"]
    if len(found) < len(topics):
        return call("search", query=topics[len(found)])
    return f"{plan[-1]}: {'; '.join(found)}"


agent = sayso.Agent("researcher", sayso.ScriptedModel(think), [search], plan_every=5, max_steps=10)


def main() -> None:
    run = desk.run(agent, "What are the latest developments in AI?")
    print(f"{run.status}: {run.output or run.error}")
    print(f"Current memory contains {len(run.memory.steps)} steps:")
    for number, step in enumerate(run.memory.steps, start=1):
        print(f"  {number}. {type(step).__name__}")


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            yours = ["Search for protein folding", "Search for robots", "Write two sentences"]
            reviewer.edit("plan", yours)
            main()
