"""What exists is documented: each of these fails when something new is not on its page."""

from __future__ import annotations

import inspect
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import click
import pytest

import sayso
import sayso.agent
from sayso.agent.bridge.names import PROVIDERS
from sayso.agent.telling import TOLD
from sayso.asks.forms import Terms
from sayso.asks.verbs import Verbs
from sayso.cli.serve import serve
from sayso.cli.serve_settings import _OPTIONS, _PROVIDER
from sayso.gate import Gates
from sayso.model.content import Content
from sayso.policy.cases import CASE, EXPECT
from sayso.policy.complaints import MAY_BE_UNSTATED
from sayso.policy.complaints import VARIABLES as SEEN_BY_CONDITIONS
from sayso.policy.digests import ELSEWHERE
from sayso.policy.earning import EARNING
from sayso.policy.paces import PACE
from sayso.policy.reading import RULE, RUNG, SECTIONS, TERMS, TIER
from sayso.policy.tiers import BUILT_IN
from sayso.remote.desk import RemoteDesk
from sayso.runs.front import RunDesk
from sayso.store.audit import NOT_COVERED
from sayso.web.settings import Settings
from tests.docs.pages import DOCS, PAGES, ROOT, blocks, name_of
from tests.package.archives import files_of_ours
from tests.places import TABLES

SOURCE = ROOT / "src/sayso"
CODE = "\n".join(file.read_text() for file in sorted(SOURCE.rglob("*.py")))
_ROOMS = "|".join(sorted(room.name for room in SOURCE.iterdir() if (room / "__init__.py").exists()))


def page(name: str) -> str:
    return (DOCS / name).read_text()


# --- names and settings ---


VARIABLES = {
    name
    for pair in re.findall(r'environ\.get\("(\w+)"|\b(SAYSO_[A-Z_]+)\b', CODE)
    for name in pair
    if name
}
GATE = inspect.getsource(Gates).split("def gate(\n", 1)[1].split(") -> ")[0]
AGENTS = "\n".join(file.read_text() for file in (SOURCE / "agent").glob("*.py"))
API, SETTINGS, AGENT = "reference/api.md", "reference/settings.md", "howto/agents.md"
# What is named in the code; the page and the heading below which it stands; and as what.
NAMED: dict[str, tuple[Iterable[str], str, str | None, str]] = {
    "public name": (sayso.__all__, API, None, r"^::: sayso\.{}$"),
    "name of the agent": (sayso.agent.__all__, API, None, r"^::: sayso\.(?:agent\.)?{}$"),
    "environment variable": (VARIABLES, SETTINGS, "Environment", "`{}`"),
    "argument of a desk": (
        *([*inspect.signature(sayso.Desk.__init__).parameters][1:], SETTINGS, None),
        r"\| `{}` \|",
    ),
    "option of an address": (
        *(re.findall(r'query\.get\("(\w+)"', CODE), SETTINGS, None),
        r"\?{}=",
    ),
    "field of the settings of a server": (
        *([field.name for field in fields(Settings)], "reference/http.md", "Limits"),
        r"^\|[^|]*`{}`",
    ),
    "argument of an agent": (inspect.signature(sayso.Agent).parameters, AGENT, None, r"\b{}\b"),
    "step that callbacks hear of": (
        *([kind.__name__ for kind in TOLD], AGENT, "Callbacks"),
        "`{}`",
    ),
    "way in which a call is refused": (
        *(re.findall(r'(?:BadCall|_bad)\((?:\w+, )*"(\w+)"', AGENTS), AGENT),
        *("When something goes wrong", "`{}`"),
    ),
    "option of a gate": (
        re.findall(r"^        (\w+): .* = \.\.\.,$", GATE, re.MULTILINE),
        *("howto/gates.md", "Every option", "`{}`"),
    ),
    "term of a gate": (Terms.__annotations__, "howto/gates.md", "Every option", "`{}`"),
    "name that may be unstated": (MAY_BE_UNSTATED, "reference/policy.md", None, r"`has\({}\)`"),
    "rule of the default policy": (
        re.findall(r'^name = "(.+)"$', (SOURCE / "policy/default.toml").read_text(), re.MULTILINE),
        *("howto/policy.md", None, r"  {}  \(default\)"),
    ),
    "field of what is shown": (
        *(Content.__dataclass_fields__, "reference/schema.md", "`content`: what is shown"),
        "`{}`",
    ),
    "problem that verify names": (
        re.findall(r'found\.problem\(\s*"(\w+)"', CODE),
        *("explanation/seals-and-erasure.md", None, r"\| `{}` \|"),
    ),
}


@pytest.mark.parametrize("what", NAMED)
def test_everything_that_has_a_name_is_on_its_page(what: str) -> None:
    names, on, heading, shown = NAMED[what]
    text = page(on) if heading is None else section(on, heading)

    assert [*names]
    assert [
        name for name in names if not re.search(shown.format(re.escape(name)), text, re.MULTILINE)
    ] == []


def section(name: str, heading: str) -> str:
    return page(name).split(f"## {heading}\n")[1].split("\n## ")[0]


def test_the_settings_name_no_variable_that_nobody_reads() -> None:
    read = VARIABLES | {
        name for one in PROVIDERS.values() for name in (*one.keys, one.address) if name
    }
    read |= {"NO_COLOR", "SSL_CERT_FILE"}  # by the libraries
    rows = section("reference/settings.md", "Environment").splitlines()
    named = {name for row in rows for name in re.findall(r"`([A-Z_]{2,})`", row.split(" | ")[0])}

    assert named == read


def test_arguments_that_a_desk_behind_http_refuses_are_named() -> None:
    given = inspect.signature(RemoteDesk.__init__).parameters
    refused = set(inspect.signature(sayso.Desk.__init__).parameters) - set(given)
    text = section("reference/settings.md", "Arguments of `Desk`").rsplit("\n\n", 1)[1]

    assert set(re.findall(r"`(\w+)`", text)) == refused


SERVING = [p for p in serve.params if isinstance(p, click.Parameter) and p.envvar]


@pytest.mark.parametrize("parameter", SERVING, ids=lambda parameter: str(parameter.name))
def test_every_setting_of_the_service_is_in_its_row_option_variable_and_key(
    parameter: click.Parameter,
) -> None:
    key = next(key for key, (name, _) in _OPTIONS.items() if name == parameter.name)
    option = parameter.opts[0] if isinstance(parameter, click.Option) else "APP[:DESK]"
    rows = section("reference/settings.md", "The service").splitlines()
    (row,) = [row for row in rows if f"| `{parameter.envvar}`" in row]

    assert row.startswith(f"| `{option}")
    assert f"| `{key} = " in row


def test_every_key_of_the_section_serve_has_an_option_and_a_variable() -> None:
    assert {name for name, _ in _OPTIONS.values()} == {p.name for p in SERVING}


@pytest.mark.parametrize("key", _PROVIDER)
def test_every_setting_of_an_identity_provider_is_in_its_row(key: str) -> None:
    rows = section("reference/settings.md", "The service").splitlines()
    assert any(f"| `{_PROVIDER[key]}` | `{key} = " in row for row in rows)


def test_the_settings_name_no_argument_that_an_agent_does_not_take() -> None:
    table = page("reference/settings.md").split("## Arguments of `Agent`")[1].split("\n## ")[0]
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert named == [*inspect.signature(sayso.Agent).parameters]


@pytest.mark.parametrize("name", ["Reply", "ToolCall", "Usage", "Message", "Prompt"])
def test_every_field_of_a_message_is_on_its_page(name: str) -> None:
    section = page("reference/messages.md").split(f"## `{name}`\n")[1].split("\n## ")[0]
    rows = " ".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
    fields = set(getattr(sayso.agent, name).__dataclass_fields__)

    assert {field for field in fields if f"`{field}`" not in rows} == set()


def test_every_verb_of_a_run_is_in_its_table_and_in_the_api_reference() -> None:
    table = page("howto/runs.md").split("## Verbs")[1].split("\n#")[0]
    listed = re.search(
        r"^::: sayso\.Running\n(?:    .*\n)*?.*members: \[(.*)\]",
        page("reference/api.md"),
        re.MULTILINE,
    )
    assert listed is not None
    verbs = {name for name in vars(Verbs) if not name.startswith("_") and name != "forms"}
    verbs |= {
        name
        for name, fn in inspect.getmembers(sayso.Running, inspect.isfunction)
        if not name.startswith("_") and "self._go(" in inspect.getsource(fn)
    }
    verbs |= {"call", "later", "agent"}
    verbs -= {"call_gated", "later_done", "verb"}  # halves of call, of later and of an agent

    assert {verb for verb in verbs if not re.search(rf"`(?:run\.)?{verb}\b", table)} == set()
    assert verbs <= set(listed[1].split(", "))
    assert [name for name in listed[1].split(", ") if not hasattr(sayso.Running, name)] == []


@pytest.mark.parametrize(
    "name",
    # The abstract ones a desk has anyway.
    [n for n in vars(RunDesk) if not n.startswith("_") and n not in RunDesk.__abstractmethods__],
)
def test_everything_a_desk_does_with_runs_is_on_a_page(name: str) -> None:
    text = page("howto/runs.md") + page("howto/workers.md")
    assert f"desk.{name}" in text


# --- the policy ---


KEYS = {
    "Sections": (*SECTIONS, *ELSEWHERE),
    "Rules": tuple(key for key in RULE if key not in TERMS),
    "Tiers": tuple(key for key in TIER if key not in TERMS),
    "Who and when": TERMS,
    "Agents": PACE,
    "Earned autonomy": EARNING,
    "Conditions": SEEN_BY_CONDITIONS,
    "Cases": (*CASE, *EXPECT),
}


def first_cells(heading: str) -> str:
    """The first column of the tables of a section, of the rows that begin with code."""
    section = page("reference/policy.md").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return " ".join(row.split("|")[1] for row in rows)


@pytest.mark.parametrize("heading", KEYS)
def test_every_key_of_a_policy_and_every_variable_is_in_the_reference(heading: str) -> None:
    cells = first_cells(heading)
    assert [key for key in KEYS[heading] if not re.search(rf"\b{key}\b", cells)] == []


@pytest.mark.parametrize("heading", [heading for heading in KEYS if heading != "Sections"])
def test_the_reference_names_no_key_and_no_variable_that_there_is_not(heading: str) -> None:
    named = re.findall(r"`(\w+)`", first_cells(heading))
    assert [name for name in named if name not in KEYS[heading]] == []


def test_the_keys_of_a_rung_are_in_the_row_of_the_ladder() -> None:
    row = next(r for r in page("reference/policy.md").splitlines() if r.startswith("| `escalate`"))
    assert [key for key in RUNG if f"{key} = " not in row] == []


def test_the_usual_tiers_are_on_the_page_as_they_are() -> None:
    text = page("howto/policy.md")
    for name, tier in BUILT_IN.items():
        needs = "nobody" if tier.alone else str(tier.terms.needs)
        assert f"| `{name}` | {needs}" in text


# --- what is stored ---


def test_every_table_and_column_is_on_the_page_of_what_is_stored(tmp_path: Path) -> None:
    with sayso.Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        desk.inbox()
    file = sqlite3.connect(tmp_path / "desk.db")
    tables = [row[0] for row in file.execute("select name from sqlite_schema where type = 'table'")]
    tables = [table for table in tables if not table.startswith(("case_", "text_"))]  # full-text
    missing = []
    for table in tables:
        section = page("reference/schema.md").split(f"## `{table}`")[-1].split("\n## ")[0]
        columns = [row[1] for row in file.execute(f"pragma table_info({table})")]
        missing += [f"{table}.{column}" for column in columns if f"`{column}`" not in section]
    file.close()

    assert set(tables) == {*TABLES, "desk"}
    assert missing == []


# --- the pages themselves ---


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    named = set(re.findall(r"`((?:tests|examples|benchmarks|docs|src)/[\w./-]+)`", text))
    rooms = set(re.findall(rf"`((?:{_ROOMS})/\w+\.(?:py|sql))`", text))

    missing = [name for name in named if not (ROOT / name).exists()]
    missing += [name for name in rooms if not (SOURCE / name).exists()]
    assert missing == []


def test_every_decision_says_context_decision_why_alternatives_and_consequences() -> None:
    parts = ("Context", "Decision", "Why", "Considered", "Consequences")
    for record in sorted((DOCS / "decisions").glob("0*.md")):
        text = record.read_text()
        assert [part for part in parts if f"**{part}.**" not in text] == [], record.name
        assert record.name in page("decisions/index.md")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_has_emoji_and_the_like(page: Path) -> None:
    assert [c for c in page.read_text() if ord(c) > 0x2FFF] == []


# Put together from parts, so that this file does not name what no file may name.
FOLDERS = ("tmp", "root", "home", "Users", "work", "workspace", "workspaces")
HOSTS = (
    *("pypi.", "pythonhosted."),
    *("npmjs.", "yarnpkg.", "unpkg.", "jsdelivr."),
    *("anaconda.", "crates.", "jfrog.", "pkg.dev"),
)
OF_A_MACHINE = re.compile(
    "|".join(
        (
            *(rf"(?<![\w.~}}])/{folder}/\w[^\s\"'`]*" for folder in FOLDERS),
            *(rf"https?://[\w.-]*{re.escape(host)}[^\s\"'`]*" for host in HOSTS),
            r"https?://[^\s\"'`]+/simple\b",  # where a mirror of an index usually is
        )
    )
)


def test_no_file_names_a_machine_or_a_registry() -> None:
    named = []
    for name in files_of_ours():
        try:
            text = (ROOT / name).read_text("utf-8")
        except UnicodeDecodeError:
            continue  # a picture, a typeface
        found = {one[0] for one in OF_A_MACHINE.finditer(text)}
        named += [f"{name}: {one}" for one in sorted(found)]

    assert named == []


def test_a_folder_of_a_machine_and_a_host_of_a_registry_would_be_seen() -> None:
    paths = ["/".join(("", folder, "anna", "sayso")) for folder in FOLDERS]
    hosts = [f"https://files.{host}example/sayso.whl" for host in HOSTS]

    assert [OF_A_MACHINE.findall(f'cd "{path}" && make') for path in paths] == [[p] for p in paths]
    assert [OF_A_MACHINE.findall(f"sayso @ {host}") for host in hosts] == [[h] for h in hosts]


def test_toml_shown_in_the_settings_is_read_by_a_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = next(b for b in blocks(DOCS / "reference/settings.md") if b.language == "toml")
    Path("sayso.toml").write_text(shown.text)

    assert sayso.Desk().url == "sqlite:///oversight.db"


def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        # Not --quiet: that would silence the very warnings that --strict counts.
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT,
        env={"NO_MKDOCS_2_WARNING": "1", "PATH": str(Path(sys.executable).parent)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    built = (tmp_path / "reference/api/index.html").read_text()
    methods = [name for name, _ in inspect.getmembers(sayso.Desk) if not name.startswith("_")]
    assert [name for name in methods if f'id="sayso.Desk.{name}"' not in built] == []


def test_the_readme_is_read_in_two_minutes() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


def test_the_readme_says_how_long_an_adapter_is() -> None:
    shown = next(b for b in blocks(DOCS / "howto/adapters.md") if b.title == "sayso_tiny.py")
    assert len(shown.text.splitlines()) == 40
    assert "| another framework | forty lines on one base |" in (ROOT / "README.md").read_text()


def test_the_list_of_what_no_verification_finds_is_on_its_page() -> None:
    page = (DOCS / "explanation/seals-and-erasure.md").read_text("utf-8")

    listed = page.split("## Not covered")[1].split("## Seals")[0]

    assert re.findall(r"^- (.*)$", listed, re.MULTILINE) == list(NOT_COVERED)
