"""The journal as a person reads it: one line an event, in our words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rich.text import Text

from sayso.channels.fence import Row
from sayso.channels.values import as_json, clipped
from sayso.model.event import Event
from sayso.model.text import one_line

Said = Mapping[str, Any]


def timeline(events: Iterable[Event]) -> Iterator[Row]:
    """Return the events as lines: when, who, what."""
    for event in events:
        at = event.at.strftime("%H:%M:%S ")
        yield Row(at, Text.assemble((f"{_who(event)} ", "bold"), sentence(event)), 10)


def sentence(event: Event) -> str:
    """Say in a few words what an event did."""
    if event.payload is None:
        return f"{event.kind} (erased)"
    say = _SENTENCES.get(event.kind)
    return say(event.payload) if say else event.kind


def _who(event: Event) -> str:
    """Say who did it. When a decision has settled the clock writes it down; a person made it."""
    settled = (event.payload or {}).get("settled")
    if settled:
        return f"person {one_line(str(settled), 40)}"
    name = one_line(event.actor.id, 40)
    return "the clock" if event.actor.kind == "clock" else f"{event.actor.kind} {name}"


def _opened(said: Said) -> str:
    content = said["content"]
    tool = content["proposal"]["tool"]
    what = f"call {one_line(tool, 60)}" if tool else f'"{one_line(content["title"], 60)}"'
    return f"asked: {content['kind']}, {what}"


def _voted(said: Said) -> str:
    return f"voted {said['verdict']}{_note(said)}"


def _decided(said: Said) -> str:
    past = {"approve": "approved", "edit": "approved as edited", "reject": "rejected"}
    verdict = past.get(said["verdict"], "answered")
    answer = said.get("answer")
    words = f": {clipped(as_json(answer), 80)}" if answer is not None else ""
    counts = "; it counts now" if said.get("settled") else ""
    return f"{verdict}{words}{_note(said)}{counts}"


def _edited(said: Said) -> str:
    return f"edited it: {clipped(as_json(said['args']), 120)}"


def _done(said: Said) -> str:
    result = said.get("result")
    return "carried it out" + (f": {clipped(as_json(result), 120)}" if result is not None else "")


def _failed(said: Said) -> str:
    return f"could not carry it out: {one_line(str(said.get('error', '')), 120)}"


def _unknown(said: Said) -> str:
    return f"does not know whether it happened; asked in {said.get('doubt')}"


def _note(said: Said) -> str:
    return f', "{one_line(said["note"], 80)}"' if said.get("note") else ""


def _made(said: Said) -> str:
    until = f"until {said['expires_at'][:10]}" if said.get("expires_at") else "for good"
    scopes = ", ".join(said["scopes"])
    return f"made token {said['id']} for {said['kind']} {said['name']}, {until}: {scopes}"


def _ended(said: Said) -> str:
    whose = f" of {said['name']}" if said.get("name") else ""
    ended = said.get("ids") or [said["id"]]
    return f"ended {'session' if len(ended) == 1 else 'sessions'} {', '.join(ended)}{whose}"


def _identity(said: Said) -> str:
    subject, issuer = one_line(said["subject"], 60), one_line(said["issuer"], 60)
    return f"{said['name']} as {subject} of {issuer}"


_SENTENCES: Mapping[str, Callable[[Said], str]] = {
    "ask.opened": _opened,
    "ask.edited": _edited,
    "ask.voted": _voted,
    "ask.decided": _decided,
    "ask.raised": lambda said: (
        f"needs {' and '.join(said['needs'])} now: {one_line(said['sentence'], 80)}"
    ),
    "ask.settling": lambda said: f"{_decided(said)}; counts at {said['until'][11:19]}",
    "ask.taken_back": lambda said: f"took that back{_note(said)}",
    "ask.reminded": lambda said: f"reminded: {said['share']:.0%} of the time is over",
    "ask.escalated": lambda said: f"let {' and '.join(said['roles'])} stand in",
    "ask.assigned": lambda said: f"gave it to {said.get('to') or 'nobody'}",
    "ask.repeated": lambda _: "asked the same again",
    "ask.withdrawn": lambda said: f"took the question back{_note(said)}",
    "effect.intended": lambda _: "spent the approval and began",
    "effect.done": _done,
    "effect.failed": _failed,
    "effect.unknown": _unknown,
    "effect.late": lambda _: "reported after its time was up",
    "doubt.evidence": lambda _: "reported late; kept as evidence",
    "payload.erased": lambda said: f"erased what was said{_note(said)}",
    "journal.sealed": lambda said: f"sealed {len(said.get('heads', ()))} streams",
    "person.added": lambda said: f"added {said['name']}: {', '.join(said['roles']) or 'no role'}",
    "person.changed": lambda said: f"changed {said['name']}: {', '.join(said['roles'])}",
    "person.removed": lambda said: f"removed {said['name']}",
    "token.made": _made,
    "token.revoked": lambda said: f"revoked token {said['id']} of {said['kind']} {said['name']}",
    "password.set": lambda said: f"set the password of {said['name']}",
    "session.opened": lambda said: (
        f"signed in by {said['how']} from {one_line(said['address'], 60)}: session {said['id']}"
    ),
    "session.ended": _ended,
    "identity.linked": lambda said: f"linked {_identity(said)}",
    "identity.unlinked": lambda said: f"unlinked {_identity(said)}",
    "webhook.added": lambda said: (
        f"added webhook {said['id']} to {one_line(said['where'], 80)}: {', '.join(said['kinds'])}"
    ),
    "webhook.removed": lambda said: f"removed webhook {said['id']}",
    "webhook.disabled": lambda said: f"disabled webhook {said['id']}: {said['reason']}",
}
