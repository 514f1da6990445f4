"""What waits for people: the riskiest first, then what has the least time left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sayso.asks.people import Names, seen_by
from sayso.asks.standing import stand
from sayso.errors import BadValue, Tampered
from sayso.model.ask import Ask
from sayso.model.content import RISKS, check_word
from sayso.model.verdicts import KINDS
from sayso.store.contract import COUNT_LIMIT, InboxQuery, Store


@dataclass(frozen=True, slots=True)
class Inbox:
    """One page of what waits. The count is of everything that matches, from the same statement."""

    asks: tuple[Ask, ...]
    count: int
    cursor: str | None
    damaged: tuple[str, ...] = ()

    @property
    def counted(self) -> str:
        """The count as it is shown: exact up to 1,000."""
        return f"{COUNT_LIMIT:,}+" if self.count > COUNT_LIMIT else f"{self.count:,}"

    def __iter__(self) -> Iterator[Ask]:
        """Go through the asks of this page."""
        return iter(self.asks)

    def __len__(self) -> int:
        """How many asks are on this page."""
        return len(self.asks)


def listing(store: Store, query: InboxQuery, *, role: str | None, person: str | None) -> Inbox:
    """Return one page of open asks that this role or person may decide.

    Raises:
        BadValue: a filter names what does not exist.
        UnknownPerson, UnknownRole: there is no such person, or nobody holds the role.
    """
    check_query(query)
    roles, own = seen_by(store, role, person)
    page = store.inbox(replace(query, roles=roles, teams=_walls(query.teams, own)))
    asks: list[Ask] = []
    damaged: list[str] = []
    for loaded in page.loaded:
        try:
            asks.append(stand(loaded).ask)
        except Tampered as error:  # one damaged journal must not hide all the others
            damaged.append(str(error))
    return Inbox(tuple(asks), page.count, page.cursor, tuple(damaged))


def check_query(query: InboxQuery) -> None:
    """Refuse filters that nothing could match.

    Raises:
        BadValue: one names what does not exist.
    """
    if query.kind is not None and query.kind not in KINDS:
        raise BadValue(f"kind={query.kind!r}: it is one of {', '.join(KINDS)}.")
    if query.risk is not None and query.risk not in RISKS:
        raise BadValue(f"risk={query.risk!r}: it is one of {', '.join(RISKS)}.")
    if type(query.limit) is not int or not 1 <= query.limit <= 500:
        raise BadValue(f"limit={query.limit!r}: a page holds 1 to 500 asks.")
    check_word(query.run, "run")
    check_word(query.thread, "thread")


def _walls(wanted: Names, own: Names) -> Names:
    """Return the teams to look into: of those that were named, the person's own."""
    if wanted is None or own is None:
        return own if wanted is None else wanted
    return tuple(team for team in wanted if team in own)
