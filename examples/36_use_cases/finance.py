"""Financial approval: who must agree depends on the amount, and money moves only when they did.

Runs by itself, in a database of its own; the people here are played by the program. Who may do
what is in finance.toml.
"""

import tempfile
from pathlib import Path

import sayso
from sayso.errors import Forbidden

POLICY = Path(__file__).with_suffix(".toml")
INVOICES = [("Cafe", 80), ("Acme", 9000), ("Acme", 12400), ("Globex", 700), ("Shellco", 50)]


def balance(ledger: Path) -> int:
    return 50_000 - sum(int(line.split(",")[1]) for line in ledger.read_text().splitlines())


def show(runs: dict[tuple[str, int], sayso.Run], ledger: Path) -> None:
    for (supplier, amount), run in runs.items():
        waits = [str(ask.content.needs) for ask in run.state.pending]
        print(f"{supplier} {amount:,}: {'waits for ' + waits[0] if waits else run.result()}")
    print(f"balance: {balance(ledger):,}")


def main(desk: sayso.Desk, ledger: Path) -> None:
    for name in ("fay", "finn", "cora"):
        desk.people.add(name)  # their roles are in the policy

    @sayso.tool(risk="high", requester="fay", impact=lambda supplier, amount: f"{amount:,} EUR go")
    def pay(supplier: str, amount: int) -> str:
        """Pay a supplier. Fay prepares the payments, so she does not approve them."""
        with ledger.open("a") as lines:
            lines.write(f"{supplier},{amount}\n")
        return f"paid {amount:,}"

    @desk.workflow
    def invoice(run: sayso.Running, supplier: str, amount: int) -> str:
        try:
            return str(run.call(pay, supplier, amount))
        except sayso.Rejected as no:
            return f"{no.by} said no: {no.note}"
        except sayso.StepFailed as failure:
            return failure.message

    runs = {line: desk.run(invoice, *line, wait=False) for line in INVOICES}
    show(runs, ledger)
    acme, large, globex = (run.state.pending[0] for run in runs.values() if run.state.pending)
    try:
        desk.approve(acme, by="fay")
    except Forbidden as error:
        print(error)
    desk.approve(acme, by="finn")
    desk.reject(globex, "Paid in March", by="finn")
    version_2 = desk.edit(large, {"amount": 12000}, by="finn", note="As in the contract")
    print(f"after finn the large one is {version_2.status}")
    desk.approve(version_2, by="cora")

    desk.work(until="idle")
    show(runs, ledger)


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db", policy=POLICY) as desk,
    ):
        ledger = Path(folder) / "ledger.csv"
        ledger.touch()
        main(desk, ledger)
