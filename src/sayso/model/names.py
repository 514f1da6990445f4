"""Names of tools, agents, people, roles and teams: plain, and told apart by more than their case.

Rules, tiers, walls and trust go by names. A space at the end or a letter of another alphabet would
make a second name that reads like the first and that no rule is about (E40), so no door takes one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from hashlib import sha256

from sayso.errors import BadValue
from sayso.model.text import character_name, one_line

_SIGNS = {"tool": "_.:/-", "agent": "_.:/-"}  # of the others: what addresses of mail have
_SIGNS_OF_PEOPLE = "._@+-"
_LONGEST, _LONGEST_OF_PEOPLE = 200, 64
_AS_WRITTEN = frozenset({"person", "tier"})
_MARK = 6  # characters that tell made names apart


def check_name(what: str, name: object) -> str:
    """Return a name as the desk writes it: in small letters, unless it is a person's or a tier's.

    Args:
        what: Whose name it is: a tool, an agent, a person, a role, a team, a group or a tier.
        name: As somebody wrote it.

    Raises:
        BadValue: it is empty, too long, or holds a character that is not plain; says which.
    """
    if not isinstance(name, str):
        raise BadValue(f"{name!r:.40} cannot be the name of {_a(what)}: a name is text.")
    return _checked(what, name)


@lru_cache(maxsize=4096)
def _checked(what: str, name: str) -> str:
    signs, longest = _SIGNS.get(what, _SIGNS_OF_PEOPLE), _longest(what)
    if not 1 <= len(name) <= longest:
        raise BadValue(
            f"{one_line(name, 40)!r} cannot be the name of {_a(what)}: a name has 1 to {longest} "
            f"characters, and this has {len(name):,}."
        )
    first = "_" if what in _SIGNS else ""
    reason = strange(name, signs, first=first)
    if reason is not None:
        begin = " Begin with a letter or a digit." if name[0] in signs and name[0] != first else ""
        raise BadValue(
            f"{one_line(name, 40)!r} cannot be the name of {_a(what)}, because of {reason}. "
            f"Use letters from a to z, digits and {' '.join(signs)}.{begin}"
        )
    return name if what in _AS_WRITTEN else fold(name)


def _a(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def _longest(what: str) -> int:
    return _LONGEST if what in _SIGNS else _LONGEST_OF_PEOPLE


def strange(text: str, signs: str, *, first: str = "") -> str | None:
    """Say which character of a text is neither an ASCII letter, a digit nor one of the signs.

    The first one is a letter, a digit or one of `first`. `None` if all of them are plain.
    """
    for place, char in enumerate(text, start=1):
        letter = char.isascii() and char.isalnum()
        if not letter and char not in (signs if place > 1 else first):
            return (
                f"{_quoted(char)} ({character_name(char)}, U+{ord(char):04X}) at position {place}"
            )
    return None


def _quoted(char: str) -> str:
    """Write a character so that it shows, also one that hides or looks like another."""
    if char.isascii() and char.isprintable():
        return f'"{char}"' if char == "'" else f"'{char}'"
    code = ord(char)
    return f"'\\u{code:04x}'" if code < 0x10000 else f"'\\U{code:08x}'"


def is_plain(what: str, name: str) -> bool:
    """Whether no door would refuse this name."""
    try:
        check_name(what, name)
    except BadValue:
        return False
    return True


def is_older(what: str, name: str) -> bool:
    """Whether a desk has this name from before names had to be plain."""
    return not is_plain(what, name) or check_name(what, name) != name


def fold(name: str) -> str:
    """Return what two names share that are one: `Anna` and `ANNA` are."""
    return name.casefold()


def folded(name: str | None) -> str | None:
    """Return the name that a list is asked for, if it is asked for one."""
    return None if name is None else fold(name)


def spelt(name: str, known: Collection[str]) -> str:
    """Return a name as it is spelt among those that are known, or as it is if none of them is it."""
    if name in known:
        return name
    folded = fold(name)
    return next((one for one in known if fold(one) == folded), name)


def made_plain(what: str, name: str) -> str:
    """Return a plain name for whom a framework or a file system calls otherwise.

    The same name always gives the same one. One that had to be changed ends in a few characters of
    its digest, so that it passes for no other: `Email Assistant: notify` becomes
    `email-assistant:notify-` and six of them.
    """
    if is_plain(what, name):
        return check_name(what, name)
    signs = _SIGNS.get(what, _SIGNS_OF_PEOPLE)
    kept = re.sub(f"[^A-Za-z0-9{re.escape(signs)}]+", "-", name)
    kept = re.sub("-*([:/])-*", r"\1", kept).strip(signs)
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    start = kept[: _longest(what) - _MARK - 1]
    return check_name(what, f"{start}-{mark}" if start else f"{what}-{mark}")
