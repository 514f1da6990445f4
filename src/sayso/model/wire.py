"""The JSON forms that cross the network: asks, decisions, calls, events and errors, both ways.

What is read equals what was written, in every field a program reads. Fields that a newer
server sends, and that this program does not know, are passed over. A few fields are there
for whoever reads the JSON itself (`title`, `allow`, ...) and follow from the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sayso.errors import SaysoError
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask, Decision, Effect, Harm, Vote
from sayso.model.call import Call
from sayso.model.content import Content
from sayso.model.digest import frozen, written
from sayso.model.event import Event
from sayso.model.stake import Stake

Wire = dict[str, Any]

ERRORS = "https://sayso.invalid/errors/"

_TIMES = ("opened_at", "changed_at", "closed_at", "settles_at")
_AS_IS = (
    *("id", "stream", "status", "version", "digest", "seq", "reminded", "climbed", "assignee"),
    *("repeats", "contested", "key", "held", "gone", "solo", "original"),
)
_STAKE = tuple(field.name for field in fields(Stake))
_CONTENT = frozenset({field.name for field in fields(Content)} | {"deny"})
# What an error carries besides its words, where it is more than plain JSON.
_TUPLES = frozenset({"allowed", "known", "rules"})


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list of asks, with the count of all that match."""

    asks: tuple[Ask, ...]
    count: int
    cursor: str | None
    damaged: tuple[str, ...] = ()


# --- asks --------------------------------------------------------------------------------------


def write_ask(ask: Ask) -> Wire:
    """Return an ask as JSON."""
    said = ask.__dict__
    data = {name: said[name] for name in _AS_IS}
    data |= {name: _time(said[name]) for name in _TIMES}
    return data | {
        "kind": ask.kind,
        "title": ask.title,
        "allow": list(ask.allow),
        "needs": str(ask.needs),
        "content": ask.content.to_json(),
        "stated_by": "agent" if ask.content.posted else "tool",
        "head": ask.head.hex(),
        "votes": [_write_vote(vote) for vote in ask.votes],
        "decision": write_decision(ask.decision),
        "pending": write_decision(ask.pending),
        "effect": _write_effect(ask.effect),
        "stand_ins": list(ask.stand_ins),
        "accused_by": list(ask.accused_by),
        "evidence": list(ask.evidence),
        "trust": None if ask.stake is None else ask.stake.to_json(),
        "harm": None if ask.harm is None else {"what": ask.harm.what, "by": str(ask.harm.by)},
    }


def read_ask(data: Wire) -> Ask:
    """Read an ask that `write_ask` wrote."""
    content = {name: value for name, value in data["content"].items() if name in _CONTENT}
    return Ask(
        **{name: data[name] for name in _AS_IS},
        **{name: _moment(data[name]) for name in _TIMES},  # type: ignore[arg-type]
        content=Content.from_json(content),
        head=bytes.fromhex(data["head"]),
        votes=tuple(_read_vote(vote) for vote in data["votes"]),
        decision=read_decision(data["decision"]),
        pending=read_decision(data["pending"]),
        effect=_read_effect(data["effect"]),
        stand_ins=tuple(data["stand_ins"]),
        accused_by=tuple(data.get("accused_by", ())),
        evidence=tuple(data["evidence"]),
        stake=_read_stake(data.get("trust")),
        harm=_read_harm(data.get("harm")),
    )


def _read_stake(data: Wire | None) -> Stake | None:
    if data is None:
        return None
    return Stake.from_json({name: data[name] for name in _STAKE if name in data})


def _read_harm(data: Wire | None) -> Harm | None:
    return None if data is None else Harm(data["what"], Actor.parse(data["by"]))


def _write_vote(vote: Vote) -> Wire:
    return _write_word(vote) | {"seen": vote.seen}


def _read_vote(data: Wire) -> Vote:
    return Vote(**_read_word(data), seen=data["seen"])


def write_decision(decision: Decision | None) -> Wire | None:
    """Return a decision as JSON."""
    if decision is None:
        return None
    return _write_word(decision) | {
        "digest": decision.digest,
        "args": decision.args,
        "grant": decision.grant,
        "nth": decision.nth,
        "votes": [_write_vote(vote) for vote in decision.votes],
    }


def read_decision(data: Wire | None) -> Decision | None:
    """Read a decision that `write_decision` wrote."""
    if data is None:
        return None
    return Decision(
        **_read_word(data),
        digest=data["digest"],
        arguments=None if data["args"] is None else written(data["args"]),
        grant=data.get("grant"),
        nth=data.get("nth"),
        votes=tuple(_read_vote(vote) for vote in data["votes"]),
    )


def _write_word(word: Vote | Decision) -> Wire:
    """Return what a vote and a decision have in common."""
    return {
        "verdict": word.verdict,
        "by": str(word.by),
        "at": _time(word.at),
        "origin": _write_origin(word.origin),
        "version": word.version,
        "answer": word.answer,
        "note": word.note,
        "kind": word.kind,
        "end": word.end,
        "harmful": word.harmful,
    }


def _read_word(data: Wire) -> Wire:
    plain = ("verdict", "version", "answer", "note", "kind", "end")
    return {name: data[name] for name in plain} | {
        "by": Actor.parse(data["by"]),
        "at": _moment(data["at"]),
        "origin": _read_origin(data["origin"]),
        "harmful": data.get("harmful"),
    }


def _write_origin(origin: Origin) -> Wire:
    return {"via": origin.via, "account": origin.account, "request": origin.request}


def _read_origin(data: Wire) -> Origin:
    return Origin(data["via"], data["account"], data.get("request"))


def _write_effect(effect: Effect | None) -> Wire | None:
    if effect is None:
        return None
    return {
        "status": effect.status,
        "key": effect.key,
        "attempt": effect.attempt,
        "begun_at": _time(effect.begun_at),
        "ended_at": _time(effect.ended_at),
        "result": effect.result,
        "error": effect.error,
        "doubt": effect.doubt,
        "late": list(effect.late),
    }


def _read_effect(data: Wire | None) -> Effect | None:
    if data is None:
        return None
    plain = ("status", "key", "attempt", "result", "error", "doubt")
    return Effect(
        **{name: data[name] for name in plain},
        begun_at=_moment(data["begun_at"]),  # type: ignore[arg-type]
        ended_at=_moment(data["ended_at"]),
        late=tuple(data["late"]),
    )


def write_page(page: Page, counted: str) -> Wire:
    """Return a page as JSON; `counted` is the count as people are shown it."""
    return {
        "asks": [write_ask(ask) for ask in page.asks],
        "count": page.count,
        "counted": counted,
        "next": page.cursor,
        "damaged": list(page.damaged),
    }


def read_page(data: Wire) -> Page:
    """Read a page that `write_page` wrote."""
    asks = tuple(read_ask(ask) for ask in data["asks"])
    return Page(asks, data["count"], data["next"], tuple(data.get("damaged", ())))


# --- calls and events --------------------------------------------------------------------------


def write_call(call: Call) -> Wire:
    """Return a call as JSON."""
    return {
        "ask": write_ask(call.ask),
        "tool": call.tool,
        "args": call.args,
        "key": call.key,
        "attempt": call.attempt,
        "holder": call.holder,
    }


def read_call(data: Wire) -> Call:
    """Read a call that `write_call` wrote."""
    plain = ("tool", "args", "key", "attempt", "holder")
    return Call(ask=read_ask(data["ask"]), **{name: data[name] for name in plain})


def write_event(event: Event) -> Wire:
    """Return a line of the journal as JSON; its hash can be checked by whoever reads it."""
    return {
        "stream": event.stream,
        "seq": event.seq,
        "kind": event.kind,
        "at": _time(event.at),
        "micros": event.micros,
        "by": event.who,
        "payload": event.payload,
        "salt": _hex(event.salt),
        "digest": event.digest.hex(),
        "hash": event.hash.hex(),
        "cursor": event.cursor,
    }


def read_event(data: Wire) -> Event:
    """Read an event that `write_event` wrote."""
    payload, salt = data["payload"], data["salt"]
    return Event(
        stream=data["stream"],
        seq=data["seq"],
        kind=data["kind"],
        micros=data["micros"],
        who=data["by"],
        text=None if payload is None else written(payload),
        salt=None if salt is None else bytes.fromhex(salt),
        digest=bytes.fromhex(data["digest"]),
        hash=bytes.fromhex(data["hash"]),
        cursor=data["cursor"],
    )


# --- errors ------------------------------------------------------------------------------------


def write_error(error: SaysoError, status: int) -> Wire:
    """Return an error as a problem document (RFC 9457), with what it carries.

    `ask`, `decision`, `pending` and `fields` stand beside its words, the rest under `more`.
    """
    problem: Wire = {
        "type": f"{ERRORS}{error.code}",
        "title": _title(type(error)),
        "status": status,
        "detail": str(error),
        "code": error.code,
    }
    more: Wire = {}
    for name, value in vars(error).items():
        if name.startswith("_") or name == "code":
            continue
        if isinstance(value, Ask):
            problem[name] = write_ask(value)
        elif isinstance(value, Decision):
            problem[name] = write_decision(value)
        elif name == "fields":
            problem[name] = dict(value)
        else:
            more[name] = _plain(value)
    return problem | ({"more": more} if more else {})


def read_error(problem: Mapping[str, Any]) -> SaysoError:
    """Read an error that `write_error` wrote: of the same class, with what it carried.

    A code that this program does not know becomes a `SaysoError` with the same words and code.
    """
    code = str(problem.get("code") or "error")
    kind = next((known for known in _classes(SaysoError) if known.code == code), None)
    error = (kind or SaysoError).__new__(kind or SaysoError)
    error.args = (str(problem.get("detail") or problem.get("title") or "The server refused."),)
    more = problem.get("more") or {}
    carried: Wire = {
        name: tuple(value) if name in _TUPLES else value for name, value in more.items()
    }
    for name, read in (("ask", read_ask), ("decision", read_decision), ("pending", read_decision)):
        if problem.get(name) is not None:
            carried[name] = read(problem[name])
    if "fields" in problem:
        carried["fields"] = dict(problem["fields"])
    if kind is None:
        carried["code"] = code
    error.__dict__.update(carried)
    return error


def _classes(kind: type[SaysoError]) -> Iterable[type[SaysoError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _classes(narrower)


def _title(kind: type[SaysoError]) -> str:
    """Return the first sentence of what the class says about itself: the same for every case."""
    return (kind.__doc__ or kind.__name__).split("\n", 1)[0].split(". ", 1)[0].rstrip(".")


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    try:
        return frozen(value)
    except SaysoError:
        return str(value)


def _time(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _hex(raw: bytes | None) -> str | None:
    return None if raw is None else raw.hex()
