"""What a person is shown, frozen when the ask opens: the thing the digest covers.

A decision names the digest it saw. So everything that could sway a decision
belongs here (proposal, facts, who must agree, until when), and nothing that
changes by itself does (votes, status, who is looking).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, get_args

from sayso.errors import BadValue
from sayso.model.digest import canonical, frozen, read, text_digest, written
from sayso.model.file import FileNote
from sayso.model.requirement import ONE_REVIEWER, Factor, Requirement
from sayso.model.ruled import NOTHING, Level, Ruled, level_of, ruled
from sayso.model.schema import inferred
from sayso.model.text import one_line
from sayso.model.verdicts import Kind, Verdict

Risk = Literal["low", "medium", "high", "critical"]
RISKS: tuple[Risk, ...] = get_args(Risk)

# A person cannot review more than this, and a row should not carry more.
LIMIT = 1024 * 1024
_LABEL = 200  # characters of an option
MOST_WORD = 200  # characters of what goes into an index

# Free-form JSON is kept as text, so that a frozen value is frozen all the way down.
_AS_TEXT = ("preview", "facts", "answer", "returns", "ruling", "unseen", "worth", "stakes")
_AS_LIST = ("hidden", "tags", "conflicts")
_AS_IS = (
    *("why", "confidence", "risk", "reversible", "affects", "impact"),
    *("about", "run", "thread", "chain", "requester", "owner", "optional", "team", "posted"),
    *("idempotent", "ignores", "elsewhere", "declared"),
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be done: a tool, its arguments and their schema.

    Arguments and schema are kept as canonical JSON text and decoded afresh for
    every reader, so nothing a reader does to them changes what was proposed.
    Without a schema (`shape` is `None`) an edit keeps the fields and JSON types of the
    arguments. Kinds without a tool keep what can be edited here too: a draft its
    `text`, a plan its `steps`.
    """

    tool: str | None
    arguments: str
    shape: str | None = None

    @property
    def args(self) -> dict[str, Any]:
        """The arguments, freshly decoded."""
        return read(self.arguments)  # type: ignore[no-any-return]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema the arguments must fit, freshly decoded."""
        if self.shape is None:
            return read(inferred(self.arguments))  # type: ignore[no-any-return]
        return read(self.shape)  # type: ignore[no-any-return]

    @classmethod
    def of(
        cls, tool: str | None, args: dict[str, Any], schema: dict[str, Any] | None = None
    ) -> Proposal:
        """Freeze a proposal.

        Raises:
            BadValue: an argument cannot be stored, or all of them together are too large.
        """
        if not isinstance(args, dict):
            raise BadValue(
                f"Arguments are a mapping of names to values, not {type(args).__name__}."
            )
        arguments = canonical(args, limit=LIMIT, what="arguments")
        return cls(tool, arguments, None if schema is None else canonical(schema))

    def edited(self, args: dict[str, Any]) -> Proposal:
        """Return the same call with other arguments, to which the same schema applies."""
        arguments = canonical(args, limit=LIMIT, what="arguments")
        return Proposal(self.tool, arguments, self.shape or written(self.schema))


@dataclass(frozen=True, slots=True)
class Option:
    """One suggestion of a choice: what it says on the button, a value to go with it, and detail.

    `choose` returns the option itself, so `chosen.value` is yours to use.
    """

    label: str
    value: Any = None
    detail: str | None = None

    @classmethod
    def of(cls, item: object) -> Option:
        """Freeze an `Option`, or a plain value that is its own label.

        Raises:
            BadValue: its value cannot be stored.
        """
        if isinstance(item, Option):
            value = item.label if item.value is None else item.value
            return cls(item.label, frozen(value, limit=LIMIT, what="option"), item.detail)
        value = frozen(item, limit=LIMIT, what="option")
        return cls(value if isinstance(value, str) else written(value), value)


@dataclass(frozen=True, kw_only=True)
class Content:
    """Everything shown on an ask's card. Two asks with equal content are the same question.

    `posted` says that somebody elsewhere sent all of it, so that `preview`, `impact` and `facts` are
    their word. Else code beside the desk worked them out. Of such a call `declared` says that its
    schema is the desk's own, and not theirs.
    """

    kind: Kind
    title: str
    agent: str
    proposal: Proposal
    allow: tuple[Verdict, ...]
    needs: Requirement = ONE_REVIEWER
    sentence: str = ""
    why: str | None = None
    confidence: float | None = None
    risk: Risk | None = None
    reversible: bool | None = None
    affects: str | None = None
    impact: str | None = None
    preview: str | None = None
    facts: str | None = None
    options: tuple[Option, ...] = ()
    answer: str | None = None
    returns: str | None = None
    hidden: tuple[str, ...] = ()
    due_at: datetime | None = None
    about: str | None = None
    run: str | None = None
    thread: str | None = None
    chain: str | None = None
    ruling: str | None = None
    tags: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    unseen: str | None = None
    worth: str | None = None
    stakes: str | None = None
    requester: str | None = None
    owner: str | None = None
    optional: bool | None = None
    team: str | None = None
    idempotent: bool | None = None
    ignores: bool | None = None
    elsewhere: bool | None = None  # the program that asks carries the call out, and tells nobody
    files: tuple[FileNote, ...] = ()
    posted: bool | None = None
    declared: bool | None = None

    @classmethod
    def fresh(cls, **given: Any) -> Content:  # noqa: ANN401 - its fields
        """Return content that says this and nothing else: the constructor, in a third of the time."""
        content = object.__new__(cls)
        content.__dict__.update(_UNSTATED)
        content.__dict__.update(given)
        return content

    def with_args(self, args: dict[str, Any]) -> Content:
        """Return the same content proposing other arguments, as an edit does."""
        return self.changed(proposal=self.proposal.edited(args))

    def changed(self, **changes: Any) -> Content:  # noqa: ANN401 - its fields
        """Return the same with other fields: `dataclasses.replace`, in a third of the time."""
        content = object.__new__(Content)
        content.__dict__.update(self.__dict__)
        content.__dict__.update(changes)
        return content

    @property
    def level(self) -> Level:
        """The tier in force, and where it stands."""
        said = self.ruled
        return level_of(self.risk, said.tier, said.rank)

    @property
    def ruled(self) -> Ruled:
        """The ruling it is asked under."""
        return NOTHING if self.ruling is None else ruled(self.ruling)

    @property
    def likeness(self) -> str:
        """What tells this question from every other one; the deadline and the ruling do not."""
        proposal, needs = self.proposal, self.needs
        call = (proposal.tool, proposal.arguments, proposal.shape)
        asked: tuple[object, ...] = (_ALIKE(self.__dict__), call, str(needs), needs.deny)
        # Said last and only if there is one, so that what was open before there were teams, or
        # files, is known.
        asked += () if self.team is None else (self.team,)
        asked += (self.files,) if self.files else ()
        asked += ("posted",) if self.posted else ()
        return text_digest(repr(asked))[:32]

    @property
    def answer_schema(self) -> dict[str, Any] | None:
        """The JSON Schema an answer must fit, if the answer is typed."""
        return None if self.answer is None else read(self.answer)

    def to_json(self) -> dict[str, Any]:
        """Return the form kept in the journal; what is not stated is left out."""
        proposal = {"tool": self.proposal.tool, "args": self.proposal.args}
        if self.proposal.shape is not None:
            proposal["schema"] = self.proposal.schema
        stated: dict[str, Any] = {
            "kind": self.kind,
            "title": self.title,
            "agent": self.agent,
            "proposal": proposal,
            "allow": list(self.allow),
            "needs": [str(factor) for factor in self.needs.factors],
            "deny": self.needs.deny,
            "sentence": self.sentence,
        }
        said = self.__dict__
        for name in _AS_IS:
            if said[name] is not None:
                stated[name] = said[name]
        for name in _AS_TEXT:
            if said[name] is not None:
                stated[name] = read(said[name])
        for name in _AS_LIST:
            if said[name]:
                stated[name] = list(said[name])
        if self.options or self.files:
            stated |= self._beside()
        if self.due_at is not None:
            stated["due_at"] = self.due_at.isoformat()
        return stated

    def _beside(self) -> dict[str, Any]:
        """Return the options of a choice and the files of an ask; few have either."""
        options = [[o.label, o.value, o.detail] for o in self.options]
        stated = {"options": options, "files": [note.to_json() for note in self.files]}
        return {name: listed for name, listed in stated.items() if listed}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Content:
        """Read the form kept in the journal."""
        given = dict(data)
        proposal = given.pop("proposal")
        due_at = given.pop("due_at", None)
        return cls(
            proposal=Proposal(
                proposal["tool"], written(proposal["args"]), _dumps(proposal.get("schema"))
            ),
            needs=_needs(tuple(given.pop("needs")), given.pop("deny")),
            allow=tuple(given.pop("allow")),
            options=tuple(Option(*option) for option in given.pop("options", ())),
            due_at=datetime.fromisoformat(due_at) if due_at else None,
            hidden=tuple(given.pop("hidden", ())),
            tags=tuple(given.pop("tags", ())),
            conflicts=tuple(given.pop("conflicts", ())),
            files=tuple(FileNote.from_json(note) for note in given.pop("files", ())),
            **{name: _dumps(value) if name in _AS_TEXT else value for name, value in given.items()},
        )

    @classmethod
    def erased(cls) -> Content:
        """Stand in for content whose payload was erased."""
        nothing = Proposal(None, "{}", "{}")
        return cls(kind="action", title="(erased)", agent="", proposal=nothing, allow=())


_UNSTATED = {field.name: field.default for field in fields(Content) if field.default is not MISSING}

# What makes two questions the same, besides the call, who must agree, the team, the files and whose
# word it is. When it is due, what the policy said, what was known of the past then, whose code
# asks, the word for a no, who carries it out and whose schema it is does not.
_APART = ("ruling", "unseen", "worth", "stakes", "idempotent", "ignores", "elsewhere", "declared")
_ALIKE = itemgetter(
    *(
        field.name
        for field in fields(Content)
        if field.name not in (*_APART, "proposal", "needs", "due_at", "team", "files", "posted")
    )
)


@lru_cache(maxsize=64)
def _needs(factors: tuple[str, ...], deny: int) -> Requirement:
    return Requirement(tuple(Factor.parse(text) for text in factors), deny)


def _dumps(value: Any) -> Any:  # noqa: ANN401 - JSON is what it is
    return None if value is None else written(value)


def pairs(named: Mapping[str, Any], what: str) -> str:
    """Return facts as JSON text that keeps their order, which canonical JSON would sort away.

    Raises:
        BadValue: a fact cannot be stored, or all of them together are too large.
    """
    canonical(dict(named), limit=LIMIT, what=what)
    return canonical([[name, value] for name, value in named.items()])


def shown(ask_id: str, version: int, content: dict[str, Any]) -> str:
    """Return the digest of one version of one ask.

    Id and version are part of it: a digest seen on one ask is worth nothing on
    another that happens to propose the same (E6).
    """
    return text_digest(written([ask_id, version, content]))


def check_word(value: object, what: str) -> str | None:
    """Return a short text that goes into an index: a key, a run, a thread, an agent.

    Raises:
        BadValue: it is not text, empty, too long, or holds characters no database keeps.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValue(f"{what}= is text, not {type(value).__name__}.")
    if not value or len(value) > MOST_WORD or not value.isprintable():
        raise BadValue(
            f"{what}= takes 1 to {MOST_WORD} printable characters, not {one_line(value, 40)!r}."
        )
    return value


def check_words(value: object, what: str) -> str | None:
    """Return longer words of a person or a program, such as a note.

    Raises:
        BadValue: it is not text, or too long for anybody to read.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValue(f"{what}= is text, not {type(value).__name__}.")
    # Escaped in JSON, a plain character takes six bytes at most: nearly all words are fine.
    if not value.isascii() or 6 * len(value) > LIMIT:
        canonical(value, limit=LIMIT, what=what)
    return value


def check_title(title: str, what: str) -> str:
    """Return the title if a person could read it.

    Raises:
        BadValue: it is not text, or says nothing.
    """
    if not isinstance(title, str) or not title.strip():
        raise BadValue(f"{what} is empty; a person must be able to read what is asked.")
    return title


def check_options(items: Sequence[object]) -> tuple[Option, ...]:
    """Return the options of a choice, each with a label of its own.

    Raises:
        BadValue: there are none, too many to choose from, two with one label, or a label that
            fits on no button.
    """
    if isinstance(items, str):
        raise BadValue(f"Options are a list, not one text: [{one_line(repr(items), 60)}].")
    if not isinstance(items, Iterable):
        raise BadValue(f"Options are a list, not {type(items).__name__}.")
    options = tuple(Option.of(item) for item in items)
    if not 1 <= len(options) <= 100:
        raise BadValue(f"A choice takes 1 to 100 options, not {len(options)}.")
    labels = [check_title(option.label, "An option's label") for option in options]
    long = next((label for label in labels if len(label) > _LABEL), None)
    if long is not None:
        raise BadValue(
            f"An option's label takes at most {_LABEL} characters, not {len(long)}: "
            f"{one_line(long, 40)!r}. Give an Option with a short label, and the rest as detail."
        )
    double = next((label for label in labels if labels.count(label) > 1), None)
    if double is not None:
        raise BadValue(f"Two options are called {double!r}; nobody could tell them apart.")
    return options
