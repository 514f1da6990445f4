"""An ask as it is sent over the network: the body of `POST /asks`, and the content it makes.

A body says what is asked, in plain fields. What the policy and the desk say about it (the
sentence, the ruling, whose agent it is) cannot be said in it. Every value goes through the
checks that the verbs of a desk use.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypedDict, cast

from sayso.asks.files import File
from sayso.asks.forms import Forms, Terms, check_term, draft_proposal
from sayso.errors import BadValue
from sayso.insight.bounds import check_bound
from sayso.model.content import (
    Content,
    Option,
    Proposal,
    Risk,
    check_title,
    check_word,
    check_words,
    pairs,
)
from sayso.model.digest import canonical, read
from sayso.model.file import FileNote
from sayso.model.names import check_name
from sayso.model.requirement import ONE_REVIEWER, Requirement
from sayso.model.schema import check_schema
from sayso.model.span import span
from sayso.model.text import one_line
from sayso.model.tool import HIDDEN
from sayso.model.verdicts import Kind, Verdict, offered
from sayso.store.contract import Lease

MOST_VALUES = 5_000  # in the arguments, facts or preview of an ask: entries of objects and lists
LEAST_LEASE, MOST_LEASE = 1.0, 86_400.0


class Lent(TypedDict):
    """Who waits for the answer, and for how many seconds it may be silent before it has gone."""

    holder: str
    seconds: float


class PostedFile(TypedDict, total=False):
    """A file beside an ask, with its bytes in base64."""

    name: str
    media: str
    data: str


class Post(TypedDict, total=False):
    """The body of `POST /asks`. Of these, a call needs `tool`, and everything else a `title`."""

    kind: Kind
    tool: str
    args: dict[str, Any]
    schema: dict[str, Any]
    title: str
    why: str
    confidence: float
    risk: Risk
    reversible: bool
    affects: str
    impact: str
    preview: dict[str, Any]
    facts: dict[str, Any]
    options: list[Any]
    answer: dict[str, Any]
    returns: dict[str, Any]
    hidden: list[str]
    within: float | str
    run: str
    thread: str
    team: str
    agent: str
    requester: str
    tags: list[str]
    conflicts: list[str]
    files: list[PostedFile]
    optional: bool
    about: str
    needs: list[str]
    deny: int
    allow: list[Verdict]
    unseen: float
    version: str
    lease: Lent
    key: str


@dataclass(frozen=True, slots=True)
class Posted:
    """What a body asks for.

    `always`: it names who must agree, so people are asked in any case. `version`: of the code that
    asks, by its own word.
    """

    content: Content
    key: str | None = None
    lease: Lease | None = None
    always: bool = False
    version: str | None = None


# The terms of every ask, and what only some kinds of it take.
_TERMS = frozenset(
    {"why", "confidence", "risk", "within", "run", "thread", "team", "agent", "requester"}
    | {"tags", "conflicts", "files", "needs", "deny", "allow"}
)
_EVERY = _TERMS | {"kind", "title", "lease", "key"}
_CALL = frozenset(
    {"tool", "args", "schema", "returns", "facts", "impact", "reversible", "affects"}
    | {"preview", "hidden", "unseen", "version"}
)
SCHEMAS = frozenset(("schema", "answer", "returns"))  # fields that take a while to check
_TAKES: Mapping[Kind, frozenset[str]] = {
    "action": _CALL,
    "plan": frozenset({"args", "about"}),
    "draft": frozenset({"args", "about", "optional"}),
    "question": frozenset({"answer"}),
    "choice": frozenset({"options", "answer"}),
    "notice": frozenset({"facts"}),
    "feedback": frozenset({"facts", "about"}),
}


# --- reading -----------------------------------------------------------------------------------


def read_post(body: object, forms: Forms) -> Posted:
    """Return what a body asks for, made by the forms of the desk that was asked.

    Whether the caller may speak for its `agent`, `team` and `requester`, and see what it is
    `about`, is for the door to check.

    Raises:
        BadValue: a field is unknown, or does not belong to this kind, or makes no sense; `path`
            names it.
    """
    if not isinstance(body, Mapping):
        raise BadValue(f"The body is an object with fields, not {type(body).__name__}.")
    given = {name: value for name, value in body.items() if value is not None}
    kind = _kind(given)
    if "files" in given:
        with _at("files"):
            given["files"] = _files(given["files"])
    for name, value in given.items():
        with _at(name):
            if name in _CHECKS:
                _CHECKS[name](value)
            elif name == "allow":
                offered(kind, value)
            elif name in _TERMS:
                check_term(name, value)
    terms = cast("Terms", {name: given[name] for name in given if name in _TERMS})
    _check_refusable(given)
    content = _READ[kind](forms, given, terms).changed(posted=True)
    lease = _lease(given.get("lease"))
    return Posted(content, given.get("key"), lease, "needs" in given, given.get("version"))


def _check_refusable(given: Mapping[str, Any]) -> None:
    """Refuse an ask from elsewhere that takes the no away from people, or makes it harder (E23)."""
    if "reject" not in given.get("allow", ("reject",)):
        raise BadValue("allow= must offer 'reject': people can always say no.", path="allow")
    if given.get("deny", 1) != 1:
        raise BadValue("How many refusals end it, the policy says: leave deny= out.", path="deny")


def _kind(given: Mapping[str, Any]) -> Kind:
    named = given.get("kind", "action")
    kind = next((known for known in _TAKES if known == named), None)
    if kind is None:
        raise BadValue(f"kind={named!r}: it is one of {', '.join(_TAKES)}.", path="kind")
    for name in given:
        if name not in Post.__annotations__:
            raise BadValue(f"An ask has no field {one_line(str(name), 60)!r}.", path=str(name))
        if name not in _EVERY and name not in _TAKES[kind]:
            raise BadValue(f"An ask of kind {kind!r} takes no {name!r}.", path=name)
    return kind


@contextmanager
def _at(name: str) -> Iterator[None]:
    """Say in which field something is wrong."""
    try:
        yield
    except BadValue as error:
        if error.path != name:
            error.path = f"{name}.{error.path}" if error.path else name
        raise


def _action(forms: Forms, given: Mapping[str, Any], terms: Terms) -> Content:
    if "tool" not in given:
        for name in sorted(_CALL - {"facts"}):
            if name in given:
                raise BadValue(f"{name}= says something about a call: name its tool.", path=name)
        return forms.confirm(_title(given), given.get("facts"), **terms).content
    shown = ("title", "schema", "returns", "facts", "impact", "reversible", "affects")
    said: Any = {name: given[name] for name in shown if name in given}
    args, hidden = given.get("args", {}), tuple(given.get("hidden", ()))
    if hidden:
        args, said = _without_values(args, said, hidden)
    with _at("args"):
        content = forms.action(given["tool"], args, **said, **terms)
    more: dict[str, Any] = {"hidden": hidden}
    if "preview" in given:
        more["preview"] = pairs(given["preview"], "preview")
    if "unseen" in given:  # the desk looks for cases itself: nobody else can say what they are
        more["unseen"] = forms.unseen(content.proposal, float(given["unseen"]), content.team)
    return content.changed(**more, stakes=_stakes(given))


def _without_values(
    args: Mapping[str, Any], said: Mapping[str, Any], hidden: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a call whose hidden arguments stand there without their values, and its schema.

    Their values stay with whoever calls. One that is sent is for people to see (E39).
    """
    with _at("hidden"):
        for name in hidden:
            if name in args:
                raise BadValue(
                    f"The value of {one_line(name, 60)!r} is among the arguments, so people see it. "
                    "Leave the value out to keep it, or leave the name out of hidden=."
                )
    held = dict.fromkeys(hidden, HIDDEN)
    if "schema" not in said:
        return {**args, **held}, dict(said)
    schema = dict(said["schema"])
    shapes = schema.get("properties", {})
    schema["properties"] = {**shapes, **{name: {"const": HIDDEN} for name in hidden}}
    return {**args, **held}, {**said, "schema": schema}


def _stakes(given: Mapping[str, Any]) -> str | None:
    """Return what a body may say for the sake of trust: which code asks. Unstated, it earns nothing.

    The kind of call and what matters in it are for the desk's own tools and policy to say. An agent that
    sorts its own calls would put what it wants to do into the kind that has the grant.
    """
    return canonical({"version": given["version"]}) if "version" in given else None


def _question(forms: Forms, given: Mapping[str, Any], terms: Terms) -> Content:
    return forms.question(_title(given), given.get("answer", str), **terms).content


def _choice(forms: Forms, given: Mapping[str, Any], terms: Terms) -> Content:
    with _at("options"):
        options = [_option(item) for item in given.get("options", ())]
        return forms.choose(_title(given), options, given.get("answer"), **terms).content


def _draft(forms: Forms, given: Mapping[str, Any], terms: Terms) -> Content:
    text: Any = _only(given, "text")
    # Whoever names the verdicts says by that whether it can be written again.
    maker = text if "allow" not in given else lambda _guidance: text
    with _at("args"):
        draft_proposal(text)
        form = forms.draft(
            maker, title=given.get("title", "Draft"), optional="optional" in given, **terms
        )
    return form.content.changed(about=given.get("about"))


def _plan(forms: Forms, given: Mapping[str, Any], terms: Terms) -> Content:
    steps: Any = _only(given, "steps")
    maker = steps if "allow" not in given else lambda _guidance: steps
    with _at("args"):
        form = forms.plan(maker, title=given.get("title", "Plan"), **terms)
    return form.content.changed(about=given.get("about"))


def _notice(forms: Forms, given: Mapping[str, Any], terms: Terms) -> Content:
    return forms.notice(_title(given), given.get("facts"), **terms).content


def _feedback(forms: Forms, given: Mapping[str, Any], terms: Terms) -> Content:
    facts = dict(given.get("facts", {}))
    if "result" not in facts or facts.keys() - {"task", "result"}:
        raise BadValue("facts= holds the result to rate, and perhaps the task.", path="facts")
    title = given.get("title", "How good is this?")
    with _at("facts"):
        form = forms.feedback(
            facts["result"], task=facts.get("task"), title=title, of=given.get("about"), **terms
        )
    return form.content


_READ: Mapping[Kind, Callable[[Forms, Mapping[str, Any], Terms], Content]] = {
    "action": _action,
    "plan": _plan,
    "draft": _draft,
    "question": _question,
    "choice": _choice,
    "notice": _notice,
    "feedback": _feedback,
}


def _title(given: Mapping[str, Any]) -> str:
    with _at("title"):
        return check_title(given.get("title", ""), "The title")


def _only(given: Mapping[str, Any], name: str) -> object:
    args = given.get("args", {})
    if set(args) != {name}:
        raise BadValue(f"args= holds {name!r} and nothing else.", path="args")
    return args[name]


def _option(item: object) -> Option:
    if not isinstance(item, Mapping):
        return Option.of(item)
    if "label" not in item or item.keys() - {"label", "value", "detail"}:
        raise BadValue("An option is a text, or has a label and perhaps a value and a detail.")
    return Option(item["label"], item.get("value"), check_words(item.get("detail"), "detail"))


def _files(items: object) -> list[File]:
    _check_list(items)
    return [_file(item) for item in cast("list[object]", items)]


def _file(item: object) -> File:
    if not isinstance(item, Mapping) or item.keys() - {"name", "media", "data"}:
        raise BadValue("A file has a name, its data in base64, and perhaps a media type.")
    data = item.get("data")
    if not isinstance(data, str):
        raise BadValue("The data of a file is text: its bytes in base64.")
    try:
        return File(item.get("name", ""), b64decode(data, validate=True), item.get("media"))
    except ValueError as error:
        raise BadValue(f"The data of a file is its bytes in base64: {error}.") from error


def _lease(lent: Mapping[str, Any] | None) -> Lease | None:
    return None if lent is None else Lease(lent["holder"], timedelta(seconds=lent["seconds"]))


# --- the checks of single fields, so that an error names the field -------------------------------


def _check_lease(value: object) -> None:
    if not isinstance(value, Mapping) or set(value) != {"holder", "seconds"}:
        raise BadValue("lease= has a holder, and the seconds it may be silent.")
    check_word(value["holder"], "holder")
    check_seconds(value["seconds"])


def check_seconds(value: object) -> float:
    """Return for how long whoever carries out, or waits, may be silent.

    Raises:
        BadValue: it is no number of seconds from one to a day.
    """
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not LEAST_LEASE <= value <= MOST_LEASE:  # type: ignore[operator]
        raise BadValue(
            f"seconds={value!r}: give a number from {LEAST_LEASE:g} to {MOST_LEASE:g}.",
            path="seconds",
        )
    return float(value)  # type: ignore[arg-type]


def _check_object(value: object) -> None:
    if not isinstance(value, Mapping):
        raise BadValue(f"It is an object with names and values, not {type(value).__name__}.")


def _check_values(value: object) -> None:
    _check_object(value)
    _check_few(value)


def _check_options(value: object) -> None:
    _check_list(value)
    _check_few(value)


def _check_few(value: object) -> None:
    """Refuse more than anybody looks through: a page draws it each time somebody opens it (E46)."""
    count, level = 0, [value]
    while level:
        count += sum(len(cast("list[object]", node)) for node in level)
        if count > MOST_VALUES:
            raise BadValue(
                f"It holds more than {MOST_VALUES:,} values, which nobody can look through. Store the "
                "data elsewhere, and pass a reference and its digest."
            )
        level = [inner for node in level for inner in _inside(node) if _holds(inner)]


def _inside(node: object) -> Iterable[object]:
    return node.values() if isinstance(node, dict) else cast("list[object]", node)


def _holds(value: object) -> bool:
    return isinstance(value, dict | list | tuple)


def _check_schema(value: object) -> None:
    _check_object(value)
    check_schema(cast("dict[str, Any]", value))


def _check_yes_or_no(value: object) -> None:
    if not isinstance(value, bool):
        raise BadValue(f"{value!r}: it is true or false, or left out.")


def _check_true(value: object) -> None:
    if value is not True:
        raise BadValue("optional= is true, or left out.")


def _check_list(value: object) -> None:
    if not isinstance(value, list | tuple):
        raise BadValue(f"It is a list, not {type(value).__name__}.")


def _check_names(value: object) -> None:
    _check_list(value)
    for name in cast("list[object]", value):
        check_word(name, "hidden")


_CHECKS: Mapping[str, Callable[[Any], object]] = {
    "tool": lambda value: check_name("tool", value),
    "args": _check_values,
    "schema": _check_schema,
    "title": lambda value: check_title(value, "The title"),
    "reversible": _check_yes_or_no,
    "affects": lambda value: check_words(value, "affects"),
    "impact": lambda value: check_words(value, "impact"),
    "preview": _check_values,
    "facts": _check_values,
    "options": _check_options,
    "answer": _check_schema,
    "returns": _check_schema,
    "hidden": _check_names,
    "within": span,
    "optional": _check_true,
    "about": lambda value: check_word(value, "about"),
    "needs": Requirement.parse,
    "deny": lambda value: Requirement.parse(None, deny=value),
    "unseen": lambda value: check_bound(value, "unseen"),
    "version": lambda value: check_word(value, "version"),
    "lease": _check_lease,
    "key": lambda value: check_word(value, "key"),
}


# --- writing -----------------------------------------------------------------------------------

# Fields of content that go into a body as they are, or as the JSON they hold.
_AS_IS = (
    *("title", "why", "confidence", "risk", "reversible", "affects", "impact", "run", "thread"),
    *("team", "agent", "requester", "optional", "about"),
)
_AS_JSON = ("answer", "returns")
_AS_PAIRS = ("facts", "preview")
_AS_LIST = ("hidden", "tags", "conflicts", "allow")


def write_post(
    content: Content,
    *,
    now: datetime,
    key: str | None = None,
    lease: Lease | None = None,
    always: bool = False,
) -> Post:
    """Return the body that asks for this content, of which nobody but the desk says the rest.

    The deadline travels as the time that is left: clocks differ. With `always`, people are
    asked whatever the policy allows.
    """
    said = content.__dict__
    body: dict[str, Any] = {"kind": content.kind, **_proposed(content.kind, content.proposal)}
    body |= {name: said[name] for name in _AS_IS if said.get(name) is not None}
    body |= {name: read(said[name]) for name in _AS_JSON if said[name] is not None}
    body |= {name: dict(read(said[name])) for name in _AS_PAIRS if said[name] is not None}
    body |= {name: list(said[name]) for name in _AS_LIST if said[name]}
    if content.hidden:  # their values stay here
        body["args"] = {n: v for n, v in body["args"].items() if n not in content.hidden}
    if content.options:
        body["options"] = [
            {"label": o.label, "value": o.value, "detail": o.detail} for o in content.options
        ]
    if content.files:
        body["files"] = [_posted(note) for note in content.files]
    if always or content.needs != ONE_REVIEWER:
        body |= {"needs": [str(f) for f in content.needs.factors], "deny": content.needs.deny}
    if content.unseen is not None:
        body["unseen"] = read(content.unseen)["bound"]
    if content.stakes is not None:
        body |= _staked(read(content.stakes))
    if content.due_at is not None:
        body["within"] = max((content.due_at - now).total_seconds(), 0.001)
    if key is not None:
        body["key"] = key
    if lease is not None and lease.span is not None:
        body["lease"] = {"holder": lease.holder, "seconds": lease.span.total_seconds()}
    return cast("Post", body)


def _staked(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is sent of what a tool says for the sake of trust.

    A server takes nobody's word on the kind of a call. Where the tool sorts its calls, what one kind
    has earned would count for all, so nothing is.
    """
    if said.get("bucket") or "version" not in said:
        return {}
    return {"version": said["version"]}


def _posted(note: FileNote) -> PostedFile:
    media = note.claimed or note.media
    return {"name": note.name, "media": media, "data": b64encode(note.data or b"").decode()}


def _proposed(kind: Kind, proposal: Proposal) -> dict[str, Any]:
    if kind in ("draft", "plan"):
        return {"args": proposal.args}
    if proposal.tool is None:
        return {}
    call = {"tool": proposal.tool, "args": proposal.args}
    return call if proposal.shape is None else call | {"schema": proposal.schema}
