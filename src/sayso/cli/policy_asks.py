"""Why an ask asked whom, from what was frozen on it when it opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.text import Text

from sayso.channels.fence import Row
from sayso.model.actor import Roster
from sayso.model.ask import Ask
from sayso.model.digest import read
from sayso.model.stake import Stake
from sayso.model.tally import missing
from sayso.model.text import one_line, visible
from sayso.policy.ruling import Rung
from sayso.policy.words import ladder_told, spell, who

if TYPE_CHECKING:
    from rich.console import RenderableType

_GUTTER = 11
_PAST = {"approve": "yes", "edit": "yes, with changes", "reject": "no", "respond": "an answer"}


def frozen_ruling(ask: Ask) -> dict[str, Any]:
    """Return what the policy said when this version opened; nothing on asks of before."""
    ruling = getattr(ask.content, "ruling", None)
    return {} if ruling is None else read(ruling)


def explained(ask: Ask, roster: Roster) -> dict[str, Any]:
    """Return the reasons as data."""
    content = ask.content
    open_places = missing(ask, roster) if ask.open else ()
    return {
        "id": ask.id,
        "status": ask.status,
        "version": ask.version,
        "sentence": content.sentence,
        "risk": content.risk,
        "needs": [str(factor) for factor in content.needs.factors],
        "deny": content.needs.deny,
        "due_at": content.due_at.isoformat() if content.due_at else None,
        "ruling": frozen_ruling(ask),
        "trust": None if ask.stake is None else ask.stake.to_json(),
        "who": [{"needs": needs, "people": names} for needs, names in who(content.needs, roster)],
        "votes": [{"by": vote.by.id, "verdict": vote.verdict} for vote in ask.votes],
        "missing": [] if roster.solo else [str(factor) for factor in open_places],
    }


def explanation(ask: Ask, roster: Roster) -> Iterator[RenderableType]:
    """Lay the reasons out for a person."""
    content, ruling = ask.content, frozen_ruling(ask)
    yield Row("Ask", Text(f"{ask.id} {ask.label}"), _GUTTER)
    tool = one_line(ask.tool, 60) if ask.tool else ask.kind
    yield Row("What", Text(f"{tool}, asked by {one_line(content.agent, 60)}"), _GUTTER)
    because = content.sentence or "Whoever asked put it to people; no rule was needed for that."
    yield Row("Because", Text(visible(because)), _GUTTER)
    rules = ", ".join(one_line(str(name), 100) for name in ruling.get("rules", ()))
    yield Row("Rules", Text(rules or "none"), _GUTTER)
    yield Row("Risk", Text(content.risk or "not stated"), _GUTTER)
    if "tier" in ruling:
        yield Row("Tier", Text(one_line(str(ruling["tier"]), 64)), _GUTTER)
    if "version" in ruling:
        yield Row("Policy", Text(f"version {one_line(str(ruling['version']), 64)}"), _GUTTER)
    yield Row("Needs", Text(str(content.needs)), _GUTTER)
    yield from _times(ask, ruling)
    if ask.stake is not None:
        yield Row("Counts", Text(_counts(ask, ask.stake)), _GUTTER)
    yield from _who(ask, roster)


def _counts(ask: Ask, stake: Stake) -> str:
    """Say which trust a decision counts for."""
    if stake.settles == "grant":
        return f"settles whether {stake.key} runs alone"
    if stake.settles == "flag":
        return f"settles whether a call of {stake.key} was harmful"
    kind = f", {one_line(stake.bucket, 60)}" if stake.bucket else ""
    tool = one_line(ask.tool or "", 60)
    return f"for the trust in {one_line(ask.content.agent, 60)} to call {tool}{kind}: {stake.key}"


def _times(ask: Ask, ruling: dict[str, Any]) -> Iterator[RenderableType]:
    said = []
    if ask.content.needs.deny > 1:
        said.append(f"{ask.content.needs.deny} refusals end it")
    if ask.due_at is not None:
        then = "approved" if ruling.get("on_timeout") == "approve" else "rejected"
        said.append(f"until {ask.due_at:%Y-%m-%d %H:%M UTC}, then {then}")
    said += ladder_told([Rung(after, tuple(roles)) for after, roles in ruling.get("ladder", ())])
    if "cool_off" in ruling:
        said.append(f"can be taken back for {spell(ruling['cool_off'])}")
    if "execute_within" in ruling:
        said.append(f"to be carried out within {spell(ruling['execute_within'])}")
    if ruling.get("requester") is True:
        said.append("whoever requested it may decide")
    for word in said:
        yield Row("", Text(word), _GUTTER)


def _who(ask: Ask, roster: Roster) -> Iterator[RenderableType]:
    if roster.solo:
        yield Row("Who", Text("whoever sits at this machine (solo mode)"), _GUTTER)
    label = "Who"
    for needs, names in () if roster.solo else who(ask.content.needs, roster):
        yield Row(label, Text(f"{needs}: {', '.join(names) or 'nobody'}"), _GUTTER)
        label = ""
    for vote in ask.votes:
        said = f"{one_line(vote.by.id, 64)}: {_PAST[vote.verdict]}"
        yield Row("Voted", Text(said), _GUTTER)
    if ask.open and not roster.solo:
        left = " and ".join(map(str, missing(ask, roster)))
        yield Row("Missing", Text(left or "nobody"), _GUTTER)
    if ask.decision is not None:
        decided = f"{_PAST[ask.decision.verdict]}, by {one_line(ask.decision.by.id, 64)}"
        yield Row("Decided", Text(decided), _GUTTER)
