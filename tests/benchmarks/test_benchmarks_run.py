"""The benchmarks run, and print what they measured. How fast it was is no test."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.fleet_model import Costs, rate_with_backlog

ROOT = Path(__file__).resolve().parents[2]
# Others may be missing; what is measured beside them then is, too.
BESIDE_OTHERS = re.compile(r"by LangGraph$|by one of ours$")
# A benchmark, how many figures it comes to, and what else it says so many times.
QUICK = [
    (
        "store --only store",
        2,
        {
            r"round [12]: +\d+ asks/s, bare +\d+/s, ratio \d\.\d\d": 4,
            r"[\d,]+ bytes on disk an ask": 2,
        },
    ),
    ("store --only import", 1, {}),
    ("pages --only SQLite", 4, {r"(?:12 runs, 1,203|32 runs, 3,205) events": 2}),
    ("rebuild --only SQLite", 3, {r"figures of [\d,]+ events are equal: ": 2}),
    ("waiting", 3, {r"waiting, .+ MB of memory, started in \d+ ms": 2}),
    (
        "agents",
        3,
        {
            r"round \d, microseconds a step: ours, SQLite: [\d,]+": 2,
            r"ours, in memory: ": 2 * Path("/dev/shm").is_dir(),
            r"ours, resumed after \d turns: \d+ ms": 2,
            r"ours, SQLite: microseconds a turn [\d, ]+; [\d,]+ bytes": 1,
        },
    ),
    (
        "adapters",
        3,
        {
            rf"{part}, round [12]: theirs [\d.]+ ms, under a desk [\d.]+ ms, ratio \d+\.\d\d": 2
            for part in ("graph", "chain", "smol")
        },
    ),
    ("policy", 5, {r"one more rule: -?[\d.]+ microseconds a ruling if it names the tool": 1}),
    (
        "autonomy",
        10,
        {
            rf"(?m)^{scheme} +\d+\.\d% +\d+\.\d +\d+\.\d$": 1
            for scheme in ("ours", "document", "always ask", "wilson", "beta")
        },
    ),
    (
        "caselaw",
        6,
        {
            rf"(?m)^{arm} +[\d,]+ +\d+\.\d\d +\d+\.\d\d$": 2
            for arm in ("no learning", "k = 1", "k = 5", "without context")
        },
    ),
    ("fleet --only tables", 12, {r"[\d,]+ bytes on disk a waiting run": 2}),
]
LONG = [  # from a quarter of a minute to minutes
    ("store", 23, {"says 1,000\\+": 12}),
    ("cycle", 14, {r"round \d: +\d+ runs/s, bare +\d+/s, ratio \d\.\d\d": 8}),
    ("rebuild", 6, {}),
    ("people --only SQLite", 14, {}),
    ("pages", 8, {}),
    ("connections", 0, {r"worker, 4 threads +(?:[5-9]|1[01]) at most\n": 1}),
    (
        "http",
        6,
        {
            r"round 1: +\d+ decisions/s over HTTP, +\d+/s at the store": 2,
            r"\b(?:0|40|60) follow: [\d.]+ MB": 6,
        },
    ),
    (
        "web",
        6,
        {
            r"Document: 1 answers, [\d.]+ KB": 1,
            r"60 open: [\d.]+ ms; 200 open: [\d.]+ ms": 2,
        },
    ),
    ("fleet", 20, {r"bare: p50 [\d.]+ ms, p99 [\d.]+ ms": 1}),
]


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--quick", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def figures(output: str) -> set[str]:
    """Return what the lines with a figure, its target and a word about it are about."""
    line = re.compile(
        r"(.+?) +-?\d+\.\d\d( ms| KB)? +"
        r"(?:at (?:least|most) [\d.]+(?: ms| KB)? +(?:met|missed)|no target)"
    )
    named = {found[1] for found in map(line.fullmatch, output.splitlines()) if found}
    return {name for name in named if not BESIDE_OTHERS.search(name)}


@pytest.mark.parametrize(
    ("command", "count", "says"),
    [
        *(pytest.param(*one, id=one[0]) for one in QUICK),
        *(pytest.param(*one, id=one[0], marks=pytest.mark.soak) for one in LONG),
    ],
)
def test_a_benchmark_prints_every_figure_beside_its_target_and_what_it_saw(
    command: str, count: int, says: dict[str, int]
) -> None:
    printed = run(*command.split())

    assert len(figures(printed)) == count, printed
    assert {words: len(re.findall(words, printed)) for words in says} == says, printed


# What each part of the faults finds on our sides, of six races and of two trials of anything else.
RACE = [("action ran twice", "0 of 6"), ("action never ran", "0 of 6")]
RACE += [("both callers told ok", "0 of 6")]
KILL = [("answer lost", "0 of 2"), ("question asked again", "0 of 2")]
KILL += [("action ran twice", "0 of 2"), ("asked whether it happened", "2 of 2")]
MAIL = [("a mail was sent twice", "0 of 2"), ("a mail was never sent", "0 of 2")]
PLAN = [("acted after the cancel", "0 of 2"), ("reviewed plan thrown away", "0 of 2")]
PLAN += [("the person's step never done", "0 of 2")]


def columns(output: str) -> list[list[str]]:
    """Return what each line of the tables counts: its name, then one count a side."""
    rows = re.findall(r"^  (\D+?) +((?:\d+ of \d+ *)+)$", output, re.MULTILINE)
    return [[name, *re.findall(r"\d+ of \d+", counts)] for name, counts in rows]


@pytest.mark.soak  # each fault has tests of its own (tests/evidence)
def test_the_known_faults_are_tried_and_ours_have_none_of_them() -> None:
    rows = columns(run("faults"))
    graphs, plans = [row for row in rows if len(row) == 4], [row for row in rows if len(row) == 3]

    for side in (2, 3):  # LangGraph under sayso, and sayso
        assert [(row[0], row[side]) for row in graphs] == [*RACE, *KILL, *MAIL] * 2
    assert [(row[0], row[2]) for row in plans] == PLAN * 2
    alone = {(row[0], row[1]) for row in graphs}  # without the adapter, whatever chance does
    assert {("question asked again", "2 of 2"), ("action ran twice", "2 of 2")} <= alone
    assert ("a mail was sent twice", "2 of 2") in alone


def test_the_model_agrees_with_what_follows_without_a_queue() -> None:
    costs = Costs(worker=0.004, server=0.002, sync=0.001)
    alone = rate_with_backlog(costs, 1, cores=8, threads=1)
    bound = rate_with_backlog(costs, 1, cores=8, threads=16)
    shared = rate_with_backlog(costs, 16, cores=2, threads=4)

    assert alone == pytest.approx(1 / 0.007, rel=0.02), "one thing after the other"
    assert bound == pytest.approx(1 / 0.004, rel=0.02), "one interpreter"
    assert shared == pytest.approx(2 / 0.006, rel=0.02), "two cores"


def test_the_model_syncs_once_for_all_who_wait() -> None:
    slow = Costs(worker=0.0001, server=0.0001, sync=0.01)

    rate = rate_with_backlog(slow, 4, cores=8, threads=4)

    assert rate == pytest.approx(16 / 0.02, rel=0.05), "two groups in turn, not sixteen syncs"


def test_the_model_says_what_it_was_fed_with(tmp_path: Path) -> None:
    fed = tmp_path / "fleet.json"
    known = {"date": "2026-01-02", "machine": "here", "cores": 2, "threads": 2, "worker_ms": 40}
    known |= {"server_ms": 20, "sync_ms": 10, "rates": {"ours": {"1": 20.0}}}
    fed.write_text(json.dumps({**known, "PostgreSQL": {"bytes_a_run": 2_000}}))
    given = ("--costs", str(fed), "--decisions", "10", "--waiting", "1000000")
    command = [sys.executable, "-m", "benchmarks.fleet_model", *given]
    said = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout

    assert "measured 2026-01-02 on here" in said
    assert re.search(r"1 workers: model \d+/s, measured 20/s, ratio \d\.\d\d", said)
    assert "worker processes: 1, a core each" in said
    assert "1,000,000 waiting on PostgreSQL: 2 GB" in said
