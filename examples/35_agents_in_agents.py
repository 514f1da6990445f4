"""An agent as a tool of another one: what the inner one asks reaches you, with the whole chain.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import tempfile

import sayso
from sayso.agent import Message, ToolCall, call


@sayso.tool(risk="high", affects="customers")
def send(to: str, text: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


def write(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for the model of the writer."""
    last = messages[-1]
    return last.text if last.role == "tool" else call("send", to="all", text=last.text)


def lead(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for the model of the lead: it hands the task on."""
    last = messages[-1]
    if last.role == "tool":
        return f"The writer says: {last.text}"
    return call("writer", task="Tell them that the sale is over")


writer = sayso.Agent("writer", sayso.ScriptedModel(write), [send])
growth = sayso.Agent("growth", sayso.ScriptedModel(lead), [writer.as_tool("Writes mails")])


def main(desk: sayso.Desk) -> None:
    @desk.workflow
    def campaign(run: sayso.Running, task: str) -> str:
        return str(run.agent(growth, task))  # an agent inside a workflow

    for started in (growth, campaign):
        run = desk.run(started, "Tell the customers", wait=False)
        ask = run.state.pending[0]
        print(f"{ask.content.agent} wants to {ask.title} (through {ask.content.chain})")
        desk.edit(ask, {"to": "subscribers"})
        print(f"{run.workflow} is done: {desk.resume(run).result()}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
