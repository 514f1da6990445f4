"""A policy: rules, tiers and who is in which group; asked about one call, it gives a ruling.

Rules that name a tier say which one a call belongs to; without any, its declared
risk does. All other rules that match add what they want. Nothing that a call says
of itself takes anything away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from sayso.errors import BadPolicy, BadValue
from sayso.model.actor import Roster
from sayso.model.content import RISKS
from sayso.model.names import check_name, fold
from sayso.model.requirement import ONE_REVIEWER
from sayso.model.ruled import NEVER_BY_TIMEOUT
from sayso.model.text import one_line
from sayso.policy.conditions import Condition, Conditions, Verdict
from sayso.policy.earning import Earning
from sayso.policy.facts import Facts, Hidden
from sayso.policy.paces import EACH, Limits, Pace, pace_of
from sayso.policy.ruling import STRICTNESS, Effect, Ruling, joined
from sayso.policy.tiers import BUILT_IN, IMPLIED, Terms, Tier, counted_as, ranked

if TYPE_CHECKING:  # most policies declare no tool
    from sayso.model.declaration import Declaration

Undeclared = Literal["ask", "deny"]
GATED = "Every call of this tool needs a person's say-so."
UNREADABLE = "Part of it cannot be read by anybody, so it counts as one level riskier."
_DECLARE = "Declare it in [tools] of the policy, or by a gate in code."
Predicate = Callable[[Facts], object]
# Whose names a part of a policy is told by, and whose names it lists.
_NAMED = (
    ("groups", "group", "person"),
    ("roles", "person", "role"),
    ("implied", "role", "role"),
    ("paces", "agent", None),
)
_ABOVE: Mapping[str, str] = {**dict(pairwise(RISKS)), RISKS[-1]: RISKS[-1]}
_MOST = 10_000
_LISTED = 5  # arguments that a sentence names
_ROSTERS = 16
_USUAL_ROLES = {
    role for tier in BUILT_IN.values() for role in (tier.terms.needs or ONE_REVIEWER).roles
}


def never_called(pattern: str) -> str | None:
    """Say why no tool has a name like this, in which * and ? stand for others; `None` if one may."""
    try:
        check_name("tool", pattern.replace("*", "_").replace("?", "_"))
    except BadValue as error:
        return str(error)
    return None


def _plainly(given: Mapping[str, Any], whose: str, of: str | None) -> dict[str, Any]:
    """Return a part of a policy by names as the desk writes them."""
    plain: dict[str, Any] = {}
    for name, said in given.items():
        try:
            own = name if name == EACH else check_name(whose, name)
            listed = said if of is None else tuple(check_name(of, one) for one in said)
        except BadValue as error:
            raise BadPolicy(str(error)) from None
        if own in plain:
            raise BadPolicy(f"What is said of {own} stands there twice, in other letters.")
        plain[own] = listed
    return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: which calls it is about, and what it says to them."""

    name: str
    tools: tuple[str, ...] | str = ()
    when: Condition | str | None = None
    asked: Predicate | None = None
    effect: Effect | None = None
    tier: str | None = None
    terms: Terms = field(default_factory=Terms)
    why: str = ""
    line: int | None = None

    def __post_init__(self) -> None:
        """Take what is easier to write in code, and refuse a rule that says nothing.

        Raises:
            BadPolicy: its condition makes no sense, or it has not one of effect and tier.
        """
        if isinstance(self.tools, str):
            object.__setattr__(self, "tools", (self.tools,))
        if isinstance(self.when, str):
            object.__setattr__(self, "when", Condition.parse(self.when))
        if (self.effect is None) is (self.tier is None) or self.effect not in (None, *STRICTNESS):
            raise BadPolicy(
                f"The rule {self.name!r} says either tier=... or effect= allow, ask or deny."
            )
        for reason in filter(None, map(never_called, self.tools)):
            raise BadPolicy(f"The rule {self.name!r} is about no tool: {reason}")

    def names(self, tool: str | None) -> bool:
        """Whether it is about calls of this tool at all."""
        # Only * and ? stand for others; a bracket is a bracket.
        patterns = (fold(name).replace("[", "[[]") for name in self.tools)
        return not self.tools or any(fnmatchcase(fold(tool or ""), one) for one in patterns)


class _Name(str):
    """The name of a tool or an agent, as a rule in Python compares it: whatever its case."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and fold(self) == fold(other)

    def __hash__(self) -> int:
        return hash(fold(self))


@dataclass(frozen=True, slots=True)
class Matched:
    """A rule that has something to say to a call; `unsure` is why that could not be told."""

    rule: Rule
    unsure: str | None = None


def _lowest_first(tier: Tier) -> tuple[bool, int]:
    return not tier.alone, -(tier.rank or 0)


class _About:
    """The rules about one tool, ready to be asked."""

    def __init__(self, tool: str | None, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.refused = None if tool is None else _refused("tool", tool)
        self.asks = [rule.when for rule in rules if isinstance(rule.when, Condition)]
        self.conditions = Conditions(self.asks)
        # Then what they say follows from what is `stated` in the facts. The word counts wherever
        # it stands, in quotes or as a part of another: asking once more does no harm.
        self.settled = (
            self.refused is None
            and not any(rule.asked for rule in rules)
            and not any(
                word in condition.text for condition in self.asks for word in ("args", "time")
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules in force. `version` is the digest of the `text` they were read from.

    One that is made in code is known on its desk by its `name` and by a digest of what it declares.
    """

    rules: tuple[Rule, ...] = ()
    tiers: Mapping[str, Tier] = field(default_factory=lambda: dict(BUILT_IN))
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    implied: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(IMPLIED))
    paces: Mapping[str, Pace] = field(default_factory=dict)
    earning: Earning = field(default_factory=Earning)
    declared: Mapping[str, Declaration] = field(default_factory=dict)
    unknown_tools: Undeclared = "ask"
    unknown_arguments: Undeclared = "ask"
    name: str | None = None
    version: str | None = None
    source: str = "built in"
    text: str | None = field(default=None, repr=False, compare=False)
    _by_tool: dict[str | None, _About] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _known: dict[object, Ruling] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _said_to: dict[object, Ruling] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _wide: dict[int, tuple[Roster, Roster]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Refuse rules that nobody could tell apart, or that lead nowhere, and write names plainly.

        Raises:
            BadPolicy: two rules have one name, a rule names a tier that is none, or a name is none.
        """
        for part, whose, of in _NAMED:
            object.__setattr__(self, part, _plainly(getattr(self, part), whose, of))
        if any(tier.rank is None for tier in self.tiers.values()):
            own = [name for name in self.tiers if name not in RISKS]
            object.__setattr__(self, "tiers", ranked(self.tiers, own))
        names: set[str] = set()
        for rule in self.rules:
            if rule.name in names:
                raise BadPolicy(
                    f"Two rules are called {rule.name!r}; nobody could tell which one asked."
                )
            names.add(rule.name)
            if rule.tier is not None and rule.tier not in self.tiers:
                known = ", ".join(self.tiers)
                raise BadPolicy(
                    f"The rule {rule.name!r} names the tier {rule.tier!r}. There are: {known}."
                )

    @property
    def order(self) -> tuple[str, ...]:
        """The tiers from the lowest to the highest, first those that run alone."""
        return tuple(sorted(self.tiers, key=lambda name: _lowest_first(self.tiers[name])))

    def matching(self, facts: Facts, now: datetime) -> list[Matched]:
        """Return the rules that have something to say to a call."""
        about = self._about(facts.tool)
        said = iter(
            about.conditions.evaluated(facts.values(now), facts.hidden) if about.asks else ()
        )
        found = []
        for rule in about.rules:
            verdict: Verdict = True if rule.when is None else next(said)
            if verdict is True and rule.asked is not None:
                verdict = _asked(rule.asked, facts)
            if isinstance(verdict, str):
                found.append(Matched(rule, verdict))
            elif verdict:
                found.append(Matched(rule))
        return found

    def _about(self, tool: str | None) -> _About:
        try:
            return self._by_tool[tool]
        except KeyError:
            if len(self._by_tool) > _MOST:  # names come from agents
                self._by_tool.clear()
            about = [rule for rule in self.rules if rule.names(tool)]
            known = self._by_tool[tool] = _About(tool, about)
            return known

    def ruling(self, facts: Facts, now: datetime) -> Ruling:
        """Return what is to be done with a call."""
        key = _key(facts) if self._about(facts.tool).settled else None
        try:
            known = self._said_to.get(key)
        except TypeError:  # a fact that has no hash
            key = known = None
        if key is None:
            return self._ruled(facts, now)
        if known is None:
            if len(self._said_to) > _MOST:
                self._said_to.clear()
            known = self._said_to[key] = self._ruled(facts, now)
        return known

    def settled(self, tool: str | None) -> bool:
        """Whether what it says to calls of a tool depends on nothing but what is stated of them."""
        try:
            return self._by_tool[tool].settled
        except KeyError:
            return self._about(tool).settled

    def _ruled(self, facts: Facts, now: datetime) -> Ruling:
        refused = self._about(facts.tool).refused
        if refused is not None:
            return Ruling(effect="deny", sentence=refused, version=self.version)
        matched = self.matching(facts, now)
        unknown = facts.undeclared or facts.strays
        if unknown or facts.risk not in (None, *self.tiers) or any(one.unsure for one in matched):
            return self._joined(matched, facts)
        # The same rules say the same, whatever the call: most rulings were joined before.
        says = (facts.risk, facts.always, facts.requested, facts.unreadable)
        key = (tuple(id(one.rule) for one in matched), *says)
        known = self._known.get(key)
        if known is None:
            if len(self._known) > _MOST:
                self._known.clear()
            known = self._known[key] = self._joined(matched, facts)
        return known

    def _joined(self, matched: Sequence[Matched], facts: Facts) -> Ruling:
        rulings = [self._said(one, facts) for one in matched]
        # A rule that may not apply at all takes nothing away, so only a certain one replaces.
        placed = any(one.rule.tier and one.unsure is None for one in matched)
        if not placed:
            rulings += self._declared(facts)
        asks = any(ruling.effect != "allow" for ruling in rulings)
        if (facts.always and not asks) or (facts.requested and not placed):
            rulings.append(self._ask(GATED))
        if facts.undeclared or facts.strays:
            rulings.append(self._unknown(facts))
        if not rulings and facts.unreadable:
            rulings = [self._ask(UNREADABLE)]
        if not rulings:
            rulings = [
                Ruling(effect="allow", sentence="No rule asks for a person.", version=self.version)
            ]
        said = joined(rulings)
        if facts.unreadable and said.asks and UNREADABLE not in said.sentence:
            said = replace(said, sentence=f"{said.sentence} {UNREADABLE}")
        grave = facts.risk is not None and (
            facts.risk in NEVER_BY_TIMEOUT or facts.risk not in self.tiers
        )
        if facts.unreadable:
            said = replace(said, earnable=False)
        return replace(said, on_timeout="reject") if grave or facts.unreadable else said

    def _declared(self, facts: Facts) -> list[Ruling]:
        """Return what the declared risk says. One that is no tier is the worst there is."""
        if facts.risk is None:
            return []
        tier = self._tier(facts.risk, facts) if facts.risk in self.tiers else None
        if tier is not None:
            return [tier.ruling(self._needs(tier), (), self.version)]
        worst = self.tiers.get("critical") or BUILT_IN["critical"]
        sentence = (
            f"The risk {one_line(str(facts.risk), 40)!r} is no tier, so it counts as critical."
        )
        return [worst.ruling(sentence, (), self.version)]

    def _tier(self, name: str, facts: Facts) -> Tier:
        """Return a tier, or the one above it for a call that nobody can read all of."""
        tier = self.tiers[name]
        if not facts.unreadable:
            return tier
        # A tier of the policy's own is as high as it says, but nothing of it runs alone.
        above = _ABOVE.get(name, "medium" if tier.alone else name)
        return self.tiers.get(above) or BUILT_IN[above]

    def _needs(self, tier: Tier) -> str:
        if tier.alone:
            return f"Calls of {tier.name} risk run alone."
        return f"Calls of {tier.name} risk need {tier.terms.needs or ONE_REVIEWER}."

    def _said(self, matched: Matched, facts: Facts) -> Ruling:
        rule = matched.rule
        tier = None if rule.tier is None else self._tier(rule.tier, facts)
        if matched.unsure is not None:
            return self._unsure(rule, tier, matched.unsure)
        if tier is not None:
            return tier.ruling(rule.why or self._needs(tier), (rule.name,), self.version)
        if rule.effect == "ask":
            sentence = (
                rule.why or f"The rule {rule.name!r} asks for {rule.terms.needs or ONE_REVIEWER}."
            )
            return rule.terms.asking(sentence, (rule.name,), tier=None, version=self.version)
        sentence = rule.why or f"The rule {rule.name!r} says {rule.effect}."
        return Ruling(
            effect=rule.effect or "ask", sentence=sentence, rules=(rule.name,), version=self.version
        )

    def _unsure(self, rule: Rule, tier: Tier | None, why: str) -> Ruling:
        """Ask whoever the rule would have asked, because it could not be told whether it applies."""
        sentence = (
            f"The rule {rule.name!r} could not be checked ({one_line(why, 160)}), so you are asked."
        )
        if tier is None or tier.alone:
            return rule.terms.asking(sentence, (rule.name,), tier=None, version=self.version)
        return tier.terms.asking(sentence, (rule.name,), tier=tier.name, version=self.version)

    def _ask(self, sentence: str) -> Ruling:
        return Ruling(effect="ask", sentence=sentence, version=self.version)

    def _unknown(self, facts: Facts) -> Ruling:
        """Return what is said to a call that the desk knows too little of: it never runs alone."""
        if facts.undeclared:
            effect: Effect = self.unknown_tools
            said = f"Nothing on this desk declares the tool {one_line(facts.tool or '', 60)}"
        else:
            effect = self.unknown_arguments
            several = len(facts.strays) > 1
            shown = ", ".join(one_line(name, 60) for name in facts.strays[:_LISTED])
            more = len(facts.strays) - _LISTED
            shown += f" and {more} more" if more > 0 else ""
            what = f"arguments {shown}" if several else f"argument {shown}"
            said = f"{one_line(facts.tool or '', 60)} declares no {what}"
        if effect == "deny":
            return Ruling(effect="deny", sentence=f"{said}. {_DECLARE}", version=self.version)
        return self._ask(f"{said}, so it never runs alone.")

    def widened(self, roster: Roster) -> Roster:
        """Return the people of a desk with the roles that this policy gives them.

        Everybody holds their own name as well, so that `1 anna` asks for anna; unless it is
        the name of a role: nobody gets that by being called so.
        """
        if roster.solo:
            return roster
        known = self._wide.get(id(roster))  # the roster is kept with it, so the number is its own
        if known is None:
            if len(self._wide) >= _ROSTERS:
                self._wide.clear()
            known = self._wide[id(roster)] = (roster, self._widened(roster))
        return known[1]

    def _widened(self, roster: Roster) -> Roster:
        groups = {group: frozenset(map(fold, names)) for group, names in self.groups.items()}
        own = {fold(name): roles for name, roles in self.roles.items()}
        people = {
            name: self._held(fold(name), roles, groups, own)
            for name, roles in roster.people.items()
        }
        roles = frozenset().union(_USUAL_ROLES, self.groups, self.implied, *people.values())
        return Roster(
            {
                name: held if fold(name) in roles else held | {fold(name)}
                for name, held in people.items()
            },
            roster.teams,
            roster.team,
        )

    def _held(
        self,
        name: str,
        roles: frozenset[str],
        groups: Mapping[str, frozenset[str]],
        own: Mapping[str, tuple[str, ...]],
    ) -> frozenset[str]:
        """Return the roles of a person, whose name is given in small letters."""
        called = {group for group, names in groups.items() if name in names}
        return counted_as({*map(fold, roles), *own.get(name, ()), *called}, self.implied)

    def pace(self, agent: str) -> Limits:
        """Return how fast this agent may ask."""
        return pace_of(agent, self.paces)


def _refused(what: str, name: str) -> str | None:
    """Say why nothing under this name is allowed: no rule can be about what reads like another."""
    try:
        check_name(what, name)
    except BadValue as error:
        return str(error)
    return None


def _key(facts: Facts) -> object:
    """Return what tells these facts from others, `None` if nothing does."""
    sure = facts.confidence
    if sure != sure:  # "no number" is like no other, so it would never be found again
        return None
    # Python takes True for 1 and 1 for 1.0. Conditions do not.
    kinds = (type(sure), type(facts.conflict), type(facts.unseen), type(facts.reversible))
    return (facts.stated, kinds, *map(type, facts.tags))


def _asked(predicate: Predicate, facts: Facts) -> Verdict:
    """Ask a rule written in Python. One that fails has not said no."""
    args = {**facts.args, **dict.fromkeys(facts.hidden, Hidden())}
    named = facts._replace(tool=None if facts.tool is None else _Name(facts.tool), args=args)
    try:
        said = predicate(named._replace(agent=_Name(facts.agent)))
    except Exception as error:  # noqa: BLE001 - whatever it is, it could not be told
        return f"{type(error).__name__}: {error}"
    return said if isinstance(said, bool) else f"it returned {type(said).__name__}, not a bool"
