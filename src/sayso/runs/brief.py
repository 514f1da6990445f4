"""What a run is doing or came to, on one line, from its row and its last event."""

from __future__ import annotations

from sayso.channels.story import told
from sayso.channels.values import as_json, clipped
from sayso.model.event import Event
from sayso.model.text import one_line
from sayso.store.contract import RunRow


def brief(row: RunRow, last: Event | None, *, served: bool, width: int) -> str:
    """Say it, safe to show; nothing for a run that waits: its asks say for what."""
    said = (last.payload if last is not None else None) or {}
    match row.status:
        case "done":
            output = said.get("output")
            return "" if output is None else clipped(as_json(output), width)
        case "waiting":
            return ""
        case "ready":
            return (
                "a worker carries it on"
                if served
                else f"no worker serves {one_line(row.workflow, 60)}"
            )
        case "running" if row.lapsed:
            return f"{one_line(str(row.worker), 40)} fell silent"
        case "running":
            return one_line(row.doing or "", width) or _said_last(last)
        case _:
            return one_line(str(said.get("error") or said.get("reason") or ""), width)


def quotes(row: RunRow) -> bool:
    """Whether what `brief` says comes from the run: its output, its error, what it is doing."""
    return row.status != "ready" and not (row.status == "running" and row.lapsed)


def _said_last(last: Event | None) -> str:
    if last is None:
        return ""
    said = last.payload or {}
    if said.get("verb") == "progress" and said.get("text"):  # how far it is is drawn
        return one_line(str(said["text"]), 200)
    return told(last).plain.strip()
