"""Quality assurance: experts judge a sample of a model's answers before the batch goes out.

Runs by itself, in a database of its own; the people here are played by the program. Who may do
what is in quality.toml.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import sayso
from sayso.errors import Forbidden

POLICY = Path(__file__).with_suffix(".toml")
BATCHES = {
    "tea": {"Where does tea come from?": "China", "Is it hot?": "Yes", "Is it a fruit?": "Yes"},
    "moons": {"Moons of Earth?": "2", "Moons of Mars?": "3", "Moons of Venus?": "0"},
}
TRUTH = {"Is it a fruit?": "No, leaves", "Moons of Earth?": "1", "Moons of Mars?": "2"}


def main(desk: sayso.Desk, released: Path) -> None:
    for name in ("eda", "emil", "ian"):
        desk.people.add(name)  # their roles are in the policy; ian has none

    @sayso.tool(risk="medium", affects="readers")
    def release(batch: str, checked: int, wrong: int, answers: dict[str, str]) -> str:
        """Put answers where readers find them."""
        kept = json.loads(released.read_text())
        released.write_text(json.dumps({**kept, **answers}))
        return f"{len(answers)} answers of {batch!r} released, {wrong} of them corrected"

    @desk.workflow
    def check(run: sayso.Running, batch: str) -> str:
        answers = dict(BATCHES[batch])
        # All of them are asked now, and experts answer in any order: right, or what is right.
        asked = {
            question: run.later.choose(
                f"{question} {answer}", ["right"], own=str, allow=["approve", "respond"]
            )
            for question, answer in answers.items()
        }
        said: dict[str, Any] = {question: later.result() for question, later in asked.items()}
        corrected = {question: text for question, text in said.items() if text != "right"}
        try:
            answers |= corrected
            return str(run.call(release, batch, len(answers), len(corrected), answers))
        except (sayso.Rejected, sayso.StepFailed) as no:
            return str(no)

    for batch, answers in BATCHES.items():
        run = desk.run(check, batch, wait=False)
        for ask in run.state.pending:
            question = next(one for one in answers if ask.title.startswith(one))
            if question in TRUTH:
                desk.respond(ask, TRUTH[question], by="eda")
            else:
                desk.approve(ask, option="right", by="emil")
        desk.resume(run, wait=False)
        for ask in run.state.pending:
            try:
                desk.approve(ask, by="ian")
            except Forbidden as error:
                print(error)
            desk.approve(ask, by="emil")
        print(f"{batch}: {desk.resume(run).result()}")
    print(released.read_text())


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db", policy=POLICY) as desk,
    ):
        released = Path(folder) / "released.json"
        released.write_text("{}")
        main(desk, released)
