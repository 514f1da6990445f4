"""The versions of what was proposed: as it was made, as people changed it, as it was made again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sayso.asks.standing import Standing, standing
from sayso.channels.steps import seen_line
from sayso.model.actor import Actor
from sayso.model.ask import Ask
from sayso.model.folding import after, fold
from sayso.model.text import visible
from sayso.store.contract import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a draft, a plan or a call.

    `by` is the agent that made it or the person who edited it; `guidance` what a person said
    when they sent the version before back.
    """

    number: int
    ask: str
    by: Actor
    at: datetime
    args: dict[str, Any]
    guidance: str | None = None

    @property
    def text(self) -> str:
        """What it says: the text of a draft, a plan line by line, the arguments of a call."""
        match self.args:
            case {"text": str(text), **others} if not others:
                return text
            case {"steps": list(steps), **others} if not others:
                return "\n".join(map(seen_line, steps))
        return json.dumps(self.args, indent=2, ensure_ascii=False, sort_keys=True)

    def diff(self, before: Version) -> str:
        """Return what changed since an earlier version, line by line and safe to print."""
        import difflib  # few look at it

        lines = difflib.unified_diff(
            _lines(before.text),
            _lines(self.text),
            f"version {before.number}, {visible(before.by.id)}",
            f"version {self.number}, {visible(self.by.id)}",
            lineterm="",
            n=1,
        )
        return "\n".join(lines)


def versions(store: Store, ask_id: str) -> list[Version]:
    """Return every version up to this ask, the oldest first.

    Raises:
        UnknownAsk: there is none of this id.
    """
    asked = [standing(store, ask_id)]
    while (earlier := _sent_back(asked[0].ask)) is not None:
        asked.insert(0, standing(store, earlier))
    found: list[Version] = []
    guidance: str | None = None
    for at in asked:
        for by, when, args in _proposed(at):
            number = len(found) + 1
            found.append(
                Version(number=number, ask=at.ask.id, by=by, at=when, args=args, guidance=guidance)
            )
            guidance = None
        guidance = at.ask.decision.text if at.ask.decision is not None else None
    return found


def _sent_back(ask: Ask) -> str | None:
    """Return the ask whose answer asked for this one. A doubt is about something else."""
    return ask.content.about if ask.kind in ("draft", "plan") else None


def _proposed(at: Standing) -> Iterator[tuple[Actor, datetime, dict[str, Any]]]:
    """Yield what was proposed, and by whom, whenever it changed."""
    ask = fold(at.events[:1])
    yield Actor("agent", ask.content.agent), ask.opened_at, ask.args
    for event in at.events[1:]:
        ask = after(ask, event)
        if event.kind == "ask.edited":
            yield event.actor, event.at, ask.args


def _lines(text: str) -> list[str]:
    return visible(text, lines=True).split("\n")
