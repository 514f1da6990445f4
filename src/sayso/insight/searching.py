"""Finding asks, open and closed, by the words on them: all must occur, the last may be unfinished.

The index is kept like that of cases, from the journal and never on the way of a decision.
Whoever searches reads on first, so what was committed before is found. On PostgreSQL the tail of the
journal ends below the oldest transaction that is still running: while some program keeps one open,
what was committed since it began is found when it has ended.
"""

from __future__ import annotations

from dataclasses import replace

from sayso.insight.reader import catch_up
from sayso.insight.words import last_word, words_of
from sayso.store.contract import InboxQuery, Store


def searched(store: Store, query: InboxQuery, most: int | None) -> tuple[InboxQuery, bool]:
    """Return the query with the words its text is searched by, having read the journal on.

    At most so many events are read; the second value says whether the end was reached. A blank text
    searches for nothing in particular, and everything is listed.
    """
    if query.text is None or not query.text.strip():
        return query, True
    reached = catch_up(store, most=most)
    return replace(query, words=sought(query.text)), reached


def sought(text: str) -> tuple[str, ...]:
    """Return the words that all must occur; the last of them as the beginning of a word.

    Words that say nothing are left out, unless there is no other: then somebody may be typing.
    """
    return words_of(text) or last_word(text)
