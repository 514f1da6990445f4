"""What crosses the network is read as it was written."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sayso.errors
from sayso.errors import (
    AskClosed,
    BadValue,
    Denied,
    InvalidEdit,
    RunOver,
    SaysoError,
    TooManyAsks,
    UnknownAsk,
    VerdictNotAllowed,
)
from sayso.model import wire
from sayso.model.actor import CLOCK, Actor, Origin
from sayso.model.ask import Ask, Decision, Effect, Harm, Vote
from sayso.model.call import Call
from sayso.model.content import Content, Option, Proposal
from sayso.model.digest import written
from sayso.model.event import Event, moment
from sayso.model.requirement import Factor, Requirement
from sayso.model.stake import Stake

words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
maybe = st.none() | words
names = st.from_regex(r"[a-z][a-z0-9-]{0,10}", fullmatch=True)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=3,
)
objects = st.dictionaries(words, values, max_size=3)
texts = st.none() | values.filter(lambda value: value is not None).map(written)
named = st.none() | st.lists(st.tuples(words, values), max_size=3).map(written)
moments = st.integers(0, 4 * 10**15).map(moment)
flags = st.booleans()
counts = st.integers(0, 10**6)
raw = st.binary(min_size=32, max_size=32)
verdicts = st.sampled_from(["approve", "edit", "reject", "respond"])
people = st.builds(Actor, st.just("person"), names) | st.just(CLOCK)
origins = st.builds(Origin, words, words, maybe)
spoken = {
    "by": people,
    "verdict": verdicts,
    "version": counts,
    "at": moments,
    "origin": origins,
    "answer": values,
    "note": maybe,
    "kind": st.none() | st.sampled_from(["harmful", "taste", "not-now"]),
    "end": flags,
    "harmful": st.sampled_from([None, True, False]),
}
votes = st.lists(st.builds(Vote, **spoken, seen=words), max_size=2).map(tuple)
decisions = st.none() | st.builds(
    Decision,
    **spoken,
    digest=words,
    arguments=st.none() | objects.map(written),
    grant=maybe,
    votes=votes,
)
contents = st.builds(
    Content,
    kind=st.sampled_from(["action", "plan", "draft", "question", "choice", "notice", "doubt"]),
    title=words,
    agent=words,
    proposal=st.builds(
        Proposal, maybe, objects.map(written), st.none() | objects.filter(bool).map(written)
    ),
    allow=st.lists(verdicts, unique=True).map(tuple),
    needs=st.builds(
        Requirement,
        st.lists(st.builds(Factor, st.integers(1, 9), names), min_size=1, max_size=2).map(tuple),
        st.integers(1, 3),
    ),
    sentence=words,
    why=maybe,
    confidence=st.none() | st.floats(0, 1),
    risk=st.sampled_from([None, "low", "critical"]),
    reversible=st.sampled_from([None, True, False]),
    affects=maybe,
    impact=maybe,
    preview=named,
    facts=named,
    options=st.lists(st.builds(Option, words, values, maybe), max_size=2).map(tuple),
    answer=texts,
    returns=texts,
    hidden=st.lists(words, max_size=2).map(tuple),
    due_at=st.none() | moments,
    about=maybe,
    run=maybe,
    thread=maybe,
    chain=maybe,
    ruling=texts,
    tags=st.lists(words, max_size=2).map(tuple),
    conflicts=st.lists(words, max_size=2).map(tuple),
    unseen=texts,
    worth=texts,
    stakes=texts,
    requester=maybe,
    owner=maybe,
    team=st.none() | names,
    optional=st.sampled_from([None, True]),
)
asks = st.builds(
    Ask,
    id=names,
    stream=names,
    status=st.sampled_from(["open", "settling", "decided", "withdrawn"]),
    version=counts,
    digest=words,
    content=contents,
    opened_at=moments,
    seq=counts,
    head=raw,
    changed_at=st.none() | moments,
    closed_at=st.none() | moments,
    votes=votes,
    decision=decisions,
    effect=st.none()
    | st.builds(
        Effect,
        status=st.sampled_from(["intended", "done", "failed", "unknown"]),
        key=words,
        attempt=counts,
        begun_at=moments,
        ended_at=st.none() | moments,
        result=values,
        error=maybe,
        doubt=maybe,
        late=st.lists(values, max_size=2).map(tuple),
    ),
    pending=decisions,
    settles_at=st.none() | moments,
    reminded=counts,
    climbed=counts,
    stand_ins=st.lists(names, max_size=2).map(tuple),
    assignee=maybe,
    repeats=counts,
    contested=flags,
    key=maybe,
    held=flags,
    gone=flags,
    solo=flags,
    original=st.none() | objects,
    evidence=st.lists(objects, max_size=2).map(tuple),
    stake=st.none()
    | st.builds(
        Stake,
        key=names,
        version=words,
        bucket=words,
        tier=st.sampled_from(["", "low", "high"]),
        detection=st.none() | st.floats(0.1, 1),
        settles=st.sampled_from([None, "grant", "flag"]),
    ),
    harm=st.none() | st.builds(Harm, words, people),
)
events = st.builds(
    Event,
    stream=names,
    seq=counts,
    kind=names,
    micros=st.integers(0, 4 * 10**15),
    who=people.map(str),
    text=st.none() | objects.map(written),
    salt=st.none() | st.binary(min_size=16, max_size=16),
    digest=raw,
    hash=raw,
    previous=st.none(),  # of an event that was read; only those cross the wire
    cursor=maybe,
)


# An ask has many fields, each with values of its own: it takes a while to think one up.
rarely = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def over_the_wire(data: Any) -> Any:
    return json.loads(json.dumps(data, ensure_ascii=False, allow_nan=False).encode())


@rarely
@given(asks)
def test_an_ask_is_read_as_it_was_written(ask: Ask) -> None:
    assert wire.read_ask(over_the_wire(wire.write_ask(ask))) == ask


@rarely
@given(asks)
def test_what_a_newer_server_adds_is_passed_over(ask: Ask) -> None:
    data = over_the_wire(wire.write_ask(ask))
    data["mood"] = data["content"]["mood"] = "sunny"
    for part in (data["decision"], data["pending"], data["effect"], *data["votes"]):
        if part is not None:
            part["mood"] = "sunny"
    assert wire.read_ask(data) == ask


@rarely
@given(asks, objects, counts)
def test_a_call_is_read_as_it_was_written(ask: Ask, args: dict[str, Any], attempt: int) -> None:
    call = Call(ask, "refund", args, "key", attempt, "holder")
    assert wire.read_call(over_the_wire(wire.write_call(call))) == call


@rarely
@given(events)
def test_an_event_is_read_as_it_was_written(event: Event) -> None:
    assert wire.read_event(over_the_wire(wire.write_event(event))) == event


@rarely
@given(st.lists(asks, max_size=2), counts, maybe)
def test_a_page_is_read_as_it_was_written(found: list[Ask], count: int, cursor: str | None) -> None:
    page = wire.Page(tuple(found), count, cursor, ("one is damaged",))
    assert wire.read_page(over_the_wire(wire.write_page(page, "1"))) == page


ASK = Ask(
    id="a-1",
    stream="a-1",
    status="decided",
    version=1,
    digest="d" * 64,
    content=Content(
        kind="action", title="Refund", agent="shop", proposal=Proposal.of("refund", {}), allow=()
    ),
    opened_at=datetime(2026, 1, 1, tzinfo=UTC),
    seq=2,
    head=bytes(32),
    decision=Decision(
        verdict="reject",
        by=Actor("person", "anna"),
        at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=1),
        origin=Origin("http", "anna, password", "abc"),
        digest="d" * 64,
        version=1,
        note="not now",
    ),
)


@pytest.mark.parametrize(
    "error",
    [
        AskClosed(ASK, attempted="approve"),
        BadValue("No.", path="args.x"),
        Denied("refund", "never", ("no-refunds",)),
        InvalidEdit("No.", fields={"amount": "is text"}),
        RunOver("r-1", "done", "cancel"),
        TooManyAsks("shop", "asks too much", 12.0),
        UnknownAsk("a-2"),
        VerdictNotAllowed(ASK, "edit", ("approve", "reject")),
    ],
    ids=lambda error: error.code,
)
def test_an_error_arrives_as_what_it_was(error: SaysoError) -> None:
    arrived = wire.read_error(over_the_wire(wire.write_error(error, 409)))

    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)


def test_a_problem_names_what_it_is_about() -> None:
    problem = wire.write_error(AskClosed(ASK, attempted="approve"), 409)

    assert problem["status"] == 409
    assert problem["code"] == "ask-closed"
    assert problem["type"] == "https://sayso.invalid/errors/ask-closed"
    assert problem["title"] == "The ask is closed already"
    assert problem["decision"]["by"] == "person:anna"


def test_an_error_of_this_or_of_a_newer_program_keeps_its_class_or_its_words() -> None:
    classes = [
        kind
        for kind in vars(sayso.errors).values()
        if isinstance(kind, type) and issubclass(kind, SaysoError) and kind.__name__[0] != "_"
    ]
    assert len(classes) > 40
    for kind in classes:
        assert type(wire.read_error({"code": kind.code, "detail": "so"})) is kind

    error = wire.read_error({"code": "eclipse", "detail": "The sun is gone.", "status": 409})

    assert type(error) is SaysoError
    assert str(error) == "The sun is gone."
    assert error.code == "eclipse"
