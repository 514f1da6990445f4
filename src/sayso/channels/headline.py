"""What an ask would do, in a few words of ours: what a list, a heading or a toast has room for.

Of a call these are the tool and the facts that tell it from others: how much, to whom, where. Words
that an agent chose are no facts, so a title of its own is not among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sayso.channels.facts import BRIEF, Fact, FactKind, facts_of
from sayso.channels.values import as_name
from sayso.model.ask import Ask

_MOST = 2
_KEPT = 2000
_remembered: dict[str, str] = {}  # by the digest of what is shown: an edit is another one
_SHORT = 48
_WORD = re.compile(r"[^\W_]+")
# What tells one call from another, the most telling first.
_TELLING: tuple[FactKind, ...] = (
    *("money", "sql", "mail", "people", "table", "url", "path", "when", "text", "number", "list"),
)
_WHO = frozenset({"customer", "name", "user", "person", "recipient", "client", "employee", "to"})


def headline(ask: Ask) -> str:
    """Return what an ask is about, on one line; words of others in it are not made visible yet.

    Only what is short is looked at: every row of a list has one.
    """
    if ask.tool is None or ask.kind not in ("action", "doubt"):
        return ask.title
    known = _remembered.get(ask.digest)
    if known is not None:
        return known
    if len(_remembered) >= _KEPT:
        _remembered.clear()
    return _remembered.setdefault(ask.digest, _told(ask, ask.tool))


def _told(ask: Ask, tool: str) -> str:
    telling = sorted((fact for fact in facts_of(ask, BRIEF) if fact.kind in _TELLING), key=_rank)
    said = list(dict.fromkeys(words for fact in telling for words in _words(fact) if words))
    done = " · ".join((named(tool), *said[:_MOST]))
    return done if ask.kind == "action" else f"Did it happen? {done}"


def _rank(fact: Fact) -> int:
    """Return how much a fact tells: who somebody is by name, before their address."""
    if fact.kind == "text" and fact.name.lower() in _WHO:
        return _TELLING.index("mail")
    return _TELLING.index(fact.kind)


def named(tool: str) -> str:
    """Return the name of a tool as words: `payments.send_refund` is `Send refund`."""
    last = re.split(r"[./:]", tool)[-1]
    words = " ".join(_WORD.findall(last))
    return words[:1].upper() + words[1:] if words else as_name(tool)


def _words(fact: Fact) -> Iterator[str]:
    match fact.kind:
        case "money" | "when":
            yield fact.text
        case "sql":
            yield _few(fact.items)
        case "mail":
            yield from (value for name, value, *_ in fact.rows if name in ("To", "Subject"))
        case "people":
            yield _few(fact.items)
        case "table" | "list":
            yield from [total for total in fact.totals if total][:1]
            yield f"{fact.text.split()[0]} {fact.name}"
        case "url":
            yield fact.items[1]
        case "number":
            yield f"{fact.name} {fact.text}"
        case _ if len(fact.text) <= _SHORT and "\n" not in fact.text and fact.name != "currency":
            yield fact.text


def _few(items: tuple[str, ...]) -> str:
    more = f" and {len(items) - 1:,} more" if len(items) > 1 else ""
    return f"{items[0]}{more}" if items else ""
