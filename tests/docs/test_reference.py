"""The pages that are made from the code say what the code says, and the code says all there is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import sayso
from sayso.asks.spending import Ending
from sayso.autonomy.ledger import What
from sayso.errors import SaysoError
from sayso.model.event import Event
from sayso.model.event_kinds import EVENTS, FAMILIES, STAMP
from sayso.model.lifecycle import ASK, EFFECT, RunStatus, Table
from tests.docs.pages import DOCS, ROOT
from tests.docs.story import told
from tools.reference import PAGES, READ_ON, advice, happened, public_errors, written

SOURCE = ROOT / "src/sayso"
TREES = {file: ast.parse(file.read_text()) for file in sorted(SOURCE.rglob("*.py"))}

# Rooms in which an event is made; whoever makes one elsewhere is found by the test below.
WRITING = ("model", "asks", "runs", "store", "insight", "access", "channels")
MAKERS = {
    ("sayso.model.event", "link"),
    ("sayso.asks.standing", "grow"),
    ("sayso.access.recording", "recorded"),
    ("sayso.channels.webhooks", "noted"),
}
KIND = re.compile(r"[a-z]+\.[a-z_]+")
NO_KIND = re.compile(r"sayso\..*|.*\.(?:sql|toml)")

# What may stand for the gap where the code writes f"effect.{ending}".
GAPS = {
    "effect.": get_args(Ending),
    "run.": tuple(set(get_args(RunStatus)) - {"ready", "running", "waiting"}),
    "trust.": (*get_args(What), "proposed", "ended"),
}


def page(name: str) -> str:
    return (DOCS / name).read_text()


# --- the pages ---


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_script_would_write(name: str) -> None:
    assert page(name) == written(name), "run: make reference"


def test_the_script_says_what_is_missing_where_a_page_lost_its_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.reference.DOCS", tmp_path)
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference/errors.md").write_text("# Errors\n")

    with pytest.raises(ValueError, match="no place for 'errors'"):
        written("reference/errors.md")


# --- errors ---


def defined() -> Iterator[type[SaysoError]]:
    """Every error of ours, wherever it is defined."""
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found = getattr(sayso.errors, node.name, None)
                if isinstance(found, type) and issubclass(found, SaysoError):
                    yield found


def below(error: type[SaysoError]) -> set[type[SaysoError]]:
    return {error}.union(*(below(child) for child in error.__subclasses__()))


def test_every_error_that_is_defined_is_in_the_tree() -> None:
    ours = {e for e in below(SaysoError) if e.__module__.startswith("sayso.")}
    named = {error for error in ours if not error.__name__.startswith("_")}

    assert {*defined()} == named == {*public_errors()}


@pytest.mark.parametrize("error", public_errors(), ids=lambda error: error.__name__)
def test_every_error_is_on_its_page_with_its_code_and_what_to_do_next(
    error: type[SaysoError],
) -> None:
    assert happened(error).endswith(".")
    assert advice(error).endswith("."), "its docstring ends with: Next: ..."
    rows = [line for line in page("reference/errors.md").splitlines() if line.startswith("|")]
    assert any(row.startswith(f"| `{error.__name__}`<br>`{error.code}` |") for row in rows)


def test_pages_to_read_on_are_of_errors_that_there_are() -> None:
    assert set(READ_ON) <= {error.__name__ for error in public_errors()}


# --- events ---


def texts(file: Path) -> Iterator[str]:
    """Every text in a module that could be the name of a kind of event."""
    tree = TREES[file]
    prose = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def gaps(file: Path) -> Iterator[str]:
    """The beginnings of texts that are filled in later, such as `effect.`."""
    for node in ast.walk(TREES[file]):
        if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
            first, second = node.values
            if isinstance(first, ast.Constant) and isinstance(second, ast.FormattedValue):
                yield str(first.value)


def makes_events(file: Path) -> bool:
    """Whether a module imports what makes an event."""
    return any(
        (node.module, alias.name) in MAKERS
        for node in ast.walk(TREES[file])
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )


def in_room(file: Path) -> bool:
    return file.relative_to(SOURCE).parts[0] in WRITING


def kinds_in_code() -> set[str]:
    """Everything written like a kind of event where events are made."""
    found = {text for file in TREES if in_room(file) for text in texts(file)}
    named = {text for text in found if KIND.fullmatch(text) and not NO_KIND.fullmatch(text)}
    filled = {gap for file in TREES if in_room(file) for gap in gaps(file)} & set(GAPS)
    return named | {f"{gap}{word}" for gap in filled for word in GAPS[gap]}


def test_events_are_made_only_where_this_test_looks() -> None:
    makers = [file for file in TREES if makes_events(file)]

    assert len(makers) > 10
    assert [file.name for file in makers if not in_room(file)] == []


def test_every_kind_of_event_in_the_code_is_in_the_table() -> None:
    assert kinds_in_code() - set(EVENTS) == set()


def test_every_kind_in_the_table_is_written_by_somebody() -> None:
    assert set(EVENTS) - kinds_in_code() == set()


def test_no_room_speaks_of_a_kind_that_there_is_not() -> None:
    """In the rooms that only read events a typo would be waited for in vain."""
    family = re.compile(rf"(?:{'|'.join(FAMILIES)})\.[a-z_]+")
    spoken = {text for file in TREES for text in texts(file) if family.fullmatch(text)}
    spoken = {text for text in spoken if not text.endswith(".html")}  # a page of that name

    assert spoken - set(EVENTS) == set()


def test_what_is_filled_in_later_is_known() -> None:
    begun = {f"{family}." for family in FAMILIES}
    found = {gap for file in TREES if in_room(file) for gap in gaps(file)} & begun

    assert found - {"ask."} == set(GAPS), "say here what may stand in the gap"


@pytest.mark.parametrize("kind", EVENTS)
def test_every_kind_of_event_is_on_its_page(kind: str) -> None:
    assert f"### `{kind}`\n" in page("reference/events.md")


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("story"))
        patch.setenv("LOGNAME", "anna")
        return told()


def test_a_story_in_which_everything_happens_writes_every_kind(journal: list[Event]) -> None:
    assert {event.kind for event in journal} == set(EVENTS)


def test_a_payload_says_only_what_the_table_names(journal: list[Event]) -> None:
    for event in journal:
        said = set(event.payload or {})
        known = {*EVENTS[event.kind].says, *STAMP}
        assert said - known == set(), event.kind


def test_every_payload_but_that_of_a_step_says_how_it_came_in(journal: list[Event]) -> None:
    for event in journal:
        stamped = {"via", "account"} <= set(event.payload or {})
        if event.text is not None:  # not erased
            assert stamped is not event.kind.startswith("step."), event.kind


def test_an_event_is_written_by_whom_the_table_names_and_where(journal: list[Event]) -> None:
    streams = {"a-": "ask", "r-": "run", "k-": "trust"}
    for event in journal:
        kind = EVENTS[event.kind]
        assert event.actor.kind in kind.by, event.kind
        assert streams.get(event.stream[:2], event.stream) == kind.stream


# --- verbs of a step ---


def recorded_verbs() -> Iterator[str]:
    """What is given to `journal.record` as its verb: a text, or the `VERB` of its module."""
    for tree in TREES.values():
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="record"), args=[_, ast.Constant(str(verb)), _]
                ):
                    yield verb
                case ast.Call(
                    func=ast.Attribute(attr="_value"), args=[_, ast.Constant(str(verb)), *_]
                ):
                    yield verb
                case ast.Assign(targets=[ast.Name("VERB")], value=ast.Constant(str(verb))):
                    yield verb
                case _:
                    pass


def test_every_verb_that_is_recorded_is_on_the_page_of_events_and_no_other() -> None:
    table = page("reference/events.md").split("## Verbs of a step")[1]
    rows = " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))

    assert {*recorded_verbs()} >= {"step", "model", "call", "told", "now", "lapsed", "queued"}
    assert set(re.findall(r"`(\w+)`", rows)) == {*recorded_verbs()}


# --- states ---


@pytest.mark.parametrize(("mark", "table"), [("ask", ASK), ("effect", EFFECT)])
def test_the_drawing_of_a_life_has_every_state_and_every_arrow(mark: str, table: Table) -> None:
    text = page("explanation/life-of-an-ask.md")
    drawn = text.split(f"<!-- {mark} -->")[1].split(f"<!-- /{mark} -->")[0]
    arrows: dict[str, set[str]] = {status: set() for status in table}
    path: list[str] = []
    for line in drawn.splitlines():
        found = re.search(r"^(\W*)[a-z_.]+ ─+> (\w+)", line)
        if found is None:
            continue
        depth = len(found[1]) // 3
        if depth:
            arrows[path[depth - 1]].add(found[2])
        path[depth:] = [found[2]]

    assert arrows == {status: set(targets) for status, targets in table.items()}
