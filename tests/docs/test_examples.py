"""Every example runs by itself, without a terminal, and prints what its page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

import sayso
from tests import forked
from tests.docs.pages import DOCS, ROOT, blocks, name_of, steady
from tests.terminal import running

FOLDER = ROOT / "examples"
# A folder that was renamed may have left its compiled modules behind.
NUMBERED = sorted(one for one in FOLDER.iterdir() if one.suffix == ".py" or any(one.glob("*.py")))
USE_CASES = sorted((FOLDER / "36_use_cases").glob("*.py"))
FOLDERS = [FOLDER / "28_email_assistant", FOLDER / "38_langgraph_email/play.py"]
EXAMPLES = [*sorted(FOLDER.glob("*.py")), *USE_CASES, *FOLDERS]
PARTS = sorted((FOLDER / "31_support_desk").glob("*.py"))  # of one that needs two terminals


def shown() -> dict[str, str]:
    """What the page of examples says each of them prints; of a folder, below what is started."""
    said = {}
    listed = list(blocks(DOCS / "examples.md"))
    for block, following in pairwise(listed):
        example = ROOT / (block.title or "").removesuffix("/__main__.py")
        if example in EXAMPLES:
            assert following.prints, block.title
            said[name_of(example)] = following.text
    return said


def started_anew(example: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it in an interpreter that has loaded nothing, and takes no warning lightly."""
    return subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=folder,
        env=at_a_terminal(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def started_warm(example: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own that has loaded the libraries already."""
    return forked.run([sys.executable, example], cwd=folder, env=at_a_terminal())


@pytest.mark.parametrize(
    "started", [started_warm, pytest.param(started_anew, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_prints_what_its_page_says(
    example: Path, tmp_path: Path, started: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = started(example, tmp_path)

    assert done.returncode == 0, done.stderr
    assert steady(done.stdout) == steady(shown()[name_of(example)])
    assert list(tmp_path.iterdir()) == [], "an example leaves nothing behind"


PLAN_REVIEW = ROOT / "examples/08_plan_review.py"


def at_a_terminal() -> dict[str, str]:
    """The environment of anna, who sits at a terminal and has named no editor."""
    return {**os.environ, "LOGNAME": "anna"}


def test_the_plan_review_goes_on_after_its_program_was_killed_at_the_pause(tmp_path: Path) -> None:
    env = at_a_terminal()
    with running([sys.executable, PLAN_REVIEW], cwd=tmp_path, env=env) as program:
        program.wait_for("Your choice (1-4): ")
        program.kill()
    with sayso.Desk(f"sqlite:///{tmp_path}/sayso.db") as desk:
        waiting = desk.runs()[0]
        assert waiting.status == "waiting"

        sayso_command = Path(sys.executable).with_name("sayso")
        resume: list[str | Path] = [sayso_command, "runs", "resume", waiting.id, PLAN_REVIEW]
        with running(resume, cwd=tmp_path, env=env) as program:
            program.answer("Your choice (1-4): ", "1")
            assert program.ended() == 0

        assert program.text.count("searching: recent AI developments") == 1
        assert str(waiting.result()).endswith("three pages on recent AI developments")
        replies = [
            event for event in waiting.events if (event.payload or {}).get("verb") == "model"
        ]
        assert len(replies) == 3, "a plan, a call, an answer: none of them was asked for twice"


def test_every_example_has_its_place_on_the_page() -> None:
    assert sorted(shown()) == sorted(name_of(example) for example in EXAMPLES)


def test_every_part_of_the_support_desk_is_on_the_page_whose_transcript_is_played() -> None:
    listed = [block for block in blocks(DOCS / "howto/two-terminals.md") if block.file]
    shown = {block.title: block.text.strip() for block in listed}
    assert shown == {part.name: part.read_text().strip() for part in PARTS}


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=name_of)
def test_an_example_is_short_enough_to_read(file: Path) -> None:
    assert len(file.read_text().splitlines()) < 80


def test_the_examples_are_numbered_from_the_first_to_the_last() -> None:
    numbers = [one.name[:3] for one in NUMBERED]
    assert numbers == [f"{number:02d}_" for number in range(1, len(NUMBERED) + 1)]


def test_the_table_lists_every_example_in_its_order_with_a_sentence_and_ids() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (FOLDER / "README.md").read_text().splitlines()
        if line.startswith("| [")
    ]
    assert [row[0] for row in rows] == [f"[{one.stem}]({one.name})" for one in NUMBERED]
    for example, says, ids in rows:
        assert says.endswith("."), example
        assert re.fullmatch(r"([SPB]\d+(\.\d+)?)(, [SPB]\d+(\.\d+)?)*", ids), example


def test_every_example_plays_a_section_of_one_of_the_documents() -> None:
    played = (FOLDER / "README.md").read_text().partition("## What they play")[2]
    parts = re.split(r"^\*\*S\d\*\*, \*.*Human-in-the-Loop.*\*", played, flags=re.MULTILINE)[1:]
    rows = [re.findall(r"^\| \w.*? \| ([\d, ]+) \|$", part, re.MULTILINE) for part in parts]

    assert len(rows) == 4
    assert all(rows), "a document of which nothing is played"
    listed = {number for part in rows for cell in part for number in cell.split(", ")}
    assert listed == {one.name[:2] for one in NUMBERED}


def test_every_link_of_the_table_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (FOLDER / "README.md").read_text())
    assert [link for link in links if not (FOLDER / link).exists()] == []
    assert len(links) > len(NUMBERED)


def test_every_folder_of_examples_is_one_that_is_run() -> None:
    started = {one if one.is_dir() else one.parent for one in FOLDERS}
    assert {one for one in NUMBERED if one.is_dir()} == started | {
        file.parent for file in (*USE_CASES, *PARTS)
    }


def test_the_page_shows_the_examples_in_their_order() -> None:
    listed = re.findall(
        r"^--8<-- .examples/(\d\d)_", (DOCS / "examples.md").read_text(), re.MULTILINE
    )
    assert listed == sorted(listed)


@pytest.mark.parametrize("example", USE_CASES, ids=lambda file: file.stem)
def test_the_policy_of_a_use_case_is_sound_and_says_what_its_cases_expect(
    example: Path, tmp_path: Path
) -> None:
    policy, cases = example.with_suffix(".toml"), example.with_suffix(".cases.toml")
    with sayso.Desk(f"sqlite:///{tmp_path}/desk.db", policy=policy) as desk:
        for person in {name for group in desk.policy.groups.values() for name in group}:
            desk.people.add(person)
    for words in (["check", str(policy)], ["test", str(policy), "--cases", str(cases)]):
        command = [str(forked.SAYSO), "policy", *words, "--desk", f"sqlite:///{tmp_path}/desk.db"]
        done = forked.run([*command, "--json"], cwd=tmp_path, env=os.environ)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_policy_beside_the_examples_belongs_to_one() -> None:
    files = {file.name.partition(".")[0] for file in (FOLDER / "36_use_cases").glob("*.toml")}
    assert files == {example.stem for example in USE_CASES}
