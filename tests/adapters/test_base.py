"""What adapters stand on."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from sayso import Desk, Running
from sayso.adapters.base import (
    UntestedHost,
    acting_as,
    check_host,
    distinct,
    foreign,
)
from sayso.errors import BadValue
from tests.runs.people import ask_of, begun

SCHEMA = {
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer", "maximum": 100}},
    "required": ["to"],
    "additionalProperties": False,
}


def test_an_option_that_no_gate_has_is_refused() -> None:
    with pytest.raises(BadValue, match="colour"):
        foreign("pay", print, SCHEMA, colour="red")


def test_every_call_of_a_turn_has_an_id_of_its_own() -> None:
    assert distinct(["a", "", None, "a", "a+", "b"]) == ["a", "call-2", "call-3", "a+", "a++", "b"]
    assert distinct([]) == []


def test_a_host_that_is_too_old_is_warned_about() -> None:
    with pytest.warns(UntestedHost, match="the oldest version that this adapter was tried with"):
        check_host("pytest", "99.0")


@pytest.mark.parametrize("version", ["7", "7.1", "7.1.3"])
def test_a_version_that_a_test_fails_with_is_warned_about_with_what_fails(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "7.1.3")
    with pytest.warns(UntestedHost, match=r"host 7\.1\.3 .*: edits are lost"):
        check_host("host", "1.0", {version: "edits are lost"})


@pytest.mark.parametrize("found", ["1.0", "7.1.4", "7.10", "71.3", "99.9.dev0"])
def test_any_other_is_not_however_new(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_host("host", "1.0", {"7.1.3": "edits are lost"}) == found


def test_an_agent_is_named_and_so_is_whom_it_works_for(desk: Desk):
    def flow(run: Running) -> Any:
        with acting_as(run, "chief"), run.seats().at("helper", agent="helper"):
            return run.question("Who asks?")

    run = begun(desk, flow)
    content = ask_of(run).content
    assert (content.agent, content.chain) == ("helper", "chief > helper")
