"""One ask as its page shows it to one person: what the card in a terminal says, and a form to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from sayso.asks.identity import barred
from sayso.asks.standing import Standing
from sayso.channels.card import ended
from sayso.channels.explanation import (
    GONE,
    affected,
    asks_for,
    confidence_of,
    in_the_end,
    risk_words,
    undone,
    warnings,
    who_must_agree,
)
from sayso.channels.facts import Fact, facts_from, facts_of, undecodable
from sayso.channels.headline import headline
from sayso.channels.worddiff import Change, changes
from sayso.errors import SaysoError
from sayso.model.actor import Actor
from sayso.model.ask import Ask, Decision, Vote
from sayso.model.confidence import Confidence
from sayso.model.content import Option
from sayso.model.names import fold
from sayso.model.ruled import NEVER_BY_TIMEOUT
from sayso.model.stake import matters_of
from sayso.model.tally import missing
from sayso.model.verdicts import Kind, Verdict, key_of
from sayso.web.forms.drawing import answer_field, form_of, rows_of
from sayso.web.forms.fields import Field, Form
from sayso.web.forms.sent import Posted, name_in
from sayso.web.inbox.arming import grants, waits_for
from sayso.web.inbox.deciding import HOLD, confirmation, edits_of, hold_of
from sayso.web.inbox.planning import editor_of
from sayso.web.inbox.posting import NOTHING, one
from sayso.web.inbox.rebasing import seen_as
from sayso.web.look.views import (
    AskView,
    Banner,
    Button,
    Draft,
    FileLink,
    OptionCard,
    Shape,
    Typed,
    VoteLine,
)

KIND_WORDS: Mapping[Kind, str] = {
    "action": "Action",
    "plan": "Plan",
    "draft": "Draft",
    "question": "Question",
    "choice": "Choice",
    "notice": "Notice",
    "feedback": "Feedback",
    "doubt": "Doubt",
}
_DOOR = ("via", "account", "request")  # how evidence came, which is for the journal
# What propose nothing that somebody could be sure of.
_UNSURE: tuple[Kind, ...] = ("notice", "feedback", "doubt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What somebody typed, what is wrong with it, and which version they saw; mostly nothing."""

    fields: Posted = field(default_factory=lambda: NOTHING)
    errors: Mapping[str, str] = field(default_factory=dict)
    wrong: tuple[tuple[str, str], ...] = ()  # (the id of a field or "", what is wrong)
    seen: str | None = None
    sign_in: str | None = None


UNTOUCHED = Entry()


def view_of(at: Standing, me: Actor, request: str, entry: Entry = UNTOUCHED) -> AskView:
    """Return the page of an ask as this person sees it. `request` names what they will send."""
    ask, content = at.ask, at.ask.content
    bar = barred(ask, me, at.roster) if ask.open else None
    form, answer = _form(ask, entry), _answer(ask, entry)
    typed, edited = _edits(ask, entry), ask.original is not None
    facts = () if ask.kind in ("plan", "draft") else facts_of(ask)  # their editors show all
    rows, matters = _rows(ask), _matters(ask)
    return AskView(
        id=ask.id,
        kind=ask.kind,
        kind_word=KIND_WORDS[ask.kind],
        title=headline(ask),
        called=_called(ask),
        quoted=_quoted(ask),
        agent=content.agent,
        opened_at=ask.opened_at,
        now=at.now,
        version=ask.version,
        digest=ask.digest,
        status=ask.status,
        tool=ask.tool,
        team=content.team,
        asking=f"{content.agent or '(nobody)'}{asks_for(ask)}",
        shape=shape_of(ask),
        risk_word=risk_words(ask),
        asked_because=content.sentence if ask.kind != "doubt" else "",  # what is known says it
        undone=undone(ask),
        confidence=_sure(ask),
        due_at=ask.due_at if ask.open else None,
        then=in_the_end(ask) if ask.open and ask.due_at else None,
        why=content.why if content.why and content.why.strip() else None,
        conflicts=content.conflicts,
        affected=tuple(affected(ask)),
        needs=tuple(who_must_agree(ask)),
        votes=tuple(map(vote_line, ask.votes)),
        missing=_still_missing(at),
        impact=content.impact,
        facts=facts,
        preview=_listed(content.preview),
        shown=_listed(content.facts),
        stale_preview=edited,
        posted=bool(content.posted),
        beware=tuple(warnings(ask)),
        hidden=content.hidden,
        opaque=undecodable(ask.args),
        evidence=tuple(fact for item in ask.evidence for fact in _evidence(item)),
        about=content.about,
        assignee=ask.assignee if not ask.closed else None,
        assignable=_assignable(at),
        repeats=ask.repeats,
        files=_files(ask),
        banner=banner_of(at, me, entry.seen),
        buttons=_buttons(ask),
        barred=bar,
        refusable=bar is not None and barred(ask, me, at.roster, verdict="reject") is None,
        waits=waits_for(ask),
        confirm=confirmation(ask) if ask.open else None,
        hold=max(hold_of(ask, at.now, HOLD), content.ruled.cool_off),
        form=form,
        answer=answer,
        rows=rows,
        grid=_grid(facts, rows),
        plan=editor_of(ask, entry.fields) if ask.kind == "plan" else None,
        draft=_draft(ask, entry) if ask.kind == "draft" else None,
        options=_options(ask),
        changes=typed or (() if ask.open else _amended(ask)),
        amended=_amended(ask) if ask.open else (),
        since=since(at, entry.seen),
        edited=edited,
        lost=bool(typed) and not ask.open,
        settles=None if ask.stake is None else ask.stake.settles,
        matters=matters,
        touched=_touched(matters, typed),
        harm=None if ask.harm is None else (ask.harm.what, ask.harm.by.id),
        harmable=ask.closed and ask.effect is not None and ask.harm is None,
        decided=None if ask.judged is None else decision_line(ask.judged),
        answered=_answered(ask),
        typed=_typed(ask, entry, form, answer),
        request=request,
        known=content.sentence if ask.kind == "doubt" else None,
        asks_again=ask.asks_again("approve"),
        again=any(place.startswith("again-") for place, _ in entry.wrong),
    )


def _called(ask: Ask) -> str | None:
    """Return the title that the agent gave its call, if it says more than the name of the tool."""
    if ask.kind != "action" or ask.tool is None or fold(ask.title) == fold(ask.tool):
        return None
    return ask.title


def _quoted(ask: Ask) -> bool:
    """Whether the heading is in the agent's words, and not in ours."""
    if ask.kind == "doubt" or (ask.kind == "action" and ask.tool is not None):
        return False
    if ask.stake is not None and ask.stake.settles is not None:  # nobody but sayso asks for that
        return False
    return ask.title != KIND_WORDS[ask.kind]


def _matters(ask: Ask) -> tuple[str, ...] | None:
    """Return the arguments whose edit is asked for harm, as the tool names them; `None` is no question."""
    if ask.stake is None or ask.stake.settles is not None or not _editable(ask):
        return None
    return matters_of(ask.content) or None


def _touched(matters: tuple[str, ...] | None, typed: Iterable[Change]) -> bool:
    if matters is None:
        return False
    names = [name_in("/" + change.where.split("/")[1]) for change in typed if change.where]
    return any(not matters or name in matters for name in names)


def shape_of(ask: Ask) -> Shape:
    """Return the shape of the tier in force, by where it stands."""
    return cast("Shape", ask.content.level.word or "none")


def _sure(ask: Ask) -> Confidence | None:
    sure = confidence_of(ask)
    return None if sure.stated is None and ask.kind in _UNSURE else sure


def short(at: Standing) -> str | None:
    """Say who must still agree; `None` if it is not for people to agree, or nobody is missing."""
    if at.ask.solo or not at.ask.open:
        return None
    return " and ".join(map(str, missing(at.ask, at.roster))) or None


def _still_missing(at: Standing) -> str | None:
    wanted = short(at) if at.ask.votes else None
    return None if wanted is None else f"Still missing: {wanted}."


def _assignable(at: Standing) -> tuple[str, ...]:
    """Return whom an open ask can be given to: whoever sees it and could decide it."""
    ask, roster = at.ask, at.roster.within(at.ask.content.team)
    if not ask.open or roster.solo:
        return ()
    may = (name for name in roster.people if barred(ask, Actor("person", name), roster) is None)
    return tuple(sorted(name for name in may if name != ask.assignee))


def _listed(text: str | None) -> tuple[Fact, ...]:
    return () if text is None else facts_from([(name, value) for name, value in json.loads(text)])


def _evidence(item: Mapping[str, Any]) -> tuple[Fact, ...]:
    return facts_from([(name, value) for name, value in item.items() if name not in _DOOR])


def _files(ask: Ask) -> tuple[FileLink, ...]:
    return tuple(
        FileLink(
            name=note.name,
            media=note.media,
            size=note.size,
            href=f"/inbox/{ask.id}/files/{number}",
            image=note.image,
        )
        for number, note in enumerate(ask.content.files, start=1)
    )


# --- how it stands -----------------------------------------------------------------------------


def vote_line(vote: Vote) -> VoteLine:
    """Return what one person said, and how they came in."""
    return VoteLine(
        by=vote.by.id,
        verdict=vote.verdict,
        at=vote.at,
        how=_how(vote.origin.via, vote.origin.account),
        note=vote.note,
    )


def decision_line(decision: Decision) -> VoteLine:
    """Return the decision that stands, or that settles."""
    return VoteLine(
        by="the clock" if decision.by.kind == "clock" else decision.by.id,
        verdict=decision.verdict,
        at=decision.at,
        how=_how(decision.origin.via, decision.origin.account),
        note=decision.note,
    )


def _answered(ask: Ask) -> tuple[Fact, ...]:
    """Return what somebody answered or chose, once it is decided or settles."""
    said = None if ask.judged is None else ask.judged.answer
    if said is None:
        return ()
    if ask.kind == "choice" and isinstance(said, dict) and "option" in said:
        return facts_from([("chosen", said["option"])])
    return facts_from([("answer", said)])


def _how(via: str, account: str) -> str:
    return f"via {via} as {account}" if account else ""


def so_far(ask: Ask) -> str:
    """Say how an ask that is no longer open stands; a page draws the moment it counts from."""
    return f"{ended(ask)}, may still be taken back" if ask.settling else ended(ask)


def banner_of(at: Standing, me: Actor, seen: str | None = None) -> Banner | None:
    """Say how an ask stands, if it can no longer simply be decided as it was seen."""
    ask = at.ask
    if not ask.digest:
        return Banner(state="erased", tone="stop", text="What this said was erased.")
    if ask.settling:
        return Banner(
            state="settling",
            tone="wait",
            text=f"{_capital(so_far(ask))}.",
            detail=None if ask.judged is None else ask.judged.note,
            until=ask.settles_at,
            undo=any(vote.by == me for vote in ask.votes),
        )
    if ask.closed:
        return _closed(at)
    if seen is not None and seen != ask.digest:
        return Banner(
            state="superseded",
            tone="warn",
            text="This has changed since you looked at it. Nothing was decided.",
            detail=_changed_by(at),
        )
    if ask.gone:
        return Banner(state="gone", tone="warn", text=GONE)
    return _voted(at, me)


def _closed(at: Standing) -> Banner:
    ask, decision = at.ask, at.ask.decision
    if decision is None:
        last = at.events[-1]
        said = last.payload or {} if last.kind == "ask.withdrawn" else {}
        late, note = last.actor.kind == "clock", said.get("note")
        text = "Expired: it is closed without a decision." if late else "It was withdrawn."
        return Banner(
            state="expired" if late else "withdrawn",
            tone="stop",
            text=text,
            detail=f"The agent says: {note}" if note and last.actor.kind == "agent" else note,
        )
    if decision.by.kind == "clock" and not _settled(at):
        made = "approved" if decision else "rejected"
        text = f"Expired: {made} by the clock, as the policy wants it."
        return Banner(state="expired", tone="stop", text=text, detail=decision.note)
    return Banner(
        state="decided", tone="done", text=f"{_capital(ended(ask))}.", detail=decision.note
    )


def _settled(at: Standing) -> bool:
    return any((event.payload or {}).get("settled") for event in at.events[-3:])


def _voted(at: Standing, me: Actor) -> Banner | None:
    mine = next((vote for vote in at.ask.votes if vote.by == me), None)
    if mine is None:
        return None
    wanted = short(at) or "others"
    text = f"You said {mine.verdict}. It still needs {wanted}. To change your vote, vote again."
    return Banner(state="voted", tone="wait", text=text, detail=mine.note)


def _changed_by(at: Standing) -> str | None:
    for event in reversed(at.events):
        if event.kind == "ask.edited":
            return f"{event.actor.id} edited it."
        if event.kind == "ask.raised":
            return "The policy wants more than it did."
    return None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def since(at: Standing, seen: str | None) -> tuple[Change, ...]:
    """Return what has changed since the version that somebody saw."""
    before = seen_as(at, seen)
    if before is None:
        return ()
    return changes(before.args, at.ask.args, plan=before.kind == "plan")


# --- what can be said, and what was typed ------------------------------------------------------


# What a verdict does, where its word alone does not say so.
_MEANS: Mapping[tuple[Kind, Verdict], str] = {
    ("action", "reject"): "It is not run. The agent is told, and goes on.",
    ("action", "respond"): "It is not run. Your words go to the agent, which may propose again.",
    ("plan", "reject"): "The run ends, and no call follows.",
    ("plan", "respond"): "The agent plans again with your words.",
    ("draft", "reject"): "The text is dropped.",
    ("draft", "respond"): "The text is written again with your words.",
    ("doubt", "approve"): "The call is made once more, with the same idempotency key.",
    ("doubt", "respond"): "It is taken as done, with the result that you give.",
    ("doubt", "reject"): "Nothing more is done about it.",
}


# Where no verdict is the usual one: the options are, or a habit would pay twice.
_EQUAL: tuple[Kind, ...] = ("choice", "doubt")


def _buttons(ask: Ask) -> tuple[Button, ...]:
    offered = [v for v in ask.allow if (ask.kind, v) != ("choice", "approve")]
    first = next((v for v in offered if ask.meaning(v).stance == "consent"), None)
    return tuple(
        Button(
            verdict=verdict,
            label=ask.meaning(verdict).button,
            key=_key_of(ask, verdict),
            takes=ask.meaning(verdict).takes,
            primary=verdict == first and ask.kind not in _EQUAL,
            means=_MEANS.get((ask.kind, verdict), ""),
        )
        for verdict in offered
    )


def _key_of(ask: Ask, verdict: Verdict) -> str:
    """Return the single key of a verdict: none lets what is of high risk run alone."""
    grave = grants(ask) and ask.content.level.word in NEVER_BY_TIMEOUT
    return "" if grave and ask.meaning(verdict).stance == "consent" else key_of(ask.kind, verdict)


def _edits(ask: Ask, entry: Entry) -> tuple[Change, ...]:
    if not entry.fields:
        return ()
    try:
        args = edits_of(ask, entry.fields)
    except SaysoError:  # what is wrong with it stands beside the fields
        return ()
    return () if args is None else changes(ask.args, args, plan=ask.kind == "plan")


def _amended(ask: Ask) -> tuple[Change, ...]:
    if ask.original is None:
        return ()
    return changes(ask.original, ask.args, plan=ask.kind == "plan")


def _editable(ask: Ask) -> bool:
    return ask.kind == "action" and ask.tool is not None and "edit" in ask.content.allow


def _form(ask: Ask, entry: Entry) -> Form | None:
    if not _editable(ask):
        return None
    return form_of(
        ask.proposal.schema,
        ask.args,
        hidden=ask.content.hidden,
        posted=entry.fields or None,
        errors=entry.errors or None,
        theirs=_theirs(ask),
    )


def _theirs(ask: Ask) -> bool:
    """Say if the request brought the schema of its arguments: no code here and no policy has one."""
    return bool(ask.content.posted) and not ask.content.declared


def _rows(ask: Ask) -> Field | None:
    return rows_of(ask.proposal.schema, ask.args) if _editable(ask) else None


def _grid(facts: tuple[Fact, ...], rows: Field | None) -> Fact | None:
    """Return the table of which each row can be ticked: all of it, or it is shown by itself."""
    if rows is None:
        return None
    tables = (fact for fact in facts if fact.kind == "table")
    return next((fact for fact in tables if len(fact.rows) == len(rows.children)), None)


def _answer(ask: Ask, entry: Entry) -> Field | None:
    if "respond" not in ask.content.allow or ask.meaning("respond").takes != "answer":
        return None
    found = answer_field(
        ask.content.answer_schema or {},
        posted=entry.fields or None,
        errors=entry.errors or None,
        theirs=bool(ask.content.posted),
    )
    return replace(found, label="What it returned") if ask.kind == "doubt" else found


def _draft(ask: Ask, entry: Entry) -> Draft:
    proposed = str(ask.args.get("text", ""))
    return Draft(text=one(entry.fields, "text", proposed), proposed=proposed)


def _options(ask: Ask) -> tuple[OptionCard, ...]:
    return tuple(
        OptionCard(
            number=number,
            option=option,
            facts=_stands_for(option),
        )
        for number, option in enumerate(ask.content.options, start=1)
    )


def _stands_for(option: Option) -> tuple[Fact, ...]:
    if option.value in (None, option.label):
        return ()
    return facts_from(option.value if isinstance(option.value, dict) else [("", option.value)])


def _typed(ask: Ask, entry: Entry, form: Form | None, answer: Field | None) -> Typed:
    fields, tab = entry.fields, one(entry.fields, "tab")
    drawn = {one.pointer: one for one in _all([*(form.fields if form else ()), answer])}
    wrong = [_wrong(drawn.get(pointer), text) for pointer, text in entry.errors.items()]
    return Typed(
        note=one(fields, "note"),
        kind=one(fields, "kind"),
        end=bool(one(fields, "end")),
        harmful=one(fields, "harmful"),
        answer=one(fields, "="),
        tab="json" if tab == "json" else "form",
        json_text=one(fields, "json") if tab == "json" else None,
        summary=(*entry.wrong, *wrong),
        sign_in=entry.sign_in,
    )


def _wrong(field: Field | None, text: str) -> tuple[str, str]:
    """Say what is wrong with which field, for a line away from it."""
    return (field.id, f"{field.label}: {text}") if field else ("", text)


def _all(fields: Iterable[Field | None]) -> Iterable[Field]:
    for one_of in fields:
        if one_of is not None:
            yield one_of
            yield from _all(one_of.children)
