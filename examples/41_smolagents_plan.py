"""An agent of smolagents makes a plan; you approve it, modify it or cancel, and only then it acts.

At a terminal you decide, and may kill it at any pause; without one, a scripted reviewer does.
"""

import sys

from smolagents import ChatMessage, CodeAgent, Model, tool

import sayso
from sayso.adapters.smolagents import Smol
from sayso.testing import scripted

PLAN = "## 2. Plan\n1. Search for recent AI developments\n2. Summarize the 3 most significant"


@tool
def search(query: str) -> str:
    """Search the web.

    Args:
        query: What to look for.
    """
    print(f"  searching: {query}")
    return f"three pages on {query}"


class Thinks(Model):
    """Stands in for a model."""

    def generate(self, messages: list[ChatMessage], **_: object) -> ChatMessage:
        """Reply."""
        texts = ["".join(part["text"] for part in message.content) for message in messages]
        return ChatMessage(role="assistant", content=think(texts))


def think(texts: list[str]) -> str:
    """Follow the plan that is shown, not the one that was made."""
    if texts[-1].endswith("write your plan."):
        return PLAN
    plan = next(text for text in reversed(texts) if "1. Search for " in text)
    topics = [line[14:] for line in plan.splitlines() if line[3:].startswith("Search for ")]
    found = [text for text in texts if text.startswith("Observation:")]
    if len(found) < len(topics):
        return f"<code>\nprint(search({topics[len(found)]!r}))\n</code>"
    return f"<code>\nfinal_answer('I read {len(found) * 3} pages.')\n</code>"


desk = sayso.Desk()
task = "What are the latest developments in AI?"
agent = CodeAgent(
    model=Thinks(),
    tools=[search],
    planning_interval=5,  # Plan every 5 steps
    max_steps=10,
    verbosity_level=1,
)
research = Smol("research", agent, review=["plan"])


def main() -> None:
    # First run (may be interrupted)
    run = desk.run(research, task, wait=False)

    # Resume with preserved memory
    print(desk.resume(run).output)
    print(f"Current memory contains {len(agent.memory.steps)} steps:")
    for i, step in enumerate(agent.memory.steps):
        step_type = type(step).__name__
        print(f"  {i + 1}. {step_type}")


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            reviewer.edit("plan", ["Search for protein folding", "Search for robots"])
            main()
