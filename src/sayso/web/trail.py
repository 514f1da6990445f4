"""What somebody may see of the journal across asks and runs, and what they look for in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from sayso.errors import Tampered
from sayso.insight.trail import Found, Wanted, end_of, moment_of
from sayso.model.verdicts import Verdict
from sayso.model.wire import write_event
from sayso.store.trail import DESK
from sayso.web.visit import Visit

_Text = Annotated[str | None, Field(max_length=200)]
_UNTIL = "Before this moment, written in the same way; a day without a time is included."


class Looked(BaseModel):
    """What is looked for, as an address says it. Everything may be left out."""

    actor: _Text = Field(
        None,
        description="Who: a name, `person`, `agent`, `policy`, `clock`, or both as `person:anna`.",
        examples=["person:anna"],
    )
    tool: _Text = Field(None, description="Only what is about calls of this tool.")
    verdict: _Text = Field(None, description="Only votes and decisions with this verdict.")
    kind: _Text = Field(
        None, description="Only this kind of event, or a family.", examples=["ask.*"]
    )
    since: _Text = Field(
        None,
        description="From this moment on: ISO 8601, in UTC unless it names a zone; `7d` for so long ago.",
    )
    until: _Text = Field(None, description=_UNTIL)
    stream: _Text = Field(
        None, description="Only of this ask or run, or of `people`, `access`, `webhooks`, `seals`."
    )

    def wanted(self, visit: Visit) -> Wanted:
        """Return it as the trail takes it.

        Raises:
            BadValue: a verdict, a kind or a moment is none.
        """
        now = visit.store.now()
        given = {name: value for name in Looked.model_fields if (value := getattr(self, name))}
        for name, read in (("since", moment_of), ("until", end_of)):
            if name in given:
                given[name] = read(given[name], now)
        return Wanted(**given).checked()


class LookedPage(Looked):
    """The same, and which page of it."""

    before: str | None = Field(None, max_length=100, description="`older` of the page before.")
    limit: int = Field(50, ge=1, le=500, description="How many on a page.")


class LookedAfter(Looked):
    """The same, and from where on."""

    after: str | None = Field(None, max_length=100, description="Only events behind this cursor.")


class Decided(BaseModel):
    """Which decisions are wanted, as an address says it."""

    tool: _Text = Field(None, description="Only calls of this tool.")
    verdict: Verdict | None = Field(None, description="Only what was decided like this.")
    since: _Text = Field(None, description="From this moment on, as in `/audit/events`.")
    until: _Text = Field(None, description=_UNTIL)
    after: str | None = Field(None, max_length=100, description="Only what is behind this cursor.")
    names: bool = Field(default=False, description="Call reviewers by their names.")

    def chosen(self, visit: Visit) -> dict[str, Any]:
        """Return it as the data set takes it.

        Raises:
            BadValue: a moment is none.
        """
        now = visit.store.now()
        since = moment_of(self.since, now) if self.since else None
        until = end_of(self.until, now) if self.until else None
        return {"tool": self.tool, "verdict": self.verdict, "since": since, "until": until}


def seen_teams(visit: Visit) -> Sequence[str] | None:
    """Return whose events somebody sees; `None` is everything.

    A team is a wall for administrators too. What the desk did for itself (people, credentials,
    webhooks, seals) is for them alone.
    """
    teams, admin = visit.teams(), "admin" in visit.caller.scopes
    if teams is None:
        known = None if admin else visit.store.trail_teams()
        return None if known is None else [team for team in known if team != DESK]
    return ["", *teams, *((DESK,) if admin else ())]


def document_of(found: Found) -> dict[str, Any]:
    """Return an event as the API gives it, with what it was found by."""
    event, row = found.event, found.row
    try:
        said = write_event(event)
    except Tampered:  # said by whoever verifies; here it must not hide the others
        said = {
            "stream": event.stream,
            "seq": event.seq,
            "kind": event.kind,
            "at": None,
            "by": event.who,
            "payload": None,
            "hash": event.hash.hex(),
            "cursor": None,
        }
    return said | {"actor": row.actor, "tool": row.tool or None, "verdict": row.verdict or None}
