"""Ask early, do other work, and let another process pick the answer up when it is there.

Runs by itself, in a database of its own. Two processes play the workers, one after the other; in
between no process is there, and a person decides.
"""

import asyncio
import os
import subprocess
import sys
import tempfile

import sayso

desk = sayso.Desk()  # the workers find it by SAYSO_URL


async def research(topic: str) -> list[str]:
    print(f"  researching {topic}")
    await asyncio.sleep(0.01)
    return [f"{topic} is grown on hills", f"{topic} is older than coffee"]


async def typeset(title: str, facts: list[str]) -> str:
    print(f"  typesetting {title!r}")
    return f"{title}: {'; '.join(facts)}."


@desk.workflow
async def write(run: sayso.Running, topic: str) -> str:
    title = run.later.question(f"Which title for the article on {topic}?")  # asked now
    facts = await run.step(research, topic)  # meanwhile
    return await run.step(typeset, await title.result(), facts)  # needed now


def worker(url: str, command: str) -> None:
    print(f"a worker comes: {command}", flush=True)
    env = {**os.environ, "SAYSO_URL": url}
    subprocess.run([sys.executable, __file__, command], env=env, check=True)


def main(url: str) -> None:
    worker(url, "begin")
    with sayso.Desk(url) as people:
        run = people.runs()[0]
        print(f"it is gone, and the run is {run.status}; {len(people.inbox())} ask is open")
        people.respond(run.state.pending[0], "Tea, at last")
        worker(url, "go on")
        print(f"{run.status}: {run.result()}")


if __name__ == "__main__":
    if sys.argv[1:] == ["begin"]:
        desk.run(write, "tea", wait=False)
    elif sys.argv[1:] == ["go on"]:
        desk.work(until="idle")
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(f"sqlite:///{folder}/desk.db")
