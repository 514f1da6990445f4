"""Medical review: a doctor makes the diagnosis; two of them where the assistant is not sure.

Runs by itself, in a database of its own, on a clock that the program moves; the people here are
played by the program. Who may do what is in medical.toml.
"""

import json
import tempfile
from pathlib import Path

import sayso
from sayso.errors import Forbidden
from sayso.testing import FakeClock

POLICY = Path(__file__).with_suffix(".toml")
FINDINGS = {  # what the assistant made of the images, and how sure it says it is
    "patient 1": ("Fracture of the left radius", 0.97),
    "patient 2": ("Pneumonia", 0.55),
    "patient 3": ("No finding", None),
}


def main(desk: sayso.Desk, clock: FakeClock, records: Path) -> None:
    for name in ("ito", "okoye", "nils"):
        desk.people.add(name)  # their roles are in the policy

    def file(patient: str, finding: str) -> str:
        kept = json.loads(records.read_text())
        records.write_text(json.dumps({**kept, patient: finding}))
        return finding

    @desk.workflow
    def review(run: sayso.Running, patient: str, finding: str, confidence: float | None) -> str:
        final = run.draft(
            finding, title=f"Diagnosis of {patient}", confidence=confidence, why="Seen on the image"
        )
        return run.step(file, patient, final or "no diagnosis: seen in person tomorrow")

    runs = {
        patient: desk.run(review, patient, *finding, wait=False)
        for patient, finding in FINDINGS.items()
    }
    asks = {patient: run.state.pending[0] for patient, run in runs.items()}
    for patient, ask in asks.items():
        print(f"{patient}: waits for {ask.content.needs}")

    try:
        desk.approve(asks["patient 1"], by="nils")
    except Forbidden as error:
        print(error)
    desk.approve(asks["patient 1"], by="ito")

    version_2 = desk.edit(asks["patient 2"], "Pneumonia, right lower lobe", by="ito")
    print(f"patient 2 after ito: {version_2.status}, version {version_2.version}")
    desk.approve(version_2, by="okoye")

    clock.advance("2h")  # nobody has looked at patient 3
    print(f"after two hours the clock decides {len(desk.sweep().expired)}")
    desk.work(until="idle")
    filed = json.loads(records.read_text())
    for patient, run in runs.items():
        votes = run.asks[0].decision.votes if run.asks[0].decision is not None else ()
        print(
            f"{patient}: {filed[patient]} ({', '.join(vote.by.id for vote in votes) or 'nobody'})"
        )


if __name__ == "__main__":
    clock = FakeClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db", policy=POLICY, clock=clock) as desk,
    ):
        records = Path(folder) / "records.json"
        records.write_text("{}")
        main(desk, clock, records)
