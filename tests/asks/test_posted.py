"""An ask that comes as JSON makes the content that a verb on the desk makes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sayso import Option
from sayso.asks.carrying import gated
from sayso.asks.forms import Forms
from sayso.asks.posted import MOST_VALUES, Post, read_post, write_post
from sayso.errors import BadValue
from sayso.model.content import Content
from sayso.model.verdicts import KINDS
from sayso.store.contract import Lease

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FORMS = Forms("shop", lambda: NOW)


def refund(order: int, amount: float, card: str, note: str = "") -> str:
    return f"{order} {amount} {card} {note}"


GATE = gated(
    refund,
    risk="high",
    secret=["card"],
    impact="Money leaves.",
    preview=lambda amount, **_: {"z": amount, "a": 1},
    reversible=False,
    affects="customers",
    unseen=0.5,
    needs=["1 senior", "1 reviewer"],
    within="2h",
    why="Charged twice",
    confidence=0.5,
    tags=["money"],
    conflicts=["The order is closed."],
    requester="anna",
    thread="sale",
    run="mine",
)
STEPS: list[Any] = ["look", {"title": "write", "tool": "send"}]
CONTENTS = {
    "call": FORMS.action(
        "refund", {"order": 7}, facts={"z": 1, "a": [None]}, title="Refund 7", version="2"
    ),
    "gate": GATE.content(FORMS, GATE.tool.bind((7, 0.1, "4111"), {})),
    "confirm": FORMS.confirm("Go on?", {"b": 1, "a": 2}, risk="low").content,
    "question": FORMS.question("How much?", int).content,
    "schema": FORMS.question("Which?", {"enum": ["a", "b"]}, allow=["respond", "reject"]).content,
    "choice": FORMS.choose("Which?", ["a", 2, Option("c", {"x": 1}, "the third")]).content,
    "own": FORMS.choose("Which?", ["a"], True).content,
    "draft": FORMS.draft("Dear all").content,
    "draft with a maker": FORMS.draft(lambda _: "Dear all", title="Mail").content,
    "draft again": FORMS.draft(lambda _: "Dear").content.changed(about="a-1"),
    "optional draft": FORMS.draft("Dear all", optional=True).content,
    "plan": FORMS.plan(STEPS).content,
    "plan with a maker": FORMS.plan(lambda _: STEPS).content,
    "notice": FORMS.notice("Look", {"a": 1}).content,
    "feedback": FORMS.feedback({"x": 1}, task="sum up", within=60).content,
}


def sent(content: Content, **more: Any) -> Any:
    return json.loads(json.dumps(write_post(content, now=NOW, **more)))


@pytest.mark.parametrize("content", CONTENTS.values(), ids=list(CONTENTS))
def test_what_is_posted_is_what_the_verb_would_have_asked(content: Content) -> None:
    """Only whose word it is differs."""
    assert read_post(sent(content), FORMS).content == content.changed(posted=True)


def test_there_is_a_body_for_every_kind_but_doubts() -> None:
    assert {content.kind for content in CONTENTS.values()} == {*KINDS} - {"doubt"}
    with pytest.raises(BadValue) as caught:
        read_post({"kind": "doubt", "title": "Did it happen?"}, FORMS)
    assert caught.value.path == "kind"


def test_the_key_and_who_waits_come_along() -> None:
    body = sent(CONTENTS["call"], key="k-1", lease=Lease("holder", timedelta(seconds=30)))
    posted = read_post(body, FORMS)

    assert posted.key == "k-1"
    assert posted.lease == Lease("holder", timedelta(seconds=30))


def test_only_whoever_names_people_asks_them_in_any_case() -> None:
    assert not read_post(sent(CONTENTS["call"]), FORMS).always
    assert read_post(sent(CONTENTS["call"], always=True), FORMS).always
    assert read_post(sent(CONTENTS["gate"]), FORMS).always


@pytest.mark.parametrize(
    "name", ["sentence", "ruling", "owner", "chain", "due_at", "proposal", "stakes", "id", ""]
)
def test_what_the_desk_says_cannot_be_posted(name: str) -> None:
    with pytest.raises(BadValue) as caught:
        read_post({"tool": "refund", name: "mine"}, FORMS)
    assert caught.value.path == name


def test_the_cases_like_a_call_are_the_desks_own() -> None:
    posted = read_post({"tool": "refund", "unseen": 0.25}, FORMS)
    assert json.loads(posted.content.unseen or "{}") == {
        "bound": 0.25,
        "of": 0,
        "unseen": True,
        "nearest": [],
    }


NAN = float("nan")
DEEP: Any = None
for _ in range(200):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], ""),
        ("refund", ""),
        ({}, "title"),
        ({"kind": ["action"]}, "kind"),
        ({"kind": "action", "title": " "}, "title"),
        ({"title": 7}, "title"),
        ({"tool": ""}, "tool"),
        ({"tool": {}}, "tool"),
        ({"tool": "t", "args": []}, "args"),
        ({"tool": "t", "args": {"x": NAN}}, "args.x"),
        ({"tool": "t", "args": {"x": "\ud800"}}, "args.x"),
        ({"tool": "t", "args": {"x": DEEP}}, "args.x" + "[0]" * 63),
        ({"tool": "t", "args": {"x": "a" * 2**20}}, "args"),
        ({"tool": "t", "args": {"x": 1}, "schema": {"properties": {"x": {"type": "string"}}}}, "args.x"),
        ({"tool": "t", "schema": {"type": "nonsense"}}, "schema.type"),
        ({"tool": "t", "schema": "string"}, "schema"),
        ({"tool": "t", "returns": {"$ref": "http://127.0.0.1/"}}, "returns"),
        ({"tool": "t", "why": 1}, "why"),
        ({"tool": "t", "confidence": 2}, "confidence"),
        ({"tool": "t", "confidence": "high"}, "confidence"),
        ({"tool": "t", "risk": "none"}, "risk"),
        ({"tool": "t", "risk": {}}, "risk"),
        ({"tool": "t", "reversible": "yes"}, "reversible"),
        ({"tool": "t", "affects": []}, "affects"),
        ({"tool": "t", "impact": {}}, "impact"),
        ({"tool": "t", "preview": "x"}, "preview"),
        ({"tool": "t", "facts": [1]}, "facts"),
        ({"tool": "t", "options": ["a"]}, "options"),
        ({"tool": "t", "hidden": [1]}, "hidden"),
        ({"tool": "t", "hidden": "card"}, "hidden"),
        ({"tool": "t", "within": 0}, "within"),
        ({"tool": "t", "within": "soon"}, "within"),
        ({"tool": "t", "within": {}}, "within"),
        ({"tool": "t", "run": "a\nb"}, "run"),
        ({"tool": "t", "thread": ""}, "thread"),
        ({"tool": "t", "agent": 1}, "agent"),
        ({"tool": "t", "requester": "x" * 201}, "requester"),
        ({"tool": "t", "tags": "money"}, "tags"),
        ({"tool": "t", "tags": [1]}, "tags"),
        ({"tool": "t", "conflicts": ["x"] * 21}, "conflicts"),
        ({"tool": "t", "optional": True}, "optional"),
        ({"tool": "t", "needs": []}, "needs"),
        ({"tool": "t", "needs": [1]}, "needs"),
        ({"tool": "t", "needs": 7}, "needs"),
        ({"tool": "t", "deny": 0}, "deny"),
        ({"tool": "t", "deny": True}, "deny"),
        ({"tool": "t", "deny": 2}, "deny"),
        ({"tool": "t", "allow": ["approve"]}, "allow"),
        ({"tool": "t", "allow": "approve"}, "allow"),
        ({"tool": "t", "needs": ["1 senior"] * 21}, "needs"),
        ({"tool": "t", "needs": ["60 senior", "60 junior"]}, "needs"),
        ({"tool": "t", "allow": ["shrug"]}, "allow"),
        ({"tool": "t", "allow": [["approve"]]}, "allow"),
        ({"tool": "t", "unseen": {"unseen": False}}, "unseen"),
        ({"tool": "t", "unseen": True}, "unseen"),
        ({"tool": "t", "lease": 30}, "lease"),
        ({"tool": "t", "lease": {"holder": "h"}}, "lease"),
        ({"tool": "t", "lease": {"holder": "h", "seconds": 1e9}}, "lease.seconds"),
        ({"tool": "t", "lease": {"holder": "", "seconds": 30}}, "lease"),
        ({"tool": "t", "key": ""}, "key"),
        ({"tool": "t", "key": 7}, "key"),
        ({"title": "Go on?", "args": {"x": 1}}, "args"),
        ({"title": "Go on?", "hidden": ["x"]}, "hidden"),
        ({"kind": "question", "title": "?", "answer": "str"}, "answer"),
        ({"kind": "question", "title": "?", "args": {}}, "args"),
        ({"kind": "choice", "title": "?"}, "options"),
        ({"kind": "choice", "title": "?", "options": "ab"}, "options"),
        ({"kind": "choice", "title": "?", "options": [{"value": 1}]}, "options"),
        ({"kind": "choice", "title": "?", "options": [{"label": 1}]}, "options"),
        ({"kind": "choice", "title": "?", "options": ["a", "a"]}, "options"),
        ({"kind": "draft", "args": {"text": ""}}, "args.text"),
        ({"kind": "draft", "args": {"text": "x", "more": 1}}, "args"),
        ({"kind": "draft", "args": {"text": 1}}, "args.text"),
        ({"kind": "plan", "args": {"steps": "look"}}, "args"),
        ({"kind": "plan", "args": {"steps": [1]}}, "args.steps[0]"),
        ({"kind": "plan"}, "args"),
        ({"kind": "feedback", "facts": {}}, "facts"),
        ({"kind": "notice", "title": "x", "about": "a-1"}, "about"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_its_place(body: Any, path: str) -> None:
    with pytest.raises(BadValue) as caught:
        read_post(body, FORMS)
    assert caught.value.path == path


def test_every_field_is_known_to_some_kind() -> None:
    taken: set[str] = set()
    for content in CONTENTS.values():
        taken |= sent(content, key="k", lease=Lease("h", timedelta(seconds=30))).keys()
    assert taken | {"team", "files"} == {*Post.__annotations__}


def _nest(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels):
        inner = {"a": inner}
    return inner


@pytest.mark.parametrize("field", ["args", "facts", "preview"])
@pytest.mark.parametrize(
    "values",
    [
        {f"f{n}": n for n in range(60_000)},
        {"rows": [{"order": n, "amount": n, "why": ""} for n in range(MOST_VALUES // 4 + 1)]},
        {"deep": [[[n] for n in range(MOST_VALUES // 2 + 1)]]},
    ],
    ids=["names", "rows", "lists"],
)
def test_more_values_than_people_look_through_are_refused_e46(
    field: str, values: dict[str, Any]
) -> None:
    """60,000 arguments took 5 s to draw, each time that somebody opened the page."""
    body = {"tool": "refund", "args": {}, field: values}
    with pytest.raises(BadValue, match=r"more than 5,000 values, .* pass a reference") as refused:
        read_post(body, FORMS)
    assert refused.value.path == field


def test_options_that_hold_more_than_people_look_through_are_refused_e46() -> None:
    values = {f"f{n}": n for n in range(200)}
    options = [{"label": f"Option {n}", "value": values} for n in range(30)]
    with pytest.raises(BadValue, match="more than 5,000 values"):
        read_post({"kind": "choice", "title": "Which?", "options": options}, FORMS)


def test_as_many_values_as_may_be_sent_are_taken_e46() -> None:
    args = {"ids": [*range(MOST_VALUES - 1)]}

    assert read_post({"tool": "refund", "args": args}, FORMS).content.proposal.args == args


@pytest.mark.parametrize("levels", [65, 300])
def test_arguments_that_nest_too_deep_are_refused_in_plain_words_e46(levels: int) -> None:
    with pytest.raises(BadValue, match=r"more than 64 levels deep\. Flatten it"):
        read_post({"tool": "refund", "args": _nest(levels)}, FORMS)
