"""What people decided as a data set: a line for each ask, with its context and what came of it.

It is read from the journal while it is written, so its size does not matter. What is hidden and what was
erased is not in it, and people have numbers in place of names unless somebody wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sayso.errors import BadValue
from sayso.insight.case import facts_in, is_case
from sayso.insight.reading import asks_of, starts_of
from sayso.insight.trail import VERDICTS, Wanted, pass_by
from sayso.model.ask import Ask, Decision, Effect
from sayso.store.contract import Store


def decisions(
    store: Store,
    *,
    tool: str | None = None,
    verdict: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    after: str | None = None,
    teams: Sequence[str] | None = None,
    named: Callable[[str], bool] = lambda _: False,
) -> Iterator[list[dict[str, Any]]]:
    """Yield what people decided, in the order in which it counted, some at a time.

    Args:
        store: The database.
        tool: Only calls of this tool.
        verdict: Only what was decided like this.
        since: From this moment on.
        until: Before this moment.
        after: Only what is behind this cursor.
        teams: Those that may be seen, `""` for what belongs to none; `None` means everything.
        named: Whether a person is called by their name. Others are numbered as they come.

    Raises:
        BadValue: what is wanted, or the cursor, makes no sense.
    """
    if verdict is not None and verdict not in VERDICTS:
        raise BadValue(f"{verdict!r} is no verdict. There are: {', '.join(VERDICTS)}.")
    wanted = Wanted(kind="ask.decided", tool=tool, since=since, until=until).checked()
    return _lines(store, wanted, verdict, after, teams, _Names(named))


def _lines(
    store: Store,
    wanted: Wanted,
    verdict: str | None,
    after: str | None,
    teams: Sequence[str] | None,
    names: _Names,
) -> Iterator[list[dict[str, Any]]]:
    for events in pass_by(store, wanted, teams=teams, after=after):
        asks = {ask.id: ask for ask in asks_of(store, [event.stream for event in events])}
        runs = {ask.content.run for ask in asks.values() if ask.content.run is not None}
        tasks = starts_of(store, sorted(runs))
        found: list[dict[str, Any]] = []
        for event in events:
            ask = asks.get(event.stream)
            if ask is None or ask.decision is None or not is_case(ask) or _about_key(ask):
                continue
            if verdict in (None, ask.decision.verdict):
                task = _task(ask, tasks.get(ask.content.run or "", {}))
                found.append({"cursor": event.cursor, **line_of(ask, ask.decision, task, names)})
        yield found


def _about_key(ask: Ask) -> bool:
    """Whether it asks if an agent may run alone: that names people, and no agent proposed it."""
    return ask.stake is not None and ask.stake.settles is not None


class _Names:
    """What people are called in one data set."""

    def __init__(self, named: Callable[[str], bool]) -> None:
        self._named = named
        self._numbers: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """Return a name, or the number that somebody has got or gets now."""
        if self._named(name):
            return name
        return self._numbers.setdefault(name, f"reviewer-{len(self._numbers) + 1}")


def line_of(
    ask: Ask, decision: Decision, task: object, names: Callable[[str], str]
) -> dict[str, Any]:
    """Return one decided ask: its context, what was proposed and approved, what people said."""
    content = ask.content
    spoken = max((vote.at for vote in decision.votes), default=decision.at)
    return {
        "ask": ask.id,
        "kind": ask.kind,
        "title": ask.title,
        "task": task,
        "agent": content.agent,
        "team": content.team,
        "tool": ask.tool,
        "why": content.why,
        "confidence": content.confidence,
        "tier": content.ruled.tier or content.risk,
        "facts": facts_in(ask),
        "options": [option.label for option in content.options],
        "before": _open(ask, ask.args if ask.original is None else ask.original),
        "after": None if decision.args is None else _open(ask, decision.args),
        "verdict": decision.verdict,
        "reason": decision.kind,
        "note": decision.note,
        "answer": decision.answer,
        "reviewer": names(decision.by.id),
        "votes": [
            {
                "reviewer": names(vote.by.id),
                "verdict": vote.verdict,
                "reason": vote.kind,
                "note": vote.note,
                "at": vote.at.isoformat(),
            }
            for vote in decision.votes
        ],
        "opened_at": ask.opened_at.isoformat(),
        "decided_at": decision.at.isoformat(),
        "seconds": max(0.0, (spoken - ask.opened_at).total_seconds()),
        "outcome": _outcome(ask.effect),
    }


def _open(ask: Ask, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments without what is hidden."""
    return {name: value for name, value in args.items() if name not in ask.content.hidden}


def _outcome(effect: Effect | None) -> dict[str, Any] | None:
    if effect is None:
        return None
    return {
        "status": effect.status,
        "result": effect.result,
        "error": effect.error,
        "ended_at": None if effect.ended_at is None else effect.ended_at.isoformat(),
    }


def _task(ask: Ask, start: Mapping[str, Any]) -> object:
    """Return what the agent was to do: what is rated, or what its run was begun with."""
    said = facts_in(ask).get("task")
    if said is not None:
        return said
    given = start.get("input") or {}
    args, named = given.get("args") or [], given.get("kwargs") or {}
    if not args and not named:
        return None
    return args[0] if len(args) == 1 and not named else {"args": args, **named}
