"""The oldest and the newest version of each host pass the contract, and the host's own tests.

Each is installed, with whatever it needs, into a folder that comes before all others. A newest version
that fails belongs into the `FAILS` of its adapter, with what does not work.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sayso.adapters.langchain import middleware
from sayso.adapters.langgraph import graph
from sayso.adapters.smolagents import smol
from tools import hosts

ROOT = Path(__file__).resolve().parents[2]
STAGES = {"langgraph": "graph", "langchain": "chain", "smolagents": "smol"}
OLDEST = [
    ("langgraph", graph.OLDEST),
    ("langchain", middleware.OLDEST),
    ("smolagents", smol.OLDEST),
]
EXPECTED = "SAYSO_TEST_HOST"


def run(*words: str, **more: str) -> None:
    """Run a command to its end in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.soak
@pytest.mark.parametrize(("host", "version"), OLDEST)
def test_the_oldest_version_that_we_claim_holds_to_the_contract(
    host: str, version: str, tmp_path: Path
) -> None:
    beside = []
    if importlib.metadata.version(host) != version:
        run("pip", "install", "-qq", "--target", str(tmp_path), f"{host}=={version}")
        beside = [str(tmp_path)]
    path = os.pathsep.join([*beside, str(ROOT / "src"), str(ROOT)])
    tests = (__file__, "tests/adapters/test_contract.py", f"tests/adapters/{host}")
    chosen = f"{STAGES[host]} or not test_contract"
    run(
        *("pytest", "-q", "-p", "no:cacheprovider", "-m", "not soak", "-k", chosen),
        *("-W", "error::sayso.adapters.base.UntestedHost", *tests),
        **{"PYTHONPATH": path, EXPECTED: f"{host}=={version}"},
    )


@pytest.mark.soak
@pytest.mark.parametrize("host", [*hosts.CHOSEN, *hosts.FAMILY])
def test_the_newest_version_there_is_holds_to_the_contract(host: str, tmp_path: Path) -> None:
    (row,) = hosts.tried([host], str(tmp_path))
    assert row["passed"], row


@pytest.mark.parametrize(("host", "version"), OLDEST)
def test_the_table_of_tried_hosts_names_the_oldest_and_newer_ones(host: str, version: str) -> None:
    passed = [row["version"] for row in hosts.record() if row["host"] == host and row["passed"]]
    assert passed[0] == version
    assert len(passed) > 1


def test_what_a_host_is_known_to_fail_with_is_what_was_tried() -> None:
    failed = {(row["host"], row["version"]) for row in hosts.record() if not row["passed"]}
    said = {
        (host, version)
        for host, module in (("langgraph", graph), ("langchain", middleware), ("smolagents", smol))
        for version in module.FAILS
    }
    assert {one for one in failed if one[0] in hosts.CHOSEN} == said


def test_the_page_has_the_table_as_it_was_recorded() -> None:
    page = hosts.PAGE.read_text("utf-8")
    assert "<!-- hosts -->" in page
    assert hosts.written(page, hosts.record()) == page, "run: python -m tools.hosts"


@pytest.mark.parametrize(("host", "version"), OLDEST)
def test_what_can_be_installed_with_an_extra_is_what_was_tried(host: str, version: str) -> None:
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (bound,) = [one for one in said[host] if one.startswith(f"{host}>=")]
    numbers = bound.removeprefix(f"{host}>=").partition(",")[0].split(".")

    assert [*numbers, "0", "0"][:3] == version.split(".")


def test_the_version_that_was_asked_for_is_the_one_that_is_tried() -> None:
    host, _, version = os.environ.get(EXPECTED, "").partition("==")

    assert not host or importlib.metadata.version(host) == version
