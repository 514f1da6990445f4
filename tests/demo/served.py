"""`sayso demo` as a process of its own, and a browser that came by its link."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

COMMAND = Path(sys.executable).with_name("sayso")
Answer = dict[str, Any]


@dataclass
class Demo:
    """A demo that runs. `said` is what it printed before it served."""

    process: subprocess.Popen[str]
    said: str
    client: httpx2.Client

    def asks(self) -> list[Answer]:
        """What waits."""
        found = self.client.get("/api/v1/asks", params={"limit": 100})
        asks: list[Answer] = found.raise_for_status().json()["asks"]
        return asks

    def ask(self, thread: str) -> Answer:
        """The one ask of a thread."""
        (found,) = (ask for ask in self.asks() if ask["content"]["thread"] == thread)
        return found

    def decide(self, ask: Answer, **said: Any) -> Answer:
        """Decide it as the browser does."""
        body = {"verdict": "approve", "seen": ask["digest"], **said}
        answer = self.client.post(f"/api/v1/asks/{ask['id']}/decision", json=body)
        assert answer.status_code == 200, answer.text
        decided: Answer = answer.json()
        return decided

    def run(self, ask: Answer) -> Answer:
        """The run that an ask belongs to."""
        found = self.client.get(f"/api/v1/runs/{ask['content']['run']}")
        run: Answer = found.raise_for_status().json()
        return run

    def end(self) -> int:
        """Tell it to stop, and wait until it has."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        """End it without a word."""
        self.process.kill()
        self.process.wait(timeout=60)


@contextmanager
def started(folder: Path, *args: str) -> Iterator[subprocess.Popen[str]]:
    """Start the command; whatever it puts away temporarily is in `folder`."""
    process = subprocess.Popen(
        [COMMAND, "demo", "--port", "0", *args],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=60)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def demo(folder: Path, *args: str) -> Iterator[Demo]:
    """Start it, wait until it serves, and come in by the link it prints."""
    with started(folder, *args) as process:
        assert process.stdout is not None
        said = ""
        while "Ctrl-C ends it" not in (line := process.stdout.readline()):
            assert line, said
            said += line
        link = next(word for word in said.split() if "?t=" in word)
        own = {"Sec-Fetch-Site": "same-origin"}
        with httpx2.Client(base_url=link.partition("/?")[0], headers=own, timeout=60) as client:
            client.get(link)
            yield Demo(process, said, client)
