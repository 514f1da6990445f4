"""Try the adapters with versions of their hosts, and write the table of what was tried.

    python -m tools.hosts langgraph                      # the newest that the index has
    python -m tools.hosts langgraph==1.2.21 langchain==1.5.0
    python -m tools.hosts                                # write the table anew, try nothing

What is asked for is installed, with whatever it needs, into a folder that comes before all others;
then the contract of adapters and the tests of each host run there. What came of it goes into
`tests/adapters/tried.json`, and from there onto the page.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests/adapters/tried.json"
PAGE = ROOT / "docs/howto/adapters.md"
CHOSEN = {
    "langgraph": "graph or test_host",
    "langchain": "chain or test_host",
    "smolagents": "smol or test_host",
}
FAMILY = {  # hosts that stand on another one: their tests are one file
    "deepagents": "tests/adapters/langgraph/test_family.py",
    "langgraph-supervisor": "tests/adapters/langgraph/test_family.py",
    "langgraph-swarm": "tests/adapters/langgraph/test_family.py",
}
_ROW = re.compile(r"(?s)<!-- hosts -->\n.*?<!-- /hosts -->")


def tried(wanted: Sequence[str], folder: str) -> Iterator[dict[str, Any]]:
    """Install what is wanted into a folder, and run the tests of each host that is named.

    Words for pip, such as `--no-deps`, may stand among them.
    """
    _check(_run("pip", "install", "-qq", "--target", folder, *wanted))
    versions = _versions(folder)
    for host in sorted({one.partition("==")[0] for one in wanted} & {*CHOSEN, *FAMILY}):
        done = _run(
            *("pytest", "-q", "-p", "no:cacheprovider", "--sqlite", "-m", "not soak"),
            *("-W", "error::sayso.adapters.base.UntestedHost", *_tests(host)),
            path=[folder],
        )
        said = done.stdout.strip().splitlines() or [""]
        yield {
            "host": host,
            "version": versions[host],
            "beside": {
                name: version
                for name, version in versions.items()
                if name != host and name.startswith(("langgraph", "langchain-core"))
            },
            "on": time.strftime("%Y-%m-%d", time.gmtime()),
            "passed": done.returncode == 0,
            "said": re.sub(r" in [\d.]+s.*", "", said[-1]).strip("= "),
        }


def _tests(host: str) -> list[str]:
    if host in FAMILY:
        return [FAMILY[host], "-k", host.rpartition("-")[2]]
    own = [f"tests/adapters/{host}/test_{name}.py" for name in ("host", "async")]
    there = [file for file in own if (ROOT / file).exists()]
    return ["tests/adapters/test_contract.py", *there, "-k", CHOSEN[host]]


def _versions(folder: str) -> dict[str, str]:
    found = json.loads(_check(_run("pip", "list", "--path", folder, "--format", "json")).stdout)
    return {one["name"]: one["version"] for one in found}


def _run(*words: str, path: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    beside = os.pathsep.join([*path, str(ROOT / "src"), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": beside},
        capture_output=True,
        text=True,
        check=False,
    )


def _check(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    if done.returncode != 0:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    return done


def record() -> list[dict[str, Any]]:
    """Return what was tried, a row for each host and version."""
    rows: list[dict[str, Any]] = json.loads(RECORD.read_text("utf-8"))
    return rows


def noted(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the record with these rows; of one version, the last one counts."""
    kept = {(row["host"], row["version"]): row for row in [*record(), *rows]}
    return sorted(kept.values(), key=lambda row: (row["host"], _numbers(row["version"])))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of a page."""
    lines = ["| host | version | beside | result | on |", "|---|---|---|---|---|"]
    for row in rows:
        beside = ", ".join(f"{name} {version}" for name, version in sorted(row["beside"].items()))
        result = "passes" if row["passed"] else f"fails: {row['said']}"
        lines.append(
            f"| {row['host']} | {row['version']} | {beside or '-'} | {result} | {row['on']} |"
        )
    return "<!-- hosts -->\n" + "\n".join(lines) + "\n<!-- /hosts -->"


def written(page: str, rows: Sequence[dict[str, Any]]) -> str:
    """Return a page with the table as it is now."""
    return _ROW.sub(lambda _: table(rows), page)


def main() -> None:
    """Try what is asked for, and write down what came of it."""
    rows: list[dict[str, Any]] = []
    if sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            rows = list(tried(sys.argv[1:], folder))
    RECORD.write_text(json.dumps(noted(rows), indent=1) + "\n", "utf-8")
    PAGE.write_text(written(PAGE.read_text("utf-8"), record()), "utf-8")
    for row in rows:
        sys.stdout.write(f"{row['host']} {row['version']}: {row['said']}\n")


if __name__ == "__main__":
    main()
