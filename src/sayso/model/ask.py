"""One durable question to people, as it stands now."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from datetime import datetime
from typing import Any, NamedTuple

from sayso.model.actor import Actor, Origin
from sayso.model.content import Content, Proposal, Risk
from sayso.model.digest import read
from sayso.model.lifecycle import AskStatus, EffectStatus
from sayso.model.requirement import Requirement
from sayso.model.stake import Stake
from sayso.model.text import one_line
from sayso.model.verdicts import ABOUT_KEYS, IGNORE, VERDICTS, Kind, Meaning, RejectKind, Verdict

CONSENTS = frozenset({"approve", "edit"})


class Ballot(NamedTuple):
    """What somebody wants to say to an ask: a verdict and what goes with it.

    The `args` of an edit are a patch, unless they are the `whole` of it: then what is not among
    them is taken away. What is hidden stays in either case. `harmful` says of an edit whether the
    call would have done harm as it was proposed.
    """

    verdict: Verdict
    args: Any = None
    answer: Any = None
    option: str | None = None
    note: str | None = None
    kind: RejectKind | None = None
    end: bool = False
    tool: str | None = None
    hold: float = 0.0
    whole: bool = False
    harmful: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One person's verdict on one version."""

    by: Actor
    verdict: Verdict
    version: int
    seen: str
    at: datetime
    origin: Origin
    answer: Any = None
    note: str | None = None
    kind: RejectKind | None = None
    end: bool = False
    harmful: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The recorded outcome of an ask. Truthy only when it was approved, as shown or as edited."""

    verdict: Verdict
    by: Actor
    at: datetime
    origin: Origin
    digest: str
    version: int
    arguments: str | None = None
    answer: Any = None
    note: str | None = None
    kind: RejectKind | None = None
    end: bool = False
    harmful: bool | None = None  # of an edit: what was proposed would have done harm
    grant: str | None = None  # the key under whose grant nobody had to be asked
    nth: int | None = None  # which grant of the key that was
    votes: tuple[Vote, ...] = ()

    @property
    def args(self) -> dict[str, Any] | None:
        """What was approved, freshly decoded; `None` if nothing was."""
        return None if self.arguments is None else read(self.arguments)

    def __bool__(self) -> bool:
        """Whether people approved."""
        return self.verdict in CONSENTS

    @property
    def text(self) -> str | None:
        """What a person answered, if the answer was text."""
        return self.answer if isinstance(self.answer, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The carrying out of one approved call."""

    status: EffectStatus
    key: str
    attempt: int
    begun_at: datetime
    ended_at: datetime | None = None
    result: Any = None
    error: str | None = None
    doubt: str | None = None
    late: tuple[Any, ...] = ()


class Harm(NamedTuple):
    """What a call turned out to have done, and who reported it."""

    what: str
    by: Actor


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One durable question: what is shown, how it stands, who said what."""

    id: str
    stream: str
    status: AskStatus
    version: int
    digest: str
    content: Content
    opened_at: datetime
    seq: int
    head: bytes
    changed_at: datetime | None = None
    closed_at: datetime | None = None
    votes: tuple[Vote, ...] = ()
    decision: Decision | None = None
    effect: Effect | None = None
    pending: Decision | None = None
    settles_at: datetime | None = None
    reminded: int = 0
    climbed: int = 0
    stand_ins: tuple[str, ...] = ()
    assignee: str | None = None
    repeats: int = 0
    contested: bool = False
    key: str | None = None
    held: bool = False
    gone: bool = False
    solo: bool = False
    original: dict[str, Any] | None = None
    evidence: tuple[dict[str, Any], ...] = ()
    stake: Stake | None = None
    harm: Harm | None = None
    accused_by: tuple[str, ...] = ()  # who said that it would do harm, and has not unsaid it

    @classmethod
    def fresh(cls, **given: Any) -> Ask:  # noqa: ANN401 - its fields
        """Return an ask of which nothing else is known: the constructor, in a third of the time."""
        ask = object.__new__(cls)
        ask.__dict__.update(_UNTOUCHED)
        ask.__dict__.update(given)
        return ask

    def grown(self, **changes: Any) -> Ask:  # noqa: ANN401 - its fields
        """Return the ask after an event: `dataclasses.replace`, in a third of the time."""
        ask = object.__new__(Ask)
        ask.__dict__.update(self.__dict__)
        ask.__dict__.update(changes)
        return ask

    @property
    def open(self) -> bool:
        """Whether it can still be decided."""
        return self.status == "open"

    @property
    def settling(self) -> bool:
        """Whether it is decided but for the time in which a voter may take that back."""
        return self.status == "settling"

    @property
    def closed(self) -> bool:
        """Whether nothing more will be decided."""
        return self.status in ("decided", "withdrawn")

    @property
    def judged(self) -> Decision | None:
        """What people said: the decision, or the one that still settles."""
        return self.pending if self.decision is None else self.decision

    @property
    def needs(self) -> Requirement:
        """Who must agree, with whoever may stand in by now."""
        needs = self.content.needs
        return replace(needs, others=self.stand_ins) if self.stand_ins else needs

    def heeds(self, verdict: Verdict | None, roles: frozenset[str]) -> bool:
        """Whether this verdict of somebody with these roles counts.

        A no of everybody whom the policy asks does, also where the asker wanted others.
        """
        if self.needs.takes(roles):
            return True
        whom = self.content.ruled.needs if self.plain_no(verdict) else None
        return whom is not None and Requirement.parse(whom).takes(roles)

    def plain_no(self, verdict: Verdict | None) -> bool:
        """Whether this verdict only keeps something from happening.

        To leave a doubt, and to overturn a flag, says more than that.
        """
        flag = self.stake is not None and self.stake.settles == "flag"
        return verdict == "reject" and self.kind != "doubt" and not flag

    @property
    def over(self) -> bool:
        """Whether nobody has anything left to do: refused, withdrawn, or carried out."""
        if not self.closed:
            return False
        if not self.decision or self.kind != "action" or self.tool is None:
            return True
        return self.effect is not None and self.effect.status in ("done", "failed")

    @property
    def likeness(self) -> str | None:
        """What this has in common with an ask that need not be put as well.

        `None` for asks that somebody waits for, or that have a name of their own: each of those
        is somebody's. And only of a call can there be no more than one: its approval is spent once.
        """
        somebodys = self.held or self.key is not None or self.content.run is not None
        if somebodys or self.kind != "action" or self.tool is None:
            return None
        due_at = self.due_at  # how much time there is belongs to the question, the moment does not
        left = "" if due_at is None else f"-{round((due_at - self.opened_at).total_seconds())}"
        return f"{self.content.likeness}{left}"

    @property
    def of_run(self) -> bool:
        """Whether a run opened it, and so goes on with what is decided."""
        return self.key is not None and self.key.startswith(f"{self.content.run}:")

    @property
    def carried_out_here(self) -> bool:
        """Whether a yes leads to a call of which the desk hears: its begin, and what came of it."""
        return self.kind == "action" and self.tool is not None and not self.content.elsewhere

    @property
    def kind(self) -> Kind:
        """What is asked for: an action, a plan, a draft, ..."""
        return self.content.kind

    @property
    def title(self) -> str:
        """What is asked, in the words of whoever asked: untrusted text."""
        return self.content.title

    def __repr__(self) -> str:
        """What a prompt shows: everything else is a name away."""
        stands = self.past if self.status == "decided" else self.status
        return f"<Ask {self.id} {self.label!r}, {stands}>"

    @property
    def label(self) -> str:
        """The title made visible, on one line, safe to print."""
        return one_line(self.content.title, 72)

    @property
    def proposal(self) -> Proposal:
        """What is to be done."""
        return self.content.proposal

    @property
    def tool(self) -> str | None:
        """The tool to be called, if any."""
        return self.content.proposal.tool

    @property
    def args(self) -> dict[str, Any]:
        """The arguments as they stand, edits included."""
        return self.content.proposal.args

    @property
    def facts(self) -> dict[str, Any]:
        """What else was given for people to see, by name, freshly decoded."""
        return {} if self.content.facts is None else dict(read(self.content.facts))

    @property
    def risk(self) -> Risk | None:
        """The risk that was declared, `None` if none was."""
        return self.content.risk

    @property
    def due_at(self) -> datetime | None:
        """When the clock will reject it, `None` if it waits for ever."""
        return self.content.due_at

    @property
    def allow(self) -> tuple[Verdict, ...]:
        """The verdicts that can be given now. Once its program has gone it can only be closed."""
        if not self.open:
            return ()
        if not self.gone:
            return self.content.allow or ("reject",)
        return tuple(v for v in self.content.allow if not self.acts(v)) or ("reject",)

    def acts(self, verdict: Verdict) -> bool:
        """Whether somebody must be there to act on this verdict.

        Nobody needs to act on a no, nor on the word that a doubtful call did happen.
        """
        return verdict != "reject" and (self.kind, verdict) != ("doubt", "respond")

    @property
    def past(self) -> str:
        """What is said of its decision: `rejected`, of a rating `called bad`; nothing while open."""
        return "" if self.judged is None else self.meaning(self.judged.verdict).past

    def asks_again(self, verdict: Verdict) -> bool:
        """Whether a verdict runs a call again that may have happened, and is asked for once more."""
        return (self.kind, verdict) == ("doubt", "approve") and not self.content.idempotent

    def meaning(self, verdict: Verdict) -> Meaning:
        """What a verdict means for this kind of ask, and for what it is about."""
        if self.content.ignores and verdict == "reject":
            return IGNORE
        found = VERDICTS[self.content.kind][verdict]
        if self.stake is None or self.stake.settles is None:
            return found
        return ABOUT_KEYS[self.stake.settles].get(verdict, found)


_UNTOUCHED = {field.name: field.default for field in fields(Ask) if field.default is not MISSING}
