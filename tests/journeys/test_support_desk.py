"""The support desk, end to end (S4.1 to S4.8): the programs of `examples/31_support_desk`.

User and admin are programs of their own, in terminals of their own; each is gone before the other
one comes, except where they come at once. Those that die are in `tests.journeys.staff`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sayso import Desk, Run
from sayso.agent import transcript
from tests import forked
from tests.crash.shop import noted
from tests.crash.visitors import Death, Door, open_door
from tests.journeys.reading import told
from tests.journeys.staff import (
    DELETE,
    DELETED,
    EXAMPLE,
    THREAD,
    last_run,
    rows,
)
from tests.places import Place, place_at
from tests.terminal import Program, running

SAYSO = str(Path(sys.executable).with_name("sayso"))
QUESTION = "How do I configure SSL certificates for nginx?"
SOLUTION = "certbot --nginx, then reload"
HELPED = [
    "run.started",
    "step.done 1 model",
    "ask.opened 2.1.2.1 question",
    "ask.decided 2.1.2.1 question",
    "step.done 2.1.2 workflow",
    "step.done 3 model",
    "run.done",
]
ASKED_TO_DELETE = [
    "run.started",
    "step.done 1 model",
    "step.begun 2.1.2.1 backup",
    "step.done 2.1.2.1 call",
    "ask.opened 2.1.2.2 action",
]
DROPPED = [
    *ASKED_TO_DELETE,
    "ask.decided 2.1.2.2 action",
    "step.begun 2.1.2.3 drop",
    "step.done 2.1.2.3 call",
    "step.done 2.1.2 workflow",
    "step.done 3 model",
    "run.done",
]


def _command(program: str, *words: str) -> list[str]:
    return [sys.executable, str(EXAMPLE / f"{program}.py"), *words]


@dataclass
class Desks:
    """The two programs on one database, in one folder, and a desk to look on."""

    desk: Desk
    url: str
    folder: Path

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "SAYSO_URL": self.url, "LOGNAME": "anna"}

    @property
    def run(self) -> Run:
        return last_run(self.desk)

    def start(self, program: str, *words: str) -> str:
        """Run a program without a terminal until it ends, and return what it printed."""
        command = [SAYSO, *words] if program == "sayso" else _command(program, *words)
        done = forked.run(command, cwd=self.folder, env=self.env)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def at_terminal(self, program: str, *words: str) -> AbstractContextManager[Program]:
        """Start a program at a terminal of its own; a block that ends it."""
        return running(_command(program, *words), cwd=self.folder, env=self.env)

    @property
    def backups(self) -> list[Path]:
        return sorted((self.folder / "backups").glob("*"))

    def deleted(self) -> bool:
        return not (self.folder / "data/customers.db").exists()

    def check_kept(self) -> None:
        """Check that there is one backup, and that it has every row."""
        (backup,) = self.backups
        assert rows(backup) == 3


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database that the example makes."""
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, EXAMPLE / "database.py"], cwd=folder, check=True)
    return folder / "data"


@pytest.fixture
def desks(live: Desk, place: Place, tmp_path: Path, data: Path) -> Desks:
    shutil.copytree(data, tmp_path / "data")
    return Desks(live, place.url, tmp_path)


def test_s4_3_the_document_user_and_admin_in_two_terminals_one_after_the_other(
    desks: Desks,
) -> None:
    # S4.1: the user's program asks, and ends: it does not hang, and nothing holds the run
    with desks.at_terminal("user", THREAD) as user:
        user.wait_for("Your question: ")
        user.type(QUESTION)
        assert user.ended() == 0
    assert (desks.run.status, desks.run.row.token) == ("waiting", None)
    assert told(desks.desk, desks.run) == HELPED[:3]

    # S4.4: messages, what is pending, what comes next
    (ask,) = desks.run.state.pending
    stands = [
        "thread 12 is waiting",
        f"  user: {QUESTION}",
        "  assistant: An expert knows.",
        f"    calls human_assistance({QUESTION})",
        f"  pending: question {ask.id}",
        f'  next: {ask.id} "{QUESTION}" waits for a decision',
    ]
    assert user.text.splitlines()[-6:] == stands
    assert desks.start("user", THREAD).splitlines() == stands, "any time later, too"

    # S4.2, S4.3: the admin sees the query, and answers; the run goes on there
    with desks.at_terminal("admin", THREAD) as admin:
        shown = admin.wait_for("Your choice (1-3)")
        assert QUESTION in shown
        admin.type("1")
        admin.wait_for(": ")
        admin.type(SOLUTION)
        assert admin.ended() == 0
    assert told(desks.desk, desks.run) == HELPED

    # and the user's program, started again, prints the answer
    assert desks.start("user", THREAD).splitlines() == [
        "thread 12 is done",
        *stands[1:4],
        f"  tool: {SOLUTION}",
        f"  assistant: From our expert: {SOLUTION}",
    ]
    assert desks.run.output == f"From our expert: {SOLUTION}"
    assert desks.desk.verify()


def test_s4_2_an_admin_who_comes_before_the_user_is_told_so_and_misses_nothing(
    desks: Desks,
) -> None:
    assert desks.start("admin", THREAD) == "Nobody has asked anything in thread 12 yet.\n"
    desks.start("user", THREAD, QUESTION)

    with desks.at_terminal("admin", THREAD) as admin:
        assert QUESTION in admin.wait_for("Your choice (1-3)")


def test_s4_2_a_user_in_another_thread_is_not_mixed_up_with_this_one(desks: Desks) -> None:
    desks.start("user", THREAD, QUESTION)
    desks.start("user", "13", "Something else?")

    assert "Something else" not in desks.start("user", THREAD)
    assert desks.start("admin", "14") == "Nobody has asked anything in thread 14 yet.\n"


def test_s4_3_whoever_comes_next_goes_on_with_what_was_answered_from_the_command_line(
    desks: Desks,
) -> None:
    """The admin has no program of ours at all, and nobody goes on before the user comes back."""
    desks.start("user", THREAD, QUESTION)
    (ask,) = desks.run.state.pending
    desks.start("sayso", "inbox", "respond", ask.id, SOLUTION, "--seen", ask.digest[:12])
    assert desks.run.status == "ready"

    assert f"From our expert: {SOLUTION}" in desks.start("user", THREAD)
    assert told(desks.desk, desks.run) == HELPED


def test_s4_7_the_stored_state_is_read_by_a_person_with_runs_show(desks: Desks) -> None:
    desks.start("user", THREAD, QUESTION)

    shown = " ".join(desks.start("sayso", "runs", "show", desks.run.id).split())

    assert "◷ waiting" in shown
    assert f'wants human_assistance(query="{QUESTION}")' in shown
    assert f"question: {QUESTION}" in shown
    assert "sayso inbox respond" in shown, "and what comes next"


def test_s4_5_what_the_tool_did_before_it_asked_happens_once_across_programs(
    desks: Desks,
) -> None:
    desks.start("user", THREAD, DELETE)
    assert told(desks.desk, desks.run) == ASKED_TO_DELETE
    (ask,) = desks.run.state.pending
    (backup,) = desks.backups
    made = backup.stat().st_mtime_ns
    assert (ask.title, ask.content.risk) == ("Delete the database customers?", "critical")
    facts = dict(json.loads(ask.content.facts or ""))
    assert facts == {"backup": str(backup.relative_to(desks.folder)), "rows": 3}

    for _ in range(3):  # however often somebody looks, nothing is done
        desks.start("user", THREAD)
    assert not desks.deleted()
    with desks.at_terminal("admin", THREAD) as admin:
        assert "Delete the database customers?" in admin.wait_for("Your choice (1-4): ")
        admin.type("1")
        assert admin.ended() == 0

    assert desks.deleted()
    assert desks.backups == [backup]
    assert backup.stat().st_mtime_ns == made, "not even over itself"
    desks.check_kept()
    assert told(desks.desk, desks.run) == DROPPED
    assert DELETED in desks.start("user", THREAD)


def test_s4_5_after_a_no_the_database_stays_and_the_user_reads_why(desks: Desks) -> None:
    desks.start("user", THREAD, DELETE)
    desks.desk.reject(desks.run.state.pending[0], "Not in December")

    assert "Not deleted: Not in December" in desks.start("user", THREAD)
    assert not desks.deleted()
    assert "step.begun 2.1.2.3 drop" not in told(desks.desk, desks.run)
    desks.check_kept()


@pytest.mark.parametrize("name", ["../sayso", "nothing", "customers.db", "/etc/passwd", "."])
def test_s4_5_a_name_that_is_none_of_ours_is_refused_before_anybody_is_asked(
    desks: Desks, name: str
) -> None:
    desks.start("user", THREAD, f"Please delete the database {name}")

    assert desks.run.status == "done"
    assert "There is no database" in str(desks.run.output)
    assert (desks.run.asks, desks.backups, desks.deleted()) == ([], [], False)
    assert [m.failed for m in transcript(desks.run) if m.role == "tool"] == [True]


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("tests.journeys.staff") as door:
        yield door


def live_through(door: Door, desks: Desks, visit: str, dies: Death | None) -> int:
    """Let the programs of the deletion come by; the first of those that `visit` may die."""
    died, left = 0, {visit: dies}
    for _ in range(20):
        found = desks.desk.runs(thread=THREAD, limit=1)
        if found and found[0].status == "running":  # by somebody who is dead
            place_at(desks.url).lapse(found[0].id)
        if not found:
            do: tuple[str, ...] = ("ask", DELETE)
        elif found[0].status in ("done", "failed", "cancelled", "parked"):
            return died
        else:
            do = ("decide",) if found[0].status == "waiting" else ("go on",)
        came = door.visit(desks.url, desks.folder, *do, dies=left.pop(do[0], None))
        died += came.killed
    raise AssertionError(f"it never came to an end: {desks.run.state}")


def check_once(desks: Desks) -> None:
    """Check what must hold whoever died, and where: one backup, one drop, nothing lost."""
    assert (desks.run.status, desks.run.output) == ("done", DELETED), desks.run.error
    assert desks.deleted()
    desks.check_kept()
    assert noted(desks.folder, "drop") == ["done"]
    assert desks.desk.verify()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "stride", [pytest.param(8, id="some"), pytest.param(1, id="every", marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("visit", ["ask", "go on"])
def test_a_death_at_any_statement_leaves_one_backup_and_at_most_one_drop(
    door: Door, data: Path, tmp_path: Path, visit: str, stride: int
) -> None:
    deaths = 0
    for number in range(1, 200, stride):
        folder = tmp_path / str(number)
        shutil.copytree(data, folder / "data")
        with Desk(f"sqlite:///{folder}/desk.db", account="sam@till") as desk:
            desks = Desks(desk, desk.url, folder)
            died = live_through(door, desks, visit, (number, "after"))
            check_once(desks)
        if not died:
            break
        deaths += 1
    assert deaths >= 2, "the deaths do not hit"
