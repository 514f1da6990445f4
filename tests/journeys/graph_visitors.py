"""Whoever comes by because of a graph: `python -m tests.journeys.graph_visitors EXAMPLE FOLDER ...`.

Each is a process of its own: somebody who starts a run of an example's graph, or a worker.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import sayso

support_desk = import_module("examples.39_langgraph_support").support_desk
PROGRAM = Path(__file__).resolve().parents[2] / "examples/38_langgraph_email"
sys.path.insert(0, str(PROGRAM))

from mail_graph import assistant  # noqa: E402 - of the example's folder
from mail_models import SENT  # noqa: E402

__all__ = ["assistant"]
GRAPHS = {"email": assistant, "support": support_desk}


def main(name: str, folder: str, thread: str, given: str = "") -> None:
    with sayso.Desk(f"sqlite:///{folder}/desk.db", account="sam@till") as desk:
        graph = GRAPHS[name](folder)
        if given:
            desk.run(graph, json.loads(given), thread=thread, wait=False)
        else:
            desk.work(until="idle")
    for line in SENT:
        print(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
