"""What adapters stand on."""

from __future__ import annotations

import importlib.metadata
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


@pytest.mark.parametrize(("oldest", "newest"), [("99.0", "99.9"), ("0.1", "0.2")])
def test_a_host_outside_the_tried_range_is_warned_about(oldest: str, newest: str) -> None:
    with pytest.warns(UntestedHost, match=f"tried with {oldest} to {newest}"):
        check_host("pytest", oldest, newest)


def test_a_host_inside_it_is_not() -> None:
    found = importlib.metadata.version("pytest")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_host("pytest", "1.0", found) == found


def test_an_agent_is_named_and_so_is_whom_it_works_for(desk: Desk):
    def flow(run: Running) -> Any:
        with acting_as(run, "chief"), run.seats().at("helper", agent="helper"):
            return run.question("Who asks?")

    run = begun(desk, flow)
    content = ask_of(run).content
    assert (content.agent, content.chain) == ("helper", "chief > helper")
