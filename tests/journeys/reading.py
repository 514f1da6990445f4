"""What a run did, step by step, in words that two runs of one kind have in common."""

from __future__ import annotations

from sayso import Desk, Run
from sayso.channels.story import in_order


def told(desk: Desk, run: Run) -> list[str]:
    """The journal of a run and of its asks, step by step: what happened, and where."""
    known = {ask.id: ask for ask in run.asks}
    lines = []
    for event in in_order(run.events, [desk.history(ask) for ask in known.values()]):
        said, ask = event.payload or {}, known.get(event.stream)
        if ask is not None:
            lines.append(f"{event.kind} {(ask.key or '').partition(':')[2]} {ask.kind}")
        else:
            what = said.get("verb") or (said["name"] if "key" in said else "")
            lines.append(f"{event.kind} {said.get('key', '')} {what}".rstrip())
    return lines
