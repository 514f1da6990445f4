"""Two reviews in a row: first legal, then finance, who see what legal made of it.

Runs by itself, in a database of its own. Every time the run goes on it is in another process.
"""

import os
import subprocess
import sys
import tempfile

import sayso

desk = sayso.Desk()  # the processes find it by SAYSO_URL


def sign(text: str) -> str:
    return f"signed: {text}"


@desk.workflow
def contract(run: sayso.Running, text: str) -> str:
    wording = run.draft(text, title="Is this legal?", needs=["legal"])
    if wording is None:
        return "Legal dropped it; finance was never asked."
    paid = run.confirm("Can we pay this?", {"wording": wording}, needs=["finance"])
    return run.effect(sign, wording) if paid else f"{paid.by.id} said no: {paid.note}"


def process(url: str, *command: str) -> None:
    env = {**os.environ, "SAYSO_URL": url}
    subprocess.run([sys.executable, __file__, *command], env=env, check=True)


def main(people: sayso.Desk) -> None:
    people.people.add("lena", roles=["legal"])
    people.people.add("fritz", roles=["finance"])
    process(people.url, "begin", "We pay 900 EUR, or else.")
    (run,) = people.runs()
    try:
        people.approve(run.state.pending[0], by="fritz")
    except sayso.errors.Forbidden as error:
        print(error)
    people.edit(run.state.pending[0], "We pay 900 EUR by May.", by="lena")
    process(people.url, "go on")
    ask = run.state.pending[0]
    print(ask.title, ask.facts["wording"])
    people.approve(ask, by="fritz")
    process(people.url, "go on")
    print(f"{run.status}: {run.result()}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["begin"]:
        desk.run(contract, sys.argv[2], wait=False)
    elif sys.argv[1:2] == ["go on"]:
        desk.work(until="idle")
    else:
        with tempfile.TemporaryDirectory() as folder, sayso.Desk(f"sqlite:///{folder}/d.db") as it:
            main(it)
