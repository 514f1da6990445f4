"""Looking through the journal: who did what to what, by any of it, the newest first.

Each thing that can be looked for has an index, and a look walks along the one that reaches furthest
back in as many steps. What else is wanted is picked out on the way, by the database. A walk is bounded:
where what is wanted is rare among much that is not, a page ends early and says from where to read on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar, get_args

from sayso.errors import BadValue, SaysoError
from sayso.insight.reader import catch_up
from sayso.insight.trailing import LONGEST_TOOL, rows_of, storable
from sayso.model.actor import ActorKind
from sayso.model.event import Event, micros
from sayso.model.event_kinds import EVENTS, check_kind
from sayso.model.names import fold
from sayso.model.span import span
from sayso.model.verdicts import Verdict
from sayso.store.contract import Store
from sayso.store.trail import DESK, MOST_WALKS, By, Met, Others, Spot, Stretch, TrailRow, Walk

SORTS: tuple[str, ...] = get_args(ActorKind)
VERDICTS: tuple[str, ...] = get_args(Verdict)
READ = 5000  # events that the trail reads on for one look; the sweep does so all the time
STEPS = 2000  # how far a walk goes for one page
_BATCH = 500
_BEGINNING, _END = Spot(0, 0), Spot(2**62, 2**62)
Way = tuple[By, tuple[str, ...]]  # what to walk along: the index, and the values to look for in it
T = TypeVar("T", Spot, Met)
_PLACE = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which events: every part that is given must fit.

    Args:
        actor: Who: a name (`anna`), a kind (`person`, `agent`, `policy`, `clock`), or both
            (`person:anna`).
        tool: Of asks for calls of this tool, and calls of it that needed nobody.
        verdict: Votes and decisions with this verdict.
        kind: A kind of event, or a family such as `ask.*`.
        since: From this moment on.
        until: Before this moment.
        stream: Of this ask, this run, `people`, `access`, `webhooks` or `seals`.
    """

    actor: str | None = None
    tool: str | None = None
    verdict: str | None = None
    kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    stream: str | None = None

    def checked(self) -> Wanted:
        """Return it, if it can be looked for.

        Raises:
            BadValue: there is no such verdict or kind, or a moment is without its zone.
        """
        if self.verdict is not None and self.verdict not in VERDICTS:
            raise BadValue(f"{self.verdict!r} is no verdict. There are: {', '.join(VERDICTS)}.")
        if self.kind is not None:
            check_kind(self.kind, families=True)
        if any(at is not None and at.tzinfo is None for at in (self.since, self.until)):
            raise BadValue("A moment needs its time zone, as 2026-03-01T09:00:00+00:00 has it.")
        tool = None if self.tool is None else storable(self.tool)[:LONGEST_TOOL]
        actor = None if self.actor is None else storable(self.actor)
        stream = None if self.stream is None else storable(self.stream)
        return replace(self, tool=tool, actor=actor, stream=stream)

    def ways(self) -> list[Way]:
        """Return what can be walked along: the index, and the values to look for in it."""
        found: list[Way] = []
        if self.stream is not None:
            found.append(("stream", (self.stream,)))
        if self.actor is not None:
            found.append(_way_of(self.actor))
        if self.tool is not None:
            found.append(("tool", _spellings(self.tool)))
        if self.verdict is not None:
            found.append(("verdict", (self.verdict,)))
        if self.kind not in (None, "*"):
            found.append(("kind", _kinds(str(self.kind))))
        return found or [("all", ("",))]

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self == Wanted()


def _fits(ways: Sequence[Way], row: TrailRow) -> bool:
    return all(by == "all" or getattr(row, by) in values for by, values in ways)


def _way_of(actor: str) -> Way:
    kind, colon, name = actor.partition(":")
    if not colon and kind in SORTS:
        return "sort", (kind,)
    if colon and not name and kind in SORTS:
        return "sort", (kind,)
    sorts, name = ((kind,), name) if colon and kind in SORTS else (SORTS, actor)
    return "actor", tuple(f"{sort}:{one}" for sort in sorts for one in _spellings(name))


def _spellings(name: str) -> tuple[str, ...]:
    """Return a name as it is written, and as the desk writes names since two cases are one name."""
    return tuple(dict.fromkeys((name, fold(name))))


def _as_written(store: Store, wanted: Wanted) -> Wanted:
    """Name a person as the desk spells them."""
    if wanted.actor is None:
        return wanted
    kind, colon, name = wanted.actor.partition(":")
    before, name = (f"{kind}:", name) if colon and kind in SORTS else ("", wanted.actor)
    return replace(wanted, actor=f"{before}{store.register().spelt(name)}")


def _kinds(kind: str) -> tuple[str, ...]:
    family, _, rest = kind.partition(".")
    if rest != "*":
        return (kind,)
    return tuple(one.name for one in EVENTS.values() if one.family == family)


def moment_of(text: str, now: datetime) -> datetime:
    """Read a moment: `2026-03-01`, `2026-03-01T09:00`, with a zone or in UTC; `7d` for so long ago.

    Raises:
        BadValue: it is none.
    """
    try:
        said = datetime.fromisoformat(text.strip())
    except ValueError:
        pass
    else:
        return said if said.tzinfo is not None else said.replace(tzinfo=UTC)
    try:
        return now - span(text)
    except (SaysoError, OverflowError) as error:
        words = (
            "Write it as 2026-03-01T09:00 (UTC unless it names a zone), or as 7d for so long ago."
        )
        raise BadValue(f"{text[:80]!r} is no moment. {words}") from error


def end_of(text: str, now: datetime) -> datetime:
    """Read the moment before which something is wanted. A day without a time is wanted to its end.

    Raises:
        BadValue: it is none.
    """
    moment = moment_of(text, now)
    try:
        date.fromisoformat(text.strip())
        return moment + timedelta(days=1)
    except ValueError:  # it has a time, or is a span
        return moment
    except OverflowError:  # the last day that there is
        return datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Found:
    """One event that was looked for, and what the trail says of it."""

    event: Event
    row: TrailRow


@dataclass(frozen=True, slots=True)
class Page:
    """What one look found, the newest first.

    `older` is the place to read on from, if there may be more. `early` says that the look ended
    early, among much that was not wanted. `whole` says whether the trail reaches the end of the journal.
    """

    found: tuple[Found, ...]
    older: str | None
    early: bool
    whole: bool


def look(
    store: Store,
    wanted: Wanted,
    *,
    teams: Sequence[str] | None = None,
    before: str | None = None,
    limit: int = 50,
    most: int | None = READ,
) -> Page:
    """Find events, the newest first.

    Args:
        store: The database.
        wanted: Which.
        teams: Those that may be seen, `""` for what belongs to none and `"#"` for the desk's own
            affairs; `None` means everything.
        before: Where an earlier page ended.
        limit: How many at most.
        most: How many events the trail may read on first; `None`: to the end of the journal.

    Raises:
        BadValue: what is wanted, or the place, makes no sense.
    """
    wanted = _as_written(store, wanted.checked())
    start, since = place_of(before, wanted), _beginning_of(wanted)
    whole = catch_up(store, most=most)
    walks = _Walks(store, tuple(store.trail_teams() if teams is None else teams), start, since)
    ways = wanted.ways()
    way, end = (ways[0], None) if len(ways) == 1 and limit < STEPS else walks.rarest(ways)
    others = dict(one for one in ways if one != way)
    met = walks.met(way, others, end or since, limit + 1)
    if len(met) > limit:
        return _page(store, met[:limit], met[limit - 1].spot, early=False, whole=whole)
    return _page(store, met, end, early=end is not None and len(met) < limit, whole=whole)


def lately(
    store: Store, kinds: Collection[str], *, teams: Sequence[str] | None, steps: int, limit: int
) -> list[Event]:
    """Return of the last so many events of these teams those of some kinds, the newest first.

    `None` is every team; the desk's own affairs are left out.
    """
    catch_up(store, most=READ)
    every = store.trail_teams() if teams is None else teams
    named = tuple(team for team in every if team != DESK)
    walks, (way,) = _Walks(store, named, _END, _BEGINNING), Wanted().ways()
    end = walks.end(way, steps) or _BEGINNING
    met = walks.met(way, {"kind": tuple(kinds)}, end, limit)
    page = _page(store, met, None, early=False, whole=True)
    return [one.event for one in page.found]


def _page(store: Store, met: Sequence[Met], last: Spot | None, *, early: bool, whole: bool) -> Page:
    events = store.events_at([(one.row.stream, one.row.seq) for one in met])
    found = [
        Found(events[place], one.row)
        for one in met
        if (place := (one.row.stream, one.row.seq)) in events
    ]
    return Page(tuple(found), None if last is None else f"{last.at}.{last.n}", early, whole)


def place_of(before: str | None, wanted: Wanted) -> Spot:
    """Return where to begin: at the place a page ended, or at the end of the time that is wanted.

    Raises:
        BadValue: it is no place.
    """
    until = _END if wanted.until is None else Spot(max(micros(wanted.until), 0), 0)
    if before is None:
        return until
    said = _PLACE.fullmatch(before)
    if said is None:
        raise BadValue(
            f"before={before[:80]!r} is no place in the journal. Begin at its first page."
        )
    return min(until, Spot(int(said[1]), int(said[2])))


def _beginning_of(wanted: Wanted) -> Spot:
    return _BEGINNING if wanted.since is None else Spot(max(micros(wanted.since), 0), 0)


@dataclass(frozen=True, slots=True)
class _Walks:
    """The walks of one look: the same thing in each team that may be seen."""

    store: Store
    teams: tuple[str, ...]
    start: Spot
    since: Spot

    def along(self, way: Way) -> list[list[Walk]]:
        """Return the walks along one thing, as many together as the databases take at once."""
        by, values = way
        walks = [Walk(team, by, value) for team in self.teams for value in values]
        return [walks[some : some + MOST_WALKS] for some in range(0, len(walks), MOST_WALKS)]

    def rarest(self, ways: Sequence[Way]) -> tuple[Way, Spot | None]:
        """Return what reaches furthest back, and where to stop, unless all of it is within reach."""
        found: list[tuple[Spot, Way]] = []
        for way in ways:
            end = self.end(way, STEPS)
            if end is None:
                return way, None
            found.append((end, way))
        end, way = min(found)
        return way, end

    def end(self, way: Way, steps: int) -> Spot | None:
        """Return where so many steps along one thing end; `None` if nothing comes behind them."""
        parts, to = self.along(way), self.since
        if len(parts) == 1:  # as nearly always: the database counts
            last = self.store.trail_spots(parts[0], Stretch(self.start, to), 2, passed=steps - 1)
            return last[0] if len(last) == 2 else None
        spots: list[Spot] = []
        for walks in parts:
            spots += self.store.trail_spots(walks, Stretch(self.start, to), steps + 1)
            to = _newest(spots, steps + 1) or to
        return spots[steps - 1] if len(spots) > steps else None

    def met(self, way: Way, others: Others, to: Spot, limit: int) -> list[Met]:
        """Return what is met along one thing that is also of the others, the newest first."""
        found: list[Met] = []
        for walks in self.along(way):
            found += self.store.trail(walks, Stretch(self.start, to), limit, others)
            last = _newest(found, limit)
            to = to if last is None else last.spot
        return found


def _newest(found: list[T], most: int) -> T | None:
    """Keep the newest; return the last of as many: what is older need not be read elsewhere."""
    found.sort(reverse=True)
    del found[most:]
    return found[-1] if len(found) == most else None


def pass_by(
    store: Store,
    wanted: Wanted,
    *,
    teams: Sequence[str] | None = None,
    after: str | None = None,
) -> Iterator[list[Event]]:
    """Yield what is wanted of the whole journal in the order of commits, some at a time.

    All of it is read, so that each event has its cursor and nothing rests on the trail.

    Raises:
        BadValue: what is wanted, or the cursor, makes no sense.
    """
    wanted = _as_written(store, wanted.checked())
    ways = wanted.ways()
    since = None if wanted.since is None else micros(wanted.since)
    until = None if wanted.until is None else micros(wanted.until)
    while events := store.tail(after, _BATCH):
        after = events[-1].cursor
        rows = rows_of(store, events)
        yield [
            event
            for event, row in zip(events, rows, strict=True)
            if (teams is None or row.team in teams)
            and (since is None or row.at >= since)
            and (until is None or row.at < until)
            and _fits(ways, row)
        ]
