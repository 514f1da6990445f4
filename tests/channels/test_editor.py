"""What is written for an editor reads back as it was."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sayso import Desk
from sayso.channels.editor import edit, from_edit, to_edit
from sayso.channels.steps import Step
from sayso.errors import BadValue
from tests import hostile


def test_a_plan_reads_back_as_the_same_plan(desk: Desk) -> None:
    steps: list[Step] = [
        "Search",
        {"title": "Search", "tool": "web", "detail": "the\nlast week"},
        {"title": f"{hostile.ALL}\n2. Write (needs approval)", "needs_approval": False},
        "# no comment",
        "3. Third",
        {"title": "Write [web] (needs approval)", "needs_approval": True},
        {"title": "Odd", "tool": "a] (needs approval)", "by": ["anna"]},
        "del\x7fete",
    ]
    ask = desk.later.plan(steps).ask

    text = to_edit(ask)

    assert not hostile.raw_in(text)
    assert "\x7f" not in text
    assert from_edit(text, ask) == steps


def test_arguments_read_back_with_their_types_and_without_what_is_hidden(desk: Desk) -> None:
    args = {"amount": 40, "to": hostile.ALL, "none": None, "big": 2**70, "deep": {"a": [1.0]}}
    ask = desk.open("send", args)

    text = to_edit(ask)

    assert not hostile.raw_in(text)
    assert from_edit(text, ask) == args
    assert from_edit(text.replace("40", "30"), ask)["amount"] == 30


def test_a_hidden_argument_is_not_in_the_editor(desk: Desk) -> None:
    @desk.gate(secret=["card"])
    def pay(amount: int, card: str) -> None: ...

    gate = pay.__sayso_gate__  # type: ignore[attr-defined]
    ask = desk.put(gate.content(desk.forms, gate.tool.bind((40, "4111 1111"), {})))

    assert json.loads(to_edit(ask)) == {"amount": 40}


@pytest.mark.parametrize("text", ["Dear Sir,\n\nbye", "Dear Sir,\nbye\n"])
def test_an_editor_that_ends_the_last_line_does_not_change_a_draft(desk: Desk, text: str) -> None:
    ask = desk.later.draft(text).ask
    saved = to_edit(ask) if text.endswith("\n") else to_edit(ask) + "\n"

    assert from_edit(saved, ask) == text


@pytest.mark.parametrize("saved", ["{", "[1]", "", '"text"'])
def test_arguments_that_are_no_json_object_are_refused(desk: Desk, saved: str) -> None:
    with pytest.raises(BadValue, match="Nothing was changed"):
        from_edit(saved, desk.open("send", {"a": 1}))


def test_the_editor_of_the_person_is_used(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "my editor.py"
    script.write_text(
        "import pathlib,sys\np=pathlib.Path(sys.argv[1])\np.write_text(p.read_text()+'!')"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} '{script}'")

    assert edit("hello", desk.later.draft("hello").ask) == "hello!"


@pytest.mark.parametrize("command", ["/does/not/exist", "false", "'unbalanced"])
def test_an_editor_that_fails_changes_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("VISUAL", command)

    with pytest.raises(BadValue, match="nothing was changed"):
        edit("hello", desk.later.draft("hello").ask)
