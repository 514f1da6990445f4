"""What people call bad is made again with their guidance, and remembered for tasks like it.

Runs by itself, in a database of its own; the reviewer is played by the program.
"""

import re
import tempfile

import sayso
from sayso.agent import Message


def think(messages: tuple[Message, ...]) -> str:
    """Stand in for a model: it does the task, and heeds what its prompt quotes people with."""
    task = messages[-1].text.partition("\n")[0]
    shown = "\n".join(message.text for message in messages)
    wishes = dict.fromkeys(re.findall(r"said:\n\| (.+)", shown))
    return "; ".join([f"[{task}]", *wishes])


writer = sayso.Agent("writer", sayso.ScriptedModel(think), learn=True)


def main(desk: sayso.Desk) -> None:
    @desk.workflow
    def report(run: sayso.Running, task: str) -> str | None:
        text: str | None = run.improve(writer, task, tries=3, within="1d")
        return text

    def go(task: str, *ratings: str) -> None:
        """Give it a task, and rate what it shows: a word to the writer, or nothing if it is good."""
        run = desk.run(report, task, wait=False)
        for words in (*ratings, ""):
            ask = run.state.pending[0]
            desk.reject(ask, words) if words else desk.approve(ask)
            desk.resume(run, wait=False)
            print(f"  {'bad: ' + words if words else 'good'}")
        print(run.result())

    go("Summarise the sales of March", "Name the regions")
    go("Summarise the sales of April")  # nobody has to say it again
    go("Book a table in Rome")  # has nothing to do with it

    for case in desk.cases("Summarise the sales of May"):
        print(f"{case.score:.2f} {case.verdict}: {case.note or case.result}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/desk.db") as desk:
        main(desk)
