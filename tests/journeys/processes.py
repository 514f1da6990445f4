"""Commands as processes of their own, each gone before the next one comes."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso import Ask, Desk, Run
from tests import forked
from tests.crash.shop import noted
from tests.journeys.newsroom import FOLDER

ROOT = Path(__file__).resolve().parents[2]
SAYSO = str(Path(sys.executable).with_name("sayso"))
MODULE = "tests.journeys.newsroom"


@dataclass(frozen=True)
class Newsroom:
    """The programs of the newsroom, and what the test sees from outside."""

    desk: Desk
    url: str
    folder: Path

    def process(self, *words: str) -> str:
        """Run a command to its end in a process of its own."""
        around = {**os.environ, "SAYSO_URL": self.url, FOLDER: str(self.folder), "COLUMNS": "80"}
        done = forked.run(words, env=around, cwd=ROOT)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def begin(self, *words: str) -> Run:
        """Start a run in a process that ends when the run waits."""
        return self.desk.get_run(self.process(sys.executable, "-m", MODULE, *words).strip())

    def decide(self, run: Run, verdict: str, *words: str) -> Ask:
        """Let a person decide what the run waits for, and carry it on to its next pause."""
        (ask,) = run.state.pending
        self.process(SAYSO, "inbox", verdict, ask.id, *words, "--seen", ask.digest[:12], "--go")
        return self.desk.get(ask.id)

    @property
    def prompts(self) -> list[list[str]]:
        """Every prompt a model was really shown, in order, without the instructions."""
        return [json.loads(line) for line in noted(self.folder, "prompts")]


def journal(run: Run) -> list[Any]:
    """Return what a run did, as kinds of events with the verbs of its steps."""
    return [
        (event.kind, (event.payload or {})["verb"]) if event.kind == "step.done" else event.kind
        for event in run.events
    ]
