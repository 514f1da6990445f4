"""A policy as people write it: TOML, read and checked before it is in force.

Whatever is wrong is said with its line and column, and nothing of a policy that
is wrong anywhere is taken over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sayso.errors import BadPolicy
from sayso.model.content import RISKS
from sayso.model.names import fold
from sayso.model.requirement import ANYBODY, Requirement
from sayso.model.ruled import NEVER_BY_TIMEOUT
from sayso.model.verdicts import KINDS
from sayso.policy.conditions import Condition
from sayso.policy.declaring import read_declared, read_defaults
from sayso.policy.digests import ELSEWHERE, digest, spoken
from sayso.policy.earning import read_earning
from sayso.policy.paces import read_paces
from sayso.policy.rules import Policy, Rule, never_called
from sayso.policy.ruling import Rung
from sayso.policy.tables import Table, document
from sayso.policy.tiers import BUILT_IN, IMPLIED, Terms, Tier, counted_as, ranked

TERMS = ("needs", "deny", "within", "on_timeout", "cool_off", "execute_within", "remind", "escalate",
         "requester")  # fmt: skip
TIER = ("alone", *TERMS)
RULE = ("name", "tool", "tools", "when", "effect", "tier", "why", *TERMS)
RUNG = ("after", "to")
SECTIONS = (
    "tiers",
    "rules",
    "groups",
    "roles",
    "implies",
    "tools",
    "agents",
    "autonomy",
    "default",
    "defaults",
)
_LONGEST_NAME = 100

Implied = Mapping[str, tuple[str, ...]]


def read(text: str, *, source: str = "", default: Policy | None = None) -> Policy:
    """Read a policy; the default one's rules go on applying unless it says `default = false`.

    Raises:
        BadPolicy: it makes no sense; says where, and what to do.
    """
    given = document(text, source)
    given.only(*SECTIONS, *ELSEWHERE)
    if not isinstance(given.get("default", True), bool):
        given.fail("default", "default is true or false.")
    kept = default.rules if default is not None and given.get("default", True) else ()
    implied = {**IMPLIED, **_lists(given.table("implies"), "role", "role")}
    tiers = _tiers(given.table("tiers"), implied)
    own = (*_gated_tools(given.table("tools"), tiers), *_rules(given, tiers, implied))
    unknown = read_defaults(given.table("defaults"))
    _check_names(given, own, kept)
    return Policy(
        rules=(*kept, *own),
        tiers=tiers,
        groups=_lists(given.table("groups"), "group", "person"),
        roles=_lists(given.table("roles"), "person", "role"),
        implied=implied,
        paces=read_paces(given.table("agents")),
        earning=read_earning(given.table("autonomy")),
        declared=read_declared(given.table("tools")),
        unknown_tools=unknown.tools,
        unknown_arguments=unknown.arguments,
        version=_version(text, default if kept else None),
        source=source or "given",
        text=text,
    )


def _version(text: str, default: Policy | None) -> str:
    """Return what tells these rules from others: those of the default policy are among them."""
    return digest(spoken(text) + (default.version or "" if default is not None else ""))


# --- tiers ---


def _tiers(tables: Table, implied: Implied) -> dict[str, Tier]:
    tiers = dict(BUILT_IN)
    for name in tables:
        tables.plain(name, "tier", name, at_key=True)
        tiers[name] = _tier(tables.table(name), name, implied)
    return ranked(tiers, tables)


def _tier(table: Table, name: str, implied: Implied) -> Tier:
    table.only(*TIER)
    safe = name in NEVER_BY_TIMEOUT
    if table.flag("alone"):
        if safe:
            table.fail("alone", f"A call of {name} risk never runs alone. Use a tier of your own.")
        rest = next((key for key in table if key != "alone"), None)
        if rest is not None:
            table.fail(
                rest,
                f"The tier {name} runs alone, so nobody is asked: leave {rest} out.",
                at_key=True,
            )
        return Tier(name, alone=True, terms=Terms())
    usual = BUILT_IN.get(name)
    if "needs" not in table and (usual is None or usual.alone):
        table.fail(
            None, f'The tier {name} says neither alone = true nor needs, such as ["1 senior"].'
        )
    terms = _terms(table, usual.terms.needs if usual else None, implied)
    if terms.on_timeout == "approve" and safe:
        table.fail("on_timeout", f"A call of {name} risk is never approved by the clock.")
    return Tier(name, alone=False, terms=terms)


# --- rules ---


def _gated_tools(table: Table, tiers: Mapping[str, Tier]) -> list[Rule]:
    """Read the tiers of `[tools]`: a tool by name, and the tier it belongs to."""
    found = []
    for tool in table:
        reason = never_called(tool)
        if reason is not None:
            table.fail(tool, reason, at_key=True)
        if not _tiered(table, tool):
            continue
        whole = isinstance(table.get(tool), dict)
        place, key = (table.table(tool), "tier") if whole else (table, tool)
        tier, name = _known_tier(place, key, tiers), fold(tool)
        found.append(Rule(name=f"tools.{name}", tools=(name,), tier=tier, line=table.line_of(tool)))
    return found


def _tiered(table: Table, tool: str) -> bool:
    """Whether an entry of `[tools]` says which tier its tool belongs to."""
    said = table.get(tool)
    return not isinstance(said, dict) or "tier" in said


def _rules(given: Table, tiers: Mapping[str, Tier], implied: Implied) -> list[Rule]:
    return [_rule(table, tiers, implied) for table in given.tables("rules")]


def _rule(table: Table, tiers: Mapping[str, Tier], implied: Implied) -> Rule:
    table.only(*RULE)
    name = table.sentence("name")
    if not name or len(name) > _LONGEST_NAME:
        table.fail(
            "name" if "name" in table else None,
            "A rule needs a name, of up to 100 characters: people read it as the reason why they "
            "are asked.",
        )
    if ("effect" in table) is ("tier" in table):
        table.fail(
            None, f"The rule {name!r} says either tier = ... or effect = allow, ask or deny."
        )
    if "effect" in table and table.get("effect") not in ("allow", "ask", "deny"):
        table.fail("effect", "effect is allow, ask or deny.")
    extra = next((key for key in TERMS if key in table), None)
    if extra and table.get("effect") != "ask":
        table.fail(extra, f'{extra} goes with effect = "ask"; a tier has its own.', at_key=True)
    return Rule(
        name=name,
        tools=_tool_names(table),
        when=_condition(table, tiers),
        effect=table.get("effect"),
        tier=_known_tier(table, "tier", tiers) if "tier" in table else None,
        terms=_terms(table, None, implied),
        why=table.sentence("why"),
        line=table.line,
    )


def _tool_names(table: Table) -> tuple[str, ...]:
    if "tool" in table and "tools" in table:
        table.fail("tool", "tool and tools are the same; say one of them.", at_key=True)
    key = "tool" if "tool" in table else "tools"
    tools = table.texts(key, '["refund", "pay_*"]')
    for reason in filter(None, map(never_called, tools)):
        table.fail(key, reason)
    return tools


# `risk == "hihg"` compiles, and would never be true: a rule that is silently off.
_COMPARED = re.compile(r"""\b(risk|kind)\s*[!=]=\s*(["'])(.*?)\2""")


def _condition(table: Table, tiers: Mapping[str, Tier]) -> Condition | None:
    if "when" not in table:
        return None
    try:
        condition = Condition.parse(table.get("when"))
    except BadPolicy as error:
        table.fail_inside("when", error)
    known = {"risk": (*RISKS, *tiers), "kind": KINDS}
    for name, _, word in _COMPARED.findall(condition.text):
        if word not in known[name]:
            words = ", ".join(dict.fromkeys(known[name]))
            table.fail(
                "when", f"No {name} is called {word!r}, so this never holds. There are: {words}."
            )
    return condition


def _known_tier(table: Table, key: str, tiers: Mapping[str, Tier]) -> str:
    tier = table.get(key)
    if not isinstance(tier, str) or tier not in tiers:
        table.fail(key, f"There is no tier {tier!r}. There are: {', '.join(tiers)}.")
    return tier


def _check_names(given: Table, own: Sequence[Rule], kept: Sequence[Rule]) -> None:
    seen = {rule.name: "the default policy" for rule in kept}
    for rule, (table, key) in zip(own, _written(given), strict=True):
        if rule.name in seen:
            table.fail(
                key,
                f"There is a rule {rule.name!r} already, in {seen[rule.name]}; nobody could tell "
                "which of them asked. Give this one another name.",
            )
        seen[rule.name] = f"line {rule.line}"


def _written(given: Table) -> list[tuple[Table, str]]:
    tools = given.table("tools")
    tiered = ((tools, tool) for tool in tools if _tiered(tools, tool))
    return [*tiered, *((rule, "name") for rule in given.tables("rules"))]


# --- terms ---


def _terms(table: Table, usual: Requirement | None, implied: Implied) -> Terms:
    needs = table.needs()
    if "needs" not in table and usual is not None:
        needs = replace(usual, deny=needs.deny) if needs else usual
    return Terms(
        needs=needs,
        within=table.span("within"),
        on_timeout=_on_timeout(table),
        cool_off=_cool_off(table),
        execute_within=table.span("execute_within"),
        remind=_remind(table),
        ladder=_ladder(table, needs or Requirement(), implied),
        requester=table.flag("requester"),
    )


def _cool_off(table: Table) -> float:
    said = table.get("cool_off", 0)
    none = said == 0 and not isinstance(said, bool)
    return 0.0 if none else table.span("cool_off") or 0.0


def _on_timeout(table: Table) -> Any:  # noqa: ANN401 - a word
    said = table.get("on_timeout", "reject")
    if said not in ("reject", "approve"):
        table.fail("on_timeout", "on_timeout is reject, or approve.")
    if "on_timeout" in table and "within" not in table:
        table.fail("on_timeout", 'on_timeout needs a deadline: within = "4h", for example.')
    return said


def _remind(table: Table) -> tuple[float, ...]:
    given = table.get("remind", [0.5, 0.9])
    fits = isinstance(given, list) and all(
        isinstance(part, float) and 0 < part < 1 for part in given
    )
    if not fits:
        table.fail("remind", "remind lists parts of the time given, such as [0.5, 0.9].")
    if "remind" in table and "within" not in table:
        table.fail("remind", 'remind needs a deadline: within = "4h", for example.')
    return tuple(sorted(set(given)))


def _ladder(table: Table, needs: Requirement, implied: Implied) -> tuple[Rung, ...]:
    within, before = table.span("within"), 0.0
    asked, wanted = dict.fromkeys(needs.roles, "at first"), set(needs.roles)
    rungs = []
    for number, rung in enumerate(_rungs(table), start=1):
        after = rung.span("after") or 0.0
        if after <= before:
            rung.fail("after", "The rungs go up in time: each comes after the one before.")
        if within is not None and after >= within:
            rung.fail("after", "This rung comes after the deadline, when nobody decides any more.")
        roles = _stand_ins(rung, asked)
        if all(wanted <= counted_as((role, ANYBODY), implied) for role in roles):
            rung.fail("to", f"{' and '.join(roles)} may fill every place from the beginning.")
        asked |= dict.fromkeys(roles, f"on rung {number}")
        before = after
        rungs.append(Rung(after, roles))
    return tuple(rungs)


def _stand_ins(rung: Table, asked: Mapping[str, str]) -> tuple[str, ...]:
    """Return the roles of one rung: none of them asked before, so that it leads further up."""
    roles = tuple(rung.plain(role, "role", "to") for role in rung.texts("to", '["lead"]'))
    for place, role in enumerate(roles):
        if role == ANYBODY:
            rung.fail("to", "Then everybody could decide it. Name those who may stand in.")
        if role in asked or role in roles[:place]:
            when = asked.get(role, "on this rung")
            rung.fail("to", f"{role} is asked {when}: the escalation goes round in a circle.")
    return roles


def _rungs(table: Table) -> list[Table]:
    example = '[{ after = "4h", to = ["lead"] }]'
    given = table.get("escalate", [])
    if not isinstance(given, list) or not all(isinstance(rung, dict) for rung in given):
        table.fail("escalate", f"escalate is a list, such as {example}.")
    rungs = table.tables("escalate")
    for rung in rungs:
        rung.only(*RUNG)
        missing = [key for key in RUNG if key not in rung]
        if missing:
            rung.fail(None, f"A rung says after and to, such as {example}.")
    return rungs


# --- people ---


def _lists(table: Table, what: str, each: str) -> dict[str, tuple[str, ...]]:
    found = {}
    for name in table:
        table.plain(name, what, name, at_key=True)
        names = table.names(name, each)
        if what == "group" and not names:
            table.fail(name, f"Nobody is in the group {name}. Name people, or leave it out.")
        if (each == "role" and ANYBODY in names) or (what != "person" and name == ANYBODY):
            table.fail(name, f"Everybody on the desk is a {ANYBODY} already.")
        found[name] = names
    return found
