"""A case: something that people decided, as it is remembered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sayso.insight.words import words_of
from sayso.model.ask import Ask
from sayso.model.digest import read, written
from sayso.model.event import micros
from sayso.model.tool import HIDDEN
from sayso.model.verdicts import Kind, Verdict
from sayso.store.casebook import CaseRow, TextRow

_LONGEST = 2000  # characters of one text that a case carries
_BRIEF = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What people decided once: about what, how, in which words, and what came of it.

    All texts are cut to a readable length; `id` is the ask, where all of it is. What an agent
    wrote is in here too: it is information, never an instruction.
    """

    id: str
    kind: Kind
    agent: str
    verdict: Verdict
    by: str
    at: datetime
    about: str
    tool: str | None = None
    result: str | None = None
    note: str | None = None
    edits: tuple[str, ...] = ()
    outcome: str | None = None
    run: str | None = None
    score: float = 0.0

    @property
    def good(self) -> bool:
        """Whether people agreed to what was proposed as it was, or called it good."""
        return self.verdict == "approve"


def is_case(ask: Ask) -> bool:
    """Whether people decided it, and it still says what was decided."""
    decision = ask.decision
    if decision is None or ask.status != "decided" or decision.by.kind != "person":
        return False
    return ask.kind != "doubt" and bool(ask.digest)  # an erased one has none


def case_of(ask: Ask, score: float = 0.0) -> Case:
    """Return a decided ask as a case."""
    decision = ask.decision
    if decision is None:
        raise AssertionError("unreachable: a case is decided")
    facts = facts_in(ask)
    return Case(
        id=ask.id,
        kind=ask.kind,
        agent=ask.content.agent,
        verdict=decision.verdict,
        by=decision.by.id,
        at=decision.at,
        about=_cut(_about(ask, facts)),
        tool=ask.tool,
        result=_cut(as_text(facts["result"])) if rated(ask) and "result" in facts else None,
        note=_cut("\n".join(_words_said(ask))) or None,
        edits=tuple(edits_of(ask)),
        outcome=_outcome(ask),
        run=ask.content.run,
        score=score,
    )


def row_of(ask: Ask) -> CaseRow:
    """Return a decided ask as the index keeps it."""
    decision = ask.decision
    if decision is None:
        raise AssertionError("unreachable: a case is decided")
    facts = facts_in(ask)
    about = words_of(proposed(ask, facts))
    effect = ask.effect
    said = words_of(
        ask.tool or "",
        ask.title,
        *_words_said(ask),
        as_text(facts.get("result", "")),
        as_text(ask.args if ask.original is not None else ""),
        as_text((effect.result if effect.error is None else effect.error) if effect else ""),
    )
    return CaseRow(
        id=ask.id,
        kind=ask.kind,
        tool=ask.tool,
        agent=ask.content.agent,
        verdict=decision.verdict,
        at=micros(decision.at),
        about=" ".join(about),
        said=" ".join(said),
    )


def text_of(ask: Ask, *notes: str) -> TextRow:
    """Return an ask by the words on it, as it stands: what is secret is not among them.

    What people said comes first: only so many words count, and an agent may write more of them.
    `notes` are what was said besides.
    """
    content, hidden = ask.content, frozenset(ask.content.hidden)
    versions = [ask.args] if ask.original is None else [ask.args, ask.original]
    words = words_of(
        ask.id.removeprefix("a-"),
        *[vote.note or "" for vote in ask.votes],
        *_words_said(ask),
        *notes,
        ask.title,
        ask.tool or "",
        content.agent,
        content.why or "",
        *[
            as_text({name: v for name, v in args.items() if name not in hidden})
            for args in versions
        ],
        as_text(list(facts_in(ask).values())),
    )
    return TextRow(ask.id, "closed" if ask.closed else "open", " ".join(words))


def proposed(ask: Ask, facts: Mapping[str, Any] | None = None) -> str:
    """Return the text that says what an ask was about, as it was first proposed."""
    if ask.tool is None:
        return _about(ask, facts_in(ask) if facts is None else facts)
    return as_text(ask.args if ask.original is None else ask.original)


def as_text(value: object) -> str:
    """Return the words in a JSON value. Names of fields are not among them: they never differ."""
    match value:
        case str():
            return "" if value == HIDDEN else value
        case dict():
            return " ".join(as_text(item) for item in value.values())
        case list() | tuple():
            return " ".join(as_text(item) for item in value)
        case None:
            return ""
        case _:
            return str(value)


def rated(ask: Ask) -> bool:
    """Whether it asks what people think of a result."""
    return ask.kind == "feedback"


def facts_in(ask: Ask) -> dict[str, Any]:
    """Return the facts of an ask by their names."""
    facts = ask.content.facts
    return {str(name): value for name, value in read(facts)} if facts else {}


def edits_of(ask: Ask) -> Iterator[str]:
    """Say in a line for each field what a person changed."""
    if ask.original is None or not ask.decision:
        return
    before, after = ask.original, ask.args
    for name in sorted({*before, *after}):
        was, now = before.get(name), after.get(name)
        if was != now:
            yield f"{name} {_brief(was)} -> {_brief(now)}"


def clipped(text: str, longest: int) -> str:
    """Return a text on one line and cut. It stays raw: whoever draws it makes it visible."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _about(ask: Ask, facts: Mapping[str, Any]) -> str:
    match ask.kind:
        case "feedback":
            return as_text(facts.get("task") or facts.get("result"))
        case "draft":
            return as_text(ask.args if ask.original is None else ask.original)
        case "plan":
            return as_text(ask.args if ask.original is None else ask.original)
        case _ if ask.tool is not None:
            return written(ask.args if ask.original is None else ask.original)
        case _:
            return f"{ask.title} {as_text(facts)}".strip()


def _words_said(ask: Ask) -> list[str]:
    decision = ask.decision
    if decision is None:
        return []
    answer = "" if decision.answer is None else as_text(decision.answer)
    return [words for words in (decision.note or "", answer) if words]


def _outcome(ask: Ask) -> str | None:
    effect = ask.effect
    if effect is None:
        return None
    came = effect.error if effect.error is not None else effect.result
    return f"{effect.status}: {_brief(came)}" if came is not None else effect.status


def _brief(value: object) -> str:
    text = value if isinstance(value, str) else written(value)  # type: ignore[arg-type]
    return text if len(text) <= _BRIEF else f"{text[: _BRIEF - 1]}…"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
