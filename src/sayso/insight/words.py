"""A text as the words it is found by, the same on every database.

Databases take texts apart each in its own way. So we do it: letters and digits, without case and
accents, and plurals as their singular; what separates words (quotes, brackets, operators of a
search) is gone before a database sees it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MOST_WORDS = 1000  # of one text; what comes later does not count
_MOST_TEXT = 200_000
_LONGEST = 40
_WORD = re.compile(r"[^\W_]+")
# Scripts that put no space between words: pairs of neighbours stand in for them.
_SPACELESS = re.compile("([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff]+)")

# Words that say nothing about what an English text is about.
_EMPTY = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "me",
        "my",
        "no",
        "not",
        "of",
        "on",
        "or",
        "our",
        "out",
        "please",
        "she",
        "should",
        "so",
        "some",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "too",
        "up",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)


def words_of(*texts: str) -> tuple[str, ...]:
    """Return the different words of some texts, in the order they first occur."""
    words = _words("\n".join([text[:_MOST_TEXT] for text in texts]))
    known = list(dict.fromkeys([word for word in words if word not in _EMPTY]))[:MOST_WORDS]
    return tuple(known) if "".join(known).isascii() else tuple([_safe(word) for word in known])


def last_word(text: str) -> tuple[str, ...]:
    """Return the last word of a text, even one that says nothing; empty if there is none."""
    return tuple(_safe(word) for word in _words(text[:_MOST_TEXT])[-1:])


def _words(text: str) -> list[str]:
    found = _WORD.findall(_bare(text))
    if not text.isascii():
        found = [part for run in found for part in _parts(run)]
    return [_singular(word) if word[-1] == "s" else word[:_LONGEST] for word in found]


def _parts(run: str) -> Iterator[str]:
    """Yield the words of a run of letters: neighbours in pairs where nothing stands between words."""
    for part in _SPACELESS.split(run):
        if _SPACELESS.fullmatch(part):
            yield from (part[n : n + 2] for n in range(max(1, len(part) - 1)))
        elif part:
            yield part


def _bare(text: str) -> str:
    """Return a text without case, and without what is drawn on letters."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))


def _singular(word: str) -> str:
    word = word[:_LONGEST]
    plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word


def _safe(word: str) -> str:
    """Return a word in letters and digits that every database and every search knows."""
    return word if word.isascii() else f"u{word.encode('utf-8', 'replace').hex()}"
