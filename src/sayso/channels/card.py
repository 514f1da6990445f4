"""How an ask looks in a terminal: one card for the inbox, the prompt and the live view.

What and Who are drawn by us from the frozen call; Why is in the agent's own words,
which stand behind a bar and are called such; Risk is the policy's sentence. Risk
and confidence are a word and a shape, never a colour alone. What nobody stated is
said to be missing, not left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from sayso.channels.changes import Changes
from sayso.channels.explanation import (
    AGENT_SAYS,
    GONE,
    LATE,
    NO_REASON,
    NOT_STATED,
    SAID_BEFORE,
    STALE,
    affected,
    asks_for,
    confidence_of,
    in_the_end,
    policy_words,
    risk_words,
    undone,
    warnings,
    who_must_agree,
)
from sayso.channels.facts import facts_of
from sayso.channels.fence import Fence, Pairs, Row, said, told
from sayso.channels.precedents import cases_row
from sayso.channels.steps import Line, Step, more_of
from sayso.channels.typed import in_words
from sayso.channels.values import as_call, as_json, as_name, clipped, ordered
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.ask import CONSENTS, Ask, Decision, Vote
from sayso.model.confidence import Level
from sayso.model.names import fold
from sayso.model.span import say_span
from sayso.model.tally import missing
from sayso.model.text import one_line, visible
from sayso.model.worth import Light, Worth

_RISKS: Mapping[str | None, tuple[str, str]] = {
    "critical": ("▲▲", "bold red"),
    "high": ("▲", "red"),
    "medium": ("◆", "yellow"),
    "low": ("●", "green"),
    None: ("○", "default"),
}
_SURE: Mapping[Level, tuple[str, str]] = {
    "high": ("■■■", "green"),
    "medium": ("■■□", "yellow"),
    "low": ("■□□", "red"),
}
_LIGHTS: Mapping[Light, tuple[str, str]] = {
    "green": ("●", "green"),
    "amber": ("◆", "yellow"),
    "red": ("▲", "red"),
}
_DOOR = ("via", "account", "request")  # how it came, which is for the journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Everything a person should see before deciding, and what came of it afterwards."""

    ask: Ask
    roster: Roster
    now: datetime
    full: bool = False
    what: bool = True

    def __rich__(self) -> RenderableType:
        """Lay the card out; `rich` asks for this."""
        rows = (Row(label, body) for label, body in self._rows() if body is not None)
        return Group(header(self.ask), *rows)

    def _rows(self) -> Iterator[tuple[str, RenderableType | None]]:
        ask, content = self.ask, self.ask.content
        if _has_title(ask):
            yield "Title", Text(one_line(content.title, 200), style="bold")
        yield "Known", _known(ask, full=self.full)
        yield "Why", _why(ask, full=self.full)
        yield "Sure", _sure(ask)
        yield "Who", _who(ask, self.roster)
        if self.what:
            yield "What", _what(ask, full=self.full)
        yield "Beware", _beware(ask)
        yield "Risk", _risk(ask)
        yield "Cases", cases_row(ask)
        yield "Impact", _as_proposed(ask, content.impact and said(content.impact, full=self.full))
        yield "Preview", _as_proposed(ask, _listed(content.preview, full=self.full))
        if ask.kind not in ("notice", "feedback"):
            yield "Facts", _by_whom_said(ask, _listed(content.facts, full=self.full))
        yield "Files", _files(ask)
        if ask.original is not None:
            yield "Edits", Changes(ask.original, ask.args, full=self.full, plan=ask.kind == "plan")
        yield "Run", _belongs(ask)
        yield "Deadline", _deadline(ask, self.now)
        yield "Status", _status(ask)
        yield "Decision", _decision(ask, full=self.full)
        yield "Effect", _effect(ask, full=self.full)
        yield "Code", Text(ask.digest[:12] or "(erased)", style="dim")


def _has_title(ask: Ask) -> bool:
    # A question, a choice, a notice and a plain yes-or-no are their title: it stands under What.
    if ask.kind in ("question", "choice", "notice") or (ask.kind, ask.tool) == ("action", None):
        return False
    if ask.tool is not None and fold(ask.title) == fold(ask.tool):
        return False
    return ask.title != ask.kind.capitalize()  # `Plan` says nothing new


def risk_of(ask: Ask) -> tuple[str, str, str]:
    """Return the tier in force: its shape, its name, and its colour by where it stands."""
    level = ask.content.level
    shape, style = _RISKS[level.word]
    return shape, one_line(level.name, 40) if level.name else "not stated", style


def header(ask: Ask) -> Row:
    """Return the first line: id, kind, status, risk."""
    shape, _, style = risk_of(ask)
    risk = f"{shape} {risk_words(ask)}"
    how = Text.assemble(f"{ask.kind}, {ask.status}  ", (risk, style))
    return Row(ask.id, how, len(ask.id) + 2)


def summary(ask: Ask, width: int = 72) -> str:
    """Say on one line what is asked, drawn by us and safe to print."""
    match ask.kind:
        case "action" | "doubt" if ask.tool is not None:
            call = clipped(as_call(ask), max(width - 18, 20) if ask.kind == "doubt" else width)
            return call if ask.kind == "action" else f"did it happen? {call}"
        case "plan":
            steps = ask.args.get("steps", [])
            first = one_line(Line.of(steps[0]).title, width) if steps else ""
            return clipped(f"{one_line(ask.title, 30)}: {len(steps)} steps, 1. {first}", width)
        case "draft":
            lines = str(ask.args.get("text", "")).strip().splitlines()
            text = one_line(lines[0] if lines else "", width)
            return clipped(f"{one_line(ask.title, 30)}: {text}", width)
        case _:
            return one_line(ask.title, width)


def outcome(ask: Ask) -> str:
    """Say on one line how a closed ask ended: by whom, and when it counts if it does not yet."""
    settles = f", counts at {_second(ask.settles_at)}" if ask.settling and ask.settles_at else ""
    return f"{ended(ask)}{settles}"


def ended(ask: Ask) -> str:
    """Say on one line how a closed ask ended: by whom, and with which words."""
    decision = ask.judged
    if decision is None:
        return "withdrawn" if ask.closed_at else "open"
    how = {"harmful": " as harmful", "taste": " as a matter of taste", "not-now": " for now"}
    kind = how.get(decision.kind or "", "")
    stops = ", and the run ends" if decision.end else ""
    return f"{ask.past}{kind} by {_by_whom(decision)}{stops}"


def _by_whom(decision: Decision) -> str:
    """Name who decided: of a yes that took several people, all who agreed to what was decided."""
    agreed = [_named(vote.by) for vote in decision.votes if vote.verdict in CONSENTS]
    if not decision or decision.by.kind != "person" or len(agreed) < 2:
        return _named(decision.by)
    return f"{', '.join(agreed[:-1])} and {agreed[-1]}"


def _second(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def moment(at: datetime) -> str:
    """Write a moment as it is shown everywhere."""
    return at.strftime("%Y-%m-%d %H:%M UTC")


# --- the rows, from the top down ---------------------------------------------------------------


def _why(ask: Ask, *, full: bool) -> RenderableType:
    content = ask.content
    reason: RenderableType = Text(NO_REASON, style="yellow")
    if content.why and content.why.strip():
        reason = told(Text("the agent says:", style="dim"), Fence(content.why, full=full))
    if not content.conflicts:
        return reason
    clash = "\n".join(content.conflicts)
    return told(reason, Text("it names a conflict:", style="dim"), Fence(clash, full=full))


def _sure(ask: Ask) -> RenderableType | None:
    sure = confidence_of(ask)
    # A notice, a request for feedback and a doubt propose nothing to be sure of.
    if sure.stated is None and ask.kind in ("notice", "feedback", "doubt"):
        return None
    meter, style = _SURE[sure.level] if sure.stated is not None else ("□□□", "red")
    basis = f"{sure.percent}, {sure.rests_on}." if sure.percent else "None was stated."
    words = Text.assemble((f"{meter} {sure.words}", style), f". {basis}")
    return words if sure.worth is None else told(words, _light(sure.worth))


def _light(worth: Worth) -> Text:
    shape, style = _LIGHTS[worth.light]
    return Text.assemble((shape if worth.value is not None else "○", style), f" {worth.words}")


def _who(ask: Ask, roster: Roster) -> RenderableType:
    asking = Text.assemble((one_line(ask.content.agent, 60) or "(nobody)", "bold"), asks_for(ask))
    touching = " ".join(affected(ask))
    if not touching and ask.tool is not None:
        asking.append(f" {NOT_STATED}")
    lines = [asking, *([Text(touching)] if touching else [])]
    lines += [Text(sentence) for sentence in who_must_agree(ask)]
    lines += [_vote(vote) for vote in ask.votes]
    short = () if ask.solo or not ask.open else missing(ask, roster)
    if ask.votes and short:
        lines.append(Text(f"Still missing: {' and '.join(map(str, short))}.", style="yellow"))
    return Group(*lines)


def _vote(vote: Vote) -> Text:
    note = f': "{one_line(vote.note, 120)}"' if vote.note else ""
    return Text(f"{_named(vote.by)} said {vote.verdict}{_signed_in(vote.origin)}{note}")


def _what(ask: Ask, *, full: bool) -> RenderableType:
    match ask.kind:
        case "action" | "doubt":
            return _call(ask, full=full)
        case "plan":
            return Group(*step_lines(ask.args.get("steps", [])))
        case "draft":
            return Fence(str(ask.args.get("text", "")), full=full)
        case "question":
            wanted = in_words(ask.content.answer_schema)
            return told(Fence(ask.title), Text(f"The answer is {wanted}."))
        case "choice":
            return told(Fence(ask.title), *_options(ask))
        case "notice" | "feedback":
            head = Fence(ask.title) if ask.kind == "notice" else None
            facts = _facts(ask.content.facts)
            return told(head, _by_whom_said(ask, Pairs(facts, full=full) if facts else None))


def _call(ask: Ask, *, full: bool) -> RenderableType:
    if ask.tool is None:
        return told(Fence(ask.title), Text("Your yes lets the program go on.", style="dim"))
    hidden = ask.content.hidden
    return told(
        Text(as_name(ask.tool), style="bold"),
        Pairs(ordered(ask), hidden=hidden, full=full) if ask.args else Text("(no arguments)"),
        Text(f"hidden: {', '.join(map(as_name, hidden))}", style="yellow") if hidden else None,
        *_tables(ask),
    )


def _tables(ask: Ask) -> Iterator[RenderableType]:
    """Say what the amounts of many rows come to, and which rows are equal."""
    for fact in facts_of(ask):
        if fact.kind == "table" and (fact.totals or fact.same):
            style = "yellow" if fact.same else ""
            yield Text(
                visible(f"{as_name(fact.name)}: {fact.text}. {fact.note or ''}").strip(), style
            )


def step_lines(steps: Sequence[Step]) -> Iterator[RenderableType]:
    """Draw the steps of a plan, numbered by us; whatever else a step says stands behind a bar."""
    for number, step in enumerate(steps, start=1):
        title, rest, line = _title(step)
        yield Row(f"{number}. ", Text.assemble(title, (line.marks, "cyan")), _indent(steps))
        more = more_of(step)
        detail = more.pop("detail") if isinstance(more.get("detail"), str) else ""
        for text in filter(None, (rest, detail)):
            yield Row("", Fence(text), _indent(steps))
        if more:
            yield Row("", Pairs(list(more.items())), _indent(steps))


def _title(step: Step) -> tuple[str, str, Line]:
    """Return the first line of a title, visible; the others; and what else is on its line."""
    line = Line.of(step)
    if line.deceives:
        return as_json(line.title), "", line
    first, _, rest = line.title.partition("\n")
    return visible(first), rest, line


def _indent(numbered: Sized) -> int:
    return len(str(len(numbered))) + 2


def _options(ask: Ask) -> Iterator[RenderableType]:
    indent = _indent(ask.content.options)
    for number, option in enumerate(ask.content.options, start=1):
        yield Row(f"{number}. ", Text(visible(option.label)), indent)
        if option.value not in (None, option.label):
            value = Text(f"stands for {clipped(as_json(option.value), 200)}", style="dim")
            yield Row("", value, indent)
        if option.detail:
            yield Row("", Fence(option.detail), indent)
    if "respond" in ask.content.allow:
        yield Text(f"Or a value of your own: {in_words(ask.content.answer_schema)}.")


def _risk(ask: Ask) -> RenderableType:
    shape, word, style = risk_of(ask)
    why = "" if ask.kind == "doubt" else visible(ask.content.sentence)  # there it is what is known
    said = filter(None, (why, undone(ask)))
    by = policy_words(ask)
    return told(
        Text.assemble((f"{shape} {word}", style), ". ", " ".join(said)),
        Text(f"({by})", style="dim") if by else None,
    )


def _beware(ask: Ask) -> RenderableType | None:
    lines = warnings(ask)
    return Text("\n".join(lines), style="yellow") if lines else None


def _as_proposed(ask: Ask, shown: RenderableType | None) -> RenderableType | None:
    """Mark what was worked out for the call as first proposed, once it has been edited."""
    if not shown:
        return None
    whose = _by_whom_said(ask, shown)
    if ask.original is None:
        return whose
    return told(whose, Text(f"({SAID_BEFORE if ask.content.posted else STALE})", style="yellow"))


def _by_whom_said(ask: Ask, shown: RenderableType | None) -> RenderableType | None:
    """Say of what was sent from elsewhere that it is the agent's word, and no fact of the call."""
    if shown is None or not ask.content.posted:
        return shown
    return told(Text(f"{AGENT_SAYS}:", style="dim"), shown)


def _listed(text: str | None, *, full: bool) -> RenderableType | None:
    facts = _facts(text)
    if not facts:
        return None
    if len(facts) == 1 and facts[0][0] == "" and isinstance(facts[0][1], str):
        return Fence(facts[0][1], full=full)
    return Pairs(facts, full=full)


def _facts(text: str | None) -> list[tuple[str, Any]]:
    return [] if text is None else [(name, value) for name, value in json.loads(text)]


def _files(ask: Ask) -> RenderableType | None:
    files = ask.content.files
    if not files:
        return None
    lines: list[RenderableType] = []
    for number, note in enumerate(files, start=1):
        kind = f"{note.media}, {note.size:,} bytes"
        lied = f"; it was said to be {note.claimed}" if note.claimed else ""
        named = Text.assemble(visible(note.name), (f"  {kind}", "dim"), (lied, "yellow"))
        lines.append(Row(f"{number}. ", named, _indent(files)))
    lines.append(Text(f"Save them: sayso inbox files {ask.id} --save FOLDER", style="dim"))
    return Group(*lines)


def _known(ask: Ask, *, full: bool) -> RenderableType | None:
    """Say what is known of a call that may have happened: people read it before all else."""
    content = ask.content
    if ask.kind != "doubt":
        return None
    about = None
    if content.about is not None:
        about = Text(f"It is about {content.about}; see `sayso inbox show {content.about}`.")
    late = [
        told(
            Text(LATE),
            Pairs([(n, v) for n, v in item.items() if n not in _DOOR], full=full),
        )
        for item in ask.evidence
    ]
    return told(Text(visible(content.sentence)), about, *late)


def _belongs(ask: Ask) -> RenderableType | None:
    run, thread = ask.content.run, ask.content.thread
    parts = [one_line(run, 60)] if run else []
    parts += [f"thread {one_line(thread, 60)}"] if thread else []
    return Text(", ".join(parts)) if parts else None


def _deadline(ask: Ask, now: datetime) -> RenderableType | None:
    if ask.due_at is None or not ask.open:
        return None
    until = moment(ask.due_at)
    if ask.due_at <= now:
        return Text(f"passed at {until}; the clock closes it.", style="yellow")
    left = say_span(ask.due_at - now)
    return Text(f"{left} left (until {until}), then {in_the_end(ask)}.")


def _status(ask: Ask) -> RenderableType | None:
    """Say what the state of an ask does not: that nobody acts on it, who is at it, how often it came."""
    lines = [Text(GONE, style="yellow")] if ask.gone else []
    if ask.assignee and not ask.closed:
        lines.append(Text(f"{one_line(ask.assignee, 60)} is looking into it."))
    if ask.repeats:
        lines.append(Text(f"The agent has asked this {ask.repeats + 1} times."))
    return Group(*lines) if lines else None


def _decision(ask: Ask, *, full: bool) -> RenderableType | None:
    if ask.open:
        return None
    decision = ask.judged
    if decision is None:
        return Text(f"withdrawn, {moment(ask.closed_at)}" if ask.closed_at else "withdrawn")
    first = f"{outcome(ask)}, {moment(decision.at)}{_signed_in(decision.origin)}"
    note = told(Text("note:", style="dim"), Fence(decision.note)) if decision.note else None
    answer: RenderableType | None = None
    if decision.answer is not None:
        answer = Pairs([_answer(ask, decision.answer)], full=full)
    return told(Text(first), answer, note)


def _answer(ask: Ask, answer: Any) -> tuple[str, Any]:  # noqa: ANN401 - JSON
    if ask.kind == "choice" and isinstance(answer, dict) and "option" in answer:
        return "chosen", answer["option"]
    return "answer", answer


def _effect(ask: Ask, *, full: bool) -> RenderableType | None:
    effect = ask.effect
    if effect is None:
        waits = ask.carried_out_here and bool(ask.decision)
        return Text("not begun", style="dim") if waits else None
    match effect.status:
        case "intended":
            again = f", attempt {effect.attempt}" if effect.attempt > 1 else ""
            return Text(f"begun {moment(effect.begun_at)}{again}, no result yet")
        case "done" if effect.result is None:
            return Text("done", style="green")
        case "done":
            return told(Text("done:", style="green"), Pairs([("result", effect.result)], full=full))
        case "failed":
            return Text(f"failed: {one_line(effect.error or 'no reason given', 500)}", style="red")
        case "unknown":
            return Text(f"unknown: see {effect.doubt}", style="yellow")


def _named(actor: Actor) -> str:
    return "the clock" if actor.kind == "clock" else one_line(actor.id, 60)


def _signed_in(origin: Origin) -> str:
    if not origin.account:
        return ""
    return f", via {one_line(origin.via, 20)} as {one_line(origin.account, 60)}"
