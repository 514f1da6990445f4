"""A second opinion on what a policy lets happen, read from bare events by other means.

A policy is a table here: the product gets it as TOML, this module looks things up in the table.
Nothing of the product's rulings, joins, tallies or matching is used. A ruling is kept as the list
of all that was ever demanded of an ask, and what was carried out is held against each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

from sayso import Event

LARGE = 100  # up to this amount a call is a small one
CONSENT = ("approve", "edit")
Roles = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Demand:
    """What one rule wants before a call is carried out. Times are in minutes."""

    needs: tuple[str, ...] = ("1 reviewer",)
    within: int | None = None
    silence: bool = False
    cool_off: int = 0
    execute_within: int | None = None
    ladder: tuple[tuple[int, str], ...] = ()
    requester: bool = False

    @property
    def roles(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for need in self.needs:
            number, role = need.split()
            counts[role] += int(number)
        return counts

    @property
    def picky(self) -> bool:
        """Whether it minds who agrees."""
        return set(self.roles) != {"reviewer"}

    def stand_ins(self, after: timedelta) -> set[str]:
        return {role for minutes, role in self.ladder if timedelta(minutes=minutes) <= after}

    def toml(self) -> str:
        times = {name: getattr(self, name) for name in ("within", "cool_off", "execute_within")}
        lines = [f'{name} = "{minutes}m"' for name, minutes in times.items() if minutes]
        lines.append(f"needs = [{', '.join(map(repr, self.needs))}]")
        if self.silence:
            lines.append('on_timeout = "approve"')
        if self.ladder:
            rungs = (f'{{ after = "{after}m", to = "{role}" }}' for after, role in self.ladder)
            lines.append(f"escalate = [{', '.join(rungs)}]")
        if self.requester:
            lines.append("requester = true")
        return "\n".join(lines)


class Never:
    """The word of a policy that denies."""


class Alone:
    """The word of a policy that asks nobody."""


class Declared:
    """The word of a policy that leaves it to the risk that was declared."""


Word = Demand | Never | Alone | Declared
# What the built-in tiers want, as the documents say it (S2.9).
TIERS: Mapping[str | None, Word] = {
    None: Demand(),
    "low": Demand(),  # whoever asks in so many words is heard: its own word lowers nothing
    "medium": Demand(("1 junior",)),
    "high": Demand(("1 senior",)),
    "critical": Demand(("1 senior", "1 security")),
}


_TOOL = '[tools.pay]\nargs = { amount = "integer", number = "integer" }'


@dataclass(frozen=True)
class Law:
    """A policy: one word for small calls, and one for large ones."""

    small: Word
    large: Word

    def toml(self) -> str:
        return "\n".join(
            [_TOOL, *_written("small", "<=", self.small), *_written("large", ">", self.large)]
        )

    def demands(self, amount: int, put: Put) -> list[Demand]:
        """Return all that is wanted of such a call; fail if it is denied."""
        word = self.large if amount > LARGE else self.small
        if isinstance(word, Declared):
            word = TIERS[put.risk]
        assert not isinstance(word, Never), "it is denied"
        found = [word] if isinstance(word, Demand) else []
        if put.reversible is False:
            found.append(Demand())
        return found


def _written(name: str, compared: str, word: Word) -> Iterator[str]:
    if isinstance(word, Declared):
        return
    yield f'[[rules]]\nname = "{name}"\ntool = "pay"\nwhen = "args.amount {compared} {LARGE}"'
    if isinstance(word, Never):
        yield 'effect = "deny"'
        return
    yield f'tier = "{name}"\n[tiers.{name}]'
    yield "alone = true" if isinstance(word, Alone) else word.toml()


@dataclass(frozen=True)
class Put:
    """What a program said when it asked."""

    needs: tuple[str, ...] | None = None
    requester: str | None = None
    owner: str | None = None
    risk: str | None = None
    reversible: bool | None = None
    within: int | None = None
    deny: int = 1


@dataclass
class Trail:
    """What the events of one ask have said so far."""

    put: Put
    opened: datetime
    amount: int
    demands: list[Demand]
    votes: dict[str, str] = field(default_factory=dict)
    agreed: dict[str, frozenset[str]] = field(default_factory=dict)
    how: str = ""  # by whom it was decided: people, clock or policy
    spoken: datetime | None = None  # when the last person agreed
    settles: datetime | None = None
    decided: datetime | None = None
    marks: set[str] = field(default_factory=set)


@dataclass
class Judge:
    """Goes along a journal. `in_force` says under which policy each event was written."""

    puts: Mapping[str, Put]
    in_force: Mapping[tuple[str, int], Law]
    trails: dict[str, Trail] = field(default_factory=dict)
    roster: dict[str, frozenset[str]] = field(default_factory=dict)
    begun: Counter[str] = field(default_factory=Counter)

    def hear(self, events: Iterable[Event]) -> Counter[str]:
        """Fail at the first call that was begun and should not have been. Count the others."""
        for event in events:
            said = event.payload or {}
            if event.stream == "people":
                self.people(event, said)
            elif event.stream == "law":
                continue
            elif event.kind == "ask.opened":
                self.trails[event.stream] = self.opened(event, said)
            else:
                self.follow(self.trails[event.stream], event, said)
        return self.begun

    def people(self, event: Event, said: dict[str, Any]) -> None:
        if event.kind == "person.removed":
            del self.roster[said["name"]]
            return
        roles = {*said["roles"], said["name"]}
        self.roster[said["name"]] = frozenset(roles | ({"junior"} if "senior" in roles else set()))

    def law(self, event: Event) -> Law:
        return self.in_force[event.stream, event.seq]

    def opened(self, event: Event, said: dict[str, Any]) -> Trail:
        put = self.puts[event.stream]
        amount = said["content"]["proposal"]["args"]["amount"]
        return Trail(put, event.at, amount, self.law(event).demands(amount, put))

    def follow(self, trail: Trail, event: Event, said: dict[str, Any]) -> None:
        match event.kind.split("."):
            case ["ask", "edited"]:
                trail.votes = {}
                trail.amount = said["args"]["amount"]
                self.heard(trail, event, said)
                trail.demands += self.law(event).demands(trail.amount, trail.put)
                trail.marks.add("edited")
            case ["ask", "raised"]:
                trail.votes = {}
                trail.demands += self.law(event).demands(trail.amount, trail.put)
                trail.marks.add("raised")
            case ["ask", "voted"]:
                self.heard(trail, event, said)
            case ["ask", "settling"]:
                self.heard(trail, event, said)
                self.counted(trail, event, said)
                trail.settles = datetime.fromisoformat(said["until"])
                trail.marks.add("settled")
            case ["ask", "taken_back"]:
                if event.actor.kind == "person":  # the clock does it for those who left
                    del trail.votes[event.actor.id]
                trail.how, trail.agreed, trail.settles, trail.spoken = "", {}, None, None
                trail.marks.add("taken back")
            case ["ask", "decided"]:
                self.decided(trail, event, said)
            case ["effect", "intended"]:
                self.intended(trail, event)
            case _:
                pass

    def heard(self, trail: Trail, event: Event, said: dict[str, Any]) -> None:
        assert event.actor.kind == "person", f"{event.actor} voted"
        trail.votes[event.actor.id] = said["verdict"]
        if said["verdict"] in CONSENT:
            trail.spoken = event.at

    def counted(self, trail: Trail, event: Event, said: dict[str, Any]) -> None:
        """Note who has agreed by now, and the roles they hold now."""
        trail.how = "people" if said["verdict"] in CONSENT else "refused"
        trail.agreed = {
            name: self.roster[name]
            for name, verdict in trail.votes.items()
            if verdict in CONSENT and name in self.roster
        }
        if trail.how == "people":
            trail.demands += self.law(event).demands(trail.amount, trail.put)

    def decided(self, trail: Trail, event: Event, said: dict[str, Any]) -> None:
        trail.decided = event.at
        if event.actor.kind == "person":
            self.heard(trail, event, said)
            self.counted(trail, event, said)
        elif trail.settles is not None:
            assert event.at >= trail.settles, "it counted before its time was over"
        else:
            trail.how = event.actor.kind if said["verdict"] in CONSENT else "refused"

    # --- the verdict on what was begun ---

    def intended(self, trail: Trail, event: Event) -> None:
        assert trail.how != "refused", "begun though it was refused"
        assert trail.decided is not None, "begun and not decided"
        now = self.law(event).demands(trail.amount, trail.put)
        demands = trail.demands + now
        for demand in demands:
            if demand.execute_within is not None:
                last = trail.decided + timedelta(minutes=demand.execute_within)
                assert event.at <= last, f"begun after {last}"
        {"people": by_people, "clock": by_silence, "policy": by_nobody}[trail.how](
            trail, demands, event.at
        )
        for mark in ("all", trail.how, *trail.marks):
            self.begun[mark] += 1


def by_nobody(trail: Trail, demands: list[Demand], _at: datetime) -> None:
    assert not demands, "nobody was asked, and somebody should have been"
    assert trail.put.needs is None, "the program wanted people"


def by_silence(trail: Trail, demands: list[Demand], _at: datetime) -> None:
    assert trail.decided is not None
    assert all(demand.silence for demand in demands), "silence was no yes"
    assert trail.put.risk not in ("high", "critical"), "silence where much is at stake"
    assert trail.put.reversible is not False, "silence on what cannot be undone"
    assert trail.put.needs is None, "silence in place of whom the program wanted"
    assert not set(trail.votes.values()) - set(CONSENT), "silence, though somebody refused"
    least = min(demand.within for demand in demands if demand.within is not None)
    waited = trail.decided - trail.opened
    assert waited >= timedelta(minutes=least), f"silence of {waited} only"


def by_people(trail: Trail, demands: list[Demand], at: datetime) -> None:
    assert trail.spoken is not None
    assert trail.decided is not None
    for demand in demands:
        settled = trail.spoken + timedelta(minutes=demand.cool_off)
        assert at >= settled, f"begun before {settled}"
    agreed = dict(trail.agreed)
    if not all(demand.requester for demand in demands):
        for name in (trail.put.requester, trail.put.owner):
            agreed.pop(name or "", None)
    wanted = [*demands, *([Demand(trail.put.needs)] if trail.put.needs else [])]
    others = _stand_ins(wanted, trail.spoken - trail.opened)
    places = _places(wanted)
    assert _seated(places, agreed, others), f"{agreed} for {places}, or {others}"
    if others and not _seated(places, agreed, set()):
        trail.marks.add("stand-in")


def _places(demands: list[Demand]) -> list[str]:
    """One place for everybody whom any of them wants, and for as many as any of them wants."""
    most: Counter[str] = Counter()
    for demand in demands:
        most |= demand.roles
    del most["reviewer"]
    places = list(most.elements())
    total = max((demand.roles.total() for demand in demands), default=0)
    return places + ["reviewer"] * (total - len(places))


def _stand_ins(demands: list[Demand], after: timedelta) -> set[str]:
    let = [demand.stand_ins(after) for demand in demands if demand.picky]
    return set.intersection(*let) if let else set()


def _seated(places: list[str], people: Roles, others: set[str]) -> bool:
    return any(
        all(
            place == "reviewer" or place in people[name] or people[name] & others
            for place, name in zip(places, names, strict=True)
        )
        for names in permutations(people, len(places))
    )
