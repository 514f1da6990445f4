"""A policy as people write it: TOML, read and checked before it is in force.

Whatever is wrong is said with its line and column, and nothing of a policy that
is wrong anywhere is taken over.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from sayso.errors import BadPolicy, BadValue
from sayso.model.actor import plain_name
from sayso.model.requirement import Requirement
from sayso.model.span import span
from sayso.policy.conditions import Condition
from sayso.policy.places import Path, places
from sayso.policy.rules import Policy, Rule
from sayso.policy.ruling import Rung
from sayso.policy.tiers import BUILT_IN, IMPLIED, NEVER_BY_TIMEOUT, Terms, Tier

_TERMS = ("needs", "deny", "within", "on_timeout", "cool_off", "execute_within", "remind", "escalate",
          "requester")  # fmt: skip
_TIER = ("alone", *_TERMS)
_RULE = ("name", "tool", "tools", "when", "effect", "tier", "why", *_TERMS)
SECTIONS = ("tiers", "rules", "groups", "roles", "implies", "tools", "default")
_AT = re.compile(r"\(at line (\d+), column (\d+)\)")


def read(text: str, *, source: str = "", default: Policy | None = None) -> Policy:
    """Read a policy; the default one's rules go on applying unless it says `default = false`.

    Raises:
        BadPolicy: it makes no sense; says where, and what to do.
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        line, column = (int(at[1]), int(at[2])) if at else (None, None)
        reason = _AT.sub("", str(error)).strip()
        raise BadPolicy(f"{reason}.", line=line, column=column, file=source) from None
    return Reader(given, places(text), source).policy(text, default)


class Reader:
    """Reads the tables of one policy."""

    def __init__(self, given: Mapping[str, Any], at: Mapping[Path, tuple[int, int]], source: str):
        self._given = given
        self._at = at
        self._source = source

    def policy(self, text: str, default: Policy | None) -> Policy:
        """Return the whole of it."""
        keeps = self._given.get("default", True)
        if not isinstance(keeps, bool):
            self.fail(("default",), "default is true or false.")
        tiers = self._tiers(default if keeps else None)
        own = (*self._gated_tools(tiers), *self._rules(tiers))
        self._check_names(own)
        return Policy(
            rules=(*(default.rules if default is not None and keeps else ()), *own),
            tiers=tiers,
            groups=self._lists("groups", "group"),
            roles=self._lists("roles", "person"),
            implied={**IMPLIED, **self._lists("implies", "role")},
            version=hashlib.sha256(text.encode()).hexdigest()[:12],
            source=self._source or "given",
        )

    # --- tiers ---

    def _tiers(self, default: Policy | None) -> dict[str, Tier]:
        tiers = dict(default.tiers if default is not None else BUILT_IN)
        for name, table in self._tables("tiers").items():
            path = ("tiers", name)
            self._check_keys(table, _TIER, path)
            alone = table.get("alone", False)
            if not isinstance(alone, bool):
                self.fail((*path, "alone"), "alone is true or false.")
            if alone and len(table) > 1:
                self.fail(
                    path, f"The tier {name} runs alone, so nobody is asked: leave the rest out."
                )
            if not alone and "needs" not in table:
                self.fail(
                    path, f'The tier {name} says neither alone = true nor needs = ["1 senior"].'
                )
            terms = self._terms(table, path)
            if terms.on_timeout == "approve" and name in NEVER_BY_TIMEOUT:
                self.fail(
                    (*path, "on_timeout"), f"A call of {name} risk is never approved by the clock."
                )
            tiers[name] = Tier(name, alone, terms)
        return tiers

    # --- rules ---

    def _gated_tools(self, tiers: Mapping[str, Tier]) -> list[Rule]:
        """Read `[tools]`: a tool by name, and the tier it belongs to."""
        found = []
        for tool, tier in self._mapping("tools").items():
            path = ("tools", tool)
            self._check_tier(tier, tiers, path)
            found.append(
                Rule(name=f"tools.{tool}", tools=(tool,), tier=tier, line=self._line(path))
            )
        return found

    def _rules(self, tiers: Mapping[str, Tier]) -> list[Rule]:
        given = self._given.get("rules", [])
        if not isinstance(given, list) or not all(isinstance(rule, dict) for rule in given):
            self.fail(("rules",), "Rules are tables, each under [[rules]].")
        return [self._rule(table, ("rules", number), tiers) for number, table in enumerate(given)]

    def _rule(self, table: Mapping[str, Any], path: Path, tiers: Mapping[str, Tier]) -> Rule:
        self._check_keys(table, _RULE, path)
        name = table.get("name")
        if not isinstance(name, str) or not name.strip():
            self.fail(path, "A rule needs a name: people read it as the reason why they are asked.")
        says = [key for key in ("effect", "tier") if key in table]
        if len(says) != 1:
            self.fail(
                path, f"The rule {name!r} says either tier = ... or effect = allow, ask or deny."
            )
        if "tier" in table:
            self._check_tier(table["tier"], tiers, (*path, "tier"))
        elif table["effect"] not in ("allow", "ask", "deny"):
            self.fail((*path, "effect"), "effect is allow, ask or deny.")
        extra = [key for key in _TERMS if key in table]
        if extra and table.get("effect") != "ask":
            self.fail(
                (*path, extra[0]), f'{extra[0]} goes with effect = "ask"; a tier has its own.'
            )
        return Rule(
            name=name,
            tools=self._tool_names(table, path),
            when=self._condition(table, path),
            effect=table.get("effect"),
            tier=table.get("tier"),
            terms=self._terms(table, path),
            why=self._text(table, "why", path),
            line=self._line(path),
        )

    def _tool_names(self, table: Mapping[str, Any], path: Path) -> tuple[str, ...]:
        given = table.get("tools", table.get("tool"))
        if given is None:
            return ()
        names = [given] if isinstance(given, str) else given
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            self.fail((*path, "tools"), 'tools names one tool or more: ["refund", "pay_*"].')
        return tuple(names)

    def _condition(self, table: Mapping[str, Any], path: Path) -> Condition | None:
        if "when" not in table:
            return None
        try:
            condition = Condition.parse(table["when"])
        except BadPolicy as error:
            line, column = self._at.get((*path, "when"), (None, None))
            if line is not None and column is not None and error.line and error.column:
                # The text begins behind its quote; of a text of several lines only the line counts.
                column = column + error.column if error.line == 1 else error.column
                line += error.line - 1
            raise BadPolicy(error.reason, line=line, column=column, file=self._source) from None
        if condition.text.strip() == "false":
            self.fail((*path, "when"), "This rule can never match: its condition is false.")
        return condition

    # --- terms ---

    def _terms(self, table: Mapping[str, Any], path: Path) -> Terms:
        return Terms(
            needs=self._needs(table, path),
            within=self._span(table, "within", path),
            on_timeout=self._on_timeout(table, path),
            cool_off=self._span(table, "cool_off", path) or 0.0,
            execute_within=self._span(table, "execute_within", path),
            remind=self._remind(table, path),
            ladder=self._ladder(table, path),
            requester=self._flag(table, "requester", path),
        )

    def _needs(self, table: Mapping[str, Any], path: Path) -> Requirement | None:
        if "needs" not in table and "deny" not in table:
            return None
        try:
            return Requirement.parse(table.get("needs"), deny=table.get("deny", 1))
        except BadValue as error:
            self.fail((*path, "needs" if "needs" in table else "deny"), str(error))

    def _span(self, table: Mapping[str, Any], key: str, path: Path) -> float | None:
        if key not in table:
            return None
        try:
            return span(table[key]).total_seconds()
        except BadValue as error:
            self.fail((*path, key), str(error))

    def _on_timeout(self, table: Mapping[str, Any], path: Path) -> Any:  # noqa: ANN401 - a word
        said = table.get("on_timeout", "reject")
        if said not in ("reject", "approve"):
            self.fail((*path, "on_timeout"), "on_timeout is reject, or approve.")
        if said == "approve" and "within" not in table:
            self.fail((*path, "on_timeout"), "on_timeout needs a deadline: within = ...")
        return said

    def _remind(self, table: Mapping[str, Any], path: Path) -> tuple[float, ...]:
        given = table.get("remind", [0.5, 0.9])
        fits = isinstance(given, list) and all(
            isinstance(part, float) and 0 < part < 1 for part in given
        )
        if not fits:
            self.fail(
                (*path, "remind"), "remind lists parts of the time given, such as [0.5, 0.9]."
            )
        return tuple(sorted(given))

    def _ladder(self, table: Mapping[str, Any], path: Path) -> tuple[Rung, ...]:
        given = table.get("escalate", [])
        here = (*path, "escalate")
        if not isinstance(given, list) or not all(isinstance(rung, dict) for rung in given):
            self.fail(here, 'escalate is a list: [{ after = "4h", needs = ["1 lead"] }].')
        rungs = []
        for rung in given:
            self._check_keys(rung, ("after", "needs"), here)
            if set(rung) != {"after", "needs"}:
                self.fail(here, "Each rung says after = ... and needs = ...")
            after, needs = self._span(rung, "after", here), self._needs(rung, here)
            rungs.append(Rung(after or 0.0, needs or Requirement()))
        within = self._span(table, "within", path)
        times = [rung.after for rung in rungs]
        if times != sorted(set(times)):
            self.fail(here, "The rungs go up in time: each comes after the one before.")
        if within is not None and times and times[-1] >= within:
            self.fail(
                here, "The last rung comes after the deadline, when nobody can decide any more."
            )
        if len({str(rung.needs) for rung in rungs}) < len(rungs):
            self.fail(here, "Two rungs ask the same people: the ladder goes round in a circle.")
        return tuple(rungs)

    # --- small things ---

    def _lists(self, section: str, what: str) -> dict[str, tuple[str, ...]]:
        found = {}
        for name, given in self._mapping(section).items():
            path = (section, name)
            if not isinstance(given, list):
                self.fail(path, f"{section}.{name} is a list of names.")
            try:
                plain_name(name, what)
                found[name] = tuple(
                    plain_name(each, "person" if what == "group" else "role") for each in given
                )
            except BadValue as error:
                self.fail(path, str(error))
            if what == "group" and not given:
                self.fail(path, f"Nobody is in the group {name}.")
        return found

    def _tables(self, section: str) -> dict[str, dict[str, Any]]:
        tables = self._mapping(section)
        for name, table in tables.items():
            if not isinstance(table, dict):
                self.fail((section, name), f"{section}.{name} is a table: [{section}.{name}].")
        return tables

    def _mapping(self, section: str) -> dict[str, Any]:
        found = self._given.get(section, {})
        if not isinstance(found, dict):
            self.fail((section,), f"{section} is a table: [{section}].")
        return found

    def _check_keys(self, table: Mapping[str, Any], known: Sequence[str], path: Path) -> None:
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(known)}."
                self.fail((*path, key), f"There is no {key} here.{hint}")

    def _check_tier(self, tier: object, tiers: Mapping[str, Tier], path: Path) -> None:
        if not isinstance(tier, str) or tier not in tiers:
            self.fail(path, f"There is no tier {tier!r}. There are: {', '.join(tiers)}.")

    def _check_names(self, rules: Sequence[Rule]) -> None:
        seen: dict[str, Rule] = {}
        for number, rule in enumerate(rules):
            if rule.name in seen:
                line = rule.line or number
                raise BadPolicy(
                    f"Two rules are called {rule.name!r}; nobody could tell which one asked.",
                    line=line,
                    column=1,
                    file=self._source,
                )
            seen[rule.name] = rule

    def _flag(self, table: Mapping[str, Any], key: str, path: Path) -> bool:
        said = table.get(key, False)
        if not isinstance(said, bool):
            self.fail((*path, key), f"{key} is true or false.")
        return said

    def _text(self, table: Mapping[str, Any], key: str, path: Path) -> str:
        said = table.get(key, "")
        if not isinstance(said, str):
            self.fail((*path, key), f"{key} is a text.")
        return said

    def _line(self, path: Path) -> int | None:
        return self._at.get(path, (None, None))[0]

    def fail(self, path: Path, reason: str) -> NoReturn:
        """Refuse the policy, naming the nearest place that is known."""
        while path and path not in self._at:
            path = path[:-1]
        line, column = self._at.get(path, (None, None))
        raise BadPolicy(reason, line=line, column=column, file=self._source)
