"""What waits for people, and what they decided: lists, each in one order everywhere.

What expires soon comes first, then what needs people, then what is for information; inside each
the riskiest, then what has the least time left, then the oldest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from sayso.asks.standing import stand
from sayso.errors import BadValue, Tampered, UnknownPerson, UnknownRole
from sayso.model.actor import Roster, teams_of
from sayso.model.ask import Ask
from sayso.model.content import RISKS, check_word
from sayso.model.names import fold, folded
from sayso.model.requirement import ANYBODY
from sayso.model.verdicts import KINDS
from sayso.store.contract import COUNT_LIMIT, SOON, InboxPage, InboxQuery, Store, informs

Names = tuple[str, ...] | None  # `None` for no limit
Group = Literal["soon", "needs", "info"]
READ_ON = 2000  # events that a search reads on while somebody waits for the answer of a server


@dataclass(frozen=True, slots=True)
class Inbox:
    """One page of a list. The count is of everything that matches, from the same statement.

    `at` is the moment by which it was settled what expires soon: that of the first page, so
    that pages fit together. A server does not tell it. `reading` says that the search has not
    read the whole journal yet: there may be more, and whoever asks again finds it.
    """

    asks: tuple[Ask, ...]
    count: int
    cursor: str | None
    damaged: tuple[str, ...] = ()
    at: datetime | None = None
    reading: bool = False

    @property
    def counted(self) -> str:
        """The count as it is shown: exact up to 1,000, unless a search is still reading."""
        more = "+" if self.reading or self.count > COUNT_LIMIT else ""
        return f"{min(self.count, COUNT_LIMIT):,}{more}"

    def __iter__(self) -> Iterator[Ask]:
        """Go through the asks of this page."""
        return iter(self.asks)

    def __len__(self) -> int:
        """How many asks are on this page."""
        return len(self.asks)


def named_teams(teams: Iterable[str] | str | None) -> Names:
    """Return the teams to look into as a query takes them.

    Raises:
        BadValue: one of them cannot be the name of a team.
    """
    return None if teams is None else tuple(sorted(teams_of(teams)))


def seen_by(
    store: Store, role: str | None, person: str | None, people: Roster | None = None
) -> tuple[Names, Names]:
    """Return the roles whose asks a role or a person may decide, and the teams the person is of.

    `people` are those of the desk, if they were read already.

    Raises:
        UnknownPerson, UnknownRole: there is no such person, or nobody holds the role.
    """
    if role is None and person is None:
        return None, None
    roster = store.roster() if people is None else store.widen(people)
    if roster.solo:
        return None, None
    person = None if person is None else roster.spelt(person)
    role = folded(role)
    if person is not None and person not in roster.people:
        raise UnknownPerson(person, f"People here: {', '.join(sorted(roster.people))}.")
    if role is not None and role not in (*roster.roles, *map(fold, roster.people), ANYBODY):
        raise UnknownRole(role, roster.roles)
    if person is None:
        return (role or ANYBODY, ANYBODY), None
    held = roster.people[person]
    wanted = held if role is None else held & {role}
    return (*sorted(wanted), ANYBODY), tuple(roster.teams.get(person, ()))


def group_of(ask: Ask, now: datetime) -> Group:
    """Return the part of the inbox an open ask is in, by the moment the list was reckoned from.

    Nothing is lost when the time of a notice is over: what is for information never hurries.
    """
    if informs(ask.content):
        return "info"
    return "soon" if ask.due_at is not None and ask.due_at <= now + SOON else "needs"


def listing(
    store: Store,
    query: InboxQuery,
    *,
    role: str | None,
    person: str | None,
    most: int | None = READ_ON,
    people: Roster | None = None,
) -> Inbox:
    """Return one page of open asks that this role or person may decide.

    A search reads at most so many events of the journal first; `None` reads to its end. `people` are
    those of the desk, if they were read already.

    Raises:
        BadValue: a filter names what does not exist.
        UnknownPerson, UnknownRole: there is no such person, or nobody holds the role.
    """
    check_query(query)
    wanted, reached = _searched(store, _seen(store, query, role, person, people), most)
    return _shown(store.inbox(wanted), reading=not reached)


def waiting(
    store: Store,
    *,
    person: str | None,
    teams: Names,
    people: Roster,
    least: str | None = None,
) -> Inbox:
    """Return how many open asks this person may decide, and none of them: only the count is read.

    `least` counts those whose tier in force is at least as grave as this risk.

    Raises:
        UnknownPerson: there is no such person.
    """
    query = InboxQuery(not_voted=person, teams=teams, limit=0, least=least)
    return _shown(store.inbox(_seen(store, query, None, person, people)), reading=False)


def _seen(
    store: Store, query: InboxQuery, role: str | None, person: str | None, people: Roster | None
) -> InboxQuery:
    query, people = _spelt(store, query, people)
    roles, own = seen_by(store, role, person, people)
    return replace(query, roles=roles, teams=_walls(query.teams, own))


def _spelt(
    store: Store, query: InboxQuery, people: Roster | None
) -> tuple[InboxQuery, Roster | None]:
    """Name people as the desk does, and return those that were read for that."""
    if query.assignee is None and query.not_voted is None:
        return query, people
    known = store.register() if people is None else people
    assignee, voter = (
        None if name is None else known.spelt(name) for name in (query.assignee, query.not_voted)
    )
    return replace(query, assignee=assignee, not_voted=voter), known


def decided(
    store: Store, query: InboxQuery, *, person: str | None, most: int | None = READ_ON
) -> Inbox:
    """Return one page of what was put to people and is closed, the newest first.

    A person sees that of their teams and of none, whoever decided it. A search reads on as in
    `listing`.

    Raises:
        BadValue: a filter names what does not exist.
        UnknownPerson: there is no such person.
    """
    check_query(query)
    query, people = _spelt(store, replace(query, not_voted=None), None)
    _, own = seen_by(store, None, person, people)
    wanted = replace(query, roles=None, teams=_walls(query.teams, own))
    wanted, reached = _searched(store, wanted, most)
    return _shown(store.closed(wanted), reading=not reached)


def check_query(query: InboxQuery) -> None:
    """Refuse filters that nothing could match.

    Raises:
        BadValue: one names what does not exist.
    """
    if query.kind is not None and query.kind not in KINDS:
        raise BadValue(f"kind={query.kind!r}: it is one of {', '.join(KINDS)}.")
    for name, risk in (("risk", query.risk), ("least", query.least)):
        if risk is not None and risk not in RISKS:
            raise BadValue(f"{name}={risk!r}: it is one of {', '.join(RISKS)}.")
    if type(query.limit) is not int or not 1 <= query.limit <= 500:
        raise BadValue(f"limit={query.limit!r}: a page holds 1 to 500 asks.")
    for name in ("run", "thread", "agent", "tool"):
        check_word(getattr(query, name), name)
    if query.text is not None and not isinstance(query.text, str):
        raise BadValue(f"text={query.text!r}: asks are searched by a text.")


def _searched(store: Store, query: InboxQuery, most: int | None) -> tuple[InboxQuery, bool]:
    if query.text is None:
        return query, True
    from sayso.insight.searching import searched  # who never searches need not load it

    return searched(store, query, most)


def _shown(page: InboxPage, *, reading: bool) -> Inbox:
    asks: list[Ask] = []
    damaged: list[str] = []
    for loaded in page.loaded:
        try:
            asks.append(stand(loaded).ask)
        except Tampered as error:  # one damaged journal must not hide all the others
            damaged.append(str(error))
    return Inbox(tuple(asks), page.count, page.cursor, tuple(damaged), page.at, reading)


def _walls(wanted: Names, own: Names) -> Names:
    """Return the teams to look into: of those that were named, the person's own."""
    if wanted is None or own is None:
        return own if wanted is None else wanted
    return tuple(team for team in wanted if team in own)
