"""Cases: calls beside what the policy should say to them, so that a change of it can be tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from datetime import time as clock_time
from typing import Any

from sayso.errors import BadPolicy, BadValue
from sayso.model.requirement import Requirement
from sayso.model.span import aware
from sayso.model.unreadable import undecodable
from sayso.policy.facts import Facts
from sayso.policy.rules import Policy
from sayso.policy.ruling import STRICTNESS, Ruling, together
from sayso.policy.tables import Table, document

# A case that names no time is judged at this one, so that it says the same every day.
NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)

CALL = ("tool", "args", "agent", "kind", "risk", "confidence", "conflict", "unseen",
        "unreadable", "reversible", "affects", "tags", "gated")  # fmt: skip
CASE = ("name", *CALL, "at", "expect")
_PEOPLE = ("needs", "deny", "within", "on_timeout", "cool_off", "execute_within", "requester")
EXPECT = ("effect", "rules", "tier", "sentence", *_PEOPLE)


@dataclass(frozen=True, slots=True)
class Case:
    """A call, and what is expected of it."""

    name: str
    facts: Facts
    at: datetime
    expect: dict[str, Any]
    line: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the policy says otherwise."""

    what: str
    expected: str
    found: str


def read_cases(text: str, source: str = "") -> list[Case]:
    """Read cases from TOML.

    Raises:
        BadPolicy: it makes no sense, or there are none; says where, and what to do.
    """
    given = document(text, source)
    given.only("cases")
    found = [_case(table) for table in given.tables("cases")]
    if not found:
        raise BadPolicy("There are no cases, each under [[cases]].", line=1, column=1, file=source)
    return found


def differences(policy: Policy, case: Case) -> list[Difference]:
    """Return what the policy says otherwise than the case expects."""
    said = policy.ruling(case.facts, case.at)
    found = {
        "effect": said.effect,
        "rules": sorted(said.rules),
        "tier": said.tier,
        "requester": said.requester,
        "on_timeout": said.on_timeout,
        "needs": sorted(map(str, together(said.needs, said.needs).factors)),
        "deny": said.needs.deny,
        **{name: getattr(said, name) for name in ("within", "cool_off", "execute_within")},
    }
    return list(_compared(case.expect, found, said))


def _compared(expect: dict[str, Any], found: dict[str, Any], said: Ruling) -> Iterator[Difference]:
    for what, wanted in expect.items():
        if what == "sentence":
            if wanted not in said.sentence:
                yield Difference(what, wanted, said.sentence)
        elif said.effect != "ask" and what in _PEOPLE:
            yield Difference(what, _word(wanted), "nobody is asked")
        elif wanted != found[what]:
            yield Difference(what, _word(wanted), _word(found[what]))


def _word(value: object) -> str:
    match value:
        case list():
            return ", ".join(map(str, value)) or "none"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g} s"
        case None:
            return "none"
        case _:
            return str(value)


# --- reading ---


def _case(table: Table) -> Case:
    table.only(*CASE)
    name = table.sentence("name")
    if not name:
        table.fail(None, "A case needs a name: it is what you read when it fails.")
    return Case(name, _facts(table), _at(table), _expected(table), table.line)


def _facts(table: Table) -> Facts:
    given = table.table("args")
    args = {key: _json(given, key, given.get(key)) for key in given}
    return Facts(
        tool=_stated(table, "tool"),
        args=args,
        agent=_stated(table, "agent") or "",
        kind=_stated(table, "kind") or "action",
        risk=_stated(table, "risk"),
        confidence=_confidence(table),
        conflict=table.flag("conflict"),
        unseen=table.flag("unseen"),
        unreadable=table.flag("unreadable") or bool(undecodable(args)),
        reversible=table.flag("reversible") if "reversible" in table else None,
        affects=_stated(table, "affects"),
        tags=table.texts("tags", '["pii"]'),
        always=table.flag("gated"),
    )


def _stated(table: Table, key: str) -> str | None:
    said = table.get(key)
    if said is not None and not isinstance(said, str):
        table.fail(key, f"{key} is a text.")
    return said


def _confidence(table: Table) -> float | None:
    said = table.get("confidence")
    if said is None:
        return None
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= 1:
        table.fail("confidence", "confidence is a number from 0 to 1.")
    return float(said)


def _json(table: Table, key: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, date | clock_time):  # a datetime is a date
        table.fail(key, "Arguments have no dates; write it as a text, as the agent would.")
    if isinstance(value, dict):
        return {name: _json(table, key, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_json(table, key, item) for item in value]
    return value


def _at(table: Table) -> datetime:
    said = table.get("at", NOON)
    try:
        return aware(said, "at")
    except BadValue:
        table.fail("at", "at is a time with its zone, such as 2025-01-01T03:00:00Z.")


def _expected(table: Table) -> dict[str, Any]:
    said = table.get("expect")
    if isinstance(said, str):
        return {"effect": _effect(table, "expect", said)}
    if not isinstance(said, dict) or not said:
        table.fail(
            "expect" if "expect" in table else None,
            'A case says what it expects: expect = "ask", or expect = { effect = "ask", ... }.',
        )
    expect = table.table("expect")
    expect.only(*EXPECT)
    return {key: _expectation(expect, key) for key in expect}


def _expectation(expect: Table, key: str) -> Any:  # noqa: ANN401 - one of several types
    wanted = expect.needs() or Requirement()
    if key == "needs":
        return sorted(map(str, together(wanted, wanted).factors))
    if key == "deny":
        return wanted.deny
    if key == "rules":
        return [] if expect.get(key) == [] else sorted(expect.texts(key, '["large refunds"]'))
    if key == "effect":
        return _effect(expect, key, expect.get(key))
    if key in ("within", "cool_off", "execute_within"):
        return 0.0 if expect.get(key) == 0 else expect.span(key)
    return expect.flag(key) if key == "requester" else expect.sentence(key)


def _effect(table: Table, key: str, said: object) -> str:
    if said not in STRICTNESS:
        table.fail(key, f"effect is {', '.join(STRICTNESS[:-1])} or {STRICTNESS[-1]}.")
    return str(said)
