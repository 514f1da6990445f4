"""What an event did, in a few words: for the terminal, and for pages.

A sentence is made of pieces. What somebody else wrote is a `Quote`: a page draws it as theirs, and
nothing in it can be taken for our own words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sayso.channels.changes import in_brief
from sayso.channels.values import as_json, clipped
from sayso.errors import Tampered
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.text import one_line

Said = Mapping[str, Any]
Pieces = tuple[str, ...]


class Quote(str):
    """A piece in the words of an agent, a tool or a person."""

    __slots__ = ()


def sentence(event: Event, ask: Ask | None = None) -> str:
    """Say in a few words what an event did; more of an edit, with the ask as it met it."""
    return "".join(pieces(event, ask))


def pieces(event: Event, ask: Ask | None = None) -> Pieces:
    """Say it in pieces, so that quotes can be told from our words."""
    said = event.payload
    if said is None:
        return (f"{event.kind} (erased)",)
    if event.kind == "ask.edited" and ask is not None and ask.digest:
        return "edited it: ", Quote(in_brief(ask, said["args"], 120)), *_note(said)
    say = _SENTENCES.get(event.kind)
    return say(said) if say else (event.kind,)


def readable(event: Event, ask: Ask | None = None) -> Pieces:
    """Say it in pieces, whatever somebody with a SQL prompt made of it."""
    try:
        return pieces(event, ask)
    except (Tampered, KeyError, TypeError, ValueError, AttributeError):
        return (f"{event.kind}, which makes no sense: verify the journal",)


def whose(event: Event) -> str:
    """Say who did it. When a decision has settled the clock writes it down; a person made it."""
    settled = (event.payload or {}).get("settled")
    if settled:
        return f"person {one_line(str(settled), 40)}"
    name = one_line(event.actor.id, 40)
    return "the clock" if event.actor.kind == "clock" else f"{event.actor.kind} {name}"


def _opened(said: Said) -> Pieces:
    content = said["content"]
    tool = content["proposal"]["tool"]
    if tool:
        return f"asked: {content['kind']}, call ", one_line(tool, 60)
    return f'asked: {content["kind"]}, "', Quote(one_line(content["title"], 60)), '"'


def _voted(said: Said) -> Pieces:
    return f"voted {said['verdict']}", *_note(said)


def _decided(said: Said) -> Pieces:
    past = {"approve": "approved", "edit": "approved as edited", "reject": "rejected"}
    answer = said.get("answer")
    words = (": ", Quote(clipped(as_json(answer), 80))) if answer is not None else ()
    counts = ("; it counts now",) if said.get("settled") else ()
    return past.get(said["verdict"], "answered"), *words, *_note(said), *counts


def _edited(said: Said) -> Pieces:
    return "edited it: ", Quote(clipped(as_json(said["args"]), 120)), *_note(said)


def _with(words: str, result: object) -> Pieces:
    return (words,) if result is None else (f"{words}: ", Quote(clipped(as_json(result), 120)))


def _about(words: str, text: object) -> Pieces:
    return f"{words}: ", Quote(one_line(str(text or ""), 120))


def _unknown(said: Said) -> Pieces:
    asked = f"; asked in {said['doubt']}" if said.get("doubt") else ""
    return (f"does not know whether it happened{asked}",)


def _note(said: Said) -> Pieces:
    return (', "', Quote(one_line(said["note"], 80)), '"') if said.get("note") else ()


def _made(said: Said) -> Pieces:
    until = f"until {said['expires_at'][:10]}" if said.get("expires_at") else "for good"
    scopes = ", ".join(said["scopes"])
    return (f"made token {said['id']} for {said['kind']} {said['name']}, {until}: {scopes}",)


def _ended(said: Said) -> Pieces:
    of = f" of {said['name']}" if said.get("name") else ""
    ended = said.get("ids") or [said["id"]]
    return (f"ended {'session' if len(ended) == 1 else 'sessions'} {', '.join(ended)}{of}",)


def _identity(said: Said) -> str:
    subject, issuer = one_line(said["subject"], 60), one_line(said["issuer"], 60)
    return f"{said['name']} as {subject} of {issuer}"


def _step(said: Said) -> Pieces:
    verb, name = str(said.get("verb", "step")), one_line(str(said.get("name") or ""), 60)
    match verb:
        case "model":
            return ("got a reply of its model",)
        case "progress":
            words = (" ", Quote(one_line(str(said["text"]), 80))) if said.get("text") else ()
            return f"is at {float(said.get('result') or 0):.0%}", *words
        case "call":
            return _with(f"called {name}", said.get("result"))
        case "step" | "workflow":
            return _with(f"did the {verb} {name}", said.get("result"))
        case _:
            return (f"noted {one_line(verb, 40)}{' ' if name else ''}{name}",)


def _step_failed(said: Said) -> Pieces:
    error = said.get("error") or {}
    words = f"{error.get('kind')}: {error.get('message')}"
    return _about(f"failed in {one_line(str(said.get('name') or said.get('verb')), 60)}", words)


def _retold(said: Said) -> Pieces:
    people = " and ".join(said["needs"])
    return f"needs {people} now: ", Quote(one_line(said["sentence"], 80))


def _settling(said: Said) -> Pieces:
    return *_decided(said), f"; counts at {said['until'][11:19]}"


def _key(said: Said) -> str:
    bucket = f", {one_line(str(said['bucket']), 40)}" if said.get("bucket") else ""
    agent, tool = one_line(str(said.get("agent")), 60), one_line(str(said.get("tool")), 60)
    return f"{tool} by {agent}{bucket}"


def _flagged(said: Said) -> str:
    if said.get("unspoken"):
        return f"asked people about {said['ask']}, which chance had picked and nobody spoke to"
    return f"found {said['ask']} harmful{_picked(said)}"


def _picked(said: Said) -> str:
    return ", picked by chance" if "rho" in said else ""


def _grant_ended(said: Said) -> str:
    locked = "; only a person can let it earn again" if said.get("locked") else ""
    return f"ended its grant, the {said['ends']}. time{locked}"


def _published(said: Said) -> Pieces:
    digest = f" ({said['digest']})" if said.get("digest") else ""
    again = f", which was version {said['restores']}" if said.get("restores") else ""
    return f"put a policy in force{digest}{again}", *_note(said)


def _one(words: Callable[[Said], str]) -> Callable[[Said], Pieces]:
    """Say it in our words alone."""
    return lambda said: (words(said),)


_SENTENCES: Mapping[str, Callable[[Said], Pieces]] = {
    "ask.opened": _opened,
    "ask.edited": _edited,
    "ask.voted": _voted,
    "ask.decided": _decided,
    "ask.raised": _retold,
    "ask.settling": _settling,
    "ask.taken_back": lambda said: ("took that back", *_note(said)),
    "ask.reminded": _one(lambda said: f"reminded: {said['share']:.0%} of the time is over"),
    "ask.escalated": _one(lambda said: f"let {' and '.join(said['roles'])} stand in"),
    "ask.assigned": _one(lambda said: f"gave it to {said.get('to') or 'nobody'}"),
    "ask.repeated": _one(lambda _: "asked the same again"),
    "ask.withdrawn": lambda said: ("took the question back", *_note(said)),
    "effect.intended": _one(lambda _: "spent the approval and began"),
    "effect.done": lambda said: _with("carried it out", said.get("result")),
    "effect.failed": lambda said: _about("could not carry it out", said.get("error")),
    "effect.unknown": _unknown,
    "effect.late": _one(lambda _: "reported after its time was up"),
    "doubt.evidence": _one(lambda _: "reported late; kept as evidence"),
    "payload.erased": lambda said: ("erased what was said", *_note(said)),
    "preference.edited": lambda said: _about("put the preference into other words", said["text"]),
    "preference.removed": _one(lambda _: "removed the preference"),
    "incident.reported": lambda said: _about("reported harm", said.get("harm")),
    "trust.begun": _one(lambda said: f"began a record of {_key(said)}"),
    "trust.fine": _one(lambda said: f"found {said['ask']} fine{_picked(said)}"),
    "trust.flagged": _one(_flagged),
    "trust.confirmed": _one(lambda said: f"confirmed that {said.get('flagged')} was harmful"),
    "trust.overturned": _one(lambda said: f"found that {said.get('flagged')} was not harmful"),
    "trust.incident": lambda said: _about(f"reported harm by {said['ask']}", said.get("harm")),
    "trust.picked": _one(lambda said: f"picked {said['ask']} for people to look at"),
    "trust.inherited": _one(
        lambda said: f"took over {said['ends']} ended grants of another version"
    ),
    "trust.proposed": _one(
        lambda said: f"proposed to let it run alone: {said['ask']}, score {said['score']:.1f}"
    ),
    "trust.ratified": _one(lambda said: f"let it run alone, in {said['ask']}"),
    "trust.declined": _one(
        lambda said: f"wants to see more before it runs alone, in {said['ask']}"
    ),
    "trust.ended": _one(_grant_ended),
    "trust.revoked": lambda said: ("ended its grant", *_note(said)),
    "trust.reopened": lambda said: ("let it earn again", *_note(said)),
    "run.started": _one(lambda said: f"started {one_line(str(said['workflow']), 60)}"),
    "step.begun": _one(lambda said: f"began to call {one_line(str(said.get('name')), 60)}"),
    "step.done": _step,
    "step.failed": _step_failed,
    "run.done": lambda said: _with("finished", said.get("output")),
    "run.failed": lambda said: _about("failed", said.get("error")),
    "run.parked": lambda said: _about("was parked until a person looks", said.get("reason")),
    "run.cancelled": lambda said: _about("cancelled the run", said.get("reason")),
    "run.retried": _one(lambda _: "let the run go on"),
    "policy.published": _published,
    "tool.declared": lambda said: _about(f"declared the tool {said['name']}", said["source"]),
    "tool.forgotten": lambda said: (
        f"took back what {said['source']} declares of {said['name']}",
        *_note(said),
    ),
    "journal.sealed": _one(lambda said: f"sealed {len(said.get('heads', ()))} streams"),
    "person.added": _one(
        lambda said: f"added {said['name']}: {', '.join(said['roles']) or 'no role'}"
    ),
    "person.changed": _one(lambda said: f"changed {said['name']}: {', '.join(said['roles'])}"),
    "person.removed": _one(lambda said: f"removed {said['name']}"),
    "token.made": _made,
    "token.revoked": _one(
        lambda said: f"revoked token {said['id']} of {said['kind']} {said['name']}"
    ),
    "password.set": _one(lambda said: f"set the password of {said['name']}"),
    "password.rehashed": _one(lambda _: "hashed their password anew"),
    "link.made": _one(lambda said: f"made a link to sign in by, until {said['until'][:16]}"),
    "session.opened": _one(
        lambda said: (
            f"signed in by {said['how']} from {one_line(said['address'], 60)}: session {said['id']}"
        )
    ),
    "session.ended": _ended,
    "identity.linked": _one(lambda said: f"linked {_identity(said)}"),
    "identity.unlinked": _one(lambda said: f"unlinked {_identity(said)}"),
    "webhook.added": _one(
        lambda said: (
            f"added webhook {said['id']} to {one_line(said['where'], 80)}:"
            f" {', '.join(said['kinds'])}"
        )
    ),
    "webhook.removed": _one(lambda said: f"removed webhook {said['id']}"),
    "webhook.disabled": _one(lambda said: f"disabled webhook {said['id']}: {said['reason']}"),
}
