"""Legal review: lawyers agree to every clause, and two people sign what they have read.

Runs by itself, in a database of its own; the people here are played by the program. Who may do
what is in legal.toml.
"""

import tempfile
from functools import partial
from hashlib import sha256
from pathlib import Path

import sayso

POLICY = Path(__file__).with_suffix(".toml")
CLAUSES = ["Payment within 90 days.", "Liability is limited to the order.", "Any law applies."]
WANTED = {1: "Payment in 14 days.", 2: "Liability is unlimited.", 3: "Texan law applies."}


def mark(contract: Path) -> str:
    return sha256(contract.read_bytes()).hexdigest()[:8]


def main(desk: sayso.Desk, contract: Path) -> None:
    for name in ("lin", "leo", "pat"):
        desk.people.add(name)  # their roles are in the policy

    @sayso.tool(risk="medium")
    def amend(clause: int, text: str) -> str:
        """Put another text in the place of a clause."""
        lines = contract.read_text().splitlines()
        lines[clause - 1] = text
        contract.write_text("\n".join(lines))
        return text

    @sayso.tool(risk="critical", preview=lambda seen: {"Contract": contract.read_text()})
    def sign(seen: str) -> str:
        """Sign the contract, if it is still what was read."""
        if mark(contract) != seen:
            raise ValueError("The contract was changed after it was read.")
        return "signed"

    @desk.workflow
    def negotiate(run: sayso.Running) -> str:
        def change(clause: int, text: str) -> str:
            try:
                return str(run.call(amend, clause, text))
            except (sayso.Rejected, sayso.StepFailed) as no:
                return f"as it was. {no}"

        # Side by side: the lawyers are asked about all clauses at once.
        changed = run.gather(*(partial(change, *wish) for wish in WANTED.items()))
        for clause, said in enumerate(changed, start=1):
            run.step(print, f"clause {clause}: {said}")
        return str(run.call(sign, run.step(mark, contract)))

    run = desk.run(negotiate, wait=False)
    payment, law = sorted(run.state.pending, key=lambda ask: ask.args["clause"])
    desk.edit(payment, {"text": "Payment within 30 days."}, by="lin")
    desk.reject(law, "Ours applies", by="leo")
    desk.resume(run, wait=False)

    signing = run.state.pending[0]
    print(f"sign: waits for {signing.content.needs}")
    desk.approve(signing, by="pat")
    desk.approve(desk.get(signing.id), by="lin")
    print(f"{desk.resume(run).result()}:")
    print(contract.read_text())


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db", policy=POLICY) as desk,
    ):
        contract = Path(folder) / "contract.txt"
        contract.write_text("\n".join(CLAUSES))
        main(desk, contract)
