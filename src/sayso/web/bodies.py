"""The JSON of requests: what each field is, and what may not be there."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sayso.channels.webhooks import KINDS
from sayso.model.content import Risk
from sayso.model.verdicts import RejectKind, Verdict

MOST = 1000  # of anything that is listed
_STRANGE = 10  # fields that do not exist and are named one by one


class Sent(BaseModel):
    """What a client sends: these fields and no others, each of its own type."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _few(cls, given: object) -> object:
        """Leave a few fields that do not exist to be refused: each costs an error to write."""
        if not isinstance(given, dict) or len(given) <= len(cls.model_fields):
            return given
        known = {field.alias or name for name, field in cls.model_fields.items()}
        strange = islice((name for name in given if name not in known), _STRANGE)
        return {name: given[name] for name in (*(known & given.keys()), *strange)}

    def said(self, *, whole: bool = True) -> dict[str, Any]:
        """Return the fields by name, or with `whole=False` those that were sent.

        What is in them is not copied: it can be a megabyte.
        """
        fields = type(self).model_fields.items()
        return {
            field.alias or name: _plain(getattr(self, name))
            for name, field in fields
            if whole or name in self.model_fields_set
        }


def _plain(value: object) -> object:
    if isinstance(value, list) and value and isinstance(value[0], Sent):
        return [item.said() for item in value]
    return value.said() if isinstance(value, Sent) else value


class Lent(Sent):
    """Who waits for the answer, and for how long it may be silent before it has gone."""

    holder: str = Field(description="A random text of the program that waits.")
    seconds: float = Field(description="From 1 s to a day.")


class PostedFile(Sent):
    """A file beside an ask."""

    name: str = Field(description="Without a path.", examples=["Chart.png"])
    media: str | None = Field(default=None, description="The media type; images go by their bytes.")
    data: str = Field(description="The bytes, in base64.", examples=["aGVsbG8="])


class AskPost(Sent):
    """What is asked. A call needs `tool`, everything else a `title`."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "tool": "refund",
                    "args": {"order": 7, "amount": 40},
                    "risk": "high",
                    "why": "Charged twice",
                    "key": "refund-7",
                },
                {"kind": "question", "title": "Which account?", "answer": {"type": "string"}},
            ]
        },
    )

    kind: Literal["action", "plan", "draft", "question", "choice", "notice", "feedback"] | None = (
        Field(default=None, description="`action` unless given.")
    )
    tool: str | None = Field(
        default=None,
        description="What is to be called: letters from a to z, digits and `_ . : / -`.",
    )
    args: dict[str, Any] | None = Field(default=None, description="Its arguments, by name.")
    schema_: dict[str, Any] | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of the arguments, also after an edit.",
    )
    title: str | None = Field(default=None, description="What people read first.")
    why: str | None = Field(default=None, description="Why, in the agent's own words.")
    confidence: float | None = Field(
        default=None, description="From 0 to 1; may add review, never spare it."
    )
    risk: Risk | None = None
    reversible: bool | None = None
    affects: str | None = Field(default=None, description="Whom or what it touches.")
    impact: str | None = Field(
        default=None, description="What it will do, in a sentence; shown as what the agent says."
    )
    preview: dict[str, Any] | None = Field(
        default=None, description="What comes of the arguments; shown as what the agent says."
    )
    facts: dict[str, Any] | None = Field(
        default=None, description="More for people to see; shown as what the agent says."
    )
    options: list[Any] | None = Field(default=None, max_length=MOST, description="Of a choice.")
    answer: dict[str, Any] | None = Field(default=None, description="JSON Schema of the answer.")
    returns: dict[str, Any] | None = Field(default=None, description="JSON Schema of the result.")
    hidden: list[str] | None = Field(
        default=None,
        max_length=MOST,
        description="Arguments whose values are not sent, and nobody sees.",
    )
    within: float | str | None = Field(default=None, description="Until when: seconds, or `2h`.")
    run: str | None = Field(default=None, description="The run it belongs to.")
    thread: str | None = None
    team: str | None = Field(default=None, description="Whose wall it stands behind.")
    agent: str | None = Field(
        default=None, description="Who asks; of an agent's token, its own name."
    )
    requester: str | None = Field(
        default=None, description="For whom; they may say no to it, and not yes."
    )
    tags: list[str] | None = Field(default=None, max_length=MOST)
    conflicts: list[str] | None = Field(default=None, max_length=MOST)
    files: list[PostedFile] | None = Field(
        default=None, max_length=MOST, description="To be seen beside it; 1 MiB together."
    )
    optional: Literal[True] | None = None
    about: str | None = Field(
        default=None,
        description="The ask whose draft or plan this one replaces, or whose result is rated.",
    )
    needs: list[str] | None = Field(
        default=None, max_length=MOST, description="Who must agree, besides whom the policy asks."
    )
    deny: int | None = Field(default=None, description="1: how many end it, the policy says.")
    allow: list[Verdict] | None = Field(
        default=None, max_length=MOST, description="The verdicts that are offered."
    )
    unseen: float | None = Field(default=None, description="Look for cases at least this alike.")
    version: str | None = Field(
        default=None,
        description="Of the code that asks. It earns trust if it is the version of its token.",
    )
    lease: Lent | None = None
    key: str | None = Field(
        default=None, description="As `Idempotency-Key`; the same finds the same ask."
    )


class DecisionPost(Sent):
    """One person's verdict on what they saw."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {"verdict": "approve", "seen": "9b1c...", "note": "Checked with the bank."},
                {
                    "verdict": "edit",
                    "seen": "9b1c...",
                    "args": {"amount": 30},
                    "harmful": False,
                },
                {"verdict": "reject", "seen": "9b1c...", "kind": "harmful", "end": True},
            ]
        },
    )

    verdict: Verdict
    seen: str = Field(max_length=200, description="The `digest` of the ask that was shown.")
    args: Any = Field(default=None, description="What an edit changes.")
    answer: Any = Field(default=None, description="What a response says.")
    option: str | None = Field(default=None, description="The label of the chosen option.")
    note: str | None = Field(default=None, description="A word to the agent.")
    kind: RejectKind | None = Field(default=None, description="Why a rejection.")
    end: bool = Field(default=False, description="With a rejection: end the run.")
    harmful: bool | None = Field(
        default=None,
        description="With an edit: whether the call would have done harm as it was proposed.",
    )
    tool: str | None = Field(default=None, description="The tool an edit is meant for.")
    whole: bool = Field(
        default=False, description="With an edit: args are all there is to be, not what changes."
    )
    hold: float = Field(
        default=0.0, ge=0, le=86_400, description="Seconds in which it can be taken back."
    )


class BeginPost(Sent):
    """Who begins, and how long it may be silent."""

    holder: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="A random text of the program that acts.",
    )
    seconds: float = Field(
        default=600.0,
        ge=1,
        le=86_400,
        description="How long until people are asked whether it happened.",
    )
    risk: Risk | None = Field(
        default=None, description="The risk of the call as edited; it adds to that of the ask."
    )


class FinishPost(Sent):
    """What came of a call: its result, or the error it failed with."""

    attempt: int = Field(ge=1, description="As `begin` said.")
    holder: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="As `begin` said. The account that began the call may leave it out.",
    )
    result: Any = Field(default=None, description="What it returned.")
    error: str | None = Field(
        default=None, description="What it failed with; then it has no result."
    )


class DoubtPost(Sent):
    """That nobody knows whether a call happened."""

    attempt: int = Field(ge=1, description="As `begin` said.")
    reason: str = Field(min_length=1, max_length=2000, description="Why nobody knows.")
    holder: str | None = Field(
        default=None, min_length=1, max_length=200, description="Who could run it again, and waits."
    )
    seconds: float = Field(default=600.0, ge=1, le=86_400, description="How long it may be silent.")


class NotePost(Sent):
    """A word to go with it."""

    note: str | None = Field(default=None, description="Why.")


class IncidentPost(Sent):
    """What a call that was carried out has done."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"harm": "The customer was paid twice."}]},
    )

    harm: str = Field(description="What harm was done, in words.")


class VerificationPost(Sent):
    """What to hold the journal against."""

    seal: str | None = Field(
        default=None, max_length=200, description="A seal that was kept elsewhere."
    )


class AssignPost(Sent):
    """To whom."""

    to: str | None = Field(description="The person, or null for nobody in particular.")


class LeasePost(Sent):
    """For how long."""

    seconds: float = Field(
        default=30.0, ge=1, le=86_400, description="How long it may be silent from now."
    )


class RunPost(Sent):
    """What to start."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"workflow": "support", "input": {"task": "Tell the customers"}}]
        },
    )

    workflow: str = Field(min_length=1, max_length=200, description="The name it is registered by.")
    input: dict[str, Any] | Annotated[list[Any], Field(max_length=MOST)] = Field(
        default_factory=dict, description="What it is given: by name, or in order."
    )
    thread: str | None = Field(default=None, description="The conversation it belongs to.")
    fresh: bool = Field(default=False, description="Without the memory of the thread.")
    team: str | None = Field(default=None, description="Whose wall it stands behind.")


class WebhookPost(Sent):
    """Whom to tell of events, and of which."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"url": "https://example.com/hook", "team": "billing"}]},
    )

    url: str = Field(max_length=2048, description="Where to send: https, or http. Public only.")
    kinds: list[str] = Field(
        default=list(KINDS),
        min_length=1,
        max_length=50,
        description="Kinds of events, such as ask.opened, ask.* or *.",
    )
    team: str | None = Field(default=None, description="Only asks and runs of this team.")
    full: bool = Field(default=False, description="Say everything, arguments and answers too.")
