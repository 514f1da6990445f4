"""What the pages show, as plain values: templates draw these and know nothing else.

Every text that an agent, a tool or a person elsewhere wrote is kept as it is. Templates make it
visible (the filters `shown` and `line`) and put it where it cannot be taken for our own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from sayso.channels.facts import Fact
from sayso.channels.worddiff import Change
from sayso.model.confidence import Confidence
from sayso.model.content import Option
from sayso.model.stake import Settles
from sayso.model.verdicts import Kind, Verdict
from sayso.web.forms.fields import Field, Form
from sayso.web.stops import Stop

Group = Literal["soon", "needs", "info", "decided"]
Shape = Literal["critical", "high", "medium", "low", "none"]
# Which page it is: scripts and the rail go by it.
Place = Literal[
    "queue",
    "ask",
    "tour",
    "page",
    "overview",
    "runs",
    "trust",
    "insights",
    "audit",
    "policies",
    "tools",
    "people",
]


# --- the queue ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A filter that can be switched on: `Mine`, `Team`, `High risk`, `Decided`."""

    label: str
    href: str
    current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """A filter that is on beside the chip, and how to let go of it: agent, tool, kind, run, words."""

    name: str
    value: str
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One ask in the list. `bulk` is the digest to decide it with, if it may be decided in bulk."""

    id: str
    href: str
    kind: Kind
    title: str
    agent: str
    opened_at: datetime
    due_at: datetime | None = None
    shape: Shape = "none"
    risk_word: str = "risk not stated"
    tier: str | None = None  # of a policy's own, by its name
    group: Group = "needs"
    bulk: str | None = None
    outcome: str | None = None
    assignee: str | None = None
    current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The list, its count from the same statement, and what it was asked with."""

    rows: tuple[Row, ...]
    counted: str
    chips: tuple[Chip, ...]
    narrowed: tuple[Narrowing, ...] = ()
    search: str = ""
    query: str = ""
    more: str | None = None
    damaged: tuple[str, ...] = ()
    reading: bool = False
    last_at: datetime | None = None
    decided: bool = False


# --- one ask -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """One verdict that can be given. `needs` is what goes with it, as the verdict table says."""

    verdict: Verdict
    label: str
    key: str
    takes: str
    primary: bool = False
    means: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Banner:
    """How an ask stands if it can no longer simply be decided; `tone` is wait, done, warn or stop."""

    state: Literal[
        "decided", "settling", "superseded", "expired", "withdrawn", "gone", "erased", "voted"
    ]
    tone: Literal["wait", "done", "warn", "stop"]
    text: str
    detail: str | None = None
    until: datetime | None = None
    undo: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteLine:
    """What one person has said so far."""

    by: str
    verdict: Verdict
    at: datetime
    how: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a plan in the editor. `was` is its place in what was proposed, `None` for a new one."""

    title: str
    detail: str | None = None
    more: tuple[tuple[str, Any], ...] = ()
    was: int | None = None
    moved: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEditor:
    """The steps, and those that were dropped, which can be put back."""

    steps: tuple[Step, ...]
    dropped: tuple[Step, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftVersion:
    """One version of a draft and what changed since the one before."""

    number: int
    by: str
    at: datetime
    guidance: str | None
    changes: Change | None
    href: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A text under review: as it is typed now, and how it came about."""

    text: str
    proposed: str
    versions: tuple[DraftVersion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionCard:
    """One option of a choice."""

    number: int
    option: Option
    facts: tuple[Fact, ...] = ()
    pick: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLink:
    """A file beside an ask. Only an image that is one is shown; everything else is offered."""

    name: str
    media: str
    size: int
    href: str
    image: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sibling:
    """Another call of the same turn."""

    id: str
    href: str
    title: str
    shape: Shape
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it: nothing yet, running, done, failed, unknown."""

    state: Literal["waits", "running", "done", "failed", "unknown"]
    text: str
    facts: tuple[Fact, ...] = ()
    at: datetime | None = None
    doubt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What a person had typed when something came between, so that nothing of it is lost."""

    note: str = ""
    kind: str = ""
    end: bool = False
    harmful: str = ""
    answer: str = ""
    tab: Literal["form", "json"] = "form"
    json_text: str | None = None
    summary: tuple[tuple[str, str], ...] = ()  # (id of the field or "", what is wrong)
    sign_in: str | None = None  # where to sign in again, if that is what is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineStep:
    """One step of a run: done, waiting for people, still to come, failed."""

    state: Literal["done", "wait", "todo", "failed"]
    title: str
    tool: str | None = None
    at: datetime | None = None
    took: str | None = None
    href: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """The run that asks."""

    id: str
    workflow: str
    status: str
    progress: float | None
    steps: tuple[TimelineStep, ...]
    earlier: int = 0
    thread: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordView:
    """The last decisions on the same tool by the same agent, the oldest first."""

    verdicts: tuple[Verdict, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyView:
    """The key that a call counts for, what its record says, and whether the call ran under its grant."""

    id: str
    words: str
    href: str | None = None  # of its page, once it has one
    marks: str = ""
    marks_words: str = ""
    granted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarCase:
    """Something like it that people decided before."""

    id: str
    href: str
    about: str
    verdict: Verdict
    by: str
    at: datetime
    note: str | None
    score: int
    outcome: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What stands beside an ask."""

    run: RunView | None = None
    record: RecordView | None = None
    key: KeyView | None = None
    similar: tuple[SimilarCase, ...] = ()
    majority: str | None = None
    policy: tuple[str, ...] = ()
    siblings: tuple[Sibling, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskView:
    """Everything on the page of one ask, from the top down."""

    id: str
    kind: Kind
    kind_word: str
    title: str
    quoted: bool = False  # the title is in the agent's words
    called: str | None = None  # what the agent calls a call that the title says in our words
    agent: str
    opened_at: datetime
    now: datetime
    version: int
    digest: str
    status: str
    tool: str | None = None
    team: str | None = None
    asking: str = ""
    shape: Shape = "none"
    risk_word: str = "risk not stated"
    asked_because: str = ""
    undone: str | None = None
    confidence: Confidence | None = None
    due_at: datetime | None = None
    then: str | None = None
    why: str | None = None
    conflicts: tuple[str, ...] = ()
    affected: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    votes: tuple[VoteLine, ...] = ()
    missing: str | None = None
    impact: str | None = None
    facts: tuple[Fact, ...] = ()
    preview: tuple[Fact, ...] = ()
    shown: tuple[Fact, ...] = ()
    stale_preview: bool = False
    posted: bool = False  # preview, impact and facts are the word of whoever asked
    beware: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()
    evidence: tuple[Fact, ...] = ()
    about: str | None = None
    known: str | None = None  # of a doubt: what is known of the call, which is read first
    asks_again: bool = False  # whether running it again is asked for once more
    again: bool = False  # whether that was asked and not answered yet
    assignee: str | None = None
    assignable: tuple[str, ...] = ()  # whom it can be given to
    repeats: int = 0
    files: tuple[FileLink, ...] = ()
    banner: Banner | None = None
    buttons: tuple[Button, ...] = ()
    barred: str | None = None
    refusable: bool = False  # barred from a yes, and may still say no
    waits: int = 1  # seconds for which it takes no decision once it has appeared
    confirm: str | None = None
    hold: float = 0.0
    form: Form | None = None
    answer: Field | None = None
    rows: Field | None = None
    grid: Fact | None = None  # of `facts`: the table whose rows these are
    plan: PlanEditor | None = None
    draft: Draft | None = None
    options: tuple[OptionCard, ...] = ()
    changes: tuple[Change, ...] = ()
    edited: bool = False
    lost: bool = False  # `changes` are this person's own, and somebody else was faster
    amended: tuple[Change, ...] = ()  # what others changed while it is open
    since: tuple[Change, ...] = ()  # what has changed since this person looked at it
    outcome: Outcome | None = None
    settles: Settles | None = None  # of an ask about a key: what it settles
    matters: tuple[str, ...] | None = None  # whose edit is asked for harm; none named are all
    touched: bool = False  # whether an edit that was typed touches these
    harm: tuple[str, str] | None = None  # what it did, and who reported it
    harmable: bool = False  # whether harm can be reported
    decided: VoteLine | None = None
    answered: tuple[Fact, ...] = ()
    typed: Typed = field(default_factory=Typed)
    context: Context = field(default_factory=Context)
    request: str = ""
    query: str = ""  # the filters it was opened with: addresses end in them


# --- pages -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Toast:
    """What was just done. What is `held` stands in the tray as well, with a button that undoes it."""

    text: str
    ask: str
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A decision that can still be taken back."""

    ask: str
    text: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tray:
    """All that whoever looks may still take back, the newest first.

    `back` is where they go on afterwards: the filters of the `inbox`, or the address of another page.
    """

    rows: tuple[Held, ...] = ()
    back: str = ""
    inbox: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkItem:
    """One of several asks that are decided together, and what came of it."""

    id: str
    title: str
    digest: str
    result: str | None = None
    failed: bool = False
    shape: Shape = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Which of several decisions may still be taken back, and until when all of them."""

    ids: tuple[str, ...]
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A page that says what failed, or how to come in, and what to do next."""

    title: str
    alert: str | None = None
    said: tuple[str, ...] = ()
    command: str | None = None
    links: tuple[tuple[str, str], ...] = ()  # (what it says, where it goes)
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """Where a link in an agent's words goes; `href` is `None` if it is no place to go to."""

    address: str
    host: str
    href: str | None
    beware: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every page has around it: who is signed in, what the counts are, how it should look."""

    title: str
    who: str
    counted: str = ""
    theme: Literal["light", "dark", "system"] = "system"
    keys: bool = True
    place: Place = "page"
    now: datetime | None = None
    query: str = ""
    toast: Toast | None = None
    tray: Tray = field(default_factory=Tray)
    admin: bool = False
    touring: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)


# --- a tour ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TourLine:
    """The line above the inbox.

    With a `number` the ask on the screen is that stop; `following` is the next one that waits. With
    a title and no number it is that next stop that is named.
    """

    total: int
    number: int | None = None
    following: int | None = None
    title: str = ""
    text: str = ""

    def at(self, stop: Stop) -> TourLine:
        """Return it with the words of a stop."""
        return replace(self, title=stop.title, text=stop.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopView:
    """One stop, and how its run stands. What the run said is the agent's own word."""

    number: int
    title: str
    text: str
    reached: bool = False
    state: Literal["wait", "moving", "over", "gone"] = "gone"
    status: str = "gone"
    progress: float | None = None
    doing: str | None = None
    output: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterView:
    """Stops that belong together."""

    title: str
    stops: tuple[StopView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TourView:
    """Everything there is to see."""

    title: str
    text: str
    stops: tuple[StopView, ...]
    chapters: tuple[ChapterView, ...]
    commands: tuple[tuple[str, str], ...]
    again: str = ""  # what begins anew

    @property
    def seen(self) -> int:
        """How many of the numbered stops are over."""
        return sum(stop.state == "over" for stop in self.stops)

    @property
    def moving(self) -> bool:
        """Whether anything is being worked on right now."""
        stops = [*self.stops, *(stop for chapter in self.chapters for stop in chapter.stops)]
        return any(stop.state == "moving" for stop in stops)
