"""Calls that a graph carries out itself: each is ruled on by itself, and a no is the graph's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sayso import Ask, Rejected, Running, StepFailed
from sayso.adapters.base import made_plain, told
from sayso.adapters.langgraph.raised import Earlier
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
_SENTENCE = "The graph carries this call out itself, once a person has said so."
_ENDS = "It knows no word for a no, so a rejection ends the run."


@dataclass(frozen=True, slots=True)
class Proposed:
    """A call that the graph carries out itself, once people have said so."""

    tool: str
    args: dict[str, Any]
    allow: tuple[str, ...]
    words: frozenset[str]
    description: str | None = None
    schema: dict[str, Any] | None = None
    facts: dict[str, Any] | None = None

    def no(self, who: str) -> str | None:
        """Return the word in which the graph hears a no; `None`, if it has none."""
        rows = (word for said_by, needs, word in _NOES if said_by == who and needs <= self.words)
        return next(rows, None)

    def put(self, run: Running, earlier: Earlier | None = None, **terms: Any) -> Any:  # noqa: ANN401
        """Ask. Arguments that do not fit their schema are shown all the same."""
        facts = {"": self.description} if self.description else self.facts
        given: dict[str, Any] = {
            "without": tuple(verdict for verdict in VERDICTS if verdict not in self.allow),
            "hears_end": self.no(_ENDING) is not None,
            "ignores": self.no("person") == "ignore",
            "sentence": _SENTENCE if self.no("person") else f"{_SENTENCE} {_ENDS}",
            "facts": facts if earlier is None else earlier.facts(facts),
            "title": self.tool,
            **terms,
        }
        if earlier is not None:
            given |= {"about": earlier.ask, "why": earlier.why}
        tool = made_plain("tool", self.tool)
        try:
            return run.later.propose(tool, self.args, schema=self.schema, **given)
        except BadValue:
            return run.later.propose(tool, self.args, **given)


No = Rejected | StepFailed


@dataclass(frozen=True, slots=True)
class Said:
    """The reply to one call: a verdict, and for a no the word in which the graph hears it."""

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
    word: Callable[[Proposed, Said], Any]
    whole: Callable[[list[Any]], Any]

    @property
    def anew(self) -> bool:
        """Return False: the graph acted on the answer, so it is not asked again."""
        return False

    def put(
        self,
        run: Running,
        earlier: Earlier | None = None,
        **terms: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Ask about each."""
        return [call.put(run, earlier, **terms) for call in self.calls]

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


def called(name: object, args: object, **more: Any) -> Proposed | None:  # noqa: ANN401
    """Return a call, if this is one: a name and arguments by name."""
    if not isinstance(name, str) or not name.strip() or not isinstance(args, dict):
        return None
    return Proposed(name, args, **more)


def described(value: Mapping[str, Any]) -> str | None:
    """Return how a payload describes itself."""
    text = value.get("description")
    return text if isinstance(text, str) and text.strip() else None
