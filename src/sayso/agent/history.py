"""The conversation of one agent in one run, as it grows; and what its thread remembers.

Nothing of it is stored: it is made from the journal each time. Its digest is
rolled on with every message, so that a long history is hashed once and not once
for every model call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from sayso.agent.messages import Message, ToolCall
from sayso.agent.words import ended
from sayso.model.digest import canonical
from sayso.model.event import Event
from sayso.model.tool import HIDDEN
from sayso.runs.journal import Journal, asks_of
from sayso.runs.memory import (
    ActionStep,
    AnswerStep,
    DecisionStep,
    Memory,
    PlanStep,
    TaskStep,
    remember,
)
from sayso.store.contract import RunQuery

LONGEST = 20_000
_RUNS = 100  # of a thread, the last ones


class History:
    """Messages, and a digest of all of them."""

    def __init__(self, *messages: Message) -> None:
        self.messages: list[Message] = []
        self._hash = hashlib.sha256()
        self.add(*messages)

    def add(self, *messages: Message) -> None:
        """Go on with these."""
        for message in messages:
            self.messages.append(message)
            self._hash.update(canonical(message.json).encode())

    def digest(self, *more: Message) -> str:
        """Return the digest of the conversation, with some messages that may not stay."""
        rolled = self._hash.copy()
        for message in more:
            rolled.update(canonical(message.json).encode())
        return rolled.hexdigest()[:16]


def shortened(text: str) -> str:
    """Return a result as a model reads it: the beginning and the end of a very long one."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    left = len(text) - 2 * half
    return f"{text[:half]}\n[... {left:,} characters left out ...]\n{text[-half:]}"


def of_thread(journal: Journal) -> list[Message]:
    """Return what earlier runs of the thread remember, oldest first, from the last fresh start."""
    row = journal.row
    if row.thread is None or journal.started.get("fresh"):
        return []
    teams = () if row.team is None else (row.team,)
    query = RunQuery(thread=row.thread, teams=teams, limit=_RUNS)
    found: list[list[Message]] = []
    for earlier in journal.store.runs(query):
        if earlier.id == row.id or earlier.started_at > row.started_at or earlier.team != row.team:
            continue
        events = journal.store.stream(earlier.id)
        memory = remember(events, asks_of(earlier.id, journal.store.run_asks(earlier.id)))
        found.append([*recalled(memory, earlier.id), *_unfinished(earlier.status, events)])
        if (events[0].payload or {}).get("fresh"):
            break
    return [message for messages in reversed(found) for message in messages]


def _unfinished(status: str, events: Sequence[Event]) -> list[Message]:
    """Return how a run ended that came to no answer; else the model would take its task up."""
    if status not in ("cancelled", "failed"):
        return []
    said = events[-1].payload or {}
    why = str(said.get("reason") or said.get("error") or "")
    return [Message(role="user", text=ended(status, why))]


def recalled(memory: Memory, run: str) -> Iterator[Message]:
    """Yield what a run remembers as messages."""
    verdicts = {s.ask: s.decision for s in memory.steps if isinstance(s, DecisionStep)}
    for number, step in enumerate(memory.steps, start=1):
        match step:
            case TaskStep():
                yield Message(role="user", text=_text(step.task))
            case PlanStep() if verdicts.get(step.ask):
                titles = (str(item.get("title", "")) for item in step.plan)
                yield Message(role="user", text="The plan was:\n" + _numbered(titles))
            case ActionStep() if step.status in ("done", "failed"):
                shown = {n: v for n, v in (step.args or {}).items() if v != HIDDEN}
                call = ToolCall(f"{run}.{number}", step.name, shown)
                failed = step.error is not None
                came = _text(step.error if failed else step.result)
                yield Message(role="assistant", calls=(call,))
                yield Message(
                    role="tool",
                    call=call.id,
                    tool=step.name,
                    text=shortened(came),
                    failed=failed,
                )
            case DecisionStep() if step.decision.verdict in ("reject", "respond"):
                said = step.decision.note or step.decision.text or ""
                who, verdict = step.decision.by.id, step.decision.verdict
                yield Message(role="user", text=f"{who} ({verdict}) on {step.title}: {said}")
            case AnswerStep():
                yield Message(role="assistant", text=_text(step.output))
            case _:
                continue


def _numbered(titles: Iterable[str]) -> str:
    return "\n".join(f"{number}. {title}" for number, title in enumerate(titles, start=1))


def _text(value: object) -> str:
    """Return a value as a model reads it: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else canonical(value)


result_text = _text
