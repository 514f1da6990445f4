"""Every field of every body by every kind of credential: what it changes in ruling, card and call.

Each request is sent without the field and with it, to the same kind of ask, and the two asks are
compared. The table is the contract: a field that the OpenAPI document has and the table does not
fails the test. Nothing in it makes a ruling less (E41, E43).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, count
from math import inf
from typing import Any

import pytest

from sayso import Ask, Desk, Running
from sayso.asks.identity import barred, concerned
from sayso.asks.lawbook import default_policy
from sayso.model.actor import Actor, Roster
from sayso.model.tool import HIDDEN
from sayso.policy.reading import read
from tests.published import put_in_force
from tests.served import Served
from tests.trusted import written

# agent    the agent that asked
# senior   somebody who may say yes to it
# junior   somebody who may not
# named    a senior whom the agent named as the requester
# admin    an administrator who has just signed in, and may not say yes
# reader   a senior's token that only reads
#
# Three letters say what the field changes in the ruling, the card and the call: `.` nothing, `+` more
# (more people, more to see), `o` another call. `no` is refused, whatever is in the field. There is no
# letter for less: it fails the test.
TABLE = """
row                                   agent   senior  junior  named   admin   reader
open_ask.kind                       ...     ...     ...     ...     ...     no
open_ask.tool                       .+o     .+o     .+o     .+o     .+o     no
open_ask.args                       ..o     ..o     ..o     ..o     ..o     no
open_ask.schema                     ...     ...     ...     ...     ...     no
open_ask.title                      .+.     .+.     .+.     .+.     .+.     no
open_ask.why                        .+.     .+.     .+.     .+.     .+.     no
open_ask.confidence                 .+.     .+.     .+.     .+.     .+.     no
open_ask.risk                       .+.     .+.     .+.     .+.     .+.     no
open_ask.reversible                 .+.     .+.     .+.     .+.     .+.     no
open_ask.affects                    .+.     .+.     .+.     .+.     .+.     no
open_ask.impact                     .+.     .+.     .+.     .+.     .+.     no
open_ask.preview                    .+.     .+.     .+.     .+.     .+.     no
open_ask.facts                      .+.     .+.     .+.     .+.     .+.     no
open_ask.options                    .+.     .+.     .+.     .+.     .+.     no
open_ask.answer                     .+.     .+.     .+.     .+.     .+.     no
open_ask.returns                    .+.     .+.     .+.     .+.     .+.     no
open_ask.hidden                     .+o     .+o     .+o     .+o     .+o     no
open_ask.within                     +..     +..     +..     +..     +..     no
open_ask.run                        no      ...     ...     ...     ...     no
open_ask.thread                     .+.     .+.     .+.     .+.     .+.     no
open_ask.team                       no      no      no      no      no      no
open_ask.agent                      ...     .+.     .+.     .+.     .+.     no
open_ask.requester                  ++.     no      no      ...     ...     no
open_ask.tags                       .+.     .+.     .+.     .+.     .+.     no
open_ask.conflicts                  .+.     .+.     .+.     .+.     .+.     no
open_ask.files                      .+.     .+.     .+.     .+.     .+.     no
open_ask.optional                   ++.     ++.     ++.     ++.     ++.     no
open_ask.about                      .+.     .+.     .+.     .+.     .+.     no
open_ask.needs                      +..     +..     +..     +..     +..     no
open_ask.deny                       ...     ...     ...     ...     ...     no
open_ask.allow                      .+.     .+.     .+.     .+.     .+.     no
open_ask.unseen                     .+.     .+.     .+.     .+.     .+.     no
open_ask.version                    ...     ...     ...     ...     ...     no
open_ask.lease                      ...     ...     ...     ...     ...     no
open_ask.key                        ...     ...     ...     ...     ...     no
decide.verdict                      no      +..     no      ...     no      no
decide.seen                         no      no      no      no      no      no
decide.args                         no      ..o     no      no      no      no
decide.answer                       no      +..     no      no      no      no
decide.option                       no      ...     no      no      no      no
decide.note                         no      ...     no      no      no      no
decide.kind                         no      +..     no      ...     no      no
decide.end                          no      +..     no      ...     no      no
decide.harmful                      no      ..o     no      no      no      no
decide.tool                         no      ...     no      no      no      no
decide.whole                        no      ...     no      no      no      no
decide.hold                         no      ...     no      no      no      no
begin.holder                        ...     ...     ...     ...     ...     no
begin.seconds                       ...     ...     ...     ...     ...     no
begin.risk                          ...     ...     ...     ...     ...     no
finish.attempt                      ...     no      no      no      no      no
finish.holder                       ...     no      no      no      no      no
finish.result                       ...     no      no      no      no      no
finish.error                        ...     no      no      no      no      no
doubt.attempt                       ...     no      no      no      no      no
doubt.reason                        ...     no      no      no      no      no
doubt.holder                        ...     no      no      no      no      no
doubt.seconds                       ...     no      no      no      no      no
withdraw.note                       ...     ...     no      ...     no      no
take_back.note                      no      ...     no      no      no      no
assign.to                           no      ...     ...     ...     ...     no
report_incident.harm                no      ...     ...     ...     ...     no
renew_lease.seconds                 ...     ...     ...     ...     ...     no
revoke_grant.note                   no      ...     ...     ...     ...     no
reopen_key.note                     no      ...     no      ...     no      no
start_run.workflow                  no      ...     ...     ...     ...     no
start_run.input                     no      ...     ...     ...     ...     no
start_run.thread                    no      ...     ...     ...     ...     no
start_run.fresh                     no      ...     ...     ...     ...     no
start_run.team                      no      no      no      no      no      no
cancel_run.note                     no      ...     no      ...     no      no
begin_verification.seal             no      no      no      no      no      no
simulate.tool                       no      ...     ...     ...     ...     no
simulate.args                       no      ...     ...     ...     ...     no
simulate.agent                      no      ...     ...     ...     ...     no
simulate.kind                       no      ...     ...     ...     ...     no
simulate.risk                       no      ...     ...     ...     ...     no
simulate.confidence                 no      ...     ...     ...     ...     no
simulate.reversible                 no      ...     ...     ...     ...     no
simulate.affects                    no      ...     ...     ...     ...     no
simulate.conflict                   no      ...     ...     ...     ...     no
simulate.unseen                     no      ...     ...     ...     ...     no
simulate.tags                       no      ...     ...     ...     ...     no
simulate.gated                      no      ...     ...     ...     ...     no
simulate.team                       no      no      no      no      ...     no
simulate.at                         no      ...     ...     ...     ...     no
publish_policy.text                 no      no      no      no      ...     no
publish_policy.note                 no      no      no      no      ...     no
publish_policy.over                 no      no      no      no      no      no
rollback_policy.note                no      no      no      no      ...     no
sign_in.name                        no      no      no      no      no      no
sign_in.password                    no      no      no      no      no      no
put_person.name                     no      no      no      no      ...     no
put_person.roles                    no      no      no      no      ...     no
put_person.teams                    no      no      no      no      ...     no
make_token.kind                     no      no      no      no      ...     no
make_token.name                     no      no      no      no      ...     no
make_token.scopes                   no      no      no      no      ...     no
make_token.expires                  no      no      no      no      ...     no
make_token.team                     no      no      no      no      ...     no
make_token.owner                    no      no      no      no      ...     no
make_token.version                  no      no      no      no      ...     no
add_webhook.url                     no      no      no      no      ...     no
add_webhook.kinds                   no      no      no      no      ...     no
add_webhook.team                    no      no      no      no      ...     no
add_webhook.full                    no      no      no      no      ...     no
begin_denied_by_now.holder          no      no      no      no      no      no
begin_denied_by_now.seconds         no      no      no      no      no      no
begin_denied_by_now.risk            no      no      no      no      no      no
"""

LAW = '''
[tools.refund]
tier = "high"
args = { amount = "integer" }

[tools.look]
tier = "low"
args = { amount = "integer" }

[tools.move]
args = { amount = "integer", order = "integer" }

[[rules]]
name = "harmless by its own word"
tool = "move"
when = """
has(confidence) && confidence > 0.9 || "safe" in tags || risk == "low" || conflict
|| has(affects) && affects == "nobody" || has(reversible) && reversible
"""
tier = "low"

[[rules]]
name = "large"
tool = "refund"
when = "args.amount > 100"
tier = "critical"

[[rules]]
name = "timed"
tool = "refund"
effect = "ask"
within = "2h"

[[rules]]
name = "frozen"
tool = "wipe"
effect = "deny"
'''
DENIED = (
    LAW + '[[rules]]\nname = "stop"\ntool = "refund"\nwhen = "risk == \'high\'"\neffect = "deny"\n'
)
PEOPLE = {
    "anna": ["senior"],
    "ada": ["senior", "security"],
    "ben": ["senior"],
    "jo": ["junior"],
    "root": ["admin"],
}
PNG = "iVBORw0KGgo="
OPERATIONS = ("post", "put", "patch", "delete")

# What is put into a field: with `&` beside it what else must be said for it to make sense. An ask is
# then compared with one of which only that is said.
Value = Any
RUN, ABOUT = "a run that waits", "a draft that was asked"  # their ids, once there are some
MOVE = {"tool": "move"}  # a rule lets it run alone for each word that may be said of it
DRAFT = {"kind": "draft", "title": "A draft", "args": {"text": "Dear Anna"}}
CHOICE = {"kind": "choice", "title": "Which?", "options": ["yes", "no"]}
QUESTION = {"kind": "question", "title": "Why?"}


def also(said: Mapping[str, Any], value: Any) -> Value:
    return {"&": said, "": value}


SAID: Mapping[str, tuple[Value, ...]] = {
    "AskPost.kind": ("action", "notice", "question"),
    "AskPost.tool": ("look", "wipe"),
    "AskPost.args": ({"amount": 1}, {"amount": 101}),
    "AskPost.schema": ({"type": "object"}, {"properties": {"amount": {"const": 40}}}),
    "AskPost.title": ("Nothing to worry about",),
    "AskPost.why": ("Everybody has agreed",),
    "AskPost.confidence": (1.0, 0.1, also(MOVE, 0.99), also(QUESTION, 0.1)),
    "AskPost.risk": ("low", "medium", "critical", also(MOVE, "low"), also(DRAFT, "low")),
    "AskPost.reversible": (True, False, also(MOVE, True)),
    "AskPost.affects": ("nobody", "every customer", also(MOVE, "nobody")),
    "AskPost.impact": ("None",),
    "AskPost.preview": ({"amount": "4 cents"},),
    "AskPost.facts": ({"checked": "yes"},),
    "AskPost.options": (["yes"], also(CHOICE, ["yes", "never"])),
    "AskPost.answer": ({"type": "string"}, also(QUESTION, {"type": "boolean"})),
    "AskPost.returns": ({"type": "string"},),
    "AskPost.hidden": (["secret"], ["amount"], also({"tool": "guess"}, ["secret"])),
    "AskPost.within": (1, "1w"),
    "AskPost.run": ("r-12345678", RUN),
    "AskPost.thread": ("sale",),
    "AskPost.team": ("billing",),
    "AskPost.agent": ("bot", "other"),
    "AskPost.requester": ("ben", "root"),
    "AskPost.tags": (["safe"], also(MOVE, ["safe"]), also(DRAFT, ["safe"])),
    "AskPost.conflicts": (["The order is paid and is not"], also(MOVE, ["It is not"])),
    "AskPost.files": ([{"name": "a.png", "data": PNG}],),
    "AskPost.optional": (True, also(DRAFT, True)),
    "AskPost.about": ("a-none", also(DRAFT, ABOUT)),
    "AskPost.needs": (
        ["1 reviewer"],
        ["1 jo"],
        ["1 junior"],
        ["2 senior"],
        also(QUESTION, ["1 jo"]),
    ),
    "AskPost.deny": (1, 5, also(QUESTION, 2)),
    "AskPost.allow": (["approve"], ["approve", "reject"], also(DRAFT, ["approve", "reject"])),
    "AskPost.unseen": (0.0, 1.0),
    "AskPost.version": ("7",),
    "AskPost.lease": ({"holder": "till", "seconds": 600},),
    "AskPost.key": ("k-1",),
    "DecisionPost.verdict": ("approve", "reject"),
    "DecisionPost.seen": ("0" * 64,),
    "DecisionPost.args": ({"amount": 1}, {"amount": 1, "&": {"verdict": "edit"}}),
    "DecisionPost.answer": ("yes", {"&": {"verdict": "respond"}, "": "Do it"}),
    "DecisionPost.option": ("yes",),
    "DecisionPost.note": ("So be it",),
    "DecisionPost.kind": ("taste", {"&": {"verdict": "reject"}, "": "harmful"}),
    "DecisionPost.end": (False, True, {"&": {"verdict": "reject"}, "": True}),
    "DecisionPost.harmful": (
        False,
        {"&": {"verdict": "edit", "args": {"amount": 1}}, "": False},
    ),
    "DecisionPost.tool": ("look",),
    "DecisionPost.whole": (True,),
    "DecisionPost.hold": (0.0, 60.0),
    "BeginPost.holder": ("till", "other"),
    "BeginPost.seconds": (1.0, 86_400.0),
    "BeginPost.risk": ("low", "medium", "high", "critical"),
    "FinishPost.attempt": (1, 2),
    "FinishPost.holder": ("till", "other"),
    "FinishPost.result": ({"paid": True},),
    "FinishPost.error": ("It failed",),
    "DoubtPost.attempt": (1, 2),
    "DoubtPost.reason": ("It went silent",),
    "DoubtPost.holder": ("till", "other"),
    "DoubtPost.seconds": (1.0, 86_400.0),
    "NotePost.note": ("So be it",),
    "AssignPost.to": ("anna", "jo", None),
    "IncidentPost.harm": ("Paid twice",),
    "LeasePost.seconds": (1.0, 86_400.0),
    "RunPost.workflow": ("wire", "none"),
    "RunPost.input": ({}, [1]),
    "RunPost.thread": ("sale",),
    "RunPost.fresh": (True,),
    "RunPost.team": ("billing",),
    "VerificationPost.seal": ("none",),
    "TrialPost.tool": ("refund", "wipe"),
    "TrialPost.args": ({"amount": 1},),
    "TrialPost.agent": ("bot",),
    "TrialPost.kind": ("action",),
    "TrialPost.risk": ("low",),
    "TrialPost.confidence": (1.0,),
    "TrialPost.reversible": (True,),
    "TrialPost.affects": ("nobody",),
    "TrialPost.conflict": (True,),
    "TrialPost.unseen": (True,),
    "TrialPost.tags": (["safe"],),
    "TrialPost.gated": (True,),
    "TrialPost.team": ("billing",),
    "TrialPost.at": ("2025-01-01T00:00:00Z",),
    "PolicyPost.text": (LAW,),
    "PolicyPost.note": ("Why",),
    "PolicyPost.over": (0,),
    "RollbackPost.note": ("Why",),
    "Credentials.name": ("anna",),
    "Credentials.password": ("correct horse",),
    "PersonBody.name": ("new",),
    "PersonBody.roles": (["senior"],),
    "PersonBody.teams": (["billing"],),
    "TokenBody.kind": ("agent", "person"),
    "TokenBody.name": ("helper",),
    "TokenBody.scopes": (["decisions:write"], ["asks:read"]),
    "TokenBody.expires": ("90d",),
    "TokenBody.team": ("billing",),
    "TokenBody.owner": ("anna",),
    "TokenBody.version": ("2026-11",),
    "WebhookPost.url": ("https://93.184.216.34/hook",),
    "WebhookPost.kinds": (["ask.opened"],),
    "WebhookPost.team": ("billing",),
    "WebhookPost.full": (True,),
}
BASE: Mapping[str, Mapping[str, Any]] = {
    "AskPost": {"tool": "refund"},
    "DecisionPost": {"verdict": "approve"},
    "BeginPost": {"holder": "till"},
    "FinishPost": {"attempt": 1, "holder": "till"},
    "DoubtPost": {"attempt": 1, "reason": "Silence"},
    "AssignPost": {"to": None},
    "IncidentPost": {"harm": "Harm"},
    "PolicyPost": {"text": LAW},
    "RunPost": {"workflow": "wire"},
    "TrialPost": {"tool": "refund"},
    "Credentials": {"name": "anna", "password": "wrong"},
    "PersonBody": {"name": "new"},
    "TokenBody": {"name": "helper"},
    "WebhookPost": {"url": "https://93.184.216.34/hook"},
}


def fields_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield every field of every body: operation, path, the body's name, the field."""
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody")
            if body is None:
                continue
            assert method == "post", f"{method} {path} has a body: teach the test to send it"
            schema = body["content"]["application/json"]["schema"]
            [name] = [
                one["$ref"].split("/")[-1] for one in schema.get("anyOf", [schema]) if "$ref" in one
            ]
            for field in schemas[name]["properties"]:
                yield operation["operationId"], path, name, field


# --- what is compared --------------------------------------------------------------------------


@dataclass(frozen=True)
class Stands:
    """How an ask stands: who can say what to it, what people see, and what would be called."""

    approvers: frozenset[frozenset[str]]  # groups of people who together could approve it
    refusers: frozenset[str]
    yes: int  # 1 if it was approved, 2 if it was begun
    silence: bool  # whether the clock would approve it
    graver: tuple[bool, float, float]
    card: Mapping[str, Any]
    call: tuple[Any, ...]


_RULED = ("needs", "deny", "sentence", "ruling", "due_at", "proposal", "stakes", "run")
_OURS = ("team", "owner")


def stands(ask: Ask, roster: Roster) -> Stands:
    """Return how an ask stands; of people who come and go meanwhile nothing is said."""
    names = [name for name in PEOPLE if name in roster.people]
    may = [name for name in names if not concerned(ask.content, name)]
    groups = [frozenset(group) for size in (1, 2, 3) for group in combinations(may, size)]
    needs, ruled = ask.needs, ask.content.ruled
    begun = ask.effect is not None and ask.effect.status == "intended"
    return Stands(
        frozenset(group for group in groups if needs.met_by(roster.holding(group))),
        frozenset(
            n
            for n in names
            if "reject" in ask.content.allow
            and not barred(ask, Actor("person", n), roster, verdict="reject")
        ),
        2 if begun else 1 if ask.judged is not None and bool(ask.judged) else 0,
        ruled.on_timeout == "approve",
        (ruled.critical, ruled.cool_off, -_seconds(ask)),
        {k: v for k, v in ask.content.to_json().items() if k not in _RULED},
        (ask.kind, ask.tool, {**ask.args, "order": 0}),  # a number tells asks apart
    )


def _seconds(ask: Ask) -> float:
    """Return how long people have to decide."""
    return inf if ask.due_at is None else round((ask.due_at - ask.opened_at).total_seconds())


def changed(before: Stands, after: Stands) -> str:
    """Say what differs, as in the table; `-` is less."""
    less = (
        after.approvers - before.approvers
        or before.refusers - after.refusers
        or after.yes > before.yes
        or after.silence > before.silence
        or any(now < then for then, now in zip(before.graver, after.graver, strict=True))
    )
    if after.call != before.call:  # another call has a ruling of its own
        return f".{'-' if _hides(before, after) else _more(before.card, after.card)}o"
    more = (after.approvers, after.refusers, after.yes, after.graver) != (
        before.approvers,
        before.refusers,
        before.yes,
        before.graver,
    )
    forged = any(before.card.get(name) != after.card.get(name) for name in _OURS)
    return f"{'-' if less else '+' if more else '.'}{'-' if forged else _more(before.card, after.card)}."


def _hides(before: Stands, after: Stands) -> bool:
    """Whether a value that was sent is no longer seen."""
    (*_, then), (*_, now) = before.call, after.call
    return any(now.get(name) == HIDDEN != value for name, value in then.items())


def _more(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    return "." if dict(before) == dict(after) else "+"


# --- who sends what ----------------------------------------------------------------------------


class Office:
    """A server, people and an agent, and an ask for every operation to be about."""

    def __init__(self, server: Served) -> None:
        self.server, self.desk = server, server.desk
        self.roster = self.desk.store.roster()
        self._numbers = count(1)
        self.desk.workflow(name="wire")(wire)
        self.who = {
            "agent": server.agent("bot"),
            "senior": server.person("anna"),
            "junior": server.person("jo"),
            "named": server.person("ben"),
            "admin": server.signed_in("root"),
            "reader": server.person("anna", scopes=["asks:read"]),
        }
        self.watched = self.open()

    def number(self) -> int:
        return next(self._numbers)

    def open(self) -> Ask:
        """Open what the agent asks for ben."""
        body = {"tool": "refund", "args": {"amount": 40, "order": self.number()}}
        answer = self.who["agent"].post(
            "/api/v1/asks", json={**body, "risk": "high", "requester": "ben"}
        )
        assert answer.status_code == 201, answer.text
        return self.desk.get(answer.json()["id"])

    def complete(self, body: dict[str, Any], said: Mapping[str, Any]) -> None:
        """Make what is said of an ask a whole body: a call that is like no other, or no call."""
        if said.keys() >= {"kind", "title"}:  # no call
            body.pop("tool")
        else:
            body["args"] = {"amount": 40, **body.get("args", {}), "order": self.number()}
        known = {RUN: self.asked_by_run, ABOUT: self.drafted}
        for field in body.keys() & {"run", "about"}:
            make = known.get(body[field])
            if make is not None:
                ask = make()
                body[field] = ask.content.run if field == "run" else ask.id

    def drafted(self) -> Ask:
        answer = self.who["agent"].post("/api/v1/asks", json=DRAFT)
        assert answer.status_code == 201, answer.text
        return self.desk.get(answer.json()["id"])

    def approved(self) -> Ask:
        return self.desk.approve(self.open(), by="anna")

    def begun(self) -> Ask:
        ask = self.approved()
        answer = self.who["agent"].post(f"/api/v1/asks/{ask.id}/begin", json={"holder": "till"})
        assert answer.status_code == 200, answer.text
        return self.desk.get(ask.id)

    def carried_out(self) -> Ask:
        ask = self.begun()
        body = {"attempt": 1, "holder": "till", "result": None}
        self.who["agent"].post(f"/api/v1/asks/{ask.id}/finish", json=body)
        return self.desk.get(ask.id)

    def asked_by_run(self) -> Ask:
        run = self.desk.run(wire, wait=False)
        [ask] = run.state.pending
        return ask

    def about(self, operation: str) -> Ask:
        """Return an ask that the operation can be about, or the one that is only watched."""
        make = {
            "decide": self.open,
            "withdraw": self.open,
            "assign": self.open,
            "begin": self.approved,
            "begin, denied by now": self.approved,
            "finish": self.begun,
            "doubt": self.begun,
            "renew_lease": self.begun,
            "report_incident": self.carried_out,
            "take_back": lambda: self.desk.approve(self.open(), by="anna", hold=3600),
            "cancel_run": self.asked_by_run,
        }.get(operation)
        return self.watched if make is None else make()


def wire(run: Running) -> None:
    run.confirm("Wire it?", risk="high", requester="ben")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    law = read(LAW, source="law.toml", default=default_policy())
    url = f"sqlite:///{tmp_path_factory.mktemp('fields')}/desk.db"
    with Desk(url, agent="shop", policy=law) as desk:
        for name, roles in PEOPLE.items():
            desk.people.add(name, roles=roles)
        with Served(desk) as server:
            yield Office(server)


class Sent:
    """One operation by one credential: what comes of it without a field, and with it."""

    def __init__(self, office: Office, who: str, operation: str, path: str, name: str) -> None:
        self.office, self.client = office, office.who[who]
        self.operation, self.path, self.name = operation, path, name
        self.base = self._send({})

    def cell(self, values: tuple[Value, ...], field: str) -> str:
        """Say what the field changes, with whatever of these in it."""
        found = {self._one(value, field) for value in values}
        taken = found - {"no"}
        if not taken:
            return "no"
        return "".join(_worst(letters) for letters in zip(*taken, strict=True))

    def _one(self, value: Value, field: str) -> str:
        body, base = {field: value}, self.base
        if isinstance(value, dict) and "&" in value:
            rest = {k: v for k, v in value.items() if k != "&"}
            body = {**value["&"], field: rest.get("", rest)}
            base = self._send(value["&"]) if self.name == "AskPost" else base
        after = self._send(body)
        if after is None:
            return "no"
        return changed(base or self.untouched, after)

    def _send(self, said: Mapping[str, Any]) -> Stands | None:
        """Send the body with these fields; return the ask afterwards, `None` if it was refused."""
        office, desk = self.office, self.office.desk
        ask = office.about(self.operation)
        before = self.untouched = stands(ask, office.roster)
        body = {**BASE.get(self.name, {}), **said}
        if self.name == "AskPost":
            office.complete(body, said)
        if self.name == "DecisionPost":
            body.setdefault("seen", ask.digest)
        for name in body.keys() & {"thread", "key"}:  # each may stand for one thing only
            body[name] += f" {office.number()}"
        if self.operation == "begin, denied by now":
            put_in_force(desk, DENIED)
        try:
            where = self.path.replace("{id}", self._id(ask)).replace("{holder}", "till")
            where = where.replace("{version}", "1")
            answer = self.client.post(where.replace("{key}", self._key()), json=body)
        finally:
            if desk.policies.show().text != LAW:
                put_in_force(desk, LAW)
        assert answer.status_code < 500, answer.text
        after = desk.get(ask.id)
        if answer.status_code >= 400:
            assert stands(after, office.roster) == before, f"refused, and changed: {answer.text}"
            return None
        if self.operation == "open_ask":
            opened = desk.get(answer.json()["id"])
            assert opened.content.posted, "whose word it is was lost"
            return stands(opened, office.roster)
        return stands(after, office.roster)

    def _id(self, ask: Ask) -> str:
        return str(ask.content.run) if self.operation == "cancel_run" else ask.id

    def _key(self) -> str:
        if self.operation not in ("revoke_grant", "reopen_key"):
            return ""
        return written(self.office.desk, "granted" if "revoke" in self.operation else "locked").id


def _worst(letters: tuple[str, ...]) -> str:
    return next((one for one in "-+o" if one in letters), ".")


# --- the table ---------------------------------------------------------------------------------


def rows() -> dict[str, dict[str, str]]:
    head, *lines = TABLE.strip().splitlines()
    _, *names = head.split()
    split = [line.split() for line in lines]
    return {row: dict(zip(names, cells, strict=True)) for row, *cells in split}


def test_no_field_of_any_body_makes_a_ruling_less_e41_e43(office: Office) -> None:
    document = office.server.client().get("/openapi.json").json()
    found: dict[str, dict[str, str]] = {}
    sent: dict[tuple[str, str], Sent] = {}
    listed = list(fields_of(document))
    denied = [("begin, denied by now", *rest) for name, *rest in listed if name == "begin"]
    for operation, path, name, field in [*listed, *denied]:
        row = found.setdefault(f"{operation.replace(', ', '_').replace(' ', '_')}.{field}", {})
        for who in office.who:
            if (operation, who) not in sent:
                sent[operation, who] = Sent(office, who, operation, path, name)
            row[who] = sent[operation, who].cell(SAID[f"{name}.{field}"], field)

    drawn = "\n".join(
        f"{row:36s}" + "".join(f"{cell:8s}" for cell in found[row].values()).rstrip()
        for row in found
    )
    assert not [(row, who) for row in found for who in found[row] if "-" in found[row][who]], drawn
    assert found == rows(), f"The table would say:\n{drawn}"


def test_what_is_said_of_a_field_is_of_one_that_there_is(office: Office) -> None:
    document = office.server.client().get("/openapi.json").json()

    assert set(SAID) == {f"{name}.{field}" for _, _, name, field in fields_of(document)}


def test_what_is_approved_is_what_is_called_whatever_else_was_sent(office: Office) -> None:
    agent = office.who["agent"]
    for field, values in SAID.items():
        name, _, field = field.partition(".")
        if name != "AskPost":
            continue
        for value in values:
            args = {"amount": 40, "order": office.number()}
            body = {"tool": "refund", "args": args, field: value}
            answer = agent.post("/api/v1/asks", json=body)
            if answer.status_code != 201 or answer.json()["kind"] != "action":
                continue
            ask = office.desk.get(answer.json()["id"])
            if ask.open:
                roster = office.roster
                group = min(stands(ask, roster).approvers, key=len)
                for person in group:
                    ask = office.desk.approve(ask, by=person)
            holder = "till" if field == "lease" else "me"
            call = agent.post(f"/api/v1/asks/{ask.id}/begin", json={"holder": holder})
            assert call.status_code == 200, (field, value, call.text)
            kept = dict.fromkeys(body.get("hidden", ()), HIDDEN)  # the caller has their values
            assert call.json()["tool"] == body["tool"]
            assert call.json()["args"] == body["args"] | kept
