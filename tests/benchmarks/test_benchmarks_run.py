"""The benchmarks run, and print what they measured. How fast it was is no test."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.fleet_model import Costs, rate_with_backlog

ROOT = Path(__file__).resolve().parents[2]
LISTS = [
    "inbox, as one rank, large by small",
    "first inbox page, large desk",
    "inbox, all expiring soon, large by small",
    "inbox, a tenth not expiring, large by small",
    "inbox, all for information, large by small",
    "inbox, everywhere, large by small",
    "inbox, of another team, large by small",
    "inbox, a tenth for none, large by small",
    "inbox, in eleven teams, large by small",
    "decided, large by small",
]
STORE = [
    "import sayso by import pydantic",
    "SQLite: open + decide beside bare SQL",
    "PostgreSQL: open + decide beside bare SQL",
    *(f"{database}: {figure}" for database in ("SQLite", "PostgreSQL") for figure in LISTS),
]


CYCLE = [
    "import sayso by import pydantic",
    "SQLite: question, beside bare SQL",
    "PostgreSQL: question, beside bare SQL",
    "SQLite: guarded call, beside bare SQL",
    "PostgreSQL: guarded call, beside bare SQL",
    "SQLite: 16 at once by alone, question",
    "SQLite: 16 at once by alone, instant tool",
    "SQLite: 16 at once by alone, tool of 5 ms",
    "paused run by its messages of 1 KB",
    "turns of two steps by their history",
    "turns with a person by their history",
    "growth of the second half by the first",
    "resume of 40 steps",
    "a step of the longest run by one of the shortest",
]
WAITING = [
    "memory of serving, many waiting by few",
    "start-up of serving, many waiting by few",
    "waking one of many waiting runs",
]
AGENTS = [
    "a late turn of ours by an early one",
    "bytes that turns add by their messages",
    "a turn replayed, of many by of few",
]
ADAPTERS = [
    "a gated call, Graph by interrupt()",
    "a gated call, ours by LangChain's",
    "a gated call, Smol by a plain one",
]
POLICY = [
    "rulings/s, 200 rules, 20 about the tool",
    "rulings/s, 4 of the 20 cannot be told",
    "rulings/s, no rule about the arguments",
    "a ruling, 2,000 rules by 200, 20 about the tool",
    "loading 200 rules",
]
HTTP = [
    "SQLite: decisions/s over HTTP by store",
    "SQLite: p99 over HTTP by store",
    "PostgreSQL: decisions/s over HTTP by store",
    "PostgreSQL: p99 over HTTP by store",
    "SQLite: memory of one who follows",
    "PostgreSQL: memory of one who follows",
]
WEB = [
    "first load on the wire",
    "click to visible decision",
    "click to the next ask",
    "j or k to the other ask",
    "SQLite: inbox, many open by few",
    "PostgreSQL: inbox, many open by few",
]
PAGES = [
    f"{database}: {what}, many by few"
    for database in ("SQLite", "PostgreSQL")
    for what in ("overview", "runs", "runs of a workflow", "one run")
]
REBUILD = [
    f"{database}: {what}, many by few"
    for database in ("SQLite", "PostgreSQL")
    for what in ("metrics", "metrics by reviewer", "staffing")
]
PEOPLE = [
    f"SQLite: {what}, beside {few}"
    for what in (
        *("people", "one person", "sessions", "tokens", "tokens that ended"),
        *("webhooks and messages", "policies"),
    )
    for few in ("of20", "of100")
]
AUTONOMY = [
    "ours: share that ran alone, least",
    "ours: share that ran alone, most",
    "ours: unapproved harm, mean",
    "ours: all harm, mean, least",
    "ours: all harm, mean, most",
    "document: unapproved harm by 611",
    "always ask: all harm",
    "ours: grants to the poor agent",
    "ours: worlds in which the drifter was revoked",
    "ours: calls until it was, median",
]
CASE_LAW = [
    f"{database}: {what}"
    for database in ("SQLite", "PostgreSQL")
    for what in ("k = 5 by no learning", "k = 5 by k = 1", "without context by no learning")
]
OPERATIONS = ["decide", "claim", "inbox page", "due timers", "looking around"]
TABLES = [
    f"{database}: {what}"
    for database in ("SQLite", "PostgreSQL")
    for what in (*(f"{each}, 300 waiting" for each in OPERATIONS), "claim of one, 100 ready")
]
FLEET = [
    *(
        f"wake-up by {engine}, {p}"
        for engine in ("procrastinate", "threads")
        for p in ("p50", "p99")
    ),
    *(f"runs/s of {workers} workers beside bare claims" for workers in (1, 2, 4)),
    "what eight a claim would save of a run of ours",
]
# LangGraph may be missing; its side then is, too.
BY_LANGGRAPH = re.compile(r"by LangGraph$")


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--quick", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def figures(output: str) -> list[str]:
    """Return what the lines with a figure, its target and a word about it are about."""
    line = re.compile(
        r"(.+?) +-?\d+\.\d\d( ms| KB)? +"
        r"(?:at (?:least|most) [\d.]+(?: ms| KB)? +(?:met|missed)|no target)"
    )
    return [found[1] for found in map(line.fullmatch, output.splitlines()) if found]


def test_the_store_shows_every_round_the_bytes_of_an_ask_and_a_figure_beside_its_target() -> None:
    printed = run("store", "--only", "store")
    rounds = re.findall(r"round (\d): +\d+ asks/s, bare +\d+/s, ratio \d\.\d\d", printed)

    assert rounds == ["1", "2", "1", "2"]
    assert len(re.findall(r"[\d,]+ bytes on disk an ask", printed)) == 2
    assert figures(printed) == STORE[1:3]


@pytest.mark.soak  # a quarter of a minute
def test_every_figure_is_printed_and_the_large_inbox_counts_to_a_thousand_and_no_further() -> None:
    printed = run("store")

    assert figures(printed) == STORE
    assert printed.count("says 1,000+") == 12


def test_one_part_can_be_run_alone() -> None:
    assert figures(run("store", "--only", "import")) == STORE[:1]


@pytest.mark.soak  # half a minute
def test_the_cycle_of_a_run_is_measured_beside_bare_sql_even_without_langgraph() -> None:
    printed = run("cycle")
    found = [figure for figure in figures(printed) if not BY_LANGGRAPH.search(figure)]

    assert found == CYCLE
    assert len(re.findall(r"round \d: +\d+ runs/s, bare +\d+/s, ratio \d\.\d\d", printed)) == 8


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


def test_pages_are_measured_with_many_runs_beside_few() -> None:
    printed = run("pages", "--only", "SQLite")

    assert figures(printed) == PAGES[:4]
    assert re.findall(r"[\d,]+ runs, [\d,]+ events", printed) == [
        "12 runs, 1,203 events",
        "32 runs, 3,205 events",
    ]


def test_figures_are_rebuilt_and_are_equal() -> None:
    printed = run("rebuild", "--only", "SQLite")

    assert figures(printed) == REBUILD[:3]
    assert len(re.findall(r"figures of [\d,]+ events are equal: ", printed)) == 2


@pytest.mark.soak  # half a minute
def test_figures_are_rebuilt_on_both_databases() -> None:
    assert figures(run("rebuild")) == REBUILD


@pytest.mark.soak  # three servers
def test_the_pages_about_people_are_measured_with_many_beside_few() -> None:
    assert figures(run("people", "--only", "SQLite")) == PEOPLE


@pytest.mark.soak  # half a minute
def test_pages_are_measured_on_both_databases() -> None:
    assert figures(run("pages")) == PAGES


def test_waiting_runs_are_served_by_a_process_that_says_what_it_took() -> None:
    printed = run("waiting")

    assert figures(printed) == WAITING
    assert len(re.findall(r"waiting, .+ MB of memory, started in \d+ ms", printed)) == 2


def test_the_loop_of_an_agent_is_measured_in_memory_and_on_disk_even_without_others() -> None:
    printed = run("agents")
    found = [figure for figure in figures(printed) if not figure.startswith("a step of ")]

    assert found == AGENTS
    assert len(re.findall(r"round \d, microseconds a step: ours, SQLite: [\d,]+", printed)) == 2
    assert ("ours, in memory: " in printed) is Path("/dev/shm").is_dir()
    assert len(re.findall(r"ours, resumed after \d turns: \d+ ms", printed)) == 2
    assert len(re.findall(r"ours, SQLite: microseconds a turn [\d, ]+; [\d,]+ bytes", printed)) == 1


def test_a_gated_call_is_measured_beside_the_host_s_own_way_to_ask() -> None:
    printed = run("adapters")
    line = r"(\w+), round \d: theirs [\d.]+ ms, under a desk [\d.]+ ms, ratio \d+\.\d\d"

    assert figures(printed) == ADAPTERS
    assert re.findall(line, printed) == [part for part in ("graph", "chain", "smol") for _ in "12"]


def test_the_policy_is_measured_by_rulings_by_rules_and_by_loading() -> None:
    printed = run("policy")

    assert figures(printed) == POLICY
    assert re.search(r"one more rule: -?[\d.]+ microseconds a ruling if it names the tool", printed)


def test_earned_autonomy_is_measured_beside_other_ways_to_trust() -> None:
    printed = run("autonomy")

    assert figures(printed) == AUTONOMY
    for scheme in ("ours", "document", "always ask", "wilson", "beta"):
        assert re.search(rf"^{scheme} +\d+\.\d% +\d+\.\d +\d+\.\d$", printed, re.MULTILINE)


def test_learning_from_cases_is_measured_by_what_people_still_change() -> None:
    printed = run("caselaw")

    assert figures(printed) == CASE_LAW
    for arm in ("no learning", "k = 1", "k = 5", "without context"):
        assert (
            len(re.findall(rf"^{arm} +[\d,]+ +\d+\.\d\d +\d+\.\d\d$", printed, re.MULTILINE)) == 2
        )


@pytest.mark.soak  # processes that are busy for a while
def test_connections_are_counted_while_a_process_is_busy() -> None:
    assert re.fullmatch(r"worker, 4 threads +([5-9]|1[01]) at most\n", run("connections"))


@pytest.mark.soak  # half a minute
def test_http_is_measured_beside_the_store_and_by_who_follows() -> None:
    printed = run("http")

    assert figures(printed) == HTTP
    assert (
        len(re.findall(r"round 1: +\d+ decisions/s over HTTP, +\d+/s at the store", printed)) == 2
    )
    assert re.findall(r"(\d+) follow: [\d.]+ MB", printed) == ["0", "40", "60"] * 2


@pytest.mark.soak  # minutes
def test_the_inbox_is_measured_in_a_browser_and_with_many_asks() -> None:
    printed = run("web")

    assert figures(printed) == WEB
    assert re.search(r"Document: 1 answers, [\d.]+ KB", printed)
    assert len(re.findall(r"60 open: [\d.]+ ms; 200 open: [\d.]+ ms", printed)) == 2


def test_many_waiting_runs_are_measured_on_both_databases() -> None:
    printed = run("fleet", "--only", "tables")

    assert figures(printed) == TABLES
    assert len(re.findall(r"[\d,]+ bytes on disk a waiting run", printed)) == 2


@pytest.mark.soak  # a minute
def test_a_fleet_is_measured_by_wake_ups_and_by_workers() -> None:
    printed = run("fleet")

    assert figures(printed) == [*FLEET, *TABLES]
    assert re.search(r"bare: p50 [\d.]+ ms, p99 [\d.]+ ms", printed)


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
