"""What graphs ask, and the shape in which each wants to hear the answer.

`interrupt()` takes any value. Known are Agent Inbox's requests, the same as courses
write them, and both shapes of LangChain's middleware. Everything else is a question that shows
the value as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Protocol

from pydantic_core import to_jsonable_python

from sayso import Ask, Rejected, Running, StepFailed
from sayso.adapters.base import made_plain, told
from sayso.errors import BadValue

VERDICTS = ("approve", "edit", "reject", "respond")
_ENDING = "person who ends it"
# How a graph hears a no: who says it, the words that its request must offer, the word it hears. The
# first row that fits counts; where none does, the run ends, for any other word would be taken for
# a yes or for work to do. A response is feedback on a call; where nothing can be accepted, it is
# the answer that was wanted.
_NOES: tuple[tuple[str, frozenset[str], str], ...] = (
    ("person", frozenset({"accept", "respond"}), "response"),
    ("person", frozenset({"ignore"}), "ignore"),
    (_ENDING, frozenset({"ignore"}), "ignore"),
    ("nobody", frozenset({"ignore"}), "ignore"),  # the policy, the clock, a withdrawal
    ("person", frozenset({"reject"}), "reject"),
    ("nobody", frozenset({"reject"}), "reject"),
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DEEPEST = 40
_TITLE = 200
_REFUSED = "The graph did not take the last answer: {}"
_SENTENCE = "The graph carries this call out itself, once a person has said so."
_ENDS = "It knows no word for a no, so a rejection ends the run."


class Shape(Protocol):
    """One interrupt: what is asked of people, and what the graph is told."""

    def put(self, run: Running) -> list[Any]:
        """Open what people are asked, and return it to be collected."""
        ...

    def reply(self, laters: Sequence[Any]) -> Any:  # noqa: ANN401 - what the graph expects
        """Return what the graph is resumed with, pausing the run until people have answered."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the answers beforehand: the tools' schemas, the type of a plain answer."""

    tools: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    answer: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Raised:
    """One interrupt as the checkpointer has it, in JSON."""

    id: str
    node: str
    value: Any
    schema: dict[str, Any] | None
    digest: str
    whole: bool = True  # nothing of the value was cut off


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that the graph did not take, and what it said."""

    ask: str
    because: str


def shape_of(raised: Raised, known: Known, refused: Refused | None = None) -> Shape:
    """Return the shape of an interrupt; a plain question, if none is recognised for sure."""
    for reader in (_inbox, _listed, _batched, _per_call):
        shape = reader(raised, known)
        if shape is not None and not raised.whole:
            shape = shape.unedited()
        if shape is not None:
            return shape
    return Question(raised, known.answer, refused)


# --- plain values ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """Any value: shown as it is, and answered with what its schema says, or anything."""

    raised: Raised
    answer: dict[str, Any] | None
    refused: Refused | None = None

    def put(self, run: Running) -> list[Any]:
        """Ask; if the last answer was refused, about that and with what was said to it."""
        more: dict[str, Any] = {}
        if self.refused is not None:
            more = {"about": self.refused.ask, "why": _REFUSED.format(self.refused.because)}
        return [run.later.question(self._title, self._type, self._facts, **more)]

    def reply(self, laters: Sequence[Any]) -> Any:  # noqa: ANN401 - the answer
        """Return the answer.

        Raises:
            Rejected: there is none, and a graph cannot go on without.
        """
        (later,) = laters
        answer = later.result()
        if answer is None and later.ask.decision.verdict != "respond":
            raise Rejected(later.ask)
        return answer

    @property
    def _text(self) -> str | None:
        value = self.raised.value
        return value if isinstance(value, str) and value.strip() else None

    @property
    def _title(self) -> str:
        if self._text is not None and len(self._text) <= _TITLE:
            return self._text
        value = self.raised.value
        texts = [self._text] if not isinstance(value, dict) else list(value.values())
        said = next((one for one in texts if isinstance(one, str) and one.strip()), "")
        line = " ".join(said[:_TITLE].split())
        return f"{self.raised.node} asks: {line}" if line else f"{self.raised.node} asks"

    @property
    def _facts(self) -> dict[str, Any] | None:
        value = self.raised.value
        if value == self._title:
            return None
        return value if isinstance(value, dict) and value else {"": written(value)}

    @property
    def _type(self) -> object:
        if self.raised.schema is not None:
            return self.raised.schema
        if self.answer is not None:
            return self.answer
        return str if self._text is not None else {}


# --- calls -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proposed:
    """A call that the graph carries out itself, once people have said so."""

    tool: str
    args: dict[str, Any]
    allow: tuple[str, ...]
    words: frozenset[str]
    description: str | None = None
    schema: dict[str, Any] | None = None

    def no(self, who: str) -> str | None:
        """Return the word in which the graph hears a no; `None`, if it has none."""
        rows = (word for said_by, needs, word in _NOES if said_by == who and needs <= self.words)
        return next(rows, None)

    def put(self, run: Running) -> Any:  # noqa: ANN401 - a later
        """Ask. Arguments that do not fit their schema are shown all the same."""
        given: dict[str, Any] = {
            "without": tuple(verdict for verdict in VERDICTS if verdict not in self.allow),
            "hears_end": self.no(_ENDING) is not None,
            "ignores": self.no("person") == "ignore",
            "sentence": _SENTENCE if self.no("person") else f"{_SENTENCE} {_ENDS}",
            "facts": {"": self.description} if self.description else None,
            "title": self.tool,
        }
        tool = made_plain("tool", self.tool)
        try:
            return run.later.propose(tool, self.args, schema=self.schema, **given)
        except BadValue:
            return run.later.propose(tool, self.args, **given)


No = Rejected | StepFailed


@dataclass(frozen=True, slots=True)
class Said:
    """What was said to one call: a verdict, and for a no the word in which the graph hears it."""

    verdict: str
    args: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    word: str = ""

    @classmethod
    def of(cls, call: Proposed, came: Ask | No) -> Said:
        """Read what was decided on a call.

        Raises:
            Rejected, StepFailed: it is a no, and the graph has no word for one.
        """
        if not isinstance(came, Ask):  # withdrawn, or denied by the policy
            return cls._no(call, "nobody", came, told(came))
        decision = came.decision
        if decision is not None and decision.verdict == "respond":
            return cls("respond", text=decision.text or "")
        if decision:
            return cls(decision.verdict, came.args)
        no = Rejected(came)
        if decision is None or decision.by.kind != "person":
            return cls._no(call, "nobody", no, told(no))
        return cls._no(call, _ENDING if decision.end else "person", no, decision.note or "")

    @classmethod
    def _no(cls, call: Proposed, who: str, no: No, reason: str) -> Said:
        word = call.no(who)
        if word is None:
            raise no
        return cls("reject", text=told(no) if word == "response" else reason, word=word)


def _came(later: Any) -> Ask | No:  # noqa: ANN401 - a later
    try:
        found: Ask = later.result()
    except (Rejected, StepFailed) as no:
        return no
    return found


@dataclass(frozen=True, slots=True)
class Calls:
    """One or several calls, each ruled on by itself and answered at its position."""

    calls: tuple[Proposed, ...]
    word: Callable[[Proposed, Said], dict[str, Any]]
    whole: Callable[[list[dict[str, Any]]], Any]

    def put(self, run: Running) -> list[Any]:
        """Ask about each."""
        return [call.put(run) for call in self.calls]

    def unedited(self) -> Calls | None:
        """Return it for calls that are too large to be shown: nobody edits what they do not see."""
        allowed = [tuple(word for word in one.allow if word != "edit") for one in self.calls]
        if not all(set(allow) - {"reject"} for allow in allowed):
            return None
        pairs = zip(self.calls, allowed, strict=True)
        calls = (replace(one, allow=allow, schema=None) for one, allow in pairs)
        return replace(self, calls=tuple(calls))

    def reply(self, laters: Sequence[Any]) -> Any:  # noqa: ANN401 - in the shape that was asked
        """Return what people said to each.

        Raises:
            Rejected, StepFailed: a no was said to one of them for which there is no word.
        """
        came = [_came(later) for later in laters]
        said = [Said.of(*one) for one in zip(self.calls, came, strict=True)]
        return self.whole([self.word(*one) for one in zip(self.calls, said, strict=True)])


def _call(name: object, args: object, **more: Any) -> Proposed | None:  # noqa: ANN401
    if not isinstance(name, str) or not name.strip() or not isinstance(args, dict):
        return None
    return Proposed(name, args, **more)


def _described(value: Mapping[str, Any]) -> str | None:
    text = value.get("description")
    return text if isinstance(text, str) and text.strip() else None


# --- Agent Inbox -------------------------------------------------------------------------------

_WORDS = {"accept": "approve", "edit": "edit", "respond": "respond", "ignore": "reject"}


def _inbox(raised: Raised, known: Known) -> Calls | None:
    """Read `{"action_request": ..., "config": ..., "description": ...}`, or a list of those."""
    value = raised.value if isinstance(raised.value, list) else [raised.value]
    calls = [_request(one, known) for one in value]
    if not calls or None in calls:
        return None
    return Calls(tuple(call for call in calls if call), _inbox_word, lambda said: said)


def _request(value: object, known: Known) -> Proposed | None:
    if not isinstance(value, dict):
        return None
    request, config = value.get("action_request"), value.get("config")
    if not isinstance(request, dict) or not isinstance(config, dict):
        return None
    words = frozenset(word for word in _WORDS if config.get(f"allow_{word}") is True)
    return _worded(request.get("action"), request.get("args"), words, _described(value), known)


def _worded(
    name: object, args: object, words: frozenset[str], description: str | None, known: Known
) -> Proposed | None:
    """Return a call that may be decided in these words of Agent Inbox."""
    if not words:
        return None
    allow = (*(_WORDS[word] for word in _WORDS if word in words and word != "ignore"), "reject")
    schema = known.tools.get(str(name))
    return _call(name, args, allow=allow, words=words, description=description, schema=schema)


def _inbox_word(call: Proposed, said: Said) -> dict[str, Any]:
    match said.verdict:
        case "approve":
            return {"type": "accept", "args": None}
        case "edit":
            return {"type": "edit", "args": {"action": call.tool, "args": said.args}}
        case "respond":
            return {"type": "response", "args": said.text}
        case _:
            return {"type": said.word, "args": said.text if said.word == "response" else None}


def _listed(raised: Raised, known: Known) -> Calls | None:
    """Read `{"action": ..., "config": ["accept", ...], "args": ...}`, answered by one object."""
    value = raised.value
    if not isinstance(value, dict) or not isinstance(value.get("config"), list):
        return None
    words = frozenset(word for word in _WORDS if word in value["config"])
    args = value.get("args", {})
    call = _worded(value.get("action"), args, words, _described(value), known)
    return None if call is None else Calls((call,), _listed_word, lambda said: said[0])


def _listed_word(call: Proposed, said: Said) -> dict[str, Any]:
    word = _inbox_word(call, said)
    return {**word, "args": word["args"]["args"]} if word["type"] == "edit" else word


# --- LangChain's middleware --------------------------------------------------------------------


def _batched(raised: Raised, known: Known) -> Calls | None:
    """Read a `HITLRequest`: several calls, and for each name what may be decided."""
    value = raised.value
    if not isinstance(value, dict):
        return None
    requests, configs = _dicts(value.get("action_requests")), _dicts(value.get("review_configs"))
    if not requests or not configs:
        return None
    allowed = {config.get("action_name"): config.get("allowed_decisions") for config in configs}
    calls = [_reviewed(request, allowed.get(request.get("name")), known) for request in requests]
    if None in calls:
        return None
    found = tuple(call for call in calls if call)
    return Calls(found, _decision_word, lambda said: {"decisions": said})


def _dicts(value: object) -> list[dict[str, Any]]:
    """Return a list of objects; an empty one, if it is anything else."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    return value


def _reviewed(request: dict[str, Any], allowed: object, known: Known) -> Proposed | None:
    allow = tuple(v for v in VERDICTS if v in allowed) if isinstance(allowed, list) else ()
    if not allow:
        return None
    name = request.get("name")
    schema = known.tools.get(str(name))
    return _decidable(name, request, allow, schema)


def _decidable(
    name: object, request: Mapping[str, Any], allow: Sequence[str], schema: dict[str, Any] | None
) -> Proposed | None:
    """Return a call that takes these decisions; people may always say no."""
    return _call(
        name,
        request.get("args"),
        allow=tuple(verdict for verdict in VERDICTS if verdict in {*allow, "reject"}),
        words=frozenset(allow),
        description=_described(request),
        schema=schema,
    )


def _per_call(raised: Raised, known: Known) -> Calls | None:
    """Read a `ToolApprovalRequest`. Its response schema says what may be decided."""
    value = raised.value
    if not isinstance(value, dict) or value.get("type") != "tool_approval":
        return None
    branches = _branches(raised.schema or {})
    allow = tuple(verdict for verdict in VERDICTS if verdict in branches)
    if not allow:
        return None
    name = value.get("name")
    schema = known.tools.get(str(name)) or _edited(raised.schema or {}, branches)
    call = _decidable(name, value, allow, schema)
    return None if call is None else Calls((call,), _decision_word, lambda said: said[0])


def _branches(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the decisions of a response schema, each by its type."""
    every = schema.get("oneOf") or schema.get("anyOf") or [schema]
    found = [_resolved(one, schema) for one in every]
    return {str(one.get("properties", {}).get("type", {}).get("const")): one for one in found}


def _edited(
    schema: dict[str, Any], branches: Mapping[str, dict[str, Any]]
) -> dict[str, Any] | None:
    """Return the schema of the arguments that an edit may give, standing by itself."""
    action = _resolved(branches.get("edit", {}).get("properties", {}).get("edited_action"), schema)
    args = _resolved(action.get("properties", {}).get("args"), schema)
    if not args.get("properties"):
        return None
    return {**args, "additionalProperties": False, "$defs": schema.get("$defs", {})}


def _resolved(part: object, schema: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {}
    name = str(part.get("$ref", "")).rpartition("/")[2]
    found = schema.get("$defs", {}).get(name, part)
    return found if isinstance(found, dict) else {}


def _decision_word(call: Proposed, said: Said) -> dict[str, Any]:
    match said.verdict:
        case "edit":
            return {"type": "edit", "edited_action": {"name": call.tool, "args": said.args}}
        case "respond":
            return {"type": "respond", "message": said.text}
        case "reject" if said.text:
            return {"type": "reject", "message": said.text}
        case verdict:
            return {"type": verdict}


# --- values of a graph as JSON -----------------------------------------------------------------


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """Return a value as JSON; what has no such form, as a text that says what it is."""
    try:
        made = to_jsonable_python(value, bytes_mode="base64", fallback=_named)
        return _cleaned(made, _DEEPEST)
    except (ValueError, TypeError, RecursionError):
        return _named(value)


def cut(value: Any, most: int) -> Any:  # noqa: ANN401 - JSON
    """Return a value that is not larger than so many characters, of the same shape if possible."""
    if len(written(value)) <= most:
        return value
    if isinstance(value, str):
        return _begun(value, most)
    for longest in (most // 2, most // 20, most // 200):
        smaller = _shortened(value, longest)
        if len(written(smaller)) <= most:
            return smaller
    return {"": _begun(written(value), most)}


def _shortened(value: Any, longest: int) -> Any:  # noqa: ANN401 - JSON
    """Return it with only the beginnings of its long texts."""
    if isinstance(value, str):
        return value if len(value) <= longest else _begun(value, longest)
    if isinstance(value, dict):
        return {name: _shortened(one, longest) for name, one in value.items()}
    return [_shortened(one, longest) for one in value] if isinstance(value, list) else value


def _begun(text: str, most: int) -> str:
    return f"{text[:most]} (cut off here: {len(text):,} characters in all)"


def _cleaned(value: Any, depth: int) -> Any:  # noqa: ANN401 - JSON
    if depth == 0:
        return _whole(repr(value))
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, dict):
        return {_whole(str(name)): _cleaned(one, depth - 1) for name, one in value.items()}
    if isinstance(value, list):
        return [_cleaned(one, depth - 1) for one in value]
    return value if not isinstance(value, float) or isfinite(value) else str(value)


def _named(value: object) -> str:
    return _whole(_ADDRESS.sub("", repr(value)))


def _whole(text: str) -> str:
    """Return a text without half characters, which JSON could not hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def written(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return a value as a text: a text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
