"""The JSON of answers, as the OpenAPI document describes it.

Answers are written by `model/wire.py`; what stands here says how to read them.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sayso.model.wire import ERRORS
from sayso.runs.outlook import Need
from sayso.web.problems import MEDIA_TYPE


class Document(BaseModel):
    """JSON with at least these fields; newer servers may send more."""

    model_config = ConfigDict(extra="allow")


class About(Document):
    """What answers here."""

    name: Literal["sayso"]
    version: str = Field(examples=["0.1.0"])
    api: int = Field(examples=[1])
    mode: Literal["local", "team"]


class Health(Document):
    """Whether it can work."""

    status: str = Field(examples=["ok"])


class AskDocument(Document):
    """An ask as it stands."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "id": "a-7f3k",
                "status": "open",
                "version": 1,
                "digest": "9b1c4f...",
                "kind": "action",
                "title": "refund",
                "allow": ["approve", "edit", "reject", "respond"],
                "needs": "one reviewer",
                "content": {"agent": "shop", "tool": "refund", "args": {"order": 7, "amount": 40}},
                "stated_by": "agent",
                "opened_at": "2026-03-01T09:00:00+00:00",
                "decision": None,
                "effect": None,
            }
        },
    )

    id: str
    status: Literal["open", "settling", "decided", "withdrawn"]
    version: int = Field(description="An edit makes a new one.")
    digest: str = Field(description="Names what is shown; a decision says which one it saw.")
    kind: str
    title: str = Field(description="In the words of whoever asked: untrusted text.")
    allow: list[str] = Field(description="The verdicts that can be given now.")
    needs: str = Field(description="Who must agree, in words.")
    content: dict[str, Any] = Field(description="Everything that is shown.")
    stated_by: Literal["agent", "tool"] = Field(
        description="Whose word `preview`, `impact` and `facts` are: what came in a request is the "
        "agent's. Code beside the desk works them out of the call."
    )
    opened_at: str
    decision: dict[str, Any] | None = Field(description="The decision that stands.")
    effect: dict[str, Any] | None = Field(description="What came of carrying it out.")


class AskList(Document):
    """A page of what waits."""

    asks: list[AskDocument]
    count: int = Field(description="How many match, up to 1,001.")
    counted: str = Field(description="The count as it is shown.", examples=["12"])
    next: str | None = Field(description="Where the next page begins.")
    reading: bool = Field(
        default=False, description="Whether a search has not read the whole journal yet: ask again."
    )


class CallDocument(Document):
    """The right to carry out one approved call, once."""

    ask: AskDocument
    tool: str = Field(examples=["refund"])
    args: dict[str, Any] = Field(description="As approved, edits included.")
    key: str = Field(description="For the receiver of the call: the same for every attempt.")
    attempt: int
    holder: str = Field(description="Goes into `finish`.")


class EventDocument(Document):
    """One line of the journal."""

    stream: str = Field(examples=["a-7f3k"])
    seq: int
    kind: str = Field(examples=["ask.opened"])
    at: str
    by: str = Field(examples=["person:anna"])
    payload: dict[str, Any] | None = Field(description="What it says; null once erased.")
    hash: str
    cursor: str | None


class EventList(Document):
    """Lines of the journal, in order."""

    events: list[EventDocument]


class KeyDocument(Document):
    """One key: whose calls of what are trusted together, and how they stand."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "id": "k-7f3k9m2p0q",
                "agent": "shop",
                "version": "~1c4f09a3b2d7",
                "tool": "refund",
                "bucket": "",
                "tier": "medium",
                "team": None,
                "standing": "reviewed",
                "score": 7.3,
                "bar": 20.0,
                "ends": 0,
                "strikes": 0,
                "grants": 0,
                "fine": 164,
                "audits": 0,
                "harms": 0,
                "incidents": 0,
                "marks": "++++++",
                "grant_ask": None,
                "flag_ask": None,
                "changed_at": "2026-03-01T09:00:00+00:00",
            }
        },
    )

    id: str = Field(examples=["k-7f3k9m2p0q"])
    agent: str
    version: str = Field(description="Of the agent: what it has earned, it has earned as that.")
    tool: str
    bucket: str = Field(description="The kind of call, as the tool and the policy sort them.")
    tier: str = Field(description="By the policy.")
    team: str | None
    standing: Literal["reviewed", "proposed", "granted", "suspended", "locked"]
    score: float = Field(description="The evidence that it is good, from 1 on.")
    bar: float = Field(description="The score from which on it may run alone.")
    ends: int = Field(description="Grants that ended by harm; each doubles the bar.")
    strikes: int = Field(description="Confirmed harms since it was granted.")
    grants: int = Field(description="How often it was granted.")
    fine: int = Field(description="Calls that people found to be fine.")
    audits: int = Field(description="Calls that were picked by chance, and judged.")
    harms: int = Field(description="Confirmed harms.")
    incidents: int = Field(description="Harm that was reported afterwards.")
    marks: str = Field(description="The end of its record, a character for each thing said.")
    grant_ask: str | None = Field(description="The open ask whether it may run alone.")
    flag_ask: str | None = Field(description="The open ask whether a flag holds.")
    changed_at: str


class KeyList(Document):
    """Keys: those that want somebody first, then those that run alone."""

    keys: list[KeyDocument]
    counts: dict[str, int] = Field(
        description="How many of all stand how.", examples=[{"reviewed": 12, "granted": 3}]
    )


class KeyEvent(EventDocument):
    """One line of the book of a key."""

    sentence: str = Field(
        description="In plain words, without who.", examples=["found a-7f3k fine"]
    )


class ReachDocument(Document):
    """How far a grant of a key reaches: what people saw in the calls that they approved."""

    numbers: dict[str, list[float]] = Field(
        description="Of each number the least and the greatest.", examples=[{"amount": [1, 20]}]
    )
    names: list[str] = Field(
        description="The other arguments, with their kinds.", examples=[["reason: text"]]
    )
    people: int = Field(description="People who approved such calls.")
    days: int = Field(description="Days from the first approved call to the last.")


class LeastDocument(Document):
    """What a grant takes besides the score."""

    days: int = Field(description="Days from the first approved call to the last.")
    people: int = Field(description="People who approved such calls.")


class BookDocument(KeyDocument):
    """Everything that is known of one key, and everything that was ever said of it."""

    alone: bool = Field(description="Whether its calls run without a person now, but for audits.")
    missing: int | None = Field(description="Calls to be found fine before a grant is proposed.")
    bad_audits: int = Field(description="Of the audits, those that were harmful.")
    strikes_allowed: int = Field(description="Confirmed harms that end a grant.")
    audit_rate: float = Field(description="The share of its calls that chance picks for people.")
    exposure: float | None = Field(
        description="Bad calls that its grant may be expected to let through from now on, at most."
    )
    detection: float = Field(description="The share of bad calls that reviewers notice.")
    needs: list[str] = Field(description="Who decides its calls, and so whether it runs alone.")
    reach: ReachDocument
    least: LeastDocument
    granted_at: str | None
    begun_at: str
    history: list[KeyEvent]


class VersionDocument(Document):
    """One version of what was proposed."""

    number: int
    ask: str
    by: str = Field(examples=["agent:shop"])
    at: str
    args: dict[str, Any]
    guidance: str | None
    text: str


class VersionList(Document):
    """All versions, the oldest first."""

    versions: list[VersionDocument]


class LeaseDocument(Document):
    """What is held on to."""

    holder: str
    seconds: float


class RunDocument(Document):
    """How a run stands."""

    id: str = Field(examples=["r-7f3k2a"])
    workflow: str = Field(examples=["support"])
    thread: str | None
    team: str | None
    status: Literal["ready", "running", "waiting", "parked", "done", "failed", "cancelled"]
    started_at: str
    changed_at: str
    doing: str | None
    progress: float | None
    waits: list[str] = Field(description="The asks it waits for.")


class UsageDocument(Document):
    """What the models of a run have used up."""

    calls: int
    input: int = Field(description="Tokens read.")
    output: int = Field(description="Tokens written.")
    cost: float | None = Field(description="Dollars; `null` where no price is known.")
    seconds: float = Field(description="How long people waited for them.")
    tokens: int


class WholeRunDocument(RunDocument):
    """How a run stands, with what waits for people, what comes next, and what it came to."""

    pending: list[dict[str, Any]] = Field(description="What it asks people, as asks are written.")
    next: list[str]
    steps: int = Field(description="How many events its journal has.")
    error: str | None
    output: Any
    worker: str | None = Field(description="Who carries it on, or did last.")
    attempt: int
    served: bool = Field(description="Whether a worker that has its code is alive.")
    usage: UsageDocument
    plan: list[dict[str, Any]] | None = Field(
        description="The plan in force: each step, and whether it is done, waits, is in hand or to come.",
        examples=[[{"mark": "done", "step": "Find the order"}]],
    )


class RunList(Document):
    """A page of runs."""

    runs: list[RunDocument]
    next: str | None = Field(description="Where the next page begins.")


class MemoryDocument(Document):
    """What a run did, as typed steps."""

    steps: list[dict[str, Any]] = Field(
        examples=[[{"step": "task", "at": "2026-03-01T09:00:00+00:00", "workflow": "support"}]]
    )


class WebhookDocument(Document):
    """A receiver of events."""

    id: str = Field(examples=["w-7f3k2a"])
    url: str = Field(examples=["https://example.com/hook"])
    kinds: list[str] = Field(examples=[["ask.opened"]])
    team: str | None
    full: bool
    allow_private: bool
    active: bool = Field(description="False once it has answered 410.")
    failures: int = Field(description="How many attempts failed in a row.")
    made_at: str
    secret: str | None = Field(
        default=None, description="Only in the answer to adding it.", examples=["whsec_..."]
    )


class WebhookList(Document):
    """All of them."""

    webhooks: list[WebhookDocument]


class DeliveryDocument(Document):
    """One event on its way to one webhook."""

    id: str = Field(examples=["d-7f3k2a9c8b1x0m5n"])
    webhook: str = Field(examples=["w-7f3k2a"])
    about: str = Field(examples=["a-7f3k"])
    event: int
    kind: str = Field(examples=["ask.opened"])
    status: Literal["waiting", "delivered", "dead"]
    attempts: int
    made_at: str
    next_at: str = Field(description="When it is due, or when it ended.")
    code: int | None = Field(description="What the receiver answered last.")
    error: str | None
    took: int | None = Field(description="Milliseconds of the last attempt.")


class DeliveryList(Document):
    """The newest first."""

    deliveries: list[DeliveryDocument]


class AuditDocument(Document):
    """What was found in the journal."""

    whole: bool = Field(description="Whether nothing is wrong.")
    events: int
    streams: int
    erased: int
    sealed: int
    problems: list[dict[str, Any]] = Field(
        description="In what one sees: one's teams' and nobody's."
    )
    others: int = Field(description="Problems that are not named: other teams', or too many.")
    not_covered: list[str] = Field(description="What no verification finds.")


class VerificationDocument(Document):
    """How the verification of this server stands: the one that goes on, or the last one."""

    state: Literal["none", "running", "done", "failed"]
    by: str | None = Field(description="Who began it, unless they are of another team.")
    begun_at: str | None
    ended_at: str | None
    read: int = Field(description="Events that were read so far.")
    total: int = Field(description="Events there were when it began.")
    found: AuditDocument | None = Field(description="What was found, once it is done.")
    failed: str | None = Field(description="Why it came to no end.")


class SealDocument(Document):
    """The line to keep elsewhere."""

    seal: str = Field(examples=["sayso-seal:12:9f3c..."])
    seq: int
    hash: str


class TrailEvent(EventDocument):
    """One line of the journal, and what it was found by."""

    actor: str = Field(description="Whose it is: of a decision that settled, whoever decided.")
    tool: str | None
    verdict: str | None


class TrailPage(Document):
    """Lines of the journal, the newest first."""

    events: list[TrailEvent]
    older: str | None = Field(description="`before` of the next page; null at the end.")
    early: bool = Field(
        description="Whether the look ended among much that was not wanted: read on with `older`."
    )
    whole: bool = Field(description="Whether everything that happened can be found by now.")


class FiguresDocument(Document):
    """What came of what agents proposed, and how long people took."""

    proposed: int = Field(description="Calls that ran alone, or that people or the clock settled.")
    alone: int = Field(description="Calls that ran without asking anybody.")
    granted: int = Field(description="Of these, under a grant that was earned.")
    reviewed: int = Field(description="Actions, plans and drafts that people decided.")
    approved: int
    edited: int
    rejected: int
    sent_back: int
    expired: int
    withdrawn: int
    asked: int = Field(description="Asks of every kind that were put to people.")
    approval_rate: float | None = Field(description="Approved or edited, of what was reviewed.")
    edit_rate: float | None = Field(description="Edited, of what was approved or edited.")
    override_rate: float | None = Field(description="Rejected or edited, of what was reviewed.")
    edit_distance: float | None = Field(description="How much of a proposal an edit changed.")
    autonomous_rate: float | None = Field(description="Alone, of what was proposed.")
    incidents: int = Field(description="Harm that was reported of calls that ran.")
    audited: int = Field(description="Calls under a grant that the coin sent to people.")
    audited_bad: int
    unapproved_bad_rate: float | None = Field(
        description="Bad calls under grants, estimated from the audits."
    )
    unapproved_bad_low: float | None = Field(description="Where its 95% interval begins.")
    unapproved_bad_high: float | None
    avg_approval_time: float | None = Field(description="Seconds from the ask to the decision.")
    p50_approval_time: float | None
    p90_approval_time: float | None
    p99_approval_time: float | None
    avg_queue_time: float | None = Field(description="Until somebody took it up, where known.")
    p50_queue_time: float | None
    p90_queue_time: float | None
    p99_queue_time: float | None
    avg_thinking_time: float | None = Field(description="From there to the decision.")
    p50_thinking_time: float | None
    p90_thinking_time: float | None
    p99_thinking_time: float | None
    split_share: float | None = Field(description="Of how many decisions both are known.")
    sla_rate: float | None = Field(description="Decided in time, of what had a deadline.")
    help_rate: float | None = Field(description="Asks for help, of all that was asked.")
    useful_rate: float | None = Field(description="Asks in which people changed something.")
    minutes_per_1000: float | None = Field(description="What 1,000 actions cost people.")
    double_reviewed: int = Field(description="Asks on which two or more people spoke.")
    agreement: float | None
    kappa: float | None
    pabak: float | None
    ac1: float | None


class TrustedDocument(Document):
    """How keys stand now, and what grants may still let through."""

    keys: dict[str, int] = Field(
        description="How many keys stand how.", examples=[{"reviewed": 12, "granted": 3}]
    )
    exposure_left: float = Field(
        description="Bad calls that all grants may be expected to let through from now on, at most."
    )
    exposure_most: float | None = Field(description="Of these, those of one grant, at most.")
    bad_limit: float | None = Field(
        description="Of one tier: the share of bad calls that is just too many."
    )


class PartDocument(FiguresDocument, TrustedDocument):
    """The figures of one agent, tool or tier."""


class ReviewerDocument(Document):
    """What one person decided, and how long it took."""

    decisions: int
    approved: int
    edited: int
    rejected: int
    sent_back: int
    approval_rate: float | None
    p50_approval_time: float | None
    p50_thinking_time: float | None
    minutes: float = Field(description="For how long they looked, at most.")


class SlotDocument(FiguresDocument):
    """The figures of one part of a window."""

    since: str


class MetricsDocument(FiguresDocument, TrustedDocument):
    """The figures of a window, of the one before it, and of each part of it."""

    since: str
    until: str
    whole: bool = Field(description="Whether everything that happened has been counted by now.")
    open: int = Field(description="Asks that wait for people now; exact up to 1,000.")
    open_more: bool
    oldest_open: float | None = Field(description="Seconds that the oldest of them waits.")
    before: FiguresDocument
    trend: list[SlotDocument]
    by: dict[str, PartDocument | ReviewerDocument] | None = None


class StaffingDocument(Document):
    """Whether people keep up in the busiest hour."""

    hour: int | None = Field(description="Which it is, in UTC.")
    per_hour: float | None = Field(description="How many asks come in it.")
    service_time: float | None = Field(description="Seconds that an ask takes people, on average.")
    known_share: float | None = Field(description="How many of their looks were timed.")
    people: int
    load: float | None = Field(description="The share of their time that they are busy.")
    waits: float | None = Field(description="The chance that an ask waits for somebody.")
    wait: float | None = Field(description="Seconds until somebody is free, on average.")
    enough: int | None = Field(description="How many people would be enough.")
    warning: str | None


class TenthDocument(Document):
    """What was stated within a tenth, and how often people left that as it was."""

    low: float
    high: float
    labels: int
    stated: float
    right: float


class WorthDocument(Document):
    """What a stated confidence is worth by the record."""

    stated: float
    worth: float
    light: Literal["green", "amber", "red"]


class CalibrationDocument(Document):
    """How far one agent's confidence in one tool can be relied upon."""

    team: str | None
    agent: str
    tool: str | None = Field(description="`null` for plans and drafts.")
    kind: str
    labels: int = Field(description="How many times people decided.")
    good: int = Field(description="How many of them unchanged, and not found harmful since.")
    record: bool = Field(description="Whether that is enough to say what a confidence is worth.")
    bins: list[TenthDocument]
    ece: float = Field(description="The mean distance between stated and right; 0 is perfect.")
    brier: float = Field(description="The mean square of that distance for each; 0 is perfect.")
    auroc: float | None = Field(
        description="The chance that of a right and a wrong one the right one was stated surer."
    )
    worth: list[WorthDocument] = Field(description="Of each tenth; empty without a record.")


class CalibrationsDocument(Document):
    """How far the confidence of agents can be relied upon, those with most decisions first."""

    calibrations: list[CalibrationDocument]


class CountDocument(Document):
    """How many there are; exact up to 1,000."""

    count: int
    more: bool = Field(description="Whether there are more than that.")


class WaitingDocument(CountDocument):
    """How many asks wait for people, and for how long."""

    oldest_seconds: float | None
    p50_seconds: float | None = Field(
        description="Half of them have waited for that long or longer."
    )


class AttentionDocument(CountDocument):
    """Something that gets nowhere without a person."""

    need: Need
    text: str
    command: str | None = Field(description="What to type about it, if that is all.")


class OutlookDocument(Document):
    """How everything stands now."""

    at: str
    runs: dict[str, CountDocument] = Field(description="Those that are not over, by status.")
    current: list[str] = Field(description="The newest runs of each status.")
    waiting: WaitingDocument
    attention: list[AttentionDocument]


PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457), with a stable code.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string", "description": "An address made of the code."},
        "title": {"type": "string", "description": "The same for every case of this kind."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened, and what to do next."},
        "code": {"type": "string", "description": "What a program goes by."},
        "fields": {
            "type": "object",
            "description": "What is wrong with which field.",
            "additionalProperties": {"type": "string"},
        },
        "ask": {"type": "object", "description": "The ask as it stands, where there is one."},
        "decision": {
            "type": ["object", "null"],
            "description": "The decision that stands, where somebody was faster.",
        },
        "more": {"type": "object", "description": "What else the error carries."},
    },
}

# Every route may answer these: the limits and the database are in front of all of them.
_EVERYWHERE = (400, 429, 500, 503)
_MEANING: dict[int, tuple[str, str, str]] = {
    400: (
        "The request cannot be read: no JSON, a credential in its address, or another host.",
        "bad-json",
        "The body is no JSON: Expecting value at character 0.",
    ),
    401: (
        "No credential, or one that does not count.",
        "not-signed-in",
        "Not signed in: there is no password, session or token here that counts.",
    ),
    403: (
        "The credential counts, but not for this; or the policy denies it.",
        "wrong-scope",
        "This needs the scope asks:read, which this token does not have.",
    ),
    404: (
        "It does not exist, or not for this caller.",
        "unknown-ask",
        "There is no ask 'a-7f3k' on this desk.",
    ),
    408: (
        "The body took too long to arrive.",
        "slow-body",
        "The body did not arrive within 20 s. Send it again.",
    ),
    409: (
        "The request was right, the world had moved on; `ask` shows how it stands now.",
        "ask-closed",
        'a-7f3k "refund" was approved by anna, so "reject" came too late.',
    ),
    413: (
        "The body is too large.",
        "too-large",
        "A body may have 2,097,152 bytes. Nothing was done.",
    ),
    415: (
        "The body does not say that it is JSON.",
        "wrong-type",
        "The body must be JSON: send it with `Content-Type: application/json`.",
    ),
    422: (
        "A field does not fit; `fields` says which, and why.",
        "invalid-request",
        "The request does not fit. verdict: Input should be 'approve', 'edit', 'reject' or 'respond'",
    ),
    429: (
        "Too much at once; `Retry-After` says when to come back.",
        "too-many-requests",
        "Too many requests. Try again in 2 s.",
    ),
    500: (
        "Something unexpected; the log of the server says what.",
        "internal",
        "Something went wrong on the server. Its log says what; nothing was half written.",
    ),
    503: (
        "The database is busy, full or out of reach, or too many are connected.",
        "store-busy",
        "The database was held by somebody else for too long.",
    ),
}


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems a route may answer with, as OpenAPI describes them."""
    return {status: _problem(status) for status in sorted({*statuses, *_EVERYWHERE})}


READING = (401, 403, 404, 422)
WRITING = (401, 403, 404, 408, 409, 413, 415, 422)


def _problem(status: int) -> dict[str, Any]:
    description, code, detail = _MEANING[status]
    example = {
        "type": f"{ERRORS}{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}
    return {"description": description, "content": {MEDIA_TYPE: content}}
