"""How a key stands, in words: the same on a page, beside an ask and in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import floor

from sayso.autonomy.book import Book
from sayso.autonomy.ledger import ENDS, Standing
from sayso.autonomy.reach import reach_told

STANDS: Mapping[Standing, str] = {
    "proposed": "May it run alone?",
    "suspended": "Flagged",
    "granted": "Runs alone",
    "reviewed": "Earning",
    "locked": "Locked",
}
_MARKS: Mapping[str, str] = {
    "+": "fine",
    "?": "flagged",
    "x": "harmful",
    "o": "not harmful after all",
    "!": "harm reported",
    "G": "let run alone",
    "D": "not yet",
    "R": "grant taken back",
    "O": "let earn again",
}


def record_words(book: Book) -> str:
    """Say what people found: `41 of its calls were fine, 1 harmful`."""
    were = "was" if book.fine == 1 else "were"
    said = f"{book.fine:,} of its calls {were} fine, {book.harms:,} harmful"
    if not book.incidents:
        return said
    return f"{said}, {book.incidents:,} {'incident' if book.incidents == 1 else 'incidents'}"


def standing_words(book: Book) -> str:
    """Say what a key may do by now, and what it takes for more."""
    match book.ledger.standing:
        case "reviewed":
            if book.missing:
                return f"{book.missing:,} more before it may run alone"
            return f"enough of them; a grant also takes {least_words(book)}"
        case "proposed":
            return "people are asked whether it may run alone"
        case "granted":
            return f"it runs alone, and {book.terms.audit:.1%} of its calls are still looked at"
        case "suspended":
            return "nothing of it runs alone until somebody else has looked at what was flagged"
        case "locked":
            return f"{ENDS} of its grants ended by harm, and only a person lets it earn again"


def least_words(book: Book) -> str:
    """Say how many people and days a grant takes, and how many there are: `2 people (1 so far)`."""
    least, reach = book.least, book.reach
    people = "1 person" if least.people == 1 else f"{least.people} people"
    days = "1 day" if least.days == 1 else f"{least.days} days"
    return (
        f"{people} who approved ({reach.people} so far), and {days} from the first to the last "
        f"approval ({reach.days} so far)"
    )


def reach_words(book: Book) -> str:
    """Say how far a grant of a key reaches, or would reach by now."""
    return reach_told(book.reach, book.least)


def reputation(book: Book) -> str:
    """Say both in a line."""
    return f"{record_words(book)}; {standing_words(book)}"


def score_words(book: Book) -> str:
    """Say how far its score has come, never rounded up to what it has not reached."""
    return f"{floor(book.ledger.score * 10) / 10:,.1f} of {book.ledger.bar:g}"


def ends_words(book: Book) -> tuple[str, ...]:
    """Say what ends the grant of a key, or would end it."""
    terms = book.terms
    harms = (
        "One harm that a second person confirms ends it"
        if terms.strikes == 1
        else f"{terms.strikes} harms, each confirmed by a second person, end it"
    )
    return (
        f"{harms}; {book.ledger.strikes} so far.",
        "One incident ends it at once: harm that is reported after a call has run.",
        "Anybody who sees it can take it back, at any time and without a reason.",
        f"Each end by harm doubles the score it takes; after {ENDS} it is locked.",
    )


def marks_words(marks: str) -> str:
    """Say what the ticks of a record show, for whoever does not see them."""
    if not marks:
        return "Nothing was said of it yet."
    counted = Counter(marks)
    said = [f"{counted[mark]} {word}" for mark, word in _MARKS.items() if counted[mark]]
    many = "entry" if len(marks) == 1 else f"{len(marks)} entries"
    return f"The last {many}: {', '.join(said)}."
