"""The rules of the house hold, and breaking one is noticed.

A rule that never fires looks just like a rule that is kept. So each contract in `pyproject.toml`
is broken here once, in a copy of the package, and must be the one that is reported.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
CONTRACTS = {
    contract["id"]: contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
}


@dataclass(frozen=True)
class Planted:
    """One forbidden import: in which new module, and which contract should notice."""

    module: str
    imports: str
    contract: str

    @property
    def source(self) -> str:
        return f'"""Planted."""\n\nimport {self.imports}\n'


PLANTED = [
    Planted("sayso/model/planted_desk.py", "sayso.desk", "doors"),
    Planted("sayso/store/planted_asks.py", "sayso.asks", "doors"),
    Planted("sayso/gate_planted.py", "sayso.errors", "doors"),  # a room without a place
    Planted("sayso/model/planted_time.py", "time", "pure"),
    Planted("sayso/asks/planted_sqlite.py", "sqlite3", "databases"),
    Planted("sayso/asks/planted_psycopg.py", "psycopg", "databases"),
    Planted("sayso/store/planted_procrastinate.py", "procrastinate", "engine"),
    Planted("sayso/runs/planted_procrastinate.py", "procrastinate.worker", "engine"),
    Planted("sayso/asks/planted_click.py", "click", "click"),
    Planted("sayso/store/planted_rich.py", "rich.console", "rich"),
    Planted("sayso/channels/planted_fastapi.py", "fastapi", "web"),
    Planted("sayso/asks/planted_httpx2.py", "httpx2", "clients"),
    Planted("sayso/channels/planted_langgraph.py", "langgraph.types", "hosts"),
    Planted("sayso/adapters/planted_runs.py", "sayso.runs.passages", "adapters"),
    Planted("sayso/adapters/planted_agent.py", "sayso.agent", "adapters"),
    Planted("sayso/adapters/langgraph/planted_runs.py", "sayso.runs.lanes", "adapters"),
    Planted("sayso/adapters/langgraph/planted_smolagents.py", "smolagents", "graphs"),
    Planted("sayso/adapters/smolagents/planted_langgraph.py", "langgraph.types", "smol"),
    Planted("sayso/agent/planted_direct.py", "pydantic_ai.direct", "models"),
    Planted("sayso/agent/planted_openai.py", "openai", "models"),
]


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package in `tree`, by the contracts of this repository."""
    return subprocess.run(
        [BIN / "lint-imports", "--no-logo", "--no-cache", "--config", ROOT / "pyproject.toml"],
        cwd=tree,
        # PYTHONPATH goes before the installed package; the width keeps a name on one line.
        env=os.environ | {"PYTHONPATH": str(tree / "src"), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def broken(report: str) -> set[str]:
    """The contracts the report calls broken, by id."""
    return {
        key
        for key, name in CONTRACTS.items()
        if re.search(rf"^{re.escape(name)} BROKEN", report, re.MULTILINE)
    }


def said_of(report: str, contract: str) -> str:
    """What the report says of one contract: its name, underlined, and all up to the next one."""
    heads = "|".join(re.escape(name) for name in CONTRACTS.values())
    parts = re.split(rf"^({heads})\n-+$", report, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return found.get(CONTRACTS[contract], "")


def copied(folder: Path) -> Path:
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is said of a house in which every rule is broken somewhere."""
    copy = copied(tmp_path_factory.mktemp("house"))
    for planted in PLANTED:
        (copy / "src" / planted.module).write_text(planted.source)
    done = lint_imports(copy)
    assert done.returncode != 0
    return done.stdout


def test_the_house_keeps_its_own_rules() -> None:
    done = lint_imports(ROOT)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("planted", PLANTED, ids=lambda p: f"{p.module}-{p.imports}")
def test_a_forbidden_import_is_reported_under_its_rule(report: str, planted: Planted) -> None:
    assert planted.contract in broken(report), report
    assert Path(planted.module).stem in said_of(report, planted.contract), report


def test_a_circle_of_imports_is_reported(tmp_path: Path) -> None:
    copy = copied(tmp_path)
    model = copy / "src/sayso/model"
    (model / "hen.py").write_text('"""Planted."""\n\nimport sayso.model.egg\n')
    (model / "egg.py").write_text('"""Planted."""\n\nimport sayso.model.hen\n')

    done = lint_imports(copy)

    assert done.returncode != 0
    assert broken(done.stdout) == {"circles"}, done.stdout + done.stderr


def test_every_contract_is_planted_against() -> None:
    assert {planted.contract for planted in PLANTED} | {"circles"} == set(CONTRACTS)


@pytest.mark.parametrize("call", ["datetime.datetime.now(datetime.UTC)", "time.time()"])
@pytest.mark.parametrize(
    ("place", "allowed"), [("asks/planted.py", False), ("store/clock.py", True)]
)
def test_only_the_clock_reads_the_clock(call: str, place: str, allowed: bool) -> None:
    done = subprocess.run(
        [BIN / "ruff", "check", "--select=TID251", f"--stdin-filename=src/sayso/{place}", "-"],
        cwd=ROOT,
        input=f"import {call.split('.')[0]}\n\n{call}\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode == 0) is allowed, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["run", "dev", "bench"])
def test_requirements_are_exact_and_name_no_host(name: str) -> None:
    lines = (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
    pins = [line for line in lines if not line.lstrip().startswith("#")]

    loose = [pin for pin in pins if not re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+( ; .+)?", pin)]

    assert pins
    assert loose == []
    assert "://" not in "\n".join(lines)


LATE = [
    *("sayso.adapters", "sayso.agent", "sayso.insight.case", "sayso.policy.reading"),
    *("sayso.policy.checking", "sayso.runs.running", "sayso.store.audit", "sayso.store.sqlite"),
    *("difflib", "importlib.resources", "subprocess", "tempfile", "tomllib"),
]
LIBRARIES = ["pydantic", "jsonschema", "click", "rich", "psycopg", "pydantic_ai", "argon2"]
HOSTS = ["langchain", "langchain_core", "langgraph", "smolagents"]


@pytest.mark.parametrize(
    ("module", "late"),
    [
        ("sayso", [*LATE, *LIBRARIES]),
        ("sayso.cli, sayso.channels.console", ["click", "rich"]),
        ("sayso.adapters.base", HOSTS),
    ],
)
def test_an_import_leaves_alone_what_only_some_programs_need(module: str, late: list[str]) -> None:
    program = f"import sys, {module}; print([name for name in {late} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout == "[]\n", done.stderr


def test_what_comes_late_is_there_all_the_same() -> None:
    program = (
        "import sayso; print([name for name in sayso.__all__ if not hasattr(sayso, name)]);"
        "print(sayso.Case.__module__, sayso.Preference.__module__)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout == "[]\nsayso.insight.case sayso.insight.preference\n", done.stderr


def test_every_folder_of_tests_says_which_promise_it_proves() -> None:
    tests = ROOT / "tests"
    folders = {file.relative_to(tests).parts[0] for file in tests.glob("*/**/test_*.py")}

    told = re.findall(r"^\| `(\w+)` \| \S", (tests / "README.md").read_text(), re.MULTILINE)

    assert sorted(told) == sorted(folders), "each of them once, in tests/README.md"
