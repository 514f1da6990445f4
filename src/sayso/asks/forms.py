"""The verbs as forms: what each one shows, and what its decision means to the caller.

A form is content plus an outcome. Whoever asks (a blocking call here, a run
later on) opens the content, waits in its own way, and reads the outcome. An
outcome may be another form: a draft that is to be written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypedDict, TypeVar, Unpack, cast

from sayso.asks.files import File, frozen_files
from sayso.errors import BadValue, Rejected
from sayso.insight.bounds import nothing_known
from sayso.model.ask import Ask, Decision
from sayso.model.confidence import check_confidence
from sayso.model.content import (
    RISKS,
    Content,
    Option,
    Proposal,
    Risk,
    check_options,
    check_title,
    check_word,
    check_words,
    pairs,
)
from sayso.model.conversion import decode
from sayso.model.digest import canonical
from sayso.model.faults import violations
from sayso.model.names import check_name
from sayso.model.requirement import Requirement
from sayso.model.schema import check_schema, schema_text
from sayso.model.span import Span, aware, span
from sayso.model.text import one_line
from sayso.model.verdicts import Kind, Verdict, offered

T = TypeVar("T")
Step = str | dict[str, Any]
Maker = Callable[[str | None], str]
PlanMaker = Callable[[str | None], Sequence[Step]]


class Terms(TypedDict, total=False):
    """What every verb and gate takes along, all of it optional."""

    risk: Risk | None
    why: str | None
    confidence: float | None
    needs: Iterable[str] | str | None
    deny: int
    allow: Iterable[Verdict] | Verdict | None
    within: Span | None
    deadline: datetime | None
    run: str | None
    thread: str | None
    agent: str | None
    requester: str | None
    owner: str | None
    team: str | None
    tags: Iterable[str]
    conflicts: Iterable[str]
    files: Iterable[File]


@dataclass(frozen=True, slots=True)
class Feedback:
    """What somebody thought of a result."""

    rating: Literal["good", "bad"] | None
    comment: str | None = None


class Reaction(str):
    """What somebody said to a notice: `"ignore"` or `"respond"`, and their words, if there are any."""

    __slots__ = ("text",)
    text: str | None

    def __new__(cls, word: Literal["ignore", "respond"], text: str | None = None) -> Reaction:
        """Return the word, with what they said along with it."""
        made = super().__new__(cls, word)
        made.text = text
        return made


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """A question ready to be opened, and how to read what people said.

    Nobody waits for an optional one: it comes to its own text at once.
    """

    content: Content
    outcome: Callable[[Ask], T | Form[T]]
    hears_end: bool = False  # whether a rejection that ends the run is told to whoever asked, too

    @property
    def at_once(self) -> T:
        """What an optional review comes to."""
        return cast("T", self.content.proposal.args["text"])


OPTIONAL = "1d"
_CONFLICTS = 20
_REVIEWED = "The program wants this text reviewed before it is used."
_UNHELD = "The program has used this text. A change or a no is feedback for the next one."


def feedback_of(ask: Ask) -> Feedback | None:
    """Return what people thought of a text whose review was optional; `None` if nobody said.

    An edit says how it should have been, so it counts as a bad one with the text as its comment.
    """
    decision = ask.decision
    if not ask.content.optional or decision is None or decision.by.kind != "person":
        return None
    if decision.verdict == "approve":
        return Feedback("good", decision.note)
    if decision.verdict == "edit":
        return Feedback("bad", decision.note or str(ask.args["text"]))
    return Feedback("bad", decision.text or decision.note)


_STEP: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "pattern": r"\S"},
        {
            "type": "object",
            "properties": {"title": {"type": "string", "pattern": r"\S"}},
            "required": ["title"],
        },
    ]
}
_PLAN: dict[str, Any] = {
    "type": "object",
    "properties": {"steps": {"type": "array", "minItems": 1, "maxItems": 200, "items": _STEP}},
    "required": ["steps"],
    "additionalProperties": False,
}


def _plan_schema(tools: Sequence[str] | None) -> dict[str, Any]:
    if tools is None:
        return _PLAN
    fields: dict[str, Any] = {
        "title": {"type": "string", "pattern": r"\S"},
        "detail": {"type": "string"},
        "tool": {"enum": [*tools]} if tools else {"type": "null"},
        "needs_approval": {"type": "boolean"},
    }
    step = {
        "type": "object",
        "properties": fields,
        "required": ["title"],
        "additionalProperties": False,
    }
    steps = {**_PLAN["properties"]["steps"], "items": {"anyOf": [_STEP["anyOf"][0], step]}}
    return {**_PLAN, "properties": {"steps": steps}}


_DRAFT = {
    "type": "object",
    "properties": {"text": {"type": "string", "pattern": r"\S"}},
    "required": ["text"],
    "additionalProperties": False,
}
_NOTHING = Proposal(None, "{}", "{}")


def draft_proposal(text: object) -> Proposal:
    """Return a text as it is put before a reviewer.

    Raises:
        BadValue: it is no text, blank, or too much to review.
    """
    return _checked({"text": text}, _DRAFT, "draft")


def plan_proposal(steps: object, tools: Sequence[str] | None = None) -> Proposal:
    """Return the steps of a plan as they are put before a reviewer.

    Raises:
        BadValue: they are no list, none or too many, or one of them says nothing.
    """
    if isinstance(steps, str):
        raise BadValue(f"A plan is a list of steps, not one text: [{one_line(repr(steps), 60)}].")
    if not isinstance(steps, Iterable):
        raise BadValue(f"A plan is a list of steps, not {type(steps).__name__}.")
    return _checked({"steps": list(steps)}, _plan_schema(tools), "plan")


class Forms:
    """Makes the forms of one desk: its agent asks, by its clock, the people of its team."""

    def __init__(
        self,
        agent: str,
        now: Callable[[], datetime],
        look: Callable[[Proposal, float, str | None], str] | None = None,
        team: str | None = None,
    ) -> None:
        self.agent = check_name("agent", agent)
        self.team = check_team(team)
        self.version: Callable[[Callable[..., Any]], str] = lambda _: ""  # of whose code asks
        self._now = now
        self._look = look

    def unseen(self, proposal: Proposal, bound: float, team: str | None = None) -> str:
        """Return the nearest cases of a team's call, and whether none of them reaches the bound."""
        if self._look is None:
            return nothing_known(bound)
        return self._look(proposal, bound, team or self.team)

    def action(
        self,
        tool: str,
        args: Mapping[str, Any],
        *,
        title: str | None = None,
        schema: dict[str, Any] | None = None,
        returns: object = None,
        facts: Mapping[str, Any] | None = None,
        impact: str | None = None,
        reversible: bool | None = None,
        affects: str | None = None,
        version: str | None = None,
        earns: bool = True,
        **terms: Unpack[Terms],
    ) -> Content:
        """Return the content of a tool call; `version` is that of the code that asks."""
        plain = check_name("tool", tool)
        return self.call(
            _called(plain, _mapping(args, "Arguments are"), schema),
            title=tool if title is None else check_title(title, "The title"),
            returns=None if returns is None else _schema(returns),
            facts=facts,
            impact=check_words(impact, "impact"),
            reversible=_yes_or_no(reversible, "reversible"),
            affects=check_words(affects, "affects"),
            stakes=_stakes(check_word(version, "version")) if earns else None,
            terms=terms,
        )

    def call(
        self,
        proposal: Proposal,
        *,
        title: str | None = None,
        returns: str | None = None,
        facts: Mapping[str, Any] | None = None,
        sentence: str | None = None,
        terms: Terms,
        **shown: Any,  # noqa: ANN401 - what a tool's declarations computed
    ) -> Content:
        """Return the content of a call that is known to fit its schema."""
        return self._content(
            "action",
            title or proposal.tool or "",
            proposal,
            terms,
            sentence=sentence or "Every call of this tool needs a person's say-so.",
            facts=_text(facts, "facts"),
            returns=returns,
            **shown,
        )

    def propose(
        self,
        tool: str,
        args: Mapping[str, Any],
        *,
        hears_end: bool = False,
        ignores: bool = False,
        without: tuple[Verdict, ...] = (),
        sentence: str = "Somebody else carries this call out, once a person has said so.",
        about: str | None = None,
        **terms: Any,  # noqa: ANN401 - as of `action`
    ) -> Form[Ask]:
        """Ask about a call that somebody else carries out; the ask as it was decided.

        `ignores` says that whoever asks calls a no to ignore: so does the button. `about` is what
        was asked before.
        """
        content = self.action(tool, args, earns=False, **terms)  # nobody hears what came of it
        allow = tuple(verdict for verdict in content.allow if verdict not in without)
        said = {"allow": allow, "sentence": sentence, "ignores": ignores or None, "about": about}
        return Form(content.changed(**said, elsewhere=True), lambda ask: ask, hears_end)

    def confirm(
        self, text: str, facts: Mapping[str, Any] | None = None, **terms: Unpack[Terms]
    ) -> Form[Decision]:
        """Ask for a yes; the caller's own code acts on it."""
        content = self._content(
            "action",
            check_title(text, "What to confirm"),
            _NOTHING,
            terms,
            without=("edit",),
            sentence="The program asks for your yes before it goes on.",
            facts=_text(facts, "facts"),
        )
        return Form(content, _decision)

    def question(
        self,
        text: str,
        type_: object = str,
        facts: Mapping[str, Any] | None = None,
        about: str | None = None,
        **terms: Unpack[Terms],
    ) -> Form[Any]:
        """Ask for an answer of a type; `None` if nobody gives one. `about` is what was asked before."""
        content = self._content(
            "question",
            check_title(text, "The question"),
            _NOTHING,
            terms,
            sentence="The program needs an answer from a person.",
            answer=_schema(type_),
            facts=_text(facts, "facts"),
            about=about,
        )
        return Form(content, lambda ask: _answered(ask, type_))

    def choose(
        self,
        text: str,
        options: Sequence[object],
        own: object = None,
        facts: Mapping[str, Any] | None = None,
        about: str | None = None,
        **terms: Unpack[Terms],
    ) -> Form[Any]:
        """Ask for one of the options; `None` for none of them. `own` is the type of another value.

        `about` is what was asked before.
        """
        listed = check_options(options)
        own_type = str if own is True else own
        takes_own = own_type is not None and own_type is not False
        content = self._content(
            "choice",
            check_title(text, "The question"),
            _NOTHING,
            terms,
            without=() if takes_own else ("respond",),
            sentence="The program leaves this choice to a person.",
            options=listed,
            answer=_schema(own_type) if takes_own else None,
            facts=_text(facts, "facts"),
            about=about,
        )
        items = dict(zip((option.label for option in listed), options, strict=True))
        return Form(content, lambda ask: _chosen(ask, items, own_type))

    def draft(
        self,
        text: str | Maker,
        *,
        title: str = "Draft",
        optional: bool = False,
        **terms: Unpack[Terms],
    ) -> Form[str | None]:
        """Ask for a review of a text; `None` if it is dropped. A maker can be sent back.

        An optional review holds nobody: the text is used as it is, and what people say to it
        within a day is feedback.
        """
        if optional and terms.get("within") is None and terms.get("deadline") is None:
            terms["within"] = OPTIONAL
        maker = None if isinstance(text, str) else text
        written = text if isinstance(text, str) else text(None)

        def outcome(ask: Ask) -> str | Form[str | None] | None:
            decision = _decision(ask)
            if decision:
                return str(ask.args["text"])
            if decision.verdict == "respond" and maker is not None:
                return form(maker(decision.text), ask.id)
            return None

        def form(draft: str, about: str | None = None) -> Form[str | None]:
            content = self._content(
                "draft",
                check_title(title, "The title"),
                draft_proposal(draft),
                terms,
                without=() if maker or optional else ("respond",),
                sentence=_UNHELD if optional else _REVIEWED,
                optional=optional or None,
                about=about,
            )
            return Form(content, outcome)

        return form(written)

    def plan(
        self,
        steps: Sequence[Step] | PlanMaker,
        *,
        title: str = "Plan",
        tools: Sequence[str] | None = None,
        **terms: Unpack[Terms],
    ) -> Form[list[Step]]:
        """Ask for a review of a plan. Cancelling raises `Rejected`; a maker can be sent back.

        Where the tools are known, a step says only what an agent understands: title, detail,
        one of the tools, and whether it needs approval.
        """
        maker = steps if callable(steps) else None
        first = steps(None) if callable(steps) else steps

        def outcome(ask: Ask) -> list[Step] | Form[list[Step]]:
            decision = _decision(ask)
            if decision:
                return list(ask.args["steps"])
            if decision.verdict == "respond" and maker is not None:
                return form(maker(decision.text), ask.id)
            raise Rejected(ask)

        def form(planned: Sequence[Step], about: str | None = None) -> Form[list[Step]]:
            content = self._content(
                "plan",
                check_title(title, "The title"),
                plan_proposal(planned, tools),
                terms,
                without=() if maker else ("respond",),
                sentence="The program wants its plan reviewed before the first step.",
                about=about,
            )
            return Form(content, outcome)

        return form(first)

    def notice(
        self, text: str, facts: Mapping[str, Any] | None = None, **terms: Unpack[Terms]
    ) -> Form[Reaction]:
        """Tell people of something they may want to act on."""
        content = self._content(
            "notice",
            check_title(text, "The notice"),
            _NOTHING,
            terms,
            sentence="For your information; the program waits for your word.",
            facts=_text(facts, "facts"),
        )
        return Form(content, _reaction)

    def feedback(
        self,
        result: object,
        *,
        task: str | None = None,
        title: str = "How good is this?",
        of: str | None = None,
        **terms: Unpack[Terms],
    ) -> Form[Feedback | None]:
        """Ask what people think of a result; `None` if nobody says within the time given."""
        given = {} if task is None else {"task": check_words(task, "task")}
        content = self._content(
            "feedback",
            check_title(title, "The title"),
            _NOTHING,
            terms,
            sentence="The program asks how well it did.",
            facts=_text({**given, "result": result}, "result"),
            about=check_word(of, "of"),
        )
        return Form(content, _feedback)

    @staticmethod
    def check(terms: Terms) -> None:
        """Refuse terms that no ask could have, before there is one.

        Raises:
            BadValue: one of them makes no sense.
        """
        Requirement.parse(terms.get("needs"), deny=terms.get("deny", 1))
        offered("action", terms.get("allow"))
        for name, checked in _PLAIN.items():
            if name != "risk":  # a tool may compute its risk for each call
                checked(terms.get(name))
        within = terms.get("within")
        if within is not None:
            span(within)

    def _content(
        self,
        kind: Kind,
        title: str,
        proposal: Proposal,
        terms: Terms,
        *,
        sentence: str,
        without: tuple[Verdict, ...] = (),
        **more: Any,  # noqa: ANN401 - fields of Content
    ) -> Content:
        _check_names(terms)
        for name, value in terms.items():
            if name in _PLAIN:
                more[name] = check_term(name, value)
        return Content.fresh(
            kind=kind,
            title=title,
            agent=more.pop("agent", None) or self.agent,
            proposal=proposal,
            allow=offered(kind, terms.get("allow"), without=without),
            needs=Requirement.parse(terms.get("needs"), deny=terms.get("deny", 1)),
            sentence=sentence,
            due_at=self._due(kind, terms),
            team=more.pop("team", None) or self.team,
            **more,
        )

    def _due(self, kind: Kind, terms: Terms) -> datetime | None:
        within, deadline = terms.get("within"), terms.get("deadline")
        if within is None and deadline is None:
            return None
        if kind == "doubt":
            raise BadValue("A doubt takes no deadline: not knowing does not expire.")
        if within is not None and deadline is not None:
            raise BadValue("Give either within= (a span) or deadline= (a moment), not both.")
        now = self._now()
        due_at = now + span(within) if within is not None else aware(_moment(deadline), "deadline")
        if due_at <= now:
            raise BadValue(f"The deadline {due_at.isoformat()} has passed already.")
        return due_at


def check_term(name: str, value: object) -> Any:  # noqa: ANN401 - narrowed by its check
    """Return one of the terms that go on the card as they are.

    Raises:
        BadValue: there is none of this name, or it makes no sense; `path` names it.
    """
    if name not in _PLAIN:
        raise BadValue(f"An ask has no option {name!r}.", path=name)
    try:
        return _PLAIN[name](value)
    except BadValue as error:
        error.path = error.path or name
        raise


def _yes_or_no(value: object, what: str) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise BadValue(f"{what}={value!r}: it is True or False, or left out.")
    return value


def _check_names(terms: Mapping[str, object]) -> None:
    """Refuse a misspelt option: `need=["2 senior"]` must not end in one reviewer."""
    for name in terms:
        if name not in _TERMS:
            import difflib  # only for whoever misspelt one

            names = tuple(Terms.__annotations__)
            near = difflib.get_close_matches(name, names, 1)
            advice = f"did you mean {near[0]}=?" if near else f"there are {', '.join(names)}."
            raise BadValue(f"An ask has no option {name!r}; {advice}")


def _decision(ask: Ask) -> Decision:
    if ask.decision is None:
        raise Rejected(ask)
    return ask.decision


def _answered(ask: Ask, type_: object) -> Any:  # noqa: ANN401 - the asked type
    decision = _decision(ask)
    if decision.verdict != "respond":
        return None
    return decision.answer if isinstance(type_, dict) else decode(type_, decision.answer)


def _chosen(ask: Ask, items: Mapping[str, object], own: object) -> Any:  # noqa: ANN401 - any option
    decision = _decision(ask)
    if decision.verdict == "approve":
        return items[decision.answer["option"]]
    return _answered(ask, own)


def _reaction(ask: Ask) -> Reaction:
    decision = _decision(ask)
    if decision.verdict == "respond":
        return Reaction("respond", decision.text or None)
    return Reaction("ignore", decision.note)


def _feedback(ask: Ask) -> Feedback | None:
    decision = _decision(ask)
    # The clock's rejection means that nobody said anything, not that it was bad.
    if decision.by.kind == "clock":
        return None
    if decision.verdict == "respond":
        return Feedback(None, decision.text)
    return Feedback("good" if decision else "bad", decision.note)


def _checked(args: dict[str, Any], schema: dict[str, Any], what: str) -> Proposal:
    proposal = Proposal.of(None, args, schema)
    wrong = violations(schema, proposal.args)
    if wrong:
        where, why = next(iter(wrong.items()))
        raise BadValue(f"This {what} cannot be reviewed: {where}: {why}", path=where)
    return proposal


def _schema(type_: object) -> str:
    if not isinstance(type_, dict):
        return schema_text(type_)
    check_schema(type_)
    return canonical(type_)


def _called(tool: str, args: dict[str, Any], schema: dict[str, Any] | None) -> Proposal:
    if schema is None:
        return Proposal.of(tool, args)
    check_schema(schema)
    proposal = Proposal.of(tool, args, schema)
    wrong = violations(proposal.schema, proposal.args)
    if wrong:
        where, what = next(iter(wrong.items()))
        raise BadValue(
            f"The arguments of {tool} do not fit their schema: {where}: {what}", path=where
        )
    return proposal


def _stakes(version: str | None) -> str:
    return canonical({} if version is None else {"version": version})


def _mapping(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise BadValue(f"{what} a mapping of names to values, not {type(value).__name__}.")
    return dict(value)


def _text(value: Mapping[str, Any] | None, what: str) -> str | None:
    return None if value is None else pairs(_mapping(value, f"{what}= is"), what)


def _moment(value: object) -> datetime:
    if not isinstance(value, datetime):
        raise BadValue(
            f"deadline= is a datetime, not {type(value).__name__}; for a span use within=."
        )
    return value


def _words(value: object, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise BadValue(f"{what}= is a list of words, not {type(value).__name__}.")
    return tuple(check_words(word, what) or "" for word in value)


def check_conflicts(value: object) -> tuple[str, ...]:
    """Return what contradicts a proposal.

    Raises:
        BadValue: it is no list, more than anybody weighs up, or one of them says nothing.
    """
    conflicts = _words(value, "conflicts")
    if len(conflicts) > _CONFLICTS:
        raise BadValue(f"conflicts= takes at most {_CONFLICTS} texts, not {len(conflicts)}.")
    if not all(text.strip() for text in conflicts):
        raise BadValue("conflicts= holds a blank text: say what contradicts it, or leave it out.")
    return conflicts


def check_team(value: object) -> str | None:
    """Return the name of a team, or `None` for none.

    Raises:
        BadValue: it cannot be the name of a team.
    """
    return None if value is None else check_name("team", value)


def _risk(value: object) -> Any:  # noqa: ANN401 - narrowed by the check
    if value is not None and value not in RISKS:
        raise BadValue(f"risk={value!r}: it is one of {', '.join(RISKS)}.")
    return value


# The terms that go on the card as they are, each with what may be said.
_PLAIN: Mapping[str, Callable[[object], Any]] = {
    "agent": lambda value: None if value is None else check_name("agent", value),
    "why": lambda value: check_words(value, "why"),
    "confidence": check_confidence,
    "risk": _risk,
    "run": lambda value: check_word(value, "run"),
    "thread": lambda value: check_word(value, "thread"),
    "requester": lambda value: None if value is None else check_name("person", value),
    "owner": lambda value: None if value is None else check_name("person", value),
    "team": check_team,
    "tags": lambda value: _words(value, "tags"),
    "conflicts": check_conflicts,
    "files": frozen_files,
}
_TERMS = frozenset(Terms.__annotations__)


__all__ = ["Feedback", "Form", "Forms", "Option", "Terms"]
