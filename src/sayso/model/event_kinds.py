"""Every kind of event that the journal has, as a table that code and docs both use.

What an event does to an ask is in `model.folding`; this table says what it tells, who writes it
and what its payload may say. Whoever takes the name of a kind from outside (a webhook, a stream,
`desk.on`) looks it up here, so that a typo is refused and not waited for. A kind that is written
and not in the table fails a test, and the page `docs/reference/events.md` is made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sayso.errors import BadValue
from sayso.model.actor import ActorKind

Stream = Literal[
    "ask", "run", "trust", "law", "people", "access", "webhooks", "agents", "seals", "desk"
]

ALL = "*"


@dataclass(frozen=True, slots=True)
class EventKind:
    """One kind of event.

    Args:
        name: As the journal has it, such as `ask.opened`.
        stream: Whose history it stands in.
        by: Who may write it.
        tells: What happened.
        says: The fields of its payload, each with what it means; what was not stated is left out.
        becomes: The status of the ask, its effect or the run after it, if it changes that.
        told: Whether a webhook is told of it that names no kinds.
    """

    name: str
    stream: Stream
    by: tuple[ActorKind, ...]
    tells: str
    says: Mapping[str, str] = field(default_factory=dict)
    becomes: str | None = None
    told: bool = False

    @property
    def family(self) -> str:
        """The word before the dot."""
        return self.name.partition(".")[0]


# Fields of every payload but that of a step, which is written while a run is at work.
STAMP: Mapping[str, str] = {
    "via": "through which door it came: `python`, `terminal`, `http`, `web`, `clock`, `policy`, `courier`",
    "account": "under which account of the system, or whose token or session",
    "request": "the request it came with over HTTP, so that one that is sent again finds it",
}

_VOTE = {
    "verdict": "`approve`, `edit`, `reject` or `respond`",
    "seen": "the digest of what they saw",
    "answer": "the answer, the option or the text",
    "note": "what they said to it",
    "kind": "of a rejection: `harmful`, `taste` or `not-now`",
    "end": "of a rejection: that the run ends with it",
    "harmful": "of an edit: whether the call would have done harm as it was proposed",
    "ruled": "the version of the policy it was held against, if not the one it was asked under",
}
_RESULT = {
    "result": "what the call returned",
    "unrecorded": "in its place, if that has no form in JSON or is too large: what it was",
    "error": "in their place: what it raised",
    "attempt": "which try it was",
}
_LABEL = {
    "ask": "the call",
    "detection": "the share of bad calls that reviewers are taken to notice",
    "rho": "if chance had picked it: the share of calls that it picks",
    "paid": "that it makes up for one that chance had picked and that came to nothing",
}
_STEP = {
    "key": "its place in the run",
    "verb": "what was recorded there, such as `step`, `call` or `model`",
    "name": "the function, the tool or the agent",
}

_PRINT = {"fingerprint": "a salted hash of what the database recognises it by"}

_TABLE = (
    # --- an ask, from the question to the decision ---
    EventKind(
        "ask.opened",
        "ask",
        ("agent",),
        "A question was put. It is the first event of its stream.",
        {
            "ask": "its id",
            "content": "everything shown",
            "key": "the idempotency key",
            "held": "that a program waits for it",
            "trust": "the key that the decision counts for, if something can be earned by it",
        },
        becomes="open",
        told=True,
    ),
    EventKind(
        "ask.edited",
        "ask",
        ("person",),
        "Somebody changed what is proposed, which makes the next version. It is their vote, too.",
        {
            **{name: _VOTE[name] for name in ("verdict", "seen", "note", "harmful")},
            "args": "all arguments as they now stand",
            "raised": "if the policy wants more for the edited call: the fields of `ask.raised`",
        },
    ),
    EventKind(
        "ask.raised",
        "ask",
        ("policy",),
        "Somebody wanted to approve, and the policy has become stricter since it was asked. "
        "It makes the next version, on which nobody has voted.",
        {
            "needs": "who must agree now",
            "deny": "how many refusals end it",
            "sentence": "why",
            "ruling": "what the policy said",
            "due_at": "until when, if that is sooner",
        },
    ),
    EventKind(
        "ask.voted",
        "ask",
        ("person",),
        "A vote that does not decide yet: others must agree.",
        _VOTE,
    ),
    EventKind(
        "ask.settling",
        "ask",
        ("person",),
        "The vote that would decide. It counts unless somebody takes it back in time.",
        {**_VOTE, "until": "when it counts"},
        becomes="settling",
    ),
    EventKind(
        "ask.taken_back",
        "ask",
        ("person", "clock"),
        "A voter took that back, or by the moment it would have counted they had left or lost "
        "their role. Their vote is gone.",
        {"note": "why"},
        becomes="open",
    ),
    EventKind(
        "ask.reminded",
        "ask",
        ("clock",),
        "A part of the time to decide has passed.",
        {
            "times": "how many reminders that makes",
            "share": "which part, from 0 to 1",
            "due_at": "until when it can be decided",
        },
        told=True,
    ),
    EventKind(
        "ask.escalated",
        "ask",
        ("clock",),
        "Nobody decided for so long that others may stand in.",
        {"roles": "whose holders may, from now on", "after": "how many seconds it took"},
        told=True,
    ),
    EventKind(
        "ask.assigned",
        "ask",
        ("person",),
        "Somebody looks into it, or was asked to.",
        {"to": "who; nobody in particular, if it is left out"},
    ),
    EventKind(
        "ask.repeated",
        "ask",
        ("agent",),
        "The agent asked the very same again while it was open. Written at 1, 2, 4, 8, ... times.",
        {"times": "how often by then"},
    ),
    EventKind(
        "ask.decided",
        "ask",
        ("person", "policy", "clock"),
        "The vote that decides; or the policy allowed it as it opened; or time was up; or what "
        "was settling counts from now on.",
        {
            **_VOTE,
            "settled": "by the clock: whose decision it is that counts from now on",
            "grant": "by the policy: the key that has earned to run alone",
            "nth": "which of its grants that was",
        },
        becomes="decided",
        told=True,
    ),
    EventKind(
        "ask.withdrawn",
        "ask",
        ("agent", "person", "clock"),
        "The question was taken back: by whoever asked, with its run, or by the clock if a review "
        "was optional and nobody said anything.",
        {"note": "why"},
        becomes="withdrawn",
        told=True,
    ),
    # --- carrying it out ---
    EventKind(
        "effect.intended",
        "ask",
        ("agent",),
        "The approval was spent. Written before the call begins.",
        {
            "key": "the idempotency key of the call, the same for every try",
            "attempt": "which try this is",
            "digest": "of what was approved",
            "worker": "in a run: who carries it out",
            "idempotent": "whether its tool says that it may be called twice with one key",
            "ruled": _VOTE["ruled"],
        },
        becomes="intended",
    ),
    EventKind(
        "effect.done",
        "ask",
        ("agent", "person"),
        "The call returned; or a person said, in a doubt, that it happened.",
        {
            **{name: _RESULT[name] for name in ("result", "unrecorded", "attempt")},
            "doubt": "the ask in which a person said so",
        },
        becomes="done",
    ),
    EventKind(
        "effect.failed",
        "ask",
        ("agent", "person"),
        "The call raised; or a person said, in a doubt, to leave it.",
        {
            "error": "what it raised, or who said to leave it",
            "attempt": _RESULT["attempt"],
            "doubt": "the ask in which a person said so",
        },
        becomes="failed",
    ),
    EventKind(
        "effect.unknown",
        "ask",
        ("agent",),
        "Nobody knows whether the call happened.",
        {
            "reason": "why not",
            "doubt": "the ask that was opened about it; none if a run tries again by itself",
        },
        becomes="unknown",
    ),
    EventKind(
        "effect.late",
        "ask",
        ("agent",),
        "A result that came after the call was taken to be in doubt. It changes nothing by itself.",
        _RESULT,
    ),
    EventKind(
        "doubt.evidence",
        "ask",
        ("agent",),
        "The same late result, in the stream of the doubt. An open doubt gets a new version by it.",
        _RESULT,
    ),
    # --- afterwards ---
    EventKind(
        "payload.erased",
        "ask",
        ("person",),
        "What a closed ask said was erased. Who did what and when stays.",
        {
            "seqs": "the events whose payloads are gone",
            "note": "why",
            "verdict": "what had been decided",
            "team": "whose it was",
            "trust": "the key that it counts for",
        },
    ),
    EventKind(
        "preference.edited",
        "ask",
        ("person",),
        "The preference that the ask left was put into other words.",
        {"text": "the words"},
    ),
    EventKind(
        "preference.removed",
        "ask",
        ("person",),
        "The preference that the ask left was removed: agents are no longer told of it.",
    ),
    # --- the trust in agents ---
    EventKind(
        "incident.reported",
        "ask",
        ("person",),
        "A call that was carried out turned out to have done harm.",
        {"harm": "what it did", "rated": "the rating that said so, if it was one"},
        told=True,
    ),
    EventKind(
        "trust.begun",
        "trust",
        ("policy",),
        "The first call of a key was judged: of an agent in one version, a tool, a kind of call and "
        "a tier. It is the first event of its stream.",
        {
            "agent": "whose calls",
            "version": "of the agent: its model, what it is told, its tools",
            "tool": "of which tool",
            "bucket": "the kind of call, if the tool sorts them",
            "tier": "by the policy",
            "team": "whose agent it is",
            "needs": "who decides its calls",
            "ends": "how many grants of its earlier versions ended by harm",
            "locked": "that they are locked, and so is this one",
        },
    ),
    EventKind(
        "trust.fine",
        "trust",
        ("person",),
        "A call was looked at before it ran, and was fine. The score grows, and so may the reach.",
        {
            **_LABEL,
            "saw": "the arguments that people saw: each number, the least and greatest of several, "
            "the names of others with their kinds; `false` if there are more than are compared",
            "least": "the days and people that a grant takes, where that is not what is usual",
            "voters": "who approved it, if several did",
        },
    ),
    EventKind(
        "trust.flagged",
        "trust",
        ("person", "policy"),
        "A call was found to be harmful, or was over before anybody had spoken to it although chance had "
        "picked it. Nothing of its key runs alone until somebody has looked.",
        {
            **_LABEL,
            "flag": "the ask that was put to others about it",
            "unspoken": "that chance had picked it, and it was over, or never put to anybody, before people spoke",
            "solo": "that it counts as confirmed: nobody else is there, or two people said so",
        },
    ),
    EventKind(
        "trust.confirmed",
        "trust",
        ("person",),
        "Somebody else agreed that it was harmful.",
        {
            "ask": "in which ask",
            "flagged": "the call",
            "rho": _LABEL["rho"],
            "voters": "who was asked and spoke",
        },
    ),
    EventKind(
        "trust.overturned",
        "trust",
        ("person",),
        "Somebody else found that it was not.",
        {
            "ask": "in which ask",
            "flagged": "the call",
            "rho": _LABEL["rho"],
            "voters": "who was asked and spoke",
        },
    ),
    EventKind(
        "trust.incident",
        "trust",
        ("person",),
        "Harm of a call was reported after it had run. A grant ends with it.",
        {"ask": "the call", "harm": "what it did", "detection": _LABEL["detection"]},
    ),
    EventKind(
        "trust.picked",
        "trust",
        ("policy",),
        "Chance picked a call. Until people have spoken to it, nothing else of the key runs alone.",
        {"ask": "the call"},
    ),
    EventKind(
        "trust.inherited",
        "trust",
        ("policy",),
        "A grant of another version of the agent ended by harm, which counts for this one, too.",
        {"ends": "how often by now", "locked": "that only a person can let it earn again"},
    ),
    EventKind(
        "trust.proposed",
        "trust",
        ("policy",),
        "The score has reached the bar. People are asked whether the key may run alone.",
        {
            "ask": "in which ask",
            "score": "how good the record is",
            "bar": "how good it has to be",
            "fine": "calls that were fine",
            "harms": "confirmed harms",
        },
        told=True,
    ),
    EventKind(
        "trust.ratified",
        "trust",
        ("person",),
        "People let the key run alone, but for what chance picks.",
        {"ask": "in which ask", "voters": "who agreed"},
        told=True,
    ),
    EventKind(
        "trust.declined",
        "trust",
        ("person",),
        "People want to see more: the key earns from the beginning.",
        {"ask": "in which ask", "voters": "who was asked and spoke"},
    ),
    EventKind(
        "trust.ended",
        "trust",
        ("policy",),
        "A grant ended by harm. The key is reviewed again, and the bar is twice as high.",
        {"ends": "how often by now", "locked": "that only a person can let it earn again"},
        told=True,
    ),
    EventKind(
        "trust.revoked",
        "trust",
        ("person",),
        "Somebody ended a grant.",
        {"note": "why"},
        told=True,
    ),
    EventKind(
        "trust.reopened",
        "trust",
        ("person",),
        "Somebody let a locked key earn again.",
        {"note": "why"},
    ),
    # --- runs ---
    EventKind(
        "run.started",
        "run",
        ("agent",),
        "A run began. It is the first event of its stream.",
        {
            "workflow": "its name",
            "path": "where its code is, such as `shop:settle`",
            "version": "of its code: as declared, or `~` and a digest of its module",
            "input": "`args` and `kwargs`",
            "thread": "the conversation it belongs to",
            "fresh": "that it begins without the memory of its thread",
            "team": "whose it is",
        },
    ),
    EventKind(
        "step.begun",
        "run",
        ("agent",),
        "A call that needs no approval. Written before it is carried out.",
        {
            "key": _STEP["key"],
            "name": "the tool",
            "args": "its arguments",
            "attempt": _RESULT["attempt"],
            "worker": "who carries it out",
            "ruled": "the version of the policy that lets it run alone",
        },
    ),
    EventKind(
        "step.done",
        "run",
        ("agent",),
        "A verb came to its result, which every replay returns.",
        {
            **_STEP,
            "result": "what it returned",
            "input": "a digest of what it was given",
            "took": "the seconds it worked",
            "text": "of `progress`: the words",
        },
    ),
    EventKind(
        "step.failed",
        "run",
        ("agent",),
        "A verb failed, and does so at every replay.",
        {
            **_STEP,
            "error": "`kind` and `message`",
            "input": "a digest of what it was given",
            "took": "the seconds it worked",
            "refused": "what a maker made that nobody could review",
        },
    ),
    EventKind(
        "run.done",
        "run",
        ("agent",),
        "The workflow returned.",
        {"output": "what it returned"},
        becomes="done",
    ),
    EventKind(
        "run.failed",
        "run",
        ("agent",),
        "The workflow raised. A person may let it try again.",
        {
            "error": "what it raised",
            "trace": "where",
            "forgets": "the places whose failures a retry tries again",
        },
        becomes="failed",
    ),
    EventKind(
        "run.parked",
        "run",
        ("agent", "person"),
        "The run cannot go on without a person.",
        {
            "reason": "why",
            "more": "of what it had used up all it was given, and a retry grants as much again: "
            "`limits`, `replies`, `plans` or `answers`",
        },
        becomes="parked",
    ),
    EventKind(
        "run.cancelled",
        "run",
        ("person", "clock"),
        "Somebody ended the run, or an ask of it was rejected for good.",
        {"reason": "their note, or which ask it was"},
        becomes="cancelled",
    ),
    EventKind(
        "run.retried",
        "run",
        ("person",),
        "Somebody let a parked or failed run go on.",
        {"forgets": "the places that are tried again"},
        becomes="ready",
    ),
    # --- what the desk goes by ---
    EventKind(
        "policy.published",
        "law",
        ("person", "policy"),
        "A version of the policy was put in force. Whoever opens the desk goes by the last one.",
        {
            "kind": "`file`, `code` or `default`",
            "text": "of a file: its text, without `[desk]` and `[serve]`",
            "digest": "what tells its rules from others; asks name it as `ruling.version`",
            "name": "of one made in code: what it is called",
            "source": "the host and the file that it was read from, or the program that has its code",
            "note": "why",
            "restores": "the number of the version that was put in force again",
        },
    ),
    EventKind(
        "tool.declared",
        "law",
        ("agent",),
        "Code beside the desk declares a tool. The last word of each source counts.",
        {
            "name": "of the tool",
            "source": "the file of the code, and the name of the function in it",
            "schemas": "the JSON Schema of its arguments",
            "risk": "a word, or `computed` where a function says it of each call",
            "reversible": "whether it can be undone",
            "affects": "whom it touches besides the one who asks",
            "secret": "arguments that are never shown or stored",
            "bucket": "`true` if its code sorts its calls into kinds",
            "matters": "arguments whose change says something of a call",
            "asks": "`true` if people are asked for each call",
        },
    ),
    EventKind(
        "tool.forgotten",
        "law",
        ("person",),
        "Somebody took back what a source declares of a tool, until its code says it again.",
        {"name": "of the tool", "source": "what declared it", "note": "why"},
    ),
    # --- who is on the desk, and what they come in by ---
    EventKind(
        "person.added",
        "people",
        ("person",),
        "Somebody joined the desk. The first one ends solo mode.",
        {"name": "who", "roles": "their roles", "teams": "their teams"},
    ),
    EventKind(
        "person.changed",
        "people",
        ("person",),
        "Somebody has other roles or teams.",
        {"name": "who", "roles": "as they now are", "teams": "as they now are"},
    ),
    EventKind(
        "person.removed",
        "people",
        ("person",),
        "Somebody left. What they came in by, and the tokens of their agents, end with it.",
        {"name": "who"},
    ),
    EventKind(
        "token.made",
        "access",
        ("person",),
        "A token was made. Its text is nowhere.",
        {
            "id": "which",
            "name": "whose it is",
            "kind": "`agent` or `person`",
            "scopes": "what it may do",
            "expires_at": "until when it counts",
            "team": "of an agent: whose its asks are",
            "owner": "of an agent: the person who may not approve them",
            "version": "of an agent: which one it is",
            **_PRINT,
        },
    ),
    EventKind(
        "token.revoked",
        "access",
        ("person",),
        "A token was revoked.",
        {"id": "which", "name": "whose it was", "kind": "`agent` or `person`"},
    ),
    EventKind(
        "password.set",
        "access",
        ("person",),
        "A password was set, which ends the sessions of whoever it belongs to.",
        {"name": "whose", "kept": "the session that did not end with it", **_PRINT},
    ),
    EventKind(
        "password.rehashed",
        "access",
        ("person",),
        "Somebody signed in, and the same password was hashed anew, by newer rules.",
        {"name": "whose", **_PRINT},
    ),
    EventKind(
        "session.opened",
        "access",
        ("person",),
        "Somebody signed in.",
        {
            "id": "which session",
            "name": "who, unless it is whoever sits at the machine",
            "how": "what they showed",
            "address": "where they came from",
            "opened_at": "when they showed it",
            "replaces": "the session before",
            **_PRINT,
        },
    ),
    EventKind(
        "link.made",
        "access",
        ("person",),
        "A link was made that signs in whoever sits at the machine, once.",
        {"until": "until when it does", **_PRINT},
    ),
    EventKind(
        "session.ended",
        "access",
        ("person",),
        "Somebody signed out, or was signed out. Sessions that grow old end without.",
        {"id": "which session", "ids": "which, if it was all of somebody's", "name": "whose"},
    ),
    EventKind(
        "identity.linked",
        "access",
        ("person",),
        "A provider's name for somebody was tied to a person of the desk.",
        {"name": "the person", "issuer": "the provider", "subject": "what it calls them"},
    ),
    EventKind(
        "identity.unlinked",
        "access",
        ("person",),
        "That was undone.",
        {"name": "the person", "issuer": "the provider", "subject": "what it calls them"},
    ),
    # --- looking after the desk ---
    EventKind(
        "webhook.added",
        "webhooks",
        ("person",),
        "A receiver is told of events from now on.",
        {
            "id": "which webhook",
            "where": "scheme and host; never the path, never the secret",
            "fingerprint": "a salted hash of the secret that signs what it is told",
            "address": "a salted hash of that secret and the whole URL",
            "kinds": "of what it is told",
            "full": "whether it is told everything",
            "allow_private": "whether it may be in this network",
            "team": "only of whose asks and runs",
        },
    ),
    EventKind(
        "webhook.removed",
        "webhooks",
        ("person",),
        "A receiver is told nothing more.",
        {"id": "which webhook"},
    ),
    EventKind(
        "webhook.disabled",
        "webhooks",
        ("clock",),
        "A courier gave a receiver up.",
        {"id": "which webhook", "reason": "its receiver answered 410"},
    ),
    EventKind(
        "agent.slowed",
        "agents",
        ("policy",),
        "An agent asked more of people than its pace allows, so it was refused. It is said once an "
        "hour for each agent, however often it tries again.",
        {
            "agent": "which agent",
            "team": "its team",
            "asks": "how many times it has asked",
            "per": "in how many seconds before",
            "waiting": "how many of its asks are open",
            "says": "the same in words",
        },
    ),
    EventKind(
        "journal.sealed",
        "seals",
        ("person",),
        "The journal was sealed as it was.",
        {
            "heads": "stream, seq and hash of every stream that changed since the last seal",
            "upto": "the cursor it reaches",
        },
    ),
    EventKind(
        "desk.restored",
        "desk",
        ("person",),
        "The desk goes on from a backup. What happened after that was taken is not in the journal; "
        "every run that was not over is parked, and approvals from before count no more.",
        {"epoch": "how often that has happened"},
    ),
)

EVENTS: Mapping[str, EventKind] = {kind.name: kind for kind in _TABLE}
FAMILIES = tuple(dict.fromkeys(kind.family for kind in _TABLE))
TOLD = tuple(kind.name for kind in _TABLE if kind.told)


def check_kind(kind: object, *, families: bool = False) -> str:
    """Return the name of a kind of event, if there is one; with `families` also `ask.*` and `*`.

    Raises:
        BadValue: there is none of this name.
    """
    wild = (ALL, *(f"{family}.*" for family in FAMILIES)) if families else ()
    if isinstance(kind, str) and (kind in EVENTS or kind in wild):
        return kind
    from difflib import get_close_matches

    near = get_close_matches(str(kind), EVENTS, n=1)
    hint = f"Did you mean {near[0]}?" if near else "There are, for example: ask.opened, run.done."
    raise BadValue(f"{str(kind)[:80]!r} is no kind of event. {hint}")
