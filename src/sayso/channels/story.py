"""What a run did, told for people: its own journal and those of its asks, in order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from rich.text import Text

from sayso.channels.agent_words import AGENT_STEPS, call_begun, call_failed, named
from sayso.channels.card import summary
from sayso.channels.changes import in_brief
from sayso.channels.fence import GUTTER, Row
from sayso.channels.values import as_json, as_name, clipped
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.folding import as_met
from sayso.model.span import say_span
from sayso.model.text import one_line, printable

Said = Mapping[str, Any]
_WIDE = 160
_FIRST, _FINAL = 50, 200
_PAUSE = timedelta(seconds=1)
_JUDGED = ("ask.decided", "ask.voted", "ask.edited", "ask.withdrawn")
_BEGUN, _ENDED = "step.begun", ("step.done", "step.failed")
_LAST = ("run.done", "run.failed", "run.parked", "run.cancelled")


def in_order(run: Sequence[Event], asks: Iterable[Sequence[Event]]) -> list[Event]:
    """Return the events of a run and of its asks by time; each journal keeps its own order."""
    placed = []
    for number, journal in enumerate((run, *asks)):
        latest = 0
        for event in journal:
            latest = max(latest, event.micros)  # a clock that was set back does not reorder
            rank = (event.kind in _LAST) - (event.kind == "run.started")
            placed.append(((latest, rank, number, event.seq), event))
    return [event for _, event in sorted(placed, key=lambda pair: pair[0])]


def story(events: Sequence[Event], asks: Sequence[Ask], *, full: bool = False) -> Iterator[Row]:
    """Tell the events of a run, in order, one line each; with the pauses between them.

    Each is told with the arguments that it is about, whatever an edit made of them later. Of a long
    story the middle is left out unless all of it is wanted.
    """
    known = _met(events, asks)
    before: Event | None = None
    lines = with_begin(events)
    left = 0 if full else len(lines) - _FIRST - _FINAL
    for number, (event, began) in enumerate(lines):
        if left > 0 and _FIRST <= number < _FIRST + left:
            before = event
            if number == _FIRST:
                yield Row("", Text(f"... {left:,} lines more: --full shows them", "dim"), GUTTER)
            continue
        if before is not None:
            yield from _between(before, event, asked=event.stream in known)
        line = told(event, known.get(event.stream, {}).get(event.seq), full=full, begun=began)
        yield Row(event.at.strftime("%H:%M:%S"), line, GUTTER)
        before = event


def _met(events: Iterable[Event], asks: Iterable[Ask]) -> dict[str, dict[int, Ask]]:
    """Return what the events of each ask met."""
    journals: dict[str, list[Event]] = {ask.id: [] for ask in asks}
    for event in events:
        if event.stream in journals:
            journals[event.stream].append(event)
    return {ask.id: as_met(ask, journals[ask.id]) for ask in asks}


def with_begin(events: Sequence[Event]) -> list[tuple[Event, Event | None]]:
    """Return the events that get a line; the end of a call comes with the event that began it.

    A call that came to its end is told there, once, with its arguments. One that began again, as
    after a retry, has the same key: each end takes the begin before it, and what never ended stays.
    """
    running: dict[str, Event] = {}
    begins: dict[tuple[str, int], Event] = {}
    for event in events:
        if event.kind != _BEGUN and event.kind not in _ENDED:
            continue
        key = str((event.payload or {}).get("key") or "")
        if event.kind == _BEGUN:
            running[key] = event
        elif key in running:
            begins[event.stream, event.seq] = running.pop(key)
    told_later = {(event.stream, event.seq) for event in begins.values()}
    return [
        (event, begins.get((event.stream, event.seq)))
        for event in events
        if (event.stream, event.seq) not in told_later
    ]


def telling(event: Event) -> Row | None:
    """Tell one event of a run as it happens, naming the run; `None` if it is no run's."""
    run = event.stream
    if event.kind == "ask.opened":
        run = ((event.payload or {}).get("content") or {}).get("run") or ""
    if not run or not event.kind.startswith(("run.", "step.", "ask.opened")):
        return None
    named = Text.assemble((f"{one_line(run, 40)}  ", "bold"), told(event))
    return Row(event.at.strftime("%H:%M:%S"), named, GUTTER)


def _between(before: Event, event: Event, *, asked: bool) -> Iterator[Row]:
    """Say how long nothing happened, and on which day it goes on."""
    gap = event.at - before.at
    if gap >= _PAUSE:
        waited = event.kind in _JUDGED and asked
        span = say_span(gap)
        said = f"waited {span} for a decision" if waited else f"{span} later"
        yield Row("", Text(said, "dim italic"), GUTTER)
    if event.at.date() != before.at.date():
        yield Row("", Text(event.at.strftime("%A, %Y-%m-%d"), "dim"), GUTTER)


def told(
    event: Event,
    ask: Ask | None = None,
    *,
    full: bool = False,
    begun: Event | None = None,
    called: str | None = None,
) -> Text:
    """Tell one event on one line.

    With the ask as the event met it, or the event in which its call was `begun`, more can be said.
    `called` is what the ask is named instead of by its id.
    """
    if called is not None:
        event = event._replace(stream=one_line(called, _WIDE))  # for its name alone
    said = event.payload
    if said is not None and begun is not None and begun.payload and event.kind in _ENDED:
        said = {**said, "args": begun.payload.get("args")}
    if said is None:
        return Text(f"{event.kind} (erased)", "dim")
    tell = _TOLD.get(event.kind)
    line = tell(event, said, ask, 100_000 if full else _WIDE) if tell else Text(event.kind)
    key = str(said.get("key") or "") if event.kind.startswith("step.") else _place(ask)
    return Text.assemble("  " * key.count("."), line)


def _place(ask: Ask | None) -> str:
    return (ask.key or "").partition(":")[2] if ask is not None else ""


def _who(event: Event) -> tuple[str, str]:
    """Say who did it. When a decision has settled the clock writes it down; a person made it."""
    settled = (event.payload or {}).get("settled")
    if settled:
        return one_line(str(settled), 40), "bold"
    return ("the clock" if event.actor.kind == "clock" else one_line(event.actor.id, 40)), "bold"


def _value(value: object, width: int) -> str:
    return clipped(as_json(value), width)


def _note(said: Said) -> str:
    return f', "{one_line(said["note"], _WIDE)}"' if said.get("note") else ""


def call_of(workflow: str, given: Said, width: int) -> str:
    """Write what a run was started with as a call."""
    args = [as_json(value) for value in given.get("args", ())]
    named = [f"{as_name(name)}={as_json(value)}" for name, value in given.get("kwargs", {}).items()]
    return clipped(f"{as_name(workflow)}({', '.join([*args, *named])})", width)


def _started(event: Event, said: Said, _: Ask | None, width: int) -> Text:
    call = call_of(str(said.get("workflow", "")), said.get("input") or {}, width)
    fresh = ", without the memory of its thread" if said.get("fresh") else ""
    return Text.assemble(_who(event), " started ", call, fresh)


def _step(_: Event, said: Said, __: Ask | None, width: int) -> Text:
    verb = str(said.get("verb"))
    tell = AGENT_STEPS.get(verb)
    if tell is not None:
        return tell(said, width)
    result = None if said.get("result") is None else _value(said["result"], width)
    match verb:
        case "progress":
            words = f" {one_line(str(said['text']), width)}" if said.get("text") else ""
            return Text(f"progress {float(said.get('result') or 0):.0%}{words}", "dim")
        case "now" | "random":
            return Text(
                f"noted {'the time' if verb == 'now' else 'a random number'}: {result}", "dim"
            )
        case "done":
            found = "decided" if said.get("result") else "still open"
            return Text(f"looked whether an answer is there: {found}", "dim")
        case _:
            kind = "workflow" if verb == "workflow" else "step"
            return Text.assemble(f"{kind} ", (named(said), "cyan"), f": {result}" if result else "")


def _step_failed(_: Event, said: Said, __: Ask | None, width: int) -> Text:
    error = said.get("error") or {}
    words = clipped(printable(f"{error.get('kind')}: {error.get('message')}"), width)
    if said.get("verb") == "call":
        return call_failed(said, words, width)
    return Text.assemble("step ", (named(said), "cyan"), (f" failed: {words}", "red"))


def _asked(event: Event, said: Said, ask: Ask | None, width: int) -> Text:
    kind = said["content"]["kind"]
    if ask is not None and event.stream != ask.id:
        return Text.assemble(_who(event), f" asked: {event.stream}")
    what = summary(ask, width) if ask is not None else one_line(said["content"]["title"], width)
    return Text.assemble("asked ", (event.stream, "bold"), f", {kind}: {what}")


def _edited(event: Event, said: Said, ask: Ask | None, width: int) -> Text:
    args = said["args"]
    made = in_brief(ask, args, width) if ask is not None and ask.digest else _value(args, width)
    return Text.assemble(_who(event), f" edited {event.stream}: {made}")


def _voted(event: Event, said: Said, _: Ask | None, __: int) -> Text:
    verdict = said["verdict"]
    return Text.assemble(_who(event), f" voted {verdict} on {event.stream}{_note(said)}")


def _decided(event: Event, said: Said, ask: Ask | None, width: int) -> Text:
    verdict = said["verdict"]
    rating = ask is not None and ask.kind == "feedback" and verdict in _RATED
    past, style = _RATED[verdict] if rating else _PAST.get(verdict, ("answered", "green"))
    name = f"({event.stream})" if rating else event.stream
    answer = said.get("answer")
    words = f": {_value(answer, width)}" if answer is not None else ""
    end = ", and ended the run" if said.get("end") else ""
    if said.get("settled"):
        end += "; it counts now"
    elif event.kind == "ask.settling":
        end += f"; it may be taken back until {said['until'][11:19]}"
    return Text.assemble(_who(event), " ", (past, style), f" {name}{words}{_note(said)}{end}")


_RATED = {"approve": ("called it good", "green"), "reject": ("called it bad", "red")}
_PAST = {
    "approve": ("approved", "green"),
    "edit": ("approved as edited", "green"),
    "reject": ("rejected", "red"),
}


def _tool(ask: Ask | None, event: Event) -> str:
    return as_name(ask.tool) if ask is not None and ask.tool else event.stream


def _intended(event: Event, said: Said, ask: Ask | None, _: int) -> Text:
    by = f" in {one_line(str(said['worker']), 60)}" if said.get("worker") else ""
    again = f", attempt {said['attempt']}" if said.get("attempt", 1) > 1 else ""
    return Text.assemble((_tool(ask, event), "cyan"), f" began{by}{again} ({event.stream})")


def _effect_done(event: Event, said: Said, ask: Ask | None, width: int) -> Text:
    result = f": {_value(said['result'], width)}" if said.get("result") is not None else ""
    who = (_who(event), " says ") if said.get("doubt") else ()
    return Text.assemble(*who, (_tool(ask, event), "cyan"), (" done", "green"), result)


def _effect_failed(event: Event, said: Said, ask: Ask | None, width: int) -> Text:
    words = one_line(str(said.get("error", "")), width)
    return Text.assemble((_tool(ask, event), "cyan"), (f" failed: {words}", "red"))


def _effect_unknown(event: Event, said: Said, ask: Ask | None, width: int) -> Text:
    doubt = f"; people are asked in {said['doubt']}" if said.get("doubt") else ""
    words = one_line(str(said.get("reason", "")), width).rstrip(".")
    return Text.assemble(
        (_tool(ask, event), "cyan"), (f" may or may not have happened: {words}{doubt}", "yellow")
    )


def _done(_: Event, said: Said, __: Ask | None, width: int) -> Text:
    output = f": {_value(said['output'], width)}" if said.get("output") is not None else ""
    return Text.assemble(("done", "bold green"), output)


def _failed(_: Event, said: Said, __: Ask | None, ___: int) -> Text:
    return Text.assemble(("failed", "bold red"), f": {one_line(str(said.get('error', '')), 1000)}")


def _parked(_: Event, said: Said, __: Ask | None, ___: int) -> Text:
    reason = one_line(str(said.get("reason", "")), 1000)
    until = "until it is given as much again" if said.get("more") else "until a person looks at it"
    return Text.assemble(("parked", "bold yellow"), f" {until}: {reason}")


def _cancelled(event: Event, said: Said, _: Ask | None, __: int) -> Text:
    reason = one_line(str(said.get("reason", "")), 1000)
    words = "" if reason == "cancelled" else f": {reason}"
    if event.actor.kind == "agent":
        return Text.assemble(("cancelled", "bold yellow"), words)
    return Text.assemble(_who(event), " ", ("cancelled", "bold yellow"), " the run", words)


_TOLD: Mapping[str, Callable[[Event, Said, Ask | None, int], Text]] = {
    "run.started": _started,
    "step.begun": lambda _, said, __, width: call_begun(said, width),
    "step.done": _step,
    "step.failed": _step_failed,
    "ask.opened": _asked,
    "ask.edited": _edited,
    "ask.voted": _voted,
    "ask.decided": _decided,
    "ask.settling": _decided,
    "ask.withdrawn": lambda event, said, *_: Text.assemble(
        _who(event), f" took {event.stream} back{_note(said)}"
    ),
    "effect.intended": _intended,
    "effect.done": _effect_done,
    "effect.failed": _effect_failed,
    "effect.unknown": _effect_unknown,
    "effect.late": lambda event, _, ask, __: Text.assemble(
        (_tool(ask, event), "cyan"), " reported after its time was up; kept as evidence"
    ),
    "doubt.evidence": lambda event, *_: Text(
        f"a late result was kept as evidence on {event.stream}"
    ),
    "payload.erased": lambda event, said, *_: Text.assemble(
        _who(event), f" erased what {event.stream} said{_note(said)}"
    ),
    "run.done": _done,
    "run.failed": _failed,
    "run.parked": _parked,
    "run.cancelled": _cancelled,
    "run.retried": lambda event, *_: Text.assemble(_who(event), " let it go on"),
}
